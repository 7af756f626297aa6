"""Numbers printed in the papers: one CSV per table in `datasets/published`, described in its README."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.data.registry import DATASETS_DIR

COLUMNS = ["setting", "method", "metric", "value", "spread", "unit", "note"]
NUMBERS = {"value": float, "spread": float, "rounding": float}


def published(name: str) -> pd.DataFrame:
    """Read the published numbers of a table such as "crowd_table4".

    Returns
    -------
    DataFrame with columns setting, method, metric, value, spread, unit, note, rounding
        `value` is NaN if the paper prints none, and `spread` if it prints no standard deviation; `rounding` is half a
        unit of the last printed digit.

    Raises a CofactorError if there is no such table, or its file is damaged.
    """
    if not name:
        return pd.DataFrame(columns=[*COLUMNS, "rounding"]).astype(NUMBERS)
    path = DATASETS_DIR / "published" / f"{name}.csv"
    if not path.is_file():
        known = sorted(file.stem for file in path.parent.glob("*.csv"))
        raise CofactorError(f"no published table {name!r}: choose one of {', '.join(known)}")
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)[COLUMNS]
        rounding = frame["value"].map(_half_of_last_digit)
        return frame.assign(rounding=rounding).replace({"value": "", "spread": ""}, "nan").astype(NUMBERS)
    except (KeyError, ValueError, ArithmeticError) as error:  # no such column, no table, or no decimal
        raise CofactorError(f"{path}: values and spreads must be numbers: {error}") from None


def listed(values: Mapping[tuple[str, str, str], str | float]) -> pd.DataFrame:
    """Return numbers by (setting, method, metric) as such a table; the digits of a text such as "12.30" count.

    Raises a CofactorError if a value is not a number.
    """
    texts = {key: str(value) for key, value in values.items()}
    try:
        rows = [[*key, float(text), np.nan, "", "", _half_of_last_digit(text)] for key, text in texts.items()]
    except (ValueError, ArithmeticError):
        raise CofactorError(f"published values must be numbers: {listing(texts.values())}") from None
    return pd.DataFrame(rows, columns=[*COLUMNS, "rounding"])


def _half_of_last_digit(printed: str) -> float:
    exponent = Decimal(printed or 0).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)
