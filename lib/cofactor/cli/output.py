"""Files that commands write: never over another by accident."""

from __future__ import annotations

from pathlib import Path

import cofactor as cf


def check_output(path: Path, force: bool, inputs: tuple[str | None, ...]) -> None:
    """Refuse an output that would destroy something, or that cannot be written, before any work is done."""
    if path.exists() and (
        not path.is_file() or any(name and Path(name).exists() and path.samefile(name) for name in inputs)
    ):
        raise cf.CofactorError(f"{path} is no ordinary file, or one of the inputs: name another output")
    if path.exists() and not force:
        raise cf.CofactorError(f"{path} exists: name another output, or overwrite it with --force")
    if not path.parent.is_dir():
        raise cf.CofactorError(f"{path}: there is no folder {path.parent}")
