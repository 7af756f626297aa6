"""What is kept beside a learner's copies: exercises solved, by notebook, and the seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cofactor.core.files import whole_file

HANDED_OUT = ".handed_out.json"  # marks the folder of a learner's copies
PROGRESS = "progress.json"  # beside the copies: solved and all exercises, by notebook; and the seed
SEED = "seed"


def kept(folder: Path) -> dict[str, Any]:
    """Return all that is kept in a folder; nothing where nothing can be read."""
    try:
        return dict(json.loads((folder / PROGRESS).read_text(encoding="utf8")))
    except (OSError, ValueError, TypeError):
        return {}


def keep(folder: Path, name: str, value: Any) -> None:
    """Write one entry in a folder of copies; elsewhere nothing."""
    if (folder / HANDED_OUT).exists():
        with whole_file(folder / PROGRESS) as part:
            part.write_text(json.dumps({**kept(folder), name: value}, indent=1) + "\n", encoding="utf8")


def seed_in(folder: Path) -> str:
    """Return the seed that is kept in a folder of copies, or an empty text."""
    return seed_of(kept(folder)) if (folder / HANDED_OUT).exists() else ""


def seed_of(record: dict[str, Any]) -> str:
    """Return the seed of a record, or an empty text."""
    found = record.get(SEED)
    return found.strip() if isinstance(found, str) else ""
