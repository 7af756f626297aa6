"""Beyond the paper: real comparisons, and comparisons made from ratings of movies. Held-out answers are predicted.

Three features and a ridge chosen on a single hold-out; and more features, chosen likewise. `practice` has the defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from cofactor.comparisons import METHODS, BradleyTerry, ComparisonMF, Comparisons, PreferenceModel, pair_accuracy
from cofactor.core.types import Floats
from cofactor.data import load
from evaluation.experiment import Measurement, measure_each

Fit = Callable[[Comparisons, int], PreferenceModel]

TEST = 0.2
RANKS = (3, 6, 12)


@cache
def answers(name: str) -> Comparisons:
    """Load comparisons once per process."""
    return load(name, "comparisons").comparisons


PERSONAL: dict[str, Callable[..., PreferenceModel]] = {  # three features; ridges chosen on one tenth, held out once
    "ComparisonMF": partial(ComparisonMF, 3, item_bias=False, folds=1),
    "ComparisonMF-bias": partial(ComparisonMF, 3, folds=1),
}
HERE = {**PERSONAL, **METHODS, **PERSONAL} | {"BradleyTerry": partial(BradleyTerry, folds=1)}


def by_name(name: str, data: Comparisons, seed: int) -> PreferenceModel:
    """Fit a method; where features do not help one without biases, it is left with nothing."""
    model = seeded(HERE[name](), seed).fit(data)
    if isinstance(model, ComparisonMF) and not model.item_bias:
        model.item_bias_ = np.zeros_like(model.item_bias_)
    return model


def seeded(model: PreferenceModel, seed: int) -> PreferenceModel:
    """Set the seed of what draws at random."""
    seeded_model: PreferenceModel = model.set_params(random_state=seed)
    return seeded_model


def of_rank(item_bias: bool, data: Comparisons, seed: int) -> PreferenceModel:
    """Fit ComparisonMF, the number of features chosen on held-out comparisons."""
    most = min(data.n_users, data.n_items) - 1
    ranks = sorted({min(rank, most) for rank in RANKS})
    return ComparisonMF(ranks, item_bias=item_bias, folds=1, random_state=seed).fit(data)


CHOSEN = "ComparisonMF-bias, rank chosen"
FITS: dict[str, Fit] = {**{name: partial(by_name, name) for name in HERE}, CHOSEN: partial(of_rank, True)}


def margins(model: PreferenceModel, data: Comparisons) -> Floats:
    """Differences of utilities, by codes: items may have names."""
    U, V, b = model.user_factors_, model.item_factors_, model.item_bias_
    personal = np.einsum("ka,ka->k", U[data.user], V[data.left] - V[data.right])
    return np.asarray(personal + b[data.left] - b[data.right])


def accuracy(fit: Fit, learn: Comparisons, test: Comparisons, seed: int) -> dict[str, float]:
    """Per cent of held-out comparisons whose winner has the higher utility."""
    return {"accuracy": 100 * pair_accuracy(margins(fit(learn, seed), test), test.outcome)}


def split(data: Comparisons, rng: np.random.Generator) -> tuple[Comparisons, Comparisons]:
    """Hold out a fifth of every user's pairs, all answers about a pair together."""
    low, high = np.minimum(data.left, data.right), np.maximum(data.left, data.right)
    pair = np.unique(np.stack([data.user, low, high]), axis=1, return_inverse=True)[1].ravel()
    out = rng.random(pair.max() + 1) < TEST
    return data.take(~out[pair]), data.take(out[pair])


def held_out(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One split: every method."""
    learn, test = split(answers(setting), rng)
    seed = int(rng.integers(2**31))
    return measure_each(FITS, lambda fit: accuracy(fit, learn, test, seed))


# ---- few answers a person ----

FEW_FITS: dict[str, Fit] = {
    name: partial(by_name, name) for name in ("BradleyTerry", "ComparisonMF", "ComparisonMF-bias")
}


def first_answers(data: Comparisons, count: int, rng: np.random.Generator) -> Comparisons:
    """Keep so many answers of every user, at random."""
    order = np.lexsort((rng.random(len(data)), data.user))
    place = np.arange(len(data)) - (np.cumsum(data.per_user) - data.per_user)[data.user]
    return data.take(order[place < count])


def few(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One split of which only so many answers of each user are learnt from."""
    name, count = setting.split(",n=")
    learn, test = split(answers(name), rng)
    kept = first_answers(learn, int(count), rng)
    seed = int(rng.integers(2**31))
    return measure_each(FEW_FITS, lambda fit: accuracy(fit, kept, test, seed))
