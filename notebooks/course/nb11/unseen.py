"""The last exercise of notebook 11: which faults twenty checks can show, and how finely they measure.

symbol    meaning                                                            shape
apart     whether readings differ on a leaf                                  (N,)
wrong     which leaves have a wrong label, in each of four cases             (4, N)
checks    checked leaves where readings differ, and where they agree         (4, 2)
n_wrong   wrong ones among twenty leaves drawn from all
dispute   share of leaves on which model and merged differ
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import beta, binom, hypergeom

from cofactor.core.types import Floats, Ints
from course import seeds
from course.grading import Exercise, Given, Part, told_apart
from course.nb11.crowd import BUDGET, N_TASKS, differ, drawn

RARE = 6  # leaves, two per cent
SHARED, CARELESS = 0.1, 0.3  # share of wrong labels: where readings agree (case C), without an expert near (case D)
FEW = 2  # checks where readings agree, in case C
HORNBEAMS = ((5, 10), (6, 13))  # of which so many lie where readings differ, and where they agree: from, to
TAIL = 0.05  # probability beyond either end of an interval of 90 %
OFTEN = 0.9  # of all draws the better reading is to be ahead
SEARCHED = 0.005  # of the largest entry: numbers are searched for on a grid of a thousandth or finer


class Unseen(Exercise):
    """Chances that checks show a fault, an error rate with both ends, the least difference that checks tell."""

    hints = (
        "a check shows a wrong label only where the leaf can be drawn and is wrong when it is drawn: which leaves are "
        "that in C, and in D?",
        "if b of the N leaves of a group are wrong, n checks miss them all with probability "
        "scipy.stats.hypergeom.pmf(0, N, b, n); the groups are drawn separately, so multiply the two probabilities",
        "with X = scipy.stats.binom(20, q), search for the q with X.sf(k - 1) = 0.05, with X.cdf(k) = 0.05, and with "
        "X.sf(10) = 0.9; of the leaves in dispute one reading then has q right, and the other 1 - q",
    )
    praise = (
        "checks show what is frequent among the leaves they are drawn from: a rare fault mostly not, a fault where "
        "few checks lie hardly, and a fault that keeps away from checked leaves never"
    )

    def given(self) -> Given:
        crowd = drawn(seeds.current())
        apart, (_, model, merged) = differ(crowd.found.posteriors), crowd.said
        dispute = float((model != merged).mean())
        return seeds.drawn(11, lambda rng: _faults(rng, apart, dispute), lambda data: told_apart(self.solve(**data)))

    def solve(self, apart: Ints, wrong: Ints, checks: Ints, n_wrong: int, dispute: float) -> list[Part]:
        return [
            _by_chance(apart, wrong[:2], checks[:2]),
            _elsewhere(apart, wrong[2:], checks[2:]),
            Part("interval", exact(n_wrong), _other_ends(n_wrong), "shares", tolerance=SEARCHED),
            _least(dispute),
        ]


def _faults(rng: np.random.Generator, apart: Ints, dispute: float) -> Given:
    """Draw the leaves that are wrong in the cases A to D, and how many of twenty leaves are."""
    where = [rng.permutation(np.flatnonzero(mask)) for mask in (apart, ~apart)]
    hornbeams = [own[: rng.integers(*span)] for own, span in zip(where, HORNBEAMS, strict=True)]
    rare, shared = (rng.permutation(where[1])[:n] for n in (RARE, round(SHARED * len(where[1]))))
    careless = rng.permutation(N_TASKS)[: round(CARELESS * N_TASKS)]
    wrong = np.zeros((4, N_TASKS), dtype=bool)
    for case, leaves in enumerate((rare, np.concatenate(hornbeams), shared, careless)):
        wrong[case, leaves] = True
    half = BUDGET // 2
    checks = np.array([(half, half), (half, half), (BUDGET - FEW, FEW), (half, half)])
    return {"apart": apart, "wrong": wrong, "checks": checks, "n_wrong": int(rng.integers(1, 5)), "dispute": dispute}


def groups(apart: Ints, wrong: Ints) -> tuple[Ints, Ints]:
    """Return the leaves (2,) and in each case the wrong ones (4, 2) where readings differ, and where they agree."""
    masks = np.stack([apart, ~apart])
    return masks.sum(axis=1), (wrong[:, None] & masks).sum(axis=2)


def shown(size: Ints | int, faulty: Ints, checks: Ints | int) -> Floats:
    """Return the probability that one check at least is wrong; no leaf is drawn twice, groups are the last axis."""
    return np.asarray(1 - hypergeom.pmf(0, size, faulty, checks).prod(axis=-1))


def _by_chance(apart: Ints, wrong: Ints, checks: Ints) -> Part:
    """Cases A and B: what checks show that are drawn from both groups."""
    size, faulty = groups(apart, wrong)
    seen = shown(size, faulty, checks)
    mistakes = {
        "this draws twenty of all leaves; draw ten from each group": shown(N_TASKS, wrong.sum(axis=1)[:, None], BUDGET),
        "these are the probabilities that no check shows it; the exercise asks for at least one": 1 - seen,
        "this draws with replacement; no leaf is checked twice, and one group is small": (
            1 - ((1 - faulty / size) ** checks).prod(axis=1)
        ),
        "these are expected numbers of wrong checks, not probabilities of at least one": (
            (checks * faulty / size).sum(axis=1)
        ),
    }
    return Part("ab", seen, mistakes, "probabilities")


def _elsewhere(apart: Ints, wrong: Ints, checks: Ints) -> Part:
    """Cases C and D: few checks lie where the fault is, and none of the checked labels is wrong."""
    few, careless = shown(*groups(apart, wrong), checks)
    pooled = shown(N_TASKS, wrong.sum(axis=1)[:, None], BUDGET)
    mistakes: dict[str, ArrayLike] = {
        "in D a leaf that is checked was done with care, and is right: its check shows nothing": (few, careless),
        "in C only the checks where readings agree can fall on these leaves": (pooled[0], 0.0),
        "this draws from all leaves; ask which leaves are drawn in C, and which labels are wrong once drawn in D": (
            pooled
        ),
    }
    return Part("cd", (few, 0.0), mistakes, "probabilities")


def exact(n_wrong: int, tail: float = TAIL) -> Floats:
    """Return the ends of the interval of an error rate (Clopper & Pearson 1934), for 0 < n_wrong < 20."""
    low, high = beta.ppf([tail, 1 - tail], [n_wrong, n_wrong + 1], [BUDGET - n_wrong + 1, BUDGET - n_wrong])
    return np.array([low, high])


def _other_ends(k: int) -> dict[str, Floats]:
    return {
        "this leaves 2.5 % beyond each end, a 95 % interval; the exercise asks for 5 % at each end": exact(k, TAIL / 2),
        "this is the rate and 1.645 standard errors, not the binomial: with few wrong labels the upper end is "
        "further away": _standard(k / BUDGET, BUDGET),
        "this is (1) and (2), which are for a sum of groups; for one count, use the binomial for both ends": (
            _standard((k + 0.5) / (BUDGET + 1), BUDGET + 1)
        ),
        "low: include n_wrong itself in the tail; X.sf(k) leaves it out, so use X.sf(k - 1)": np.array(
            [exact(k + 1)[0], exact(k)[1]]
        ),
        "the ends are swapped: first the lower one": exact(k)[::-1],
    }


def _standard(rate: float, n: int) -> Floats:
    """The rate and 1.645 standard errors to each side."""
    return np.clip(rate + np.array([-1.645, 1.645]) * np.sqrt(rate * (1 - rate) / n), 0, 1)


def _least(dispute: float) -> Part:
    q = surely_ahead(BUDGET // 2)
    mistakes = {
        "this is the fraction of disputed leaves that one reading has right; the exercise asks for a difference": q,
        "this is a difference on the leaves in dispute; on all others the readings are equally right": 2 * q - 1,
        "if one reading gains a leaf, the other loses it: the difference is twice as large": dispute * (q - 0.5),
        "this is the fraction that the better reading has right, not a difference: subtract that of the other": (
            dispute * q
        ),
        "ten of twenty is a tie, which shows nothing: eleven or more is ahead": (
            dispute * (2 * surely_ahead(BUDGET // 2 - 1) - 1)
        ),
    }
    return Part("least", dispute * (2 * q - 1), mistakes, "share of all leaves", tolerance=SEARCHED)


def surely_ahead(most: int) -> float:
    """Return the share right at which more than so many of twenty checks are right, in 90 % of all draws."""
    return float(brentq(lambda q: binom.sf(most, BUDGET, q) - OFTEN, 0.01, 0.99))
