"""What all verbs share: how data comes in, and a result with tables, notes and a report."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import whole_file
from cofactor.core.lazy import pd
from cofactor.reading.tables import read_frame

SHOWN = 10  # rows of a table that are shown


class Result:
    """What a verb found: tables as DataFrames, notes, the fitted method, a report.

    Attributes
    ----------
    source : str
        Where the data came from, for headings.
    method : the fitted estimator, or what takes its place
    notes : list of str
        What was noticed: what was left out, taken unasked, or is too weak to trust.
    warnings : list of str
        Those of the notes that were also raised as a `DataWarning`, since they question the answer.
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
        """More about the fit, as the command prints it with --verbose, and the report."""
        raise NotImplementedError

    @property
    def shown(self) -> pd.DataFrame:
        """The table whose first rows stand for the result."""
        raise NotImplementedError

    def report(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the result as one HTML page; an existing file is an error unless `force`."""
        target = Path(path)
        if target.exists() and not force:
            raise CofactorError(f"{target} exists: name another file, or say force=True")
        from cofactor_app.pages.reports import page_of  # pictures take a second to import

        text = page_of(self)
        with whole_file(target) as part:
            part.write_text(text, encoding="utf8")

    def screen(self, more: str = "") -> list[str]:
        """Return the answer as the command prints it, a line each; `more` says where the rest of the table is."""
        return [*self.summary, *self.shown.head(SHOWN).to_string(index=False).splitlines()]

    def __repr__(self) -> str:
        return "\n".join(self.screen())

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{html.escape(line)}</div>" for line in self.summary)
        notes = "".join(f"<div><em>{html.escape(note)}</em></div>" for note in self.notes)
        return lines + self.shown.head(SHOWN).to_html(index=False) + notes


@contextmanager
def noting(notes: list[str], warned: list[str]) -> Iterator[None]:
    """Add every `DataWarning` to notes and to what was warned of, each once, and pass it on."""
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
    """Whether this is a DataFrame, or something that can become one."""
    frames = isinstance(source, pd.DataFrame | pd.Series)
    return frames or hasattr(source, "to_pandas") or hasattr(source, "__arrow_c_stream__")


def as_frame(source: Any) -> pd.DataFrame:
    """Return a DataFrame of pandas, of polars, pyarrow, duckdb and the like, as one of pandas."""
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, pd.Series):
        return source.to_frame()
    if hasattr(source, "to_pandas"):
        found = source.to_pandas()
        return found.to_frame() if isinstance(found, pd.Series) else found
    import pyarrow as pa

    return pa.table(source).to_pandas()


def unmasked(source: Any) -> Any:
    """Return a masked array as a plain one, with NaN, or None among objects, where it is masked; else the source."""
    if not isinstance(source, np.ma.MaskedArray) or not np.ma.getmaskarray(source).any():
        return source
    plain = np.array(source.data, dtype=float if source.dtype.kind in "buif" else object)
    plain[np.ma.getmaskarray(source)] = np.nan if plain.dtype.kind == "f" else None
    return plain


def is_path(source: Any) -> bool:
    """Whether this names a file or a data set."""
    return isinstance(source, str | PathLike)


def paths_of(source: Any) -> list[str]:
    """Return one path or several as a list; empty where these are none."""
    if is_path(source):
        return [fspath(source)]
    several = isinstance(source, Sequence) and len(source) > 0 and all(map(is_path, source))
    return [fspath(one) for one in source] if several else []


def joined(paths: Sequence[str], row: str, encoding: str, sep: str | None) -> pd.DataFrame:
    """Read files of the same columns as one table of text; raises a CofactorError where they have others."""
    frames = [read_frame(path, None, encoding, sep, row) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if set(frame.columns) != set(frames[0].columns):
            other = listing(sorted(set(frame.columns) ^ set(frames[0].columns)))
            raise CofactorError(f"{path} has other columns than {paths[0]} ({other}): give files of the same columns")
    return pd.concat([frame.astype(object) for frame in frames], ignore_index=True)


def data_set(name: str, kind: Any) -> Any:
    """Load a registered data set of this kind, where no file is called so; None where there is no such set."""
    from cofactor.data import load
    from cofactor.data.registry import entries

    return load(name, kind) if name in entries() and not Path(name).exists() else None


def named_source(source: Any) -> str:
    """Return how to call a source in headings."""
    found = paths_of(source)
    return ", ".join(Path(one).name for one in found) if found else type(source).__name__
