"""Weights of the rows of a survey: how many people each row stands for."""

from __future__ import annotations

import re

import numpy as np

from cofactor.core.cells import located, plain
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.pmf.columns import FEW_VALUES, as_numbers

WEIGHT_NAMES = re.compile(
    r"(.*[ _.])?(weights?|wg?ts?|[pfs]weights?)", re.IGNORECASE
)  # what columns of weights are called


def survey_weights(column: pd.Series[str]) -> Floats:
    """Return the weights of rows in a column of text, over their mean: the rows count as so many as there are.

    Raises a CofactorError that names the rows whose weight is missing, text, negative or endless, or where all are 0.

    >>> survey_weights(pd.Series(["2", "1", "0"], name="weight"))
    array([2., 1., 0.])
    """
    numbers = pd.to_numeric(plain(column)[0], errors="coerce").to_numpy(dtype=np.float64)
    bad = ~((numbers >= 0) & (numbers < np.inf))
    if bad.any():
        where = located(column, bad, column[bad].fillna("").tolist())
        raise CofactorError(f"weight={column.name!r}: weights are numbers of at least 0; not so in {where}")
    if not numbers.any():
        raise CofactorError(f"weight={column.name!r}: all weights are zero, nothing would count")
    return np.asarray(numbers / numbers.mean())


def effective_rows(weights: Floats) -> float:
    """Return the effective number of rows: as many rows of equal weight would give a mean of the same precision.

    Source: Kish, "Survey sampling", 1965: (sum of w)^2 / sum of w^2.
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def like_weights(frame: pd.DataFrame) -> list[str]:
    """Return the names of columns that look like weights: by name, with positive numbers, fractions or many values."""
    found = []
    for name in frame.columns:
        numbers = as_numbers(frame[name].dropna()) if WEIGHT_NAMES.fullmatch(str(name).strip()) else None
        if numbers is None or not len(numbers) or (numbers <= 0).any():
            continue
        if numbers.nunique() > FEW_VALUES or (numbers != np.floor(numbers)).any():
            found.append(str(name))
    return found
