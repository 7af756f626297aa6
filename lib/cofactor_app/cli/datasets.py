"""``cofactor datasets``: list, fetch or verify data sets."""

from __future__ import annotations

import argparse

import cofactor as cf
from cofactor.data.registry import entries, find


def datasets(arguments: argparse.Namespace) -> None:
    """Do what was asked for with these data sets, or with all."""
    names = arguments.names
    if arguments.action == "list":
        frame = cf.datasets()
        known = [find(name).name for name in names]
        chosen = frame[frame["name"].isin(known)] if names else frame
        shown = chosen.drop(columns=["title", "licence"]).assign(title=chosen["title"])
        print(shown.astype(object).where(shown.notna(), "-").to_string(index=False))
        return
    for name in names or entries():
        if arguments.action == "fetch":
            cf.data.fetch(name)
            print(f"{name}: available offline")
        else:
            print(*(f"{name}: {file}: {status}" for file, status in cf.data.verify(name).items()), sep="\n")
