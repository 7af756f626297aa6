"""``cofactor check``: is this machine ready."""

from __future__ import annotations

import argparse

from cofactor.cli.environment import environment
from cofactor.core.errors import CofactorError


def check(_: argparse.Namespace) -> None:
    """Look whether this machine is ready."""
    found = environment()
    print(found)
    if found.status == "fail":
        raise CofactorError("this machine is not ready: see above")
