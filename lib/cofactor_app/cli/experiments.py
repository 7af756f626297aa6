"""``cofactor reproduce`` and ``cofactor report``: the door to the evaluation, which only a clone has."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from cofactor.core.errors import CofactorError


def reproduce(arguments: argparse.Namespace) -> None:
    """Run the experiments named, or list all."""
    _evaluation().reproduce(arguments)


def report(arguments: argparse.Namespace) -> None:
    """Write the page of all results found."""
    _evaluation().report(arguments)


def listed() -> str:
    """Name the experiments, or say where they are."""
    try:
        return str(_evaluation().listed())
    except CofactorError as error:
        return str(error)


def _evaluation() -> Any:
    """Import by name: the library knows nothing of the evaluation but that it may stand beside it."""
    try:
        return import_module("evaluation.cli")
    except ModuleNotFoundError as error:
        if error.name not in ("evaluation", "evaluation.cli"):
            raise
        message = "the papers' experiments are not in the installed package"
        raise CofactorError(f"{message}: clone the project and run this command there") from None
