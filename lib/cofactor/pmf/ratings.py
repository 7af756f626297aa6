"""Predicting ratings: averages, biased matrix factorisation, and the joint PMF of all items.

    symbol   meaning                                          shape
    R        ratings of items by users, most of them unknown  (U, N)
    mu       level                                            number
    a, b     biases of users and of items                     (U,), (N,)
    A, B     factors of users and of items                    (U, F), (N, F)

Every predictor is fitted to three arrays, `fit(user, item, rating)`, and predicts with `predict(user, item)`. Ids are
arbitrary integers. Predictions lie between the lowest and the highest rating of the fit; for an unknown user or item,
the prediction uses the remaining terms.

Source: baselines of Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise
marginals", IEEE TSP 2021, Sec. 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, numbers, require_bytes, rng_of, unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Estimator, History, Result, clone
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import CLOSED_FORM, JointPMFEstimator
from cofactor.pmf.estimators import CNMFEM

LARGEST_RATING = 1e100  # rating; the squares of larger ones overflow
LEVELS = 5  # of what biases leave of a rating


class RatingPredictor(Estimator):
    """Base class of recommenders.

    Subclasses implement `_learn`, which returns a `Result`, and `_predict`; both number users (rows) and items
    (columns) from zero.

    In `_predict`, the index -1 stands for an unknown user or item, so arrays that end with a neutral entry need no
    special case.

    Attributes after `fit`: `users_` and `items_` (ids, ascending), `mean_` and `range_` (of all ratings) and `result_`
    (convergence of the iteration, if there is one).
    """

    users_: Ints
    items_: Ints
    mean_: float
    range_: tuple[float, float]
    result_: Result

    random_state: Seed = None
    verbose: bool = False

    def fit(self, user: ArrayLike, item: ArrayLike, rating: ArrayLike) -> Self:
        """Fit to (E,) users, items and ratings; returns self.

        Raises a CofactorError if there are no ratings, the lengths differ, ids are not integers, ratings are not
        finite, or a user rated an item twice (they are named).
        """
        who, what, ratings = _ids("user", user), _ids("item", item), numbers(rating, "rating")
        _check_ratings(who, what, ratings)
        self.users_, row = np.unique(who, return_inverse=True)
        self.items_, column = np.unique(what, return_inverse=True)
        _check_distinct(who, what, row * len(self.items_) + column)
        self.mean_, self.range_ = float(ratings.mean()), (float(ratings.min()), float(ratings.max()))
        self.result_ = self._learn(row, column, ratings)
        return self

    def predict(self, user: ArrayLike, item: ArrayLike) -> Floats:
        """Return the (Q,) expected ratings of these items by these users."""
        self._check_fitted()
        who, what = _ids("user", user), _ids("item", item)
        if who.shape != what.shape:
            raise CofactorError(f"{len(who)} users and {len(what)} items: pass one item per user")
        return np.clip(self._predict(_places(who, self.users_), _places(what, self.items_)), *self.range_)

    def errors(self, user: ArrayLike, item: ArrayLike, rating: ArrayLike) -> tuple[float, float]:
        """Return the RMSE and the MAE of the predictions for known ratings."""
        gap = self.predict(user, item) - numbers(rating, "rating", 1)
        return float(np.sqrt(np.mean(gap**2))), float(np.abs(gap).mean())

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        raise NotImplementedError

    def _predict(self, row: Ints, column: Ints) -> Floats:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class GlobalAverage(RatingPredictor):
    """The mean of all ratings. Cost: O(E). Source: a baseline of IEEE TSP 2021."""

    random_state: Seed = None
    verbose: bool = False

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        return CLOSED_FORM

    def _predict(self, row: Ints, column: Ints) -> Floats:
        return np.full(len(row), self.mean_)


@dataclass(eq=False, repr=False)
class UserAverage(RatingPredictor):
    """The mean of the user's ratings. Cost: O(E). Source: a baseline of IEEE TSP 2021."""

    random_state: Seed = None
    verbose: bool = False

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        self.means_ = np.append(_means(row, rating), self.mean_)
        return CLOSED_FORM

    def _predict(self, row: Ints, column: Ints) -> Floats:
        return np.asarray(self.means_[row])


@dataclass(eq=False, repr=False)
class ItemAverage(RatingPredictor):
    """The mean of the item's ratings: "movie average" in IEEE TSP 2021. Cost: O(E). Source: a baseline there."""

    random_state: Seed = None
    verbose: bool = False

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        self.means_ = np.append(_means(column, rating), self.mean_)
        return CLOSED_FORM

    def _predict(self, row: Ints, column: Ints) -> Floats:
        return np.asarray(self.means_[column])


@dataclass(eq=False, repr=False)
class BMF(RatingPredictor):
    """Biased matrix factorisation by alternating least squares.

        min over mu, a, b, A, B of  sum over known (i, j) of (R_ij - mu - a_i - b_j - <A_i, B_j>)^2
            + ridge (||A||_F^2 + ||B||_F^2) + bias_ridge (||a||^2 + ||b||^2)

    Parameters
    ----------
    rank : int
        F; 0 means biases only, which is often best if there are few ratings.
    ridge, bias_ridge : float
        Penalties on factors and on biases; a bias is shrunk towards zero as if there were `bias_ridge` more ratings.
    max_iter, tol, random_state, verbose
        See `biased_factors`. After `fit`, `result_.objective` has the decreasing objective after every sweep.

    Cost: O(E F^2 + (U + N) F^3) time per sweep, O((U + N) F^2) memory.

    Source: IEEE TSP 2021, Sec. 5.4. Deviations: every bias has the same penalty (released: 100 times its number of
    ratings, which leaves hardly any bias); sweeps continue until the objective converges (released: until the error on
    validation ratings first rises).

    >>> mf = BMF(rank=0, bias_ridge=1.0).fit([0, 0, 1, 1], [0, 1, 0, 1], [5, 4, 3, 2])
    >>> mf.predict([0, 1, 2], [0, 1, 0]).round(2)
    array([4.5 , 2.5 , 3.83])
    """

    rank: int = 5
    ridge: float = 10.0
    bias_ridge: float = 5.0
    max_iter: int = 200
    tol: float = 1e-6
    random_state: Seed = None
    verbose: bool = False

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        check_whole(0, rank=self.rank)
        check_positive(ridge=self.ridge)
        check_positive(zero=True, bias_ridge=self.bias_ridge)
        fit = biased_factors(
            *(row, column, rating, self.rank, self.ridge),
            pulls=(self._pull(np.bincount(row)), self._pull(np.bincount(column))),
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            verbose=self.verbose,
        )
        none = np.zeros((1, self.rank))
        self.level_, self.user_bias_, self.item_bias_ = fit.level, np.append(fit.a, 0.0), np.append(fit.b, 0.0)
        self.user_factors_, self.item_factors_ = np.vstack([fit.A, none]), np.vstack([fit.B, none])
        return fit.result

    def _pull(self, counts: Ints) -> Floats:
        """Return the penalty weight of every bias."""
        return np.full(len(counts), self.bias_ridge)

    def _predict(self, row: Ints, column: Ints) -> Floats:
        product = np.einsum("ef,ef->e", self.user_factors_[row], self.item_factors_[column])
        return np.asarray(self.level_ + self.user_bias_[row] + self.item_bias_[column] + product)


@dataclass(eq=False, repr=False)
class JointPMFRecommender(RatingPredictor):
    """Recommender that predicts the expected rating given the user's other ratings, under a joint PMF of all items.

        R^_ij = mu + a_i + b_j + w E[x_j | x_k, k rated by the user, k != j]

    x_j is the residual of a rating after the biases, cut at its quantiles into five levels.

    Parameters
    ----------
    estimator : JointPMFEstimator, optional
        A copy of it is fitted to the table of users and items; see `cofactor.pmf.METHODS`, also for the errors of
        `fit`. Default: CNMF-EM with this `random_state` and `verbose`; a given estimator keeps its own.
    biases : bool
        Model the biases of users and items first, because few latent classes cannot represent the general level of each
        user's ratings. If False, as in the paper, x_j is the rating itself and its expectation is the prediction.
    random_state, verbose

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        Its variables are the items, in the order of `items_`.
    values_ : array
        The values of the model's codes: means of the levels or, without biases, the distinct ratings, ascending.
    weight_ : float in [0, 1]
        w, by least squares on a held-out fifth of the ratings; 0 if the remaining ratings cannot be fitted.

    Cost: twice that of the estimator; in `predict`, O(F) for every rating of the user of every query.

    Source: IEEE TSP 2021, Sec. 5.4. Deviations: biases, without which it is worse than a user's mean on MovieLens
    small; the estimated prior is used (released: a uniform one); an unknown item gets the mean of all ratings
    (released: 2.75 if the probabilities vanish).

    >>> from cofactor.pmf import RANDEM
    >>> user, item = np.repeat(np.arange(40), 3), np.tile([10, 11, 12], 40)
    >>> rating = np.repeat(np.tile([1, 5], 20), 3)  # every other user likes everything
    >>> shown = np.arange(120) > 1
    >>> films = JointPMFRecommender(RANDEM(rank=2, pseudo_count=0.01, random_state=0), biases=False)
    >>> films.fit(user[shown], item[shown], rating[shown]).predict([0, 1], [10, 10]).round(1)
    array([1., 5.])
    """

    estimator: JointPMFEstimator | None = None
    biases: bool = True
    random_state: Seed = None
    verbose: bool = False

    def _learn(self, row: Ints, column: Ints, rating: Floats) -> Result:
        order = np.lexsort((column, row))  # what is held out shall not depend on how the ratings are sorted
        known = row[order], column[order], rating[order]
        self.weight_ = self._weight(*known) if self.biases else 1.0
        return self._fit(*known)

    @property
    def _method(self) -> JointPMFEstimator:
        return self.estimator or CNMFEM(random_state=self.random_state, verbose=self.verbose)

    def _fit(self, row: Ints, column: Ints, rating: Floats) -> Result:
        N, U = len(self.items_), len(self.users_)
        if self.biases:
            self.biases_ = BMF(rank=0)
            self.biases_.users_, self.biases_.items_ = self.users_, self.items_
            self.biases_._learn(row, column, rating)
            left = rating - self.biases_._predict(row, column)  # cut at its quantiles into levels
            edges = np.unique(np.quantile(left, np.linspace(0, 1, LEVELS + 1)[1:-1]))
            _, code = np.unique(np.searchsorted(edges, left, side="right"), return_inverse=True)
            self.values_ = _means(code, left)
        else:
            self.values_, code = np.unique(rating, return_inverse=True)
        sizes = np.full(N, len(self.values_))
        self.table_ = CategoricalTable.from_entries(row, column, code, sizes, n_rows=U + 1)  # the last: nothing known
        fitted = clone(self._method).fit(self.table_.take_rows(np.arange(U)))
        self.model_ = fitted.model_
        return fitted.result_

    def _weight(self, row: Ints, column: Ints, rating: Floats) -> float:
        """Return w by least squares of held-out residuals on their expectations under the joint PMF."""
        out = _fifth_of_each(column, rng_of(self._method.random_state))
        try:
            self._fit(row[~out], column[~out], rating[~out])
        except CofactorError:
            return 0.0
        expected = self._expected(row[out], column[out])
        left = rating[out] - self.biases_._predict(row[out], column[out])
        power = float(expected @ expected)
        return float(np.clip(expected @ left / power, 0, 1)) if power else 0.0

    def _expected(self, row: Ints, column: Ints) -> Floats:
        found = np.full(len(row), 0.0 if self.biases else self.mean_)
        for j in np.unique(column[column >= 0]):
            asked = column == j
            rows = self.table_.take_rows(row[asked] % self.table_.n_rows)
            found[asked] = self.model_.expectation(rows, int(j), self.values_)
        return found

    def _predict(self, row: Ints, column: Ints) -> Floats:
        expected = self._expected(row, column)
        return self.biases_._predict(row, column) + self.weight_ * expected if self.biases else expected


def _fifth_of_each(group: Ints, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw at most a fifth of the entries of every group, never all of them."""
    order = np.lexsort((rng.random(len(group)), group))
    size = np.bincount(group)
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(place < size[group] // 5)


def _means(index: Ints, rating: Floats) -> Floats:
    return np.asarray(np.bincount(index, rating) / np.bincount(index))


# ---- biased matrix factorisation by alternating least squares ----


@dataclass(frozen=True)
class BiasedFactors:
    """Result of `biased_factors`: R_ij is approximately level + a_i + b_j + <A_i, B_j>."""

    level: float
    a: Floats
    b: Floats
    A: Floats
    B: Floats
    result: Result


def biased_factors(
    row: Ints,
    column: Ints,
    rating: Floats,
    rank: int,
    ridge: float,
    pulls: tuple[Floats, Floats],
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | None = None,
    verbose: bool = False,
) -> BiasedFactors:
    """Fit level, biases and factors to known ratings.

        min over mu, a, b, A, B of  sum over known (i, j) of (R_ij - mu - a_i - b_j - <A_i, B_j>)^2
            + ridge (||A||_F^2 + ||B||_F^2) + sum_i pull_i a_i^2 + sum_j pull_j b_j^2

    Parameters
    ----------
    row, column : (E,) ints, rating : (E,) floats
        Codes of users (below U) and of items (below N); users and items without ratings keep zeros.
    rank : int >= 0, ridge : float > 0
    pulls : (U,) and (N,) arrays
        Penalty weights of the biases, positive for users and items without ratings.
    max_iter, tol
        Maximum number of sweeps, and the relative change of the objective at which they stop.
    random_state : int, Generator or None
        Used for the normal start of B; A starts at zero.

    Cost: O(E F^2 + (U + N) F^3) time per sweep, O((U + N) F^2) memory.

    >>> row, column, pull = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.ones(2)
    >>> biased_factors(row, column, np.array([5.0, 4, 3, 2]), 0, 1.0, (pull, pull)).a.round(2).tolist()
    [0.67, -0.67]
    """
    pull_a, pull_b = pulls
    U, N = len(pull_a), len(pull_b)
    require_bytes(32.0 * (U + N) * rank**2, f"rank={rank} for {U} users and {N} items")
    A, B = np.zeros((U, rank)), rng_of(random_state).standard_normal((N, rank))
    a, b, mu = np.zeros(U), np.zeros(N), 0.0
    history, cost = History("biased matrix factorisation", max_iter, tol, verbose), np.inf
    for _ in history:
        rest = rating - mu - a[row] - b[column]
        A = _factors(row, column, rest, B, ridge, U)
        B = _factors(column, row, rest, A, ridge, N)
        rest = rating - np.einsum("ef,ef->e", A[row], B[column])
        mu = float(np.mean(rest - a[row] - b[column]))
        a = _biases(row, rest - mu - b[column], pull_a)
        b = _biases(column, rest - mu - a[row], pull_b)
        penalty = ridge * (np.sum(A**2) + np.sum(B**2)) + np.sum(pull_a * a**2) + np.sum(pull_b * b**2)
        before, cost = cost, float(np.sum((rest - mu - a[row] - b[column]) ** 2) + penalty)
        history.record(cost, abs(before - cost) / max(cost, np.finfo(float).tiny))
    return BiasedFactors(mu, a, b, A, B, history.result())


def _biases(index: Ints, rest: Floats, pull: Floats) -> Floats:
    """Minimise the sum of (rest - a)^2 + pull a^2 for every user or item."""
    return np.asarray(np.bincount(index, rest, len(pull)) / (np.bincount(index, minlength=len(pull)) + pull))


def _factors(index: Ints, partner: Ints, rest: Floats, B: Floats, ridge: float, count: int) -> Floats:
    """Minimise the sum of (rest - <a, B_j>)^2 + ridge ||a||^2 for every user or item; return (count, F)."""
    shape, F = (count, len(B)), B.shape[1]
    if not F:
        return np.zeros((count, 0))
    who = sparse.csr_array((np.ones(len(rest)), (index, partner)), shape=shape)
    what = sparse.csr_array((rest, (index, partner)), shape=shape)
    squares = (B[:, :, None] * B[:, None, :]).reshape(len(B), F * F)
    G = (who @ squares).reshape(count, F, F) + ridge * np.eye(F)
    try:
        return np.asarray(np.linalg.solve(G, (what @ B)[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        raise CofactorError("ratings are so large that the ridge is lost in rounding: rescale the ratings") from None


# ---- checks ----


def _ids(name: str, values: ArrayLike) -> Ints:
    try:
        ids = unmasked(values)
    except ValueError as error:
        raise CofactorError(f"{name} ids must be a one-dimensional array of integers: {error}") from None
    if ids.ndim == 1 and ids.dtype.kind == "f" and (bad := np.flatnonzero(np.isnan(ids))).size:
        raise CofactorError(f"{name} ids are missing in rows {listing(bad.tolist())}: drop these rows")
    if ids.ndim != 1 or (ids.size and not np.issubdtype(ids.dtype, np.integer)):
        raise CofactorError(
            f"{name} ids must be a one-dimensional array of integers, got {ids.dtype} of shape {ids.shape}"
        )
    return ids.astype(np.int64)


def _check_ratings(user: Ints, item: Ints, rating: Floats) -> None:
    if not user.shape == item.shape == rating.shape:
        raise CofactorError(
            f"{len(user)} users, {len(item)} items and {rating.size} ratings: the lengths must be equal"
        )
    if not len(user):
        raise CofactorError("there are no ratings to learn from")
    bad = np.flatnonzero(~(np.abs(rating) < LARGEST_RATING))
    if bad.size:
        raise CofactorError(f"ratings in rows {listing(bad.tolist())} are not finite or too large: leave them out")


def _check_distinct(user: Ints, item: Ints, pair: Ints) -> None:
    _, first, count = np.unique(pair, return_index=True, return_counts=True)
    twice = first[count > 1]
    if twice.size:
        found = listing(f"user {user[e]}, item {item[e]}" for e in twice.tolist())
        raise CofactorError(f"rated more than once: {found}; keep only one rating of each")


def _places(ids: Ints, known: Ints) -> Ints:
    """Return positions among the known ids, -1 for unknown ids."""
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[place] == ids, place, -1)


RECOMMENDERS: dict[str, type[RatingPredictor]] = {
    "GlobalAverage": GlobalAverage,
    "UserAverage": UserAverage,
    "ItemAverage": ItemAverage,
    "BMF": BMF,
    "JointPMF": JointPMFRecommender,
}
