"""CrowdMoments: the sums over tasks that the factorisations need of crowd labels, and nothing else.

    symbol   meaning                                                    shape
    C        counts of label pairs, `PairwiseMoments`                   (M K, M K), sparse
    F'V      votes of every worker by vote share of the task's labels   (M K, K)

Both add up over tasks, so that labels in many files are counted file by file, on as many processors as there are,
and never meet in memory.

Source: Ibrahim and Fu, ICML 2021, Eq. (3); Dawid and Skene, 1979, for the start from majority vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.files import from_json, load_arrays, save_arrays
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments, broken_moments, counted_arrays, pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels

FIELDS = ("counts", "columns", "starts", "singles", "sizes", "n_rows", "vote_cells", "vote_classes", "vote_rows", "ids")


@dataclass(frozen=True)
class CrowdMoments:
    """Sums over tasks: label pairs, and majority votes as soft classes.

    Attributes
    ----------
    pairs : PairwiseMoments
        `n_rows` is the number of tasks.
    votes : SoftCounts
        Of the vote shares, over tasks with a label: `votes.model()` is the start from majority vote.
    workers, classes : lists
        Ids, in the order of the codes.
    """

    pairs: PairwiseMoments
    votes: SoftCounts
    workers: list[Any]
    classes: list[Any]

    @classmethod
    def of(cls, labels: CrowdLabels) -> CrowdMoments:
        """Count labels that are in memory. Cost as `pairwise_moments`."""
        return cls(pairwise_moments(labels.table), votes_of(labels), labels.workers, labels.classes)

    @property
    def n_tasks(self) -> int:
        """Number of tasks that were counted."""
        return self.pairs.n_rows

    @property
    def n_labels(self) -> int:
        """Number of labels that were counted."""
        return int(self.pairs.singles.sum())

    def save(self, path: str | PathLike[str], **more: Any) -> None:
        """Write everything, and `more` as `save_arrays` does, to an .npz file; ids must be text or whole numbers."""
        _save(path, self, self.votes, **self.pairs.arrays(), **more)

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> CrowdMoments:
        """Read a file that `save` wrote; of several, their sum, added in the order given.

        Raises a CofactorError for what is no file of moments (it is named), or where they belong to different crowds.
        """
        votes: list[SoftCounts] = []
        ids: list[bytes] = []

        def parts() -> Iterator[Mapping[str, NDArray[Any]]]:
            for path in paths:
                part = _read(path)
                counted = part["vote_cells"], part["vote_classes"], int(part["vote_rows"])
                votes.append(SoftCounts(*counted, part["sizes"].astype(np.int64)))
                ids.append(part["ids"].tobytes())
                if ids[-1] != ids[0]:
                    raise CofactorError(f"{path} and {paths[0]} were counted for different workers or classes")
                yield part

        pairs = PairwiseMoments.from_arrays(parts())
        return cls(pairs, reduce(add, votes), **from_json(ids[0]))


def save_moments(path: str | PathLike[str], labels: CrowdLabels, **more: Any) -> None:
    """Count labels and write their moments: as `CrowdMoments.of(labels).save(path)`, in less time."""
    _save(path, labels, votes_of(labels), **counted_arrays(labels.table), **more)


def votes_of(labels: CrowdLabels) -> SoftCounts:
    """Return the soft counts of the vote shares, over tasks with a label."""
    F, K = labels.table.indicator, labels.n_classes
    cells, classes = np.zeros((F.shape[1], K)), np.zeros(K)
    n_tasks = _add_votes(F.indptr, F.indices, cells, classes)
    return SoftCounts(cells, classes, n_tasks, labels.table.sizes)


@njit(cache=True, nogil=True)
def _add_votes(indptr: Ints, indices: Ints, cells: Floats, classes: Floats) -> int:
    K, n_tasks = len(classes), 0
    shares = np.empty(K)
    for s in range(len(indptr) - 1):
        first, end = indptr[s], indptr[s + 1]
        n_tasks += first < end
        shares[:] = 0
        for x in range(first, end):
            shares[np.uint32(indices[x]) % np.uint32(K)] += 1
        for k in range(K):
            shares[k] /= max(end - first, 1)
            classes[k] += shares[k]
        for x in range(first, end):
            v = np.uint64(indices[x])
            for k in range(K):
                cells[v, k] += shares[k]
    return n_tasks


def _save(path: str | PathLike[str], crowd: CrowdMoments | CrowdLabels, votes: SoftCounts, **more: Any) -> None:
    ids = {"workers": crowd.workers, "classes": crowd.classes}
    counted = {"vote_cells": votes.cells, "vote_classes": votes.classes, "vote_rows": votes.n_rows}
    save_arrays(path, ids=ids, **counted, **more)


def _read(path: str | PathLike[str]) -> Mapping[str, NDArray[Any]]:
    part = load_arrays(path, FIELDS, "file of moments")
    problem = broken_moments(part) or _broken_votes(part) or _broken_ids(part)
    if problem:
        raise CofactorError(f"{path} is no file of moments: {problem}")
    return part


def _broken_votes(part: Mapping[str, NDArray[Any]]) -> str:
    """What is wrong with the votes of a file; empty if nothing is."""
    cells, classes, rows = (part[f"vote_{name}"] for name in ("cells", "classes", "rows"))
    if cells.dtype.kind != "f" or classes.dtype.kind != "f" or rows.dtype.kind not in "iu":
        return "its votes are no numbers"
    if rows.shape or rows < 0 or cells.shape != part["singles"].shape + classes.shape or classes.ndim != 1:
        return f"votes of shapes {cells.shape} and {classes.shape} for {len(part['singles'])} values"
    if not all((np.isfinite(votes) & (votes >= 0)).all() for votes in (cells, classes)):
        return "some votes are negative or not finite"
    fitting = np.allclose(cells.sum(axis=1), part["singles"], atol=1e-6) and np.isclose(classes.sum(), float(rows))
    return "" if fitting and rows <= part["n_rows"] else "its votes do not add up to its labels"


def _broken_ids(part: Mapping[str, NDArray[Any]]) -> str:
    """What is wrong with the ids of a file; empty if nothing is."""
    try:
        ids = from_json(part["ids"].tobytes())
        (workers, classes), names = ids.values(), set(ids)
        sound = names == {"workers", "classes"} and {type(known) for known in [*workers, *classes]} <= {str, int}
        fitting = len(workers) == len(part["sizes"]) and (part["sizes"] == len(classes)).all()
    except (ValueError, TypeError, AttributeError):
        return "its ids cannot be read"
    if not sound:
        return "its ids are neither text nor whole numbers"
    if len(set(workers)) < len(workers) or len(set(classes)) < len(classes):
        return "some workers or classes are named twice"
    return "" if fitting and part["vote_classes"].shape == (len(classes),) else "its ids belong to other moments"
