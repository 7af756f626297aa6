"""Tables as callers bring them: a CSV file or a data frame, read with errors that say what to mend."""

from __future__ import annotations

import io
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import unpacked

PACKED = (".gz", ".bz2", ".xz", ".zip")
UNREADABLE = (
    *(pd.errors.ParserError, pd.errors.ParserWarning, OSError, EOFError, ValueError, LookupError),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # the last: of a zip file with a password
)


def read_frame(
    path: str | PathLike[str],
    columns: Sequence[str],
    encoding: str = "utf-8-sig",
    sep: str = ",",
    row: str = "label",
) -> pd.DataFrame:
    """Read columns of a CSV file as text, without blanks around cells; whatever goes wrong is one `CofactorError`.

    `row` is what one row of it holds.
    """
    frame = _read(path, encoding, sep, row).rename(columns=str.strip)
    check_columns(frame, columns, f"{row}s")
    return frame[list(dict.fromkeys(columns))].apply(lambda column: column.str.strip())


def _read(path: str | PathLike[str], encoding: str, sep: str, row: str) -> pd.DataFrame:
    options: Any = {"dtype": str, "keep_default_na": False, "encoding": encoding, "index_col": False, "sep": sep}
    try:
        content = io.BytesIO(unpacked(path)) if str(path).endswith(PACKED) else path
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # rows that are too long
            return pd.read_csv(content, compression=None, **options)
    except CofactorError:
        raise
    except FileNotFoundError:
        raise CofactorError(f"no such file: {path}") from None
    except pd.errors.EmptyDataError:
        raise CofactorError(f"{path} is empty: expected a header row and one row per {row}") from None
    except UnicodeDecodeError as error:
        raise CofactorError(
            f"{path} is not {encoding.removesuffix('-sig')} text (byte {error.start}): "
            "save it as UTF-8, or name its encoding, for example encoding='latin-1' (--encoding latin-1)"
        ) from None
    except MemoryError:
        raise CofactorError(f"{path} does not fit into memory: drop rows or columns that are not needed") from None
    except UNREADABLE as error:
        raise CofactorError(f"{path} cannot be read as CSV: {error}") from None


def check_columns(frame: pd.DataFrame, columns: Sequence[str], rows: str = "labels") -> None:
    """Refuse a table without rows, or in which one of `columns` is missing or there twice; `rows` is what it holds."""
    if not isinstance(frame, pd.DataFrame):
        raise CofactorError(f"expected a pandas DataFrame of {rows}, got {type(frame).__name__}")
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
