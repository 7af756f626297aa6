"""Files that commands write: never over another by accident, atomically, safe to open in a spreadsheet."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.files import locked, naming_a_full_disk, whole_file
from cofactor.core.lazy import pd
from cofactor_app.cli import note_of
from cofactor_app.cli.text_rows import text_of
from cofactor_app.running import Run, running

STDOUT = Path("-")
SEPARATORS = {".csv": ",", ".tsv": "\t"}
LINES = ".jsonl"
RUN = re.compile(r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")  # how cells begin that a spreadsheet runs as a formula
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@contextmanager
def reserved(paths: Iterable[Path], force: bool, inputs: Sequence[str | Path | None]) -> Iterator[None]:
    """Keep other runs from writing to outputs while the work is done; refuse those that would destroy something."""
    read = [name for name in inputs if name and Path(name).exists()]
    with ExitStack() as locks:
        for path in paths:
            if path == STDOUT:
                raise CofactorError("-: only tables are printed; name a file")
            locks.enter_context(locked(path))
            if path.exists() and (not path.is_file() or any(map(path.samefile, read))):
                raise CofactorError(f"{path} is no ordinary file, or one of the inputs: name another output")
            if path.exists() and not force:
                raise CofactorError(f"{path} exists: name another output, or overwrite it with --force")
        yield


def as_in_files() -> TextIO:
    """Return standard output, which writes UTF-8 from now on, whatever the terminal's encoding is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf8")
    return sys.stdout


@contextmanager
def outputs(
    arguments: argparse.Namespace,
    tables: Iterable[Path | None],
    inputs: Sequence[str | Path | None],
    others: Iterable[Path | None] = (),
) -> Iterator[Writer]:
    """Hold the files to write, tables and others, as `reserved`; gives the writer of tables. None: not asked for.

    Until the end, all else that is printed goes to standard error if one of the tables goes to standard output.
    """
    asked = [path for path in tables if path]
    for path in asked:
        _form(path)
    writer = Writer(as_in_files() if STDOUT in asked else sys.stdout, arguments.raw_cells)
    paths = [*asked, *(path for path in others if path)]
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise CofactorError("two tables cannot be written to one file: name another output")
    read = [Path(name) for name in inputs if name and Path(name).is_file()]
    with (
        reserved([path for path in paths if path != STDOUT or path not in asked], arguments.force, inputs),
        redirect_stdout(sys.stderr if STDOUT in asked else sys.stdout),
        running(Run(arguments.argv, read, paths)) as run,
        _noting(run.notes),
    ):
        yield writer
        if writer.escaped:
            message = f"{writer.escaped} cells that a spreadsheet would run as formulas begin with an apostrophe now"
            warnings.warn(f"{message} (--raw-cells leaves them as they are)", DataWarning, stacklevel=2)


@contextmanager
def _noting(notes: list[str]) -> Iterator[None]:
    """Add each note to a list when it is shown."""
    before = warnings.showwarning

    def noted(message: Warning | str, *more: Any, **options: Any) -> None:
        text = note_of(message)
        if text not in notes:
            notes.append(text)
        before(message, *more, **options)

    warnings.showwarning = noted
    try:
        yield
    finally:
        warnings.showwarning = before


def _say(path: Path, what: str) -> None:
    print(f"wrote {path}: {what}" if what else f"wrote {path}")


def write_page(path: Path, page: str, said: Callable[[Path, str], None] = _say) -> None:
    """Write an HTML page, and say so."""
    with whole_file(path) as part:
        part.write_text(page, encoding="utf8")
    said(path, "")


def _form(path: Path) -> str:
    """Return the suffix that tells the form: .csv, .tsv, .jsonl, .parquet; without any (standard output), CSV."""
    form = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    form = form.lower() or ".csv"
    if form not in (*SEPARATORS, LINES, ".parquet") or (form == ".parquet" and path.suffix == ".gz"):
        raise CofactorError(f"{path}: tables are written as .csv, .tsv, .jsonl, each also with .gz, or .parquet")
    return form


class Writer:
    """Writes tables; cells that a spreadsheet would run get an apostrophe in front, unless `raw`."""

    def __init__(self, stdout: TextIO, raw: bool) -> None:
        self.stdout, self.raw = stdout, raw
        self.said: Callable[[Path, str], None] = _say
        self.escaped = 0

    def write(self, path: Path, frames: Iterable[pd.DataFrame], what: str) -> None:
        """Write frames one below another, and say so."""
        if path == STDOUT:
            with naming_a_full_disk("standard output"):
                self._write_text(self.stdout, frames, ",")
                self.stdout.flush()
            return
        with whole_file(path) as part:
            if _form(path) == ".parquet":
                _write_parquet(part, frames)
            else:
                with _text_file(part, packed=path.suffix == ".gz") as file:
                    if _form(path) == LINES:  # no spreadsheet reads it, so nothing is escaped
                        for frame in frames:
                            frame.to_json(file, orient="records", lines=True, force_ascii=False)
                    else:
                        self._write_text(file, frames, SEPARATORS[_form(path)])
        self.said(path, what)

    def _write_text(self, file: Any, frames: Iterable[pd.DataFrame], sep: str) -> None:
        for number, frame in enumerate(frames):
            shown = frame if self.raw else self._safe(frame)
            text = text_of(shown, sep)
            if text is None:
                shown.to_csv(file, index=False, header=number == 0, sep=sep, lineterminator="\n")
                continue
            if number == 0:
                shown.head(0).to_csv(file, index=False, sep=sep, lineterminator="\n")
            file.write(text)

    def _safe(self, frame: pd.DataFrame) -> pd.DataFrame:
        def safe(cell: Any) -> Any:
            if isinstance(cell, str) and RUN.match(cell) and not NUMBER.fullmatch(cell):
                self.escaped += 1
                return f"'{cell}"
            return cell

        text = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        columns = [frame.iloc[:, i].map(safe) if text[i] else frame.iloc[:, i] for i in range(frame.shape[1])]
        safe_frame = pd.concat(columns, axis=1)
        return safe_frame.set_axis([safe(name) for name in frame.columns], axis=1)


@contextmanager
def _text_file(path: Path, packed: bool) -> Iterator[io.TextIOBase]:
    with open(path, "wb") as raw:
        inner: Any = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if packed else raw
        with io.TextIOWrapper(inner, encoding="utf8", newline="") as text:
            yield text


def _write_parquet(path: Path, frames: Iterable[pd.DataFrame]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for frame in frames:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        repeated = [field.name for field in list(table.schema)[1:] if not pa.types.is_floating(field.type)]
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=repeated)  # ids and fractions differ
        writer.write_table(table)
    if writer:
        writer.close()
