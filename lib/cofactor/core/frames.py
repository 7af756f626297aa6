"""Tables as callers bring them: a CSV file or a data frame, read with errors that say what to mend."""

from __future__ import annotations

import lzma
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError, listing

UNREADABLE = (
    *(pd.errors.ParserError, pd.errors.ParserWarning, OSError, EOFError, ValueError, LookupError),
    *(zipfile.BadZipFile, lzma.LZMAError, tarfile.TarError, zlib.error),
)


def read_frame(
    path: str | PathLike[str], encoding: str = "utf-8-sig", sep: str = ",", row: str = "label"
) -> pd.DataFrame:
    """Read a CSV file as text, blanks around cells removed; every way in which that fails is one `CofactorError`.

    `row` is what one row of it holds.
    """
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # rows that are too long
            frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding=encoding, index_col=False, sep=sep)
        return frame.rename(columns=str.strip).apply(lambda column: column.str.strip())
    except FileNotFoundError:
        raise CofactorError(f"no such file: {path}") from None
    except pd.errors.EmptyDataError:
        raise CofactorError(f"{path} is empty: expected a header row and one row per {row}") from None
    except UnicodeDecodeError as error:
        raise CofactorError(
            f"{path} is not {encoding.removesuffix('-sig')} text (byte {error.start}): "
            "save it as UTF-8, or name its encoding, for example encoding='latin-1' (--encoding latin-1)"
        ) from None
    except UNREADABLE as error:
        raise CofactorError(f"{path} cannot be read as CSV: {error}") from None


def check_columns(frame: pd.DataFrame, columns: Sequence[str], rows: str = "labels") -> None:
    """Refuse a table without rows, or in which one of `columns` is missing or there twice; `rows` is what it holds."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        other = [sep for sep in ";\t|" if len(frame.columns) == 1 and sep in str(frame.columns[0])]
        advice = (
            f"columns seem to be separated by {other[0]!r}: say so with sep" if other else "say which column is which"
        )
        raise CofactorError(f"no column {listing(missing)}; found {listing(frame.columns)}: {advice}, or rename")
    twice = [name for name in columns if list(frame.columns).count(name) > 1]
    if twice:
        raise CofactorError(f"more than one column is called {listing(twice)}: rename all but one")
    if frame.empty:
        raise CofactorError(f"no {rows}: the table has a header but no rows")


def check_present(column: pd.Series[Any], name: str) -> None:
    """Refuse missing values; their rows are named."""
    bad = np.flatnonzero(column.isna())
    if bad.size:
        raise CofactorError(f"missing {name} in data rows {listing(bad.tolist())} (0 is the first): fill or drop them")


def plain_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Turn text into whole numbers if that loses nothing ("12", but not "012" or "1.0")."""
    plain = column.dropna().str.fullmatch(r"0|-?[1-9][0-9]{0,17}")
    return column.astype("Int64") if plain.all() and not plain.empty else column
