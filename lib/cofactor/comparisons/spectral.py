"""Starts: from the singular vectors of the comparisons, or at random.

With A_k = e_u (e_i - e_j)' and weak preferences, w_k - 1/2 is g'(0) <A_k, X> on average, so that

    G = s sum_k (w_k - 1/2) A_k,   s = n1 (n2 - 1) / (2 m g'(0)),   has the mean X J:

its singular vectors start the features. Rows and columns are first divided by the square roots of how often their user
and their item appear, relative to the mean, and the features once more: that evens out the noise, and serves uneven
sampling, where the mean of G is X J times those frequencies. (The paper says that an SVD start does not work here.
There is no partially observed X to decompose, but G takes its place.)
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import gamma
from cofactor.core.checks import check_kind, check_positive, check_whole, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import sparse_linalg
from cofactor.core.types import Floats, Seed


def project_to_centred(V: Floats) -> Floats:
    """Take the mean over items off every feature: P_H, the J V of Eq. (19).

    >>> project_to_centred(np.array([[1.0], [3.0]])).ravel().tolist()
    [-1.0, 1.0]
    """
    return np.asarray(V - V.mean(axis=0))


def residual_matrix(comparisons: Comparisons, link: str = "logistic", b: Floats | None = None) -> sparse.csr_array:
    """Return the sparse (n1, n2) matrix of sum_k c_k (w_k - g(b_i - b_j)) e_u (e_i - e_j)', c the counts.

    At U = V = 0 it is minus the gradient of the summed logistic loss in X.

    >>> residual_matrix(Comparisons([0, 0], [0, 0], [1, 2], [1, 0])).toarray()
    array([[ 0. , -0.5,  0.5]])
    """
    data = comparisons
    z = np.zeros(len(data)) if b is None else b[data.left] - b[data.right]
    rest = data.outcome - link_named(link).probability(z)
    rest = rest if data.counts is None else rest * data.counts
    both = np.concatenate([rest, -rest]), (np.tile(data.user, 2), np.concatenate([data.left, data.right]))
    return sparse.csr_array(both, shape=(data.n_users, data.n_items))


def spectral_start(
    comparisons: Comparisons,
    rank: int,
    link: str = "logistic",
    b: Floats | None = None,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Return balanced features U (n1, r) and V (n2, r), V centred, from the top singular vectors of G.

    Parameters
    ----------
    comparisons : Comparisons
    rank : int
        r, at most min(n1, n2) - 1.
    link : {"logistic", "probit"}
    b : (n2,) array, optional
        Biases that are already explained: w - g(b_i - b_j) takes the place of w - 1/2.
    random_state : int, Generator or None
        Of the start of the iteration that finds singular vectors.

    Cost: O(m r) time per iteration of the SVD, a few dozen of them; O(m) memory.

    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 1, 2], [1, 2, 0, 1], [1, 1, 1, 1])
    >>> U, V = spectral_start(data, rank=1, random_state=0)
    >>> ((U @ V.T).round(1) + 0).tolist()
    [[1.3, 0.0, -1.3], [-1.3, 0.0, 1.3]]
    """
    data = comparisons
    check_kind(Comparisons, comparisons=comparisons)
    check_whole(1, rank=rank)
    if not rank < min(data.n_users, data.n_items):
        raise CofactorError(f"rank={rank}: ask for 1 to {min(data.n_users, data.n_items) - 1} features")
    G = residual_matrix(data, link, b)
    G *= 1 / (gamma(data.n_users, data.n_items) * data.total * float(link_named(link).steepness(0.0)))
    users, items = (np.sqrt(np.maximum(n / n.mean(), 1 / n.size)) for n in (data.per_user, data.per_item))
    even = sparse.diags_array(1 / users) @ G @ sparse.diags_array(1 / items)
    rng = rng_of(random_state)
    if not np.any(even.data):  # answers balance out for everybody: nothing is preferred
        return np.zeros((data.n_users, rank)), np.zeros((data.n_items, rank))
    A, s, Ct = sparse_linalg.svds(even, k=rank, v0=rng.standard_normal(min(G.shape)))
    order = np.argsort(-s)
    A, C = A[:, order] / users[:, None], Ct[order].T / items[:, None]
    return A * np.sqrt(s[order]), project_to_centred(C * np.sqrt(s[order]))


def random_start(comparisons: Comparisons, rank: int, scale: float, random_state: Seed = None) -> tuple[Floats, Floats]:
    """Draw features from N(0, scale^2), V centred; zero itself is a saddle that no gradient leaves."""
    check_kind(Comparisons, comparisons=comparisons)
    check_whole(1, rank=rank)
    check_positive(scale=scale)  # zero is a saddle
    rng = rng_of(random_state)
    U = scale * rng.standard_normal((comparisons.n_users, rank))
    return U, project_to_centred(scale * rng.standard_normal((comparisons.n_items, rank)))
