"""Files: written whole or not at all, unpacked and loaded without trust in what they hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from threading import get_ident
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, listing

LARGE = 20_000_000  # bytes: what unpacks to less is never refused
RATIO = 200  # of unpacked to packed; tables of ids and codes come to 20 at most
PIECE = 1 << 24


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write to; it takes its place only if all went well.

    It is on the disk before it takes the name, so that a loss of power leaves the old file or the new one. A link is
    followed, and a file that is replaced keeps its mode.
    """
    path = path.resolve() if path.is_symlink() else path
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # nobody's link under this name is followed
    try:
        yield part
        if path.exists():
            shutil.copymode(path, part)
        sync(part)
        os.replace(part, path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; Windows cannot wait for folders."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder beside `path` to fill; it takes its place only if all went well.

    What was at `path` is moved aside before, and removed after. A run that is killed between the two moves leaves it
    aside; `restore` brings it back.
    """
    restore(path)
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was stopped
    part.mkdir()
    try:
        yield part
        for file in part.iterdir():
            sync(file)
        sync(part)
        if path.exists():
            os.replace(path, _aside(path))
        os.replace(part, path)
        sync(path.parent)
        shutil.rmtree(_aside(path), ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def restore(path: Path) -> None:
    """Bring back what a killed run had moved aside from `path`; remove it where the new folder is in its place."""
    aside = _aside(path)
    if not aside.exists():
        return
    if path.exists():
        shutil.rmtree(aside)
    else:
        os.replace(aside, path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def unpacked(path: str | PathLike[str]) -> bytes:
    """Return what a .gz, .bz2, .xz or .zip file holds; other files as they are.

    A file that unpacks to more than 200 times its size is a CofactorError, unless that is less than 20 MB: a few
    kilobytes can be made to fill any memory. What else cannot be unpacked raises whatever the unpacking module raises.
    """
    limit = max(LARGE, RATIO * os.stat(path).st_size)
    content = bytearray()
    with _opened(Path(path)) as file:
        while piece := file.read(PIECE):
            content += piece
            if len(content) > limit:
                raise CofactorError(f"{path} unpacks to more than {limit} bytes: unpack it yourself if it should")
    return bytes(content)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) != 1:
                raise CofactorError(f"{path} holds {len(names)} files ({listing(names)}): pack the one that is meant")
            with archive.open(names[0]) as inner:
                yield inner
    else:
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        with openers.get(path.suffix, open)(path, "rb") as file:
            yield file


def load_arrays(path: str | PathLike[str], names: Sequence[str], what: str) -> dict[str, NDArray[Any]]:
    """Read these arrays of an .npz file that `numpy.savez` wrote; nothing in it is unpickled.

    Raises a CofactorError that the file is no `what` where that fails in any way, or the arrays are compressed (which
    `savez` does not do): a small file could fill the memory.
    """
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            if any(info.compress_type != zipfile.ZIP_STORED for info in file.zip.infolist()):
                raise CofactorError("the arrays are compressed, write them with numpy.savez")
            arrays = {name: file[name] for name in names}
            if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                raise CofactorError("not all that it holds are arrays")
            return arrays
    except FileNotFoundError:
        raise CofactorError(f"no such file: {path}") from None
    except Exception as error:  # numpy raises whatever the bytes lead it to
        raise CofactorError(f"{path} is no {what}: {error}") from None
