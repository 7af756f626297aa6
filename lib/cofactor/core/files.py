"""Files: written atomically and by one run at a time, decompressed and loaded without trusting their content.

A lock is a hidden file next to the output. The system releases it when its process ends, however it ends. Its text
names the process.
"""

from __future__ import annotations

import bz2
import datetime
import errno
import gzip
import io
import json
import lzma
import os
import platform
import shutil
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import filelock

LARGE = 20_000_000  # bytes: what unpacks to less is never refused
RATIO = 200  # of unpacked to packed; tables of ids and codes come to 20 at most
PIECE = 1 << 24
BITE = 1 << 16  # bytes, of what unpacks: a zip's reader takes as much of the packed ones at once
WAIT_SECONDS = 60.0  # seconds that one run waits for another to finish a file
LONGEST_HOLDER = 300  # characters of a holder that are believed
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to `path` to write to; it replaces `path` only if no error occurs.

    It is synced to disk before it is renamed, so a power failure leaves either the old file or the new one. Links are
    followed, and a replaced file keeps its mode. Only one run at a time writes: others wait `WAIT_SECONDS`.
    """
    path = path.resolve() if path.is_symlink() else path
    part = beside(path, "part")
    with locked(path, WAIT_SECONDS), naming_a_full_disk(path):
        part.unlink(missing_ok=True)  # of a run that was killed
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # no link of this name is followed
            yield part
            if path.exists():
                shutil.copymode(path, part)
            sync(part)
            os.replace(part, path)
            sync(path.parent)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def naming_a_full_disk(path: object) -> Iterator[None]:
    """Convert the system's error about a full disk into a CofactorError with the output and a remedy."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.errno not in FULL:
            raise
        advice = "free some space, or name an output on another disk"
        raise CofactorError(f"{path} cannot be written ({os.strerror(error.errno)}): {advice}") from None


def sync(path: Path) -> None:
    """Wait until a file or a folder is synced to disk; folders are skipped on Windows."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents, and sync them to disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync(folder.parent)


def beside(path: Path, ending: str) -> Path:
    """Return the path of the hidden file next to an output, for its lock or its unfinished part."""
    if not path.name:
        raise CofactorError(f"{path} cannot be an output: name a file or folder in it")
    return path.with_name(f".{path.name}.{ending}")


@contextmanager
def locked(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Prevent other processes and threads from writing to `path`; a thread may take its own lock again.

    `path` is a file or folder, which need not exist, in an existing folder. Another run has `wait` seconds to finish.

    Raises a CofactorError if another run is writing to `path` (its process, machine and start are named), if the folder
    does not exist, or if no file can be created in it.
    """
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise CofactorError(f"{path}: there is no folder {path.parent}")
    name = beside(path, "lock")
    mode = 0o666  # whoever may write there may lock there
    lock = filelock.FileLock(name, mode=mode, is_singleton=True, on_acquired=_sign)
    try:
        lock.acquire(timeout=wait)
    except filelock.Timeout:
        try:  # where no file can be created, filelock tries again as if another process held the lock
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise _no_file_in(path, error) from None
        advice = "wait until it has finished, or name another output"
        raise CofactorError(f"{path} is being written by {_holder(name)}: {advice}") from None
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _no_file_in(path, error) from None
        if error.errno != errno.ENOSYS:
            raise
        warnings.warn(f"no locks on the disk of {path}: do not let another run write there", DataWarning, stacklevel=3)
    try:
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(OSError):  # another user's; Windows removes it itself
                name.unlink()
        lock.release()


def _no_file_in(path: Path, error: OSError) -> CofactorError:
    what = f"{path}: no file can be created in {path.parent} ({error.strerror or error})"
    return CofactorError(f"{what}: name an output in another folder")


def _sign(handle: int) -> None:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    with suppress(OSError):  # a full disk: a lock that says nothing holds as well
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {platform.node()}, since {now}".encode())


def _holder(name: Path) -> str:
    """What the lock's file says; anybody may have written it, so it is not believed if it is no plain line."""
    text = ""
    for _ in range(10):  # who has just taken it has yet to write
        with suppress(OSError, ValueError):
            text = text or name.read_text(encoding="utf8")
        time.sleep(0 if text else 0.02)
    return text if 0 < len(text) <= LONGEST_HOLDER and text.isprintable() else "another process"


def unpacked(path: str | PathLike[str]) -> bytes:
    """Return the decompressed content of a .gz, .bz2, .xz or .zip file; other files unchanged.

    A file that decompresses to more than 200 times its size raises a CofactorError, unless this is less than 20 MB: a
    few kilobytes can be made to fill any memory. The ratio is checked while reading, so little is decompressed before.
    Other errors are those of the decompressing module.
    """
    content = bytearray()
    for piece, limit in _pieces(Path(path)):
        content += piece
        if len(content) > limit:
            raise CofactorError(f"{path} unpacks to more than {limit} bytes: unpack it yourself if this is intended")
    return bytes(content)


def _pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield what a file unpacks to, each piece with the bytes that may have come till then."""
    with open(path, "rb") as packed:
        size = os.fstat(packed.fileno()).st_size
        with _opened(path, packed) as file:
            begin = packed.tell() if packed.seekable() else 0
            while piece := file.read(BITE):
                read = packed.tell() - begin if packed.seekable() else size
                yield piece, max(LARGE, RATIO * read)


@contextmanager
def _opened(path: Path, packed: IO[bytes]) -> Iterator[IO[bytes]]:
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(packed) as archive:
            names = [one for one in archive.namelist() if not one.startswith("__MACOSX/") and one[-1] != "/"]
            names = [one for one in names if not one.rpartition("/")[2].startswith(".")]  # .DS_Store and the like
            if len(names) != 1:
                raise CofactorError(f"{path} holds {len(names)} files ({listing(names)}): pack only the one to read")
            with archive.open(names[0]) as inner:
                yield inner
    else:
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        opener = openers.get(path.suffix.lower())
        with opener(packed) if opener else nullcontext(packed) as file:
            yield file


def from_json(text: str | bytes, **options: Any) -> Any:
    """Parse JSON as `json.loads` does, but raise a ValueError also for too deeply nested lists."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("its lists or objects are nested too deeply") from None


@contextmanager
def reading_parquet(name: object) -> Iterator[None]:
    """Convert errors of pyarrow into a CofactorError that names the file."""
    try:
        yield
    except CofactorError:
        raise
    except Exception as error:  # pyarrow raises whatever the bytes lead it to
        raise CofactorError(f"{name} cannot be read as parquet: {' '.join(str(error).split())}") from None


def read_parquet(source: io.BytesIO | str | PathLike[str], columns: Sequence[str], name: object) -> Any:
    """Read those of the columns that a Parquet file has, as a pyarrow table; `name` is used in messages.

    Text columns are dictionary-encoded.

    A file that decompresses to more than 200 times its size raises as in `unpacked`; call this in `reading_parquet`.
    """
    from pyarrow import parquet, types

    packed = source.getbuffer().nbytes if isinstance(source, io.BytesIO) else os.stat(source).st_size
    known = parquet.read_schema(source)
    text = [one.name for one in known if types.is_string(one.type) or types.is_large_string(one.type)]
    with parquet.ParquetFile(source, read_dictionary=text) as file:
        found = [column for column in known.names if column in columns]
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        parts = (group.column(n) for group in groups for n in range(group.num_columns))
        values = sum(part.num_values for part in parts if part.path_in_schema.split(".")[0] in found)  # lists hold many
        size = max(file.metadata.num_rows * (1 + len(found)), values)
        _refuse_packed(size, packed, name)
        read = file.read(found)
    _refuse_packed(sum(map(_unfolded, read.columns)), packed, name)
    return read


def _refuse_packed(size: int, packed: int, name: object) -> None:
    limit = max(LARGE, RATIO * packed)
    if size > limit:
        raise CofactorError(f"{name} unpacks to more than {limit} bytes: unpack it yourself if this is intended")


def _unfolded(column: Any) -> int:
    """Bytes of a column once each of its texts stands where it belongs, and not once for all."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type) or not types.is_string(column.type.value_type):
        return int(column.nbytes)
    lengths = (compute.binary_length(one.dictionary).take(one.indices) for one in column.chunks)
    return sum(compute.sum(one).as_py() or 0 for one in lengths)


def save_arrays(path: str | PathLike[str], **arrays: NDArray[Any]) -> None:
    """Write an .npz file."""
    with zipfile.ZipFile(path, "w") as archive:  # where the disk is full, numpy.savez of 2.0 leaves one open
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
