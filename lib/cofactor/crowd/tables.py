"""Tables of what was found, one row per task or worker; the one that judges workers is in `cofactor.crowd.workers`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.latent_class import map_class
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes


def consensus_frame(labels: CrowdLabels, posterior: Floats, method: Aggregator) -> pd.DataFrame:
    """Return a row per task: its label, the probability of it, and what to look at.

    Columns: task, label, probability, n_labels; disputed: whether most workers with information say another class (all
    count as such but for `WorkerTypes`); overruled: by how many votes another class has more. Of grades the label is
    the median, and low and high are its 90 % interval.
    """
    rows, classes = np.arange(labels.n_tasks), pd.Series(labels.classes).to_numpy()
    predicted, ends = map_class(posterior, method.model_.prior), {}
    if isinstance(method, WorkerTypes) and method.grades_ is not None:
        low, high = method.interval(posterior)
        predicted, ends = method.answers(posterior), {"low": classes[low], "high": classes[high]}
    behind = votes_behind(predicted, labels)
    columns = {
        "task": labels.tasks,
        "label": classes[predicted],
        "probability": posterior[rows, predicted].round(6),
        **ends,
        "n_labels": labels.table.entries_per_row,
        "disputed": method.disagreement(labels) if isinstance(method, WorkerTypes) else behind > 0,
        "overruled": behind,
    }
    return pd.DataFrame(columns)


def posterior_frame(posterior: Floats, labels: CrowdLabels) -> pd.DataFrame:
    """Return the task and the probability of every class, in a column of its name."""
    names = [str(name) for name in labels.classes]
    if len({"task", *names}) <= len(names):  # two columns of one name
        names = [f"class {code}: {name}" for code, name in enumerate(names)]
    frame = pd.DataFrame(posterior.round(6), columns=names)
    frame.insert(0, "task", labels.tasks)
    return frame


def widened(frame: pd.DataFrame, posterior: Floats, labels: CrowdLabels) -> pd.DataFrame:
    """Return a consensus with the probability of every class beside, in columns such as "probability yes"."""
    of_classes = posterior_frame(posterior, labels).iloc[:, 1:]
    return pd.concat([frame, of_classes.add_prefix("probability ")], axis=1)


def confusion_frame(method: Aggregator) -> pd.DataFrame:
    """Return every entry of every annotator confusion matrix: worker, true, said, probability; O(M K^2)."""
    A, classes = np.array(method.model_.conditionals), pd.Series(method.classes_)
    M, K = len(A), len(classes)
    codes = np.arange(K)
    true, said = classes[np.tile(np.repeat(codes, K), M)], classes[np.tile(codes, M * K)]
    worker = pd.Series(method.workers_)[np.repeat(np.arange(M), K * K)]
    columns = {"worker": worker, "true": true, "said": said}
    found = pd.DataFrame({name: cells.to_numpy() for name, cells in columns.items()})
    return found.assign(probability=A.swapaxes(1, 2).ravel().round(6))


def votes_behind(predicted: Ints, labels: CrowdLabels) -> NDArray[Any]:
    """Return of every task how many votes the class of most votes has more than the one that was predicted."""
    votes = labels.votes
    return np.asarray(votes.max(axis=1) - votes[np.arange(len(votes)), predicted])
