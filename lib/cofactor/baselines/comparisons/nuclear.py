"""The convex relaxation: maximum likelihood over all utilities, with the nuclear norm in place of a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import excess_loss
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Seed

MOST_UTILITIES = 1_000_000  # utilities, users times items, up to which the dense matrix is formed
NUCLEAR_PATH = np.geomspace(0.5, 0.005, 8)  # ridges tried, relative to the one at which all utilities vanish


@dataclass(eq=False, repr=False)
class NuclearNormMLE(PreferenceModel):
    """Minimise sum of losses l(X_ui - X_uj, w) + ridge ||X||_* over all n1 x n2 matrices, for small problems.

    That is the ridge of ComparisonMF with no bound on the rank: ||X||_* is the least (||U||_F^2 + ||V||_F^2) / 2 of all
    U V' = X. By accelerated proximal gradient with restarts (FISTA); the proximal step shrinks singular values.

    Parameters
    ----------
    ridge : "auto" or float > 0
        "auto": chosen on a tenth of every user's comparisons, held out, from large to small.
    link : {"logistic", "probit"}
    max_iter, tol
        Most steps; relative change of X at which they stop.
    random_state : int, Generator or None
    verbose : bool

    Raises (in `fit`)
    -----------------
    CofactorError
        More than a million utilities, or a ridge that is not positive.

    Order: with a ridge that is given, none. "auto" draws what is held out, so that another order is another draw, as
    another `random_state` is. Of 360 comparisons of six items by twelve users, 10 renamings moved chances by up to .38
    and turned up to 5 % of the pairs, 10 other orders of the comparisons moved them by up to .28.

    Cost: One dense decomposition per step, O(n1 n2 min(n1, n2)), and O(n1 n2) memory: what factorisations avoid.

    Source: Park et al., ICML 2015; Negahban, Oh, Thekumparampil and Xu, JMLR 2018. No released code; steps by Beck and
    Teboulle, 2009, restarted as by O'Donoghue and Candès, 2015. No bound on entries of X.
    """

    ridge: float | Literal["auto"] = "auto"
    link: str = "logistic"
    max_iter: int = 500
    tol: float = 1e-5
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        data = comparisons
        if data.n_users * data.n_items > MOST_UTILITIES:
            raise CofactorError(
                f"{data.n_users} x {data.n_items} utilities, more than {MOST_UTILITIES}: use ComparisonMF, which never "
                f"forms "
                "their matrix"
            )
        check_whole(1, max_iter=self.max_iter)
        if self.ridge != "auto":
            check_positive(ridge=self.ridge)
        self.ridge_ = self._choose(data) if self.ridge == "auto" else float(self.ridge)
        X, result = self._fista(data, self.ridge_, np.zeros((data.n_users, data.n_items)))
        A, s, Ct = np.linalg.svd(X, full_matrices=False)
        large = s > 1e-9 * max(s[0], 1e-300)
        return (A[:, large] * np.sqrt(s[large]), Ct[large].T * np.sqrt(s[large]), np.empty(0)), result

    def _choose(self, data: Comparisons) -> float:
        learn, held = data.hold_out(random_state=self.random_state)
        X, losses = np.zeros((data.n_users, data.n_items)), list[float]()
        ridges = np.linalg.norm(self._gradient(learn, X), 2) * NUCLEAR_PATH
        for ridge in ridges:
            X, _ = self._fista(learn, ridge, X)
            z = X[held.user, held.left] - X[held.user, held.right]
            losses.append(excess_loss(held, z, self.link))
            if losses[-1] > min(losses) * 1.05:
                break
        return float(ridges[int(np.argmin(losses))])

    def _gradient(self, data: Comparisons, X: Floats) -> Floats:
        """Gradient of the sum of losses."""
        z = X[data.user, data.left] - X[data.user, data.right]
        h = link_named(self.link).slope(z, data.outcome) * (1.0 if data.counts is None else data.counts)
        n2, size = data.n_items, X.size
        flat = np.bincount(data.user * n2 + data.left, h, size) - np.bincount(data.user * n2 + data.right, h, size)
        return np.asarray(flat.reshape(X.shape))

    def _fista(self, data: Comparisons, ridge: float, X: Floats) -> tuple[Floats, Result]:
        step, Y, t = 1 / self._curvature(data), X, 1.0
        history = History("nuclear norm", self.max_iter, self.tol, self.verbose)
        for _ in history:
            before, X_old = t, X
            X, norm = _shrunk(Y - step * self._gradient(data, Y), step * ridge)
            t = 1.0 if np.vdot(Y - X, X - X_old) > 0 else (1 + np.sqrt(1 + 4 * before**2)) / 2
            Y = X + (0.0 if t == 1.0 else (before - 1) / t) * (X - X_old)
            change = float(np.linalg.norm(X - X_old) / max(np.linalg.norm(X), np.finfo(float).tiny))
            z = X[data.user, data.left] - X[data.user, data.right]
            history.record(excess_loss(data, z, self.link) * data.total + ridge * norm, change)
        return X, history.result()

    def _curvature(self, data: Comparisons) -> float:
        """Bound on the curvature in X: per user, twice the largest number of comparisons of one item."""
        pair = np.concatenate([data.left, data.right]) + np.tile(data.user, 2).astype(np.int64) * data.n_items
        weight = None if data.counts is None else np.tile(data.counts, 2)
        most = float(np.bincount(pair, weight).max())
        bend = 1.0 if self.link == "probit" else 0.25  # largest second derivative of the loss
        return 2 * bend * most


def _shrunk(Y: Floats, by: float) -> tuple[Floats, float]:
    """Shrink all singular values; return the matrix and the sum of those that are left.

    From eigenvectors of the smaller Gram matrix, two to three times as fast as an SVD. Singular values below 1e-8 of
    the largest are lost in rounding; what is shrunk by is far above.
    """
    wide = Y if len(Y) <= Y.shape[1] else Y.T
    squares, A = np.linalg.eigh(wide @ wide.T)
    large = squares > by**2
    s, A = np.sqrt(squares[large]), A[:, large]
    X = (A * (1 - by / s)) @ (A.T @ wide)
    return X if wide is Y else X.T, float(np.sum(s - by))
