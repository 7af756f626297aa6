"""The methods that ComparisonMF is compared with: BPR, AltSVM, a convex relaxation, and rankings for all users.

    symbol   meaning                                                                        shape
    s        sign of the outcome, 1 if left was chosen, otherwise -1                        (m,)
    C        AltSVM: weight of the hinge relative to the squared features, 1 / ridge
    alpha    AltSVM: dual variables, one set for users, one for items                       (m,)
    X        NuclearNormMLE: utilities of all users and items                               (n1, n2)

Sources: Rendle, Freudenthaler, Gantner and Schmidt-Thieme, UAI 2009 (BPR); Park, Neeman, Zhang, Sanghavi and Dhillon,
"Preference completion", ICML 2015 (AltSVM, and the convex relaxation); Bradley and Terry, Biometrika 1952.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.data import Codes, Comparisons
from cofactor.comparisons.estimators import FitSettings, choose_bias_ridge, split
from cofactor.comparisons.objective import Arrays, Objective, excess_loss, link_named
from cofactor.comparisons.solvers import lbfgs
from cofactor.core.checks import check_positive, check_whole, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Indices, Seed

Triples = tuple[Codes, Codes, Codes]

START_SPREAD = 0.1  # standard deviation of BPR's random start
MOST_UTILITIES = 1_000_000  # utilities, users times items, up to which the dense matrix is formed
NUCLEAR_PATH = np.geomspace(0.5, 0.005, 8)  # ridges tried, relative to the one at which all utilities vanish


@dataclass(eq=False, repr=False)
class BPR(PreferenceModel):
    """BPR: maximise the sum of log g(x_ui - x_uj) over comparisons by stochastic gradient steps with weight decay.

    Parameters
    ----------
    rank : int
    learning_rate, ridge : float
        Step size, and weight decay of the features at every comparison.
    max_iter : int
        Number of passes, each in a new random order. As published, there is no stopping rule.
    item_bias : bool
    random_state : int, Generator or None
    verbose : bool

    Cost: O(m r) per pass.

    Dependence on the order: starts are drawn in the order of users and items, and comparisons are visited in an order
    drawn from theirs, so another order acts like another `random_state`. For 360 comparisons of six items by twelve
    users, 10 renumberings changed probabilities by up to .13 and the order of up to 3 % of the pairs; 10 other orders
    of the comparisons changed probabilities by up to .18.

    Source: Rendle, Freudenthaler, Gantner and Schmidt-Thieme, UAI 2009. There, pairs are drawn from implicit feedback;
    here, they are the given comparisons, without ties, and a fractional outcome counts for both sides in proportion.

    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 2, 1], [1, 2, 1, 0], [1, 1, 1, 1])
    >>> (BPR(rank=1, random_state=0).fit(data).margin([0, 1], [0, 0], [2, 2]) > 0).tolist()
    [True, False]
    """

    rank: int = 10
    learning_rate: float = 0.05
    ridge: float = 0.01
    max_iter: int = 100
    item_bias: bool = False
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        check_whole(1, rank=self.rank, max_iter=self.max_iter)
        check_positive(learning_rate=self.learning_rate)
        check_positive(zero=True, ridge=self.ridge)
        data, rng = comparisons, rng_of(self.random_state)
        U = START_SPREAD * rng.standard_normal((data.n_users, self.rank))
        V = START_SPREAD * rng.standard_normal((data.n_items, self.rank))
        b = np.zeros(data.n_items)
        triples, settings = (data.user, data.left, data.right), (self.learning_rate, self.ridge, self.item_bias)
        history = History("BPR", self.max_iter, -np.inf, self.verbose)
        for _ in history:
            total = _epoch(triples, data.outcome, rng.permutation(len(data)), (U, V, b), *settings)
            history.record(total / len(data), np.inf)
            if not np.isfinite(total):
                raise CofactorError(
                    f"the features diverged with learning_rate={self.learning_rate:g}: choose a smaller one"
                )
        losses = np.array(history.objective)
        return (U, V, b), Result(losses, self.max_iter, True, f"stopped after {self.max_iter} epochs")


@njit(cache=True)
def _epoch(
    triples: Triples,
    w: Floats,
    order: Indices,
    factors: Arrays,
    rate: float,
    reg: float,
    item_bias: bool,
) -> float:
    """Update the features in place, one comparison at a time; return the sum of the losses before each update."""
    (user, left, right), (U, V, b), total = triples, factors, 0.0
    for k in order:
        u, i, j = user[k], left[k], right[k]
        if w[k] == 0.5:
            continue
        z = b[i] - b[j]
        for a in range(U.shape[1]):
            z += U[u, a] * (V[i, a] - V[j, a])
        e = np.exp(-abs(z))
        total += np.log1p(e) + max(z, 0.0) - w[k] * z
        h = (1.0 if z >= 0 else e) / (1 + e) - w[k]
        for a in range(U.shape[1]):
            d, features = V[i, a] - V[j, a], U[u, a]
            U[u, a] -= rate * (h * d + reg * features)
            V[i, a] -= rate * (h * features + reg * V[i, a])
            V[j, a] -= rate * (-h * features + reg * V[j, a])
        if item_bias:
            b[i] -= rate * (h + reg * b[i])
            b[j] -= rate * (-h + reg * b[j])
    return total


@dataclass(eq=False, repr=False)
class AltSVM(PreferenceModel):
    """AltSVM: minimise (||U||^2 + ||V||^2) / 2 + (1/ridge) sum max(0, 1 - s <U_u, V_i - V_j>)^2, alternating V and U.

    Each half is a linear SVM, solved in the dual one comparison at a time:

        alpha_k += max(-alpha_k, (1 - s_k z_k - alpha_k / 2C) / (||a_k||^2 + 1/2C)),   a_k the feature of comparison k

    The method only orders items: its scale has no meaning, so there are no probabilities.

    Parameters
    ----------
    rank : int
    ridge : float > 0
    max_iter : int
        Maximum number of rounds; each updates items, then users.
    n_passes : int
        Number of passes over the comparisons per half round.
    tol : float
        Relative change of the objective at which the rounds stop.
    random_state : int, Generator or None
    verbose : bool

    Cost: O(m r) time per pass, O(m + (n1 + n2) r) memory.

    Dependence on the order: starts are drawn in the order of users and items, so renumbering acts like another
    `random_state`. For 360 comparisons of six items by twelve users, 10 renumberings changed the order of no pair.

    Source: ICML 2015, Algorithm 1, squared hinge. Deviations: the start has both signs (released: only nonnegative
    numbers); ties are left out, and fractional outcomes count for the more likely side; the duals start at zero in each
    half, because the other half has changed the features.

    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 2, 1], [1, 2, 1, 0], [1, 1, 1, 1])
    >>> (AltSVM(rank=1, ridge=1.0, random_state=0).fit(data).margin([0, 1], [0, 0], [2, 2]) > 0).tolist()
    [True, False]
    """

    link = ""

    rank: int = 10
    ridge: float = 100 / 3
    max_iter: int = 20
    n_passes: int = 5
    tol: float = 1e-3
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[tuple[Floats, Floats, Floats], Result]:
        check_whole(1, rank=self.rank, max_iter=self.max_iter, n_passes=self.n_passes)
        check_positive(ridge=self.ridge)
        data, C, rng = comparisons, 1 / self.ridge, rng_of(self.random_state)
        decided = np.flatnonzero(data.outcome != 0.5)
        triples = data.user[decided], data.left[decided], data.right[decided]
        s = np.sign(data.outcome[decided] - 0.5)
        U = rng.standard_normal((data.n_users, self.rank)) / np.sqrt(self.rank)
        V = np.zeros((data.n_items, self.rank))
        history = History("AltSVM", self.max_iter, self.tol, self.verbose)
        for _ in history:
            V[:] = 0.0
            _items(triples, s, U, V, C, self.n_passes, rng.permutation(len(s)))
            U[:] = 0.0
            value = _users(triples, s, U, V, C, self.n_passes, rng.permutation(len(s)))
            history.record(value + float(np.sum(U**2) + np.sum(V**2)) / 2)
        return (U, V, np.empty(0)), history.result()


@njit(cache=True)
def _items(triples: Triples, s: Floats, U: Floats, V: Floats, C: float, passes: int, order: Indices) -> None:
    """Solve the SVM of the items with fixed features of users, in place."""
    (user, left, right), alpha = triples, np.zeros(len(s))
    for _ in range(passes):
        for k in order:
            u, i, j = user[k], left[k], right[k]
            z, square = 0.0, 0.0
            for a in range(U.shape[1]):
                z += U[u, a] * (V[i, a] - V[j, a])
                square += 2 * U[u, a] ** 2
            step = max(-alpha[k], (1 - s[k] * z - alpha[k] / (2 * C)) / (square + 1 / (2 * C)))
            alpha[k] += step
            for a in range(U.shape[1]):
                V[i, a] += step * s[k] * U[u, a]
                V[j, a] -= step * s[k] * U[u, a]


@njit(cache=True)
def _users(triples: Triples, s: Floats, U: Floats, V: Floats, C: float, passes: int, order: Indices) -> float:
    """Solve the SVM of every user with fixed features of items, in place; return C times the sum of squared hinges."""
    (user, left, right), alpha = triples, np.zeros(len(s))
    for _ in range(passes):
        for k in order:
            u, i, j = user[k], left[k], right[k]
            z, square = 0.0, 0.0
            for a in range(U.shape[1]):
                d = V[i, a] - V[j, a]
                z += U[u, a] * d
                square += d * d
            step = max(-alpha[k], (1 - s[k] * z - alpha[k] / (2 * C)) / (square + 1 / (2 * C)))
            alpha[k] += step
            for a in range(U.shape[1]):
                U[u, a] += step * s[k] * (V[i, a] - V[j, a])
    total = 0.0
    for k in range(len(s)):
        z = 0.0
        for a in range(U.shape[1]):
            z += U[user[k], a] * (V[left[k], a] - V[right[k], a])
        total += C * max(0.0, 1 - s[k] * z) ** 2
    return total


@dataclass(eq=False, repr=False)
class NuclearNormMLE(PreferenceModel):
    """Convex relaxation: minimise the sum of l(X_ui - X_uj, w) + ridge ||X||_* over n1 x n2 matrices; small problems.

    This is the objective of ComparisonMF without a limit on the rank: ||X||_* is the minimum of
    (||U||_F^2 + ||V||_F^2) / 2 over all U V' = X. Solved by accelerated proximal gradient with restarts (FISTA), whose
    proximal step shrinks singular values.

    Parameters
    ----------
    ridge : "auto" or float > 0
        "auto" chooses it, from large to small, on a held-out tenth of every user's comparisons.
    link : {"logistic", "probit"}
    max_iter, tol
        Maximum number of steps, and the relative change of X at which they stop.
    random_state : int, Generator or None
    verbose : bool

    Raises (in `fit`)
    -----------------
    CofactorError
        There are more than a million utilities, or the ridge is not positive.

    Dependence on the order: none with a given ridge. "auto" draws held-out comparisons, so another order acts like
    another `random_state`. For 360 comparisons of six items by twelve users, 10 renumberings changed probabilities by
    up to .38 and the order of up to 5 % of the pairs; 10 other orders of the comparisons changed probabilities by up to
    .28.

    Cost: one dense decomposition per step, O(n1 n2 min(n1, n2)), and O(n1 n2) memory, which factorisations avoid.

    Source: Park et al., ICML 2015; Negahban, Oh, Thekumparampil and Xu, JMLR 2018. There is no released code; the steps
    are those of Beck and Teboulle, 2009, restarted as by O'Donoghue and Candès, 2015. Entries of X are not bounded.
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
                f"{data.n_users} x {data.n_items} utilities are more than {MOST_UTILITIES}: use ComparisonMF, which "
                "does not form their matrix"
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
        """Return the gradient of the sum of losses."""
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
        """Return a bound on the curvature in X: per user, twice the largest number of comparisons of one item."""
        pair = np.concatenate([data.left, data.right]) + np.tile(data.user, 2).astype(np.int64) * data.n_items
        weight = None if data.counts is None else np.tile(data.counts, 2)
        most = float(np.bincount(pair, weight).max())
        bend = 1.0 if self.link == "probit" else 0.25  # largest second derivative of the loss
        return 2 * bend * most


def _shrunk(Y: Floats, by: float) -> tuple[Floats, float]:
    """Shrink all singular values; return the matrix and the sum of the remaining ones.

    Uses eigenvectors of the smaller Gram matrix, which is two to three times as fast as an SVD. Singular values below
    1e-8 of the largest are lost in rounding; the amount of shrinkage is far larger.
    """
    wide = Y if len(Y) <= Y.shape[1] else Y.T
    squares, A = np.linalg.eigh(wide @ wide.T)
    large = squares > by**2
    s, A = np.sqrt(squares[large]), A[:, large]
    X = (A * (1 - by / s)) @ (A.T @ wide)
    return X if wide is Y else X.T, float(np.sum(s - by))


@dataclass(eq=False, repr=False)
class BradleyTerry(PreferenceModel):
    """Bradley-Terry: one utility per item for all users, Pr(i preferred to j) = g(b_i - b_j).

    Parameters
    ----------
    ridge : float > 0 or "auto"
        Inverse variance of the prior on utilities; "auto" chooses it on held-out comparisons and stores it in `ridge_`.
    link : {"logistic", "probit"}
    folds, max_iter, tol
        See `ComparisonMF`.
    random_state : int, Generator or None
    verbose : bool

    Cost: O(m) per pass, with about 20 passes.

    Dependence on the order: none with a given ridge. "auto" draws held-out comparisons user by user, so renumbering
    users and items acts like another `random_state`: for 360 comparisons of six items by twelve users, 10 renumberings
    changed probabilities by up to .033 and the order of no pair. The order of the comparisons has no effect.

    Source: Bradley and Terry, Biometrika 1952. As the ridge goes to zero, it is a maximum-likelihood fit.

    >>> model = BradleyTerry(ridge=0.1).fit(Comparisons([0, 0, 1], [0, 1, 0], [1, 2, 2], [1, 1, 1]))
    >>> model.recommend(user=1, k=2)
    [0, 1]
    """

    ridge: float | Literal["auto"] = "auto"
    link: str = "logistic"
    folds: int = 5
    max_iter: int = 2000
    tol: float = 1e-8
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        ridge = self.ridge
        if ridge == "auto":
            check_whole(1, folds=self.folds)
            settings = FitSettings(link=self.link, folds=self.folds, max_iter=self.max_iter, tol=self.tol)
            splits = split(comparisons, settings, rng_of(self.random_state))
            ridge = choose_bias_ridge(splits, settings)
        check_positive(ridge=ridge)
        self.ridge_ = float(ridge)
        objective = Objective(comparisons, 0, self.link, bias_ridge=self.ridge_, item_bias=True)
        x, result = lbfgs(objective, np.zeros(objective.size), self.max_iter, self.tol, verbose=self.verbose)
        return objective.split(x), result


@dataclass(eq=False, repr=False)
class WinRate(PreferenceModel):
    """Win rate: the fraction of comparisons that each item won, shrunk towards one half by `ridge` pseudo-comparisons.

    The utilities are the log-odds of this fraction. `random_state` and `verbose` have no effect. Cost: O(m), in closed
    form. Source: counting.

    >>> WinRate(ridge=2).fit(Comparisons([0, 0], [0, 0], [1, 2], [1, 1])).item_bias_.round(2).tolist()
    [1.19, -0.6, -0.6]
    """

    ridge: float = 5.0
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        check_positive(ridge=self.ridge)
        data, k = comparisons, self.ridge / 2
        weight, n = np.ones(len(data)) if data.counts is None else data.counts, data.n_items
        won, lost = (
            np.bincount(data.left, rate * weight, n) + np.bincount(data.right, (1 - rate) * weight, n)
            for rate in (data.outcome, 1 - data.outcome)
        )
        none = np.zeros((data.n_users, 0)), np.zeros((n, 0))
        return (*none, np.log((won + k) / (lost + k))), Result(np.zeros(0), 0, True, "closed form")
