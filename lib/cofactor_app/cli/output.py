"""What the commands share: they run a verb, print its result, and write its tables and its page.

Commands never overwrite a file by accident. Files are written atomically and are safe to open in a spreadsheet.
"""

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
from typing import Any, TextIO, TypeVar

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, amount
from cofactor.core.files import locked, naming_a_full_disk, whole_file
from cofactor.core.lazy import pd
from cofactor.verbs.result import Result
from cofactor_app.cli import in_options, short, visible
from cofactor_app.running import CURRENT, Run

Found = TypeVar("Found", bound=Result)
STDOUT = Path("-")
SEPARATORS = {".csv": ",", ".tsv": "\t"}
LINES = ".jsonl"
NO_PAGES = (*SEPARATORS, LINES, ".parquet", ".gz", ".npz", ".json", ".xlsx", ".pdf", ".docx", ".md", ".txt")
RUN = re.compile(r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")  # how cells begin that a spreadsheet runs as a formula
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
LONG = 50_000  # rows from which importing pyarrow pays
SMALL, LARGE = 1e-4, 1e6  # between them, numbers that are not whole have no exponent: pyarrow writes them as Python


# ---- a verb and its result ----


def answered(arguments: argparse.Namespace, verb: Callable[[], Found]) -> Found:
    """Run a verb and hold its warnings back: they are shown if it fails, and are an error with --strict."""
    failed = True
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            result = verb()
            failed = False
    finally:
        for one in caught:
            if failed or not issubclass(one.category, DataWarning):
                warnings.warn(one.message, one.category, stacklevel=2)
    refuse_notes(result.notes, arguments.strict)
    if run := CURRENT.get():
        run.notes.extend(in_options(note) for note in result.notes)
    return result


def one_or_all(paths: list[str]) -> str | list[str]:
    """Return the only path, or all of them."""
    return paths[0] if len(paths) == 1 else paths


def say_later(writer: Writer) -> list[str]:
    """Make a writer collect its messages instead of printing them; return the list."""
    wrote: list[str] = []
    writer.said = lambda path, what: wrote.append(f"wrote {path} ({what})" if what else f"wrote {path}")
    return wrote


def tell_result(arguments: argparse.Namespace, result: Result, more: list[str], wrote: list[str]) -> None:
    """Print the result and the written files to standard output, notes and warnings to standard error."""
    hint = "-o FILE" if arguments.output is None else f"-o {arguments.output}"
    if not arguments.quiet:
        lines = [*result.screen(hint), *more, *(result.details if arguments.verbose else ())]
        print(visible("\n".join([*lines, *wrote])))
        sys.stdout.flush()
    for note in result.notes:
        kind = "warning" if note in result.warnings else "note"
        if kind == "warning" or not arguments.quiet:
            print(f"{kind}: {visible(short(in_options(note)))}", file=sys.stderr)


@contextmanager
def noted(strict: bool) -> Iterator[None]:
    """Pass on notes from reading data; with `strict`, raise all of them as one error."""
    found: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True, action="always", category=DataWarning) as found:
            yield
    finally:
        for one in found if not strict else ():
            warnings.warn(one.message, one.category, stacklevel=3)
    refuse_notes([str(one.message) for one in found], strict)


def refuse_notes(notes: Iterable[str], strict: bool) -> None:
    """Raise a CofactorError with all notes about the data if there are any and `strict` (--strict) is set."""
    if strict and (texts := list(dict.fromkeys(notes))):
        raise CofactorError(f"--strict: {'; '.join(texts)}")


# ---- files ----


@contextmanager
def reserved(paths: Iterable[Path], force: bool, inputs: Sequence[str | Path | None]) -> Iterator[None]:
    """Lock outputs against other runs during the work; refuse any that would overwrite something."""
    read = [name for name in inputs if name and Path(name).exists()]
    with ExitStack() as locks:
        for path in paths:
            if path == STDOUT:
                raise CofactorError("-: only tables can be printed; name a file")
            if path.exists() and (not path.is_file() or any(map(path.samefile, read))):
                kind = "one of the inputs" if path.is_file() else "a folder" if path.is_dir() else "not a regular file"
                raise CofactorError(f"{path} is {kind}: name another output")
            locks.enter_context(locked(path))
            if path.exists() and not force:
                raise CofactorError(f"{path} already exists: name another output, or overwrite it with --force")
        yield


@contextmanager
def outputs(
    arguments: argparse.Namespace,
    tables: Iterable[Path | None],
    inputs: Sequence[str | Path | None],
    others: Iterable[Path | None] = (),
) -> Iterator[Writer]:
    """Lock the files to write, as `reserved` does, and yield the writer of tables; None stands for an unused option.

    If a table goes to standard output, everything else is printed to standard error until the end.
    """
    asked = [path for path in tables if path]
    for path in asked:
        _form(path)
    page = getattr(arguments, "report", None)
    if page and page.suffix.lower() in NO_PAGES:
        raise CofactorError(f"--report {page}: reports are web pages: name a file that ends in .html")
    if STDOUT in asked and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf8")  # as in files, whatever the terminal's encoding is
    writer = Writer(sys.stdout, arguments.raw_cells)
    paths = [*asked, *(path for path in others if path)]
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise CofactorError("two outputs are the same file: name another file for one of them")
    read = [Path(name) for name in inputs if name and Path(name).is_file()]
    with (
        reserved([path for path in paths if path != STDOUT or path not in asked], arguments.force, inputs),
        redirect_stdout(sys.stderr if STDOUT in asked else sys.stdout),
    ):
        token = CURRENT.set(Run(arguments.argv, read, paths))
        try:
            yield writer
            if writer.escaped:
                cells = f"{amount(writer.escaped, 'cell')} that a spreadsheet would run as a formula"
                message = f"an apostrophe was put before {cells} (--raw-cells writes none)"
                warnings.warn(message, DataWarning, stacklevel=2)
        finally:
            CURRENT.reset(token)


def _say(path: Path, what: str) -> None:
    print(f"wrote {path}: {what}" if what else f"wrote {path}")


def write_page(path: Path, page: str, said: Callable[[Path, str], None] = _say) -> None:
    """Write an HTML page, and print its name."""
    with whole_file(path) as part:
        part.write_text(page, encoding="utf8")
    said(path, "")


def write_report(arguments: argparse.Namespace, found: Result, writer: Writer) -> None:
    """Write the page of a result if --report is set."""
    if arguments.report:
        from cofactor_app.pages.reports import page_of  # pictures take a second to import

        write_page(arguments.report, page_of(found), writer.said)


def _form(path: Path) -> str:
    """Return the suffix that decides the format (.csv, .tsv, .jsonl or .parquet); without a suffix, .csv."""
    form = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    form = form.lower() or ".csv"
    if form not in (*SEPARATORS, LINES, ".parquet") or (form == ".parquet" and path.suffix == ".gz"):
        raise CofactorError(f"{path}: tables can be written as .csv, .tsv, .jsonl (each also .gz) or .parquet")
    return form


class Writer:
    """Writes tables; unless `raw`, an apostrophe is put before cells that a spreadsheet would run as formulas."""

    def __init__(self, stdout: TextIO, raw: bool) -> None:
        self.stdout, self.raw = stdout, raw
        self.said: Callable[[Path, str], None] = _say
        self.escaped = 0

    def write(self, path: Path, frames: Iterable[pd.DataFrame], what: str) -> None:
        """Write frames one below another, and print the name of the file."""
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


# ---- rows of large tables as text, the same as pandas writes, by whole columns: five times as fast ----


def text_of(frame: pd.DataFrame, sep: str) -> str | None:
    """Return the rows as `to_csv` writes them, without the header, or None if `to_csv` is needed.

    It is needed for few rows, gaps, cells that need quotes, and columns other than text and numbers.
    """
    if len(frame) < LONG or frame.shape[1] < 2:
        return None
    try:
        import pyarrow as pa
        from pyarrow import compute
    except ImportError:
        return None
    try:
        columns = [_texts(column, sep) for _, column in frame.items()]
    except (pa.ArrowException, UnicodeError):
        return None
    if any(column is None for column in columns):
        return None
    rows = compute.binary_join_element_wise(*columns, pa.scalar(sep, pa.large_string())).to_pylist()
    return "\n".join([*rows, ""])


def _texts(column: pd.Series[Any], sep: str) -> Any:
    """Return the cells as a pyarrow array of text, or None if `to_csv` is needed."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else ""
    if kind in ("i", "u"):
        return compute.cast(pa.array(column.to_numpy()), pa.large_string())
    if kind == "b":
        return compute.if_else(pa.array(column.to_numpy()), *pa.array(["True", "False"], pa.large_string()))
    if column.dtype == np.float64:
        return _numbers(column.to_numpy())
    if kind != "O" and not isinstance(column.dtype, pd.StringDtype):
        return None
    texts = pa.array(column.astype(object), pa.large_string())
    asks = texts.null_count or compute.any(compute.match_substring_regex(texts, f'["\r\n{sep}]')).as_py()
    return None if asks else texts


def _numbers(values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if not np.isfinite(values).all():
        return None
    texts, size = compute.cast(pa.array(values), pa.large_string()), np.abs(values)
    odd = (size < SMALL) | (size >= LARGE) | (values == np.rint(values))
    return compute.replace_with_mask(texts, odd, pa.array(list(map(repr, values[odd].tolist())), pa.large_string()))
