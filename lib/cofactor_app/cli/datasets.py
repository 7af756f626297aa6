"""``cofactor datasets``: list, fetch or verify data sets."""

from __future__ import annotations

import argparse

import cofactor as cf
from cofactor.data.registry import entries, find

NAME, KIND, WIDTH = 22, 11, 80  # characters of a name, of a kind, of a line


def datasets(arguments: argparse.Namespace) -> None:
    """List, fetch or verify the named data sets, or all of them."""
    names = arguments.names
    if arguments.action == "list":
        known, frame = [find(name).name for name in names], cf.datasets()
        if names:
            chosen = frame[frame["name"].isin(known)].astype(object)
            about = (row.dropna().items() for _, row in chosen.iterrows())
            print("\n\n".join("\n".join(f"{name:<{KIND}} {cell}" for name, cell in cells) for cells in about))
            return
        print(f"{'name':<{NAME}} {'kind':<{KIND}} {'offline':<7} title")
        for row in frame.itertuples():
            line = f"{row.name:<{NAME}} {row.kind:<{KIND}} {'yes' if row.offline else 'no':<7} {row.title}"
            print(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…")
        print("details: cofactor datasets list NAME ...")
        return
    for name in names or entries():
        if arguments.action == "fetch":
            cf.data.fetch(name)
            print(f"{name}: available offline")
        else:
            print(*(f"{name}: {file}: {status}" for file, status in cf.data.verify(name).items()), sep="\n")
