"""Is this machine ready for the notebooks."""

from __future__ import annotations

import sys
from importlib import metadata

from packaging.requirements import Requirement

from cofactor.core.errors import CofactorError

OLDEST_PYTHON = (3, 11)


def check_environment() -> None:
    """Print one line if Python and every package that the kit needs are there and recent enough.

    Raises
    ------
    CofactorError
        Names what is missing or too old, and how to mend it.
    """
    needed = [Requirement(line) for line in metadata.requires("cofactor") or []]
    needed = [requirement for requirement in needed if requirement.marker is None]
    problems = [problem for requirement in needed if (problem := _problem(requirement))]
    if sys.version_info < OLDEST_PYTHON:
        problems.insert(0, f"Python {sys.version.split()[0]} is older than 3.11")
    if problems:
        raise CofactorError(f"{'; '.join(problems)}: run `python3 kit.py lab`, which sets all of it up")
    print(f"ready: Python and {len(needed)} packages are recent enough")


def _problem(requirement: Requirement) -> str:
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is missing"
    return "" if requirement.specifier.contains(found, prereleases=True) else f"{requirement.name} {found} is too old"
