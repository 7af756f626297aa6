"""Links: what turns a difference of utilities z into the chance g(z) that the left item is chosen.

The loss of an outcome w is l(z, w) = -w log g(z) - (1 - w) log(1 - g(z)), less its smallest value over z: that is the
divergence of g(z) from w, and leaves digits to compare two near-perfect fits by. For w = 0 and 1 nothing is taken off.

Source: Sankagiri, Etesami and Grossglauser, ICML 2025, Eq. (1), (8), (9). Formula (9) for the slope is 0/0 where g
saturates; every link has a form of its own that is stable for any z instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats

Pointwise = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Link:
    """A link g, symmetric: g(-z) = 1 - g(z).

    Attributes
    ----------
    name : str
    probability, log_probability : functions of z
        g and log g; 1 - g(z) is g(-z).
    hazard : function of z
        g'(z) / g(z), the slope of log g.
    hazard_slope : function of z
        Minus its derivative, which is positive for a log-concave g.

    >>> LINKS["logistic"].slope([0.0, 800.0, -800.0], [1.0, 1.0, 1.0]).tolist()
    [-0.5, 0.0, -1.0]
    """

    name: str
    probability: Pointwise
    log_probability: Pointwise
    hazard: Pointwise
    hazard_slope: Pointwise

    def loss(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return the excess loss, from 0 where g(z) = w."""
        z, w = np.broadcast_arrays(np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64))
        gap = self.probability(z) - w
        near = np.abs(gap) < np.minimum(w, 1 - w) / 2
        plain = (
            -w * self.log_probability(z)
            - (1 - w) * self.log_probability(-z)
            + special.xlogy(w, w)
            + special.xlogy(1 - w, 1 - w)
        )
        gap, share = np.where(near, gap, 0.0), np.where(near, w, 0.5)
        divergence = -share * np.log1p(gap / share) - (1 - share) * np.log1p(-gap / (1 - share))
        return np.maximum(np.where(near, divergence, plain), 0.0)

    def slope(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return h, the first derivative of the loss in z; Eq. (9)."""
        z, w = np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64)
        return np.asarray((1 - w) * self.hazard(-z) - w * self.hazard(z))

    def curvature(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return the second derivative of the loss in z."""
        z, w = np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64)
        return np.asarray(w * self.hazard_slope(z) + (1 - w) * self.hazard_slope(-z))

    def steepness(self, z: ArrayLike) -> Floats:
        """Return g'(z)."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.hazard(z) * self.probability(z))

    def information(self, z: ArrayLike) -> Floats:
        """Return g'(z)^2 / (g(z) g(-z)), what a choice tells about z; g'(z) itself for the logistic link."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.hazard(z) * self.hazard(-z))


def _mills(z: Floats) -> Floats:
    """phi(z) / Phi(z), from 0 far right to -z far left."""
    return np.asarray(np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2)))


LINKS = {
    "logistic": Link(
        "logistic",
        special.expit,
        special.log_expit,
        lambda z: special.expit(-z),
        lambda z: special.expit(z) * special.expit(-z),
    ),
    "probit": Link("probit", special.ndtr, special.log_ndtr, _mills, lambda z: _mills(z) * (_mills(z) + z)),
}


def link_named(name: str) -> Link:
    """Return the link of this name; refuse others."""
    if not isinstance(name, str) or name not in LINKS:
        raise CofactorError(f"link={name!r}: choose one of {', '.join(map(repr, LINKS))}")
    return LINKS[name]
