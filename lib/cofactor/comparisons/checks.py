"""Settings, checked once at the public edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, listing

Floats = NDArray[np.float64]


def check_positive(zero: bool = False, **settings: Any) -> None:
    """Refuse settings that are not positive and finite numbers, or zero where that is allowed."""
    for name, value in settings.items():
        number = isinstance(value, int | float | np.number)
        if not number or not 0 <= value < np.inf or (value == 0 and not zero):
            raise CofactorError(f"{name}={value!r}: give a {'number of at least 0' if zero else 'positive number'}")


def finite_numbers(values: ArrayLike, name: str) -> Floats:
    """Convert to one list of numbers; name the rows that hold none, NaN or infinity."""
    array = numbers(values, name, 1)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise CofactorError(f"{name} holds NaN or infinity in rows {listing(bad.tolist())}: drop these rows")
    return array
