"""The exercise of notebook 05 in which a learner judges runs of MERIT: why each went wrong, and what to do instead."""

from __future__ import annotations

from functools import cache
from string import ascii_uppercase
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Indices
from cofactor.separable import merit
from cofactor.separable.least_squares import simplex_least_squares
from course.grading import Exercise, Given, Part
from course.seeds import own

M, K, N = 50, 10, 55  # rows, anchors, columns: of K anchors there are 45 mid-points
SOUND, NEIGHBOURS, REPEATED, DUPLICATES, LOW, HIGH = KINDS = 1, 2, 3, 4, 5, 6
DECIBELS = {NEIGHBOURS: 12.0, REPEATED: 18.0}  # signal over noise, where it is not 14
SURE = 1.3  # by this factor at least one saving is above another, or a price above or below a saving
COPY, NO_COPY = 0.33, 0.5  # nearest column of an anchor over nearest other anchor: below the one, or above the other


class Run(NamedTuple):
    """What MERIT was given: points, the price, where the anchors are (of repeated ones the first), and the second."""

    X: Floats
    lam: float
    anchors: Indices
    twins: Indices

    def finds(self, found: Indices) -> bool:
        """Whether columns are all anchors, each once, either of two copies."""
        number = {int(n): k for side in (self.anchors, self.twins) for k, n in enumerate(side)}
        return sorted(number.get(int(n), -1) for n in found) == list(range(K))

    def fit(self, **otherwise: Any) -> Indices:
        """Return what MERIT takes for anchors, as it was run or otherwise."""
        options: dict[str, Any] = {"lam": self.lam, "select": "top", "merge_duplicates": False} | otherwise
        return np.asarray(merit(self.X, K, **options).anchors)

    def mended(self, kind: int) -> Indices:
        """Return the anchors that are found if one does what a kind asks for."""
        if kind == NEIGHBOURS:
            return spa(self.X, K)
        remedies: dict[int, dict[str, Any]] = {
            SOUND: {},
            REPEATED: {"select": "spa"},
            DUPLICATES: {"merge_duplicates": True},
        }
        return self.fit(**remedies.get(kind, {"lam": "msr"}))


class Remedies(Exercise):
    """What is wrong with each of six runs of MERIT, from what can be computed of their data and their price."""

    hints = (
        "compute for each run, by squares_left of section 5, what mixtures save at most, and anchors at "
        "least and at most",
        "is a price between? If none can be, look at the column nearest to each anchor: is it equal, is it much nearer "
        "than any other anchor (less than a third as far), or is it not?",
        "equal: 4; much nearer: 3; else mixtures above the least anchor: 2; else lam far below mixtures: 5, "
        "above all anchors: 6, between: 1",
    )
    praise = "two savings, a distance and the penalty show why a run fails, and each cause has its remedy"
    says: ClassVar = {
        SOUND: {
            NEIGHBOURS: "every anchor saves more than any mixture, so there is room for a price",
            REPEATED: "the column nearest to an anchor is more than half as far as another anchor: that is no copy",
            DUPLICATES: "no two columns are equal",
            LOW: "the price is above what any mixture saves",
            HIGH: "the price is below what every anchor saves",
        },
        NEIGHBOURS: {
            SOUND: "a mixture saves more than the anchor that saves least: no price lies between",
            REPEATED: "the column nearest to an anchor is more than half as far as another anchor: that is no copy",
            DUPLICATES: "no two columns are equal",
            LOW: "a mixture saves more than the anchor that saves least: a higher price does not lie between either",
            HIGH: "a mixture saves more than the anchor that saves least: a lower price does not lie between either",
        },
        REPEATED: {
            SOUND: "an anchor saves less than a mixture: which column explains it so well?",
            NEIGHBOURS: "no price lies between, but look at the distances: beside each anchor is a copy of it",
            DUPLICATES: "the copies are near, and not equal: each has noise of its own, so nothing is merged",
            LOW: "an anchor saves little, since its copy explains it: a higher price loses both",
            HIGH: "an anchor saves little, since its copy explains it: a lower price does not tell it from its copy",
        },
        DUPLICATES: {
            SOUND: "an anchor saves nothing: some column is equal to it",
            NEIGHBOURS: "an anchor saves nothing at all: some column is equal to it, and not only near",
            REPEATED: "the copies are equal to the last digit: rounding decides between them, unless they are merged",
            LOW: "an anchor saves nothing, so no price is too low; some column is equal to it",
            HIGH: "an anchor saves nothing, so every price is too high; some column is equal to it",
        },
        LOW: {
            SOUND: "the price is far below what mixtures save: explaining themselves costs them nearly nothing",
            NEIGHBOURS: "every anchor saves more than any mixture: a price fits between, if not this one",
            REPEATED: "the column nearest to an anchor is more than half as far as another anchor: that is no copy",
            DUPLICATES: "no two columns are equal",
            HIGH: "the price is far below what anchors save",
        },
        HIGH: {
            SOUND: "the price is above what any anchor saves: none is worth it",
            NEIGHBOURS: "every anchor saves more than any mixture: a price fits between, if not this one",
            REPEATED: "the column nearest to an anchor is more than half as far as another anchor: that is no copy",
            DUPLICATES: "no two columns are equal",
            LOW: "the price is far above what mixtures save",
        },
    }

    def given(self) -> Given:
        runs = six_runs(own(55))
        return {
            "X": np.stack([one.X for one in runs]),
            "lam": np.array([one.lam for one in runs]),
            "anchors": np.stack([one.anchors for one in runs]),
        }

    def solve(self, X: Floats, lam: Floats, anchors: Indices) -> list[Part]:
        kinds = [kind_of(*one) for one in zip(X, lam, anchors, strict=True)]
        return [
            Part(letter, kind, {text: other for other, text in self.says[kind].items()}, "1 to 6")
            for letter, kind in zip(ascii_uppercase, kinds, strict=False)
        ]


@cache
def six_runs(seed: int) -> tuple[Run, ...]:
    """Return a run of each kind, in any order."""
    rng = np.random.default_rng(seed)
    return tuple(run(int(kind), rng) for kind in rng.permutation(KINDS))


def run(kind: int, rng: np.random.Generator) -> Run:
    """Return a run of a kind that its numbers show clearly, that fails if the kind says so, and that its remedy mends.

    Whether MERIT is right on exact duplicates is left to rounding, so nobody looks at it here.
    """
    while True:
        X, anchors, twins = _points(kind, rng)
        numbers = savings(X, anchors)
        one = Run(X, _price(kind, X, *numbers[:3]), anchors, twins)
        as_said = kind == DUPLICATES or one.finds(one.fit()) == (kind == SOUND)
        if as_said and _plain_to_see(kind, *numbers) and one.finds(one.mended(kind)):
            return one


def _points(kind: int, rng: np.random.Generator) -> tuple[Floats, Indices, Indices]:
    """Return noisy mixtures in any order, where their anchors are, and where second copies of these are, if any.

    Each has a unit of its own, so that a price alone says nothing.
    """
    copies = np.eye(K) if kind in (REPEATED, DUPLICATES) else np.empty((K, 0))
    if kind == NEIGHBOURS:
        first, second = np.triu_indices(K, 1)
        mixed = (np.eye(K)[:, first] + np.eye(K)[:, second]) / 2
    else:
        mixed = (0.8 * rng.dirichlet(np.ones(K), N - K - copies.shape[1]) + 0.02).T
    X = rng.random((M, K)) @ np.hstack([np.eye(K), copies, mixed])
    noise = np.sqrt(np.mean(X**2)) * 10 ** (-DECIBELS.get(kind, 14.0) / 20)
    X = (X + rng.normal(0, noise, X.shape)).round(3)
    if kind == DUPLICATES:
        X[:, K : 2 * K] = X[:, :K]
    order = rng.permutation(N)
    places = np.argsort(order)
    return X[:, order] * 10 ** rng.uniform(-1, 1), places[:K], places[K : K + copies.shape[1]]


def savings(X: Floats, anchors: Indices) -> tuple[float, float, float, float]:
    """Return what mixtures save at most, what anchors save at least and at most, and how near an anchor is to a column.

    The last is the distance of an anchor from the nearest column, over that from the nearest anchor, at its least.
    """
    mixtures = _squares_left(np.delete(X, anchors, axis=1), X[:, anchors])
    own_squares = [_squares_left(X[:, [k]], np.delete(X, k, axis=1))[0] for k in anchors]
    apart = np.linalg.norm(X[:, anchors, None] - X[:, None], axis=0)
    apart[np.arange(K), anchors] = np.inf
    nearest = (apart.min(axis=1) / apart[:, anchors].min(axis=1)).min()
    return float(mixtures.max()), float(min(own_squares)), float(max(own_squares)), float(nearest)


def _squares_left(Y: Floats, others: Floats) -> Floats:
    return np.asarray(np.sum((Y - others @ simplex_least_squares(others, Y)) ** 2, axis=0))


def _price(kind: int, X: Floats, mixtures: float, least: float, most: float) -> float:
    """Return the price of a run: between both savings, far below, above, or else the default."""
    if kind in (SOUND, LOW, HIGH):
        price = {SOUND: np.sqrt(mixtures * least), LOW: mixtures / 200, HIGH: 3 * most}[kind]
    else:
        price = merit(X, K).lam
    return float(np.format_float_positional(price, 3, fractional=False))


def _plain_to_see(kind: int, mixtures: float, least: float, most: float, nearest: float) -> bool:
    """Whether the numbers leave no doubt about a kind."""
    if kind == DUPLICATES:
        return nearest == 0
    if kind == REPEATED:
        return nearest < COPY and SURE * least < mixtures
    return nearest > NO_COPY and (SURE * least < mixtures if kind == NEIGHBOURS else least > SURE**2 * mixtures)


def kind_of(X: Floats, lam: float, anchors: Indices) -> int:
    """Return the kind of a run."""
    mixtures, least, most, nearest = savings(X, anchors)
    if nearest < COPY:
        return REPEATED if nearest > 0 else DUPLICATES
    if mixtures > least:
        return NEIGHBOURS
    return LOW if lam < mixtures else HIGH if lam > most else SOUND
