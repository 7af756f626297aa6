"""Users who join later: their features by maximum a posteriori, items and biases held fixed."""

from __future__ import annotations

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.links import Link
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats


def fold_in(data: Comparisons, D: Floats, offset: Floats, link: Link, ridge: float) -> Floats:
    """Return the (n, r) features of the users of these comparisons.

        min over u of  sum_k c_k l(<u, D_k> + offset_k, w_k) + (ridge/2) ||u||^2,   for every user by herself

    with D (m, r) and offset (m,) the features and biases of the left item less those of the right one, c the counts and
    ridge > 0. Convex in r numbers; by Newton steps in a trust region, O(m_u r^2 + r^3) per user and step.
    """
    weight = np.ones(len(data)) if data.counts is None else data.counts
    cuts = np.append(0, np.cumsum(data.per_user))
    found = np.zeros((data.n_users, D.shape[1]))
    for u in range(data.n_users):
        of_user = slice(cuts[u], cuts[u + 1])
        found[u] = _features(D[of_user], offset[of_user], data.outcome[of_user], weight[of_user], link, ridge)
    return found


def _features(D: Floats, offset: Floats, w: Floats, weight: Floats, link: Link, ridge: float) -> Floats:
    def value(u: Floats) -> tuple[float, Floats]:
        z = D @ u + offset
        gradient = D.T @ (weight * link.slope(z, w)) + ridge * u
        return float(weight @ link.loss(z, w) + ridge / 2 * u @ u), gradient

    def hessian(u: Floats) -> Floats:
        curvature = weight * link.curvature(D @ u + offset, w)
        return (D.T * curvature) @ D + ridge * np.eye(len(u))

    start = np.zeros(D.shape[1])
    return np.asarray(optimize.minimize(value, start, jac=True, hess=hessian, method="trust-exact", tol=1e-8).x)
