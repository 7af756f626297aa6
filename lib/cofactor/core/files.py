"""Files: written whole or not at all, unpacked and loaded without trust in what they hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
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
    """Give a name beside `path` to write to; the file takes its place only if all went well."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


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
