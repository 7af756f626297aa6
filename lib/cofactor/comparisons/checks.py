"""Lists of numbers, checked once at the public edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Floats


def finite_numbers(values: ArrayLike, name: str) -> Floats:
    """Convert to one list of numbers; name the rows that hold none, NaN or infinity."""
    array = numbers(values, name, 1)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise CofactorError(f"{name} holds NaN or infinity in rows {listing(bad.tolist())}: drop these rows")
    return array
