"""The current command: its arguments, input files and notes, which the last section of a report shows."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import file_digest
from importlib import metadata
from pathlib import Path

FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^/\\:]+[/\\])*")  # of a path from the root of a disk
PACKAGES = ("numpy", "scipy", "pandas", "numba")


@dataclass
class Run:
    """A running command: its arguments, the files that it reads and writes, and its notes so far."""

    command: Sequence[str]
    inputs: Sequence[Path]
    outputs: Sequence[Path]
    notes: list[str] = field(default_factory=list)

    def words(self) -> str:
        """Return the command quoted for a shell, without the folders of this machine."""
        names = {str(path): path.name for path in self.outputs}
        return shlex.join(["cofactor", *(_of_no_machine(_named(word, names)) for word in self.command)])


def _named(word: str, names: dict[str, str]) -> str:
    option, equals, value = word.partition("=")
    return f"{option}={names[value]}" if equals and value in names else names.get(word, word)


def without_secrets(address: str) -> str:
    """Return the address of a database without user name, password and options.

    >>> without_secrets("postgresql://me:secret@host/name?sslmode=require")
    'postgresql://host/name'
    """
    kind, there, rest = address.partition("://")
    return kind + there + rest.rpartition("@")[2].partition("?")[0]


def _of_no_machine(word: str) -> str:
    kind, there, rest = without_secrets(word).partition("://")
    return f"{kind}://{'/' * rest.startswith('/')}{FOLDERS.sub('', rest)}" if there else FOLDERS.sub("", word)


CURRENT: ContextVar[Run | None] = ContextVar("run", default=None)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def version(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages on which the numbers depend."""
    return {"python": platform.python_version(), **{name: version(name) for name in ("cofactor", *PACKAGES)}}


def machine() -> dict[str, str]:
    """Return the operating system, the processor, and the kernels and threads of BLAS."""
    from threadpoolctl import threadpool_info

    blas = [one for one in threadpool_info() if one.get("user_api") == "blas"]
    kernels = ", ".join(sorted({f"{one.get('architecture', 'unknown')}, {one['num_threads']} threads" for one in blas}))
    return {"system": platform.system(), "processor": platform.machine(), "blas": kernels or "unknown"}
