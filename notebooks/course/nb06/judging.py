"""Exercises of notebook 06 on judgement: fits by held-out comparisons, a gain by its standard error, crowds."""

from __future__ import annotations

from functools import cache
from string import ascii_uppercase
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from cofactor import plain, simulate
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, Given, Part
from course.seeds import own

ANSWERS = 100  # to each comparison of `Trusted`
AMOUNTS = (46, 69, 115, 276)  # comparisons of its fits: 1, 1.5, 2.5 and 6 per degree of freedom
PROBLEMS = 0, 1, 2  # in which the fit to the most comparisons does not match its own best
N_USERS, N_ITEMS, RANK = 10, 12, 2  # of the crowds of `Failures`
DOF = (N_USERS + N_ITEMS - 1) * RANK - RANK**2
N_ROWS, N_DIFFERENT = 160, 30  # comparisons of a crowd; different ones in a crowd with too few


class Trusted(Exercise):
    """The gaps of four fits on held-out comparisons, and which of the fits to trust."""

    hints = (
        "for each fit, the predicted probabilities are expit((U[u] * (V[i] - V[j])).sum(axis=1)); subtract w",
        "the gap is the root mean square of these differences, over the 200 comparisons that no fit used",
        "trust the fit with the smallest of these gaps; the gaps on its own comparisons show only its flexibility",
    )
    praise = "the fit that matches its own comparisons best had the fewest: held-out data show this, the loss does not"

    def given(self) -> Given:
        rng = np.random.default_rng(own(65))
        drawn = four_fits(int(rng.choice(PROBLEMS)))
        fits, rows = rng.permutation(len(AMOUNTS)), rng.permutation(len(drawn["w"]))
        return {name: each[fits if name in ("U", "V", "gaps_own") else rows] for name, each in drawn.items()}

    def solve(self, U: Floats, V: Floats, gaps_own: Floats, u: Ints, i: Ints, j: Ints, w: Floats) -> list[Part]:
        z = np.einsum("fmr,fmr->fm", U[:, u], V[:, i] - V[:, j])
        gaps = _root_mean_square(expit(z) - w)
        order, flatters = np.argsort(gaps) + 1, int(gaps_own.argmin()) + 1
        of_gaps = {
            "these are the gaps on each fit's own comparisons; compute them on the 200 comparisons that no fit used": (
                gaps_own
            ),
            "these are mean squares; take the square root": gaps**2,
            "these are mean absolute differences; a gap is the root of the mean square": (
                np.abs(expit(z) - w).mean(axis=1)
            ),
            "you compared utility differences with w; take expit first to get probabilities": _root_mean_square(z - w),
            "the other item is missing; z = <U_u, V_i - V_j>": (
                _root_mean_square(expit(np.einsum("fmr,fmr->fm", U[:, u], V[:, i])) - w)
            ),
        }
        others = [int(one) for one in order[1:] if one != flatters]
        of_trust = {
            "this fit matches its own comparisons best because it had the fewest; on the others, its gap is larger": (
                flatters
            ),
            "one other fit has a smaller gap on the comparisons that no fit used; trust that one": others[0],
            "two other fits have smaller gaps on the comparisons that no fit used; trust the best of them": others[1],
        }
        return [
            Part("gaps", gaps, of_gaps, "differences of probabilities"),
            Part("trust", int(order[0]), of_trust, "1, 2, 3 or 4"),
        ]


def _root_mean_square(gaps: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(gaps**2, axis=-1)))


@cache
def four_fits(problem: int) -> dict[str, Any]:
    """Return four fits to few or many comparisons, their gaps on these, and 200 other comparisons."""
    rng = np.random.default_rng(problem)
    true_U, true_V = simulate.comparison_factors(12, 14, 2, random_state=problem)
    u, i, j, w = _answered(true_U, true_V, 200, rng)
    fits = []
    for m in AMOUNTS:
        data = _answered(true_U, true_V, m, rng)
        U, V = plain.comparison_features(*data, (12, 14), 2, ridge=0.05)
        fits.append((U.round(3), V.round(3), _root_mean_square(_chances(U, V, *data[:3]) - data[3])))
    U, V, gaps_own = map(np.array, zip(*fits, strict=True))
    return {"U": U, "V": V, "gaps_own": gaps_own.round(3), "u": u, "i": i, "j": j, "w": w}


def _answered(U: Floats, V: Floats, m: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints, Floats]:
    """Draw m comparisons, each with the fraction of 100 answers for its first item."""
    u, i = rng.integers(len(U), size=m), rng.integers(len(V), size=m)
    j = (i + rng.integers(1, len(V), size=m)) % len(V)
    return u, i, j, rng.binomial(ANSWERS, _chances(U, V, u, i, j)) / ANSWERS


def _chances(U: Floats, V: Floats, u: Ints, i: Ints, j: Ints) -> Floats:
    return np.asarray(expit(np.sum(U[u] * (V[i] - V[j]), axis=1)))


class Personal(Exercise):
    """The gain from features on new items, its standard error, and the conclusion."""

    hints = (
        "use the two rows of new items, and subtract them user by user",
        "the standard error of the mean gain is the standard deviation of the differences, divided by sqrt(40)",
        "more than two standard errors above zero: 1; more than two below zero: 3; in between: 2",
    )
    praise = "the test is paired, over users, on items new to them, so its result can be trusted"
    says: ClassVar = {
        1: {
            2: "the gain is more than three standard errors above zero, so it is significant",
            3: "the gain, features minus single ranking, is more than three standard errors above zero",
        },
        2: {
            1: "features help on new pairs, but on new items the gain is within one standard error of zero",
            3: "the difference is within one standard error of zero, so it may just as well be a gain",
        },
        3: {
            1: "features help on new pairs, but on new items they lose by more than three standard errors",
            2: "the loss is more than three standard errors below zero, so it is significant",
        },
    }

    def given(self) -> Given:
        rng = np.random.default_rng(own(66))
        kind = int(rng.integers(1, 4))
        while True:
            base = rng.normal(0.6, 0.1, (2, 40))
            gains = rng.normal([[0.15], [(0.05, 0.0, -0.05)[kind - 1]]], [[0.1], [0.06]], (2, 40))
            pairs, items = ((one, one + gain) for one, gain in zip(base, gains, strict=True))
            drawn = dict(zip(("new pairs", "new items"), (np.round(both, 3) for both in (pairs, items)), strict=True))
            if _is_of(kind, **drawn):
                return drawn

    def solve(self, **shares: Floats) -> list[Part]:
        items, pairs = shares["new items"], shares["new pairs"]
        gain, error = _gain(items), _error(items)
        kind = 2 if abs(gain) < 2 * error else 1 if gain > 0 else 3
        of_gain = {
            "this is the gain on new pairs; give the gain on new items": _gain(pairs),
            "this is the mean accuracy of features; give the difference from the single ranking": items[1].mean(),
            "this is the relative gain; give the difference of the accuracies": gain / items[0].mean(),
        }
        of_error = {
            "this is the standard deviation of the gains; divide by sqrt(40) for the standard error of their mean": (
                error * np.sqrt(40)
            ),
            "you treated the rows as independent, but the users are the same; take differences first": float(
                np.sqrt(items.var(axis=1, ddof=1).sum() / 40)
            ),
            "this is the standard error on new pairs; give that on new items": _error(pairs),
            "this is the square of the standard error; take the square root": error**2,
            "you divided by 40; divide the standard deviation by sqrt(40)": error / np.sqrt(40),
            "you divided by sqrt(80); there are 40 users with one difference each, so divide by sqrt(40)": (
                error / np.sqrt(2)
            ),
        }
        verdict = {text: other for other, text in self.says[kind].items()}
        return [
            Part("gain", gain, of_gain, "a difference of accuracies"),
            Part("standard error", error, of_error, "a difference of accuracies", tolerance=0.02),
            Part("verdict", kind, verdict, "1, 2 or 3"),
        ]


def _is_of(kind: int, **shares: Floats) -> bool:
    """Whether the accuracies show their kind clearly, with different standard errors on pairs and on items."""
    items, pairs = shares["new items"], shares["new pairs"]
    ratio = _gain(items) / _error(items)
    clear = 0.2 < abs(ratio) < 1 if kind == 2 else ratio * (2 - kind) > 3.2
    return clear and 1.3 < _error(pairs) / _error(items) < 2


def _gain(shares: Floats) -> float:
    return float((shares[1] - shares[0]).mean())


def _error(shares: Floats) -> float:
    differences = shares[1] - shares[0]
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))


class Failures(Exercise):
    """What is wrong with each of five crowds, before anything is fitted."""

    hints = (
        "use np.unique(w) to see whether the w of a crowd are probabilities or only 0 and 1 (choices)",
        "a comparison by any user links its two items; count the groups of linked items with "
        "scipy.sparse.csgraph.connected_components",
        "count different comparisons ((u, i, j) and (u, j, i) are the same); are there as many as degrees of freedom?",
    )
    praise = "three counts before the fit show who is linked, how much is known, and whether a ridge is needed"
    says: ClassVar = {
        1: {
            2: "this crowd links all items, directly or through others; users need not have items in common",
            3: "this crowd has many more different comparisons than degrees of freedom",
            4: "this crowd has probabilities, not choices, so the likelihood has a maximum without a ridge",
        },
        2: {
            1: "this crowd has items that are never linked to the others, not even through a third item",
            3: "this crowd has enough different comparisons; look at which items are compared",
            4: "this crowd has probabilities, not choices; look at which items are compared",
        },
        3: {
            1: "this crowd has at most 30 different comparisons in 160 rows; a repeated probability adds nothing",
            2: "this crowd links all items; count the different comparisons",
            4: "this crowd has probabilities, not choices; count the different comparisons",
        },
        4: {
            1: "this crowd has choices, only four per degree of freedom, so some users can be fitted perfectly",
            2: "this crowd links all items; look at the outcomes w",
            3: "this crowd has more different comparisons than degrees of freedom; look at the outcomes w",
        },
    }

    def given(self) -> Given:
        rng = np.random.default_rng(own(67))
        kinds = rng.permutation(np.append([1, 2, 3, 4], rng.integers(1, 5)))
        drawn = [crowd(int(kind), rng) for kind in kinds]
        return dict(zip("uijw", map(np.stack, zip(*drawn, strict=True)), strict=True))

    def solve(self, u: Ints, i: Ints, j: Ints, w: Floats) -> list[Part]:
        kinds = [kind_of(*one) for one in zip(u, i, j, w, strict=True)]
        return [
            Part(letter, kind, {text: other for other, text in self.says[kind].items()}, "1, 2, 3 or 4")
            for letter, kind in zip(ascii_uppercase, kinds, strict=False)
        ]


def crowd(kind: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints, Floats]:
    """Draw 160 comparisons (u, i, j, w) of 10 users and 12 items: 1 sound, 2 unlinked, 3 too few, 4 choices.

    In a sound crowd, the first users see only the first eight items, the others only the last eight.
    """
    U, V = simulate.comparison_factors(N_USERS, N_ITEMS, RANK, random_state=int(rng.integers(10**6)))
    while True:
        u = rng.integers(N_USERS, size=N_ROWS)
        group = u < N_USERS // 2 if kind == 1 else rng.random(N_ROWS) < 0.5
        low, size = {1: (4, 8), 2: (6, 6)}.get(kind, (0, N_ITEMS))
        first = rng.integers(size, size=N_ROWS)
        second = (first + rng.integers(1, size, size=N_ROWS)) % size
        i, j = (side + np.where(group, 0, low) for side in (first, second))
        if kind == 3:
            u, i, j = (np.resize(side[:N_DIFFERENT], N_ROWS) for side in (u, i, j))
        names, order = rng.permutation(N_ITEMS), rng.permutation(N_ROWS)
        u, i, j = u[order], names[i[order]], names[j[order]]
        chances = _chances(U, V, u, i, j)
        w = rng.binomial(1, chances).astype(np.float64) if kind == 4 else chances.round(3)
        if kind_of(u, i, j, w) == kind:
            return u, i, j, w


def kind_of(u: Ints, i: Ints, j: Ints, w: Floats) -> int:
    """Return the kind of a crowd."""
    if set(np.unique(w)) <= {0.0, 1.0}:
        return 4
    links = coo_array((np.ones(len(i)), (i, j)), (N_ITEMS, N_ITEMS))
    if connected_components(links, directed=False)[0] > 1:
        return 2
    different = {(a, *sorted((b, c))) for a, b, c in zip(u, i, j, strict=True)}
    return 3 if len(different) < DOF else 1
