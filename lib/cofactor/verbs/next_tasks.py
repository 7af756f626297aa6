"""``next_tasks``: the tasks where another label reduces the expected error most, and when to stop.

    symbol   meaning                                                                             shape
    p        posterior of the classes                                                            (N, K)
    a, b     most and second most probable class of a task                                       (N,)
    A        confusion matrix of the average worker, Pr(label i | class c) in [i, c]             (K, K)
    V_m      expected probability that the label of the task is right after m more labels        (N,)

The label of a task is a, which is wrong with probability 1 - p_a; the expected error is the mean of this. If j of m
further labels are b, the label of the task becomes b if b is then more probable. Labels of third classes are counted
with a:

    V_m = sum_j max(p_a Bin(j; m, A_ba), p_b Bin(j; m, A_bb))

One label seldom changes a confident posterior, but several may. So V is computed up to `AHEAD` labels ahead, and the
value of a label is the slope of the smallest concave function above V. Tasks are chosen in order of falling slope.

Source: expected reduction of error as in Roy and McCallum, "Toward optimal active learning through sampling estimation
of error reduction", ICML 2001; for repeated labels, Sheng, Provost and Ipeirotis, "Get another label?", KDD 2008.
Looking several labels ahead is cofactor's own addition.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from cofactor.core.checks import check_whole
from cofactor.core.errors import amount
from cofactor.core.lazy import pd, special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, fitted_on
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.plan_next import checked_error
from cofactor.crowd.workers import estimated_accuracy, without_information
from cofactor.verbs.aggregate import read_crowd
from cofactor.verbs.result import SHOWN, noting

AHEAD = 5  # labels a task at most, in one go
NAMED = 3  # workers that a task can be given to, or as many as labels are asked for
TINY = 1e-12  # worth of a label that is rounding


@dataclass(frozen=True)
class NextTasks:
    """Tasks to label next, and the expected error before and after. It has no `report`; `table` can be saved.

    Attributes
    ----------
    table : DataFrame
        One row per task to label, the most useful first: task, ask (number of labels to request), who (the most
        accurate workers who have not labelled it: three, or as many as requested; fewer if no more are left), n_labels
        (present labels), label and its probability now, gain (expected reduction of the number of wrong labels).
    error : float
        Expected fraction of tasks labelled wrongly now, as reported by `aggregate`: the mean of 1 - probability. It is
        too low if workers share mistakes that the method does not detect.
    expected_error : float
        The same, after the requested labels.
    wanted_error : float or None
    needed : int or None
        Number of labels until the wanted error is expected; 0 means stop. None if `AHEAD` more labels per task are not
        enough, no error is wanted, or the error is unknown.
    known : bool
        Whether the error can be estimated. If no task has two labels, it is only a prior guess.
    new_workers : int
        Number of tasks with more requested labels than workers who have not labelled them.
    notes : list of str
        Notes from reading the labels.
    """

    table: pd.DataFrame
    error: float
    expected_error: float
    wanted_error: float | None
    needed: int | None
    known: bool
    new_workers: int
    notes: list[str]

    @property
    def stop(self) -> bool:
        """Whether the estimated error is as low as wanted."""
        return self.needed == 0

    def __str__(self) -> str:
        n_labels, tasks = int(self.table["ask"].sum()), amount(len(self.table), "task")
        if not self.known:
            return (
                "no task has two labels, so the error cannot be estimated: "
                f"request {amount(n_labels, 'second label')} for {tasks}, and run this again"
            )
        now = f"expected error {self.error:.2%} (by the model, as printed by aggregate: check some tasks by hand)"
        if self.stop:
            return f"{now}: not above the wanted {self.wanted_error:.2%}, so stop here"
        lines = [now, f"request {amount(n_labels, 'label')} for {tasks}: expected error then {self.expected_error:.2%}"]
        if self.wanted_error is not None:
            needed = f"more than {AHEAD} per task" if self.needed is None else f"about {self.needed}"
            lines.append(f"additional labels for an expected error of {self.wanted_error:.2%}: {needed}")
        if self.new_workers:
            short = amount(self.new_workers, "task")
            lines.append(f"new workers are needed: {short} with fewer workers left than requested labels (column who)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        notes = "".join(f"<div><em>{html.escape(note)}</em></div>" for note in self.notes)
        return f"<pre>{html.escape(str(self))}</pre>{self.table.head(SHOWN).to_html(index=False)}{notes}"


def next_tasks(
    source: Any, budget: int = 100, wanted_error: float | None = None, method: Aggregator | None = None
) -> NextTasks:
    """Choose the tasks to label next, assuming that new workers are like the present ones.

    Parameters
    ----------
    source : any that `aggregate` takes
    budget : int
        Maximum number of labels to request. Each label is most useful if you request few and choose again afterwards.
    wanted_error : float, optional
        Request no more labels than are expected to reduce the fraction of tasks labelled wrongly to this.
    method : Aggregator, optional
        Fitted to these labels. Default: `WorkerTypes` is fitted.

    Raises a CofactorError if the labels cannot be read, the budget is below 1, the error is not between 0 and 1, or the
    method was fitted to other labels. Cost: a fit unless one is given, and O(N K) time; O(N) memory.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> next_tasks(labels, budget=1).table[["task", "ask", "n_labels"]].values.tolist()
    [[0, 1, 3]]
    """
    check_whole(1, budget=budget)
    if wanted_error is not None:
        checked_error(wanted_error)
    notes = list[str]()
    with noting(notes, []):
        known = read_crowd(source)[0].whole
    fitted = fitted_on(WorkerTypes() if method is None else method, known)
    posterior = fitted.predict_proba(known)
    slopes = worth(posterior, average_worker(fitted))
    there = (known.table.entries_per_row[:, None] + np.arange(slopes.shape[1])).ravel()  # labels before each new one
    order = np.lexsort((there, -slopes.ravel()))  # by falling slope, then rising labels that are there already
    order = order[slopes.ravel()[order] > TINY]
    errors = np.mean(1 - posterior.max(axis=1)) - np.append(0, np.cumsum(slopes.ravel()[order])) / known.n_tasks
    told = not isinstance(fitted, WorkerTypes) or bool(fitted.types_)
    enough = [] if wanted_error is None or not told else np.flatnonzero(errors <= wanted_error).tolist()
    needed = enough[0] if enough else None
    chosen = order[: budget if needed is None else min(budget, needed)]
    expected = float(errors[len(chosen)])
    table = _table(chosen, slopes, posterior, known)
    who = _who(table["task"], table["ask"], fitted, known)
    table.insert(2, "who", [", ".join(map(str, names)) for names in who])
    short = sum(len(names) < asked for names, asked in zip(who, table["ask"], strict=True))
    return NextTasks(table, float(errors[0]), expected, wanted_error, needed, told, short, notes)


def _who(tasks: pd.Series[Any], ask: pd.Series[int], method: Aggregator, labels: CrowdLabels) -> list[list[Any]]:
    """Return, for each task, the workers who have not seen it and are most often right, as far as is known."""
    order = np.argsort(-estimated_accuracy(method, labels), kind="stable")
    order = order[~without_information(method)[order] & (labels.table.entries_per_variable[order] > 0)]
    place, indicator = {task: n for n, task in enumerate(labels.tasks)}, labels.table.indicator
    owner = np.repeat(np.arange(labels.n_workers), labels.table.sizes)
    rows = (indicator.indices[indicator.indptr[n] : indicator.indptr[n + 1]] for n in map(place.__getitem__, tasks))
    found = []
    for row, n in zip(rows, ask, strict=True):
        seen = set(owner[row].tolist())
        found.append([labels.workers[w] for w in islice((w for w in order.tolist() if w not in seen), max(NAMED, n))])
    return found


def average_worker(method: Aggregator) -> Floats:
    """Return the (K, K) mean of the workers' confusion matrices, weighted by their numbers of labels."""
    K = len(method.classes_)
    blocks = method.model_.stacked.reshape(-1, K, K)
    return np.asarray(np.average(blocks, axis=0, weights=method.labels_given_))


def worth(p: Floats, A: Floats) -> Floats:
    """Return the (N, AHEAD) values of the first, second, ... further label of every task; they never increase."""
    by_probability = np.argsort(-p, axis=1, kind="stable")
    a, b = by_probability[:, 0], by_probability[:, 1]
    tasks = np.arange(len(p))
    p_a, p_b, wrong, right = p[tasks, a], p[tasks, b], A[b, a], A[b, b]
    V = [p_a]
    for m in range(1, AHEAD + 1):
        cases = [np.maximum(p_a * _binomial(j, m, wrong), p_b * _binomial(j, m, right)) for j in range(m + 1)]
        V.append(np.sum(cases, axis=0))
    return concave_slopes(np.stack(V, axis=1))


def _binomial(j: int, m: int, p: Floats) -> Floats:
    return np.asarray(special.comb(m, j) * p**j * (1 - p) ** (m - j))


def concave_slopes(V: Floats) -> Floats:
    """Return the (N, M) slopes of the smallest concave functions above the rows of V (N, M + 1), at least zero.

    >>> concave_slopes(np.array([[0.0, 0.0, 0.0, 0.3]])).round(3)
    array([[0.1, 0.1, 0.1]])
    """
    M = V.shape[1] - 1
    slopes = np.zeros((len(V), M))
    for m in range(M):  # the smallest over starts of the largest over ends: slope of the envelope between m and m + 1
        per_label = [(V[:, end, None] - V[:, : m + 1]) / (end - np.arange(m + 1)) for end in range(m + 1, M + 1)]
        slopes[:, m] = np.max(per_label, axis=0).min(axis=1)
    return np.maximum(slopes, 0.0)


def _table(chosen: Ints, slopes: Floats, posterior: Floats, labels: CrowdLabels) -> pd.DataFrame:
    task = chosen // slopes.shape[1]
    ask = np.bincount(task, minlength=labels.n_tasks)
    gain = np.bincount(task, slopes.ravel()[chosen], labels.n_tasks)
    tasks = pd.unique(task)  # in the order of their first label
    columns = {
        "task": [labels.tasks[n] for n in tasks],
        "ask": ask[tasks],
        "n_labels": labels.table.entries_per_row[tasks],
        "label": [labels.classes[k] for k in posterior[tasks].argmax(axis=1)],
        "probability": posterior[tasks].max(axis=1).round(6),
        "gain": gain[tasks].round(6),
    }
    return pd.DataFrame(columns)
