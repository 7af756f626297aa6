"""``cofactor check``: is this machine ready."""

from __future__ import annotations

from typing import Any

from cofactor.core.errors import CofactorError
from cofactor.teaching.environment import environment


def add(commands: Any) -> None:
    """Add the command."""
    about = "Look whether Python, packages, disk and data sets are ready; nothing is changed."
    command = commands.add_parser("check", help=about, description=about)
    command.set_defaults(run=lambda arguments: _check())


def _check() -> None:
    found = environment()
    print(found)
    if found.status == "fail":
        raise CofactorError("this machine is not ready: see above")
