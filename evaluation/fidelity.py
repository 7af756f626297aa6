"""Which equation of which paper is which function here, which test holds it, and where it deviates."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

TABLE = Path(__file__).with_name("fidelity.csv")


def fidelity() -> pd.DataFrame:
    """Read the table: columns line, equation, function, test, deviation."""
    return pd.read_csv(TABLE, dtype=str).fillna("")
