"""What there is, and from the name of a data set to labels and truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from cofactor.core.tables import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.data.readers import read_codes, read_truth
from cofactor.data.registry import ROLES, Entry, entries, find
from cofactor.data.storage import locate, offline
from cofactor.simulate import CLASSIFIERS


@dataclass(frozen=True, eq=False)
class CrowdDataset:
    """Crowd labels with what is known of the truth, and whom to thank for them.

    Attributes
    ----------
    name, title : str
    labels : CrowdLabels
        Tasks, workers and classes are numbered as in the source, from zero.
    truth : (n_tasks,) class codes
        -1 where the true class is not known.
    citation, licence : str
    """

    name: str
    title: str
    labels: CrowdLabels
    truth: Ints = field(repr=False)
    citation: str = field(repr=False)
    licence: str = field(repr=False)


def datasets() -> pd.DataFrame:
    """List the data sets: one row each, with size in bytes, licence, and whether it can be loaded without network."""
    rows = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "title": entry.title,
            "tasks": entry.n_tasks,
            "workers": entry.n_workers,
            "classes": entry.n_classes,
            "labels": entry.n_labels,
            "size": sum(entry.copies(role)[0].bytes for role in ROLES),
            "licence": entry.licence,
            "offline": offline(entry),
        }
        for entry in entries().values()
    ]
    return pd.DataFrame(rows)


def load(name: str) -> CrowdDataset:
    """Load a data set by name, downloading or making it on first use.

    Parameters
    ----------
    name : str
        One of those that `datasets()` lists.

    Returns
    -------
    CrowdDataset

    Raises
    ------
    CofactorError
        No such data set; the message lists those there are.
    DatasetUnavailableError
        Neither bundled nor cached, and not to be had now; the message says what to do.

    Cost
    ----
    O(labels); the first time also the download (at most 1 MB, see `datasets()`).

    Examples
    --------
    >>> bluebird = load("bluebird")
    >>> bluebird.labels.n_workers, bluebird.truth[:5].tolist()
    (39, [1, 1, 1, 1, 1])
    """
    entry = find(name)
    labels = _labels(entry)
    truth = locate(entry, "truth")
    return CrowdDataset(
        name=entry.name,
        title=entry.title,
        labels=labels,
        truth=read_truth(truth.path, truth.reader, entry.n_tasks, entry.n_classes),
        citation=entry.citation,
        licence=entry.licence,
    )


def _labels(entry: Entry) -> CrowdLabels:
    file = locate(entry, "labels")
    limits = {"task": entry.n_tasks, "worker": entry.n_workers, "label": entry.n_classes}
    task, worker, label = read_codes(file.path, file.reader, limits).T
    labels = CrowdLabels.from_arrays(
        task, worker, label, entry.n_classes, entry.n_tasks, entry.n_workers, unlabelled="keep"
    )
    if entry.recipe:
        labels.workers = list(CLASSIFIERS)
    return labels
