"""The exercises of notebook 09: words that stand together, coherence of a topic, memberships from pure nodes."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats
from cofactor.separable import coherence
from cofactor.separable.metrics import SMOOTHING
from course.exercises.old import Exercise, Given, Mistake, Part


def _pairs_given() -> Given:
    F = np.array(
        [[2.0, 1.0, 0.0, 0.5], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [0.0, 0.5, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0]]
    )
    return {"F": F}


def _pairs(g: Given) -> Floats:
    return np.asarray(g["F"].T @ g["F"])


WORD_PAIRS = Exercise(
    _pairs_given,
    (
        Part(
            "P diag(1/c)",
            lambda g: _pairs(g) / _pairs(g).sum(axis=0),
            (
                Mistake(
                    lambda g: _pairs(g) / len(g["F"]),
                    "these are the co-occurrences P; divide every column by its sum, so that frequent words are no "
                    "longer than others",
                ),
                Mistake(_pairs, "these are D P; divide every column by its sum"),
                Mistake(
                    lambda g: _pairs(g) / _pairs(g).sum(axis=1, keepdims=True),
                    "here the rows sum to one; a word is a column",
                ),
                Mistake(
                    lambda g: _pairs(g) / np.linalg.norm(_pairs(g), axis=0),
                    "columns have length one here; mixtures stay mixtures only if their sums are one",
                ),
                Mistake(
                    lambda g: _pairs(g) / _pairs(g).sum(), "divide every column by its own sum, not all by the total"
                ),
            ),
        ),
    ),
    (
        "P = F'F / D: two words stand together as often as their columns of F meet",
        "c = P.sum(axis=0), and each column is divided by its entry of c; D cancels",
        'P = task["F"].T @ task["F"], and then P / P.sum(axis=0)',
    ),
    "each column is now a distribution over words: what stands beside this one",
)


def _coherence_given() -> Given:
    counts = np.array([[3, 1, 0], [1, 2, 1], [2, 0, 1], [4, 1, 0], [0, 2, 1], [1, 0, 0]])
    return {"counts": counts, "top_words": np.array([0, 1, 2])}


def _log_ratios(g: Given, smoothing: float = SMOOTHING, lower: bool = False) -> Floats:
    """Ln of shared documents over those of one of the words, for all pairs a < b."""
    together = np.asarray((g["counts"] > 0).T.astype(float) @ (g["counts"] > 0))
    a, b = np.triu_indices(len(g["top_words"]), k=1)
    below = together[b, b] if lower else together[a, a]
    return np.asarray(np.log((together[a, b] + smoothing) / below))


COHERENT = Exercise(
    _coherence_given,
    (
        Part(
            "Coh",
            lambda g: coherence(g["counts"], [g["top_words"]]),
            (
                Mistake(
                    lambda g: _log_ratios(g).sum(),
                    "the factor 2 is missing: published numbers count every pair in both directions",
                ),
                Mistake(
                    lambda g: 2 * _log_ratios(g, lower=True).sum(),
                    "divide by the documents of the heavier word, a, which stands first in the list",
                ),
                Mistake(lambda g: 2 * _log_ratios(g, smoothing=0.0).sum(), "0.01 documents are added to those shared"),
                Mistake(
                    lambda g: 2 * _log_ratios(g, smoothing=1.0).sum(), "0.01 is added to the shared documents, not 1"
                ),
                Mistake(lambda g: 2 * _log_ratios(g).mean(), "this is the mean over pairs; sum over them"),
                Mistake(lambda g: 2 * _log_ratios(g).sum() / np.log(10), "in nats: take np.log, to the base e"),
            ),
        ),
    ),
    (
        "D(a) counts documents that have word a at all: counts > 0",
        "together = present.T @ present holds D(a) on its diagonal and D(a, b) beside it",
        "2 * sum of log((together[a, b] + 0.01) / together[a, a]) over a < b",
    ),
    "words that share most of their documents lose little; a pair that never meets would cost 2 ln(0.01 / D(a))",
)


def _membership_given() -> Given:
    V = np.array(
        [[0.5, 0.4, 0.1], [0.5, -0.4, 0.1], [0.3, 0.0, -0.6], [0.25, 0.0, 0.05], [0.4, 0.25, -0.2], [0.1, -0.02, 0.04]]
    )
    return {"V": V, "pure": np.array([0, 1, 2])}


def _raw(g: Given) -> Floats:
    return np.asarray(np.linalg.solve(g["V"][g["pure"]].T, g["V"].T).T)


def _scaled(theta: Floats) -> Floats:
    return np.asarray(theta / theta.sum(axis=1, keepdims=True))


MEMBERSHIP = Exercise(
    _membership_given,
    (
        Part(
            "theta",
            lambda g: _scaled(np.maximum(_raw(g), 0)),
            (
                Mistake(_raw, "these are the weights; set negative ones to zero, and divide every row by its sum"),
                Mistake(lambda g: np.maximum(_raw(g), 0), "rows do not sum to one yet: divide each by its sum"),
                Mistake(
                    lambda g: np.maximum(_scaled(_raw(g)), 0),
                    "cut at zero first, and divide by the sum after: these rows sum to more than one",
                ),
                Mistake(lambda g: _scaled(_raw(g)), "negative memberships: set them to zero before you divide"),
                Mistake(lambda g: _scaled(np.abs(_raw(g))), "a negative weight becomes zero, not its opposite: no abs"),
                Mistake(
                    lambda g: _scaled(np.maximum(np.linalg.solve(g["V"][g["pure"]], g["V"].T).T, 0)),
                    "rows are mixtures of rows: V = Theta V_pure, so Theta = V V_pure^-1 and not V (V_pure')^-1",
                ),
            ),
        ),
    ),
    (
        "V = Theta V_pure, with the pure rows V_pure = V[pure]",
        "Theta = V @ np.linalg.inv(V[pure]); then negative entries to zero",
        "np.maximum(...), and last divide by .sum(axis=1, keepdims=True)",
    ),
    "node 3 has half the length of others and the same memberships as it would have at full length: how active "
    "somebody is divides out",
)


EXERCISES = {"word_pairs": WORD_PAIRS, "coherent": COHERENT, "membership": MEMBERSHIP}
