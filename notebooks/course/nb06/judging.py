"""Exercises of notebook 06 in which a learner judges: fits by what they have not seen, a gain by its error, crowds."""

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
AMOUNTS = (46, 69, 115, 276)  # comparisons that its fits had: 1, 1.5, 2.5 and 6 for each degree of freedom
PROBLEMS = 0, 1, 2  # in which the fit to the most comparisons does not meet its own best
N_USERS, N_ITEMS, RANK = 10, 12, 2  # of the crowds of `Failures`
DOF = (N_USERS + N_ITEMS - 1) * RANK - RANK**2
N_ROWS, N_DIFFERENT = 160, 30  # comparisons of a crowd; different ones where they are too few


class Trusted(Exercise):
    """The gaps of four fits on comparisons that none has seen, and which of them to trust."""

    hints = (
        "for each fit: the chances expit(sum of U[u] * (V[i] - V[j])), less w",
        "the gap is the root of the mean of their squares, over the comparisons that no fit has seen",
        "the fit with the least of these gaps; the gaps on its own comparisons say how much a fit can bend",
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
            "these are the gaps on each fit's own comparisons; the exercise asks for those on the ones that none has "
            "seen": gaps_own,
            "this is the mean square: take the root": gaps**2,
            "this is the mean of the sizes; a gap is the root of a mean square": np.abs(expit(z) - w).mean(axis=1),
            "a difference of utilities is no chance: take expit of it": _root_mean_square(z - w),
            "the other item is missing: z is U_u times V_i - V_j": (
                _root_mean_square(expit(np.einsum("fmr,fmr->fm", U[:, u], V[:, i])) - w)
            ),
        }
        others = [int(one) for one in order[1:] if one != flatters]
        of_trust = {
            "it meets its own comparisons best, since it had the fewest; on others its gap is not the least": flatters,
            "another fit has a smaller gap on comparisons that none has seen": others[0],
            "two other fits have a smaller gap on comparisons that none has seen": others[1],
        }
        return [
            Part("gaps", gaps, of_gaps, "differences of chances"),
            Part("trust", int(order[0]), of_trust, "1, 2, 3 or 4"),
        ]


def _root_mean_square(gaps: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(gaps**2, axis=-1)))


@cache
def four_fits(problem: int) -> dict[str, Any]:
    """Return four fits to few or many comparisons, their gaps on these, and 200 comparisons more."""
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
    """Return m comparisons, each with the share of 100 answers for its first item."""
    u, i = rng.integers(len(U), size=m), rng.integers(len(V), size=m)
    j = (i + rng.integers(1, len(V), size=m)) % len(V)
    return u, i, j, rng.binomial(ANSWERS, _chances(U, V, u, i, j)) / ANSWERS


def _chances(U: Floats, V: Floats, u: Ints, i: Ints, j: Ints) -> Floats:
    return np.asarray(expit(np.sum(U[u] * (V[i] - V[j]), axis=1)))


class Personal(Exercise):
    """What features gain on recipes that a user has not met, its standard error, and what both say."""

    hints = (
        "what a recommender is for: the two rows of new items; subtract user by user",
        "the standard error of a mean over n users: the standard deviation of the differences over the root of n",
        "more than two standard errors above zero: 1; below zero: 3; within them: 2",
    )
    praise = "the test is paired, over users, on items new to them, so its result can be trusted"
    says: ClassVar = {
        1: {
            2: "the gain is more than three times its standard error: that can be told",
            3: "it is features less one ranking: the gain is positive, by more than three times its standard error",
        },
        2: {
            1: "on new pairs it helps; on new items the gain is within a standard error of zero",
            3: "the difference is within a standard error of zero: it may as well be a gain",
        },
        3: {
            1: "on new pairs it helps; on new items it is a loss, of more than three times its standard error",
            2: "the loss is more than three times its standard error: that can be told",
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
            "this is the gain on new pairs of items that a user has met; the exercise is about new items": _gain(pairs),
            "this is the share that features have right; the exercise asks what they gain over one ranking": items[
                1
            ].mean(),
            "this is relative to what one ranking has right; the exercise asks for the difference": gain
            / items[0].mean(),
        }
        of_error = {
            "this is the standard deviation over users; that of their mean is smaller by the root of 40": (
                error * np.sqrt(40)
            ),
            "both shares are of the same users: take the differences first, then their spread": float(
                np.sqrt(items.var(axis=1, ddof=1).sum() / 40)
            ),
            "this is the error on new pairs": _error(pairs),
            "this is the square of the standard error: take the root": error**2,
            "this is divided by 40 and not by its root": error / np.sqrt(40),
            "80 shares are of 40 users: one difference each": error / np.sqrt(2),
        }
        verdict = {text: other for other, text in self.says[kind].items()}
        return [
            Part("gain", gain, of_gain, "a difference of shares"),
            Part("standard error", error, of_error, "a difference of shares", tolerance=0.02),
            Part("verdict", kind, verdict, "1, 2 or 3"),
        ]


def _is_of(kind: int, **shares: Floats) -> bool:
    """Whether shares tell their kind plainly, and errors on pairs and on items are not alike."""
    items, pairs = shares["new items"], shares["new pairs"]
    ratio = _gain(items) / _error(items)
    plain_to_see = 0.2 < abs(ratio) < 1 if kind == 2 else ratio * (2 - kind) > 3.2
    return plain_to_see and 1.3 < _error(pairs) / _error(items) < 2


def _gain(shares: Floats) -> float:
    return float((shares[1] - shares[0]).mean())


def _error(shares: Floats) -> float:
    differences = shares[1] - shares[0]
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))


class Failures(Exercise):
    """What is wrong with each of five crowds, before anything is fitted."""

    hints = (
        "are the w of a crowd chances, or yes and no? np.unique(w) tells",
        "an item is linked to another by a comparison of both, whoever made it: "
        "scipy.sparse.csgraph.connected_components",
        "count different comparisons, (u, i, j) and (u, j, i) being one, and set them beside the degrees of freedom",
    )
    praise = "three counts before the fit show who is linked, how much is known, and whether a ridge is needed"
    says: ClassVar = {
        1: {
            2: "all items are linked, if only through others; users need not share an item",
            3: "there are many more different comparisons than degrees of freedom",
            4: "these are chances, and not choices: the likelihood has a maximum",
        },
        2: {
            1: "look which items meet: some are never compared with the others, not even through a third",
            3: "there are enough different comparisons; look which items meet",
            4: "these are chances, and not choices; look which items meet",
        },
        3: {
            1: "160 rows, of 30 different comparisons at most: a chance that is given again tells nothing new",
            2: "all items are linked; count the different comparisons",
            4: "these are chances, and not choices; count the different comparisons",
        },
        4: {
            1: "these are choices, four for each degree of freedom: some users can be explained perfectly",
            2: "all items are linked; look at the outcomes",
            3: "there are more different comparisons than degrees of freedom; look at the outcomes",
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
    """Return 160 comparisons (u, i, j, w) of 10 users and 12 items: 1 sound, 2 unlinked, 3 too few, 4 choices.

    In a sound crowd the first users see the first eight items only, the others the last eight.
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
