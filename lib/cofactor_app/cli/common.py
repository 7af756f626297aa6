"""What the commands over verbs share: how a verb is run, and how its result is printed."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

from cofactor.core.errors import DataWarning
from cofactor.verbs.result import Result
from cofactor_app.cli import in_options, short, visible
from cofactor_app.cli.output import Writer
from cofactor_app.cli.parts import refuse_notes
from cofactor_app.running import CURRENT

Found = TypeVar("Found", bound=Result)


def answered(arguments: argparse.Namespace, verb: Callable[[], Found]) -> Found:
    """Run a verb and hold its warnings back; they are shown where it fails, and an error with --strict."""
    failed = True
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            result = verb()
            failed = False
    finally:
        for one in caught:
            if failed or not issubclass(one.category, DataWarning):
                warnings.warn(one.message, one.category, stacklevel=2)
    refuse_notes(result.notes, arguments.strict)
    if run := CURRENT.get():
        run.notes.extend(in_options(note) for note in result.notes)
    return result


def say_later(writer: Writer) -> list[str]:
    """Let a writer collect what it would print; returns the list."""
    wrote: list[str] = []
    writer.said = lambda path, what: wrote.append(f"wrote {path} ({what})" if what else f"wrote {path}")
    return wrote


def tell_result(arguments: argparse.Namespace, result: Result, more: list[str], wrote: list[str]) -> None:
    """Print the result and what was written to standard output, notes and warnings to standard error."""
    hint = "-o FILE" if arguments.output is None else f"-o {arguments.output}"
    if not arguments.quiet:
        lines = [*result.screen(hint), *more, *(result.details if arguments.verbose else ())]
        print(visible("\n".join([*lines, *wrote])))
        sys.stdout.flush()
    for note in result.notes:
        kind = "warning" if note in result.warnings else "note"
        if kind == "warning" or not arguments.quiet:
            print(f"{kind}: {visible(short(in_options(note)))}", file=sys.stderr)
