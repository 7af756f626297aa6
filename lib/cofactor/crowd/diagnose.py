"""Checks before aggregation: whether the labels can identify the truth, and which methods suit them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, amount, listing
from cofactor.core.estimator import Check, Diagnosis, Status
from cofactor.core.moments import classes_told_apart, pairwise_moments
from cofactor.crowd.base import Gold, gold_against_vote, gold_codes, require_labels, tied_share
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import reachable_blocks, too_large
from cofactor.crowd.labels import UNKNOWN, CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.readings import readings
from cofactor.crowd.scores import alpha_interval, krippendorff_alpha, suggested_order
from cofactor.crowd.workers import NO_INFORMATION, why_not_judged, without_information

FEW_PER_TASK = 3  # a median below this leaves majority vote little to go by
FEW_PER_WORKER = 10  # below this a worker's confusion matrix is mostly prior
MANY_TIES = 0.1
AGREEMENT, NO_AGREEMENT = "agreement", "the labels agree no more than by chance: there is nothing to aggregate"
WELL_REACHED = 0.9
PAIRS, OF_PAIRS = (
    "pairs of workers",
    ("co-labelling graph", "co-labelling cycle", "missing co-occurrences", "tasks per pair", "reach of imputation"),
)
MOST_MEGABYTES = 500  # of the co-occurrences
LABELS_PER_CELL = 2  # of a confusion matrix; a median below this leaves most of its cells to chance
METHODS_WITHOUT_PRIOR = "methods without a prior (RobSymNMF, DesSymNMF, others without -EM, or pseudo_counts=(0, 0))"


def diagnose(labels: CrowdLabels, min_common: int | None = None, gold: Gold | None = None) -> Diagnosis:
    """Check labels before aggregation: numbers of labels, ties, the co-labelling graph, and the reach of imputation.

    Parameters
    ----------
    labels : CrowdLabels
    min_common : int, optional
        Pairs of workers with fewer common tasks count as missing; default as in `Cooccurrences.from_moments`.
    gold : optional
        Known classes, as in `Aggregator.fit`, to compare with the vote. Default: those in the file of labels, if any.

    Returns
    -------
    Diagnosis
        Its verdict says which methods suit the labels, and which cannot be used.

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
    pairs = _of_pairs(labels, min_common)
    checks = (
        *_of_amounts(labels),
        *_of_agreement(labels, known if gold is None else gold),
        pairs[0],
        _told_apart(labels),
        *_of_fit(labels),
        *pairs[1:],
    )
    return Diagnosis(repr(labels), checks, _verdict(checks))


def _check(name: str, value: str, advice: str = "", warn: bool = False, fail: bool = False) -> Check:
    """Return a row of the table; its advice is given only where it warns or fails."""
    return Check(name, "fail" if fail else "warn" if warn else "pass", value, advice if warn or fail else "")


def _of_amounts(labels: CrowdLabels) -> Iterator[Check]:
    """Count labels by task, worker, cell of a confusion matrix, and class."""
    tasks, workers, K = labels.table.entries_per_row, labels.table.entries_per_variable, labels.n_classes
    none, median = int(np.sum(tasks == 0)), float(np.median(tasks))
    bare = f"; {amount(none, 'task')} without labels" if none else ""
    advice = "collect more labels" + ("; a task without labels gets the prior" if none else "")
    spread = f"median {median:g}, {tasks.min()} to {tasks.max()}{bare}"
    yield _check("labels per task", spread, advice, warn=bool(none) or median < FEW_PER_TASK)
    few = int(np.sum(workers < FEW_PER_WORKER))
    below = f"{amount(few, 'worker')} below {FEW_PER_WORKER}"
    spread = f"median {np.median(workers):g}, {workers.min()} to {workers.max()}; {below}"
    status: Status = "warn" if few > labels.n_workers / 2 else "pass"
    yield Check("labels per worker", status, spread, "do not trust their estimated accuracy" if few else "")
    cells = float(np.median(workers)) / K**2
    value = f"median {cells:.2g} for each of the {K} x {K} cells of a worker's confusion matrix"
    advice = "most workers have too few labels for a full confusion matrix: use WorkerTypes, which has a prior"
    yield _check("labels per cell", value, advice, warn=cells < LABELS_PER_CELL)
    used = labels.votes.sum(axis=0)
    never, rarest = [labels.classes[k] for k in np.flatnonzero(used == 0)], int(np.argmin(used))
    share = f"{K}; rarest {labels.classes[rarest]!r}, {used[rarest] / max(used.sum(), 1):.1%} of the labels"
    value = f"never used: {listing(never)}" if never else share
    yield _check("classes", value, "leave these classes out", fail=bool(never))
    tied = tied_share(labels)
    advice = "majority vote has to guess on these tasks; score it with ties split"
    yield _check("tied votes", f"{tied:.1%} of the tasks", advice, warn=tied > MANY_TIES)


def agreement(labels: CrowdLabels) -> str:
    """Return Krippendorff's alpha as text, or why it is not defined."""
    try:
        alpha = krippendorff_alpha(labels)
    except CofactorError:
        return "not defined: no task has two labels"
    return "not defined: all labels are of one class" if np.isnan(alpha) else f"{alpha:.2f}"


def _of_agreement(labels: CrowdLabels, gold: Gold | None) -> Iterator[Check]:
    """Hold labels against chance (labels whose interval of alpha holds zero say nothing), gold, and steps of grades."""
    low, high = alpha_interval(labels)
    interval = "" if np.isnan(low) else f" (90 % interval {low:.2f} to {high:.2f})"
    yield _check(AGREEMENT, f"Krippendorff's alpha {agreement(labels)}{interval}", NO_AGREEMENT, fail=low <= 0)
    if gold is not None:
        codes = gold_codes(gold, labels)
        against = gold_against_vote(labels, codes)
        yield _check("gold", f"{amount(np.sum(codes != UNKNOWN), 'task')} of known class", against, fail=bool(against))
    order = suggested_order(labels)
    if order is not None:
        advice = "if the classes are grades, declare their order (order=[...], --order); until then no worker is judged"
        value = f"perhaps: workers agree better in the order {listing(order)} than in nine of ten others"
        yield Check("grades", "pass", value, advice)


def _of_pairs(labels: CrowdLabels, min_common: int | None) -> tuple[Check, ...]:
    """Check what pairs of workers have in common; not where their blocks of counts would take too much memory."""
    met, K = int(np.sum(labels.table.entries_per_row.astype(np.int64) ** 2)), labels.n_classes
    n_pairs = min(met, labels.n_workers**2)
    blocks = (8 * n_pairs * K**2 + 16 * min(met, n_pairs * K**2)) / 1e6  # frequencies; counts with their indices
    if blocks > MOST_MEGABYTES:
        value = f"not checked: the co-occurrences of {labels.n_workers:,} workers would take about {blocks:,.0f} MB"
        advice = f"{', '.join(OF_PAIRS)} are unknown; only methods of the SymNMF family need them"
        return (Check(PAIRS, "warn", value, advice),)
    cooc = Cooccurrences.from_moments(pairwise_moments(labels.table), min_common)
    parts, alone = [len(part) for part in cooc.components], len(cooc.isolated)
    value = f"{len(parts)} components of {listing(parts)} workers" if parts else "no two workers share enough tasks"
    advice = "let workers of different components share tasks"
    if len(parts) == 1:
        few = f"; {amount(alone, 'other')} with too few shared tasks" if alone else ""
        value = f"connected, {parts[0]} workers{few}"
        advice = "these are left out of the factorisation; EM uses their labels"
    graph = _check("co-labelling graph", value, advice, warn=alone > 0, fail=len(parts) != 1)
    return (graph, *_of_blocks(cooc)) if parts else (graph,)


def _of_blocks(cooc: Cooccurrences) -> Iterator[Check]:
    """Check the blocks of co-occurrences: what they identify, how many are there, and which can be had from others."""
    two_teams, missing = any(cooc.bipartite), cooc.missing_share
    advice = "let a third worker, or two of one team, share tasks: wrong models fit two separate teams perfectly"
    yield _check("co-labelling cycle", "bipartite" if two_teams else "odd cycle found", advice, fail=two_teams)
    blocks = 1 - len(cooc.indices) / cooc.n_workers**2
    value = f"{missing:.1%} of worker pairs ({blocks:.1%} of blocks with the diagonal)"
    advice = "of the SymNMF family, use only methods that impute: RobSymNMF or DesSymNMF"
    yield Check("missing co-occurrences", "pass", value, advice if missing > 0 else "")
    cells, median = cooc.n_classes**2, float(np.median(cooc.n)) if cooc.n.size else 0.0
    advice = "single blocks are noisy; use methods that weight by sample size"
    yield _check("tasks per pair", f"median {median:g} for {cells} cells", advice, warn=median < cells)
    if too_large(cooc):
        value, advice = (
            f"{cooc.n_workers} workers are too many to complete the matrix",
            "DesSymNMF cannot be used; RobSymNMF can, since it never forms the whole matrix",
        )
        yield Check("reach of imputation", "warn", value, advice)
        return
    reached = float(reachable_blocks(cooc).mean()) if cooc.n.size else 0.0
    advice = "designated imputation leaves blocks empty: prefer RobSymNMF or MV-EM"
    value = f"{reached:.1%} of blocks observed or linked"
    yield _check("reach of imputation", value, advice, warn=reached <= WELL_REACHED)


def _told_apart(labels: CrowdLabels) -> Check:
    K, (found, strength) = labels.n_classes, classes_told_apart(labels.table)
    value = f"{found} of {K} from pairs of labels"
    if not strength.size:
        return Check("classes told apart", "warn", "no two workers to compare", "let two workers or more share tasks")
    if found < K:
        advice = "collect more labels, or merge classes that workers confuse"
        return Check("classes told apart", "warn", value, advice)
    if found > K:
        advice = "tasks probably also differ in difficulty: the probabilities of any model are too high"
        return Check("classes told apart", "warn", f"{found}, more than the actual {K}", advice)
    return Check(
        "classes told apart", "pass", f"{value}; the weakest signal is {strength[K - 2]:.1f} times the chance level"
    )


def _of_fit(labels: CrowdLabels) -> Iterator[Check]:
    """Ask a fit whether the answer depends on a camp, who counts as one worker, and who says nothing."""
    if not labels.n_labels:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)  # what it says is a check of its own
        fit = WorkerTypes().fit(labels)
    if fit.by_vote_:
        yield Check("who knows", "warn", "not determined by the labels", fit.why_by_vote(labels))
    if fit.by_vote_ or not fit.types_:
        return
    seen = readings(labels, fit)
    yield _check("readings", str(seen), seen.warning(), warn=seen.ambiguous)
    if fit.copies_:
        groups = listing(" = ".join(map(str, group)) for group in fit.copies_)
        value = f"{amount(len(fit.copies_), 'group')} with the same labels and the same mistakes: {groups}"
        advice = "they may be one person, or one model asked twice, and count as one worker"
        yield Check("copies", "warn", value, advice)
    if (none := without_information(fit)).any() and not why_not_judged(fit, labels):
        share = labels.table.entries_per_variable[none].sum() / labels.n_labels
        named = listing(labels.workers[w] for w in np.flatnonzero(none))
        advice = "their answers did not affect any label: check their work before judging them"
        yield Check(
            NO_INFORMATION, "warn", f"{amount(none.sum(), 'worker')} ({share:.1%} of the labels): {named}", advice
        )


def _verdict(checks: tuple[Check, ...]) -> str:
    """Say in one sentence each what refuses, what suits, and what not to believe."""
    status = {check.name: check.status for check in checks}
    failed = [name for name, found in status.items() if found == "fail" and name != "gold"]
    said = []
    if AGREEMENT in failed:
        return NO_AGREEMENT
    if failed:
        said.append(f"use WorkerTypes, MajorityVote or MV-EM; the SymNMF family cannot be used ({listing(failed)})")
    if status["labels per cell"] == "warn":
        said.append(f"with so few labels per worker, use the default (WorkerTypes), not {METHODS_WITHOUT_PRIOR}")
    elif not failed:
        said.append("the default method (WorkerTypes) suits these labels; there are enough for other methods, too")
    if status.get("readings") == "warn":
        said.append("do not trust the probabilities before checking them on tasks of known truth")
    return "; ".join(said)
