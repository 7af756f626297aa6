"""Covariance of a ranking: of independent comparisons, or of comparisons grouped by users, prompts, or both.

    symbol   meaning                                                              shape
    G        users; m_g comparisons of user g
    R        inverse variances of the prior, which H includes                     (p, p)
    P        inverse of H                                                         (p, p)
    s_g      derivatives of the log-likelihood of user g in theta                 (p,)
    H_g      minus the second ones                                                (p, p)
    x_g      (I - H_g P)^-1 s_g: theta would move by -P x_g without user g        (p,)

Independent comparisons leave the covariance P. Users who differ in taste answer alike in all their comparisons, so that
users are what is independent:

    V = P ((G - 1) / G sum_g x_g x_g' + R) P,    quantiles of Student's t with (sum m_g)^2 / (sum m_g^2) - 1 degrees

Estimates miss the truth by P (s - R theta), s the derivatives of the log-likelihood at the truth, so that R is what the
prior adds where the truth is drawn from it; with s of covariance H - R that is P again.

Prompts (pictures, questions) differ as users do. Where both repeat, V has the sum over users and that over prompts,
less what both count, the sum over what one user answered to one prompt; negative eigenvalues of the rest become zero.
The quantile is that of whichever counts less.

The first is the jackknife in one step; without it, or with G - 1 degrees, intervals are too short where some users made
many more comparisons than others.

Source: Bell and McCaffrey, Survey Methodology 2002 (x_g); Carter, Schnepel and Steigerwald, Review of Economics and
Statistics 2017 (users that count), simplified; Cameron, Gelbach and Miller, "Robust inference with multiway
clustering", Journal of Business and Economic Statistics 2011 (users and prompts). Deviation: x_g is s_g where a user
made less than a fiftieth of the comparisons of each of his items, which changes V by as little.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from cofactor.comparisons import davidson
from cofactor.comparisons.data import Codes
from cofactor.comparisons.davidson import Cells, Fitted
from cofactor.core.types import Floats, Indices, Ints

HEAVY = 0.02  # share of an item's comparisons from which on a user counts as heavy
ALONE = 1e-6  # smallest share of the information, in any direction, that is left without a user and can be divided by


def independent(rows: Cells, fitted: Fitted) -> Floats:
    """Return P for comparisons that are independent of each other, of utilities with mean zero."""
    n = rows.n_items
    P = davidson.solve(n, fitted.H, np.eye(rows.size))
    return davidson.centred(davidson.centred(P, n).T, n)


def clustered(rows: Cells, fitted: Fitted, *ways: Codes) -> Floats:
    """Return V for rows of users, or of users and prompts: each of `ways` holds the (c,) codes of one of them.

    Cost: O(m (k + 1)), for every heavy user the cube of the number of his items, and p^3 for two ways.
    """
    P = independent(rows, fitted)
    M = sum((_spread(rows, fitted, P, way) for way in ways), np.zeros(P.shape))
    if len(ways) > 1:
        values, vectors = np.linalg.eigh(M - _of_both(rows, fitted, ways[0], ways[1]))
        M = vectors * np.maximum(values, 0.0) @ vectors.T
    return np.asarray(P @ (M + np.diag(fitted.ridge)) @ P)


def _spread(rows: Cells, fitted: Fitted, P: Floats, way: Codes) -> Floats:
    """Return (G - 1) / G sum_g x_g x_g'."""
    order = np.argsort(way, kind="stable")
    rows, user = _taken(rows, order), np.unique(way[order], return_inverse=True)[1].astype(np.int32)
    S = _sums(rows, *davidson.scores(rows, *rows.chances(fitted.theta)), user)
    heavy, G = _heavy(rows, user), S.shape[0]
    X = [_change_of_user(rows, fitted, P, S, user, int(g)) for g in heavy]
    light = S[np.setdiff1d(np.arange(G), heavy)]
    M = (light.T @ light).toarray() + sum((np.outer(x, x) for x in X), np.zeros(P.shape))
    return np.asarray((G - 1) / G * M)


def _of_both(rows: Cells, fitted: Fitted, user: Codes, prompt: Codes) -> Floats:
    """Return the sum of s s' over what one user answered to one prompt, which both ways count."""
    pair = user.astype(np.int64) * (int(prompt.max()) + 1) + prompt
    code = np.unique(pair, return_inverse=True)[1].astype(np.int32)
    S = _sums(rows, *davidson.scores(rows, *rows.chances(fitted.theta)), code)
    return np.asarray((S.T @ S).toarray())


def _taken(rows: Cells, at: Indices | slice) -> Cells:
    names = ("left", "right", "won", "lost", "tied", "X")
    return replace(rows, **{name: getattr(rows, name)[at] for name in names})


def users_that_count(rows: Cells, user: Codes) -> float:
    """Return the effective number of users, (sum m_g)^2 / sum m_g^2, with m_g the comparisons of user g."""
    m = np.bincount(user, rows.total)
    return float(m.sum() ** 2 / (m @ m))


def users_of_items(rows: Cells, user: Codes) -> Ints:
    """Return the (n,) number of users who compared each item."""
    return np.bincount(_made(rows, user).indices, minlength=rows.n_items)


def _sums(rows: Cells, in_z: Floats, in_tau: Floats, user: Codes) -> sparse.csr_array:
    """(G, p) s_g."""
    n, k = rows.n_items, rows.X.shape[1]
    columns = [(rows.left, in_z), (rows.right, -in_z)]
    columns += [(np.full_like(user, n + a), in_z * rows.X[:, a]) for a in range(k)]
    columns += [(np.full_like(user, n + k), in_tau)] if rows.has_ties else []
    places, values = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    owner = np.tile(user, len(columns))
    return sparse.csr_array((values, (owner, places)), (int(user.max()) + 1, rows.size))


def _heavy(rows: Cells, user: Codes) -> Indices:
    """Users who made a large share of some item's comparisons."""
    made = _made(rows, user)
    much = made.data > HEAVY * made.sum(axis=0)[made.indices]
    return np.unique(np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))[much])


def _made(rows: Cells, user: Codes) -> sparse.csr_array:
    """(G, n) how many comparisons of every item each user made."""
    who, what = np.tile(user, 2), np.concatenate([rows.left, rows.right])
    return sparse.csr_array((np.tile(rows.total, 2), (who, what)), (int(user.max()) + 1, rows.n_items))


def _change_of_user(rows: Cells, fitted: Fitted, P: Floats, S: sparse.csr_array, user: Codes, g: int) -> Floats:
    """Return x_g; H_g and s_g are zero but for the user's own items, covariates and tau."""
    part = slice(*np.searchsorted(user, [g, g + 1]))
    own = _taken(rows, part)
    items, code = np.unique(np.concatenate([own.left, own.right]), return_inverse=True)
    at = np.concatenate([items, np.arange(rows.n_items, rows.size)])
    left, right = np.split(code.astype(np.int32), 2)
    small = replace(own, n_items=len(items), left=left, right=right)
    H = davidson.information_of_cells(small, *own.chances(fitted.theta))
    x = np.zeros(rows.size)
    x[at] = np.linalg.pinv(np.eye(len(at)) - H @ P[np.ix_(at, at)], rcond=ALONE) @ S[[g]].toarray()[0, at]
    return x
