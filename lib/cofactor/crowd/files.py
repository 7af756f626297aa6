"""Files of crowd labels, as tables."""

from __future__ import annotations

import unicodedata
import warnings
from functools import partial
from os import PathLike
from typing import Any

from cofactor.core.errors import DataWarning, listing
from cofactor.core.frames import NO_VALUE, plain_numbers, read_frame
from cofactor.core.lazy import pd
from cofactor.crowd.exports import TIME, unfold

COLUMNS = ("task", "worker", "label")
NO_LABEL = NO_VALUE


def read_labels(
    path: str | PathLike[str],
    columns: tuple[str, str, str] = COLUMNS,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
) -> pd.DataFrame:
    """Read the columns task, worker and label of a file, see `CrowdLabels.from_file`; missing cells are NaN.

    Rows come in the order of a column `updated_at`, where there is one, else in that of the file.
    """
    unfolded = partial(unfold, columns=columns)
    frame = _by_time(read_frame(path, columns, encoding, sep, unfold=unfolded, optional=(TIME,)))
    label = columns[-1]
    frame[label] = frame[label].mask(frame[label].isin(NO_LABEL))
    _warn_of_lookalikes(frame[label].dropna())
    for name in columns:
        frame[name] = plain_numbers(frame[name].mask(frame[name] == ""))
    return frame


def _by_time(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by their time, if all have one; rows of one time stay in order."""
    if TIME not in frame:
        return frame
    time = pd.to_datetime(frame[TIME], utc=True, errors="coerce", format="ISO8601")
    rows = frame.drop(columns=TIME)
    return rows if time.isna().any() else rows.iloc[time.argsort(kind="stable").to_numpy()]


def _warn_of_lookalikes(column: pd.Series[Any]) -> None:
    distinct = pd.Series(column.unique(), dtype=object)
    alike = distinct[distinct.map(_skeleton).duplicated(keep=False)]
    if not alike.empty:
        found = listing(repr(name) for name in sorted(alike))
        message = f"classes that look alike count as different: {found}; write each class in one way if they are one"
        warnings.warn(message, DataWarning, stacklevel=4)


def _skeleton(name: str) -> str:
    """What is left of a class without capitals, blanks and the way to write numbers and truth values."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    plain = {"true": "1", "false": "0"}.get(plain, plain)
    try:
        return repr(float(plain))
    except ValueError:
        return plain
