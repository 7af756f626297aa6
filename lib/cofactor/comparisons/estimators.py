"""ComparisonMF: features of users and items by maximum likelihood or MAP, ridge and rank chosen on held-out answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cofactor.comparisons.base import Codes, PreferenceModel, codes_of, refuse_across, require_comparisons
from cofactor.comparisons.choosing import choose_rank_and_ridge
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.fitting import FitSettings, checked_settings, fit_biases, fit_features, objective_of, start_of
from cofactor.comparisons.fold_in import fold_in
from cofactor.comparisons.formulas import ENOUGH_PER_DEGREE, degrees_of_freedom
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.links import link_named
from cofactor.core.checks import rng_of
from cofactor.core.errors import DataWarning, listing
from cofactor.core.result import Result
from cofactor.core.types import Floats, Seed

LEAST_USER_RIDGE = 1e-6  # ridge of features of new users where there is none


@dataclass(eq=False, repr=False)
class ComparisonMF(PreferenceModel):
    """Low-rank utilities from comparisons: Pr(user u prefers i to j) = g(<U_u, V_i - V_j> + b_i - b_j).

        min over U, V, b of  sum_k l(z_k, w_k) + (ridge/2)(||U||_F^2 + ||V||_F^2) + (bias_ridge/2) ||b||^2

    from a spectral start. Without a ridge, balance of the factors takes its place, and where exact chances are few the
    start is eased. See `Objective`, `eased_start`.

    Parameters
    ----------
    rank : "auto", int, or several to choose from
        r. "auto": 3 or 20, as far as users and items allow. The ridge does most of the choosing: it sets features that
        do not help to zero.
    link : {"logistic", "probit"}
    solver : {"lbfgs", "bb"}
        "bb" is Barzilai-Borwein.
    ridge : "auto" or float >= 0
        Inverse variance of the prior on features. "auto": the one with the lowest loss on held-out comparisons; then
        fitted to all. Zero where outcomes prove to be exact chances. Infinity where features do not help: everybody is
        then predicted by biases alone, and a warning says so.
    item_bias : bool
        Add a utility that all users share. Needed where comparisons per user are few; the paper has none.
    new_items : bool
        Choose ridges and rank for questions about items that a user has not met: by comparisons between items that
        were hidden from the user altogether. Otherwise pairs of items are held out, which makes the ridge far too
        small where pairs of one user follow from one another, as those made from ratings or orderings do.
    bias_ridge : "auto" or float >= 0
        "auto": chosen likewise, for biases alone; a quarter of `ridge` if nothing has to be chosen.
    folds : int
        Into how many parts comparisons are split, each held out once. One: a tenth is held out, once.
    max_iter, tol
        Of the solver.
    random_state : int, Generator or None
    verbose : bool

    Attributes after `fit`
    ----------------------
    Those of PreferenceModel; and
    rank_, ridge_, bias_ridge_ : what was chosen
        Rank 0 and ridge infinity where features do not help.
    path_ : list of Trial
        What was tried; empty where nothing had to be chosen.
    n_held_out_ : int
        On how many held-out comparisons the choice rests.

    Raises (in `fit`)
    -----------------
    CofactorError
        Settings out of range, or nothing to hold out.
    NotIdentifiableError
        Without a ridge: choices so few or so clear-cut that utilities run to infinity.

    Warns
    -----
    DataWarning
        Items fall into parts that no comparison links; features do not help; without a ridge, fewer comparisons than
        features can be told from.

    Cost: O(m r) time per pass, 20 to 300 of them per fit; O(m + (n1 + n2) r) memory. Choosing takes 5 to 10 fits, to a
    rough tolerance, of every fold and rank.

    Order: what is held out, and starts, are drawn user by user, so that other numbers of users and items are another
    draw, as another `random_state` is. In 3 renamings of 360 comparisons of six items by twelve users, chances moved by
    up to .009 and no pair was ordered otherwise.

    Source: ICML 2025, Eq. (8), (14). Deviations: spectral start, solver, ridge, bias; no projections, which change
    nothing.

    >>> from cofactor import simulate
    >>> U, V = simulate.comparison_factors(200, 300, 3, random_state=0)
    >>> mf = ComparisonMF(rank=3, random_state=0).fit(simulate.draw_comparisons(U, V, 40_000, random_state=1))
    >>> bool(4 < mf.ridge_ < 8), mf.predict_proba([0, 0], [1, 2], [2, 1]).sum().round(6)
    (True, np.float64(1.0))
    """

    rank: int | Sequence[int] | Literal["auto"] = "auto"
    link: str = "logistic"
    solver: Literal["lbfgs", "bb"] = "lbfgs"
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
        settings = checked_settings(comparisons, self.get_params())
        _warn_of_parts(comparisons)
        rng = rng_of(self.random_state)
        chosen = choose_rank_and_ridge(comparisons, settings, rng)
        self.rank_, self.ridge_, self.bias_ridge_ = chosen.rank, chosen.ridge, chosen.bias_ridge
        self.path_, self.n_held_out_ = list(chosen.path), chosen.n_held_out
        if np.isinf(chosen.ridge):
            return _biases_alone(comparisons, chosen.bias_ridge, chosen.n_held_out, settings)
        if not chosen.ridge:
            _warn_of_few(comparisons, chosen.rank)
        b = fit_biases(comparisons, chosen.bias_ridge, settings)
        objective = objective_of(comparisons, chosen.rank, chosen.ridge, chosen.bias_ridge, settings)
        x, result = fit_features(objective, start_of(objective, b, rng), settings)
        return objective.split(x), result

    def fold_in(self, comparisons: Comparisons) -> Floats:
        """Return the (n, r) features of the users of new comparisons, items and biases held fixed.

        The same objective, for each user by herself. Items are named by their ids. Pass a row of the result to
        `utilities` or `recommend`. Raises a CofactorError where items are unknown (named).

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
        if np.isinf(self.ridge_):
            return np.zeros((data.n_users, 0))
        return fold_in(
            data, V[left] - V[right], b[left] - b[right], link_named(self.link), max(self.ridge_, LEAST_USER_RIDGE)
        )

    def _check_linked(self, i: Codes, j: Codes) -> None:
        if not self.ridge_:
            refuse_across(self.components_, i, j, self.items_)


def _biases_alone(data: Comparisons, ridge: float, n_held_out: int, settings: FitSettings) -> tuple[Arrays, Result]:
    reason = f"features do not help to predict {n_held_out} held-out comparisons: biases of items alone"
    advice = "every user is predicted alike; collect more comparisons of each user, or give a ridge"
    warnings.warn(f"{reason}; {advice}", DataWarning, stacklevel=4)
    b = fit_biases(data, ridge, settings, always=True)
    return (np.zeros((data.n_users, 0)), np.zeros((data.n_items, 0)), b), Result(np.zeros(0), 0, True, reason)


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
    if data.total < ENOUGH_PER_DEGREE[data.noisy] * dof:
        message = (
            f"{data.total:g} comparisons for {dof} degrees of freedom: without a ridge, fewer than "
            f"{ENOUGH_PER_DEGREE[data.noisy]} per degree do not tell the utilities, however small the loss"
        )
        warnings.warn(message, DataWarning, stacklevel=4)
