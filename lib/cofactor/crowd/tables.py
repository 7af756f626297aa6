"""Tables of what was found, one row per task or worker; the one that judges workers is in `cofactor.crowd.workers`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.latent_class import map_class
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes


def consensus_frame(
    labels: CrowdLabels,
    posterior: NDArray[np.float64],
    method: Aggregator,
) -> pd.DataFrame:
    """Return the MAP label of every task, its posterior probability, and the number of labels, as a table.

    Of `WorkerTypes`, a column `disputed` marks tasks whose label is another than that of most workers who say
    something: look at these first.
    """
    predicted = map_class(posterior, method.model_.prior)
    columns = {
        "task": labels.tasks,
        "label": pd.Series(labels.classes).to_numpy()[predicted],
        "probability": posterior[np.arange(labels.n_tasks), predicted].round(6),
        "n_labels": labels.table.entries_per_row,
    }
    if isinstance(method, WorkerTypes):
        columns["disputed"] = method.disagreement(labels)
    return pd.DataFrame(columns)


def graded_frame(labels: CrowdLabels, posterior: Floats, method: WorkerTypes) -> pd.DataFrame:
    """Return the grade of every task as a table, as `consensus_frame`, with low and high: the 90 % interval of it."""
    frame, classes = consensus_frame(labels, posterior, method), pd.Series(labels.classes).to_numpy()
    answer, (low, high) = method.answers(posterior), method.interval(posterior)
    frame["label"], frame["probability"] = classes[answer], posterior[np.arange(len(answer)), answer].round(6)
    frame.insert(3, "low", classes[low])
    frame.insert(4, "high", classes[high])
    return frame


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


def overruled(predicted: Ints, labels: CrowdLabels) -> NDArray[np.bool_]:
    """Tell of every task whether fewer workers chose its label than some other class."""
    votes = labels.votes
    return np.asarray(votes[np.arange(len(votes)), predicted] < votes.max(axis=1))


def overruled_frame(method: Aggregator, posterior: Floats, labels: CrowdLabels) -> pd.DataFrame:
    """Return the tasks whose label is not the one of most workers, the surest of them first.

    Columns: task, label, probability, vote (the class most workers chose; of tied ones the first), its share of the
    votes, n_labels.
    """
    predicted = method.answers(posterior)
    rows = np.flatnonzero(overruled(predicted, labels))
    sure = posterior[np.arange(len(posterior)), predicted]
    votes = labels.votes[rows]
    given = votes.sum(axis=1)
    found = pd.DataFrame(
        {
            "task": [labels.tasks[n] for n in rows],
            "label": [labels.classes[k] for k in predicted[rows]],
            "probability": sure[rows].round(6),
            "vote": [labels.classes[k] for k in votes.argmax(axis=1)],
            "vote_share": (votes.max(axis=1, initial=0) / np.maximum(given, 1)).round(6),
            "n_labels": given,
        }
    )
    return found.sort_values("probability", ascending=False, kind="stable", ignore_index=True)
