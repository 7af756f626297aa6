"""The exercise of notebook 05 on runs of MERIT: why each went wrong, and what to do instead."""

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
DECIBELS = {NEIGHBOURS: 12.0, REPEATED: 18.0}  # signal-to-noise ratio if it is not 14
SURE = 1.3  # savings differ from one another, and from the penalty, by at least this factor
COPY, NO_COPY = 0.33, 0.5  # distance from an anchor to the nearest column, over that to the nearest other anchor


NOT_COPIED = "in this run, anchors have no copies: the nearest column is more than half as far as another anchor"
NOT_EQUAL = "in this run, no two columns are equal"
FITS_BETWEEN = "in this run, every anchor saves more than any mixture, so another penalty would lie between them"


class Run(NamedTuple):
    """The input of MERIT: points and penalty, the positions of the anchors, and those of their copies."""

    X: Floats
    lam: float
    anchors: Indices
    twins: Indices

    def finds(self, found: Indices) -> bool:
        """Whether the columns are all the anchors, each once; either of two copies counts."""
        number = {int(n): k for side in (self.anchors, self.twins) for k, n in enumerate(side)}
        return sorted(number.get(int(n), -1) for n in found) == list(range(K))

    def fit(self, **otherwise: Any) -> Indices:
        """Return the anchors that MERIT finds with the options of this run, or with others."""
        options: dict[str, Any] = {"lam": self.lam, "select": "top", "merge_duplicates": False} | otherwise
        return np.asarray(merit(self.X, K, **options).anchors)

    def mended(self, kind: int) -> Indices:
        """Return the anchors that are found with the remedy of a kind."""
        if kind == NEIGHBOURS:
            return spa(self.X, K)
        remedies: dict[int, dict[str, Any]] = {
            SOUND: {},
            REPEATED: {"select": "spa"},
            DUPLICATES: {"merge_duplicates": True},
        }
        return self.fit(**remedies.get(kind, {"lam": "msr"}))


class Remedies(Exercise):
    """What is wrong with each of six runs of MERIT, from numbers computed from their data and penalty."""

    hints = (
        "for each run, compute with squares_left (section 5) the largest saving of a mixture, and the smallest and "
        "largest saving of an anchor",
        "does the penalty lie between mixtures and anchors? If no penalty can, look at the column nearest to each "
        "anchor: is it equal, less than a third as far as any other anchor, or neither?",
        "equal column: 4; much nearer column: 3; otherwise, a mixture saves more than some anchor: 2; otherwise, lam "
        "far below the mixtures: 5, above all anchors: 6, between them: 1",
    )
    praise = "two savings, a distance and the penalty show why a run fails, and each cause has its remedy"
    says: ClassVar = {
        SOUND: {
            NEIGHBOURS: "in this run, every anchor saves more than any mixture, so a penalty can lie between them",
            REPEATED: NOT_COPIED,
            DUPLICATES: NOT_EQUAL,
            LOW: "in this run, the penalty is above what any mixture saves, so it is not too low",
            HIGH: "in this run, the penalty is below what every anchor saves, so it is not too high",
        },
        NEIGHBOURS: {
            SOUND: "in this run, a mixture saves more than some anchor, so no penalty separates them",
            REPEATED: NOT_COPIED,
            DUPLICATES: NOT_EQUAL,
            LOW: "in this run, a mixture saves more than some anchor, so a higher penalty does not separate them",
            HIGH: "in this run, a mixture saves more than some anchor, so a lower penalty does not separate them",
        },
        REPEATED: {
            SOUND: "in this run, an anchor saves less than a mixture; find the column that explains it so well",
            NEIGHBOURS: "in this run, no penalty lies between, but the distances show that each anchor has a copy",
            DUPLICATES: "in this run, the copies are close but not equal, so there is nothing to merge",
            LOW: "in this run, an anchor saves little because its copy explains it; a higher penalty loses both",
            HIGH: "in this run, an anchor saves little because its copy explains it; a lower penalty does not help",
        },
        DUPLICATES: {
            SOUND: "in this run, an anchor saves nothing, because some column is equal to it",
            NEIGHBOURS: "in this run, an anchor saves nothing at all: some column is equal to it, not only close",
            REPEATED: "in this run, the copies are exactly equal: rounding decides between them unless they are merged",
            LOW: "in this run, an anchor saves nothing, so no penalty is too low; some column is equal to it",
            HIGH: "in this run, an anchor saves nothing, so every penalty is too high; some column is equal to it",
        },
        LOW: {
            SOUND: "in this run, the penalty is far below what mixtures save, so mixtures explain themselves",
            NEIGHBOURS: FITS_BETWEEN,
            REPEATED: NOT_COPIED,
            DUPLICATES: NOT_EQUAL,
            HIGH: "in this run, the penalty is far below what anchors save, so it is not too high",
        },
        HIGH: {
            SOUND: "in this run, the penalty is above what any anchor saves, so no anchor is worth it",
            NEIGHBOURS: FITS_BETWEEN,
            REPEATED: NOT_COPIED,
            DUPLICATES: NOT_EQUAL,
            LOW: "in this run, the penalty is far above what mixtures save, so it is not too low",
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
    """Draw a run of each kind, in random order."""
    rng = np.random.default_rng(seed)
    return tuple(run(int(kind), rng) for kind in rng.permutation(KINDS))


def run(kind: int, rng: np.random.Generator) -> Run:
    """Draw a run whose numbers show its kind clearly, which fails unless it is sound, and which its remedy solves.

    On exact duplicates, rounding decides whether MERIT is right, so this is not checked.
    """
    while True:
        X, anchors, twins = _points(kind, rng)
        numbers = savings(X, anchors)
        one = Run(X, _price(kind, X, *numbers[:3]), anchors, twins)
        as_said = kind == DUPLICATES or one.finds(one.fit()) == (kind == SOUND)
        if as_said and _clear(kind, *numbers) and one.finds(one.mended(kind)):
            return one


def _points(kind: int, rng: np.random.Generator) -> tuple[Floats, Indices, Indices]:
    """Draw noisy mixtures in random order; return them with the positions of the anchors and of their copies, if any.

    The unit is random, so that a penalty alone says nothing.
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
    """Return the largest saving of a mixture, the smallest and largest of an anchor, and the distance of a copy.

    The last is the smallest ratio of an anchor's distance to the nearest column and to the nearest other anchor.
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
    """Return the penalty of a run: between both savings, far below, above, or else the default."""
    if kind in (SOUND, LOW, HIGH):
        price = {SOUND: np.sqrt(mixtures * least), LOW: mixtures / 200, HIGH: 3 * most}[kind]
    else:
        price = merit(X, K).lam
    return float(np.format_float_positional(price, 3, fractional=False))


def _clear(kind: int, mixtures: float, least: float, most: float, nearest: float) -> bool:
    """Whether the numbers leave no doubt about the kind."""
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
