"""What all verbs share: reading their input, and a result with tables, notes and a report."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import whole_file
from cofactor.core.lazy import pd
from cofactor.reading.tables import read_frame

SHOWN = 10  # rows of a table that are shown


class Result:
    """The result of a verb: tables as DataFrames, notes, the fitted method, and a report.

    Attributes
    ----------
    source : str
        The name of the data, for headings.
    method : the fitted estimator, or an object in its place
    notes : list of str
        Notes on data that were left out, assumptions that were made, and results that are too weak to trust.
    warnings : list of str
        The notes that were also raised as a `DataWarning`, because they question the answer.
    """

    page: ClassVar[str]  # name of the report
    source: str
    method: Any
    notes: list[str]
    warnings: list[str]

    @property
    def summary(self) -> list[str]:
        """The answer in a few lines."""
        raise NotImplementedError

    @property
    def details(self) -> list[str]:
        """Details of the fit, as printed by the command with --verbose and in the report."""
        raise NotImplementedError

    @property
    def shown(self) -> pd.DataFrame:
        """The table whose first rows are shown with the result."""
        raise NotImplementedError

    def report(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the result as one HTML page; an existing file is an error unless `force`."""
        target = Path(path)
        if target.exists() and not force:
            raise CofactorError(f"{target} already exists: name another file, or set force=True")
        from cofactor_app.pages.reports import page_of  # pictures take a second to import

        text = page_of(self)
        with whole_file(target) as part:
            part.write_text(text, encoding="utf8")

    def screen(self, more: str = "") -> list[str]:
        """Return the answer as the command prints it, line by line; `more` says where the rest of the table is."""
        return [*self.summary, *self.shown.head(SHOWN).to_string(index=False).splitlines()]

    def __repr__(self) -> str:
        return "\n".join(self.screen())

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{html.escape(line)}</div>" for line in self.summary)
        notes = "".join(f"<div><em>{html.escape(note)}</em></div>" for note in self.notes)
        return lines + self.shown.head(SHOWN).to_html(index=False) + notes


@contextmanager
def noting(notes: list[str], warned: list[str]) -> Iterator[None]:
    """Add every `DataWarning` to the lists of notes and of warnings, each once, and pass it on."""
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            yield
    finally:
        found = {str(one.message): one for one in caught}
        data = [text for text, one in found.items() if issubclass(one.category, DataWarning)]
        notes.extend(text for text in data if text not in notes)
        warned.extend(text for text in data if text not in warned)
        for one in found.values():
            warnings.warn(one.message, one.category, stacklevel=4)


def frame_like(source: Any) -> bool:
    """Return whether this is a DataFrame, or can be converted to one."""
    frames = isinstance(source, pd.DataFrame | pd.Series)
    return frames or hasattr(source, "to_pandas") or hasattr(source, "__arrow_c_stream__")


def as_frame(source: Any) -> pd.DataFrame:
    """Return a pandas DataFrame from one of pandas, polars, pyarrow, DuckDB or a similar library."""
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, pd.Series):
        return source.to_frame()
    if hasattr(source, "to_pandas"):
        found = source.to_pandas()
        return found.to_frame() if isinstance(found, pd.Series) else found
    import pyarrow as pa

    return pa.table(source).to_pandas()


def is_path(source: Any) -> bool:
    """Return whether this names a file or a data set."""
    return isinstance(source, str | PathLike)


def paths_of(source: Any) -> list[str]:
    """Return one or more paths as a list; an empty list if the source is not a path."""
    if is_path(source):
        return [fspath(source)]
    several = isinstance(source, Sequence) and len(source) > 0 and all(map(is_path, source))
    return [fspath(one) for one in source] if several else []


def joined(paths: Sequence[str], row: str, encoding: str, sep: str | None) -> pd.DataFrame:
    """Read files with the same columns as one table of text; raise a CofactorError if their columns differ."""
    frames = [read_frame(path, None, encoding, sep, row) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if set(frame.columns) != set(frames[0].columns):
            other = listing(sorted(set(frame.columns) ^ set(frames[0].columns)))
            raise CofactorError(
                f"{path} and {paths[0]} have different columns ({other}): give files with the same columns"
            )
    return pd.concat([frame.astype(object) for frame in frames], ignore_index=True)


def data_set(name: str, kind: Any) -> Any:
    """Load a registered data set of this kind unless a file has its name; None if there is no such data set."""
    from cofactor.data import load
    from cofactor.data.registry import entries

    return load(name, kind) if name in entries() and not Path(name).exists() else None


def named_source(source: Any) -> str:
    """Return the name of a source for headings."""
    found = paths_of(source)
    return ", ".join(Path(one).name for one in found) if found else type(source).__name__
