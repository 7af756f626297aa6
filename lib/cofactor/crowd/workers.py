"""A table of all workers: estimated accuracies with intervals, and cautious verdicts.

An accuracy estimated without ground truth is uncertain, yet people are paid or banned because of it. So no worker is
called worse, or said to make a certain mistake, unless the interval shows it. And no worker is judged at all if the
labels do not allow it: see `why_not_judged`.

**Uncertainty of an accuracy.** Tasks are drawn with replacement and the method is fitted again. This shows how much the
fit would change on other tasks, but not where it is wrong, since all refits share its assumption that workers err
independently. The tempered probabilities of `WorkerTypes` show how uncertain its labels are. So its estimate of a
worker's accuracy is the mean probability of the worker's labels, and the variance has three parts:

    symbol   meaning                                                                            shape
    p_i      tempered probabilities of task i                                                   (K,)
    a_w      mean over the n_w labels (i, l) of worker w of p_il: the estimated accuracy        (workers,)
    u_w      mean over them of p_il (1 - p_il)                                                  (workers,)
    s_w      standard deviation of a_w over refits to tasks drawn anew, started from the vote   (workers,)

    variance = s_w^2 + (MODEL_ERROR_FACTOR u_w)^2 + (u_w + a_w (1 - a_w)) / n_w

The second part is the error of the model: probabilities are too high or too low on many tasks at once, and only where
they are neither 0 nor 1. The third is chance: whether the labels are correct, and that only n_w labels are a sample of
all labels the worker would give.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.bootstrap import (
    LEVEL,
    REFIT_ROUNDS,
    REFIT_TOL,
    START_FLOOR,
    ModelBootstrap,
    Rows,
    observations,
    probability_intervals,
    resample,
    seen_rows,
    warn_of_unfinished,
)
from cofactor.core.checks import check_kind
from cofactor.core.em import iterate_em, soft_counts
from cofactor.core.errors import ConvergenceWarning, listing
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.aggregators import MultiStartEM
from cofactor.crowd.base import Aggregator, fitted_on, require_labels, worker_accuracy
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import UNKNOWN, CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import prior_cells
from cofactor.crowd.readings import Readings
from cofactor.crowd.scores import alpha_interval, suggested_order

# ---- bootstrap ----


Refit = tuple[LatentClassModel, Floats, bool]  # the model, the accuracies, and whether it converged
MODEL_ERROR_FACTOR = 0.6  # of u_w; chosen on public crowds, see docs/default.md


@dataclass(frozen=True, repr=False)
class CrowdBootstrap(ModelBootstrap):
    """The fitted model of a crowd, with its refits; see `bootstrap`.

    Attributes
    ----------
    workers, classes : lists
        Ids, in the order of the model.
    labels_given : (n_workers,) array
    right, right_spread : (n_workers,) arrays
        Estimated accuracy of every worker, and its standard deviation.
    model, draws, counts, n_rows, other : see `ModelBootstrap`
        For WorkerTypes, `other` is the model in which tempered probabilities count as soft classes.
    """

    workers: list[Any]
    classes: list[Any]
    labels_given: Floats
    right: Floats
    right_spread: Floats

    def prior(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the classes: class, estimate, low, high."""
        low, high = self.prior_interval(level)
        return pd.DataFrame({"class": self.classes, "estimate": self.model.prior, "low": low, "high": high})

    def accuracy(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the workers: worker, labels (given), estimate, low, high of Pr(label is right)."""
        low, high = probability_intervals(self.right, self.right_spread, self.labels_given, level)
        columns = {"worker": self.workers, "labels": self.labels_given.astype(int), "estimate": self.right}
        return pd.DataFrame(columns | {"low": low, "high": high})

    def confusion(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of Pr(worker says `said` | class `true`): worker, said, true, estimate, low, high."""
        low, high = self.cell_intervals(level)
        ids = pd.MultiIndex.from_product([self.workers, self.classes, self.classes], names=["worker", "said", "true"])
        cells = {"estimate": self.model.stacked.ravel(), "low": low.ravel(), "high": high.ravel()}
        return pd.DataFrame(cells, index=ids).reset_index()

    def intervals(self, level: float = LEVEL) -> pd.DataFrame:
        """Return all intervals as one long table, whose column `quantity` is prior, accuracy or confusion."""
        tables = {
            "prior": self.prior(level).rename(columns={"class": "true"}),
            "accuracy": self.accuracy(level).drop(columns="labels"),
            "confusion": self.confusion(level),
        }
        long = pd.concat(tables, names=["quantity"]).reset_index(level=0).reset_index(drop=True)
        return long[["quantity", "worker", "said", "true", "estimate", "low", "high"]]


def bootstrap(
    method: Aggregator,
    labels: CrowdLabels,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> CrowdBootstrap:
    """Refit a method to tasks drawn with replacement, for intervals of accuracies, confusions and the prior.

    Parameters
    ----------
    method : Aggregator
        Fitted on `labels`, or not fitted yet.
    labels : CrowdLabels
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result does not depend on the number of jobs. 50 draws suffice for WorkerTypes, whose
        intervals mostly reflect the error of the model, which refits cannot show.

    Raises
    ------
    CofactorError
        As in `fit` and `resample`, or if `method` was fitted on another crowd.

    Cost
    ----
    `n_draws` fits, and for WorkerTypes as many posteriors. Methods that end in EM are refitted by EM from their model,
    which takes fewer rounds and stays in its basin; the others start afresh.

    Source and deviations
    ---------------------
    See `cofactor.core.bootstrap`; the variance of an accuracy under WorkerTypes is cofactor's own, see the top of this
    module. On 29 public crowds, 90 % intervals contain the accuracy of 87 to 100 % of the workers on 22 crowds, of 50
    to 76 % on five, and of none on two, whose labels are dependent in a way that the fit does not see: see
    docs/default.md. Intervals of other methods contain the truth only if the Dawid-Skene model holds: on 23 of these
    crowds, those of maximum likelihood contain 55 %.

    Examples
    --------
    >>> from cofactor import crowd, simulate
    >>> labels = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.6, random_state=0), 200, random_state=0).labels
    >>> found = crowd.bootstrap(crowd.WorkerTypes(), labels, n_draws=50, random_state=0)
    >>> found.accuracy(level=0.9).round(1).head(2)
       worker  labels  estimate  low  high
    0       0      55       0.7  0.5   0.9
    1       1      59       0.7  0.5   0.9
    """
    fitted = fitted_on(method, labels)
    rows = seen_rows(labels.table)
    seen, model, other, variance = labels.take_tasks(rows), fitted.model_, None, np.zeros(labels.n_workers)
    gold = np.array([fitted.gold_.get(task, UNKNOWN) for task in seen.tasks]) if fitted.gold_ else None
    refit: Any = _refit_types if isinstance(fitted, WorkerTypes) else _refit_by_em if ends_in_em(fitted) else _refit
    again = partial(refit, fitted=fitted, labels=seen, gold=gold)
    draws, shares, converged = zip(*resample(again, seen.n_tasks, n_draws, random_state, n_jobs, verbose), strict=True)
    warn_of_unfinished(list(converged))
    right = worker_accuracy(model)
    if isinstance(fitted, WorkerTypes):
        tempered = fitted.predict_proba(seen)
        p = of_labels(seen, tempered)
        right, unsure = mean_over_labels(seen, p), mean_over_labels(seen, p * (1 - p))
        chance = (unsure + right * (1 - right)) / np.maximum(seen.table.entries_per_variable, 1)
        variance = (MODEL_ERROR_FACTOR * unsure) ** 2 + chance
        cells = np.tile(prior_cells((fitted.diagonal, fitted.off), labels.n_classes), (labels.n_workers, 1))
        other = soft_counts(seen.table, tempered).model(cells)
    counts, given = observations(seen.table, model), labels.table.entries_per_variable.astype(np.float64)
    spread = np.sqrt(np.var(shares, axis=0) + variance)
    who = labels.workers, labels.classes, given, right, spread
    return CrowdBootstrap(model, draws, counts, len(rows), *who, other=other)


def ends_in_em(method: Aggregator) -> bool:
    """Return whether a method's model is a maximum of the likelihood, so that EM can continue from it."""
    return method.em or isinstance(method, MultiStartEM)


def _refit(rows: Rows, fitted: Aggregator, labels: CrowdLabels, gold: Ints | None) -> Refit:
    """Fit redrawn tasks anew, whose model is aligned to that of all; gold is taken by methods that end in EM only."""
    found = clone(fitted).fit(labels.take_tasks(rows)).model_.align_to(fitted.model_)
    return found, worker_accuracy(found), True


def _refit_by_em(rows: Rows, fitted: Aggregator, labels: CrowdLabels, gold: Ints | None) -> Refit:
    """EM on redrawn tasks from the model of all, without pseudo-counts, whose pull would make all refits alike."""
    evidence = Evidence.of(labels.take_tasks(rows), None if gold is None else gold[rows])
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the caller counts them
        found, result = iterate_em(evidence.e_step, fitted.model_.lift(START_FLOOR), REFIT_ROUNDS, REFIT_TOL)
    found = found if gold is not None else found.align_to(fitted.model_)
    return found, worker_accuracy(found), result.converged


def _refit_types(rows: Rows, fitted: WorkerTypes, labels: CrowdLabels, gold: Ints | None) -> Refit:
    """Fit redrawn tasks from their votes, with the same copies; accuracies are those on all tasks."""
    again = copy(fitted)
    again.verbose, again.design_effect = False, fitted.design_effect_
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the caller counts them
        again.refit(labels.take_tasks(rows), None if gold is None else gold[rows])
    right = mean_over_labels(labels, of_labels(labels, again.predict_proba(labels)))
    return again.model_, right, again.result_.converged


def estimated_accuracy(method: Aggregator, labels: CrowdLabels) -> Floats:
    """Return the estimated accuracy of every worker: a_w for WorkerTypes, for other methods that of their model.

    For workers with few labels, the accuracy of a model with a prior is mostly that of the prior; a_w is not.
    """
    if isinstance(method, WorkerTypes):
        return mean_over_labels(labels, of_labels(labels, method.predict_proba(labels)))
    return worker_accuracy(method.model_)


def mean_over_labels(labels: CrowdLabels, values: Floats) -> Floats:
    """Return the mean over each worker's labels of a value per label; the overall mean for workers without labels.

    Several answers of a worker to one task count by their shares.
    """
    owner, share = labels.table.variables, labels.table.indicator.data
    total, given = (np.bincount(owner, amount, minlength=labels.n_workers) for amount in (values * share, share))
    return np.asarray(np.where(given > 0, total / np.where(given > 0, given, 1), values.mean()))


def of_labels(labels: CrowdLabels, posterior: Floats) -> Floats:
    """Return the probability that each single label is correct."""
    return posterior[labels.table.rows, labels.table.values]


# ---- what can be said of every worker ----


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
RARE = 0.005  # a mistake that would be printed as 0 %
MAY_BE_GRADES = (
    "the classes may be grades, where one step off is not simply wrong: declare their order (order=[...], --order), "
    "or rename the classes with words if they are not grades"
)


def workers_table(
    method: Aggregator,
    labels: CrowdLabels,
    bootstrap: CrowdBootstrap | None = None,
    level: float = LEVEL,
    readings: Readings | None = None,
) -> pd.DataFrame:
    """Return a table with one row per worker: accuracy, interval, verdict, most frequent mistake and notes.

    Parameters
    ----------
    method : Aggregator
        Fitted on `labels`.
    labels : CrowdLabels
    bootstrap : CrowdBootstrap, optional
        Bootstrap of this method on these labels. Without it, no worker is judged.
    level : float in (0, 1)
        Level of the intervals.
    readings : Readings, optional
        Readings of these labels; a worker whose accuracy depends on a camp is not judged.

    Returns
    -------
    DataFrame with columns
        worker, n_labels; accuracy, low, high: estimated fraction of correct labels, with its interval (NaN without
        `bootstrap`); for WorkerTypes it is the mean probability of the worker's own labels, which may differ from the
        confusion matrix: that describes further labels, by true class, and a prior shrinks it to the average worker;
        agreement: fraction of the labels of others on the same tasks that are equal (NaN if there are none); verdict:
        "worse than chance" if the interval ends below 1 / classes; "below the crowd's mean" or "above the crowd's mean"
        if it does not contain the mean accuracy over all labels ("below" only if the vote agrees); "better than chance"
        if it starts above 1 / classes; "too little known to say" otherwise, and for fewer than five labels; "no
        information beside the others" as in `without_information`; "not known from these labels" if it depends on a
        camp (see `Readings`), if nobody else labelled any of their tasks, and for all workers if `why_not_judged` gives
        a reason; mistake: the most frequent wrong
        answer, as "said for true: share", if its interval starts above the crowd's mean, else empty; note: whose copy a
        worker is, and which class a worker always chose, else empty.

    Raises
    ------
    CofactorError
        `method` is not fitted, or was fitted on another crowd.

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
        mean, chance = np.average(table["accuracy"], weights=table["n_labels"]), 1 / labels.n_classes
        rules = [(table["n_labels"] < MIN_JUDGED, UNCLEAR)]
        rules += [(table["high"] < chance, WORSE), (table["high"] < mean, BELOW), (table["low"] > mean, ABOVE)]
        rules.append((table["low"] > chance, BETTER))
        holds = [rule.to_numpy() for rule, _ in rules]
        table["verdict"] = np.select(holds, [words for _, words in rules], UNCLEAR).tolist()
        table["mistake"] = _mistakes(bootstrap, level)
    if bootstrap is not None and readings is not None:
        unknown = depending_on_camps(labels, readings, table["low"].to_numpy(), table["high"].to_numpy())
        by_vote = mean_over_labels(labels, of_labels(labels, readings.posterior("vote")))
        below_too = by_vote < np.average(by_vote, weights=labels.table.entries_per_variable)
        below = (table["verdict"] == BELOW) & ~below_too
        table.loc[below, "verdict"] = UNCLEAR
        table.loc[unknown, "verdict"], table.loc[unknown, "mistake"] = NOT_KNOWN, ""
    if bootstrap is not None and not method.gold_:  # nobody labelled a task of theirs, too
        table.loc[table["agreement"].isna(), ["verdict", "mistake"]] = NOT_KNOWN, ""
    silent = without_information(method)
    table.loc[silent, "verdict"], table.loc[silent, "mistake"] = NO_INFORMATION, ""
    if why_not_judged(method, labels):
        table["verdict"], table["mistake"] = NOT_KNOWN if bootstrap is not None else UNJUDGED, ""
    table["note"] = _notes(method, labels)
    return table


def depending_on_camps(labels: CrowdLabels, readings: Readings | None, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return for every worker whether their accuracy under the reading of a camp is outside the limits."""
    outside = np.zeros(labels.n_workers, dtype=bool)
    if readings is None:
        return outside
    for name in readings.groups:
        right = mean_over_labels(labels, of_labels(labels, readings.posterior(name)))
        outside |= ~((right >= low) & (right <= high))
    return outside


def why_not_judged(method: Aggregator, labels: CrowdLabels) -> str:
    """Return why no worker can be judged from these labels; "" if workers can be judged.

    They cannot be judged with only two workers, since it is unknown which of them is right; with one label per task; if
    labels agree no more than by chance; if the answer is the vote, since too few labels come from informative workers;
    if the labels are almost unanimous, since shared errors cannot be detected then; and if the classes may be grades
    (see `suggested_order`) but no order was declared. docs/default.md reports how often intervals contain the truth.

    Cost: that of the posterior and of `suggested_order`.
    """
    if np.count_nonzero(labels.table.entries_per_variable) < MIN_JUDGED_CROWD:
        return "with two workers, the labels cannot show which of them is right"
    if labels.whole.n_labels <= np.count_nonzero(labels.table.entries_per_row):
        return "no task has two labels"
    if method.gold_:
        return ""
    if alpha_interval(labels)[0] <= 0:
        return "the labels agree no more than by chance"
    if isinstance(method, WorkerTypes) and method.by_vote_:
        return "the labels do not show which workers know the answers"
    if isinstance(method, WorkerTypes):
        sure = float(np.mean(np.max(method.predict_proba(labels), axis=1)))
        if sure > ALL_SURE:
            return f"the labels are almost unanimous (mean probability {sure:.1%}), so shared errors cannot be detected"
    return MAY_BE_GRADES if getattr(method, "order", None) is None and suggested_order(labels) else ""


def constant_label(labels: CrowdLabels) -> Ints:
    """Return for every worker with two labels or more the class of all their labels; -1 if labels differ."""
    given = labels.table.frequencies.reshape(-1, labels.n_classes)
    one = (np.count_nonzero(given, axis=1) == 1) & (labels.table.entries_per_variable >= 2)
    return np.where(one, given.argmax(axis=1), -1)


def _notes(method: Aggregator, labels: CrowdLabels) -> list[str]:
    """Say of each worker whose copy they are, and which class they always said."""
    copies = {}
    for group in getattr(method, "copies_", []):
        for worker in group:
            others = listing(other for other in group if other != worker)
            copies[worker] = f"same labels and mistakes as {others}: counted as one worker"
    always = [f"always chose {labels.classes[k]}" if k >= 0 else "" for k in constant_label(labels)]
    return ["; ".join(filter(None, (copies.get(w, ""), s))) for w, s in zip(labels.workers, always, strict=True)]


def without_information(method: Aggregator) -> NDArray[np.bool_]:
    """Return a mask of the workers whose labels have no information beside those of the others.

    `WorkerTypes` detects them by its type "none". There are none for other methods; if no task has two labels; if the
    answer is the vote; or if fewer than three workers are left when copies count as one, or fewer than two with
    information.
    """
    if not isinstance(method, WorkerTypes) or "none" not in method.types_ or method.by_vote_:
        return np.zeros(len(method.workers_), dtype=bool)
    n_different = len(method.workers_) - sum(len(group) - 1 for group in method.copies_)
    none = method.type_probabilities_[:, method.types_.index("none")]
    enough = n_different >= MIN_JUDGED_CROWD and np.count_nonzero(none <= MIN_NONE) >= LEAST_INFORMED
    return np.asarray((none > MIN_NONE) & enough)


def agreement_with_others(labels: CrowdLabels) -> Floats:
    """Return for every worker the fraction of others' labels on the same tasks that are equal; NaN without any."""
    equal, pairs = _pairs(labels)
    with np.errstate(invalid="ignore"):
        return equal / pairs


def mean_agreement(labels: CrowdLabels) -> float:
    """Return the fraction of equal pairs among all pairs of labels of one task; NaN without any pair."""
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


def _mistakes(found: CrowdBootstrap, level: float) -> list[str]:
    """Name the most frequent wrong answer of every worker who makes it more often than the crowd, by its interval."""
    K = len(found.classes)
    cells, low = (array.reshape(-1, K, K) for array in (found.model.stacked, found.cell_intervals(level)[0]))
    crowd = np.average(cells, axis=0, weights=found.labels_given)
    wrong = np.where(np.eye(K, dtype=bool), -1.0, cells * found.model.prior).reshape(-1, K * K)
    return [
        f"{found.classes[said]} for {found.classes[true]}: {A[said, true]:.0%} of the time"
        if low[m, said, true] > crowd[said, true] and A[said, true] >= RARE
        else ""
        for m, (A, (said, true)) in enumerate(
            zip(cells, np.transpose(np.unravel_index(wrong.argmax(axis=1), (K, K))), strict=True)
        )
    ]
