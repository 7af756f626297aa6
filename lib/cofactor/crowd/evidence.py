"""The two sums over tasks that every fit needs of labels, which are read from memory or piece by piece.

A fit by expectation-maximisation or by variational Bayes reads the labels in two ways only: through the vote shares,
to start, and through an E-step, once each round. Both are sums over tasks. Tasks of known class (gold tasks) take part
with their class instead of a posterior: they teach the confusion matrices.

    symbol   meaning                                                         shape
    v_i      vote shares of task i; one at the known class of a gold task    (K,)
    r_i      share of every state s = (class k, kind m) in task i            (K M,), kinds of one class side by side
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from operator import add
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import unmasked
from cofactor.core.em import SoftCounts, expectation, soft_counts
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.dependence import Dependence, dependence
from cofactor.crowd.difficulty import Confidence, confidence
from cofactor.crowd.labels import CrowdLabels, vote_shares

Split = Callable[[Floats], Floats]
Gold: TypeAlias = "ArrayLike | Mapping[Any, Any] | pd.Series[Any] | pd.DataFrame"
UNKNOWN = -1  # class of a task that is not gold


@runtime_checkable
class Passes(Protocol):
    """Pieces of a crowd with a reader of their own, which may read several at once and keep the sums of a round."""

    def __iter__(self) -> Iterator[CrowdLabels]:
        """Yield the pieces, one after the other."""

    def map(self, function: Callable[[CrowdLabels], Any]) -> Iterator[Any]:
        """Return what a function makes of each piece, in their order."""

    def remembered(self, model: LatentClassModel, rows: Ints | None, count: Callable[[], SoftCounts]) -> SoftCounts:
        """Return the sums that belong to a model: those kept of it, or else counted now."""


class Evidence:
    """Reads labels, from memory or piece by piece, and returns the two sums that a fit needs.

    These are the vote counts to start from, and the expected counts of each round.

    Parameters
    ----------
    pieces : iterable of CrowdLabels, read anew in every pass
        Pieces of whole tasks of one crowd: the same workers and classes in each. `Passes` read them in their own way.
    gold : (N,) class codes, -1 where unknown, optional
        Of the tasks of a single piece.
    votes : SoftCounts, optional
        Of the vote shares, if they were counted before.
    rows : (R,) ints, optional
        Of all pairs (worker, label), those that occur: the rows that the models have. Default: all.
    """

    def __init__(
        self,
        pieces: Iterable[CrowdLabels],
        gold: Ints | None = None,
        votes: SoftCounts | None = None,
        rows: Ints | None = None,
    ) -> None:
        self.pieces, self.gold, self.votes, self.rows = pieces, gold, votes, rows
        self._of_rows: dict[int, CategoricalTable] = {}  # of labels that stay in memory, asked for in every round

    @classmethod
    def of(cls, labels: CrowdLabels, gold: Ints | None = None) -> Evidence:
        """Return the evidence of labels in memory; tasks without a label add nothing to the sums and are left out."""
        seen = labels.table.entries_per_row > 0
        if not seen.any():
            raise CofactorError("no task has a label")
        chosen = labels if seen.all() else labels.take_tasks(seen)
        return cls([chosen], None if gold is None else gold[seen])

    @property
    def n_workers(self) -> int:
        """Workers, those without labels among them."""
        return len(self.start().sizes)

    def start(self, split: Split | None = None, one_by_one: bool = False) -> SoftCounts:
        """Return the soft counts of the vote shares, or of the (N, S) states that `split` makes of them.

        A `split` that draws random numbers must see the pieces `one_by_one`.
        """
        if split is None and self.votes is not None:
            return self.votes
        count = partial(self._start, split=split)
        return self._sum(map(count, self.pieces) if one_by_one else self._each(count))

    def _start(self, labels: CrowdLabels, split: Split | None) -> SoftCounts:
        shares = self._with_gold(vote_shares(labels))
        return soft_counts(labels.table, split(shares) if split else shares)

    def of_rows(self, rows: Ints) -> Evidence:
        """Return the same labels for models that have these rows only."""
        return Evidence(self.pieces, self.gold, self.votes, rows)

    def e_step(self, model: LatentClassModel) -> SoftCounts:
        """Return the soft counts of the posterior states; the states of a gold task are those of its class."""
        count = partial(self._expectation, model=model)
        if isinstance(self.pieces, Passes):
            return self.pieces.remembered(model, self.rows, lambda: self._sum(self._each(count)))
        return self._sum(self._each(count))

    def agreement(self, model: LatentClassModel) -> Floats:
        """Return (K, K) sums over tasks of vote share, by label, times posterior, by class."""
        return np.asarray(sum(self._each(partial(self._agreement, model=model))))

    def _agreement(self, labels: CrowdLabels, model: LatentClassModel) -> Floats:
        return np.asarray(vote_shares(labels).T @ self._classes(labels, model))

    def dependence(self, model: LatentClassModel, p: Floats) -> Dependence:
        """Return how far workers err together under a model of K classes; p are their (M, K) accuracies."""
        return reduce(add, self._each(partial(self._dependence, model=model, p=p)))

    def _dependence(self, labels: CrowdLabels, model: LatentClassModel, p: Floats) -> Dependence:
        return dependence(labels, self._classes(labels, model), p)

    def confidence(self, model: LatentClassModel, other: LatentClassModel) -> Confidence:
        """Return how probable the labels chosen by a model are, flattened, and under `other`, that of difficulty."""
        return reduce(add, self._each(partial(self._confidence, model=model, other=other)))

    def _confidence(self, labels: CrowdLabels, model: LatentClassModel, other: LatentClassModel) -> Confidence:
        return confidence(self._classes(labels, model), self._classes(labels, other), labels.table.entries_per_row)

    def _classes(self, labels: CrowdLabels, model: LatentClassModel) -> Floats:
        """Return the (N, K) posterior of the classes, their kinds added up."""
        states = model.posterior(self._table(labels))
        return self._with_gold(states.reshape(labels.n_tasks, labels.n_classes, -1).sum(axis=2))

    def _each(self, function: Callable[[CrowdLabels], Any]) -> Iterator[Any]:
        return self.pieces.map(function) if isinstance(self.pieces, Passes) else map(function, self.pieces)

    def _table(self, labels: CrowdLabels) -> CategoricalTable:
        if self.rows is None:
            return labels.table
        if not isinstance(self.pieces, list):
            return labels.table.take_values(self.rows)
        if id(labels) not in self._of_rows:
            self._of_rows[id(labels)] = labels.table.take_values(self.rows)
        return self._of_rows[id(labels)]

    def _sum(self, parts: Iterable[SoftCounts]) -> SoftCounts:
        return reduce(add, parts)

    def _with_gold(self, shares: Floats) -> Floats:
        if self.gold is None:
            return shares
        known = self.gold != UNKNOWN
        return np.where(known[:, None], np.eye(shares.shape[1])[self.gold], shares)

    def _expectation(self, labels: CrowdLabels, model: LatentClassModel) -> SoftCounts:
        table, K = self._table(labels), labels.n_classes
        if self.gold is None:
            return expectation(table, model)
        parts = [(self.gold == k, model if k == UNKNOWN else within(model, k, K)) for k in range(UNKNOWN, K)]
        return reduce(add, (expectation(table.take_rows(rows), part) for rows, part in parts if rows.any()))


class GoldEvidence(Evidence):
    """Labels of which some tasks, mostly of known class, are held apart; every sum is that over both parts.

    Parameters
    ----------
    rest : Evidence
        Of all other tasks.
    labels : CrowdLabels
        Of the tasks held apart, in memory.
    gold : (N,) class codes of these, -1 where unknown, optional
    """

    def __init__(self, rest: Evidence, labels: CrowdLabels, gold: Ints | None = None) -> None:
        super().__init__([labels], gold, None, rest.rows)
        self.labels = labels
        self._parts = rest, Evidence([labels], gold, rows=rest.rows)

    @property
    def known(self) -> dict[Any, int]:
        """The class code of each task whose class is known."""
        codes = [] if self.gold is None else self.gold.tolist()
        return {task: code for task, code in zip(self.labels.tasks, codes, strict=False) if code != UNKNOWN}

    def told(self, gold: Ints | None) -> GoldEvidence:
        """Return the same labels, of which these classes are known."""
        return GoldEvidence(self._parts[0], self.labels, gold)

    def start(self, split: Split | None = None, one_by_one: bool = False) -> SoftCounts:
        """Return the soft counts of the vote shares, as `Evidence.start`."""
        return reduce(add, (part.start(split, one_by_one) for part in self._parts))

    def of_rows(self, rows: Ints) -> GoldEvidence:
        """Return the same labels for models that have these rows only."""
        return GoldEvidence(self._parts[0].of_rows(rows), self.labels, self.gold)

    def e_step(self, model: LatentClassModel) -> SoftCounts:
        """Return the soft counts of the posterior states, as `Evidence.e_step`."""
        return reduce(add, (part.e_step(model) for part in self._parts))

    def agreement(self, model: LatentClassModel) -> Floats:
        """Return (K, K) sums over tasks, as `Evidence.agreement`."""
        return reduce(add, (part.agreement(model) for part in self._parts))

    def dependence(self, model: LatentClassModel, p: Floats) -> Dependence:
        """Return how far workers err together, as `Evidence.dependence`."""
        return reduce(add, (part.dependence(model, p) for part in self._parts))

    def confidence(self, model: LatentClassModel, other: LatentClassModel) -> Confidence:
        """Return how probable the chosen labels are, as `Evidence.confidence`."""
        return reduce(add, (part.confidence(model, other) for part in self._parts))


def within(model: LatentClassModel, k: int, n_classes: int) -> LatentClassModel:
    """Return the model in which only the states of class k can occur."""
    possible = np.repeat(np.arange(n_classes) == k, model.n_classes // n_classes)
    return LatentClassModel.from_stacked(model.prior * possible, model.stacked, model.sizes)


def gold_codes(gold: Gold, labels: CrowdLabels) -> Ints:
    """Return the known class of every task as a code, -1 where unknown; `gold` is that, or a class for some tasks.

    Raises a CofactorError for other than one whole number a task, codes or classes that are none, tasks of two classes
    (their tasks are named), or where no task is known. Tasks that are not among the labels are passed over, with a
    `DataWarning` that names them.
    """
    if not isinstance(gold, np.ndarray) and isinstance(gold, Mapping | pd.Series | pd.DataFrame):
        return _codes_by_task(_one_class_each(gold), labels)
    codes = unmasked(gold, np.int64(UNKNOWN))
    if codes.shape != (labels.n_tasks,) or codes.dtype.kind not in "iu":
        raise CofactorError(
            f"gold must hold one class code a task, -1 where unknown: {labels.n_tasks} whole numbers, "
            f"got shape {codes.shape} of {codes.dtype}"
        )
    bad = np.flatnonzero((codes < UNKNOWN) | (codes >= labels.n_classes))
    if bad.size:
        tasks = listing(f"task {labels.tasks[n]!r}: {codes[n]}" for n in bad)
        raise CofactorError(f"gold codes must lie between -1 and {labels.n_classes - 1}; not so for {tasks}")
    if (codes == UNKNOWN).all():
        raise CofactorError("gold knows the class of no task: leave it out")
    return codes.astype(np.int64)


def _one_class_each(gold: Mapping[Any, Any] | pd.Series | pd.DataFrame) -> Mapping[Any, Any]:
    """Return the class by task, and refuse tasks that have two."""
    if isinstance(gold, pd.DataFrame):
        name = next((name for name in ("truth", "label") if name in gold), None)
        if "task" not in gold or name is None:
            found = listing(gold.columns)
            raise CofactorError(f"a table of gold tasks needs the columns task and truth (or label), found {found}")
        pairs = list(zip(gold["task"].tolist(), gold[name].tolist(), strict=True))
    else:
        pairs = list(gold.items())
    known: dict[Any, Any] = {}
    twice = [task for task, truth in pairs if known.setdefault(task, truth) != truth]
    if twice:
        raise CofactorError(f"gold gives two classes for tasks {listing(map(repr, dict.fromkeys(twice)))}: leave one")
    return known


def _codes_by_task(gold: Mapping[Any, Any], labels: CrowdLabels) -> Ints:
    code = {known: k for k, known in enumerate(labels.classes)}
    bad = [f"task {task!r}: {known!r}" for task, known in gold.items() if known not in code]
    if bad:
        raise CofactorError(f"gold of classes that no label has: {listing(bad)}; the classes are {listing(code)}")
    codes = np.array([code[gold[task]] if task in gold else UNKNOWN for task in labels.tasks], dtype=np.int64)
    if (codes == UNKNOWN).all():
        raise CofactorError(f"gold knows none of the labelled tasks: it has {listing(map(repr, gold))}")
    there = set(labels.tasks)
    other = [repr(task) for task in gold if task not in there]
    if other:
        message = f"{len(other)} gold tasks have no labels and are passed over: {listing(other)}"
        warnings.warn(message, DataWarning, stacklevel=5)
    return codes
