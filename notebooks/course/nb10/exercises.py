"""The exercises of notebook 10: groups that never meet, an interval from refits, how many labels are enough."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import connected_components

from cofactor.core.bootstrap import quantiles
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, Given, Part


class Groups(Exercise):
    """How many groups of workers never share a task."""

    hints = (
        "two workers meet where they share a task; a group is whoever can be reached by such meetings",
        "gave = scipy.sparse.coo_array((ones, (task, worker))).tocsr(); gave.T @ gave counts common tasks",
        "scipy.sparse.csgraph.connected_components(gave.T @ gave, directed=False)[0]",
    )
    praise = (
        "four groups: each can be aggregated by itself, none can be compared with another until some tasks link them"
    )

    def given(self) -> Given:
        teams = (0, 1, 2, 3), (4, 5, 6), (7, 8), (9,)  # a chain in each: neighbours share a task
        shared = [pair for team in teams for pair in pairwise(team)]
        task = np.repeat(np.arange(len(shared) + 1), [2] * len(shared) + [1])
        return {"task": task, "worker": np.array([*np.ravel(shared), 9])}

    def solve(self, task: Ints, worker: Ints) -> list[Part]:
        gave = np.zeros((task.max() + 1, worker.max() + 1))
        gave[task, worker] = 1
        together = gave.T @ gave
        n_groups = connected_components(together, directed=False)[0]
        apart = np.sum(together[np.triu_indices(len(together), 1)] == 0)
        alone = np.sum((together > 0).sum(axis=0) == 1)
        mistakes = {
            "these are pairs of workers without a common task; a third worker may link them": apart,
            "one group is missing: whoever meets nobody is a group, too": n_groups - 1,
            "this is how many workers meet nobody; workers who meet each other may still never meet the rest": alone,
            "this is the number of workers": len(together),
        }
        return [Part("groups", n_groups, mistakes)]


class Refits(Exercise):
    """The central interval that holds 90 % of the refits."""

    hints = (
        "nine of ten refits lie inside: how many lie below the lower end?",
        "5 % lie below and 5 % above: two quantiles",
        "np.quantile(refits, [0.05, 0.95])",
    )
    praise = "longer to the left than to the right: a worker near 100 % can only be overrated by a little"

    def given(self) -> Given:
        return {"estimate": 0.9, "refits": np.random.default_rng(10).beta(27, 3, 400)}

    def solve(self, estimate: float, refits: Floats) -> list[Part]:
        ends, sides = np.array(quantiles(refits, 0.9)), refits.std() * np.array([-1, 1])
        wide, narrow = np.quantile(refits, [0.025, 0.975]), np.quantile(refits, [0.1, 0.9])
        around_mean, normal, extremes = refits.mean() + sides, estimate + 1.645 * sides, [refits.min(), refits.max()]
        mistakes = {
            "this holds 95 % of the refits; asked is 90 %, so leave out 5 % at each end": wide,
            "this leaves out 10 % at each end, so it holds 80 %; leave out 5 % at each": narrow,
            "one standard deviation to each side holds about two thirds of the refits, not 90 %": around_mean,
            "symmetric about the estimate; near 100 % the refits are not: take their quantiles": normal,
            "these are the extremes, which grow with the number of refits; leave out 5 % at each end": extremes,
            "the lower end comes first": ends[::-1],
        }
        return [Part("interval", ends, mistakes)]


class Enough(Exercise):
    """The share of simulated crowds that get to an error, and the first amount at which nine of ten do."""

    hints = (
        "errors has a row per simulated crowd and a column per amount: compare it with what is wanted",
        "share = (errors <= wanted).mean(axis=0)",
        "amounts[np.argmax(share >= 0.9)] is the first amount at which nine of ten crowds get there",
    )
    praise = "the median answers what is likely, nine of ten what is safe; the difference is the price of a promise"

    def given(self) -> Given:
        rng = np.random.default_rng(3)
        amounts = np.arange(2, 13)
        level = 0.32 * np.exp(-0.33 * (amounts - 2)) * rng.lognormal(0, 0.28, (40, 1))
        errors = np.round(level * rng.lognormal(0, 0.1, (40, len(amounts))), 3)
        return {"amounts": amounts, "errors": errors, "wanted": 0.05}

    def solve(self, amounts: Ints, errors: Floats, wanted: float) -> list[Part]:
        share = (errors <= wanted).mean(axis=0)
        first = int(np.argmax(share >= 0.9))
        half = int(np.argmax(np.median(errors, axis=0) <= wanted))
        shares = {
            "this is the share that is not there yet": 1 - share,
            "these are numbers of crowds; give their share": share * len(errors),
            "this is the mean error; asked is which crowds get there": errors.mean(axis=0),
        }
        mistakes = {
            "with so many labels half of the crowds get there: your own may be in the other half": amounts[half],
            "this is a position in `amounts`; give the amount that stands there": first,
            "here every crowd gets there; nine of ten are enough": amounts[np.argmax(share >= 1)],
        }
        return [Part("share", share, shares), Part("amount", amounts[first], mistakes)]


EXERCISES = {"groups": Groups(), "refits": Refits(), "enough": Enough()}
