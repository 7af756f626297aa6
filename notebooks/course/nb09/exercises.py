"""The exercises of notebook 09: words that stand together, coherence of a topic, memberships from pure nodes."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats, Ints
from cofactor.separable import coherence
from cofactor.separable.metrics import SMOOTHING
from course.grading import Exercise, Given, Part


class WordPairs(Exercise):
    """Co-occurrences of words, every column divided by its sum."""

    hints = (
        "P = F'F / D: two words stand together as often as their columns of F meet",
        "c = P.sum(axis=0), and each column is divided by its entry of c; D cancels",
        'P = task["F"].T @ task["F"], and then P / P.sum(axis=0)',
    )
    praise = "each column is now a distribution over words: what stands beside this one"

    def given(self) -> Given:
        rows = [2.0, 1.0, 0.0, 0.5], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [0.0, 0.5, 1.0, 2.0], [1.0, 0, 0, 0]
        return {"F": np.array(rows)}

    def solve(self, F: Floats) -> list[Part]:
        P = F.T @ F
        unit = P / np.linalg.norm(P, axis=0)
        mistakes = {
            "these are the co-occurrences P; divide every column by its sum, so that frequent words are no longer than "
            "others": P / len(F),
            "these are D P; divide every column by its sum": P,
            "here the rows sum to one; a word is a column": P / P.sum(axis=1, keepdims=True),
            "columns have length one here; mixtures stay mixtures only if their sums are one": unit,
            "divide every column by its own sum, not all by the total": P / P.sum(),
        }
        return [Part("P diag(1/c)", P / P.sum(axis=0), mistakes)]


class Coherent(Exercise):
    """The coherence of a topic's three leading words."""

    hints = (
        "D(a) counts documents that have word a at all: counts > 0",
        "together = present.T @ present holds D(a) on its diagonal and D(a, b) beside it",
        "2 * sum of log((together[a, b] + 0.01) / together[a, a]) over a < b",
    )
    praise = (
        "words that share most of their documents lose little; a pair that never meets would cost 2 ln(0.01 / D(a))"
    )

    def given(self) -> Given:
        counts = np.array([[3, 1, 0], [1, 2, 1], [2, 0, 1], [4, 1, 0], [0, 2, 1], [1, 0, 0]])
        return {"counts": counts, "top_words": np.array([0, 1, 2])}

    def solve(self, counts: Ints, top_words: Ints) -> list[Part]:
        present = (counts > 0).astype(float)
        together = present.T @ present
        a, b = np.triu_indices(len(top_words), k=1)
        both, first, second = together[a, b], together[a, a], together[b, b]
        logs = np.log((both + SMOOTHING) / first)
        lighter = 2 * np.log((both + SMOOTHING) / second).sum()
        mistakes = {
            "the factor 2 is missing: published numbers count every pair in both directions": logs.sum(),
            "divide by the documents of the heavier word, a, which stands first in the list": lighter,
            "0.01 documents are added to those shared": 2 * np.log(both / first).sum(),
            "0.01 is added to the shared documents, not 1": 2 * np.log((both + 1) / first).sum(),
            "this is the mean over pairs; sum over them": 2 * logs.mean(),
            "in nats: take np.log, to the base e": 2 * logs.sum() / np.log(10),
        }
        return [Part("Coh", coherence(counts, [top_words]), mistakes)]


class Membership(Exercise):
    """Memberships of nodes, from the rows of three pure ones."""

    hints = (
        "V = Theta V_pure, with the pure rows V_pure = V[pure]",
        "Theta = V @ np.linalg.inv(V[pure]); then negative entries to zero",
        "np.maximum(...), and last divide by .sum(axis=1, keepdims=True)",
    )
    praise = (
        "node 3 has half the length of others and the same memberships as it would have at full length: how active "
        "somebody is divides out"
    )

    def given(self) -> Given:
        pure = [0.5, 0.4, 0.1], [0.5, -0.4, 0.1], [0.3, 0.0, -0.6]
        return {"V": np.array([*pure, [0.25, 0, 0.05], [0.4, 0.25, -0.2], [0.1, -0.02, 0.04]]), "pure": np.arange(3)}

    def solve(self, V: Floats, pure: Ints) -> list[Part]:
        raw = np.asarray(np.linalg.solve(V[pure].T, V.T).T, dtype=np.float64)
        late, turned = np.maximum(_scaled(raw), 0), _scaled(np.maximum(np.linalg.solve(V[pure], V.T).T, 0))
        mistakes = {
            "these are the weights; set negative ones to zero, and divide every row by its sum": raw,
            "rows do not sum to one yet: divide each by its sum": np.maximum(raw, 0),
            "cut at zero first, and divide by the sum after: these rows sum to more than one": late,
            "negative memberships: set them to zero before you divide": _scaled(raw),
            "a negative weight becomes zero, not its opposite: no abs": _scaled(np.abs(raw)),
            "rows are mixtures of rows: V = Theta V_pure, so Theta = V V_pure^-1 and not V (V_pure')^-1": turned,
        }
        return [Part("theta", _scaled(np.maximum(raw, 0)), mistakes)]


def _scaled(theta: Floats) -> Floats:
    return np.asarray(theta / theta.sum(axis=1, keepdims=True))


EXERCISES = {"word_pairs": WordPairs(), "coherent": Coherent(), "membership": Membership()}
