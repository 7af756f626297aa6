"""ComparisonMF: features of users and items by maximum likelihood or MAP, with cross-validated rank and ridge.

The ridge of the biases is chosen first, for biases alone. Then, for every rank, ridges of the features are tried from
large to small with warm starts. The criterion is the mean loss over the held-out comparisons of all folds. An infinite
ridge means that there are no features.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cofactor.comparisons.base import Codes, PreferenceModel, codes_of, refuse_across, require_comparisons
from cofactor.comparisons.data import Comparisons, Split, folds
from cofactor.comparisons.objective import (
    ENOUGH_PER_DEGREE,
    Arrays,
    Link,
    Objective,
    degrees_of_freedom,
    excess_loss,
    link_named,
)
from cofactor.comparisons.solvers import eased_start, lbfgs, residual_matrix, spectral_start
from cofactor.core.checks import check_positive, check_whole, is_number, rng_of
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.estimator import Result
from cofactor.core.lazy import optimize, sparse_linalg
from cofactor.core.types import Floats, Seed

HELD_OUT = 0.1  # of a single hold-out, and of hidden items
RIDGE_PATH = np.geomspace(0.5, 1e-3, 9)  # ridges, relative to the smallest one at which features vanish
BIAS_PATH = np.geomspace(30, 0.1, 6)
PATIENCE_RIDGES = 2  # ridges in a row that do worse before the path ends
EXACT_CHANCES = 1e-3  # root mean square gap on held-out chances below which they are taken for exact
VANISHED_FEATURES = 1e-3  # features this small, relative to a spectral start, count as gone
ROUGH = 1e-4  # tolerance that tells ridges apart; the fit to all comparisons has the caller's
RANKS = 3, 20  # tried by default: few features, and as many as a ridge may thin out
RUNAWAY = 30.0  # |z| beyond which an unpenalised fit to choices is running to infinity: g(30) = 1 - 1e-13
LOOK = 20  # iterations between two looks at that
LEAST_BIAS_RIDGE = 1e-6  # ridge of biases alone, which have no maximum where an item always won
LEAST_USER_RIDGE = 1e-6  # ridge of features of new users where there is none


@dataclass(eq=False, repr=False)
class ComparisonMF(PreferenceModel):
    """Low-rank utilities from comparisons: Pr(user u prefers i to j) = g(<U_u, V_i - V_j> + b_i - b_j).

        min over U, V, b of  sum_k l(z_k, w_k) + (ridge/2)(||U||_F^2 + ||V||_F^2) + (bias_ridge/2) ||b||^2

    from a spectral start. Without a ridge, a penalty on unbalanced factors replaces it, and if there are few exact
    probabilities, the start is eased. See `Objective` and `eased_start`.

    Parameters
    ----------
    rank : "auto", int, or several to choose from
        r, the number of features. "auto" tries 3 and 20, as far as users and items allow. Most of the choice is made by
        the ridge, which sets features that do not help to zero.
    link : {"logistic", "probit"}
    ridge : "auto" or float >= 0
        Inverse variance of the prior on features. "auto" takes the one with the lowest loss on held-out comparisons and
        then fits to all comparisons. The result is zero if outcomes prove to be exact probabilities, and infinity, with
        a warning, if features do not help; all users are then predicted by biases alone.
    item_bias : bool
        Add a utility that is common to all users. It is needed if there are few comparisons per user; the paper has
        none.
    new_items : bool
        Choose ridges and rank for predictions about items that are new to a user, by comparisons between items that
        were hidden from the user. Otherwise, pairs of items are held out, which makes the ridge far too small if pairs
        of one user follow from one another, as pairs made from ratings or orderings do.
    bias_ridge : "auto" or float >= 0
        "auto" chooses it in the same way, for biases alone, or takes a quarter of `ridge` if nothing else is chosen.
    folds : int
        Number of parts into which comparisons are split, each held out once. With one fold, a tenth is held out once.
    max_iter, tol
        Settings of the solver.
    random_state : int, Generator or None
    verbose : bool

    Attributes after `fit`
    ----------------------
    Those of PreferenceModel, and:
    rank_, ridge_, bias_ridge_
        The values used; rank 0 and an infinite ridge if features do not help.
    path_ : list of Trial
        The settings that were tried; empty if nothing was chosen.
    n_held_out_ : int
        Number of held-out comparisons used for the choice.

    Raises (in `fit`)
    -----------------
    CofactorError
        A setting is out of range, or there is nothing to hold out.
    NotIdentifiableError
        There is no ridge, and the choices are so few or so clear-cut that the utilities diverge.

    Warns
    -----
    DataWarning
        Items fall into components that no comparisons link; features do not help; or there is no ridge and there are
        too few comparisons for the number of features.

    Cost: O(m r) time per pass, with 20 to 300 passes per fit; O(m + (n1 + n2) r) memory. Choosing takes 5 to 10 fits at
    a rough tolerance for every fold and rank.

    Dependence on the order: held-out comparisons and starts are drawn user by user, so renumbering users and items acts
    like another `random_state`. For 360 comparisons of six items by twelve users, 3 renumberings changed probabilities
    by up to .009 and the order of no pair.

    Source: ICML 2025, Eq. (8), (14). Deviations: spectral start, solver, ridge and bias; no projections, which have no
    effect.

    >>> from cofactor import simulate
    >>> U, V = simulate.comparison_factors(200, 300, 3, random_state=0)
    >>> mf = ComparisonMF(rank=3, random_state=0).fit(simulate.draw_comparisons(U, V, 40_000, random_state=1))
    >>> bool(4 < mf.ridge_ < 8), mf.predict_proba([0, 0], [1, 2], [2, 1]).sum().round(6)
    (True, np.float64(1.0))
    """

    rank: int | Sequence[int] | Literal["auto"] = "auto"
    link: str = "logistic"
    ridge: float | Literal["auto"] = "auto"
    item_bias: bool = True
    new_items: bool = False
    bias_ridge: float | Literal["auto"] = "auto"
    folds: int = 5
    max_iter: int = 2000
    tol: float = 1e-8
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        data, settings = comparisons, checked_settings(comparisons, self.get_params())
        if data.n_components > 1:
            sizes = np.bincount(data.components[data.components >= 0])
            message = (
                f"items fall into {data.n_components} components (with {listing(sizes.tolist())} items) that no "
                "comparison links: utilities of different components are comparable only through a prior"
            )
            warnings.warn(message, DataWarning, stacklevel=3)
        rng = rng_of(self.random_state)
        chosen = choose_rank_and_ridge(data, settings, rng)
        self.rank_, self.ridge_, self.bias_ridge_ = chosen.rank, chosen.ridge, chosen.bias_ridge
        self.path_, self.n_held_out_ = list(chosen.path), chosen.n_held_out
        if np.isinf(chosen.ridge):
            reason = (
                f"features do not help to predict {chosen.n_held_out} held-out comparisons: only item biases are used"
            )
            advice = "predictions are the same for every user; collect more comparisons per user, or set a ridge"
            warnings.warn(f"{reason}; {advice}", DataWarning, stacklevel=3)
            b = fit_biases(data, chosen.bias_ridge, settings, always=True)
            none = np.zeros((data.n_users, 0)), np.zeros((data.n_items, 0))
            return (*none, b), Result(np.zeros(0), 0, True, reason)
        if not chosen.ridge:
            dof, enough = degrees_of_freedom(data.n_users, data.n_items, chosen.rank), ENOUGH_PER_DEGREE[data.noisy]
            if data.total < enough * dof:
                message = (
                    f"{data.total:g} comparisons for {dof} degrees of freedom: without a ridge, fewer than {enough} "
                    "per degree of freedom do not determine the utilities, even if the loss is small"
                )
                warnings.warn(message, DataWarning, stacklevel=3)
        b = fit_biases(data, chosen.bias_ridge, settings)
        objective = objective_of(data, chosen.rank, chosen.ridge, chosen.bias_ridge, settings)
        x, result = fit_features(objective, start_of(objective, b, rng), settings)
        return objective.split(x), result

    def fold_in(self, comparisons: Comparisons) -> Floats:
        """Return the (n, r) features of new users from their comparisons, with items and biases fixed.

        The objective is that of the fit, separately for each user, and convex in r numbers. Items are named by their
        ids. Pass a row of the result to `utilities` or `recommend`. Raises a CofactorError if items are unknown (they
        are named). Cost: O(m_u r^2 + r^3) per user and Newton step.

        >>> from cofactor import simulate
        >>> U, V = simulate.comparison_factors(60, 20, 2, random_state=0)
        >>> data = simulate.draw_comparisons(U, V, 4000, random_state=0)
        >>> mf = ComparisonMF(rank=2, ridge=2.0, random_state=0).fit(data)
        >>> newcomer = Comparisons([0, 0, 0], [3, 5, 3], [5, 8, 8], [1, 1, 1], n_items=20)
        >>> features = mf.fold_in(newcomer)[0]
        >>> bool(mf.utilities(features)[3] > mf.utilities(features)[8])
        True
        """
        self._check_fitted()
        data, V, b = require_comparisons(comparisons), self.item_factors_, self.item_bias_
        code = codes_of(np.array(list(data.items), dtype=object), self.items_, "items")
        left, right = code[data.left], code[data.right]
        found = np.zeros((data.n_users, V.shape[1]))
        if np.isinf(self.ridge_):
            return found
        D, offset, ridge = V[left] - V[right], b[left] - b[right], max(self.ridge_, LEAST_USER_RIDGE)
        weight, cuts = (
            np.ones(len(data)) if data.counts is None else data.counts,
            np.append(0, np.cumsum(data.per_user)),
        )
        for u in range(data.n_users):
            of = slice(cuts[u], cuts[u + 1])
            found[u] = _features(D[of], offset[of], data.outcome[of], weight[of], link_named(self.link), ridge)
        return found

    def _check_linked(self, i: Codes, j: Codes) -> None:
        if not self.ridge_:
            refuse_across(self.components_, i, j, self.items_)


def _features(D: Floats, offset: Floats, w: Floats, weight: Floats, link: Link, ridge: float) -> Floats:
    """Return argmin over u of sum_k c_k l(<u, D_k> + offset_k, w_k) + (ridge/2) ||u||^2, by Newton steps."""

    def value(u: Floats) -> tuple[float, Floats]:
        z = D @ u + offset
        gradient = D.T @ (weight * link.slope(z, w)) + ridge * u
        return float(weight @ link.loss(z, w) + ridge / 2 * u @ u), gradient

    def hessian(u: Floats) -> Floats:
        curvature = weight * link.curvature(D @ u + offset, w)
        return (D.T * curvature) @ D + ridge * np.eye(len(u))

    start = np.zeros(D.shape[1])
    return np.asarray(optimize.minimize(value, start, jac=True, hess=hessian, method="trust-exact", tol=1e-8).x)


# ---- one fit: what it is told, where it starts, when it is refused ----


@dataclass(frozen=True)
class FitSettings:
    """The checked parameters of `ComparisonMF`; None means "auto"."""

    ranks: tuple[int, ...] = (1,)
    link: str = "logistic"
    ridge: float | None = None
    item_bias: bool = True
    new_items: bool = False
    bias_ridge: float | None = None
    folds: int = 5
    max_iter: int = 2000
    tol: float = 1e-8
    verbose: bool = False


def checked_settings(data: Comparisons, params: Mapping[str, Any]) -> FitSettings:
    """Check the parameters of a ComparisonMF against each other and the data."""
    link_named(params["link"])
    check_whole(1, max_iter=params["max_iter"], folds=params["folds"])
    check_positive(zero=True, tol=params["tol"])
    as_given = ("link", "item_bias", "new_items", "folds", "max_iter", "tol", "verbose")
    checked: dict[str, Any] = {name: params[name] for name in as_given}
    checked |= {name: _number_or_auto(name, params[name]) for name in ("ridge", "bias_ridge")}
    return FitSettings(_ranks(params["rank"], min(data.n_users, data.n_items) - 1, data), **checked)


def _ranks(rank: int | Sequence[int] | str, most: int, data: Comparisons) -> tuple[int, ...]:
    if isinstance(rank, str):
        ranks: list[int] = sorted({min(r, most) for r in RANKS}) if rank == "auto" else []
    else:
        ranks = [rank] if isinstance(rank, int | np.integer) or not np.iterable(rank) else list(rank)
    bad = [r for r in ranks if not isinstance(r, int | np.integer) or not 1 <= r <= most]
    if bad or not ranks:
        raise CofactorError(
            f"rank={listing(bad) or (rank if isinstance(rank, str) else '()')}: with {data.n_users} users and "
            f"{data.n_items} items, choose 1 to {most} features"
        )
    return tuple(int(r) for r in ranks)


def _number_or_auto(name: str, value: object) -> float | None:
    if isinstance(value, str) and value == "auto":
        return None
    if is_number(value) and 0 <= value < np.inf:
        return float(value)
    raise CofactorError(f"{name}={value!r}: must be 'auto' or a nonnegative number")


def objective_of(data: Comparisons, rank: int, ridge: float, bias_ridge: float, settings: FitSettings) -> Objective:
    """Return the objective for these parameters."""
    return Objective(data, rank, settings.link, ridge, bias_ridge, item_bias=settings.item_bias)


def start_of(objective: Objective, b: Floats, rng: np.random.Generator) -> Floats:
    """Return the spectral start for the residuals after biases b; if b is empty, for all outcomes."""
    known = b if b.size else None
    return objective.join(*spectral_start(objective.data, objective.rank, objective.link.name, known, rng), b)


def fit_features(objective: Objective, start: Floats, settings: FitSettings) -> tuple[Floats, Result]:
    """Minimise from a start; return the flat vector of features and biases.

    Raises a NotIdentifiableError if the utilities diverge because there is no ridge.
    """
    guard = _RunawayGuard(objective) if objective.data.noisy and not objective.rho else None
    start = eased_start(objective, start)
    return lbfgs(objective, start, settings.max_iter, settings.tol, guard, settings.verbose)


def fit_biases(data: Comparisons, ridge: float, settings: FitSettings, always: bool = False) -> Floats:
    """Fit biases alone, a Bradley-Terry ranking; return an empty array for models without biases, unless `always`."""
    if not settings.item_bias and not always:
        return np.empty(0)
    objective = Objective(data, 0, settings.link, bias_ridge=max(ridge, LEAST_BIAS_RIDGE), item_bias=True)
    return lbfgs(objective, np.zeros(objective.size), settings.max_iter, settings.tol)[0]


class _RunawayGuard:
    """Callback that checks at intervals whether utilities diverge, and raises an error that says why."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.count = objective, 0

    def __call__(self, x: Floats) -> None:
        self.count += 1
        if self.count % LOOK == 0 and np.abs(self.objective.differences(x)).max() > RUNAWAY:
            m, dof = len(self.objective.data), self.objective.size
            raise NotIdentifiableError(
                f"the likelihood has no maximum: ever larger utilities fit {m} choices with {dof} parameters ever "
                "better (separable data); fit with a ridge (ridge='auto'), or collect more comparisons"
            )


# ---- choosing rank and ridges by comparisons held out ----


@dataclass(frozen=True)
class Trial:
    """A setting that was tried: rank, ridges, and the mean excess loss on held-out comparisons."""

    rank: int
    ridge: float
    bias_ridge: float
    loss: float = np.nan


@dataclass(frozen=True)
class Choice:
    """The chosen rank and ridges (infinite if features do not help), all trials, and the held-out comparisons."""

    rank: int
    ridge: float
    bias_ridge: float
    path: tuple[Trial, ...] = ()
    n_held_out: int = 0


def choose_rank_and_ridge(data: Comparisons, settings: FitSettings, rng: np.random.Generator) -> Choice:
    """Choose the rank and the ridges that are "auto" by the loss on held-out comparisons.

    Cost: for every fold and rank, one fit per ridge of the path, until two ridges in a row do worse.
    """
    if settings.ridge is not None and len(settings.ranks) == 1:
        ridge_of_biases = settings.ridge / 4 if settings.bias_ridge is None else settings.bias_ridge
        return Choice(settings.ranks[0], settings.ridge, ridge_of_biases)
    splits = split(data, settings, rng)
    search = _Search(splits, _bias_ridge(splits, settings) if settings.item_bias else 0.0, settings, rng)
    path: list[Trial] = []
    for rank in settings.ranks:
        path += search.trials(rank)
        if settings.ridge is None and not path[-1].ridge:  # exact chances
            break
    best = min(path, key=lambda trial: trial.loss)
    n_held_out = sum(len(held) for _, held in splits)
    if np.isinf(best.ridge):  # biases are what is left, also of a model that has none besides features
        return Choice(0, np.inf, _bias_ridge(splits, settings), tuple(path), n_held_out)
    return Choice(best.rank, best.ridge, best.bias_ridge, tuple(path), n_held_out)


def split(data: Comparisons, settings: FitSettings, rng: np.random.Generator) -> list[Split]:
    """Hold out comparisons in folds, or a tenth of them (one fold), or those between items hidden from users."""
    if settings.folds == 1 or settings.new_items:
        return [data.hold_out(HELD_OUT, rng, settings.new_items) for _ in range(settings.folds)]
    return folds(data, settings.folds, rng)


def choose_bias_ridge(splits: Sequence[Split], settings: FitSettings) -> float:
    """Return the ridge that gives biases alone the lowest loss on all held-out comparisons."""
    losses = []
    for ridge in BIAS_PATH:
        fits = [fit_biases(learn, ridge, settings, always=True) for learn, _ in splits]
        z = [b[held.left] - b[held.right] for (_, held), b in zip(splits, fits, strict=True)]
        losses.append(_mean_loss(splits, z, settings.link))
    return float(BIAS_PATH[int(np.argmin(losses))])


def _bias_ridge(splits: Sequence[Split], settings: FitSettings) -> float:
    return choose_bias_ridge(splits, settings) if settings.bias_ridge is None else settings.bias_ridge


def _mean_loss(splits: Sequence[Split], z: Sequence[Floats], link: str) -> float:
    losses = [excess_loss(held, found, link) for (_, held), found in zip(splits, z, strict=True)]
    return float(np.average(losses, weights=[held.total for _, held in splits]))


class _Search:
    """Fits to the training part of every split, and their losses on the held-out part."""

    def __init__(
        self, splits: Sequence[Split], bias_ridge: float, settings: FitSettings, rng: np.random.Generator
    ) -> None:
        self.splits, self.bias_ridge, self.settings, self.rng = splits, bias_ridge, settings, rng
        self.b = [fit_biases(learn, bias_ridge, settings) for learn, _ in splits]

    def trials(self, rank: int) -> list[Trial]:
        """Fit one rank: with the given ridge, with no ridge for exact probabilities, or along a path of ridges."""
        starts = [
            start_of(objective_of(learn, rank, 0.0, self.bias_ridge, self.settings), b, self.rng)
            for (learn, _), b in zip(self.splits, self.b, strict=True)
        ]
        if self.settings.ridge is not None:
            return [self._try(Trial(rank, self.settings.ridge, self.bias_ridge), starts)[0]]
        if not self.splits[0][0].noisy and (exact := self._exact(rank, starts)):
            return [exact]
        return self._follow_path(rank, starts)

    def _exact(self, rank: int, starts: list[Floats]) -> Trial | None:
        """Return the trial without a ridge if it predicts held-out probabilities to a thousandth."""
        with warnings.catch_warnings(action="ignore"):
            trial, z = self._try(Trial(rank, 0.0, self.settings.bias_ridge or 0.0), starts, self.settings.tol)[:2]
        g = link_named(self.settings.link).probability
        gaps = [g(found) - held.outcome for (_, held), found in zip(self.splits, z, strict=True)]
        return trial if np.sqrt(np.mean(np.concatenate(gaps) ** 2)) < EXACT_CHANCES else None

    def _follow_path(self, rank: int, starts: list[Floats]) -> list[Trial]:
        """Try ridges from large (no features) to small, each started at the features of the previous one."""
        none = [
            b[held.left] - b[held.right] if b.size else np.zeros(len(held))
            for (_, held), b in zip(self.splits, self.b, strict=True)
        ]
        path = [Trial(rank, np.inf, self.bias_ridge, _mean_loss(self.splits, none, self.settings.link))]
        limits = [
            vanishing_ridge(part[0], self.settings.link, b, self.rng)
            for part, b in zip(self.splits, self.b, strict=True)
        ]
        now, best, worse = starts, np.inf, 0
        for ridge in max(limits) * RIDGE_PATH if any(limits) else ():
            trial, _, now = self._try(Trial(rank, float(ridge), self.bias_ridge), self._revived(now, starts, rank))
            path.append(trial)
            worse = worse + 1 if trial.loss > best else 0
            best = min(best, trial.loss)
            if worse == PATIENCE_RIDGES:
                break
        return path

    def _revived(self, now: Sequence[Floats], starts: Sequence[Floats], rank: int) -> list[Floats]:
        """Return warm starts, replaced by fresh ones if their features vanished and would stay at zero."""
        data = self.splits[0][0]
        size = (data.n_users + data.n_items) * rank
        return [
            fresh if np.linalg.norm(x[:size]) < VANISHED_FEATURES * np.linalg.norm(fresh[:size]) else x
            for x, fresh in zip(now, starts, strict=True)
        ]

    def _try(
        self, trial: Trial, starts: Sequence[Floats], tol: float = ROUGH
    ) -> tuple[Trial, list[Floats], list[Floats]]:
        """Fit to every split; return the trial with its loss, held-out differences in utility, and the fits."""
        numbers = trial.rank, trial.ridge, trial.bias_ridge
        rough = replace(self.settings, tol=max(tol, self.settings.tol))
        z, found = [], []
        for (learn, held), start in zip(self.splits, starts, strict=True):
            found.append(fit_features(objective_of(learn, *numbers, rough), start, rough)[0])
            z.append(objective_of(held, *numbers, rough).differences(found[-1]))
        return replace(trial, loss=_mean_loss(self.splits, z, rough.link)), z, found


def vanishing_ridge(comparisons: Comparisons, link: str, b: Floats, random_state: Seed = None) -> float:
    """Return the smallest ridge at which U = V = 0 is a minimum, the largest singular value of the gradient in X."""
    f = link_named(link)
    G = residual_matrix(comparisons, link, b if b.size else None)
    if not np.any(G.data):
        return 0.0
    v0 = rng_of(random_state).standard_normal(min(G.shape))
    s = sparse_linalg.svds(G, k=1, v0=v0, return_singular_vectors=False)
    return float(s[0] * f.information(0.0) / f.steepness(0.0))
