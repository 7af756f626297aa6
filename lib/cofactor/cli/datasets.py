"""``cofactor datasets``: list, fetch or verify data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cofactor as cf
from cofactor.data.registry import find


def add(commands: Any) -> None:
    """Add the command."""
    about = "List, fetch or verify data sets."
    command = commands.add_parser("datasets", help=about, description=about)
    command.add_argument("action", nargs="?", choices=list(DATASET_ACTIONS), default="list")
    command.add_argument("names", nargs="*", help="data sets (default: all)")
    command.set_defaults(run=lambda arguments: DATASET_ACTIONS[arguments.action](arguments.names))


def _list_datasets(names: Sequence[str]) -> None:
    frame = cf.datasets()
    known = [find(name).name for name in names]
    chosen = frame[frame["name"].isin(known)] if names else frame
    shown = chosen.drop(columns=["title", "licence"]).assign(title=chosen["title"])
    print(shown.astype(object).fillna("-").to_string(index=False))


def _fetch_datasets(names: Sequence[str]) -> None:
    for name in names or cf.datasets()["name"]:
        cf.data.fetch(name)
        print(f"{name}: available offline")


def _verify_datasets(names: Sequence[str]) -> None:
    for name in names or cf.datasets()["name"]:
        for file, status in cf.data.verify(name).items():
            print(f"{name}: {file}: {status}")


DATASET_ACTIONS: dict[str, Callable[[Sequence[str]], None]] = {
    "list": _list_datasets,
    "fetch": _fetch_datasets,
    "verify": _verify_datasets,
}
