"""The command that runs: what it was asked, what it reads, and what it noted; for its record and its report."""

from __future__ import annotations

import platform
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path

WRITTEN = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")  # when a page was made
FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^/\\:]+[/\\])*")  # of a path from the root of a disk
PACKAGES = ("numpy", "scipy", "pandas", "numba")


@dataclass
class Run:
    """A command at work: its words, the files that it reads and writes, and what it has noted so far."""

    command: Sequence[str]
    inputs: Sequence[Path]
    outputs: Sequence[Path]
    notes: list[str] = field(default_factory=list)

    def words(self) -> str:
        """Return the command without the folders of this machine, which say nothing to others."""
        there = elsewhere(self.command, {str(path): path.name for path in self.outputs})
        return " ".join(["cofactor", *map(_of_no_machine, there)])


def without_secrets(address: str) -> str:
    """Return the address of a database without user, password and options.

    >>> without_secrets("postgresql://me:secret@host/name?sslmode=require")
    'postgresql://host/name'
    """
    kind, there, rest = address.partition("://")
    return kind + there + rest.rpartition("@")[2].partition("?")[0]


def _of_no_machine(word: str) -> str:
    kind, there, rest = without_secrets(word).partition("://")
    return f"{kind}://{'/' * rest.startswith('/')}{FOLDERS.sub('', rest)}" if there else FOLDERS.sub("", word)


CURRENT: ContextVar[Run | None] = ContextVar("run", default=None)


@contextmanager
def running(run: Run) -> Iterator[Run]:
    """Make a run the current one."""
    token = CURRENT.set(run)
    try:
        yield run
    finally:
        CURRENT.reset(token)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; of .npz and pages, which hold the time of writing, that of the rest.

    Of a folder: that of the names and the digests of its files.
    """
    if path.is_dir():
        return sha256(repr([(one.name, digest(one)) for one in sorted(path.iterdir())]).encode()).hexdigest()
    if path.suffix == ".npz" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return sha256(repr(sorted((one.filename, one.CRC) for one in packed.infolist())).encode()).hexdigest()
    if path.suffix == ".html":
        return sha256(WRITTEN.sub(b"", path.read_bytes())).hexdigest()
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def version(package: str) -> str:
    """Return the version of a package that is installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def versions() -> dict[str, str]:
    """Return the versions of Python and of what numbers hang on."""
    return {"python": platform.python_version(), **{name: version(name) for name in ("cofactor", *PACKAGES)}}


def machine() -> dict[str, str]:
    """Return the system, and the kernel and the threads of linear algebra."""
    from threadpoolctl import threadpool_info

    blas = [one for one in threadpool_info() if one.get("user_api") == "blas"]
    kernels = ", ".join(sorted({f"{one.get('architecture', 'unknown')}, {one['num_threads']} threads" for one in blas}))
    return {"system": platform.system(), "processor": platform.machine(), "blas": kernels or "unknown"}


def elsewhere(command: Sequence[str], moved: Mapping[str, str]) -> list[str]:
    """Return a command that writes to other files, and keeps no record."""
    words = iter(command)
    kept = []
    for word in words:
        if word == "--record":
            next(words, None)
        elif not word.startswith("--record="):
            option, equals, value = word.partition("=")
            kept.append(f"{option}={moved[value]}" if equals and value in moved else moved.get(word, word))
    return kept
