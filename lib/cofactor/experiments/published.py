"""Numbers printed in the papers, as facts: one CSV per table in `datasets/published`, described in its README."""

from __future__ import annotations

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.data.registry import DATASETS_DIR

COLUMNS = ["setting", "method", "metric", "value", "spread", "unit", "note"]


def published(name: str) -> pd.DataFrame:
    """Read the published numbers of a table such as "crowd_table4".

    Returns
    -------
    DataFrame with columns setting, method, metric, value, spread, unit, note
        `value` is NaN where the paper prints none; `spread` where it prints no standard deviation.

    Raises
    ------
    CofactorError
        There is no such table.
    """
    if not name:
        return pd.DataFrame(columns=COLUMNS).astype({"value": float, "spread": float})
    path = DATASETS_DIR / "published" / f"{name}.csv"
    if not path.is_file():
        known = sorted(file.stem for file in path.parent.glob("*.csv"))
        raise CofactorError(f"no published table {name!r}; there are {', '.join(known)}")
    frame = pd.read_csv(path, dtype={"setting": str, "method": str, "metric": str, "unit": str, "note": str})
    return frame.fillna({"note": "", "unit": ""}).astype({"value": float, "spread": float})
