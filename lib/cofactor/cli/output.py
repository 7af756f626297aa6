"""Files that commands write: never over another by accident, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cofactor as cf


def check_output(path: Path, force: bool, inputs: tuple[str | None, ...]) -> None:
    """Refuse an output that would destroy something, or that cannot be written, before any work is done."""
    if path.exists() and (not path.is_file() or any(name and path.samefile(name) for name in inputs)):
        raise cf.CofactorError(f"{path} is no ordinary file, or one of the inputs: name another output")
    if path.exists() and not force:
        raise cf.CofactorError(f"{path} exists: name another output, or overwrite it with --force")
    if not path.parent.is_dir():
        raise cf.CofactorError(f"{path}: there is no folder {path.parent}")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a name beside `path` to write to; the file takes its place only if all went well."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
