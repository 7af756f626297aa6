"""Find, download and verify the files of data sets.

A file may have several copies: the first one on this machine is used, otherwise the first one that can be downloaded.
Downloads go to a cache folder, and only files with the pinned hash are kept there.

    environment variable   meaning
    COFACTOR_DATA          the cache folder, instead of the system's default
    COFACTOR_MIRROR        a folder with the files under their registered names, used instead of the network
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Literal

from cofactor.core.errors import DatasetUnavailableError, listing
from cofactor.core.files import PIECE, locked, make_folder
from cofactor.data.registry import Entry, File, Role, data_folder, entries, find

Status = Literal["ok", "absent", "damaged"]

TIMEOUT = 30  # seconds that a server may keep silent
LONGEST = 600  # seconds that a file may take


def fetch(name: str) -> list[Path]:
    """Download the files of a data set unless they are on this machine, and return their paths.

    Raises DatasetUnavailableError where `load` would.
    """
    entry = find(name)
    return [locate(entry, role).path for role in entry.roles]


def verify(name: str) -> dict[str, Status]:
    """Check files of a data set that are on this machine against their pinned hashes, without downloading.

    Maps file names to "ok", "absent" (never downloaded, or a copy that was not needed) or "damaged".
    """
    return {file.name: _status(file) for file in find(name).files}


def offline(entry: Entry) -> bool:
    """Whether a data set can be loaded without the network."""
    return all(any(map(_at_hand, entry.copies(role))) for role in entry.roles)


def locate(entry: Entry, role: Role) -> File:
    """Return an intact copy of a file, downloading it if necessary.

    If none is available, a DatasetUnavailableError gives the reason for each copy, and says what to do.
    """
    failures = []
    for file in entry.copies(role):
        if _status(file) == "ok":
            return file
    for file in entry.copies(role):
        try:
            _obtain(file)
            return file
        except (OSError, ValueError) as error:
            failures.append(_failure(file, error))
    raise DatasetUnavailableError(f"data set {entry.name!r} is not available:\n{''.join(failures)}{_ways_out(entry)}")


def _status(file: File) -> Status:
    if not file.path.is_file():
        return "absent"
    try:
        with file.path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        return "ok" if found == file.sha256 else "damaged"
    except OSError:  # a file that cannot be read is of no use either
        return "damaged"


def _at_hand(file: File) -> bool:
    mirror = mirror_folder()
    return _status(file) == "ok" or bool(file.url and mirror and (mirror / file.name).is_file())


def mirror_folder() -> Path | None:
    """Return the folder with copies of the raw files, if the variable COFACTOR_MIRROR names one."""
    folder = os.environ.get("COFACTOR_MIRROR")
    return Path(folder).expanduser() if folder else None


def _obtain(file: File) -> None:
    """Download a file atomically: after a failure, no new file is left under its name."""
    if file.url:
        import pooch  # with requests, takes a fifth of a second

        pooch.get_logger().setLevel("WARNING")
        make_folder(file.path.parent)
        with locked(file.path, LONGEST):  # another run may get it meanwhile: then its hash is right
            path, known = file.path.parent, f"sha256:{file.sha256}"
            pooch.retrieve(file.url, known, file.name, path, downloader=partial(_stream, file))
    else:
        raise FileNotFoundError(f"the bundled copy is {_status(file)}: reinstall cofactor")


def _stream(file: File, url: str, output: str, _: object) -> None:
    """Write a file as it arrives, with at most the registered number of bytes and within `LONGEST` seconds."""
    size, end = 0, time.monotonic() + LONGEST
    with open(output, "wb") as content:
        for piece in _pieces(file):
            size += len(piece)
            if size > file.bytes:
                raise ValueError(f"more than the registered {file.bytes} bytes arrived")
            if time.monotonic() > end:
                raise TimeoutError(f"{size} of {file.bytes} bytes arrived in {LONGEST} seconds")
            content.write(piece)
    Path(output).chmod(file.path.parent.stat().st_mode & 0o666)  # pooch's unfinished files are for their owner alone


def _pieces(file: File) -> Iterator[bytes]:
    """Yield bytes as they arrive, from the mirror if there is one, otherwise by HTTP."""
    mirror = mirror_folder()
    if mirror:
        with (mirror / file.name).open("rb") as source:
            yield from iter(lambda: source.read(PIECE), b"")
        return
    import requests

    plain = {"Accept-Encoding": "identity"}
    with requests.get(file.url, stream=True, timeout=TIMEOUT, headers=plain) as answer:
        answer.raise_for_status()
        try:
            yield from iter(lambda: answer.raw.read1(PIECE), b"")
        except Exception as error:  # of urllib3, which requests hides elsewhere
            raise ConnectionError(str(error)) from None


def _failure(file: File, error: Exception) -> str:
    """Return one line on why a copy is not available; a wrong hash (ValueError) is quoted in full."""
    cause = str(error).rpartition("Caused by ")[2]  # requests repeats the address before it comes to the point
    reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {shorten(cause, 200)}"
    mirror = mirror_folder()
    origin = f"the mirror {mirror} (used instead of {file.url})" if mirror else file.url
    return f"- {file.name} from {origin if file.url else file.path.parent}: {reason}\n"


def _ways_out(entry: Entry) -> str:
    others = [name for name, other in entries().items() if offline(other) and name != entry.name]
    return f"""Do one of the following:
- connect to the network, unset COFACTOR_MIRROR, and call cofactor.data.fetch({entry.name!r});
- put the file, under this name, into a folder, and set COFACTOR_MIRROR to that folder;
- if the download folder {data_folder()} is not writable, set COFACTOR_DATA to another folder;
- if a hash or a size is wrong, a different file arrived (perhaps a proxy's error page): get the file another way;
- load a data set that needs no network: {listing(others) or "there is no other"}.
"""
