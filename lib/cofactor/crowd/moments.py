"""CrowdMoments: the sums over tasks that the factorisations need of crowd labels, and nothing else.

    symbol   meaning                                                    shape
    C        counts of label pairs, `PairwiseMoments`                   (M K, M K), sparse
    F'V      votes of every worker by vote share of the task's labels   (M K, K)

Both add up over tasks, so that labels in many files are counted file by file, on as many processors as there are,
and never meet in memory.

Source: Ibrahim and Fu, ICML 2021, Eq. (3); Dawid and Skene, 1979, for the start from majority vote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.em import SoftCounts, soft_counts
from cofactor.core.errors import CofactorError
from cofactor.core.files import load_arrays
from cofactor.core.moments import PairwiseMoments, broken_moments, pairwise_moments
from cofactor.crowd.labels import CrowdLabels, vote_shares

FIELDS = (
    *("counts", "columns", "starts", "singles", "sizes", "n_rows"),
    *("vote_cells", "vote_classes", "vote_rows", "ids"),
)


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
        labelled = labels.table.entries_per_row > 0
        votes = soft_counts(labels.table.take_rows(labelled), vote_shares(labels)[labelled])
        return cls(pairwise_moments(labels.table), votes, labels.workers, labels.classes)

    @property
    def n_tasks(self) -> int:
        """Tasks counted."""
        return self.pairs.n_rows

    @property
    def n_labels(self) -> int:
        """Labels counted."""
        return int(self.pairs.singles.sum())

    def save(self, path: str | PathLike[str], **more: NDArray[Any]) -> None:
        """Write everything, and `more` arrays, to an .npz file; ids must be text or whole numbers."""
        ids = json.dumps({"workers": self.workers, "classes": self.classes})
        votes = {"cells": self.votes.cells, "classes": self.votes.classes, "rows": np.array(self.votes.n_rows)}
        with open(path, "wb") as file:
            np.savez(
                file,
                allow_pickle=False,
                ids=np.frombuffer(ids.encode(), dtype=np.uint8),
                **self.pairs.arrays(),
                **{f"vote_{name}": array for name, array in votes.items()},
                **more,
            )

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> CrowdMoments:
        """Read a file that `save` wrote; of several, their sum, added in the order given.

        Raises
        ------
        CofactorError
            A file is no file of moments (it is named), or they belong to different crowds.
        """
        votes: list[SoftCounts] = []
        ids: list[bytes] = []

        def parts() -> Iterator[Mapping[str, NDArray[Any]]]:
            for path in paths:
                part = _read(path)
                votes.append(_votes(part))
                ids.append(part["ids"].tobytes())
                if ids[-1] != ids[0]:
                    raise CofactorError(f"{path} and {paths[0]} were counted for different workers or classes")
                yield part

        pairs = PairwiseMoments.from_arrays(parts())
        return cls(pairs, reduce(add, votes), **json.loads(ids[0]))


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
    good = np.isfinite(cells).all() and np.isfinite(classes).all() and (cells >= 0).all() and (classes >= 0).all()
    return "" if good else "some votes are negative or not finite"


def _broken_ids(part: Mapping[str, NDArray[Any]]) -> str:
    """What is wrong with the ids of a file; empty if nothing is."""
    try:
        ids = json.loads(part["ids"].tobytes())
        (workers, classes), names = ids.values(), set(ids)
        sound = names == {"workers", "classes"} and {type(known) for known in [*workers, *classes]} <= {str, int}
        fitting = len(workers) == len(part["sizes"]) and (part["sizes"] == len(classes)).all()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "its ids cannot be read"
    if not sound:
        return "its ids are neither text nor whole numbers"
    return "" if fitting and part["vote_classes"].shape == (len(classes),) else "its ids belong to other moments"


def _votes(part: Mapping[str, NDArray[Any]]) -> SoftCounts:
    return SoftCounts(part["vote_cells"], part["vote_classes"], int(part["vote_rows"]), part["sizes"].astype(np.int64))
