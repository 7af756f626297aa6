"""A record of a run, by which a second reader checks it, and ``cofactor again``, which repeats the run."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import from_json, whole_file
from cofactor_app.cli import main
from cofactor_app.running import digest, elsewhere, machine, version, versions

PARTS = ("cofactor", "command", "when", "versions", "machine", "inputs", "outputs", "notes", "printed")


@contextmanager
def recorded(
    path: Path, argv: Sequence[str], inputs: Iterable[str | Path], outputs: Iterable[Path], notes: Sequence[str]
) -> Iterator[None]:
    """Keep what a run read, wrote, printed and noted; nothing where it fails. `notes` grow while it runs."""
    files = [Path(name) for name in inputs if Path(name).exists()]
    read, shown = {str(name): digest(name) for name in files}, _Both(sys.stdout)
    with redirect_stdout(shown):
        yield
    wrote = {str(name): digest(name) for name in outputs if name.exists()}
    found = (
        version("cofactor"),
        list(argv),
        _now(),
        versions(),
        machine(),
        read,
        wrote,
        list(notes),
        shown.getvalue().splitlines(),
    )
    with whole_file(path) as part:
        text = json.dumps(dict(zip(PARTS, found, strict=True)), indent=1, ensure_ascii=False)
        part.write_text(f"{text}\n", encoding="utf8")
    print(f"wrote {path}: what was read, written, noted, and by which versions")


class _Both(StringIO):
    """Standard output that keeps what is printed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream

    def write(self, text: str) -> int:
        """Print a text, and keep it."""
        super().write(text)
        return self.stream.write(text)

    def flush(self) -> None:
        """Flush what is printed."""
        self.stream.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def again(arguments: argparse.Namespace) -> None:
    """Repeat a recorded run beside its outputs; say whether the same comes out, and what has changed where not."""
    record = _read(arguments.record)
    changed = list(_changes(record))
    lost = [name for name in record["inputs"] if not Path(name).exists()]
    if lost:
        where = "run this where the command ran"
        raise CofactorError(f"{arguments.record}: inputs that are not here: {listing(lost)}; {where}")
    with tempfile.TemporaryDirectory() as folder:
        moved = {name: Path(folder, f"{k}", Path(name).name) for k, name in enumerate(record["outputs"])}
        for path in moved.values():
            path.parent.mkdir()
        command = elsewhere(record["command"], {name: str(path) for name, path in moved.items()})
        with redirect_stdout(StringIO()):
            code = main(command)
        if code:
            raise CofactorError(f"the recorded command ends with an error today{_because(changed)}")
        other = [name for name, path in moved.items() if not path.exists() or digest(path) != record["outputs"][name]]
    for line in changed:
        print(f"changed since: {line}")
    if other:
        raise CofactorError(f"other bytes come out: {listing(other)}{_because(changed)}")
    print(f"the same bytes come out: {listing(record['outputs']) or 'nothing was written'}")


def _because(changed: list[str]) -> str:
    return f"; changed since: {'; '.join(changed)}" if changed else "; nothing that is recorded has changed"


def _read(path: Path) -> dict[str, Any]:
    try:
        record = from_json(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise CofactorError(f"{path}: not JSON, so not a record of a run ({str(error)[:80]})") from None
    texts = isinstance(record, dict) and set(PARTS) <= set(record) and isinstance(record["command"], list)
    if not texts or not all(isinstance(word, str) for word in record["command"]):
        raise CofactorError(f"{path}: not a record that --record wrote")
    if not all(isinstance(record[part], dict) for part in ("inputs", "outputs", "versions", "machine")):
        raise CofactorError(f"{path}: not a record that --record wrote")
    if record["command"][:1] == ["again"]:
        raise CofactorError(f"{path}: records a repetition, which is none to repeat")
    return record


def _changes(record: dict[str, Any]) -> Iterator[str]:
    """Say which inputs, versions and machines are others than those of the record."""
    for name, known in record["inputs"].items():
        if Path(name).exists() and digest(Path(name)) != known:
            yield f"input {name}"
    for part, now in (("versions", versions()), ("machine", machine())):
        for name, known in record[part].items():
            if now.get(name) != known:
                yield f"{name} {known}, now {now.get(name)}"
