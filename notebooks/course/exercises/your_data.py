"""The exercises of notebook 10: groups that never meet, an interval from refits, how many labels are enough."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from cofactor.core.bootstrap import quantiles
from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part

WANTED, ENOUGH = 0.05, 0.9


def _groups_given() -> Given:
    teams = [(0, 1, 2, 3), (4, 5, 6), (7, 8), (9,)]  # a chain in each: neighbours share a task
    shared = [pair for team in teams for pair in pairwise(team)]
    task = [n for n in range(len(shared)) for _ in range(2)] + [len(shared)]
    worker = [m for pair in shared for m in pair] + [9]
    return {"task": np.array(task), "worker": np.array(worker)}


def _together(g: Given) -> NDArray[np.int64]:
    """(workers, workers) tasks in common."""
    gave = sparse.coo_array((np.ones(len(g["task"]), dtype=np.int64), (g["task"], g["worker"]))).tocsr()
    return np.asarray((gave.T @ gave).toarray())


def _groups(g: Given) -> int:
    return int(connected_components(sparse.csr_array(_together(g)), directed=False)[0])


def _pairs_apart(g: Given) -> int:
    together = _together(g)
    return int(np.sum(together[np.triu_indices(len(together), 1)] == 0))


GROUPS = Exercise(
    _groups_given,
    (
        Part(
            "groups",
            _groups,
            (
                Mistake(_pairs_apart, "these are pairs of workers without a common task; a third worker may link them"),
                Mistake(lambda g: _groups(g) - 1, "one group is missing: whoever meets nobody is a group, too"),
                Mistake(
                    lambda g: int(np.sum((_together(g) > 0).sum(axis=0) == 1)),
                    "this is how many workers meet nobody; workers who meet each other may still never meet the rest",
                ),
                Mistake(lambda g: len(np.unique(g["worker"])), "this is the number of workers"),
            ),
        ),
    ),
    (
        "two workers meet where they share a task; a group is whoever can be reached by such meetings",
        "gave = scipy.sparse.coo_array((ones, (task, worker))).tocsr(); gave.T @ gave counts common tasks",
        "scipy.sparse.csgraph.connected_components(gave.T @ gave, directed=False)[0]",
    ),
    "four groups: each can be aggregated by itself, none can be compared with another until some tasks link them",
)


def _refits_given() -> Given:
    rng = np.random.default_rng(10)
    return {"estimate": 0.9, "refits": rng.beta(27, 3, 400)}


def _interval(g: Given) -> Floats:
    return np.array(quantiles(g["refits"], 0.9))


REFITS = Exercise(
    _refits_given,
    (
        Part(
            "interval",
            _interval,
            (
                Mistake(
                    lambda g: np.quantile(g["refits"], [0.025, 0.975]),
                    "this holds 95 % of the refits; asked is 90 %, so leave out 5 % at each end",
                ),
                Mistake(
                    lambda g: np.quantile(g["refits"], [0.1, 0.9]),
                    "this leaves out 10 % at each end, so it holds 80 %; leave out 5 % at each",
                ),
                Mistake(
                    lambda g: g["refits"].mean() + np.array([-1, 1]) * g["refits"].std(),
                    "one standard deviation to each side holds about two thirds of the refits, not 90 %",
                ),
                Mistake(
                    lambda g: g["estimate"] + np.array([-1, 1]) * 1.645 * g["refits"].std(),
                    "symmetric about the estimate; near 100 % the refits are not: take their quantiles",
                ),
                Mistake(
                    lambda g: np.array([g["refits"].min(), g["refits"].max()]),
                    "these are the extremes, which grow with the number of refits; leave out 5 % at each end",
                ),
                Mistake(lambda g: _interval(g)[::-1], "the lower end comes first"),
            ),
        ),
    ),
    (
        "nine of ten refits lie inside: how many lie below the lower end?",
        "5 % lie below and 5 % above: two quantiles",
        "np.quantile(refits, [0.05, 0.95])",
    ),
    "longer to the left than to the right: a worker near 100 % can only be overrated by a little",
)


def _enough_given() -> Given:
    rng = np.random.default_rng(3)
    amounts = np.arange(2, 13)
    level = 0.32 * np.exp(-0.33 * (amounts - 2)) * rng.lognormal(0, 0.28, (40, 1))
    return {
        "amounts": amounts,
        "errors": np.round(level * rng.lognormal(0, 0.1, (40, len(amounts))), 3),
        "wanted": WANTED,
    }


def _share(g: Given) -> Floats:
    return np.asarray((g["errors"] <= g["wanted"]).mean(axis=0))


def _first(g: Given, reached: NDArray[np.bool_]) -> float:
    return float(g["amounts"][np.argmax(reached)])


ENOUGH_LABELS = Exercise(
    _enough_given,
    (
        Part(
            "share",
            _share,
            (
                Mistake(lambda g: 1 - _share(g), "this is the share that is not there yet"),
                Mistake(lambda g: _share(g) * len(g["errors"]), "these are numbers of crowds; give their share"),
                Mistake(lambda g: g["errors"].mean(axis=0), "this is the mean error; asked is which crowds get there"),
            ),
        ),
        Part(
            "amount",
            lambda g: _first(g, _share(g) >= ENOUGH),
            (
                Mistake(
                    lambda g: _first(g, np.median(g["errors"], axis=0) <= g["wanted"]),
                    "with so many labels half of the crowds get there: your own may be in the other half",
                ),
                Mistake(
                    lambda g: float(np.argmax(_share(g) >= ENOUGH)),
                    "this is a position in `amounts`; give the amount that stands there",
                ),
                Mistake(lambda g: _first(g, _share(g) >= 1), "here every crowd gets there; nine of ten are enough"),
            ),
        ),
    ),
    (
        "errors has a row per simulated crowd and a column per amount: compare it with what is wanted",
        "share = (errors <= wanted).mean(axis=0)",
        "amounts[np.argmax(share >= 0.9)] is the first amount at which nine of ten crowds get there",
    ),
    "the median answers what is likely, nine of ten what is safe; the difference is the price of a promise",
)


EXERCISES = {"groups": GROUPS, "refits": REFITS, "enough": ENOUGH_LABELS}
