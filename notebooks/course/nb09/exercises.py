"""The exercises of notebook 09: words that stand together, successive projection, coherence, memberships."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from cofactor.separable import coherence
from cofactor.separable.metrics import SMOOTHING_DOCUMENTS
from course.grading import (
    COLUMNS_SUM_TO_ONE,
    NONNEGATIVE,
    ROWS_SUM_TO_ONE,
    Exercise,
    FunctionExercise,
    Given,
    Part,
    told_apart,
)
from course.nb09.judged import JUDGED, scaled
from course.seeds import drawn, own


class WordPairs(Exercise):
    """Co-occurrences of words, every column divided by its sum."""

    hints = (
        "P = F'F / D: the co-occurrence of two words is the inner product of their columns of F, divided by D",
        "c = P.sum(axis=0), and each column is divided by its entry of c; D cancels",
        'P = task["F"].T @ task["F"], and then P / P.sum(axis=0)',
    )
    praise = "each column is now a distribution over the words that occur together with this one"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            return {"F": rng.choice([0.0, 0.0, 0.5, 1.0, 2.0, 3.0], (5, 4))}

        return drawn(92, make, lambda made: made["F"].any(axis=0).all() and told_apart(self.solve(**made)))

    def solve(self, F: Floats) -> list[Part]:
        P = F.T @ F
        unit = P / np.linalg.norm(P, axis=0)
        mistakes = {
            "these are the co-occurrences P; divide every column by its sum, so that columns of frequent words are not "
            "longer than others": P / len(F),
            "these are D P; divide every column by its sum": P,
            "here the rows sum to one; a word is a column": P / P.sum(axis=1, keepdims=True),
            "the columns have length one here; mixtures remain mixtures only if the columns sum to one": unit,
            "divide every column by its own sum, not all by the total": P / P.sum(),
        }
        return [Part("P diag(1/c)", P / P.sum(axis=0), mistakes, "shares", (NONNEGATIVE, COLUMNS_SUM_TO_ONE))]


def _away(R: Floats, longest: Floats) -> Floats:
    return np.asarray(R - np.outer(longest, longest @ R) / (longest @ longest))


def _drop(R: Floats, longest: Floats) -> Floats:
    return R * (longest[:, None] != R).any(axis=0)


def _greedy(X: Floats, n_anchors: int, order: float = 2, clear: Callable[[Floats, Floats], Floats] = _away) -> Ints:
    """Successive projection, right as it is called by default, and wrong otherwise."""
    R, chosen = X.astype(float), []
    for _ in range(n_anchors):
        chosen.append(int(np.linalg.norm(R, ord=order, axis=0).argmax()))
        R = clear(R, R[:, chosen[-1]])
    return np.array(chosen)


class Projection(FunctionExercise):
    """Successive projection: the greedy choice of corners."""

    hints = (
        "keep the rest of every column, R, which is X at first; the longest column of R is the next corner",
        "with the unit vector u = r / |r| of that column, R - u (u' R) has no component left in its direction",
        "for each of n_anchors: k = (R**2).sum(axis=0).argmax(), u = R[:, k] / norm, R = R - np.outer(u, u @ R)",
    )
    praise = "it is three lines in a loop, with one pass over the data for each corner"
    wrong: ClassVar = {
        "these are the longest columns of X: project each choice away": partial(_greedy, clear=_drop),
        "u must have length one: divide by the norm": partial(_greedy, clear=lambda R, r: R - np.outer(r, r @ R)),
        "this keeps the component along the corner and removes the rest": (
            partial(_greedy, clear=lambda R, r: R - _away(R, r))
        ),
        "this subtracts the corner itself; remove only the component in its direction": (
            partial(_greedy, clear=lambda R, r: R - r[:, None])
        ),
        "use the Euclidean length: the square root of the sum of squares": partial(_greedy, order=1),
        "the columns are right; give them in the order in which they are chosen": lambda X, n: np.sort(_greedy(X, n)),
        "Python counts columns from zero": lambda X, n: _greedy(X, n) + 1,
    }

    def given(self) -> Given:
        X = [[0.2, 0.9, 0.1, 0.5, 1.0], [0.1, 0.3, 0.8, 0.6, 0.2], [0.7, 0.2, 0.1, 0.3, 0.3]]
        return {"X": np.array(X), "n_anchors": 3}

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(4)  # these tell all typical mistakes apart
        drawn = [{"X": rng.standard_normal(shape), "n_anchors": K} for shape, K in (((5, 30), 4), ((2, 12), 1))]
        W = rng.random((8, 6))
        mixed = np.hstack([W, W @ rng.dirichlet(np.ones(6), 40).T])[:, rng.permutation(46)]
        drawn += [{"X": mixed, "n_anchors": 6}, {"X": np.diag([1.0, 3.0, 2.0, 4.0]), "n_anchors": 4}]
        return [*drawn, {"X": np.random.default_rng(own(5)).standard_normal((4, 20)), "n_anchors": 3}]

    def solve(self, X: Floats, n_anchors: int) -> list[Part]:
        chosen: list[int] = []
        for _ in range(n_anchors):
            basis = np.linalg.qr(X[:, chosen])[0]
            chosen.append(int(np.argmax([np.linalg.norm(x - basis @ (basis.T @ x)) for x in X.T])))
        return [Part("anchors", chosen, {}, "columns", tolerance=1e-9)]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        if len(set(result[0].tolist())) < case["n_anchors"]:
            yield "a column is chosen twice: remove its whole component"


class Coherent(Exercise):
    """The coherence of a topic's three leading words."""

    hints = (
        "D(a) counts the documents that contain word a: counts > 0",
        "together = present.T @ present holds D(a) on its diagonal and D(a, b) beside it",
        "2 * sum of log((together[a, b] + 0.01) / together[a, a]) over a < b",
    )
    praise = "the pair that never occurs together costs 2 ln(0.01 / D(a)), more than the other two together"

    def given(self) -> Given:
        counts = np.array([[3, 1, 0], [1, 2, 0], [2, 0, 1], [4, 1, 0], [0, 2, 0], [1, 0, 3]])
        return {"counts": counts, "top_words": np.array([0, 1, 2])}

    def solve(self, counts: Ints, top_words: Ints) -> list[Part]:
        present = (counts > 0).astype(float)
        together = present.T @ present
        a, b = np.triu_indices(len(top_words), k=1)
        both, first, second = together[a, b], together[a, a], together[b, b]
        logs = np.log((both + SMOOTHING_DOCUMENTS) / first)
        lighter = 2 * np.log((both + SMOOTHING_DOCUMENTS) / second).sum()
        mistakes = {
            "the factor 2 is missing: published numbers count every pair in both directions": logs.sum(),
            "divide by the documents of the heavier word, a, which comes first in the list": lighter,
            "0.01 is added to the shared documents, not 1": 2 * np.log((both + 1) / first).sum(),
            "this is the mean over pairs; sum over them": 2 * logs.mean(),
            "the exercise asks for nats: use np.log, to the base e": 2 * logs.sum() / np.log(10),
            "the exercise asks for nats: use np.log, not np.log2": 2 * logs.sum() / np.log(2),
            "count the documents that contain a word, not its occurrences: counts > 0": self._raw(counts),
            "count every pair once, a < b, with the documents of the first word; then multiply by 2": (
                logs.sum() + lighter / 2
            ),
        }
        return [Part("Coh", coherence(counts, [top_words]), mistakes, "nats")]

    @staticmethod
    def _raw(counts: Ints) -> float:
        meet = (counts.T @ counts).astype(float)
        a, b = np.triu_indices(len(meet), k=1)
        return float(2 * np.log((meet[a, b] + SMOOTHING_DOCUMENTS) / meet[a, a]).sum())


class Membership(Exercise):
    """Memberships of nodes, from the rows of three pure ones."""

    hints = (
        "V = Theta V_pure, with the pure rows V_pure = V[pure]",
        "Theta = V @ np.linalg.inv(V[pure]); then negative entries to zero",
        "np.maximum(...), and last divide by .sum(axis=1, keepdims=True)",
    )
    praise = "a node of half the length has the same memberships, because a person's activity cancels"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            pure = np.array([[0.5, 0.4, 0.1], [0.5, -0.4, 0.1], [0.3, 0.0, -0.6]]) + rng.normal(0, 0.05, (3, 3)).round(
                2
            )
            others = rng.dirichlet(np.ones(3), 3) @ pure * [[0.5], [1.0], [0.3]] + rng.normal(0, 0.04, (3, 3))
            return {"V": np.vstack([pure, others]).round(2), "pure": np.arange(3)}

        def clear(made: Given) -> bool:
            raw = np.linalg.solve(made["V"][:3].T, made["V"].T).T
            return bool((raw[3:] < -0.02).any() and raw.sum(axis=1).min() > 0.2) and told_apart(self.solve(**made))

        return drawn(94, make, clear)

    def solve(self, V: Floats, pure: Ints) -> list[Part]:
        raw = np.asarray(np.linalg.solve(V[pure].T, V.T).T, dtype=np.float64)
        late, turned = np.maximum(scaled(raw), 0), scaled(np.maximum(np.linalg.solve(V[pure], V.T).T, 0))
        mistakes = {
            "these are the weights; set negative ones to zero, and divide every row by its sum": raw,
            "rows do not sum to one yet: divide each by its sum": np.maximum(raw, 0),
            "set negative entries to zero first, then divide by the sum: these rows sum to more than one": late,
            "negative memberships: set them to zero before you divide": scaled(raw),
            "a negative weight becomes zero, not its opposite: no abs": scaled(np.abs(raw)),
            "this assigns each person to one community; the exercise asks for memberships": (
                np.eye(V.shape[1])[raw.argmax(axis=1)]
            ),
            "divide rows by their sums, not columns": np.maximum(raw, 0) / np.maximum(raw, 0).sum(axis=0),
            "rows are mixtures of rows: V = Theta V_pure, so Theta = V V_pure^-1 and not V (V_pure')^-1": turned,
        }
        return [Part("theta", scaled(np.maximum(raw, 0)), mistakes, "shares", (NONNEGATIVE, ROWS_SUM_TO_ONE))]


EXERCISES = {
    "word_pairs": WordPairs(),
    "projection": Projection(),
    "coherent": Coherent(),
    "membership": Membership(),
    **JUDGED,
}

OBJECTIVES = (("word_pairs",), ("projection",), ("membership",))  # of the notebook, in its order: the exercises of each
LAB = ("products", "coherent", "contests", "ranks", "lonely")  # exercises of the lab
