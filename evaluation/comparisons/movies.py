"""Beyond the paper: comparisons made from ratings of movies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.comparisons import (
    BradleyTerry,
    ComparisonMF,
    Comparisons,
    PreferenceModel,
    ndcg,
    pair_accuracy,
)
from cofactor.core.types import Ints
from cofactor.data import comparisons_from_ratings, load
from evaluation.comparisons.real import HERE, by_name, margins
from evaluation.declaration import experiment
from evaluation.experiment import Measurement, measure_each
from evaluation.released.comparisons import RatingMF, Ratings

MIN_RATINGS = 20  # of a movie
FIRST, SHARE = 20, 0.8  # ratings of a user to learn from: so many, or such a share of them
FEWEST = {"A": 30, "B": 20}  # ratings of a user who counts
MOST_PAIRS, MOST_ASKED = 600, 5_000  # of a user, to learn from and to predict
VALID = 0.2  # share of ratings to choose on
RANK = 5
RIDGES = (5.0, 15.0, 30.0, 60.0)
BIAS_RIDGES = (1.0, 3.0, 10.0, 30.0)
MF_RANKS = (0, 2, 5)


class Stars(Ratings):
    """Ratings of movies, their comparisons, and splits of them."""

    def take(self, chosen: NDArray[np.bool_]) -> Stars:
        """Return some of them."""
        return Stars(self.user[chosen], self.item[chosen], self.rating[chosen], self.sizes)

    def compared(self, seed: int, most: int = MOST_PAIRS) -> Comparisons:
        """Return their comparisons."""
        return comparisons_from_ratings(self.user, self.item, self.rating, most, *self.sizes, random_state=seed)

    def hidden(self, kept: Ints, rng: np.random.Generator) -> tuple[Stars, Stars]:
        """Split: `kept` random ratings of every user, and the others."""
        order = np.lexsort((rng.random(len(self.user)), self.user))
        count = np.bincount(self.user, minlength=self.sizes[0])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        learn = place < kept[self.user]
        return self.take(learn), self.take(~learn)


@cache
def stars(setting: str) -> Stars:
    """Ratings of movies with at least 20, by users with enough of them."""
    data = load("movielens_small", "ratings")
    movies, count = np.unique(data.item, return_counts=True)
    data = data.only(movies[count >= MIN_RATINGS], FEWEST[setting])
    users, user = np.unique(data.user, return_inverse=True)
    movies, item = np.unique(data.item, return_inverse=True)
    return Stars(user, item, data.rating.astype(np.float64), (len(users), len(movies)))


@dataclass(frozen=True)
class Case:
    """One split: ratings to learn from, to predict, and the first ones split once more, to choose on."""

    learn: Stars
    test: Stars
    fit: Stars
    valid: Stars
    seed: int


def case_of(setting: str, rng: np.random.Generator) -> Case:
    """Hide ratings: all but 20 of every user's (A), or a fifth (B)."""
    all_of_them = stars(setting)
    count = np.bincount(all_of_them.user, minlength=all_of_them.sizes[0])
    kept = np.full_like(count, FIRST) if setting == "A" else np.ceil(SHARE * count).astype(np.int64)
    learn, test = all_of_them.hidden(kept, rng)
    fit, valid = learn.hidden(np.ceil((1 - VALID) * kept).astype(np.int64), rng)
    return Case(learn, test, fit, valid, int(rng.integers(2**31)))


# ---- methods ----

Method = Callable[[Case], PreferenceModel]
Make = Callable[[], PreferenceModel]


def default(name: str, case: Case) -> PreferenceModel:
    """Fit a method to the comparisons, its ridges chosen on a tenth of them."""
    return by_name(name, case.learn.compared(case.seed), case.seed)


def best_of(makes: list[Make], case: Case) -> Make:
    """Return what orders the ratings held out to choose on best, having seen the others."""
    asked = case.valid.compared(case.seed)
    found = [pair_accuracy(margins(learnt(make, case.fit, case.seed), asked), asked.outcome) for make in makes]
    return makes[int(np.argmax(found))]


def learnt(make: Make, from_these: Stars, seed: int) -> PreferenceModel:
    """Fit to ratings, or to their comparisons."""
    model = make()
    return model.fit(from_these) if isinstance(model, RatingMF) else model.fit(from_these.compared(seed))


def ranking(case: Case) -> PreferenceModel:
    """One ranking for all, its ridge chosen on held-out ratings."""
    makes: list[Make] = [partial(BradleyTerry, ridge) for ridge in BIAS_RIDGES]
    return learnt(best_of(makes, case), case.learn, case.seed)


def personal(item_bias: bool, case: Case) -> PreferenceModel:
    """ComparisonMF, its ridges chosen on held-out ratings, that of biases first."""
    bias: dict[str, Any] = {"item_bias": False}
    if item_bias:
        ranked: list[Make] = [partial(BradleyTerry, ridge) for ridge in BIAS_RIDGES]
        bias = {"item_bias": True, "bias_ridge": best_of(ranked, case)().get_params()["ridge"]}
    makes: list[Make] = [partial(ComparisonMF, RANK, ridge=ridge, random_state=case.seed, **bias) for ridge in RIDGES]
    return learnt(best_of(makes, case), case.learn, case.seed)


def new_items(case: Case) -> PreferenceModel:
    """ComparisonMF, its ridges chosen on comparisons between movies hidden from the user."""
    mf = ComparisonMF(3, new_items=True, folds=1, random_state=case.seed)
    return mf.fit(case.learn.compared(case.seed))


def rated(ranks: tuple[int, ...], case: Case) -> PreferenceModel:
    """Matrix factorisation of the ratings themselves, its rank chosen on held-out ratings; rank 0 is the mean."""
    makes: list[Make] = [partial(RatingMF, rank, random_state=case.seed) for rank in ranks]
    return learnt(best_of(makes, case), case.learn, case.seed)


ON_RATINGS, ON_NEW = ", chosen on ratings", ", chosen on new items"
SLOW = ("ComparisonMF", "ComparisonMF-bias", "NuclearNormMLE")  # chosen on pairs; not in the quick profile
QUICK = 1
AT_ONCE: dict[str, Method] = {
    **{name: partial(default, name) for name in HERE if name not in SLOW},
    "BradleyTerry" + ON_RATINGS: ranking,
    "ComparisonMF" + ON_RATINGS: partial(personal, False),
    "ComparisonMF-bias" + ON_RATINGS: partial(personal, True),
    "ComparisonMF-bias" + ON_NEW: new_items,
    "item mean": partial(rated, (0,)),
    "RatingMF": partial(rated, MF_RANKS),
}
LATER: dict[str, Method] = {name: partial(default, name) for name in SLOW}


@experiment(
    "comparisons-movies",
    title="Comparisons made from ratings of movies",
    source="Beyond Sankagiri, Etesami and Grossglauser, ICML 2025",
    settings={"A": "20 ratings a user to learn from", "B": "80 % of ratings to learn from"},
    metrics={"accuracy": "%", "ndcg": "1"},
    trials=5,
    quick=1,
    full_only=["B"],
)
def movies(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One split: every method.

    MovieLens small, the 1,297 movies with 20 ratings or more. A: 20 ratings each of the 465 users with 30 or more; B:
    80 % of those of 566 users with 20 or more. Comparisons are pairs that a user rated differently, at most 600 a
    user; accuracy over pairs of hidden ratings, at most 5,000 a user, so that people with many ratings weigh most;
    NDCG@10 over hidden ratings, gain 2^r - 1. Ridges chosen on held-out pairs, a tenth, are far too small here: pairs
    made from the same ratings predict one another, and hidden ratings they do not. 'chosen on new items' hides movies
    from users instead, all else likewise: in A it finds that no features help. 'chosen on ratings': rank 5, ridges
    chosen on a fifth of the ratings to learn from. In A personalisation does not help: with ridges chosen on ratings
    or new items ComparisonMF-bias does as BradleyTerry does, with ridges chosen on pairs far worse. In B it helps by
    about a point, less than it helps to know the ratings (RatingMF). Not in the quick profile: B; ComparisonMF with
    ridges chosen on pairs, and NuclearNormMLE, which takes minutes.
    """
    case = case_of(setting, rng)
    asked = case.test.compared(case.seed + 1, MOST_ASKED)
    return measure_each(AT_ONCE | (LATER if trial >= QUICK else {}), lambda method: _scored(method, case, asked))


def _scored(method: Method, case: Case, asked: Comparisons) -> dict[str, float]:
    model, test = method(case), case.test
    score = np.einsum("ea,ea->e", model.user_factors_[test.user], model.item_factors_[test.item])
    return {
        "accuracy": 100 * pair_accuracy(margins(model, asked), asked.outcome),
        "ndcg": ndcg(test.user, test.rating, score + model.item_bias_[test.item]),
    }
