"""The record in a learner's folder: exercises solved, by notebook, and the seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cofactor.core.files import whole_file

HANDED_OUT = ".handed_out.json"  # marks a learner's folder
PROGRESS = "progress.json"  # (solved, all) exercises by notebook, and the seed
SEED = "seed"


def kept(folder: Path) -> dict[str, Any]:
    """Return the record of a folder; empty if it cannot be read."""
    try:
        return dict(json.loads((folder / PROGRESS).read_text(encoding="utf8")))
    except (OSError, ValueError, TypeError):
        return {}


def keep(folder: Path, name: str, value: Any) -> None:
    """Write one entry to the record of a learner's folder; in other folders, do nothing."""
    if (folder / HANDED_OUT).exists():
        with whole_file(folder / PROGRESS) as part:
            part.write_text(json.dumps({**kept(folder), name: value}, indent=1) + "\n", encoding="utf8")


def seed_in(folder: Path) -> str:
    """Return the seed stored in a learner's folder, or an empty string."""
    return seed_of(kept(folder)) if (folder / HANDED_OUT).exists() else ""


def seed_of(record: dict[str, Any]) -> str:
    """Return the seed of a record, or an empty string."""
    found = record.get(SEED)
    return found.strip() if isinstance(found, str) else ""
