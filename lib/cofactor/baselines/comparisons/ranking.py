"""One ranking for all users: Bradley-Terry, and win rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.choosing import choose_bias_ridge, split
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.fitting import FitSettings
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.loss import Objective
from cofactor.comparisons.solvers import lbfgs
from cofactor.core.checks import check_positive, check_whole, rng_of
from cofactor.core.result import Result
from cofactor.core.types import Floats, Seed

CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")


@dataclass(eq=False, repr=False)
class BradleyTerry(PreferenceModel):
    """One utility per item, the same for all users: Pr(i preferred to j) = g(b_i - b_j).

    Parameters
    ----------
    ridge : float > 0 or "auto"
        Inverse variance of the prior on utilities; "auto" chooses on held-out comparisons. `ridge_` holds it.
    link : {"logistic", "probit"}
    folds, max_iter, tol
        As of `ComparisonMF`.
    random_state : int, Generator or None
    verbose : bool

    Cost: O(m) per pass, some 20 of them.

    Order: a ridge that is given leaves nothing to chance. "auto" draws what is held out user by user, so that other
    numbers of users and items are another draw, as another `random_state` is: in 10 renamings of 360 comparisons of
    six items by twelve users, chances moved by up to .033 and no pair was ordered otherwise. The order of the
    comparisons moves nothing.

    Source: Bradley and Terry, Biometrika 1952. Equal to a maximum-likelihood fit as the ridge goes to zero.

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
    """Items by the share of comparisons they won, drawn towards one half as by `ridge` comparisons more.

    Its utilities are log-odds of that share, so that two items compare as their odds do. `random_state` and `verbose`
    change nothing. Cost: O(m), a closed form. Source: counting.

    >>> WinRate(ridge=2).fit(Comparisons([0, 0], [0, 0], [1, 2], [1, 1])).item_bias_.round(2).tolist()
    [1.19, -0.6, -0.6]
    """

    ridge: float = 5.0
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        check_positive(ridge=self.ridge)
        data, k = comparisons, self.ridge / 2
        won, lost = _won(data, data.outcome), _won(data, 1 - data.outcome)
        return (*_no_features(data), np.log((won + k) / (lost + k))), CLOSED_FORM


def _won(data: Comparisons, rate: Floats) -> Floats:
    """(n2,) sum over comparisons of the share of left and one minus it of right, counts included."""
    weight = np.ones(len(data)) if data.counts is None else data.counts
    left = np.bincount(data.left, rate * weight, data.n_items)
    return np.asarray(left + np.bincount(data.right, (1 - rate) * weight, data.n_items))


def _no_features(data: Comparisons) -> tuple[Floats, Floats]:
    return np.zeros((data.n_users, 0)), np.zeros((data.n_items, 0))
