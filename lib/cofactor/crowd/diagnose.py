"""Before aggregating: whether these labels can tell the truth apart, and by which methods."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cofactor.core.diagnosis import Check, Diagnosis, Status
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.moments import classes_told_apart, pairwise_moments
from cofactor.crowd.agreement import alpha_interval, krippendorff_alpha
from cofactor.crowd.base import gold_against_vote, require_labels, tied_share
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.evidence import UNKNOWN, Gold, gold_codes
from cofactor.crowd.imputation import reachable_blocks, too_large
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.order import suggested_order
from cofactor.crowd.readings import readings
from cofactor.crowd.workers import NO_INFORMATION, why_not_judged, without_information

FEW_PER_TASK = 3  # a median below this leaves majority vote little to go by
FEW_PER_WORKER = 10  # below this a worker's confusion matrix is mostly prior
MANY_TIES = 0.1
AGREEMENT, NO_AGREEMENT = "agreement", "labels agree no more than chance: there is nothing to aggregate"
WELL_REACHED = 0.9
PAIRS, OF_PAIRS = (
    "pairs of workers",
    ("co-labelling graph", "co-labelling cycle", "missing co-occurrences", "tasks per pair", "reach of imputation"),
)
MOST_MEGABYTES = 500  # of the co-occurrences
LABELS_PER_CELL = 2  # of a confusion matrix; a median below this leaves most of its cells to chance
ONE_COIN_ADVICE = "OneCoin where wrong labels scatter evenly over the classes"
METHODS_WITHOUT_PRIOR = "methods without a prior (RobSymNMF, DesSymNMF and others without -EM; pseudo_counts=(0, 0))"


def diagnose(labels: CrowdLabels, min_common: int | None = None, gold: Gold | None = None) -> Diagnosis:
    """Check labels before aggregation: amounts, ties, the co-labelling graph, and what imputation can reach.

    Parameters
    ----------
    labels : CrowdLabels
    min_common : int, optional
        Pairs of workers with fewer common tasks count as missing; default as in `Cooccurrences.from_moments`.
    gold : optional
        Known classes, as in `Aggregator.fit`; held against the vote. Default: what a file of labels knows itself.

    Returns
    -------
    Diagnosis
        Its verdict says which methods suit the labels, and which are ruled out.

    Cost
    ----
    That of the pairwise moments, `classes_told_apart` and `WorkerTypes`, and O(M B^2) for B reference annotators.

    Examples
    --------
    >>> print(diagnose(CrowdLabels.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 0]))["co-labelling cycle"].value)
    bipartite
    """
    require_labels(labels)
    known, labels = labels.gold or None, labels.whole
    pairs = _left_out(labels) or _of_pairs(labels, min_common)
    checks = (
        _labels_per_task(labels),
        _labels_per_worker(labels),
        _labels_per_cell(labels),
        _classes_used(labels),
        _ties(labels),
        _agreement(labels),
        *_gold(labels, known if gold is None else gold),
        *_grades(labels),
        pairs[0],
        _told_apart(labels),
        *_beyond_classes(labels),
        *pairs[1:],
    )
    return Diagnosis(repr(labels), checks, _verdict(checks))


def _left_out(labels: CrowdLabels) -> tuple[Check, ...]:
    """Say that checks of pairs of workers are left out, where their blocks of counts would take too much memory."""
    met, cells = int(np.sum(labels.table.entries_per_row.astype(np.int64) ** 2)), labels.n_classes**2
    pairs = min(met, labels.n_workers**2)
    blocks = (8 * pairs * cells + 16 * min(met, pairs * cells)) / 1e6  # frequencies; counts with their indices
    if blocks <= MOST_MEGABYTES:
        return ()
    value = f"left out: the co-occurrences of {labels.n_workers:,} workers would take about {blocks:,.0f} MB"
    advice = f"{', '.join(OF_PAIRS)} are not known; only methods of the SymNMF family need them"
    return (Check(PAIRS, "warn", value, advice),)


def _of_pairs(labels: CrowdLabels, min_common: int | None) -> tuple[Check, ...]:
    """Check what pairs of workers have in common."""
    cooc = Cooccurrences.from_moments(pairwise_moments(labels.table), min_common)
    more = (_odd_cycle, _missing, _samples_per_block, _reach) if cooc.components else ()
    return (_connection(cooc, labels), *(check(cooc) for check in more))


def _verdict(checks: tuple[Check, ...]) -> str:
    """Say in one sentence each what refuses, what suits, and what not to believe."""
    status = {check.name: check.status for check in checks}
    failed = [name for name, found in status.items() if found == "fail" and name != "gold"]
    said = []
    if AGREEMENT in failed:
        return NO_AGREEMENT
    if failed:
        said.append(f"WorkerTypes, MajorityVote and MV-EM can run; the SymNMF family refuses ({listing(failed)})")
    if status["labels per cell"] == "warn":
        said.append(f"WorkerTypes suits so few labels a worker, and {ONE_COIN_ADVICE}; {METHODS_WITHOUT_PRIOR} do not")
    elif not failed:
        said.append("WorkerTypes suits these labels, and there are enough a worker for methods without a prior")
    if status.get("readings") == "warn":
        said.append("no probability is sure before it was checked on tasks of known truth")
    return "; ".join(said)


def _labels_per_task(labels: CrowdLabels) -> Check:
    counts = labels.table.entries_per_row
    none, median = int(np.sum(counts == 0)), float(np.median(counts))
    value = f"median {median:g}, {counts.min()} to {counts.max()}" + (f"; {none} tasks without labels" if none else "")
    status: Status = "warn" if none or median < FEW_PER_TASK else "pass"
    advice = "collect more labels" if status == "warn" else ""
    advice += "; a task without labels gets the prior" if none else ""
    return Check("labels per task", status, value, advice)


def _labels_per_worker(labels: CrowdLabels) -> Check:
    counts = labels.table.entries_per_variable
    few = int(np.sum(counts < FEW_PER_WORKER))
    value = f"median {np.median(counts):g}, {counts.min()} to {counts.max()}; {few} workers below {FEW_PER_WORKER}"
    status: Status = "warn" if few > labels.n_workers / 2 else "pass"
    return Check("labels per worker", status, value, "their estimated accuracy is not to be trusted" if few else "")


def _labels_per_cell(labels: CrowdLabels) -> Check:
    """Weigh a worker's labels against the cells of a confusion matrix, which has K (K - 1) free numbers."""
    counts, K = labels.table.entries_per_variable, labels.n_classes
    per_cell = float(np.median(counts)) / K**2
    value = f"median {per_cell:.2g} for each of {K} x {K} cells of a worker's confusion matrix"
    remedy = f"use WorkerTypes, whose prior fills it, or {ONE_COIN_ADVICE}"
    advice = f"a full confusion matrix is beyond most workers' labels: {remedy}"
    return _warned_if(per_cell < LABELS_PER_CELL, Check("labels per cell", "pass", value), advice)


def _classes_used(labels: CrowdLabels) -> Check:
    used = labels.votes.sum(axis=0)
    never = [labels.classes[k] for k in np.flatnonzero(used == 0)]
    if never:
        return Check("classes", "fail", f"never used: {listing(never)}", "leave these classes out")
    rarest = int(np.argmin(used))
    value = f"{labels.n_classes}; rarest {labels.classes[rarest]!r}, {used[rarest] / used.sum():.1%} of the labels"
    return Check("classes", "pass", value)


def _ties(labels: CrowdLabels) -> Check:
    share = tied_share(labels)
    check = Check("tied votes", "pass", f"{share:.1%} of the tasks")
    return _warned_if(share > MANY_TIES, check, "majority vote guesses there; score it with ties split")


def _grades(labels: CrowdLabels) -> tuple[Check, ...]:
    """Note classes that look like grades."""
    order = suggested_order(labels)
    if order is None:
        return ()
    value = f"perhaps: workers agree by steps in the order {listing(order)}"
    advice = "if classes are grades, declare it: order=[...], or --order; no worker is judged before"
    return (Check("grades", "pass", value, advice),)


def agreement(labels: CrowdLabels) -> str:
    """Return Krippendorff's alpha in words."""
    try:
        alpha = krippendorff_alpha(labels)
    except CofactorError:
        return "not defined: no task has two labels"
    return "not defined: one class has all labels" if np.isnan(alpha) else f"{alpha:.2f}"


def _agreement(labels: CrowdLabels) -> Check:
    """Hold the 90 % interval of alpha against zero: where workers agree no more than chance, none knows anything."""
    check = Check(AGREEMENT, "pass", f"Krippendorff's alpha {agreement(labels)}")
    low, high = alpha_interval(labels)
    if np.isnan(low):
        return check
    check = replace(check, value=f"{check.value} ({low:.2f} to {high:.2f} with 90 %)")
    return replace(check, status="fail", advice=NO_AGREEMENT) if low <= 0 else check


def _gold(labels: CrowdLabels, gold: Gold | None) -> tuple[Check, ...]:
    """Hold known classes against the vote, where some are known."""
    if gold is None:
        return ()
    codes = gold_codes(gold, labels)
    against = gold_against_vote(labels, codes)
    check = Check("gold", "pass", f"{np.sum(codes != UNKNOWN)} tasks of known class")
    return (replace(check, status="fail", advice=against) if against else check,)


def _connection(cooc: Cooccurrences, labels: CrowdLabels) -> Check:
    alone = [labels.workers[m] for m in cooc.isolated]
    if len(cooc.components) != 1:
        sizes = listing(len(c) for c in cooc.components)
        value = f"{len(cooc.components)} components of {sizes} workers" if sizes else "no two workers share a task"
        return Check("co-labelling graph", "fail", value, "let workers of different components share tasks")
    value = f"connected, {len(cooc.components[0])} workers"
    if alone:
        advice = "kept out of the factorisation; EM uses their labels"
        return Check("co-labelling graph", "warn", f"{value}; {len(alone)} share too few tasks with anybody", advice)
    return Check("co-labelling graph", "pass", value)


def _told_apart(labels: CrowdLabels) -> Check:
    K, (found, strength) = labels.n_classes, classes_told_apart(labels.table)
    value = f"{found} of {K} by pairs of labels"
    if not strength.size:
        return Check("classes told apart", "warn", "no two workers to compare", "let two workers or more share tasks")
    if found < K:
        advice = "collect more labels, or merge classes that workers take for one another"
        return Check("classes told apart", "warn", value, advice)
    if found > K:
        advice = "tasks differ in more than their class, such as difficulty: any model here is too sure of itself"
        return Check("classes told apart", "warn", f"{found}, more than the {K} there are", advice)
    return Check("classes told apart", "pass", f"{value}, the weakest {strength[K - 2]:.1f} times chance")


def _beyond_classes(labels: CrowdLabels) -> tuple[Check, ...]:
    """Ask whether some tasks mislead several workers at once, of a fit."""
    if not labels.n_labels:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)  # what it says is a check of its own
        fit = WorkerTypes().fit(labels)
    if fit.by_vote_:
        return (Check("who knows", "warn", "not determined by the labels", fit.why_by_vote(labels)),)
    if not fit.types_:
        return ()
    seen = readings(labels, fit)
    return (_warned_if(seen.ambiguous, Check("readings", "pass", str(seen)), seen.warning()), *_of_workers(fit, labels))


def _of_workers(fit: WorkerTypes, labels: CrowdLabels) -> Iterator[Check]:
    """Name workers who count as one, and workers who say nothing beside the others."""
    if fit.copies_:
        groups = listing(" = ".join(map(str, group)) for group in fit.copies_)
        advice = "are they one person, or one model asked twice? They count as one worker"
        yield Check(
            "copies", "warn", f"{len(fit.copies_)} groups with the same labels and the same mistakes: {groups}", advice
        )
    if (none := without_information(fit)).any() and not why_not_judged(fit, labels):
        share = labels.table.entries_per_variable[none].sum() / labels.n_labels
        named = listing(labels.workers[w] for w in np.flatnonzero(none))
        advice = "they move no label; look how they work before anything is said of them"
        yield Check(NO_INFORMATION, "warn", f"{none.sum()} workers ({share:.1%} of the labels): {named}", advice)


def _warned_if(bad: bool, check: Check, advice: str) -> Check:
    return replace(check, status="warn", advice=advice) if bad else check


def _odd_cycle(cooc: Cooccurrences) -> Check:
    if any(cooc.bipartite):
        advice = "a third worker, or two of one team, must share tasks: wrong models fit two separate teams perfectly"
        return Check("co-labelling cycle", "fail", "bipartite", advice)
    return Check("co-labelling cycle", "pass", "odd cycle found")


def _missing(cooc: Cooccurrences) -> Check:
    M, share = cooc.n_workers, cooc.missing_share
    blocks = 1 - len(cooc.indices) / M**2
    value = f"{share:.1%} of worker pairs ({blocks:.1%} of blocks with the diagonal)"
    advice = (
        "of the SymNMF family, only methods that impute use what is there: RobSymNMF, DesSymNMF" if share > 0 else ""
    )
    return Check("missing co-occurrences", "pass", value, advice)


def _samples_per_block(cooc: Cooccurrences) -> Check:
    cells, median = cooc.n_classes**2, float(np.median(cooc.n)) if cooc.n.size else 0.0
    check = Check("tasks per pair", "pass", f"median {median:g} for {cells} cells")
    return _warned_if(median < cells, check, "blocks are noise one by one; methods that weigh by sample size cope")


def _reach(cooc: Cooccurrences) -> Check:
    if too_large(cooc):
        advice = "DesSymNMF refuses; RobSymNMF never forms the whole matrix"
        return Check("reach of imputation", "warn", f"{cooc.n_workers} workers: too many to complete", advice)
    reached = float(reachable_blocks(cooc).mean()) if cooc.n.size else 0.0
    check = Check("reach of imputation", "pass", f"{reached:.1%} of blocks observed or linked")
    advice = "designated imputation leaves holes: prefer RobSymNMF or MV-EM"
    return _warned_if(reached <= WELL_REACHED, check, advice)
