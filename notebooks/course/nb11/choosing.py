"""The exercise of notebook 11 in which the learner chooses the tasks to buy, and what a choice of tasks is good for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course import seeds
from course.grading import FunctionExercise, Given, Part, Trial, Verdict, called
from course.nb11.crowd import BUDGET, N_TASKS, Drawn, differ, drawn, split_evenly

ENOUGH = 0.6  # of the gain of a good choice over a random one
CROWDS = 4  # on which a function that chooses is tried
MARKS = 400  # draws behind an expected accuracy
ORDERS = 100  # in which the tasks of a crowd are shown to a function that chooses
FEWEST, MOSTLY = 3, 12  # tasks on which readings agree, in the mean: with fewer nothing holds the number there
UNEVEN = 0.05  # bias of an estimate, where the tasks bought are not like the others of their kind


class Choose(FunctionExercise):
    """Which twenty tasks to buy: they tell the readings apart, and hold a number for the others."""

    hints = (
        "if all readings agree on a task, its truth favours none of them; if they differ, it distinguishes them",
        "split the budget: some tasks on which readings differ, some on which they agree; draw both at random",
        "said = posteriors.argmax(axis=2), apart = (said != said[0]).any(axis=0); then rng.choice(..., replace=False)",
    )
    praise = "half of the budget finds the right reading, and the other half shows how reliable the rest is"
    few = (
        "these tasks find the right reading hardly more often than tasks drawn at random: take more on which readings "
        "differ"
    )
    none_agree = (
        "nearly all of these are tasks on which readings differ; nothing then supports your number for the others, "
        "where they agree: split the budget"
    )
    uneven = (
        "these tasks are harder or easier than others of their kind, and an accuracy counted on them is not that of "
        "the rest: draw at random where readings differ, and where they agree"
    )
    wrong: ClassVar = {
        few: lambda p, n: np.random.default_rng(0).choice(p.shape[1], n, replace=False),
        none_agree: lambda p, n: np.random.default_rng(0).permutation(np.flatnonzero(differ(p)))[:n],
        uneven: lambda p, n: p[1].max(axis=1).argsort(kind="stable")[:n],
    }

    def given(self) -> Given:
        return {"posteriors": drawn(seeds.current()).found.posteriors.copy(), "budget": BUDGET}

    def cases(self) -> list[Given]:
        return [{"posteriors": one.found.posteriors.copy(), "budget": BUDGET} for one in self._crowds()[1:]]

    def solve(self, posteriors: Floats, budget: int) -> list[Part]:
        return [Part("tasks", split_evenly(posteriors, budget), {})]

    def judge(self, answer: object) -> Verdict:
        """Judge the tasks by what they are good for, in four crowds, whose tasks come in several orders."""
        tried = self.tried(answer)
        if isinstance(tried, Verdict):
            return tried
        try:
            for trial in tried:
                _checked(trial)
            lacks = self._lacks(answer)
        except _NoChoice as trouble:
            return Verdict(False, f"not yet: {str(trouble).removeprefix('not yet: ')}")
        return Verdict(not lacks, f"not yet: {lacks}" if lacks else f"correct: {self.praise}")

    def _crowds(self) -> list[Drawn]:
        return [drawn(seeds.current(), number) for number in range(CROWDS)]

    def _lacks(self, answer: Any) -> str:
        """What the tasks chosen are not good for, in the mean over crowds and orders."""
        found = [_outcomes(crowd, answer) for crowd in self._crowds()]
        accuracy, agreeing, bias = np.mean(found, axis=0)
        low, high = np.mean([_marks(seeds.current(), number) for number in range(CROWDS)], axis=0)
        low_gain = accuracy < low + ENOUGH * (high - low)
        if low_gain and agreeing > MOSTLY:
            return self.few
        if agreeing < FEWEST:
            return self.none_agree
        if abs(bias) > UNEVEN:
            return self.uneven
        return self.few if low_gain else ""


class _NoChoice(Exception):
    """An answer is no choice of as many tasks; the message says why."""


def _checked(trial: Trial) -> Ints:
    """The tasks chosen, as whole numbers."""
    (tasks,) = trial.found
    if (tasks != np.rint(tasks)).any() or tasks.min() < 0 or tasks.max() >= N_TASKS:
        numbers = f"these are no task numbers from 0 to {N_TASKS - 1}; np.flatnonzero converts a mask to numbers"
        raise _NoChoice(f"{trial.where}, {numbers}")
    if len(np.unique(tasks)) < len(tasks):
        raise _NoChoice(f"{trial.where}, a task is chosen twice: rng.choice(..., replace=False)")
    return tasks.astype(np.int64)


def _chosen(choose: Any, posteriors: Floats) -> Ints:
    """What a learner's function chooses of tasks in another order."""
    case, where = {"posteriors": posteriors, "budget": BUDGET}, "with the tasks in another order"
    parts = [Part("tasks", np.zeros(BUDGET), {})]
    found, trouble = called(choose, case, parts, where)
    if trouble:
        raise _NoChoice(trouble)
    return _checked(Trial(where, case, parts, found))


def _outcomes(crowd: Drawn, choose: Any) -> Floats:
    """Accuracy of the labels then, tasks bought where readings agree, bias of the estimate; means over the orders."""
    rng, found = np.random.default_rng(0), []
    P, truth, said = crowd.found.posteriors, crowd.crowd.truth, crowd.said
    for _ in range(ORDERS):
        order = rng.permutation(N_TASKS)
        tasks = order[_chosen(choose, P[:, order])]
        taken = said[_taken(said, truth, tasks)]
        right, bought, share = strata(taken, P, truth, tasks)
        counted = share @ (right / np.maximum(bought, 1))
        found.append((_after(taken, truth, tasks), bought[1], counted - (taken == truth).mean()))
    return np.asarray(np.mean(found, axis=0))


def _taken(said: Ints, truth: Ints, tasks: Ints) -> int:
    """The reading that has most of these tasks right; of several the model, then merged."""
    return best_of((said[:, tasks] == truth[tasks]).sum(axis=1))


def best_of(right: Ints) -> int:
    """Return the reading with most right; of several the model, then merged."""
    return max((1, 2, 0), key=lambda reading: int(right[reading]))


def _after(ours: Ints, truth: Ints, tasks: Ints) -> float:
    """Share of right labels, once the tasks that were bought are put in."""
    return float(((ours == truth).sum() + (ours != truth)[tasks].sum()) / len(truth))


@lru_cache(maxsize=128)
def _marks(seed: str, number: int) -> tuple[float, float]:
    """Expected accuracy of labels with twenty tasks drawn at random, and with half of them where readings differ."""
    crowd, rng = drawn(seed, number), np.random.default_rng(1)
    said, truth, apart = crowd.said, crowd.crowd.truth, np.flatnonzero(differ(crowd.found.posteriors))
    agree, found = np.setdiff1d(np.arange(N_TASKS), apart), []
    for _ in range(MARKS):
        some = rng.permutation(N_TASKS)[:BUDGET]
        split = np.append(rng.permutation(apart)[: BUDGET // 2], rng.permutation(agree)[: BUDGET // 2])
        found.append([_after(said[_taken(said, truth, t)], truth, t) for t in (some, split)])
    low, high = np.mean(found, axis=0)
    return float(low), float(high)


def strata(ours: Ints, posteriors: Floats, truth: Ints, tasks: Ints) -> tuple[Ints, Ints, Floats]:
    """Right and bought tasks, and the share of all tasks, where readings differ and where they agree."""
    apart = differ(posteriors)
    masks = np.stack([apart, ~apart])
    bought = masks[:, tasks].sum(axis=1)
    right = (masks[:, tasks] & (ours[tasks] == truth[tasks])).sum(axis=1)
    return right, bought, masks.mean(axis=1)
