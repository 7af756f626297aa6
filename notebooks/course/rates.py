"""Rates of linear convergence."""

from __future__ import annotations

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats

DEEP = 1e-20  # smaller squared errors are rounding


def linear_rate(errors: Floats, first: int = 10) -> float:
    """Fit a line to log e_t over t >= first, as long as e_t is above rounding; return rho, the factor per iteration."""
    t = np.arange(len(errors))
    good = (t >= first) & (errors > DEEP)
    if good.sum() < 3:
        raise CofactorError(f"fewer than three errors from iteration {first} on are above rounding: start earlier")
    return float(np.exp(np.polyfit(t[good], np.log(errors[good]), 1)[0]))
