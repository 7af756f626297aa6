"""Tables 12 to 14: predicting movie ratings from a joint PMF of the ratings of all movies of a genre.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints
from cofactor.data import load, movie_lists
from cofactor.pmf import METHODS, JointPMFEstimator
from cofactor.pmf.ratings import BMF, GlobalAverage, ItemAverage, JointPMFRecommender, RatingPredictor, UserAverage
from evaluation.experiment import PAPER_PROTOCOL, Measurement, experiment, measure_each
from evaluation.pmf.real import unsmoothed
from evaluation.released.pmf import Released, ReleasedBMF, ReleasedCTD, ReleasedEM, ReleasedOPT, ReleasedRecommender

P = PAPER_PROTOCOL

LISTS = {"action": "action30", "animation": "animation30", "romance": "romance30"}
MIN_RATINGS = 5  # of the movies in the list, by a user who counts
SHARES = (0.5, 0.7)  # where validation and test ratings begin
RANKS = (5, 10, 15, 20, 25)
SMALL_RANKS = (2, 4, 8, 12)
PSEUDO_COUNTS = (0.1, 0.5, 2.0)
MF_RANKS = (5, 10, 15, 20)
MF_RIDGES, MF_BIAS_RIDGES = (3.0, 10.0, 30.0), (2.0, 5.0)
RELEASED_TOL = 1e-4  # of CNMF-OPT


@dataclass(frozen=True)
class Known:
    """Ratings: users, items, stars."""

    user: Ints
    item: Ints
    rating: Floats

    def take(self, chosen: Ints | NDArray[np.bool_]) -> Known:
        """Return some of them."""
        return Known(self.user[chosen], self.item[chosen], self.rating[chosen])

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats]:
        """As predictors want them."""
        return self.user, self.item, self.rating


@lru_cache(maxsize=3)
def stars(setting: str) -> Known:
    """Ratings of the movies of a list by users who rated at least five, halves rounded up to whole stars."""
    data = load("movielens_small", "ratings").only(movie_lists()[LISTS[setting]], MIN_RATINGS)
    rounded = np.floor(data.rating.astype(np.float64) + 0.5)
    return Known(data.user.astype(np.int64), data.item.astype(np.int64), rounded)


@dataclass(frozen=True)
class Hidden:
    """One trial: ratings to learn from, to choose on, and to predict."""

    fit: Known
    valid: Known
    test: Known
    seed: int


def hide(ratings: Known, rng: np.random.Generator) -> Hidden:
    """Split ratings 50:20:30; those of users without a rating to learn from are not asked for, as in the paper."""
    order = rng.permutation(len(ratings.rating))
    cuts = [round(share * len(order)) for share in SHARES]
    fit, valid, test = (ratings.take(part) for part in np.split(order, cuts))
    valid, test = (part.take(np.isin(part.user, fit.user)) for part in (valid, test))
    return Hidden(fit, valid, test, int(rng.integers(2**31)))


# ---- methods: from what is known to a fitted predictor ----


def best_on(valid: Known, candidates: Iterable[RatingPredictor]) -> RatingPredictor:
    """Return the fitted predictor with the lowest RMSE on ratings held out; the first of equals."""
    return min(candidates, key=lambda one: one.errors(*valid.arrays)[0])


Method = Callable[[Hidden], RatingPredictor]
Make = Callable[..., JointPMFEstimator]  # of rank


def plain(make: Callable[[], RatingPredictor], case: Hidden) -> RatingPredictor:
    """Fit what has nothing to choose."""
    return make().fit(*case.fit.arrays)


def factorised(released: bool, case: Hidden) -> RatingPredictor:
    """Biased matrix factorisation, its parameters chosen on validation ratings."""
    found: list[RatingPredictor]
    if released:
        found = [ReleasedBMF(rank, random_state=case.seed) for rank in MF_RANKS]
    else:
        found = [BMF(0, bias_ridge=ridge) for ridge in MF_BIAS_RIDGES]
        found += [BMF(5, *both, random_state=case.seed) for both in product(MF_RIDGES, MF_BIAS_RIDGES)]
    return best_on(case.valid, [one.fit(*case.fit.arrays) for one in found])


def without_biases(estimator: JointPMFEstimator, released: bool = False) -> RatingPredictor:
    """Recommend as in the paper."""
    return ReleasedRecommender(estimator) if released else JointPMFRecommender(estimator, biases=False)


def fitted(makes: Sequence[Make], ranks: Sequence[int], released: bool, case: Hidden) -> Iterator[RatingPredictor]:
    """Fit recommenders of every kind and rank; ranks that a method refuses are left out."""
    for make, rank in product(makes, ranks):
        try:
            yield without_biases(make(rank=rank, random_state=case.seed), released).fit(*case.fit.arrays)
        except CofactorError:
            if rank == ranks[0]:
                raise


def recommended(makes: Sequence[Make], ranks: Sequence[int], released: bool, case: Hidden) -> RatingPredictor:
    """Recommend with the rank that does best on validation ratings."""
    return best_on(case.valid, fitted(makes, ranks, released, case))


def worst_rank(make: Make, ranks: Sequence[int], case: Hidden) -> RatingPredictor:
    """Recommend with the rank that does worst on validation ratings: an oversight in the released scripts."""
    found = list(fitted([make], ranks, True, case))
    return max(found, key=lambda one: one.errors(*case.valid.arrays)[0])


EM_OF_RELEASED = ReleasedEM
CTD_OF_RELEASED = partial(ReleasedCTD, script="ratings", pseudo_count=0)
SMOOTHED = [partial(METHODS["RAND-EM"], pseudo_count=alpha) for alpha in PSEUDO_COUNTS]
AT_ONCE: dict[str, Method] = {
    "GlobalAverage": partial(plain, GlobalAverage),
    "UserAverage": partial(plain, UserAverage),
    "MovieAverage": partial(plain, ItemAverage),
    "Independence": partial(plain, lambda: without_biases(unsmoothed("Independence")())),
    "Constant": partial(plain, lambda: without_biases(METHODS["Constant"](rank=1))),
    "BMF": partial(factorised, False),
    "BMF" + P: partial(factorised, True),
    "CNMF-SPA": partial(recommended, [unsmoothed("CNMF-SPA")], RANKS, False),
    "CNMF-SPA" + P: partial(recommended, [Released], RANKS, True),
    "CNMF-OPT": partial(recommended, [unsmoothed("CNMF-OPT")], RANKS, False),
    "CNMF-SPA-EM": partial(recommended, [partial(METHODS["CNMF-SPA-EM"], pseudo_count=0.5)], RANKS, False),
    "CNMF-SPA-EM (best rank)": partial(recommended, [EM_OF_RELEASED], RANKS, True),
    "CNMF-SPA-EM" + P: partial(worst_rank, EM_OF_RELEASED, RANKS),
    "MAP-EM": partial(recommended, SMOOTHED, SMALL_RANKS, False),
    "CTD": partial(recommended, [unsmoothed("CTD")], RANKS, False),
    "CTD (best rank)": partial(recommended, [CTD_OF_RELEASED], RANKS, True),
    "CTD" + P: partial(worst_rank, CTD_OF_RELEASED, RANKS),
}
MIRROR = partial(ReleasedOPT, uniform_prior=True, tol=RELEASED_TOL)
LATER: dict[str, Method] = {  # take most of the time: not in the first trial
    "CNMF-OPT" + P: partial(recommended, [MIRROR], RANKS, True),
}
QUICK = 1


@experiment(
    "pmf-table12",
    title="Table 12: ratings of action movies",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 12",
    settings={"action": "action movies"},
    metrics={"rmse": "1", "mae": "1"},
    trials=20,
    published="pmf_table12",
)
@experiment(
    "pmf-table13",
    like="pmf-table12",
    title="Table 13: ratings of animation movies",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 13",
    settings={"animation": "animation movies"},
    published="pmf_table13",
)
@experiment(
    "pmf-table14",
    like="pmf-table12",
    title="Table 14: ratings of romance movies",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 14",
    settings={"romance": "romance movies"},
    published="pmf_table14",
)
def recommend(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Tables 12 to 14: other ratings hidden."""
    case = hide(stars(setting), rng)
    return measure_each(AT_ONCE | (LATER if trial >= QUICK else {}), lambda method: _scored(method, case))


def _scored(method: Method, case: Hidden) -> dict[str, float]:
    rmse, mae = method(case).errors(*case.test.arrays)
    return {"rmse": rmse, "mae": mae}
