"""How many comparisons a wanted error takes, and what error given ones leave."""

from __future__ import annotations

import numpy as np
from scipy.special import roots_hermitenorm

from cofactor.comparisons.links import link_named
from cofactor.core.errors import CofactorError

NODES = 64  # of the Gauss-Hermite rule


def degrees_of_freedom(n_users: int, n_items: int, rank: int) -> int:
    """Return (n1 + n2 - 1) r - r^2: what is left of U and V without shift and change of basis.

    >>> degrees_of_freedom(200, 300, 3)
    1488
    """
    if not 1 <= rank < min(n_users, n_items):
        raise CofactorError(f"rank={rank}: ask for 1 to {min(n_users, n_items) - 1} features")
    return (n_users + n_items - 1) * rank - rank**2


def mean_information(spread: float, link: str = "logistic") -> float:
    """Return what one choice tells about z on average, E[g'(z)^2 / g(z) g(-z)], z normal with variance 2 spread^2.

    For the logistic link that is the mean of g'(z). Two utilities of standard deviation `spread` differ by such a z.

    >>> round(mean_information(0.571), 3)
    0.219
    """
    if not spread > 0:
        raise CofactorError(f"spread={spread}: the standard deviation of utilities must be positive")
    nodes, weights = roots_hermitenorm(NODES)
    values = link_named(link).information(np.sqrt(2) * spread * nodes)
    return float(weights @ values / weights.sum())


def expected_error(
    n_comparisons: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> float:
    """Return the relative error of utilities that this many choices leave, with an efficient estimator.

        error = sqrt(dof / (2 m E[information])) / spread

    A fit with the right ridge comes within a few per cent of it from 25 comparisons per degree of freedom on; with less
    it stays below, near one.

    Parameters
    ----------
    n_comparisons : positive number
        m, choices with outcomes 0 and 1, users and pairs of items drawn at random.
    n_users, n_items, rank : int
    spread : float
        Root mean square of centred utilities, the strength of preferences in units of the link.
    link : {"logistic", "probit"}

    Source
    ------
    Not in the paper, which has exact outcomes: m times the mean of information z^2 is dof at an efficient estimate, and
    the mean of z^2 is gamma ||dX J||_F^2.

    Examples
    --------
    >>> round(expected_error(40_000, 200, 300, 3, spread=0.571), 2)
    0.51
    """
    if not n_comparisons > 0:
        raise CofactorError(f"n_comparisons={n_comparisons}: must be positive")
    dof = degrees_of_freedom(n_users, n_items, rank)
    return float(np.sqrt(dof / (2 * n_comparisons * mean_information(spread, link))) / spread)


def comparisons_needed(
    error: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> int:
    """Return the number of choices that leaves this relative error: the inverse of `expected_error`.

    >>> comparisons_needed(0.25, 200, 300, 3, spread=0.571)
    167042
    """
    if not error > 0:
        raise CofactorError(f"error={error}: must be positive")
    one = expected_error(1, n_users, n_items, rank, spread, link)
    return int(np.ceil((one / error) ** 2))
