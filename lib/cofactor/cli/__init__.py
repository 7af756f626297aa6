"""The command line: one module per family of commands, each with `add(commands)`; here they are put together."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import cofactor as cf
from cofactor.cli import aggregate, check, datasets, experiments, shards

FAMILIES = (aggregate, shards, experiments, datasets, check)  # in the order of --help


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (1: the input cannot be used, 2: wrong usage, 130: interrupted)."""
    arguments = _parser().parse_args(argv)
    try:
        with _notes():
            arguments.run(arguments)
        return 0
    except cf.CofactorError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has gone: not our failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cofactor", description="Hidden structure from pairwise evidence.")
    parser.add_argument("--version", action="version", version=f"cofactor {cf.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for family in FAMILIES:
        family.add(commands)
    return parser


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as one-line notes, each once."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print(f"note: {message}", file=sys.stderr)

    shown: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield
