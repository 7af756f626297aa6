"""The command line: `parser` has the options, every command a module of its own, and `main` runs them."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from cofactor.core.errors import CofactorError
from cofactor_app.cli.parser import parser

OPTIONS = {  # arguments of the library, as its messages name them, and what they are called here
    **{name: f"--{name}" for name in ("task", "worker", "label", "sep", "encoding", "conflicts", "methods")},
    **{name: f"--{name}" for name in ("winner", "loser", "user", "tie", "outcome", "weight", "budget")},
    **{"n_jobs": "--jobs", "n_draws": "--draws", "n_trials": "--trials"},
    **{"wanted_error": "--error", "amounts": "--most", "gold": "--gold", "n_pairs": "--next", "n_tasks": "--checks"},
    **{"rank": "--rank", "n_bins": "--bins", "n_anchors": "--anchors", "n_topics": "--anchors", "words": "--words"},
    **{"spelling": "--spelling"},
    **{"min_documents": "--min-documents"},
    **{name: f"--{name}" for name in ("document", "word", "count")},
}
_VALUE = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;:()]+)"""
_ENDLESS = re.compile(r"\S{500,}")
LEAST_SPACE = 640 << 20  # bytes of address space
LONGEST = 10_000  # characters of a message
_COMPILED = re.compile(r"shared object|DLL load failed|cannot allocate memory|map segment", re.IGNORECASE)
_GLYPH = re.compile(r"Glyph \d+ .* missing from font")  # as matplotlib says it, once for each letter
_ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})={_VALUE}(?: or ('\w+'))?")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    1: the input cannot be used, 2: wrong usage, 3: a method of `bench` failed on some sets, 130: interrupted.
    """
    _show_any_letter()
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # processes of workers import nothing from the folder of the user
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        arguments = parser(words[0] if words else "").parse_args(words)
        arguments.argv = words
        if getattr(arguments, "jobs", 1) < 1:
            raise CofactorError(f"n_jobs={arguments.jobs}: give a whole number of at least 1")
        _check_address_space()
        with _notes(), _ended_in_order():
            module, function = arguments.run.split(".")
            code = getattr(import_module(f"cofactor_app.cli.{module}"), function)(arguments)
        return code or 0
    except CofactorError as error:
        print(f"error: {visible(in_options(short(str(error))))}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has gone: not our failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, MemoryError, ImportError) as error:
        print(f"error: {visible(short(_said(error)))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _check_address_space() -> None:
    """Refuse a limit of memory under which libraries of others hang, or abort, as they start their threads."""
    if sys.platform.startswith("linux"):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if 0 <= limit < LEAST_SPACE:
            needed, given = f"{LEAST_SPACE >> 20} MB of address space are needed", f"ulimit -v allows {limit >> 20} MB"
            raise CofactorError(f"not enough memory: at least {needed}, but {given}; raise the limit")


def _said(error: Exception) -> str:
    """Say in a sentence what the system refused."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        why = f" ({error})" if str(error) else ""
        return f"not enough memory{why}: use less data or a larger machine"
    if _COMPILED.search(str(error)):
        problem = "a compiled library could not be loaded, because memory is short or the file is damaged"
        return f"{problem}: close other programs, raise the memory limit, or reinstall the package"
    if isinstance(error, ImportError):
        raise error
    try:
        os.getcwd()
    except OSError:
        return "the working directory no longer exists: change to another one, and run the command again"
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        advice = "if the output goes to a file or a device, check that it is writable"
        return f"reading or printing failed ({os.strerror(error.errno)}): {advice}"
    return str(error)


def _show_any_letter() -> None:
    """Print letters that a terminal's encoding lacks as escapes: ids in other alphabets must not end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def in_options(message: str) -> str:
    """Replace the library's names of arguments in a message by options of the command line.

    >>> in_options("keep one with conflicts='first' or 'last'")
    'keep one with --conflicts first or last'
    """

    def option(found: re.Match[str]) -> str:
        value = found[2].strip("'\"")
        quoted = f"'{value}'" if not value or re.search(r"[^\w.,:%/-]", value) else value
        return f"{OPTIONS[found[1]]} {quoted}" + (f" or {found[3][1:-1]}" if found[3] else "")

    return _ARGUMENT.sub(option, message)


def _letters_missing() -> str:
    import matplotlib  # there already, where it warns of a letter

    return (
        "pictures show boxes for characters that no known font has (tables are not affected): install a font such as "
        f"Noto Sans CJK (Chinese, Japanese, Korean), and delete the old font list in {matplotlib.get_cachedir()}"
    )


def short(text: str) -> str:
    """Shorten a message: words of 500 characters or more are cut, and so is the middle of a very long text.

    >>> short("no column " + 1000 * "x" + ": rename")
    'no column xxxxxxxxxxxxxxxxxxxx... (1000 characters): rename'
    """

    def beginning(found: re.Match[str]) -> str:
        word = found[0].rstrip(":;,)'\"")
        return f"{word[:20]}... ({len(word)} characters){found[0][len(word) :]}"

    text = _ENDLESS.sub(beginning, text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def visible(text: str) -> str:
    r"""Return text that is safe to print: control characters, as in ids, become escapes.

    Output files keep ids as they were given.

    >>> visible("worker \x1b[31mred")
    'worker \\x1b[31mred'
    """
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else letter.encode("unicode_escape").decode()
        for letter in text
    )


def tell(lines: Iterable[str], warnings: Iterable[str] = ()) -> None:
    """Print the results of a command, warnings first."""
    print(visible("\n".join([*(f"WARNING: {warning}" for warning in warnings), *lines])))


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM end the command as an exit does, so that locks and unfinished outputs go; codes are the shell's."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as one-line notes, each once, and keep them for the report of the command that runs."""
    from cofactor_app.running import CURRENT

    def show(message: Warning | str, *_: object, **__: object) -> None:
        text = _letters_missing() if _GLYPH.match(str(message)) else in_options(str(message))
        if (run := CURRENT.get()) and text not in run.notes:
            run.notes.append(text)
        text = short(text)
        if text not in shown:
            shown.add(text)
            print(f"note: {visible(text)}", file=sys.stderr)

    shown: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # of one library by another
        warnings.showwarning = show
        yield
