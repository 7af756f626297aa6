"""The result of `aggregate`: labels, tables of workers, and the lines, notes and warnings that describe them."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from cofactor.core.errors import DataWarning, amount, listing
from cofactor.core.latent_class import map_class
from cofactor.core.lazy import pd, special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import MajorityVote, MultiStartEM
from cofactor.crowd.base import SURE, Aggregator, tied_share
from cofactor.crowd.diagnose import FEW_PER_WORKER, agreement
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.readings import Believed, Readings
from cofactor.crowd.scores import error_rate, krippendorff_alpha, right_shares, suggested_order
from cofactor.crowd.workers import (
    NO_INFORMATION,
    CrowdBootstrap,
    bootstrap,
    constant_label,
    depending_on_camps,
    estimated_accuracy,
    why_not_judged,
    without_information,
    workers_table,
)
from cofactor.verbs.result import SHOWN, Result

DRAWS = 50  # refits behind an interval
CONSTANT_LABELS = 5  # from which on a worker of one class alone is named
DECIDED = 0.1  # of the tasks
NOTHING_KNOWN = "no task has two labels, so the accuracy of workers is unknown, and all labels have the same weight"
SHOWN_CLASSES = 5
CLOSE = 0.05  # of an accuracy under another reading, where no interval was asked for
RANKED = 3  # workers listed at each end of the reliability ranking
LEVEL = 0.05  # of the test against the vote
BEHIND = 2  # votes: one vote more or less explains a label that is closer to the majority's
MANY_UNANIMOUS = 0.01  # of all tasks
LEAST_ERROR = 1e-4


@dataclass(repr=False, eq=False)
class Consensus(Result):
    """Result of `aggregate`: a table of labels, one of workers, notes, the fit, a report.

    Attributes
    ----------
    labels : DataFrame
        One row per task: task, label, probability, n_labels; disputed: whether most of the informative workers gave
        another label; overruled: by how many votes another class leads. For grades also low and high.
    method : Aggregator
        The fitted method.
    name : str
        Its name.
    crowd : CrowdLabels
        What was aggregated.
    posterior : (N, K) array
        The probability of every class.
    truth : (N,) class codes, -1 where unknown, or None
        The truth that measures the error, without gold tasks.
    readings : Readings or None
        Answers under other assumptions; only of the default method without gold.
    right : dict
        How many gold tasks each reading labels correctly, if gold tasks chose the reading.
    draws : int
        Number of refits for the intervals of workers.
    """

    page: ClassVar[str] = "crowd"
    source: str
    name: str
    method: Aggregator
    crowd: CrowdLabels
    posterior: Floats
    labels: pd.DataFrame
    truth: Ints | None = None
    readings: Readings | None = None
    right: dict[str, float] = field(default_factory=dict)
    draws: int = DRAWS
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def bootstrap(self) -> CrowdBootstrap | None:
        """Refits to tasks drawn with replacement, computed at first use; None with `draws=0`."""
        return bootstrap(self.method, self.crowd, self.draws, random_state=0) if self.draws else None

    @cached_property
    def workers(self) -> pd.DataFrame:
        """One row per worker, see `cf.crowd.workers_table`; the refits for its intervals are made at first use."""
        return workers_table(self.method, self.crowd, self.bootstrap, readings=self.readings)

    @cached_property
    def errors(self) -> tuple[float, float, int] | None:
        """Error rates of the method and of the vote, and the number of tasks with known truth; None without truth."""
        return None if self.truth is None else errors_of(self.method, self.posterior, self.crowd, self.truth)

    @property
    def confusion(self) -> pd.DataFrame:
        """One row per entry of every worker's confusion matrix: worker, true, said, probability; O(M K^2)."""
        A, classes = np.array(self.method.model_.conditionals), pd.Series(self.method.classes_)
        M, K = len(A), len(classes)
        codes = np.arange(K)
        true, said = classes[np.tile(np.repeat(codes, K), M)], classes[np.tile(codes, M * K)]
        worker = pd.Series(self.method.workers_)[np.repeat(np.arange(M), K * K)]
        columns = {"worker": worker, "true": true, "said": said}
        found = pd.DataFrame({name: cells.to_numpy() for name, cells in columns.items()})
        return found.assign(probability=A.swapaxes(1, 2).ravel().round(6))

    @property
    def wide(self) -> pd.DataFrame:
        """The labels, with the probability of every class."""
        classes = [str(name) for name in self.crowd.classes]
        if len({"task", *classes}) <= len(classes):  # two columns of one name
            classes = [f"class {code}: {name}" for code, name in enumerate(classes)]
        names = [f"probability {name}" for name in classes]
        return pd.concat([self.labels, pd.DataFrame(self.posterior.round(6), columns=names)], axis=1)

    @property
    def shown(self) -> pd.DataFrame:
        """The labels."""
        return self.labels

    @property
    def summary(self) -> list[str]:
        """The size of the crowd, each class by the method and by the vote, the error, and what is uncertain."""
        return [size_line(self), *class_lines(self), error_line(self), doubtful_line(self)]

    @property
    def details(self) -> list[str]:
        """The fit, the workers and the gold tasks, one line each."""
        method, labels = self.method, self.crowd
        disputed = amount(int(self.labels["disputed"].sum()), "task")
        tied = tied_share(labels)
        ties = f"tied votes: {100 * tied:.1f} % of the tasks; any of the tied classes counts as agreeing with the vote"
        start = f", best start {method.best_start_}" if isinstance(method, MultiStartEM) else ""
        ended = "converged" if method.result_.converged else "NOT CONVERGED"
        lines = [
            f"{self.name}{start}: {ended}, {method.result_.reason}",
            f"agreement (Krippendorff's alpha): {agreement(labels.whole)}",
            *_tempered(method),
            *_silent(method, labels),
            f"disputed (the label differs from the vote of informative workers): {disputed}",
            *([ties] if tied else []),
            *_grades(method, labels),
            *([f"readings: {self.readings}"] if self.readings else []),
            *_reliability(method, labels, self.readings),
            *_choice(method, self.right),
            *([of_gold(method)] if method.gold_ else []),
        ]
        return lines + (
            [] if self.truth is None else list(steps_off(self.name, method, self.posterior, labels, self.truth))
        )

    def screen(self, more: str = "") -> list[str]:
        """Return the summary as the command prints it; it needs no `more`."""
        return self.summary

    def _repr_html_(self) -> str:
        notes = "".join(f"<div><em>{html.escape(note)}</em></div>" for note in self.notes)
        return f"<pre>{html.escape(repr(self))}</pre>{self.labels.head(SHOWN).to_html(index=False)}{notes}"


# ---- tables of the result ----


def consensus_frame(labels: CrowdLabels, posterior: Floats, method: Aggregator) -> pd.DataFrame:
    """Return one row per task: its label, the label's probability, and whether workers disagree with it.

    Columns: task, label, probability, n_labels; disputed: whether most of the informative workers gave another class
    (for methods other than `WorkerTypes`, all workers count as informative); overruled: by how many votes another class
    leads. For grades, the label is the median, and low and high are the ends of its 90 % interval.
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
        "disputed": method.disagreement(labels, posterior) if isinstance(method, WorkerTypes) else behind > 0,
        "overruled": behind,
    }
    return pd.DataFrame(columns)


def votes_behind(predicted: Ints, labels: CrowdLabels) -> Ints:
    """Return, for every task, by how many votes the majority class leads the predicted one."""
    votes = labels.votes
    return np.asarray(votes.max(axis=1) - votes[np.arange(len(votes)), predicted])


# ---- the first screen ----


def size_line(found: Consensus) -> str:
    """Return how many tasks, workers, classes and labels there are."""
    labels = getattr(found, "on_spark", None) or found.crowd
    counts = {"task": labels.n_tasks, "worker": len(labels.workers), "class": len(labels.classes)}
    return ", ".join(amount(count, what) for what, count in {**counts, "label": labels.n_labels}.items())


def class_counts(found: Consensus) -> tuple[Ints, Floats]:
    """Return the (K,) tasks per class by the method, and by the vote, where a tie of t classes counts 1 / t each."""
    votes, K = found.crowd.votes, found.crowd.n_classes
    top = (votes == votes.max(axis=1, keepdims=True)) & (votes.sum(axis=1, keepdims=True) > 0)
    by_vote = (top / np.maximum(top.sum(axis=1, keepdims=True), 1)).sum(axis=0)
    return np.bincount(found.method.answers(found.posterior), minlength=K), np.asarray(by_vote)


def class_lines(found: Consensus) -> Iterator[str]:
    """Yield a table of tasks per class by the model and by the vote; of many classes, only the largest."""
    ours, votes = class_counts(found)
    order = np.arange(len(ours))
    if len(order) > SHOWN_CLASSES:
        order = np.argsort(-ours, kind="stable")[:SHOWN_CLASSES]
    classes = [str(found.crowd.classes[k]) for k in order]
    width = max(5, *map(len, classes))
    yield f"{'class':<{width}}{'model':>8}{'vote':>8}"
    for name, k in zip(classes, order.tolist(), strict=True):
        yield f"{name:<{width}}{ours[k]:>8,}{votes[k]:>8,.0f}"
    if left := len(ours) - len(order):
        yield f"... and {amount(left, 'more class')} ({amount(ours.sum() - ours[order].sum(), 'task')})"


def error_line(found: Consensus) -> str:
    """Return the errors of the method and of the vote if truth is known, else the expected error of the model."""
    if found.errors is not None:
        ours, votes, known = found.errors
        on = f"{amount(known, 'task')} with known truth"
        return f"error: {100 * ours:.1f} %, majority vote {100 * votes:.1f} % ({on})"
    if not knows(found.method):
        return "expected error: unknown (no task has two labels)"
    return f"expected error: {percent(expected_error(found))}"


def percent(error: float) -> str:
    """Format an expected error with two significant digits, or as below .01 %.

    >>> percent(0.1234), percent(0.0)
    ('12 %', 'below .01 %')
    """
    return f"{100 * error:.2g} %" if error >= LEAST_ERROR else "below .01 %"


def errors_of(method: Aggregator, posterior: Floats, labels: CrowdLabels, truth: Ints) -> tuple[float, float, int]:
    """Return the error rates of a method and of the vote, and the number of tasks with known truth."""
    ours = error_rate(answered(method, posterior), truth)
    return ours, error_rate(vote_shares(labels), truth), int(np.sum(truth >= 0))


def judged_by(truth: Ints | None, gold: Ints | None) -> Ints | None:
    """Return the truth that measures the error: not of gold tasks, whose classes the fit was given."""
    if truth is None or gold is None:
        return truth
    left = np.where(gold >= 0, -1, truth)
    return left if (left >= 0).any() else None


def expected_error(found: Consensus) -> float:
    """Return the mean of 1 - probability over the labels."""
    return float(1 - found.labels["probability"].mean())


def knows(method: Aggregator) -> bool:
    """Return whether the error can be estimated from the labels."""
    return not isinstance(method, WorkerTypes) or bool(method.types_)


def doubtful_line(found: Consensus) -> str:
    """Return how many labels are uncertain, and how many differ from the majority vote."""
    unsure, behind = int((found.labels["probability"] < SURE).sum()), found.labels["overruled"]
    far = int((behind >= BEHIND).sum())
    by = f", {far:,} of them by two votes or more" if far else ""
    against = f"{amount(int((behind > 0).sum()), 'task')}{by} (column overruled)"
    return f"uncertain (p < {f'{SURE:g}'.lstrip('0')}): {amount(unsure, 'task')}; against the vote: {against}"


# ---- details ----


def _tempered(method: Aggregator) -> Iterator[str]:
    """Yield by how much probabilities were lowered, and what was measured."""
    if not isinstance(method, WorkerTypes) or method.design_effect_ <= 0:
        return
    if method.design_effect is not None:
        why = "as requested"
    elif method.gold_check_ is not None:
        why = "this value predicts held-out gold tasks best"
    elif method.difficulty_ is not None:
        why = "tasks of a class seem to differ in difficulty, so the labels of a task are not independent"
    else:
        why = "the usual value, because there are too many classes to estimate it"
    yield f"probabilities were lowered (design effect {method.design_effect_:.1f}): {why}"


def _silent(method: Aggregator, labels: CrowdLabels) -> Iterator[str]:
    """Yield which workers say nothing beside the others."""
    none, given = without_information(method), labels.table.entries_per_variable
    if none.any() and not why_not_judged(method, labels):
        named = listing(labels.workers[w] for w in np.flatnonzero(none))
        share = 100 * given[none].sum() / labels.n_labels
        yield f"workers with {NO_INFORMATION}: {none.sum()} of {len(none)} ({share:.1f} % of the labels): {named}"


def _choice(method: Aggregator, right: dict[str, float]) -> Iterator[str]:
    """Yield which reading gold tasks chose, and how many of them each has right."""
    if right:
        chosen = "merged" if getattr(method, "same_source", ()) else "model"
        chosen = "vote" if isinstance(method, MajorityVote) else chosen
        chosen = "believed" if isinstance(method, Believed) else chosen
        counts = ", ".join(f"{name} {count:g}" for name, count in right.items())
        by = amount(len(method.gold_), "gold task")
        yield f"reading chosen with {by}: {chosen} (labelled correctly in a fit without gold: {counts})"


def of_gold(method: Aggregator) -> str:
    """Return how many gold tasks were used in a fit, and how well they were predicted when held out."""
    check, told = getattr(method, "gold_check_", None), f"gold tasks used in the fit: {len(method.gold_)}"
    if check is None:
        return told
    held_out = f"error {100 * check.error:.1f} %, mean probability of the label {100 * check.confidence:.1f} %"
    return f"{told}; when they were held out: {held_out}"


def _reliability(method: Aggregator, labels: CrowdLabels, found: Readings | None) -> Iterator[str]:
    """Yield lines for the most and least reliable workers by estimated accuracy, or why nobody is judged."""
    if why := why_not_judged(method, labels):
        yield f"the reliability of workers cannot be determined from these labels: {why}"
        return
    accuracy = estimated_accuracy(method, labels)
    given = labels.table.entries_per_variable
    by_camps = depending_on_camps(labels, found, accuracy - CLOSE, accuracy + CLOSE)
    if by_camps.any():
        named = listing(labels.workers[m] for m in np.flatnonzero(by_camps))
        yield f"the reliability of these workers depends on who shares a source: {named}"
        if by_camps.all():
            return
    judged = np.flatnonzero((given >= FEW_PER_WORKER) & ~by_camps)
    ranking = judged[np.argsort(-accuracy[judged], kind="stable")]
    shown = min(RANKED, (len(ranking) + 1) // 2)
    for title, chosen in (("most", ranking[:shown]), ("least", ranking[::-1][:shown])):
        said = (f"{labels.workers[m]} {100 * accuracy[m]:.0f} % ({amount(given[m], 'label')})" for m in chosen)
        workers = ", ".join(said)
        yield f"{title} reliable workers, estimated accuracy: {workers or f'none gave {FEW_PER_WORKER} labels'}"


# ---- grades ----


def graded(method: Aggregator) -> bool:
    """Return whether a method takes classes as grades."""
    return getattr(method, "grades_", None) is not None


def answered(method: Aggregator, posterior: Floats) -> Floats:
    """Return the posterior; for grades, whose answer may not be the most probable class, a one at the answer."""
    return np.eye(posterior.shape[1])[method.answers(posterior)] if graded(method) else posterior


def _grades(method: Aggregator, labels: CrowdLabels) -> Iterator[str]:
    """Yield the agreement of grades."""
    if graded(method):
        alphas = (f"{level} {krippendorff_alpha(labels, level):.2f}" for level in ("ordinal", "interval"))
        yield f"agreement of grades (Krippendorff's alpha): {', '.join(alphas)}"
        yield "answer: the median grade, which minimises the expected number of steps from the true grade"


def steps_off(name: str, method: Aggregator, posterior: Floats, labels: CrowdLabels, truth: Ints) -> Iterator[str]:
    """Yield how far answers are from the truth, in steps, compared with the median and mean of a task's labels."""
    known = (truth >= 0) & (truth < labels.n_classes)
    if not graded(method) or not known.any():
        return
    shares, K = vote_shares(labels), labels.n_classes
    median = np.sum(np.cumsum(shares, axis=1) < 0.5, axis=1)
    answers = {"median label": median, "rounded mean": np.rint(shares @ np.arange(K)), name: method.answers(posterior)}
    off = (f"{who} {np.abs(answer - truth)[known].mean():.3f}" for who, answer in answers.items())
    yield f"mean steps from the true grade on {amount(known.sum(), 'task')} with known truth: {', '.join(off)}"


# ---- notes, and what questions the answer ----


def notes_of(found: Consensus) -> Iterator[str]:
    """Yield notes on assumptions that were made, and on declarations that may be missing."""
    method, labels = found.method, found.crowd
    if not isinstance(method, WorkerTypes):
        return
    if not method.types_:
        yield NOTHING_KNOWN
    if method.types_ and not method.gold_ and np.count_nonzero(labels.table.entries_per_variable) == 2:
        yield "with two workers, the labels cannot show which of them is right if they differ: add gold tasks (--gold)"
    yield from _always_one_class(labels)
    if method.copies_:
        groups = listing((" = ".join(map(str, group)) for group in method.copies_), len(method.copies_))
        yield f"duplicate workers (same labels, same mistakes) count as one: {groups}"
    if method.order is None and (order := suggested_order(labels)):
        named = ",".join(map(str, order))
        better = "in this order, workers agree better (in squared steps) than in nine of ten others"
        yield f'the classes may be grades: {better}; if they are, declare the order with --order "{named}"'


def _always_one_class(labels: CrowdLabels) -> Iterator[str]:
    """Name workers who gave one class alone, where they have half of the labels and decide a tenth of the votes."""
    n_labels = labels.table.entries_per_variable
    constant = (constant_label(labels) >= 0) & (n_labels >= CONSTANT_LABELS)
    if labels.n_classes < 2 or constant.all() or 2 * n_labels[constant].sum() < n_labels.sum():
        return
    votes, rest = labels.votes, labels.take_workers(np.flatnonzero(~constant)).votes
    chosen = votes[np.arange(len(votes)), rest.argmax(axis=1)]
    changed = int(np.count_nonzero((rest.sum(axis=1) > 0) & (chosen < votes.max(axis=1))))
    if changed >= DECIDED * len(votes):
        named = listing(labels.workers[m] for m in np.flatnonzero(constant))
        yield (
            f"{amount(constant.sum(), 'worker')} always gave the same class: {named}; without them, the vote changes "
            f"on {changed} of {amount(len(votes), 'task')}: check their work, or leave out their labels"
        )


def doubt(found: Consensus, file: str) -> None:
    """Warn of what users must know before they use the labels, and add it to notes and warnings."""
    two_ways = [found.readings.warning(file)] if found.readings and found.readings.ambiguous else []
    for text in (*two_ways, *_worse_than_the_vote(found), *_against_all(found)):
        found.notes.append(text)
        found.warnings.append(text)
        warnings.warn(text, DataWarning, stacklevel=3)


def _worse_than_the_vote(found: Consensus) -> Iterator[str]:
    """Warn of a method that is worse than the vote on the tasks of known truth, by an exact test of pairs.

    McNemar's test counts the tasks that only one of two methods labels rightly. A tie of t votes is right by 1/t, so
    that a task can count by a part; the sums of both sides are rounded, which makes the test no less strict.
    """
    if found.truth is None:
        return
    ours = answered(found.method, found.posterior)
    gain = right_shares(ours, found.truth) - right_shares(vote_shares(found.crowd), found.truth)
    won, behind = round(gain[gain > 0].sum()), round(-gain[gain < 0].sum())
    if behind > won and (p := 2 * special.bdtr(won, won + behind, 0.5)) < LEVEL:
        mine, votes, _ = errors_of(found.method, found.posterior, found.crowd, found.truth)
        rates = f"error {100 * mine:.1f} % against {100 * votes:.1f} %"
        yield f"{found.name} is worse than the majority vote here (p = {p:.1g}): {rates}. Use --method MajorityVote"


def _against_all(found: Consensus) -> Iterator[str]:
    """Warn where labels differ from votes on which all workers agree."""
    votes = found.crowd.votes
    unanimous = (found.labels["overruled"].to_numpy() > 0) & (np.count_nonzero(votes, axis=1) == 1)
    unanimous &= votes.sum(axis=1) > 1
    if unanimous.mean() > MANY_UNANIMOUS:
        share = f"{amount(unanimous.sum(), 'task')} ({100 * unanimous.mean():.1f} %)"
        yield f"{found.name} overrules a unanimous vote on {share}: check some of them by hand (column overruled)"
