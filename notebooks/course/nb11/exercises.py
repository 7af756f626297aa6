"""The exercises of notebook 11: from workers who copy to what twenty checks cannot show."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course import seeds
from course.grading import Exercise, FunctionExercise, Given, Part, Trial, Verdict, called
from course.nb11.crowd import (
    BUDGET,
    CLASSES,
    CONSTANT,
    COPIES,
    GUIDE,
    N_TASKS,
    OTHERS,
    Drawn,
    differ,
    drawn,
    known,
    sold,
    split_evenly,
)
from course.nb11.unseen import Unseen

ENOUGH = 0.6  # of the gain of a good choice over a random one
NINETY = 1.645  # standard errors to each side of an interval of 90 %
CROWDS = 6  # on which a function that chooses is tried
MARKS = 400  # draws behind an expected accuracy
ORDERS = 100  # in which the tasks of a crowd are shown to a function that chooses
APART = 0.008  # of the largest entry: answers closer to each other are not told apart
FEWEST, MOSTLY = 3, 12  # tasks on which readings agree, in the mean: with fewer nothing holds the number there
TIED = 1e-9  # shares of votes closer than this are tied
UNEVEN = 0.05  # bias of an estimate, where the tasks bought are not like the others of their kind


def mine() -> Drawn:
    """The crowd of the learner's seed."""
    return drawn(seeds.current())


class Who(Exercise):
    """Which workers are of a kind: one or zero for each."""

    kind: str
    says: ClassVar[dict[str, tuple[str, ...]]]  # what is said, by the kinds of worker that an answer names

    def given(self) -> Given:
        return {"labels": mine().crowd.labels.table.codes.copy()}

    def solve(self, labels: Ints) -> list[Part]:
        crowd, asked = mine(), mine().are(self.kind)
        mistakes = {says: sum(crowd.are(kind) for kind in kinds) for says, kinds in self.says.items()}
        mistakes["these are all the others: True stands for those who are asked for"] = 1 - asked
        return [Part("who", asked, mistakes, "True or False")]


class Copies(Who):
    """Three workers who are one."""

    kind = COPIES
    hints = (
        "copies agree on every task that both labelled, also where they are wrong",
        "compare pairs: of the tasks where both labels are 0 or more, on which share are they the same?",
        "for each worker m: any(same[m, j] == 1 for j != m), where same is that share",
    )
    praise = "good workers agree often, copies always: three labels of theirs are one witness, and the default knows it"
    says: ClassVar = {
        "these agree with one another often, not always: each of them looks at the leaf": (GUIDE,),
        "among these are copies, and others who agree often; copies agree on every task: look for pairs that never differ": (
            GUIDE,
            COPIES,
        ),
        "these never change their answer, which is no copying: they agree with nobody more than chance": (CONSTANT,),
        "these are three who agree well since they are mostly right; copies agree on every task": (OTHERS,),
    }


class Constants(Who):
    """Two workers who always say one class."""

    kind = CONSTANT
    hints = (
        "count how often a worker gives each class",
        "a worker who gives one class only has one count that is not zero",
        "for each worker m: len(np.unique(labels[labels[:, m] >= 0, m])) == 1",
    )
    praise = "whatever the leaf is, their label is the same: it says nothing, and in a vote it still counts"
    says: ClassVar = {
        "these are the copies: they use all classes, though they guess half of the time": (COPIES,),
        "these use all classes, and agree with one another; somebody constant has one class only": (GUIDE,),
        "these use all classes; to be right less often than others is not to be constant": (OTHERS,),
        "among these are the copies, who agree with one another, but use all classes": (CONSTANT, COPIES),
    }


class Parted(Exercise):
    """On how many leaves the readings differ, two by two, and which kind of leaf model and one voice dispute."""

    hints = (
        "said = posteriors.argmax(axis=2) has the class of model and of one voice; the vote can be tied",
        "most = posteriors[0] == posteriors[0].max(axis=1, keepdims=True); most[np.arange(300), said[1]] is whether the "
        "model's class is among the tied ones",
        "the dispute: of the leaves with said[1] != said[2], the pair (said[1], said[2]) that occurs most often",
    )
    praise = "noise would scatter over all pairs of classes; one pair means two customs, each followed every time"

    def given(self) -> Given:
        return {"posteriors": mine().found.posteriors.copy()}

    def solve(self, posteriors: Floats) -> list[Part]:
        said, votes = posteriors.argmax(axis=2), posteriors[0]
        best = np.isclose(votes, votes.max(axis=1, keepdims=True), rtol=0, atol=TIED)
        off = [int((~best[np.arange(len(best)), own]).sum()) for own in said[1:]]
        leaves = np.array([*off, (said[1] != said[2]).sum()])
        first = np.array([*(said[1:] != said[0]).sum(axis=1), leaves[2]])
        counts = {
            "where classes tie in the vote, each of them is its label: here the first was taken": first,
            "these are the leaves on which they agree; asked is on how many they differ": len(best) - leaves,
            "these are shares; asked is how many leaves": leaves / len(best),
        }
        pair = disputed(said)
        kinds = {
            "the two are swapped: first the class of the model, then that of one voice": pair[::-1],
            "codes are counted from 0": pair + 1,
        }
        return [
            Part("leaves", leaves, _told(leaves, counts), "leaves"),
            Part("dispute", pair, _told(pair, kinds), "0, 1 or 2"),
        ]


def disputed(said: Ints) -> Ints:
    """Return the classes of model and one voice on the kind of leaf that they most often name differently."""
    table = np.zeros((len(CLASSES),) * 2)
    np.add.at(table, tuple(said[1:]), 1)
    np.fill_diagonal(table, 0)
    return np.array(np.unravel_index(table.argmax(), table.shape))


class Choose(FunctionExercise):
    """Which twenty tasks to buy: they tell the readings apart, and hold a number for the others."""

    hints = (
        "where all readings agree, the truth favours none of them; where they differ, it tells them apart",
        "split the budget: some tasks on which readings differ, some on which they agree; draw both at random",
        "said = posteriors.argmax(axis=2), apart = (said != said[0]).any(axis=0); then rng.choice(..., replace=False)",
    )
    praise = "half of the budget finds the right reading, and the other half says how far the rest can be relied on"
    few = (
        "these tasks find the right reading hardly more often than tasks drawn at random: take more on which readings "
        "differ"
    )
    none_agree = (
        "nearly all of these are tasks on which readings differ; nothing then holds your number for the others, where "
        "they agree: split the budget"
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
        return {"posteriors": mine().found.posteriors.copy(), "budget": BUDGET}

    def cases(self) -> list[Given]:
        return [{"posteriors": one.found.posteriors.copy(), "budget": BUDGET} for one in self._crowds()[1:]]

    def solve(self, posteriors: Floats, budget: int) -> list[Part]:
        return [Part("tasks", split_evenly(posteriors, budget), {})]

    def judge(self, answer: object) -> Verdict:
        """Judge the tasks by what they are good for, in six crowds, whose tasks come in several orders."""
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
        numbers = f"these are no task numbers from 0 to {N_TASKS - 1}; np.flatnonzero turns a mask into numbers"
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
    """The reading that has most of these tasks right; of several the model, then one voice."""
    return best_of((said[:, tasks] == truth[tasks]).sum(axis=1))


def best_of(right: Ints) -> int:
    """Return the reading with most right; of several the model, then one voice."""
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


def _told(answer: Floats | Ints, mistakes: dict[str, Any]) -> dict[str, Any]:
    """Leave out mistakes that come to nearly the answer, or another mistake, with these data."""
    kept: dict[str, Any] = {}
    for says, wrong in mistakes.items():
        if all(np.abs(wrong - other).max() > APART * np.abs(answer).max() for other in (answer, *kept.values())):
            kept[says] = wrong
    return kept


class Reading(Exercise):
    """How many of the tasks bought each reading has right, and the reading to take."""

    hints = (
        "truth is -1 where you bought nothing: leave these tasks out",
        "bought = truth >= 0, and then compare said[:, bought] with truth[bought], a row per reading",
        "right = (said[:, bought] == truth[bought]).sum(axis=1); the reading to take is right.argmax()",
    )
    praise = "a few checked tasks tell what no number of further labels would: which of two families to believe"

    def given(self) -> Given:
        return {"said": mine().said.copy(), "truth": known(seeds.current(), sold(seeds.current()))}

    def solve(self, said: Ints, truth: Ints) -> list[Part]:
        bought = truth >= 0
        right, n = (said == truth)[:, bought].sum(axis=1), int(bought.sum())
        taken = int(right.argmax())
        counts = {
            "these are counts of wrong labels; count those that are right": n - right,
            "these are shares; give the counts, of the tasks that you bought": right / n,
            "these are shares of all tasks, most of which you did not buy; give the counts": right / len(truth),
            "this compares the readings with the model, not with the truth": (said == said[1])[:, bought].sum(axis=1),
        }
        others = {
            says: number
            for number, says in enumerate(
                (
                    "this takes the vote, which has fewer of the checked tasks right: it counts copies as witnesses",
                    "this takes the model, which has fewer of the checked tasks right: it believes the larger family",
                    "this takes one voice, which has fewer of the checked tasks right: it believes the smaller family",
                )
            )
            if number != taken
        }
        return [Part("right", right, _told(right, counts), "tasks"), Part("reading", taken, others, "0, 1 or 2")]


class Defended(Exercise):
    """Accuracy of the reading taken, with an interval, from tasks bought in two groups."""

    hints = (
        "the groups have not the same share of all tasks: estimate each group by itself, then weigh with its share",
        "p = (right + 1/2) / (bought + 1) in each group, and the estimate is the sum of share * p",
        "s = sqrt(sum(share**2 * p * (1 - p) / (bought + 1))); low and high are 1.645 s away, and at most 1",
    )
    praise = "a number with an interval, from twenty tasks: it claims no more than was looked at"

    def given(self) -> Given:
        crowd, tasks = mine(), sold(seeds.current())
        truth = known(seeds.current(), tasks)
        right = (crowd.said[:, tasks] == truth[tasks]).sum(axis=1)
        return dict(
            zip(
                ("right", "bought", "share"),
                strata(crowd.said[right.argmax()], crowd.found.posteriors, truth, tasks),
                strict=True,
            )
        )

    def solve(self, right: Ints, bought: Ints, share: Floats) -> list[Part]:
        p, s = estimate(right, bought, share)
        pooled, n = right.sum() / bought.sum(), bought.sum()
        total = (right.sum() + 0.5) / (n + 1)
        mistakes = {
            "this pools both groups, but tasks on which readings differ are few, and you bought many: weigh by share": (
                _ends(total, np.sqrt(total * (1 - total) / (n + 1)))
            ),
            "this pools both groups, and the halves are missing in (1)": _ends(
                pooled, np.sqrt(pooled * (1 - pooled) / n)
            ),
            "1.96 standard errors hold 95 %; asked is 90 %": _ends(p, s, 1.96),
            "this is one standard error to each side, which holds 68 %; take 1.645": _ends(p, s, 1.0),
            "shares are squared in (2): the groups were checked apart": _ends(
                p, float(np.sqrt(share @ _spread(right, bought)))
            ),
            "both groups count alike here: weigh each with its share of all tasks": _ends(
                *estimate(right, bought, np.full(2, 0.5))
            ),
        }
        return [Part("interval", _ends(p, s), _told(_ends(p, s), mistakes), "shares")]


def _spread(right: Ints, bought: Ints) -> Floats:
    p = (right + 0.5) / (bought + 1)
    return np.asarray(p * (1 - p) / (bought + 1))


def _ends(p: float, s: float, errors: float = NINETY) -> Floats:
    """Estimate, low and high end."""
    return np.clip([p, p - errors * s, p + errors * s], 0.0, 1.0)


def estimate(right: Ints, bought: Ints, share: Floats) -> tuple[float, float]:
    """Return the accuracy and its standard error, Eqs. (1) and (2) of the notebook."""
    p = (right + 0.5) / (bought + 1)
    return float(share @ p), float(np.sqrt(share**2 @ _spread(right, bought)))


EXERCISES = {
    "copies": Copies(),
    "constants": Constants(),
    "parted": Parted(),
    "choose": Choose(),
    "reading": Reading(),
    "defended": Defended(),
    "unseen": Unseen(),
}

OBJECTIVES = (  # of the notebook, in its order: the exercises of each
    ("copies", "constants"),
    ("parted",),
    ("choose",),
    ("reading",),
    ("defended",),
    ("unseen",),
)
