"""Documents as word counts, with the topic of each, and the trials that were published with them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Ints
from cofactor.data import registry
from cofactor.data.matlab import load_matlab

RARE = {True: 2, False: 1}  # documents that a word must be in, by whether a trial has at most FEW classes
FEW = 10


@dataclass(frozen=True, eq=False)
class TopicsDataset:
    """Word counts of documents that are about one topic each.

    Attributes
    ----------
    name, title : str
    counts : (D, N) sparse array
        How often each word stands in each document. Which word a column is, the source does not tell.
    truth : (D,) class codes
        The topic of each document, from zero.
    trials : dict, number of classes to list of 50 lists of class codes
        The random classes that came with the data; all published results are means over them.
    citation, licence : str
    """

    name: str
    title: str
    counts: sparse.csr_array = field(repr=False)
    truth: Ints = field(repr=False)
    trials: dict[int, list[list[int]]] = field(default_factory=dict, repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)

    def __repr__(self) -> str:
        documents, words = self.counts.shape
        return f"TopicsDataset({self.name!r}, {documents} documents, {words} words, {self.truth.max() + 1} topics)"

    def only(self, classes: ArrayLike, min_documents: int = 1) -> TopicsDataset:
        """Keep the documents of these classes, and the words that stand in at least `min_documents` of them.

        Classes keep their codes; `trials` is left out. Raises a CofactorError where a class has no documents (it is
        named), or no word is left.

        >>> counts = sparse.csr_array([[2, 1, 0], [0, 3, 0], [0, 0, 4]])
        >>> some = TopicsDataset("made", "Three documents", counts, np.array([0, 0, 1])).only([0], min_documents=2)
        >>> some, some.counts.toarray().tolist()
        (TopicsDataset('made', 2 documents, 1 words, 1 topics), [[1], [3]])
        """
        wanted = np.unique(np.asarray(classes))
        absent = np.setdiff1d(wanted, self.truth)
        if absent.size:
            known = np.unique(self.truth)
            raise CofactorError(f"no documents of classes {listing(absent.tolist())}: there are {known}")
        documents = np.flatnonzero(np.isin(self.truth, wanted))
        counts = self.counts[documents]
        words = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= min_documents)
        if not words.size:
            raise CofactorError(f"no word is in {min_documents} documents of these classes: ask for fewer")
        return replace(self, counts=counts[:, words], truth=self.truth[documents], trials={})

    def trial(self, n_classes: int, number: int) -> TopicsDataset:
        """Return one of the published trials: all documents of its classes, without the words left out of it.

        A word must be in two documents, in trials of more than ten classes in one: that rule gives the published lists
        of words in all 1200 trials. Raises a CofactorError where there is no such trial.
        """
        trials = self.trials.get(n_classes, [])
        if not 0 <= number < len(trials):
            known = ", ".join(map(str, self.trials))
            raise CofactorError(f"no trial {number} of {n_classes} classes: classes {known}; trials 0 to 49")
        return self.only(trials[number], RARE[n_classes <= FEW])


def topic_trials(name: str) -> dict[int, list[list[int]]]:
    """Return the trials of a data set in datasets/topic_trials.json, by number of classes; none of an unknown set.

    They are the random classes that Cai, Mei, Han and Zhai published with the word counts, counted from zero.

    >>> {name: sum(map(len, topic_trials(name).values())) for name in ("tdt2", "reuters21578")}
    {'tdt2': 600, 'reuters21578': 600}
    """
    known = json.loads((registry.DATASETS_DIR / "topic_trials.json").read_text(encoding="utf8"))
    return {int(n_classes): trials for n_classes, trials in known.get(name, {}).items()}


def read_documents(path: Path, shape: tuple[int, int], n_classes: int) -> tuple[sparse.csr_array, Ints]:
    """Read word counts (`fea`) and classes (`gnd`, from 1) from a MATLAB file.

    Raises a CofactorError where it cannot be read, or holds other than whole counts of this shape and one class each.
    """
    fea, gnd = load_matlab(path, ["fea", "gnd"]).values()
    try:
        counts = sparse.csr_array(fea, dtype=np.float64)
        classes = numbers(gnd, "gnd").ravel()
    except (ValueError, TypeError) as error:
        raise CofactorError(f"{path}: fea and gnd must be matrices of numbers: {error}") from None
    if counts.shape != shape or classes.shape != shape[:1]:
        raise CofactorError(f"{path}: expected {shape} counts and a class for each row; got {counts.shape}")
    with np.errstate(invalid="ignore"):  # some NaN signal wherever they are looked at
        bad = _rows_not(counts.data >= 0, counts) | _rows_not(counts.data == np.floor(counts.data), counts)
        bad |= ~np.isin(classes, np.arange(1, n_classes + 1))
    if bad.any():
        found = listing(np.flatnonzero(bad).tolist())
        raise CofactorError(f"{path}: counts must be whole, classes 1 to {n_classes}; not so in rows {found}")
    return counts, classes.astype(np.int64) - 1


def _rows_not(good: NDArray[np.bool_], counts: sparse.csr_array) -> NDArray[np.bool_]:
    return np.isin(np.arange(counts.shape[0]), counts.tocoo().coords[0][~good])
