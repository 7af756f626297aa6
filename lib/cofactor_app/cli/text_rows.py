"""Rows of large tables as text, the same as pandas writes, by whole columns: five times as fast."""

from __future__ import annotations

from typing import Any

import numpy as np

from cofactor.core.lazy import pd

LONG = 50_000  # rows, from which on this is worth the import of pyarrow
SMALL, LARGE = 1e-4, 1e6  # between them, numbers that are not whole have no exponent: pyarrow writes them as Python


def text_of(frame: pd.DataFrame, sep: str) -> str | None:
    """Return the rows as `to_csv` writes them, without the header; None where that has to be asked.

    So where there are few rows, gaps, cells that need quotes, or columns of other things than text and numbers.
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
    """Return the cells as a pyarrow array of text; None where `to_csv` has to be asked."""
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
