"""The exercises of notebook 10 and its lab: a messy file, groups that never meet, intervals, plans."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.csgraph import connected_components

from cofactor.core.bootstrap import quantiles
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, FunctionExercise, Given, Part, told_apart
from course.nb10 import draws
from course.seeds import drawn, own

DEFINITIONS = 5e-3  # the definitions of a quantile that people use differ by less, here


def _together(task: Ints, worker: Ints) -> Ints:
    """Whether two workers, in the order of their ids, share a task."""
    row, column = (np.unique(ids, return_inverse=True)[1] for ids in (task, worker))
    gave = np.zeros((row.max() + 1, column.max() + 1), dtype=int)
    gave[row, column] = 1
    return np.asarray(gave.T @ gave > 0, dtype=np.intp)


def _n_groups(task: Ints, worker: Ints) -> int:
    return int(connected_components(_together(task, worker), directed=False)[0])


def _alone(task: Ints, worker: Ints) -> int:
    return int(np.sum(_together(task, worker).sum(axis=0) == 1))


def _one_pass(task: Ints, worker: Ints) -> int:
    """Groups of who meets whom, where two groups are not merged that meet only later in the file."""
    groups: list[set[int]] = []
    for n in dict.fromkeys(task.tolist()):
        team = set(worker[task == n].tolist())
        met = next((group for group in groups if group & team), None)
        groups = groups if met else [*groups, team]
        (met or team).update(team)
    return len(groups)


class Groups(FunctionExercise):
    """How many groups of workers never share a task."""

    hints = (
        "two workers are linked if they share a task; a group contains all workers that such links connect",
        "start with every worker in a group of one; go through the tasks, and merge the groups of all who share one",
        "group = {m: {m} for m in worker}; for each task, merge its workers' groups into one for every member",
    )
    praise = "each group can be aggregated separately, but groups cannot be compared until some tasks link them"
    wrong: ClassVar = {
        "these are pairs of workers without a common task; a third worker may link them": (
            lambda t, w: np.sum(np.triu(_together(t, w) == 0))
        ),
        "one group is missing: a single worker is a group as well": lambda t, w: _n_groups(t, w) - _alone(t, w),
        "this is the number of workers without a link; linked workers may still have no link to the rest": _alone,
        "a task can link two groups that were separate before: merge all groups of its workers": _one_pass,
        "this is the number of workers": lambda t, w: len(np.unique(w)),
        "this is the number of tasks": lambda t, w: len(np.unique(t)),
        "worker numbers have gaps: a number that never occurs is not a worker": (
            lambda t, w: _n_groups(t, w) + w.max() + 1 - len(np.unique(w))
        ),
    }

    def given(self) -> Given:
        return self._made(((0, 1, 2, 3), (4, 5, 6), (7, 8), (9,)), seed=1)

    def cases(self) -> list[Given]:
        crossed = {"task": np.array([0, 0, 1, 1, 2, 2]), "worker": np.array([5, 2, 8, 7, 2, 8])}
        twice = {"task": np.array([3, 3, 1, 3]), "worker": np.array([4, 4, 6, 9])}
        return [
            self._made((range(12),), own(2)),
            self._made(((0, 1), (5, 3, 9, 2), (4,), (7,)), own(3)),
            crossed,
            twice,
        ]

    def _made(self, teams: Any, seed: int) -> Given:
        """A chain in each team: neighbours share a task; whoever is alone has one; rows in any order."""
        rows = [pair for team in teams for pair in (pairwise(team) if len(team) > 1 else [team])]
        cells = np.array([(n, m) for n, row in enumerate(rows) for m in row])
        cells = np.random.default_rng(seed).permutation(cells)
        return {"task": cells[:, 0], "worker": cells[:, 1]}

    def solve(self, task: Ints, worker: Ints) -> list[Part]:
        return [Part("groups", _n_groups(task, worker), {})]


class Refits(Exercise):
    """The central interval that holds 90 % of the refits."""

    hints = (
        "nine of ten refits lie inside: how many lie below the lower end?",
        "5 % lie below and 5 % above: two quantiles",
        "np.quantile(refits, [0.05, 0.95])",
    )
    praise = "the interval is longer to the left than to the right, because a worker near 100 % has little room above"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            a, b = rng.integers(9, 16), rng.uniform(1.2, 1.8)
            return {"estimate": round(float(a / (a + b)) - 0.02, 2), "refits": rng.beta(a, b, 400)}

        return drawn(101, make, self._one_definition)

    def _one_definition(self, made: Given) -> bool:
        """Whether all definitions of a quantile are taken for right, and no mistake is."""
        (part,) = self.solve(**made)
        ends, scale = np.asarray(part.answer), float(np.max(part.answer))
        ways = ("inverted_cdf", "weibull", "hazen", "higher", "lower", "median_unbiased")
        others = [np.quantile(made["refits"], [0.05, 0.95], method=way) for way in ways]  # type: ignore[call-overload]
        near = all(np.abs(one - ends).max() < 0.8 * DEFINITIONS * scale for one in others)
        return near and all(np.abs(wrong - ends).max() > 3 * DEFINITIONS * scale for wrong in part.mistakes.values())

    def solve(self, estimate: float, refits: Floats) -> list[Part]:
        ends, spread, sides = np.array(quantiles(refits, 0.9)), refits.std(), np.array([-1, 1])
        wide, narrow = np.quantile(refits, [0.025, 0.975]), np.quantile(refits, [0.1, 0.9])
        extremes, of_mean = [refits.min(), refits.max()], refits.mean() + 1.645 * spread / len(refits) ** 0.5 * sides
        mistakes = {
            "this holds 95 % of the refits; the exercise asks for 90 %, so leave out 5 % at each end": wide,
            "this leaves out 10 % at each end, so it holds 80 %; leave out 5 % at each": narrow,
            "use the spread of the refits themselves: do not divide by the square root of their number": of_mean,
            "these are the extremes, which grow with the number of refits; leave out 5 % at each end": extremes,
            "the lower end comes first": ends[::-1],
        }
        for times in (1.645, 1.96, 1.0):
            said = "to each side are symmetric; near 100 % the refits are not: take their quantiles"
            mistakes[f"{times:g} standard deviations {said}"] = refits.mean() + times * spread * sides
            mistakes[f"{times:g} standard deviations about the estimate, {said}"] = estimate + times * spread * sides
        return [Part("interval", ends, mistakes, "shares", tolerance=DEFINITIONS)]


def planned_crowds(rng: np.random.Generator) -> Given:
    """Errors of 40 simulated crowds at 3 to 13 labels per task."""
    amounts = np.arange(3, 14)
    level = 0.32 * np.exp(-0.33 * (amounts - 3)) * rng.lognormal(0, 0.4, (40, 1))
    errors = np.round(level * rng.lognormal(0, 0.05, (40, len(amounts))), 3)
    return {"amounts": amounts, "errors": errors, "wanted": 0.05}


class Enough(Exercise):
    """The share of simulated crowds that get to an error, and the first amount at which nine of ten do."""

    hints = (
        "errors has a row per simulated crowd and a column per amount: compare it with the wanted error",
        "share = (errors <= wanted).mean(axis=0)",
        "amounts[np.argmax(share >= 0.9)] is the first amount at which nine of ten crowds reach the error",
    )
    praise = "half of the crowds need fewer labels, but a guarantee must hold for nearly all of them"

    def given(self) -> Given:
        return drawn(102, planned_crowds, lambda made: told_apart(self.solve(**made)) and self._is_a_lesson(made))

    def _is_a_lesson(self, made: Given) -> bool:
        """Whether median, mean, nine of ten and all get there at different amounts."""
        amount = self.solve(**made)[1]
        amounts = {int(np.asarray(amount.answer)), *(int(np.asarray(wrong)) for wrong in amount.mistakes.values())}
        return len(amounts) == 1 + len(amount.mistakes) and bool((made["errors"][:, -1] <= made["wanted"]).all())

    def solve(self, amounts: Ints, errors: Floats, wanted: float) -> list[Part]:
        share = (errors <= wanted).mean(axis=0)
        first = int(np.argmax(share >= 0.9))
        half = int(np.argmax(np.median(errors, axis=0) <= wanted))
        shares = {
            "this is the fraction of crowds that have not reached the error": 1 - share,
            "these are numbers of crowds; give the fraction": share * len(errors),
            "this is the mean error; the exercise asks for the fraction of crowds that reach the wanted error": (
                errors.mean(axis=0)
            ),
        }
        mean = int(np.argmax(errors.mean(axis=0) <= wanted))
        mistakes = {
            "with this amount, half of the crowds reach the error: your own may be in the other half": amounts[half],
            "with this amount, the mean error is low enough; a single crowd may be worse than the mean": amounts[mean],
            "this is a position in `amounts`; give the amount at that position": first,
            "with this amount, every crowd reaches the error; nine of ten are enough": amounts[np.argmax(share >= 1)],
        }
        return [
            Part("share", share, shares, "of the crowds"),
            Part("amount", amounts[first], mistakes, "labels per task"),
        ]


class Contradicted(Exercise):
    """How often raters contradict themselves in a messy file, and how many labels of each class are left."""

    hints = (
        'frame = pd.DataFrame(rows, columns=["message", "rater", "answer"]); first drop gaps, then write all '
        "in small letters",
        "a rater contradicts themselves if one message has two different answers of this rater: count such pairs",
        'frame.groupby(["message", "rater"])["answer"].agg(set).str.len() > 1; .drop_duplicates(["message", '
        '"rater"], keep="last")',
    )
    praise = "the order of steps matters: convert to lower case first, or a capital looks like a change of mind"

    def given(self) -> Given:
        return {"rows": draws.messy(own(51)).copy()}

    def solve(self, rows: Any) -> list[Part]:
        n, left = draws.contradictions(rows), np.array(draws.count_labels(rows))
        pairs = {
            "answers that differ only in capitals were counted: convert them to lower case first": (
                draws.contradictions(rows, capitals=True)
            ),
            "a gap that was filled later is no contradiction: drop the rows without an answer first": (
                draws.contradictions(rows, gaps=True)
            ),
            "the same answer given again is no contradiction: count different answers": (
                draws.contradictions(rows, again=True)
            ),
            "these are rows; the exercise asks for the number of pairs of a message and a rater": 2 * n,
        }
        whole = np.array(draws.count_labels(rows, "all"))
        labels = {
            "the first of a rater's two answers was kept; here the last counts": draws.count_labels(rows, "first"),
            "a corrected answer is still an answer: keep the last one": draws.count_labels(rows, "none"),
            "an answer that was given again, or corrected, counts once": whole,
            "these are fractions; the exercise asks for numbers": left / left.sum(),
        }
        return [Part("contradictions", n, pairs, "pairs"), Part("labels", left, labels, "labels")]


class Coverage(Exercise):
    """Whether intervals hold as often as they say, where those of one crowd hold or fail together."""

    hints = (
        "the fraction that holds is held.mean(); the crowds are independent, so use one fraction per crowd",
        "shares = held.mean(axis=1); the standard error of their mean is shares.std(ddof=1) / np.sqrt(len(shares))",
        "refuted: is 0.9 more than two standard errors away from the fraction? Give 1 or 0",
    )
    praise = (
        "fifteen workers of one crowd are overrated together, so there are twenty independent observations, not 300"
    )

    def given(self) -> Given:
        return {"held": draws.intervals_that_hold(own(53)).copy()}

    def solve(self, held: Ints) -> list[Part]:
        mean, error, naive = draws.coverage(held)
        refuted = int(draws.PROMISED - mean > 2 * error)
        by_crowd = held.mean(axis=1)
        shares = {
            "this is the fraction that does not hold": 1 - mean,
            "this is a count; the exercise asks for the fraction": held.sum(),
            "this is the fraction of crowds in which all intervals hold; take that of all intervals": held.all(
                axis=1
            ).mean(),
        }
        errors = {
            "this treats 300 intervals as independent; those of one crowd hold or fail together": naive,
            "this is the standard deviation over the crowds; divide by the square root of their number": (
                by_crowd.std(ddof=1)
            ),
            "this is the standard deviation of the zeros and ones": held.std(),
            "this is two standard errors; the exercise asks for one": 2 * error,
        }
        verdicts = {
            f"0.9 is {(draws.PROMISED - mean) / error:.1f} standard errors away: compare that with two": 1 - refuted,
            "this is a number of standard errors; the exercise asks whether it is more than two, 1 or 0": (
                (draws.PROMISED - mean) / error
            ),
        }
        return [
            Part("share", mean, shares, "of the intervals"),
            Part("standard error", error, errors, "of that share", tolerance=0.03),
            Part("refuted", refuted, verdicts, "1 or 0"),
        ]


EXERCISES = {
    "contradicted": Contradicted(),
    "groups": Groups(),
    "refits": Refits(),
    "enough": Enough(),
    "coverage": Coverage(),
}

OBJECTIVES = (("groups",), ("refits",), ("enough",))  # of the notebook, in its order: the exercises of each
LAB = ("contradicted", "coverage")  # exercises of the lab
