"""``cofactor datasets``: list, fetch or verify data sets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import cofactor as cf
from cofactor.data.registry import find


def datasets(arguments: argparse.Namespace) -> None:
    """Do what was asked for with these data sets, or with all."""
    DATASET_ACTIONS[arguments.action](arguments.names)


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
