"""Functions for the papers' equations, with their deviations and the tests that check them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

TABLE = Path(__file__).with_name("fidelity.csv")


def fidelity() -> pd.DataFrame:
    """Read the table: columns line, equation, function, test (several are parted by "; "), deviation."""
    return pd.read_csv(TABLE, dtype=str).fillna("")
