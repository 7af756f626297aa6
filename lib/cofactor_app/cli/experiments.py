"""``cofactor reproduce`` and ``cofactor report``: they call the evaluation, which only a clone has."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from cofactor.core.errors import CofactorError


def reproduce(arguments: argparse.Namespace) -> None:
    """Run the named experiments, or list all."""
    _evaluation().reproduce(arguments)


def report(arguments: argparse.Namespace) -> None:
    """Write the page of all results."""
    _evaluation().report(arguments)


def listed() -> str:
    """List the experiments, or say where to find them."""
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
        message = "the installed package does not include the papers' experiments"
        raise CofactorError(f"{message}: clone the project, and run this command there") from None
