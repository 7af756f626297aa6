"""``cofactor completion``: a script with which a shell completes commands, options, choices and file names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import shtab

from cofactor_app.cli.parser import output_file, parser

NAMES = ("names",)  # positional arguments that are no files


def completion(arguments: argparse.Namespace) -> None:
    """Print the script for this shell."""
    top = parser()
    for action in _actions(top):
        if _is_file(action):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.choices and not isinstance(action, argparse._SubParsersAction):
            action.choices = [name for name in action.choices if quote(name) == name]  # shells take others apart
    print(shtab.complete(top, arguments.shell))


def _actions(top: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from command._actions
        yield action


def _is_file(action: argparse.Action) -> bool:
    if action.choices:
        return False
    positional = not action.option_strings and action.dest not in NAMES
    return positional or action.type in (Path, output_file) or "FILE" in str(action.metavar)
