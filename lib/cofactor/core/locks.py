"""Locks: two runs never write to one output at the same time.

A lock is a hidden file beside the output. The system holds it for a process and lets go when the process ends, however
it ends. Its text says who holds it.
"""

from __future__ import annotations

import datetime
import errno
import os
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.lazy import filelock

LONGEST_HOLDER = 300  # characters of a holder that are believed


def beside(path: Path, ending: str) -> Path:
    """Return the hidden file beside an output, for its lock or its unfinished part."""
    if not path.name:
        raise CofactorError(f"{path} is no name for an output: name a file or folder in it")
    return path.with_name(f".{path.name}.{ending}")


@contextmanager
def locked(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Keep other processes and threads from writing to `path`; a thread may take its own lock again.

    `path` is a file or folder, there or not; its folder must exist. Another run may take `wait` seconds to end.

    Raises a CofactorError where another run writes to `path` (its process, machine and beginning are named), or there
    is no folder for it.
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
        advice = "wait until that has ended, or name another output"
        raise CofactorError(f"{path} is being written by {_holder(name)}: {advice}") from None
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        warnings.warn(f"no locks on the disk of {path}: let no other run write there", DataWarning, stacklevel=3)
    try:
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(OSError):  # another user's; Windows removes it itself
                name.unlink()
        lock.release()


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
