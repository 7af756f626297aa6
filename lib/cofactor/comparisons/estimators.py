"""ComparisonMF: features of users and items by maximum likelihood or MAP, ridge and rank chosen on held-out answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import svds
from sklearn.utils.validation import check_is_fitted

from cofactor.comparisons.base import Codes, PreferenceModel, codes_of, refuse_across, require_comparisons
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import Objective, excess_loss
from cofactor.comparisons.planner import degrees_of_freedom
from cofactor.comparisons.solvers import barzilai_borwein, eased_start, gradient_descent, lbfgs
from cofactor.comparisons.spectral import residual_matrix, spectral_start
from cofactor.core.checks import check_positive, check_whole, is_number
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.result import Result

Floats = NDArray[np.float64]

SOLVERS = {"lbfgs": lbfgs, "bb": barzilai_borwein, "gd": gradient_descent}
HELD_OUT = 0.1
PATH = np.geomspace(0.5, 1e-3, 9)  # ridges tried, relative to the one at which features vanish
BIAS_PATH = np.geomspace(30, 0.1, 6)
PATIENCE = 2  # ridges in a row that do worse before the path ends
EXACT = 1e-3  # root mean square gap on held-out chances below which they are taken for exact
VANISHED = 1e-3  # features this small, relative to a spectral start, count as gone
RUNAWAY = 30.0  # |z| beyond which an unpenalised fit to choices is running to infinity: g(30) = 1 - 1e-13
LOOK = 20  # iterations between two looks at that
ENOUGH = {True: 15, False: 3}  # comparisons per degree of freedom, for choices and for chances


@dataclass(frozen=True)
class Trial:
    """One point of the path: rank, ridge, and the mean excess loss on held-out comparisons."""

    rank: int
    ridge: float
    loss: float


class ComparisonMF(PreferenceModel):
    """Low-rank utilities from comparisons: Pr(user u prefers i to j) = g(<U_u, V_i - V_j> + b_i - b_j).

        min over U, V, b of  sum_k l(z_k, w_k) + (ridge/2)(||U||_F^2 + ||V||_F^2) + (bias_ridge/2) ||b||^2

    from a spectral start; without a ridge, balance of the factors takes its place, and where exact chances are few the
    start is eased. See `Objective`, `eased_start`.

    Parameters
    ----------
    rank : int, or several to choose from
        r.
    link : {"logistic", "probit"}
    solver : {"lbfgs", "bb", "gd"}
        "bb" is Barzilai-Borwein; "gd" gradient descent with a constant step, for reproduction.
    ridge : "auto" or float >= 0
        Inverse variance of the prior on features. "auto": the one with the lowest loss on a tenth of every user's
        comparisons, held out (see `new_items`), on a path from large to small with warm starts; then fitted to all.
        Zero where outcomes prove to be exact chances; infinity, no features at all, where these do not help.
    item_bias : bool
        Add a utility that all users share. Needed where comparisons per user are few.
    new_items : bool
        Choose for questions about items that a user has not met: ridges and rank by comparisons between items that
        were hidden from the user altogether. Else by single comparisons, which is far too small a ridge where these
        follow from others of the same user, made from ratings or orderings. Data do not say what will be asked.
    bias_ridge : "auto" or float >= 0
        "auto": chosen likewise, for biases alone; a quarter of `ridge` if that is given.
    max_iter, tol
        Of the solver.
    random_state : int, Generator or None
    verbose : bool

    Attributes after `fit`
    ----------------------
    Those of PreferenceModel; and
    rank_, ridge_, bias_ridge_ : what was chosen
    path_ : list of Trial
        What was tried; empty where nothing had to be chosen.

    Raises (in `fit`)
    -----------------
    CofactorError
        Settings out of range, or nothing to hold out.
    NotIdentifiableError
        Without a ridge: choices so few or so clear-cut that utilities run to infinity.

    Warns
    -----
    DataWarning
        Items fall into parts that no comparison links; fewer comparisons than features can be told from, no ridge.

    Cost
    ----
    O(m r) time per pass, 20 to 300 of them per fit; O(m + (n1 + n2) r) memory.

    Source
    ------
    ICML 2025, Eq. (8), (14). Deviations: spectral start, solver, ridge, bias; no projections, which change nothing.

    Examples
    --------
    >>> from cofactor import simulate
    >>> U, V = simulate.comparison_factors(200, 300, 3, random_state=0)
    >>> mf = ComparisonMF(rank=3, random_state=0).fit(simulate.draw_comparisons(U, V, 40_000, random_state=1))
    >>> bool(4 < mf.ridge_ < 8), mf.predict_proba([0, 0], [1, 2], [2, 1]).sum().round(6)
    (True, np.float64(1.0))
    """

    rank_: int
    ridge_: float
    bias_ridge_: float
    path_: list[Trial]

    def __init__(
        self,
        rank: int | Sequence[int] = 3,
        link: str = "logistic",
        solver: Literal["lbfgs", "bb", "gd"] = "lbfgs",
        ridge: float | Literal["auto"] = "auto",
        item_bias: bool = False,
        new_items: bool = False,
        bias_ridge: float | Literal["auto"] = "auto",
        max_iter: int = 2000,
        tol: float = 1e-8,
        random_state: int | np.random.Generator | None = None,
        verbose: bool = False,
    ) -> None:
        self.rank = rank
        self.link = link
        self.solver = solver
        self.ridge = ridge
        self.item_bias = item_bias
        self.new_items = new_items
        self.bias_ridge = bias_ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        data, ranks = comparisons, self._ranks(comparisons)
        self._check_settings()
        _warn_of_parts(data)
        self._rng = np.random.default_rng(self.random_state)
        self.path_, self.rank_ = [], ranks[0]
        if self.ridge == "auto" or len(ranks) > 1:
            self._choose(data, ranks)
        else:
            self.ridge_ = float(self.ridge)
            self.bias_ridge_ = self.ridge_ / 4 if self.bias_ridge == "auto" else float(self.bias_ridge)
        if not self.ridge_:
            _warn_of_few(data, self.rank_)
        b = self._biases(data, self.bias_ridge_)
        if np.isinf(self.ridge_):
            return self._without_features(data, b)
        objective = self._objective(data, self.rank_, self.ridge_)
        x, result = self._fit(objective, self._start(objective, b))
        return objective.split(x), result

    # ---- choosing ----

    def _choose(self, data: Comparisons, ranks: list[int]) -> None:
        learn, held = data.hold_out(HELD_OUT, self._rng, self.new_items)
        self.bias_ridge_ = self.choose_bias_ridge(learn, held)
        b = self._biases(learn, self.bias_ridge_)
        for rank in ranks:
            if self.ridge != "auto":
                self._try(learn, held, rank, float(self.ridge), b, None)
            elif data.noisy or not self._exact(learn, held, rank, b):
                self._follow_path(learn, held, rank, b)
        best = min(self.path_, key=lambda trial: trial.loss)
        self.rank_, self.ridge_ = best.rank, best.ridge

    def choose_bias_ridge(self, learn: Comparisons, held: Comparisons) -> float:
        """Return the ridge of biases alone with the lowest loss on held-out comparisons."""
        if not self.item_bias or self.bias_ridge != "auto":
            return 0.0 if self.bias_ridge == "auto" else float(self.bias_ridge)
        losses = []
        for ridge in BIAS_PATH:
            b = self._biases(learn, ridge)
            losses.append(excess_loss(held, b[held.left] - b[held.right], self.link))
        return float(BIAS_PATH[int(np.argmin(losses))])

    def _exact(self, learn: Comparisons, held: Comparisons, rank: int, b: Floats) -> bool:
        """Whether a fit without ridge foretells held-out chances to a thousandth; then that is noted as a trial."""
        with warnings.catch_warnings(action="ignore"):
            x = self._try(learn, held, rank, 0.0, b, None)
        z = self._objective(held, rank, 0.0).differences(x)
        gap = link_named(self.link).probability(z) - held.outcome
        if np.sqrt(np.mean(gap**2)) < EXACT:
            return True
        self.path_.pop()
        return False

    def _follow_path(self, learn: Comparisons, held: Comparisons, rank: int, b: Floats) -> None:
        """Try ridges from large to small, each from the features of the one before."""
        largest = vanishing_ridge(learn, self.link, b, self._rng)
        z = b[held.left] - b[held.right] if b.size else np.zeros(len(held))
        self.path_.append(Trial(rank, np.inf, excess_loss(held, z, self.link)))
        x, best, worse = None, np.inf, 0
        for ridge in largest * PATH:
            x = self._try(learn, held, rank, float(ridge), b, x)
            loss = self.path_[-1].loss
            worse = worse + 1 if loss > best else 0
            best = min(best, loss)
            if worse == PATIENCE:
                break

    def _try(
        self, learn: Comparisons, held: Comparisons, rank: int, ridge: float, b: Floats, x: Floats | None
    ) -> Floats:
        """Fit, note the loss on held-out comparisons, return x; a start whose features vanished is made anew."""
        objective = self._objective(learn, rank, ridge)
        fresh = self._start(objective, b)
        size = (learn.n_users + learn.n_items) * rank
        gone = x is None or np.linalg.norm(x[:size]) < VANISHED * np.linalg.norm(fresh[:size])
        x, _ = self._fit(objective, fresh if x is None or gone else x)
        z = self._objective(held, rank, ridge).differences(x)
        self.path_.append(Trial(rank, ridge, excess_loss(held, z, self.link)))
        return x

    # ---- fitting ----

    def _objective(self, data: Comparisons, rank: int, ridge: float) -> Objective:
        return Objective(data, rank, self.link, ridge, self.bias_ridge_, item_bias=self.item_bias)

    def _start(self, objective: Objective, b: Floats) -> Floats:
        known = b if b.size else None
        U, V = spectral_start(objective.data, objective.rank, self.link, known, self._rng)
        return objective.join(U, V, b)

    def _fit(self, objective: Objective, start: Floats) -> tuple[Floats, Result]:
        guard = _RunawayGuard(objective) if objective.data.noisy and not objective.rho else None
        start = eased_start(objective, start)
        return SOLVERS[self.solver](objective, start, self.max_iter, self.tol, guard, self.verbose)

    def _biases(self, data: Comparisons, ridge: float) -> Floats:
        """Biases alone: the ranking of Bradley and Terry. Empty in a model without."""
        if not self.item_bias:
            return np.empty(0)
        objective = Objective(data, 0, self.link, bias_ridge=max(ridge, 1e-6), item_bias=True)
        return lbfgs(objective, np.zeros(objective.size), self.max_iter, self.tol)[0]

    def _without_features(self, data: Comparisons, b: Floats) -> tuple[Arrays, Result]:
        none = np.zeros((data.n_users, self.rank_)), np.zeros((data.n_items, self.rank_)), b
        return none, Result(np.zeros(0), 0, True, "features do not help on held-out comparisons: none were fitted")

    # ---- new users ----

    def fold_in(self, comparisons: Comparisons) -> Floats:
        """Return the (n, r) features of the users of new comparisons, items and biases held fixed.

        The same objective, for each user by herself: convex in r numbers, by Newton steps in a trust region. Items are
        named by their ids. Pass a row of the result to `utilities` or `recommend`.

        Raises a CofactorError where items are unknown (named).
        """
        check_is_fitted(self, "item_factors_")
        data, V, b = require_comparisons(comparisons), self.item_factors_, self.item_bias_
        code = codes_of(np.array(list(data.items), dtype=object), self.items_, "items")
        D = V[code[data.left]] - V[code[data.right]]
        offset = b[code[data.left]] - b[code[data.right]]
        found = np.zeros((data.n_users, V.shape[1]))
        if np.isinf(self.ridge_):
            return found
        weight = np.ones(len(data)) if data.counts is None else data.counts
        cuts = np.append(0, np.cumsum(data.per_user))
        for u in range(data.n_users):
            own = slice(cuts[u], cuts[u + 1])
            found[u] = self._fold_in_one(D[own], offset[own], data.outcome[own], weight[own])
        return found

    def _fold_in_one(self, D: Floats, offset: Floats, w: Floats, weight: Floats) -> Floats:
        link, ridge = link_named(self.link), max(self.ridge_, 1e-6)

        def value(u: Floats) -> tuple[float, Floats]:
            z = D @ u + offset
            gradient = D.T @ (weight * link.slope(z, w)) + ridge * u
            return float(weight @ link.loss(z, w) + ridge / 2 * u @ u), gradient

        def hessian(u: Floats) -> Floats:
            curvature = weight * link.curvature(D @ u + offset, w)
            return (D.T * curvature) @ D + ridge * np.eye(len(u))

        start = np.zeros(D.shape[1])
        return np.asarray(minimize(value, start, jac=True, hess=hessian, method="trust-exact", tol=1e-8).x)

    # ---- checks ----

    def _check_linked(self, i: Codes, j: Codes) -> None:
        if not self.ridge_:
            refuse_across(self.components_, i, j, self.items_)

    def _ranks(self, data: Comparisons) -> list[int]:
        ranks = list(self.rank) if isinstance(self.rank, Sequence | np.ndarray) else [self.rank]
        most = min(data.n_users, data.n_items) - 1
        bad = [r for r in ranks if not isinstance(r, int | np.integer) or not 1 <= r <= most]
        if bad or not ranks:
            raise CofactorError(
                f"rank={listing(bad) or 'nothing'}: {data.n_users} users and {data.n_items} items allow 1 to {most} "
                "features"
            )
        return [int(r) for r in ranks]

    def _check_settings(self) -> None:
        link_named(self.link)
        check_whole(1, max_iter=self.max_iter)
        check_positive(zero=True, tol=self.tol)
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise CofactorError(f"solver={self.solver!r}: choose one of {', '.join(map(repr, SOLVERS))}")
        for name, value in {"ridge": self.ridge, "bias_ridge": self.bias_ridge}.items():
            number = is_number(value) and 0 <= value < np.inf
            if not number and not (isinstance(value, str) and value == "auto"):
                raise CofactorError(f"{name}={value!r}: give 'auto' or a number of at least 0")


class _RunawayGuard:
    """Looks, now and then, whether utilities run to infinity, and says why they do."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.count = objective, 0

    def __call__(self, x: Floats) -> None:
        self.count += 1
        if self.count % LOOK == 0 and np.abs(self.objective.differences(x)).max() > RUNAWAY:
            m, dof = len(self.objective.data), self.objective.size
            raise NotIdentifiableError(
                f"the likelihood has no maximum: {m} choices for {dof} numbers can be explained ever better by ever "
                "larger utilities (separable data). Fit with a ridge, ridge='auto', or collect more comparisons"
            )


def vanishing_ridge(
    comparisons: Comparisons, link: str, b: Floats, random_state: int | np.random.Generator | None = None
) -> float:
    """Return the smallest ridge at which U = V = 0 is a minimum: the largest singular value of the gradient in X."""
    f = link_named(link)
    G = residual_matrix(comparisons, link, b if b.size else None)
    if not np.any(G.data):
        return 0.0
    v0 = np.random.default_rng(random_state).standard_normal(min(G.shape))
    s = svds(G, k=1, v0=v0, return_singular_vectors=False)
    return float(s[0] * f.information(0.0) / f.steepness(0.0))


def _warn_of_parts(data: Comparisons) -> None:
    if data.n_components > 1:
        sizes = np.bincount(data.components[data.components >= 0])
        message = (
            f"items fall into {data.n_components} parts that no comparison links, of {listing(sizes.tolist())} items: "
            "utilities of different parts are not comparable, but for a prior"
        )
        warnings.warn(message, DataWarning, stacklevel=4)


def _warn_of_few(data: Comparisons, rank: int) -> None:
    dof = degrees_of_freedom(data.n_users, data.n_items, rank)
    if data.total < ENOUGH[data.noisy] * dof:
        message = (
            f"{data.total:g} comparisons for {dof} degrees of freedom: without a ridge, fewer than "
            f"{ENOUGH[data.noisy]} per degree do not tell the utilities, however small the loss"
        )
        warnings.warn(message, DataWarning, stacklevel=4)
