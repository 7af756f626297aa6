"""What `cofactor aggregate` says about labels and a fitted method: facts, and warnings that come first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import cofactor as cf
from cofactor.core.errors import listing
from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, right_shares, tied_share
from cofactor.crowd.bootstrap import estimated_accuracy
from cofactor.crowd.cooccurrence import missing_share
from cofactor.crowd.diagnose import FEW_PER_WORKER, agreement
from cofactor.crowd.labels import vote_shares
from cofactor.crowd.readings import Believed, Readings
from cofactor.crowd.tables import overruled
from cofactor.crowd.workers import NO_INFORMATION, depending_on_camps, why_not_judged, without_information
from cofactor_app.cli import grades

NOTHING_KNOWN = "no task has two labels: how good the workers are is not known, and every label counts the same"
CLOSE = 0.05  # of an accuracy under another reading, where no interval was asked for
RANKED = 3  # workers listed at each end of the reliability ranking
LEVEL = 0.05  # of the test against the vote
BEHIND = 2  # votes: one vote more or less explains a label that is closer to the majority's
MANY_BEHIND = 0.05  # of all tasks; chosen on the public sets, where most fits that lose to the vote are beyond it
MANY_UNANIMOUS = 0.01


def summary(
    source: str,
    name: str,
    method: Aggregator,
    posterior: Floats,
    labels: cf.CrowdLabels,
    truth: Ints | None,
    found: Readings | None = None,
) -> list[str]:
    """Return lines about labels, method, readings, workers, and errors where truth is known."""
    result = method.result_
    start = f", best start {method.best_start_}" if isinstance(method, cf.crowd.MultiStartEM) else ""
    against = overruled(method.answers(posterior), labels)
    lines = [
        f"{source}: {labels.n_tasks} tasks, {labels.n_workers} workers, {labels.n_classes} classes, "
        f"{labels.n_labels} labels",
        f"classes: {listing(labels.classes)}",
        f"missing co-occurrences: {missing_share(labels.whole.table):.1%} of worker pairs",
        f"agreement (Krippendorff's alpha): {agreement(labels.whole)}",
        f"{name}{start}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        *_structure(method),
        *_types(method, labels),
        *grades.lines(method, labels),
        f"labels that differ from the majority vote: {against.mean():.1%} of the tasks ({against.sum()})",
        *_ties(labels),
        *([f"readings: {found}"] if found else []),
        *_reliability(method, labels, found),
    ]
    if method.gold_:
        lines.append(of_gold(method))
    if truth is not None:
        lines.append(errors(name, grades.answered(method, posterior), labels, truth))
        lines += grades.steps_off(name, method, posterior, labels, truth)
    return lines


def _ties(labels: cf.CrowdLabels) -> Iterator[str]:
    if share := tied_share(labels):
        yield f"tied votes: {share:.1%} of the tasks; the label of any of the tied classes agrees with these"


def _structure(method: Aggregator) -> Iterator[str]:
    """Yield by how much probabilities were tempered."""
    if isinstance(method, cf.crowd.WorkerTypes) and method.design_effect_ > 0:
        effect = f"design effect {method.design_effect_:.1f}"
        yield f"probabilities were tempered, since labels of a task repeat one another ({effect})"


def copies(method: Aggregator) -> Iterator[str]:
    """Yield which workers count as one, where some do."""
    if isinstance(method, cf.crowd.WorkerTypes) and method.copies_:
        groups = listing((" = ".join(map(str, group)) for group in method.copies_), len(method.copies_))
        also = ", or known to share a source" if method.one_voice else ""
        yield f"duplicate workers, who count as one (same labels, same mistakes{also}): {groups}"


def _types(method: Aggregator, labels: cf.CrowdLabels) -> Iterator[str]:
    """Yield what `WorkerTypes` found: workers who are one, who say nothing, and tasks that should be looked at."""
    if not isinstance(method, cf.crowd.WorkerTypes):
        return
    if not method.types_:
        yield NOTHING_KNOWN
    none, given = without_information(method), labels.table.entries_per_variable
    if none.any() and not why_not_judged(method, labels):
        named = listing(labels.workers[w] for w in np.flatnonzero(none))
        share = given[none].sum() / labels.n_labels
        yield f"workers with {NO_INFORMATION}: {none.sum()} of {len(none)} ({share:.1%} of the labels): {named}"
    yield from copies(method)
    disputed = method.disagreement(labels)
    yield (
        f"labels that differ from the vote of the workers with information: {disputed.mean():.1%} of the tasks "
        f"({disputed.sum()}), marked as disputed: look at these first"
    )


def choice(method: Aggregator, right: dict[str, float]) -> Iterator[str]:
    """Yield which reading gold tasks chose, and how many of them each has right."""
    if right:
        chosen = "one voice" if getattr(method, "one_voice", ()) else "model"
        chosen = "vote" if isinstance(method, cf.crowd.MajorityVote) else chosen
        chosen = "believed" if isinstance(method, Believed) else chosen
        counts = ", ".join(f"{name} {count:g}" for name, count in right.items())
        yield f"reading chosen by {len(method.gold_)} gold tasks: {chosen} (right without being told: {counts})"


def of_gold(method: Aggregator) -> str:
    """Return how many gold tasks a fit was told of, and how well they are predicted where that was tried."""
    check, told = getattr(method, "gold_check_", None), f"gold tasks used in the fit: {len(method.gold_)}"
    if check is None:
        return told
    held_out = f"error {check.error:.1%}, mean probability of the label {check.confidence:.1%}"
    return f"{told}; where they were held out, {held_out}"


def _reliability(method: Aggregator, labels: cf.CrowdLabels, found: Readings | None) -> Iterator[str]:
    """Yield lines for the most and least reliable workers by estimated accuracy, or why nobody is judged."""
    if why := why_not_judged(method, labels):
        yield f"how reliable each worker is cannot be told from these labels: {why}"
        return
    accuracy = estimated_accuracy(method, labels)
    given = labels.table.entries_per_variable
    by_camps = depending_on_camps(labels, found, accuracy - CLOSE, accuracy + CLOSE)
    if by_camps.any():
        named = listing(labels.workers[m] for m in np.flatnonzero(by_camps))
        yield f"how reliable these workers are depends on who shares a source: {named}"
        if by_camps.all():
            return
    judged = np.flatnonzero((given >= FEW_PER_WORKER) & ~by_camps)
    ranking = judged[np.argsort(-accuracy[judged], kind="stable")]
    shown = min(RANKED, (len(ranking) + 1) // 2)
    for title, chosen in (("most", ranking[:shown]), ("least", ranking[::-1][:shown])):
        workers = ", ".join(f"{labels.workers[m]} {accuracy[m]:.0%} ({given[m]} labels)" for m in chosen)
        yield f"{title} reliable workers, estimated accuracy: {workers or f'none gave {FEW_PER_WORKER} labels'}"


def errors(name: str, posterior: Floats, labels: cf.CrowdLabels, truth: Ints) -> str:
    """Return the error rates of the vote and of a method."""
    votes, ours = cf.crowd.error_rate(vote_shares(labels), truth), cf.crowd.error_rate(posterior, truth)
    known = int(np.sum(truth >= 0))
    return f"error on the {known} tasks with known truth: majority vote {votes:.2%}, {name} {ours:.2%}"


# ---- warnings ----


def warnings_of(
    name: str,
    posterior: Floats,
    labels: cf.CrowdLabels,
    truth: Ints | None,
    found: Readings | None = None,
    source: str = "FILE",
) -> list[str]:
    """Return what must be read before the labels are used; empty if there is nothing."""
    two_ways = [found.warning(source)] if found and found.ambiguous else []
    return [*two_ways, *lost(name, posterior, labels, truth), *_suspicious(name, posterior, labels)]


def lost(name: str, posterior: Floats, labels: cf.CrowdLabels, truth: Ints | None) -> Iterator[str]:
    """Warn of a method that is worse than the vote on the tasks of known truth, by an exact test of pairs.

    McNemar's test counts the tasks that only one of two methods labels rightly. A tie of t votes is right by 1/t, so
    that a task can count by a part; the sums of both sides are rounded, which makes the test no less strict.
    """
    if truth is None:
        return
    gain = right_shares(posterior, truth) - right_shares(vote_shares(labels), truth)
    won, behind = round(gain[gain > 0].sum()), round(-gain[gain < 0].sum())
    if behind > won and (p := 2 * special.bdtr(won, won + behind, 0.5)) < LEVEL:
        found = errors(name, posterior, labels, truth)
        yield f"{name} is worse than the majority vote here, p = {p:.1g}; use another --method: {found}"


def _suspicious(name: str, posterior: Floats, labels: cf.CrowdLabels) -> Iterator[str]:
    """Warn where labels differ from the vote by more than tied and nearly tied votes can explain."""
    votes, predicted = labels.votes, posterior.argmax(axis=1)
    top, given = votes.max(axis=1), votes.sum(axis=1)
    behind = top - votes[np.arange(len(votes)), predicted]
    unanimous = (behind > 0) & (top == given) & (given > 1)
    advice = "check some of them by hand (--overruled FILE lists them) before these labels are used"
    if unanimous.mean() > MANY_UNANIMOUS:
        yield f"{name} overrules {unanimous.sum()} tasks ({unanimous.mean():.1%}) on which all workers agree: {advice}"
    if np.mean(behind >= BEHIND) > MANY_BEHIND:
        n = int(np.sum(behind >= BEHIND))
        yield (
            f"on {n} tasks ({n / len(votes):.1%}) the label of {name} is {BEHIND} votes or more behind the majority's, "
            f"which the few reliable workers must outweigh: {advice}"
        )
