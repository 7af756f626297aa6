"""What can be said of every worker, and what cannot: a table for a page or a file.

An accuracy that was estimated without ground truth is a guess, and people are paid or banned by it. So nobody is
called worse, or blamed for a mistake, unless the interval of the number says so. And nobody is judged at all where
the labels cannot carry it: see `why_not_judged`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.bootstrap import LEVEL
from cofactor.core.checks import check_kind
from cofactor.core.errors import listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.agreement import alpha_interval
from cofactor.crowd.base import Aggregator, require_labels
from cofactor.crowd.bootstrap import CrowdBootstrap, estimated_accuracy, mean_over_labels, of_labels
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.order import suggested_order
from cofactor.crowd.readings import Readings

WORSE = "worse than chance"
BELOW = "below the crowd's mean"
ABOVE = "above the crowd's mean"
BETTER = "better than chance"
UNCLEAR = "too little known to say"
UNJUDGED = "no interval, not judged"
NOT_KNOWN = "not known from these labels"
NO_INFORMATION = "no information beside the others"
MIN_NONE = 0.5  # probability of type "none" from which that is said of a worker
MIN_JUDGED_CROWD = 3  # workers: where two differ, nothing tells who is right
LEAST_INFORMED = 2  # workers beside whom another says nothing
MIN_JUDGED = 5  # labels: fewer accuse or praise nobody, whatever the interval says
ALL_SURE = 0.98  # mean probability of the labels: above it, errors that all workers share cannot be seen
RARE = 0.005  # a mistake that would be told as 0 %
MAY_BE_GRADES = (
    "the classes may be grades, of which one step off is not simply wrong: declare their order (order=[...], --order), "
    "or name classes by words if they are none"
)


def workers_table(
    method: Aggregator,
    labels: CrowdLabels,
    bootstrap: CrowdBootstrap | None = None,
    level: float = LEVEL,
    readings: Readings | None = None,
) -> pd.DataFrame:
    """Return what can be said of every worker, one row each, in the order of the workers.

    Parameters
    ----------
    method : Aggregator
        Fitted on `labels`.
    labels : CrowdLabels
    bootstrap : CrowdBootstrap, optional
        Of this method on these labels. Without it nobody is judged.
    level : float in (0, 1)
        Of the intervals.
    readings : Readings, optional
        Of these labels; a worker whose accuracy depends on a camp is not judged.

    Returns
    -------
    DataFrame with columns
        worker, n_labels; accuracy, low, high: estimated share of right labels, with its interval (NaN without
        `bootstrap`); agreement: share of the labels of others on the same tasks that are equal (NaN where there are
        none); verdict: "worse than chance" where the interval ends below 1 / classes; "below the crowd's mean", "above
        the crowd's mean" where it does not hold the mean accuracy over all labels ("below" only where the vote agrees);
        "better than chance" where it starts above 1 / classes; "too little known to say" otherwise, and for fewer than
        five labels; "no information beside the others" as in `without_information`; "not known from these labels" where
        a camp decides (see `Readings`), and for all workers where `why_not_judged` says why; mistake: the most frequent
        wrong answer, "said for true: share", where its interval starts above the crowd's mean; else empty; note: whose
        copy a worker is, and which class a worker always said; else empty.

    Raises
    ------
    CofactorError
        `method` is not fitted, or on another crowd.

    Examples
    --------
    >>> from cofactor import crowd
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> workers_table(crowd.MajorityVote().fit(labels), labels)[["worker", "n_labels", "agreement"]]
       worker  n_labels  agreement
    0       0         2       0.75
    1       1         2       0.75
    2       2         2       0.50
    """
    require_labels(labels)
    check_kind(Aggregator, method=method)
    method._check_same_crowd(labels)
    table = pd.DataFrame({"worker": labels.workers, "n_labels": labels.table.entries_per_variable})
    table["accuracy"], table["low"], table["high"] = estimated_accuracy(method, labels), np.nan, np.nan
    table["agreement"] = agreement_with_others(labels)
    table["verdict"], table["mistake"] = UNJUDGED, ""
    if bootstrap is not None:
        table[["low", "high"]] = bootstrap.accuracy(level)[["low", "high"]]
        table["verdict"] = _verdicts(table, 1 / labels.n_classes)
        table["mistake"] = _mistakes(bootstrap, level)
    if bootstrap is not None and readings is not None:
        unknown = depending_on_camps(labels, readings, table["low"].to_numpy(), table["high"].to_numpy())
        below = (table["verdict"] == BELOW) & ~_below_by_vote(labels, readings)
        table.loc[below, "verdict"] = UNCLEAR
        table.loc[unknown, "verdict"], table.loc[unknown, "mistake"] = NOT_KNOWN, ""
    silent = without_information(method)
    table.loc[silent, "verdict"], table.loc[silent, "mistake"] = NO_INFORMATION, ""
    if why_not_judged(method, labels):
        table["verdict"], table["mistake"] = NOT_KNOWN if bootstrap is not None else UNJUDGED, ""
    table["note"] = _notes(method, labels)
    return table


def depending_on_camps(labels: CrowdLabels, readings: Readings | None, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Tell of every worker whether the mean probability of being right under a camp's reading leaves the limits."""
    outside = np.zeros(labels.n_workers, dtype=bool)
    if readings is None:
        return outside
    for name in readings.groups:
        right = mean_over_labels(labels, of_labels(labels, readings.posterior(name)))
        outside |= ~((right >= low) & (right <= high))
    return outside


def _below_by_vote(labels: CrowdLabels, readings: Readings) -> NDArray[np.bool_]:
    """Tell of every worker whether the votes put them below the crowd's mean, too."""
    right = mean_over_labels(labels, of_labels(labels, readings.posterior("vote")))
    return np.asarray(right < np.average(right, weights=labels.table.entries_per_variable))


def why_not_judged(method: Aggregator, labels: CrowdLabels) -> str:
    """Return why these labels cannot carry a verdict on any worker; empty where they can.

    They cannot with two workers, of whom nobody tells which is right; with one label a task; where labels agree no more
    than chance; where the answer is the
    vote, since the model has no worker to go by; where the labels are almost all sure, since errors that all workers
    share cannot be seen then; and where classes may be grades, see `suggested_order`, and no order was declared. How
    often intervals hold with and without this rule is in docs/default.md.

    Cost: that of the posterior and of `suggested_order`.
    """
    if np.count_nonzero(labels.table.entries_per_variable) < MIN_JUDGED_CROWD:
        return "with two workers, nothing tells which of them is right"
    if labels.whole.n_labels <= np.count_nonzero(labels.table.entries_per_row):
        return "no task has two labels"
    if method.gold_:
        return ""
    if alpha_interval(labels)[0] <= 0:
        return "the labels agree no more than chance"
    if isinstance(method, WorkerTypes) and method.by_vote_:
        return "the labels do not tell which workers know the answers"
    if isinstance(method, WorkerTypes):
        sure = float(np.mean(np.max(method.predict_proba(labels), axis=1)))
        if sure > ALL_SURE:
            return f"the labels agree almost everywhere (mean probability {sure:.1%}): shared errors cannot be seen"
    return MAY_BE_GRADES if getattr(method, "order", None) is None and suggested_order(labels) else ""


def constant_label(labels: CrowdLabels) -> Ints:
    """Return, of every worker with two labels or more, the class that all of them are; -1 where they differ."""
    table, M = labels.table, labels.n_workers
    low, high = np.full(M, labels.n_classes), np.full(M, -1)
    np.minimum.at(low, table.variables, table.values)
    np.maximum.at(high, table.variables, table.values)
    return np.where((low == high) & (table.entries_per_variable >= 2), low, -1)


def _notes(method: Aggregator, labels: CrowdLabels) -> list[str]:
    """Say of each worker whose copy they are, and which class they always said."""
    copies = {}
    for group in getattr(method, "copies_", []):
        for worker in group:
            others = listing(other for other in group if other != worker)
            copies[worker] = f"same labels and same mistakes as {others}: counted as one worker"
    always = [f"always said {labels.classes[k]}" if k >= 0 else "" for k in constant_label(labels)]
    return ["; ".join(filter(None, (copies.get(w, ""), s))) for w, s in zip(labels.workers, always, strict=True)]


def without_information(method: Aggregator) -> NDArray[np.bool_]:
    """Tell of every worker whether the labels say that they have no information beside the others.

    It is `WorkerTypes` that asks, by its type "none". Said of no worker by other methods, where no task has two labels,
    where the answer is the vote, where fewer than three workers are left when copies count as one, or fewer than two
    with information.
    """
    if not isinstance(method, WorkerTypes) or "none" not in method.types_ or method.by_vote_:
        return np.zeros(len(method.workers_), dtype=bool)
    n_different = len(method.workers_) - sum(len(group) - 1 for group in method.copies_)
    none = method.type_probabilities_[:, method.types_.index("none")]
    told = n_different >= MIN_JUDGED_CROWD and np.count_nonzero(none <= MIN_NONE) >= LEAST_INFORMED
    return np.asarray((none > MIN_NONE) & told)


def agreement_with_others(labels: CrowdLabels) -> Floats:
    """Return, of every worker, the share of the labels of others on the same tasks that are equal; NaN without any."""
    equal, pairs = _pairs(labels)
    with np.errstate(invalid="ignore"):
        return equal / pairs


def mean_agreement(labels: CrowdLabels) -> float:
    """Return the share of equal labels among all pairs of labels of one task; NaN without any pair."""
    equal, pairs = _pairs(labels)
    return float(equal.sum() / pairs.sum()) if pairs.sum() else float("nan")


def _pairs(labels: CrowdLabels) -> tuple[Floats, Floats]:
    """Count, of every worker, the labels of others on the same tasks: the equal ones, and all; one of each worker."""
    table, votes = labels.whole.table, labels.whole.votes
    equal = votes[table.rows, table.values] - 1
    pairs = table.entries_per_row[table.rows] - 1
    of_workers = (np.bincount(table.variables, counts, minlength=labels.n_workers) for counts in (equal, pairs))
    found, possible = (np.asarray(total, dtype=np.float64) for total in of_workers)
    return found, possible


def _verdicts(table: pd.DataFrame, chance: float) -> list[str]:
    mean = np.average(table["accuracy"], weights=table["n_labels"])
    rules = [(table["n_labels"] < MIN_JUDGED, UNCLEAR)]
    rules += [(table["high"] < chance, WORSE), (table["high"] < mean, BELOW), (table["low"] > mean, ABOVE)]
    rules.append((table["low"] > chance, BETTER))
    return np.select([rule.to_numpy() for rule, _ in rules], [words for _, words in rules], UNCLEAR).tolist()


def _mistakes(found: CrowdBootstrap, level: float) -> list[str]:
    """Name the most frequent wrong answer of every worker who makes it more often than the crowd, by its interval."""
    K = len(found.classes)
    cells, low = (array.reshape(-1, K, K) for array in (found.model.stacked, found.cell_intervals(level)[0]))
    crowd = np.average(cells, axis=0, weights=found.labels_given)
    wrong = np.where(np.eye(K, dtype=bool), -1.0, cells * found.model.prior).reshape(-1, K * K)
    return [
        _named(said, true, A[said, true], found)
        if low[m, said, true] > crowd[said, true] and A[said, true] >= RARE
        else ""
        for m, (A, (said, true)) in enumerate(
            zip(cells, np.transpose(np.unravel_index(wrong.argmax(axis=1), (K, K))), strict=True)
        )
    ]


def _named(said: int, true: int, share: float, found: CrowdBootstrap) -> str:
    return f"{found.classes[said]} for {found.classes[true]}: {share:.0%} of the time"
