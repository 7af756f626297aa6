"""Small problems that several tests share."""

import numpy as np

from cofactor import Comparisons, simulate
from cofactor.comparisons import Objective, utility_error
from cofactor.comparisons.solvers import project_to_centred


def truth(seed=0, n_users=200, n_items=300, rank=3, kind="unit"):
    return simulate.comparison_factors(n_users, n_items, rank, kind, random_state=seed)


def drawn(U, V, m, outcomes="exact", seed=100, **options):
    return simulate.draw_comparisons(U, V, m, outcomes, random_state=seed, **options)


def few(seed=0, n1=6, n2=5, m=40, **options):
    """Arbitrary comparisons with soft outcomes."""
    rng = np.random.default_rng(seed)
    left = rng.integers(n2, size=m)
    right = (left + rng.integers(1, n2, size=m)) % n2
    return Comparisons(rng.integers(n1, size=m), left, right, rng.random(m), n1, n2, **options)


def error_of(mf, U, V):
    return utility_error(mf.user_factors_, mf.item_factors_, U, V)


def problem(seed=0, m=5554, kind="unit", **options):
    """Return truth and objective at 200 users, 300 items, rank 3."""
    U, V = truth(seed, kind=kind)
    return U, V, Objective(drawn(U, V, m, seed=seed + 100), 3, **options)


def distance(objective, x, U, V):
    return utility_error(*objective.split(x)[:2], U, V)


def warm(objective, U, V, theta, seed):
    """The paper's start: the truth and centred noise."""
    rng = np.random.default_rng(seed)
    return objective.join(
        U + theta * rng.standard_normal(U.shape), V + theta * project_to_centred(rng.standard_normal(V.shape))
    )
