"""Parts of the parsers of all commands: how help looks, options that several commands have."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cofactor.core.errors import CofactorError, DataWarning

TABLES = "CSV, TSV, parquet, JSON lines, - for stdin, data set"
WRITTEN = ".csv, .tsv, .jsonl, each also .gz, .parquet, or - for standard output"

STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class Format(argparse.RawDescriptionHelpFormatter):
    """Help with space for the names of commands and options."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, **{"max_help_position": 26, "width": 110, **more})

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        """Show several values as `COLUMN ...`."""
        if action.nargs == "+" and action.option_strings:
            return f"{action.metavar or default_metavar} ..."
        return super()._format_args(action, default_metavar)


class LateParser(argparse.ArgumentParser):
    """A parser whose `late_epilog` is made only where help is asked for."""

    late_epilog: Callable[[], str] | None = None

    def format_help(self) -> str:
        """Return the help with its epilog; usage and description stand together."""
        if self.late_epilog:
            self.epilog = self.late_epilog()
        return super().format_help().replace("\n\n", "\n", 1)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Refuse `--option=--`: argparse takes the value away, and an empty list would stand in its place."""
        if action.option_strings and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "'--' is no value")
        return super()._get_values(action, arg_strings)


def new_command(commands: Any, name: str, about: str, run: str) -> LateParser:
    """Return the parser of a new command; `run` names the module and the function that do it."""
    command: LateParser = commands.add_parser(name, help=about, description=about, add_help=False)
    command.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    command.formatter_class = Format
    command.set_defaults(run=run)
    return command


def add_text(group: Any) -> None:
    """Add the options of how text is read, to a group of options."""
    group.add_argument("--encoding", type=file_name, default="utf-8-sig", help="of text (default: UTF-8)")
    group.add_argument("--sep", type=separator, help="between columns of text (default: whichever of , tab ; | fits)")
    names = "which names are one if only capitals or blanks differ: classes (default), keep, all"
    group.add_argument("--spelling", choices=("classes", "keep", "all"), metavar="WHICH", default="classes", help=names)
    group.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read, by name")
    group.add_argument("--strict", action="store_true", help="notes about the data are an error")


@contextmanager
def noted(strict: bool) -> Iterator[None]:
    """Pass on the notes of reading data; with `strict` they are one error instead."""
    found: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True, action="always", category=DataWarning) as found:
            yield
    finally:
        for one in found if not strict else ():
            warnings.warn(one.message, one.category, stacklevel=3)
    refuse_notes([str(one.message) for one in found], strict)


def refuse_notes(notes: Iterable[str], strict: bool) -> None:
    """Raise a CofactorError of all notes about data, where there are some and `strict` (--strict) is asked for."""
    if strict and (texts := list(dict.fromkeys(notes))):
        raise CofactorError(f"--strict: {'; '.join(texts)}")


def add_writing(group: Any) -> None:
    """Add the options of how tables are written, to a group of options."""
    group.add_argument("--force", action="store_true", help="overwrite files that exist")
    raw = "no apostrophe before cells that a spreadsheet would run as a formula"
    group.add_argument("--raw-cells", action="store_true", help=raw)


def add_common(command: argparse.ArgumentParser, output: str, report: str, **tables: str) -> None:
    """Add the eleven options that all verbs have; `output`, `report` and `tables` say what is in these files."""
    group = command.add_argument_group(f"reading and writing (tables: {WRITTEN})")
    group.add_argument("-o", "--output", type=output_file, metavar="FILE", help=output)
    for name, what in {**tables, "report": f"HTML page: {report}"}.items():
        group.add_argument(f"--{name}", type=Path, metavar="FILE", help=what)
    add_writing(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print warnings and errors only")
    group.add_argument("-v", "--verbose", action="store_true", help="print all about the fit")
    add_text(group)


def output_file(name: str) -> Path:
    """Return the path of an output; the system's names of standard output are that."""
    return Path("-" if name in STDOUT else name)


def file_name(text: str) -> str:
    """Return the name of a file, which is not empty, as where a variable of the shell was not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("no file is named: leave the option out, or name one")
    return text


def separator(text: str) -> str:
    r"""Return the character that separates columns; a tab can be written \t, as shells do not make one of it."""
    return "\t" if text == "\\t" else text
