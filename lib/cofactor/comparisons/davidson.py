"""One ranking for all users, with ties and covariates: the likelihood of Davidson, its maximum, its curvature.

    symbol   meaning                                                              shape
    u        utilities of the items, of mean zero                                 (n,)
    beta     coefficients of the covariates                                       (k,)
    tau      log of the tie parameter nu; absent where nobody tied                ()
    X        covariates, left item less right item                                (c, k)
    z        u_left - u_right + X beta                                            (c,)
    theta    u, beta and tau, one after another                                   (p,)
    H        minus the second derivatives of the log-likelihood                   (p, p)

    P(left wins) : P(right wins) : P(tie) = exp(z / 2) : exp(-z / 2) : exp(tau)

Among comparisons that were decided this is the model of Bradley and Terry. The model of Rao and Kupper has a threshold
in place of tau; Davidson's is taken since it is log-linear: its likelihood is concave with a gradient that compares
counts to what is expected, and a tie counts as half a win.

Source: Davidson, "On extending the Bradley-Terry model to accommodate ties", JASA 1970; Ford, "Solution of a ranking
problem from binary comparisons", American Mathematical Monthly 1957 (when the maximum is finite).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.comparisons.data import Codes, Comparisons
from cofactor.core.checks import require_bytes
from cofactor.core.lazy import csgraph, linalg
from cofactor.core.result import History, Result
from cofactor.core.types import Floats

NEWTON_ROUNDS, NEWTON_HALVINGS = 100, 40
NORMAL_NODES, NORMAL_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)  # nine change no standard deviation that is chosen
NORMAL_WEIGHTS = NORMAL_WEIGHTS / NORMAL_WEIGHTS.sum()  # of a standard normal variable
NEWTON_TOL = 1e-12  # of the gain that Newton's next step predicts, relative to the number of comparisons


@dataclass(frozen=True)
class Cells:
    """Comparisons as counts: how often left won, lost and tied, in every cell of equal items and covariates.

    `has_ties` says whether anybody tied, so that there is a tau.
    """

    n_items: int
    left: Codes
    right: Codes
    won: Floats
    lost: Floats
    tied: Floats
    X: Floats
    has_ties: bool

    @property
    def total(self) -> Floats:
        """(c,) comparisons in every cell."""
        return self.won + self.lost + self.tied

    @property
    def size(self) -> int:
        """Number of parameters, p."""
        return self.n_items + self.X.shape[1] + self.has_ties

    def split(self, theta: Floats) -> tuple[Floats, Floats, float]:
        """Return u, beta and tau; without ties tau is minus infinity."""
        n, k = self.n_items, self.X.shape[1]
        return theta[:n], theta[n : n + k], float(theta[-1]) if self.has_ties else -np.inf

    def differences(self, theta: Floats) -> Floats:
        """Return the (c,) differences of utilities z, left less right, with the covariates' part."""
        u, beta, _ = self.split(theta)
        return np.asarray(u[self.left] - u[self.right] + self.X @ beta)

    def chances(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the chances that left wins, that right wins, and of a tie."""
        return outcome_chances(self.differences(theta), self.split(theta)[2])

    def objective(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient, and minus the second derivatives."""
        tau, z = self.split(theta)[2], self.differences(theta)
        (win, lose, tie), log_total = _chances_and_log_total(z, tau)
        value = (self.won - self.lost) @ z / 2 - self.total @ log_total
        value += tau * self.tied.sum() if self.has_ties else 0.0
        in_z, in_tau = scores(self, win, lose, tie)
        last = [in_tau.sum()] if self.has_ties else []
        gradient = np.concatenate([self.scatter(in_z), in_z @ self.X, last])
        return float(value), gradient, information_of_cells(self, win, lose, tie)

    def expected(self, theta: Floats, P: Floats) -> float:
        """Return the mean log-likelihood over z, normal about its estimate; tau is taken as known.

        By Gauss and Hermite's rule. Cost: O(c (k + 1)^2).
        """
        (_, _, tau), z, reach = self.split(theta), self.differences(theta), np.sqrt(self.variances(P))
        value = tau * self.tied.sum() if self.has_ties else 0.0
        for node, weight in zip(NORMAL_NODES, NORMAL_WEIGHTS, strict=True):
            at = z + node * reach
            value += weight * float((self.won - self.lost) @ at / 2 - self.total @ _chances_and_log_total(at, tau)[1])
        return float(value)

    def variances(self, P: Floats) -> Floats:
        """Return the (c,) variances of z for parameters of covariance P."""
        n, k = self.n_items, self.X.shape[1]
        items = P[self.left, self.left] + P[self.right, self.right] - 2 * P[self.left, self.right]
        B, C = P[:n, n : n + k], P[n : n + k, n : n + k]
        both = ((B[self.left] - B[self.right]) * self.X).sum(axis=1)
        return np.maximum(items + 2 * both + ((self.X @ C) * self.X).sum(axis=1), 0.0)

    def scatter(self, values: Floats) -> Floats:
        """Return the (n,) sums of values over cells where an item is left, less those where it is right."""
        n = self.n_items
        return np.asarray(np.bincount(self.left, values, n) - np.bincount(self.right, values, n), dtype=np.float64)


def rows_of(data: Comparisons, X: Floats) -> Cells:
    """Return comparisons and their covariates as `Cells`, one cell a row."""
    weight = np.ones(len(data)) if data.counts is None else data.counts
    won, lost, tied = (weight * (data.outcome == value) for value in (1.0, 0.0, 0.5))
    return Cells(data.n_items, data.left, data.right, won, lost, tied, X, bool(tied.any()))


def pairs_of(rows: Cells) -> Cells:
    """Add up the rows of every pair of items; rows with covariates stay as they are.

    Cost: O(m), and a sort where there are more pairs than rows.
    """
    if rows.X.shape[1]:
        return rows
    turned = rows.left > rows.right
    low, high = np.minimum(rows.left, rows.right), np.maximum(rows.left, rows.right)
    key = low.astype(np.int64) * rows.n_items + high
    if rows.n_items**2 <= 4 * len(key):
        there = np.bincount(key, minlength=rows.n_items**2) > 0
        code, pairs = (np.cumsum(there) - 1)[key], np.flatnonzero(there)
    else:
        pairs, code = np.unique(key, return_inverse=True)
    won, lost = np.where(turned, rows.lost, rows.won), np.where(turned, rows.won, rows.lost)
    won, lost, tied = (np.bincount(code, values, len(pairs)).astype(float) for values in (won, lost, rows.tied))
    i, j = (part.astype(np.int32) for part in np.divmod(pairs, rows.n_items))
    return Cells(rows.n_items, i, j, won, lost, tied, np.zeros((len(pairs), 0)), rows.has_ties)


def linked_both_ways(cells: Cells) -> NDArray[np.int32]:
    """Return the (n,) group of every item: within one, every item lost to every other, directly or through others.

    Utilities are finite just where there is one group (Ford 1957); a tie links both ways.
    """
    beaten = cells.won + cells.tied > 0, cells.lost + cells.tied > 0
    winner = np.concatenate([cells.left[beaten[0]], cells.right[beaten[1]]])
    loser = np.concatenate([cells.right[beaten[0]], cells.left[beaten[1]]])
    edges = sparse.coo_array((np.ones(len(winner), dtype=bool), (winner, loser)), (cells.n_items,) * 2)
    return np.asarray(csgraph.connected_components(edges.tocsr(), connection="strong")[1])


def outcome_chances(z: Floats, tau: float) -> tuple[Floats, Floats, Floats]:
    """Return the chances that left wins, that right wins, and of a tie."""
    return _chances_and_log_total(z, tau)[0]


def averaged(z: Floats, v: Floats) -> Floats:
    """Return differences of utilities z whose chances are the means over N(z, v): z / sqrt(1 + pi v / 8).

    The logistic curve is taken for a normal one of the same slope. Source: MacKay, "The evidence framework applied to
    classification networks", Neural Computation 1992, Eq. (10).
    """
    return z / np.sqrt(1 + np.pi * v / 8)


def _chances_and_log_total(z: Floats, tau: float) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    top = np.maximum(np.abs(z) / 2, tau)
    win, lose = np.exp(z / 2 - top), np.exp(-z / 2 - top)
    tie = np.exp(tau - top) if np.isfinite(tau) else np.zeros_like(z)
    total = win + lose + tie
    return (win / total, lose / total, tie / total), top + np.log(total)


@dataclass(frozen=True)
class Fitted:
    """Result of `fit_ranking`: parameters theta, penalised log-likelihood there, and minus its second derivatives H.

    `ridge` holds the (p,) inverse variances of the prior, which H includes; without a prior H lacks the gauge.
    """

    theta: Floats
    value: float
    H: Floats
    ridge: Floats
    result: Result


def fit_ranking(cells: Cells, ridge: Floats | None = None, start: Floats | None = None) -> Fitted:
    """Maximise the log-likelihood less theta' diag(ridge) theta / 2 by Newton's method, steps halved as needed.

    Cost: O(c (k + 1)^2 + p^3) time a step, some six steps; O(c (k + 1) + p^2) memory.
    """
    require_bytes(40.0 * cells.size**2, f"the covariance of {cells.n_items} items", "keep fewer items")
    ridge = np.zeros(cells.size) if ridge is None else ridge
    theta = np.zeros(cells.size) if start is None else start
    value, gradient, H = _penalised(cells, ridge, theta)
    history = History("Davidson", NEWTON_ROUNDS, NEWTON_TOL * max(float(cells.total.sum()), 1.0))
    for _ in history:
        step = solve(cells.n_items, H, gradient)
        gain = float(gradient @ step)
        for _ in range(NEWTON_HALVINGS):
            found = _penalised(cells, ridge, theta + step)
            if found[0] >= value - abs(value) * 1e-15:
                break
            step = step / 2
        theta, (value, gradient, H) = theta + step, found
        history.record(-value, gain)
    return Fitted(centred(theta, cells.n_items), value, H, ridge, history.result())


def centred(theta: Floats, n_items: int) -> Floats:
    """Return parameters, one set a column, of which the utilities have mean zero."""
    return np.concatenate([theta[:n_items] - theta[:n_items].mean(axis=0), theta[n_items:]])


def _penalised(cells: Cells, ridge: Floats, theta: Floats) -> tuple[float, Floats, Floats]:
    """Return value, gradient and minus the second derivatives, the prior included."""
    value, gradient, H = cells.objective(theta)
    return value - float(ridge @ theta**2) / 2, gradient - ridge * theta, H + np.diag(ridge)


def scores(cells: Cells, win: Floats, lose: Floats, tie: Floats) -> tuple[Floats, Floats]:
    """Return the (c,) derivatives of the log-likelihood in z and in tau."""
    total = cells.total
    return (cells.won - cells.lost - total * (win - lose)) / 2, cells.tied - total * tie


def information_of_cells(cells: Cells, win: Floats, lose: Floats, tie: Floats) -> Floats:
    """Return minus the (p, p) second derivatives of the log-likelihood."""
    n, total, lead = cells.n_items, cells.total, win - lose
    a = total * (win + lose - lead**2) / 4
    H = np.zeros((cells.size,) * 2)
    pair = cells.left.astype(np.int64) * n + cells.right
    met = np.bincount(pair, a, n * n).reshape(n, n)
    H[:n, :n] = -met - met.T
    H[np.arange(n), np.arange(n)] = met.sum(axis=0) + met.sum(axis=1)
    columns = [(a * x, x) for x in cells.X.T]
    for k, (weighted, _) in enumerate(columns, n):
        H[k, :n] = H[:n, k] = cells.scatter(weighted)
        H[k, n : n + len(columns)] = weighted @ cells.X
    if cells.has_ties:
        b = -total * lead * tie / 2
        H[-1, :-1] = H[:-1, -1] = np.concatenate([cells.scatter(b), b @ cells.X])
        H[-1, -1] = total @ (tie * (1 - tie))
    return H


def counts(cells: Cells) -> Floats:
    """Return the (n, 3) comparisons that every item won, lost, and took part in."""
    n, sides = cells.n_items, ((cells.won, cells.lost), (cells.lost, cells.won), (cells.total, cells.total))
    return np.column_stack([np.bincount(cells.left, a, n) + np.bincount(cells.right, b, n) for a, b in sides])


def covariate_information(cells: Cells, theta: Floats) -> tuple[Floats, Floats]:
    """Return the (k, k) information on the covariates that items leave, and the (k,) one if utilities were known."""
    n, k = cells.n_items, cells.X.shape[1]
    H = information_of_cells(cells, *cells.chances(theta))
    items, both, own = H[:n, :n], H[:n, n : n + k], H[n : n + k, n : n + k]
    return own - both.T @ solve(n, items, both), np.diag(own)


def solve(n: int, H: Floats, right_side: Floats) -> Floats:
    """Solve H x = right side, up to a number added to the n utilities."""
    gauged = H.copy()
    gauged[:n, :n] += max(np.trace(H[:n, :n]) / n**2, np.finfo(float).tiny)
    scale = 1 / np.sqrt(np.maximum(np.diag(gauged), np.finfo(float).tiny))
    factor = linalg.cho_factor(gauged * np.outer(scale, scale) + 1e-14 * np.eye(len(H)))
    rescaled = (right_side.T * scale).T
    return np.asarray((linalg.cho_solve(factor, rescaled).T * scale).T)
