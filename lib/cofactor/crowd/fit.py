"""Fits as sums over tasks, and their iterations; see `cofactor.crowd.model` for the types of workers.

A fit by expectation-maximisation or variational Bayes adds up vote shares to start, and posteriors in every round.
Both are sums over tasks. So a crowd may be cut into pieces of whole tasks, and each piece may be anywhere: `Pieces` has
the method `sum(f)`, where f computes counts of a piece that can be added. Tasks of known class (gold tasks) take part
with their class instead of a posterior, and so inform the confusion matrices.

    symbol   meaning                                                         shape
    v_i      vote shares of task i; one at the known class of a gold task    (K,)
    r_i      share of every state s = (class k, kind m) in task i            (K M,), kinds of one class side by side

Models and counts have one row for every pair of a worker and a label, or for every pair that occurs (`Rows`).

Starting from r = vote shares and rho = 1 / T, a round consists of a belief (M-step) and its posterior (E-step). If
workers have few labels, types are hard to distinguish, and rho takes hundreds of rounds to converge. So after 40
rounds, each round uses the rho that maximises the bound (`cofactor.crowd.model`) instead of one step towards it. The
fits are the same and take fewer rounds. This is not done from the start, since shares that converge while r is still
near the votes can lead to a lower bound.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Protocol, TypeVar

import numpy as np

from cofactor.core.em import SoftCounts, expectation, soft_counts
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import UNKNOWN, CrowdLabels
from cofactor.crowd.model import PRIOR, Belief, Model, Rows, prior_cells, within_classes

ROUNDS_OF_ONE_STEP = 40  # after these, each round takes the best shares of the types, not one step towards them
MIN_CLASS_TASKS = 1e-3
UNINFORMED = 0.9  # of the labels, of workers without information: above it, the vote is the answer
WITHOUT_OWN, WITH_OWN = ("coin", "class", "none"), ("coin", "class", "own", "none")
LABELS_OF_A_PIECE = 1 << 20  # whole tasks of about as many labels; fewer pieces where models have many rows
Split = Callable[[Floats, int], Floats]
T = TypeVar("T")


# ---- labels as sums over tasks ----


@dataclass(frozen=True)
class Piece:
    """A set of whole tasks of one crowd.

    Attributes
    ----------
    table : CategoricalTable
        Tasks by workers; its columns correspond to the rows of counts and models.
    gold : (N,) class codes, -1 where unknown, optional
    first : int
        Index of its first task in the crowd.
    step : int
        Its tasks have the indices first, first + step, ...
    """

    table: CategoricalTable
    gold: Ints | None = None
    first: int = 0
    step: int = 1

    def every(self, step: int) -> Piece:
        """Return the tasks whose index is a multiple of `step`."""
        start = -self.first % step
        gold = None if self.gold is None else self.gold[start::step]
        return Piece(self.table.take_rows(slice(start, None, step)), gold, self.first + start, step)

    def hiding(self, tasks: Ints) -> Piece:
        """Return the same tasks without the known classes of those with these indices (sorted)."""
        if self.gold is None:
            return self
        numbers = self.first + self.step * np.arange(self.table.n_rows)
        return replace(self, gold=np.where(np.isin(numbers, tasks), UNKNOWN, self.gold))


class Pieces(Protocol):
    """Whole tasks of one crowd, in memory or elsewhere; all tables have the same columns (workers and labels)."""

    def sum(self, f: Callable[[Piece], T]) -> T:
        """Return the sum of f(piece) over all pieces; f must be picklable, and its results must support `+`."""
        ...

    def map(self, f: Callable[[Piece], Piece]) -> Pieces:
        """Return the pieces f(piece), each kept where the piece is."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Pieces in the memory of this process: one, or several that threads process and add in the order of the tasks."""

    pieces: list[Piece]

    @classmethod
    def of(cls, table: CategoricalTable, gold: Ints | None = None) -> InMemory:
        """Cut a table into pieces of whole tasks that share its memory. The cuts depend only on the table."""
        F = table.indicator
        n_pieces = max(F.nnz // max(LABELS_OF_A_PIECE, 4 * F.shape[1]), 1)
        if n_pieces == 1:
            return cls([Piece(table, gold)])
        cuts = np.searchsorted(F.indptr, F.nnz * np.arange(1, n_pieces) // n_pieces)
        cuts = np.unique([0, *cuts, table.n_rows])
        parts = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        return cls([Piece(table.rows_between(i, j), None if gold is None else gold[i:j], i) for i, j in parts])

    def sum(self, f: Callable[[Piece], T]) -> T:
        """Return the sum of f(piece) in the order of the tasks, so that it does not depend on the number of threads."""
        if len(self.pieces) == 1:
            return f(self.pieces[0])
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return reduce(add, threads.map(f, self.pieces))

    def map(self, f: Callable[[Piece], Piece]) -> InMemory:
        """Return the pieces f(piece)."""
        return InMemory([f(piece) for piece in self.pieces])


class Evidence:
    """The sums over tasks that fits need: of vote shares at the start, and of posteriors in each round.

    Parameters
    ----------
    pieces : Pieces
        Every task must have a label.
    rows : Rows
        The pairs (worker, label) that correspond to the columns of their tables.
    """

    def __init__(self, pieces: Pieces, rows: Rows) -> None:
        self.pieces, self.rows = pieces, rows

    @classmethod
    def of(cls, labels: CrowdLabels, gold: Ints | None = None) -> Evidence:
        """Return the evidence of labels in memory; tasks without labels add nothing to the sums and are left out.

        `gold` holds class codes, -1 where unknown.
        """
        seen = labels.table.entries_per_row > 0
        if not seen.any():
            raise CofactorError("no task has a label")
        if not seen.all():
            labels, gold = labels.take_tasks(seen), None if gold is None else gold[seen]
        return cls(InMemory.of(labels.table, gold), Rows.all(labels.n_workers, labels.n_classes))

    def occurring(self) -> Evidence:
        """Return the same labels with rows only for the pairs of worker and label that occur."""
        places = np.flatnonzero(self.pieces.sum(partial(_frequencies, n_rows=len(self.rows.owner))))
        if len(places) == len(self.rows.owner):
            return self
        rows = Rows(self.rows.owner[places], self.rows.label[places], self.rows.n_workers, self.rows.n_classes)
        return Evidence(self.pieces.map(partial(_of_columns, columns=places)), rows)

    def sample(self, n_tasks: int) -> Evidence:
        """Return every m-th task, so that about `n_tasks` are left at most; all tasks if there are no more."""
        step = -(-self.pieces.sum(_n_tasks) // n_tasks)
        return self if step == 1 else Evidence(self.pieces.map(partial(Piece.every, step=step)), self.rows)

    def hiding(self, tasks: Ints) -> Evidence:
        """Return the same labels without the known classes of these tasks (sorted indices)."""
        return Evidence(self.pieces.map(partial(Piece.hiding, tasks=tasks)), self.rows)

    def gold(self) -> tuple[Ints, Ints]:
        """Return the sorted indices of the tasks of known class, and their classes."""
        parts = self.pieces.sum(_gold_of)
        tasks, classes = (np.concatenate(found) for found in zip(*parts, strict=True))
        order = np.argsort(tasks)
        return tasks[order], classes[order]

    def start(self, split: Split | None = None) -> SoftCounts:
        """Return the soft counts of the vote shares, or of the (N, S) states that `split` turns them into.

        `split` also gets the index of the first task: any random draws must depend on that alone.
        """
        return self.pieces.sum(partial(_start, rows=self.rows, split=split))

    def e_step(self, model: LatentClassModel) -> SoftCounts:
        """Return the soft counts of the posterior states; gold tasks can only be in states of their class."""
        return self.pieces.sum(partial(_expectation, model=model, n_classes=self.rows.n_classes))

    def posterior(self, model: LatentClassModel, tasks: Ints) -> tuple[Floats, Ints]:
        """Return the (n, K) posterior of tasks (sorted indices), and how many labels each has."""
        parts = self.pieces.sum(partial(_posterior_of, model=model, n_classes=self.rows.n_classes, tasks=tasks))
        numbers, posteriors, amounts = (np.concatenate(found) for found in zip(*parts, strict=True))
        order = np.argsort(numbers)
        return posteriors[order], amounts[order]


# ---- what is counted of one piece ----


def _n_tasks(piece: Piece) -> int:
    return piece.table.n_rows


def _frequencies(piece: Piece, n_rows: int) -> Ints:
    return np.bincount(piece.table.indicator.indices, minlength=n_rows)


def _gold_of(piece: Piece) -> list[tuple[Ints, Ints]]:
    gold = np.zeros(0, dtype=np.int64) if piece.gold is None else piece.gold
    known = np.flatnonzero(gold != UNKNOWN)
    return [(piece.first + piece.step * known, gold[known])]


def _of_columns(piece: Piece, columns: Ints) -> Piece:
    return replace(piece, table=piece.table.take_values(columns))


def _with_gold(shares: Floats, gold: Ints | None) -> Floats:
    if gold is None:
        return shares
    return np.where((gold != UNKNOWN)[:, None], np.eye(shares.shape[1])[gold], shares)


def class_posterior(piece: Piece, model: LatentClassModel, n_classes: int) -> Floats:
    """Return the (N, K) posterior of the classes, summed over their kinds."""
    states = model.posterior(piece.table)
    return _with_gold(within_classes(states, n_classes), piece.gold)


def _start(piece: Piece, rows: Rows, split: Split | None) -> SoftCounts:
    votes = piece.table.indicator @ np.eye(rows.n_classes)[rows.label]
    votes = votes.round(9) if piece.table.shared else votes
    shares = _with_gold(votes / votes.sum(axis=1, keepdims=True), piece.gold)
    return soft_counts(piece.table, split(shares, piece.first) if split else shares)


def _expectation(piece: Piece, model: LatentClassModel, n_classes: int) -> SoftCounts:
    gold = piece.gold
    if gold is None:
        return expectation(piece.table, model)
    parts = [(gold == k, model if k == UNKNOWN else within(model, k, n_classes)) for k in range(UNKNOWN, n_classes)]
    return reduce(add, (expectation(piece.table.take_rows(tasks), part) for tasks, part in parts if tasks.any()))


def _posterior_of(
    piece: Piece, model: LatentClassModel, n_classes: int, tasks: Ints
) -> list[tuple[Ints, Floats, Ints]]:
    mine = tasks[(tasks >= piece.first) & (tasks < piece.first + piece.step * piece.table.n_rows)]
    mine = mine[(mine - piece.first) % piece.step == 0]
    table = piece.table.take_rows((mine - piece.first) // piece.step)
    states = model.posterior(table)
    return [(mine, within_classes(states, n_classes), table.entries_per_row)]


def within(model: LatentClassModel, k: int, n_classes: int) -> LatentClassModel:
    """Return the model in which only the states of class k can occur."""
    possible = np.repeat(np.arange(n_classes) == k, model.n_classes // n_classes)
    return LatentClassModel.from_stacked(model.prior * possible, model.stacked, model.sizes)


# ---- iterations ----


def majorities(shares: Floats, first: int) -> Floats:
    """Return (N, K) shares of the majority vote, with ties split, from vote shares; a `Split` of the evidence."""
    most = shares == shares.max(axis=1, keepdims=True)
    return np.asarray(most / most.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Rounds:
    """The outcome of the rounds of a fit.

    Attributes
    ----------
    model : Model
    belief : Belief
    counts : SoftCounts
        Soft counts of the posterior under this belief.
    result : Result
        `objective` is the lower bound of the log-probability of the labels (nats), up to a constant; it never falls.
    """

    model: Model
    belief: Belief
    counts: SoftCounts
    result: Result


class Fit:
    """Fits models with different worker types to one set of labels; the sums at the start are computed once.

    Parameters
    ----------
    evidence : Evidence
        Labels in which copies are merged.
    prior : (a, b)
        Prior counts for every worker: of correct labels, and of each wrong label.
    max_iter, tol, verbose
        Rounds stop when one changes the expected labels by at most `tol`, on average over the labels.
    grades : (K,) ints, optional
        Position of each class in a declared order.

    Cost: a round costs an E-step of K states (3 K with an order), and O(rows K types) digamma functions.
    """

    def __init__(
        self,
        evidence: Evidence,
        prior: tuple[float, float] = PRIOR,
        max_iter: int = 500,
        tol: float = 1e-5,
        verbose: bool = False,
        grades: Ints | None = None,
    ) -> None:
        self.prior, self.max_iter, self.tol, self.verbose, self.grades = prior, max_iter, tol, verbose, grades
        self.of_rows = evidence.occurring()
        self.rows, votes = self.of_rows.rows, self.of_rows.start()
        K, self.start = self.rows.n_classes, replace(votes, sizes=self.rows.sizes)
        self.alpha = np.maximum(self.of_rows.start(majorities).classes, MIN_CLASS_TASKS)
        self.places = self.rows.owner * K + self.rows.label
        self.active = self.rows.sizes > 0
        self.n_labels, self.n_cells = round(float(votes.cells.sum())), int(self.active.sum()) * K

    def run(self, types: tuple[str, ...], max_iter: int | None = None) -> Rounds:
        """Iterate from the votes, and return the outcome."""
        model = Model(types, self.rows, self.alpha, self.active, self.prior, self.grades)
        history = History("worker types", max_iter or self.max_iter, self.tol, self.verbose)
        counts = model.begin(self.start)
        for n in history:
            belief = model(counts, n >= ROUNDS_OF_ONE_STEP)
            before, counts = counts, self.of_rows.e_step(belief.model)
            change = float(np.abs(counts.cells - before.cells).sum() / before.cells.sum())
            history.record(counts.log_likelihood - belief.divergence, change)
        return Rounds(model, belief, counts, history.result())

    def log_probability(self, max_iter: int) -> float:
        """Return the bound of the labels' log-probability (nats) after `max_iter` rounds with coin, class and none."""
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            found = self.run(WITHOUT_OWN, max_iter)
        return found.model.log_probability(found.belief, found.counts)

    def uninformed(self, found: Rounds) -> bool:
        """Return whether more than the share `UNINFORMED` of the labels is from workers without information."""
        n = self.rows.by_worker(self.start.cells.sum(axis=1))
        return bool(found.belief.q[:, found.belief.types.index("none")] @ n > UNINFORMED * n.sum())

    def of_rows_alone(self, model: LatentClassModel) -> LatentClassModel:
        """Return a model of all workers, restricted to the rows that occur."""
        return LatentClassModel.from_stacked(model.prior, model.stacked[self.places], self.rows.sizes)

    def expected(self, counts: SoftCounts) -> LatentClassModel:
        """Return the Dawid-Skene model with the expected confusion matrices of all workers, prior counts included."""
        K, M = self.rows.n_classes, self.rows.n_workers
        cells = np.tile(prior_cells(self.prior, K), (M, 1))
        cells[self.places] += within_classes(counts.cells, K)
        classes = within_classes(counts.classes, K) + self.alpha
        return SoftCounts(cells, classes, counts.n_rows, np.full(M, K)).model()

    def average_worker(self, counts: SoftCounts) -> Floats:
        """Return the (K, K) mean confusion matrix of the workers, each weighted by the number of labels."""
        K = self.rows.n_classes
        cells = self.rows.by_label(within_classes(counts.cells, K)) + prior_cells(self.prior, K)
        return np.asarray(cells / cells.sum(axis=0))
