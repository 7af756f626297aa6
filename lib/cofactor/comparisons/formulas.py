"""How many choices a wanted error takes, and what error given ones leave: by formula.

symbol   meaning
n1, n2   users, items
m        choices with outcomes 0 and 1, users and pairs of items drawn at random
dof      (n1 + n2 - 1) r - r^2, what is left of U and V without shift and change of basis
spread   root mean square of centred utilities, the strength of preferences in units of the link
"""

from __future__ import annotations

import numpy as np

from cofactor.comparisons.links import link_named
from cofactor.core.checks import check_between, check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import special

LEAST_SQUARED = 1e-30  # smallest number of choices, or spread, of which squares are sure to be numbers
LEAST_ERROR = 1e-6  # error planned for
N_NODES = 64  # of the Gauss-Hermite rule
ENOUGH_PER_DEGREE = {True: 15, False: 3}  # comparisons per degree of freedom: choices (True) and exact chances


def degrees_of_freedom(n_users: int, n_items: int, rank: int) -> int:
    """Return (n1 + n2 - 1) r - r^2: what is left of U and V without shift and change of basis.

    >>> degrees_of_freedom(200, 300, 3)
    1488
    """
    check_whole(1, n_users=n_users, n_items=n_items, rank=rank)
    if not rank < min(n_users, n_items):
        raise CofactorError(f"rank={rank}: ask for 1 to {min(n_users, n_items) - 1} features")
    return (n_users + n_items - 1) * rank - rank**2


def mean_information(spread: float, link: str = "logistic") -> float:
    """Return what one choice tells about z on average, E[g'(z)^2 / g(z) g(-z)], z normal with variance 2 spread^2.

    For the logistic link that is the mean of g'(z). Two utilities of standard deviation `spread` differ by such a z.

    >>> round(mean_information(0.571), 3)
    0.219
    """
    check_positive(spread=spread)
    nodes, weights = special.roots_hermitenorm(N_NODES)
    values = link_named(link).information(np.sqrt(2) * spread * nodes)
    found = float(weights @ values / weights.sum())
    if not found:
        raise CofactorError(f"spread={spread}: utilities so far apart that every choice is certain and tells no more")
    return found


def expected_error(
    n_comparisons: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> float:
    """Return the relative error of utilities that this many choices leave, with an efficient estimator.

        error = sqrt(dof / (2 m E[information])) / spread

    A fit with the right ridge comes within a few per cent of it from 25 comparisons per degree of freedom on; with less
    it stays below, near one. Not in the paper, which has exact outcomes: m times the mean of information z^2 is dof at
    an efficient estimate, and the mean of z^2 is gamma ||dX J||_F^2.

    >>> round(expected_error(40_000, 200, 300, 3, spread=0.571), 2)
    0.51
    """
    check_positive(n_comparisons=n_comparisons)
    dof, information = degrees_of_freedom(n_users, n_items, rank), mean_information(spread, link)
    check_between(LEAST_SQUARED, 1 / LEAST_SQUARED, n_comparisons=n_comparisons, spread=spread)
    return float(np.sqrt(dof / (2 * n_comparisons * information)) / spread)


def comparisons_needed(
    error: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> int:
    """Return the number of choices that leaves this relative error: the inverse of `expected_error`.

    >>> comparisons_needed(0.25, 200, 300, 3, spread=0.571)
    167042
    """
    check_positive(error=error)
    if error < LEAST_ERROR:
        raise CofactorError(
            f"error={error}: ask for {LEAST_ERROR:g} at least, which takes more choices than anybody makes"
        )
    one = expected_error(1, n_users, n_items, rank, spread, link)
    return int(np.ceil((one / error) ** 2))
