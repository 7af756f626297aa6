"""The exercises of notebook 11: from workers who copy to what twenty checks cannot show."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course import seeds
from course.grading import Exercise, Given, Part
from course.nb11.choosing import Choose, strata
from course.nb11.crowd import (
    CLASSES,
    CONSTANT,
    COPIES,
    GUIDE,
    OTHERS,
    Drawn,
    drawn,
    known,
    sold,
)
from course.nb11.unseen import Unseen

NINETY = 1.645  # standard errors to each side of an interval of 90 %
APART = 0.008  # of the largest entry: answers closer to each other are not told apart
TIED = 1e-9  # shares of votes closer than this are tied


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
        mistakes["these are all the other workers: mark the ones asked for with True"] = 1 - asked
        return [Part("who", asked, mistakes, "True or False")]


class Copies(Who):
    """Three workers who are one."""

    kind = COPIES
    hints = (
        "copies agree on every task that both labelled, also where they are wrong",
        "compare pairs: on which fraction of the tasks where both labels are 0 or more are they the same?",
        "for each worker m: any(same[m, j] == 1 for j != m), where same is that share",
    )
    praise = "good workers agree often, copies always: the default counts the labels of copies as one"
    says: ClassVar = {
        "these workers often agree with one another, but not always: each of them looks at the leaf": (GUIDE,),
        "among these are copies, and others who agree often; copies agree on every task: look for pairs that "
        "never differ": (GUIDE, COPIES),
        "these workers never change their answer, which is not copying: they agree with others only by chance": (
            (CONSTANT,)
        ),
        "these three workers agree well because they are mostly right; copies agree on every task": (OTHERS,),
    }


class Constants(Who):
    """Two workers who always say one class."""

    kind = CONSTANT
    hints = (
        "count how often a worker gives each class",
        "a worker who gives only one class has a single count that is not zero",
        "for each worker m: len(np.unique(labels[labels[:, m] >= 0, m])) == 1",
    )
    praise = "their label is the same for every leaf, so it is uninformative, but it still counts in a vote"
    says: ClassVar = {
        "these are the copies: they use all classes, though they guess half of the time": (COPIES,),
        "these workers use all classes and agree with one another; a constant worker uses only one class": (GUIDE,),
        "these workers use all classes; being right less often than others is not being constant": (OTHERS,),
        "among these are the copies, who agree with one another, but use all classes": (CONSTANT, COPIES),
    }


class Parted(Exercise):
    """On how many leaves the readings differ, two by two, and which kind of leaf model and merged dispute."""

    hints = (
        "said = posteriors.argmax(axis=2) has the class of model and of merged; the vote can be tied",
        "most = posteriors[0] == posteriors[0].max(axis=1, keepdims=True); most[np.arange(300), said[1]] is whether "
        "the model's class is among the tied ones",
        "the dispute: of the leaves with said[1] != said[2], the pair (said[1], said[2]) that occurs most often",
    )
    praise = "noise would affect all pairs of classes; a single pair means two conventions, each followed consistently"

    def given(self) -> Given:
        return {"posteriors": mine().found.posteriors.copy()}

    def solve(self, posteriors: Floats) -> list[Part]:
        said, votes = posteriors.argmax(axis=2), posteriors[0]
        best = np.isclose(votes, votes.max(axis=1, keepdims=True), rtol=0, atol=TIED)
        off = [int((~best[np.arange(len(best)), own]).sum()) for own in said[1:]]
        leaves = np.array([*off, (said[1] != said[2]).sum()])
        first = np.array([*(said[1:] != said[0]).sum(axis=1), leaves[2]])
        counts = {
            "if classes tie in the vote, each of them is its label: here only the first was used": first,
            "these are the leaves on which they agree; the exercise asks for the number on which they differ": (
                len(best) - leaves
            ),
            "these are fractions; the exercise asks for numbers of leaves": leaves / len(best),
        }
        pair = disputed(said)
        kinds = {
            "the two are swapped: first the class of the model, then that of merged": pair[::-1],
            "codes are counted from 0": pair + 1,
        }
        return [
            Part("leaves", leaves, _told(leaves, counts), "leaves"),
            Part("dispute", pair, _told(pair, kinds), "0, 1 or 2"),
        ]


def disputed(said: Ints) -> Ints:
    """Return the classes of model and merged on the kind of leaf that they most often name differently."""
    table = np.zeros((len(CLASSES),) * 2)
    np.add.at(table, tuple(said[1:]), 1)
    np.fill_diagonal(table, 0)
    return np.array(np.unravel_index(table.argmax(), table.shape))


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
    praise = "a few checked tasks show which of two families to trust, which no number of further labels could show"

    def given(self) -> Given:
        return {"said": mine().said.copy(), "truth": known(seeds.current(), sold(seeds.current()))}

    def solve(self, said: Ints, truth: Ints) -> list[Part]:
        bought = truth >= 0
        right, n = (said == truth)[:, bought].sum(axis=1), int(bought.sum())
        taken = int(right.argmax())
        counts = {
            "these are counts of wrong labels; count those that are right": n - right,
            "these are fractions; give the counts, for the tasks that you bought": right / n,
            "these are fractions of all tasks, most of which you did not buy; give the counts": right / len(truth),
            "this compares the readings with the model, not with the truth": (said == said[1])[:, bought].sum(axis=1),
        }
        others = {
            says: number
            for number, says in enumerate(
                (
                    "this chooses the vote, with fewer checked tasks right: it counts copies as independent",
                    "this chooses the model, with fewer checked tasks right: it believes the larger family",
                    "this chooses merged, with fewer checked tasks right: it believes the smaller family",
                )
            )
            if number != taken
        }
        return [Part("right", right, _told(right, counts), "tasks"), Part("reading", taken, others, "0, 1 or 2")]


class Defended(Exercise):
    """Accuracy of the reading taken, with an interval, from tasks bought in two groups."""

    hints = (
        "the groups are different fractions of all tasks: estimate each separately, then weight by fraction",
        "p = (right + 1/2) / (bought + 1) in each group, and the estimate is the sum of share * p",
        "s = sqrt(sum(share**2 * p * (1 - p) / (bought + 1))); low and high are 1.645 s away, and at most 1",
    )
    praise = "this is a number with an interval, from twenty tasks, and it claims no more than was checked"

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
            "this pools both groups, but you bought many tasks where readings differ: weight groups by their shares": (
                _ends(total, np.sqrt(total * (1 - total) / (n + 1)))
            ),
            "this pools both groups, and omits the halves in (1)": _ends(pooled, np.sqrt(pooled * (1 - pooled) / n)),
            "1.96 standard errors give 95 %; the exercise asks for 90 %": _ends(p, s, 1.96),
            "this is one standard error to each side, which gives 68 %; use 1.645": _ends(p, s, 1.0),
            "square the shares in (2), because the groups were checked separately": _ends(
                p, float(np.sqrt(share @ _spread(right, bought)))
            ),
            "both groups count equally here: weight each by its share of all tasks": _ends(
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
    ("copies", "constants", "parted"),
    ("choose", "reading"),
    ("defended", "unseen"),
)
LAB = ()  # it has no lab
