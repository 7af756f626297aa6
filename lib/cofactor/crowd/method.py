"""WorkerTypes, the default for crowds: infers the type of every worker, and counts copies as one worker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.estimator import Result, clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import csgraph
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, Labels, as_labels
from cofactor.crowd.confidence import (
    Dependence,
    Difficulty,
    GoldCheck,
    errors_together,
    held_out_gold,
    learned_effect,
    offered_types,
    tempered,
)
from cofactor.crowd.copies import groups, joined, merged, owners
from cofactor.crowd.fit import UNINFORMED, Evidence, Fit
from cofactor.crowd.labels import CrowdLabels, checked_order
from cofactor.crowd.model import PRIOR, within_classes

MIN_GOLD_TASKS = 30  # for a check on held-out gold tasks
ONE_LABEL_ACCURACY = 0.8  # that of the prior, where no task has two labels
ONE_LABEL = Result(np.zeros(0), 0, True, "no task has two labels, so the workers' accuracies cannot be estimated")
TAIL, TINY = 0.05, 1e-12  # probability on either side of the interval of a grade; rounding
FEW_VOTES = 1e-6  # votes of a task that come from nobody who counts
SAME_SHARE = 1e-6  # of votes: closer ones are tied


@dataclass(eq=False, repr=False)
class WorkerTypes(Aggregator):
    """The Dawid-Skene model with a type for every worker, inferred from the labels: the default for crowds.

    A worker has one accuracy ("coin"), one accuracy per class ("class"), a confusion matrix ("own"), or no information
    beside the others ("none"); see `cofactor.crowd.model`. "own" is allowed with three classes or more, if there are at
    least as many labels as workers times classes and workers do not err together (`Dependence.z` at most 2); with two
    classes it is the same as "class". Copies (`cofactor.crowd.copies`) are merged first and count as one worker. If no
    task has two labels, nothing is fitted: each label is right with probability 0.8, and nothing is known about any
    worker.

    Two cases raise a `DataWarning`. Labels of workers whose classes no other worker uses are left out, and the workers
    are named. If more than nine tenths of the labels come from workers without information, the model cannot be relied
    on; the answer is then the vote, with p_ik = (votes_ik + 1/K) / (n_i + 1).

    The labels of one task are more dependent than the model assumes. So the posterior r of task i is flattened before
    it is returned, the more labels n_i, the more; the label is still that of r:

        p_ik proportional to r_ik^beta_i,   beta_i = 1 / sqrt(1 + design_effect (n_i - 1))

    The design effect is learned. A second model, in which tasks of one class differ in difficulty
    (`cofactor.crowd.confidence`), gives the chosen labels a mean probability; the design effect is the one under which
    p gives the same.

    Parameters
    ----------
    order : sequence, optional
        All classes, the lowest first, if they are grades. Then there is also a type of graders, who err by steps along
        the scale ("graded"), and the answer is the median grade, whose expected distance in steps is smallest. Two
        grades are treated as two classes.
    same_source : sequence of groups of workers
        Workers known to share a source, such as language models of one family: each group counts as one worker, whose
        label is that of most members.
    merge_copies : bool
        Whether copies count as one worker; default True.
    design_effect : float, optional
        How dependent the labels of a task are; 0 leaves the posterior unchanged. Default: learned as above; 2.4 with
        more than 50 classes, where learning takes too long; with 30 gold tasks or more, the value with the smallest
        log-loss on held-out gold tasks.
    diagonal, off : float
        a and b, prior counts for every worker: of correct labels, and of each wrong label.
    max_iter, tol
        Rounds stop when one changes the expected labels by at most `tol` on average, or after `max_iter`.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    types_ : tuple of str
        The types that were allowed; empty if nothing was fitted.
    type_probabilities_ : (n_workers, n_types) array
        Probability of each type, for every worker.
    type_shares_ : (n_types,) array
        Share of each type in the whole crowd.
    copies_ : list of lists of workers
        The groups that count as one worker.
    by_vote_ : bool
        Whether the answer is the vote, because too few labels come from informative workers.
    left_out_ : list of workers
        Workers whose labels were left out because no other worker uses their classes.
    dependence_ : Dependence or None
        Whether workers err together more than the model assumes (the model with "own" alone, if it was tried); None if
        nothing was fitted.
    design_effect_ : float
    difficulty_ : Difficulty or None
        How much tasks of a class differ in difficulty, if the design effect was learned.
    gold_check_ : GoldCheck or None
        With 30 gold tasks or more: how well they are predicted when held out.
    grades_ : (K,) ints or None
        Position of each class in the order, if one was given and there are three classes or more.
    model_, result_, ... : see `Aggregator`
        `model_` has one expected confusion matrix per worker; copies have that of their group. `result_.objective` is
        the lower bound of the log-probability of the labels (nats); it never falls, except with an order.

    Cost
    ----
    One fit, or two if "own" may be allowed. A round costs an E-step of K states, O(labels K), and O(rows K types)
    digamma functions; with an order, three times as many. The design effect takes up to 50 rounds of 7 K states.

    Source and deviations
    ---------------------
    This library's own; `cofactor.crowd.model` names its parts and their sources, docs/default.md what was tried.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> WorkerTypes().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    takes_shares, takes_gold = True, True
    order: Sequence[Any] | None = None
    same_source: Sequence[Sequence[Any]] = ()
    merge_copies: bool = True
    diagonal: float = PRIOR[0]
    off: float = PRIOR[1]
    design_effect: float | None = None
    max_iter: int = 500
    tol: float = 1e-5
    random_state: int | None = None
    verbose: bool = False

    def _check_settings(self) -> None:
        check_positive(diagonal=self.diagonal, off=self.off)
        check_whole(1, max_iter=self.max_iter)
        if self.design_effect is not None:
            check_positive(zero=True, design_effect=self.design_effect)

    # ---- fit ----

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self._check_settings()
        known = set(labels.workers)
        strange = [worker for group in self.same_source for worker in group if worker not in known]
        if strange:
            raise CofactorError(f"same_source names workers without labels: {listing(map(repr, strange))}")
        if alone := self.words_that_never_meet(labels):
            warnings.warn(alone, DataWarning, stacklevel=3)
        met = self._met(labels)
        owner = np.arange(met.n_workers)
        place = {worker: m for m, worker in enumerate(met.workers)}
        for group in self.same_source:
            owner = joined(owner, [place[worker] for worker in group]) if len(group) else owner
        if self.merge_copies:
            owner = owners(merged(met, owner))[owner]
        evidence = self._fit_groups(met, gold, owner)
        if self.by_vote_:
            warnings.warn(self.why_by_vote(labels), DataWarning, stacklevel=3)
        self._check_by_gold(evidence)

    def refit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        """Fit other labels of the same workers, with the copies found in `fit`."""
        self._fit_groups(self._met(labels), gold, self._owner)

    def _fit_groups(self, labels: CrowdLabels, gold: Ints | None, owner: Ints) -> Evidence:
        evidence = Evidence.of(merged(labels, owner), gold)
        self._begin(evidence, owner, self._grades(labels.classes))
        self.workers_, self.copies_ = labels.workers, groups(owner, labels.workers)
        return evidence

    def fit_evidence(self, evidence: Evidence, owner: Ints | None = None) -> None:
        """Fit labels in memory or on a cluster, in which known copies are already merged; `workers_` must be set.

        `owner` gives for every worker the position in `workers_` of the first worker of their group; default: no worker
        is a copy.
        """
        self._check_settings()
        self._without_words: tuple[set[Any], set[Any]] = (set(), set())
        self.left_out_: list[Any] = []
        everybody = np.arange(evidence.rows.n_workers)
        grades = None if self.order is None else self._grades(self.classes_)
        self._begin(evidence, everybody if owner is None else owner, grades)
        self.copies_ = [] if owner is None else groups(owner, self.workers_)
        if self.by_vote_:
            warnings.warn(self.why_by_vote(), DataWarning, stacklevel=2)
        self._check_by_gold(evidence)

    def _begin(self, evidence: Evidence, owner: Ints, grades: Ints | None = None) -> None:
        """Fit labels in which copies are merged already."""
        self._owner, self.grades_ = owner, grades
        self.types_: tuple[str, ...] = ()
        self.by_vote_ = False
        self.dependence_: Dependence | None = None
        self.difficulty_: Difficulty | None = None
        self.gold_check_: GoldCheck | None = None
        fit = Fit(evidence, (self.diagonal, self.off), self.max_iter, self.tol, self.verbose, grades)
        if not len(evidence.gold()[0]) and fit.n_labels <= fit.start.n_rows:
            M, K = evidence.rows.n_workers, evidence.rows.n_classes  # nothing is known: keep the prior's belief
            right = np.where(np.eye(K, dtype=bool), ONE_LABEL_ACCURACY, (1 - ONE_LABEL_ACCURACY) / (K - 1))
            self.model_ = LatentClassModel.from_stacked(np.full(K, 1 / K), np.tile(right, (M, 1)), np.full(M, K))
            self.type_probabilities_, self.type_shares_ = np.zeros((M, 0)), np.zeros(0)
            self._states, self._of_anybody = self.model_, right
            self.result_, self.design_effect_ = ONE_LABEL, 0.0
            return
        types, together = offered_types(fit)
        found = fit.run(types)
        self.dependence_ = together or errors_together(fit, found.belief)
        self.by_vote_ = fit.uninformed(found)
        if self.design_effect is not None or self.by_vote_:
            self.design_effect_ = self.design_effect or 0.0
        else:  # learned before models of all rows are kept, which take memory
            self.design_effect_, self.difficulty_ = learned_effect(fit, found)
        self.result_, self.types_ = found.result, found.belief.types
        self.type_probabilities_, self.type_shares_ = found.belief.q[self._owner], found.belief.rho
        self._states = self._of_members(found.belief.everywhere())
        self.model_ = self._of_members(fit.expected(found.counts))
        self._of_anybody = fit.average_worker(found.counts)

    def _grades(self, classes: list[Any]) -> Ints | None:
        """Return the place of every class in the order; None without an order, or of two classes."""
        if self.order is None:
            return None
        order, known = checked_order(self.order, classes), set(classes)
        unused = [name for name in order if name not in known]
        if unused:
            raise CofactorError(
                f"order names classes that these labels do not have: {listing(map(repr, unused))}; "
                "pass crowd.in_order(labels, order), which adds them"
            )
        place = {name: k for k, name in enumerate(order)}
        return np.array([place[name] for name in classes]) if len(order) > 2 else None

    def _of_members(self, model: LatentClassModel) -> LatentClassModel:
        """Return the model in which members of a group have the matrix of its owner."""
        if np.array_equal(self._owner, np.arange(len(self._owner))):
            return model
        K, S = int(model.sizes[0]), model.n_classes
        stacked = model.stacked.reshape(-1, K, S)[self._owner].reshape(-1, S)
        return LatentClassModel.from_stacked(model.prior, stacked, model.sizes)

    # ---- gold ----

    def _check_by_gold(self, evidence: Evidence) -> None:
        """Learn the design effect from gold tasks that were held out, where they are many, and check them."""
        tasks, classes = evidence.gold()
        if len(tasks) < MIN_GOLD_TASKS:
            return

        def predict(asked: Ints) -> tuple[Floats, Ints]:
            again = clone(self).set_params(design_effect=0.0)
            again._begin(evidence.hiding(asked), self._owner, self.grades_)
            return evidence.posterior(again._states, asked)

        held_out = held_out_gold(predict, tasks, classes)
        if self.design_effect is None:
            self.design_effect_ = held_out.best_design_effect()
        self.gold_check_ = held_out.check(self.design_effect_)

    # ---- workers who are one, and words that never meet ----

    def words_that_never_meet(self, labels: CrowdLabels) -> str:
        """Find workers and classes not connected to most labels, which are left out; return a message, or "".

        A worker and a class are connected if the worker used it. The component with most labels stays, if it has two
        classes.
        """
        table, M = labels.table, labels.n_workers
        self._without_words, self.left_out_ = (set(), set()), []
        if table.entries_per_row.max(initial=0) <= 1:
            return ""
        used = np.flatnonzero(table.frequencies)
        worker = np.repeat(np.arange(M), table.sizes)[used]
        edges = worker, M + used - table.offsets[worker]  # from a worker to a class, numbered after all workers
        n = M + labels.n_classes
        part = csgraph.connected_components(sparse.coo_array((np.ones(len(used)), edges), (n, n)), directed=False)[1]
        given = table.entries_per_variable
        of_labels = np.bincount(part[:M], given).astype(np.int64)
        largest = int(of_labels.argmax())
        inside = part == largest
        if of_labels[largest] == table.n_entries or np.sum(inside[M:]) < 2:
            return ""
        self.left_out_ = [labels.workers[w] for w in np.flatnonzero((given > 0) & ~inside[:M])]
        words = [labels.classes[k] for k in np.flatnonzero(~inside[M:])]
        self._without_words = set(self.left_out_), set(words)
        n_left_out = table.n_entries - of_labels[largest]
        others = listing(map(repr, (labels.classes[k] for k in np.flatnonzero(inside[M:]))))
        return (
            f"left out {amount(n_left_out, 'label')} of {amount(len(self.left_out_), 'worker')}, because no other "
            f"worker uses their classes: {listing(map(repr, self.left_out_))} used only {listing(map(repr, words))}, "
            f"the others only {others}; rename the classes if they mean the same, or aggregate these labels separately"
        )

    def _met(self, labels: CrowdLabels) -> CrowdLabels:
        """Return labels without those that were left out of the fit."""
        workers, classes = self._without_words
        if not workers:
            return labels
        table = labels.table
        bad_worker = np.array([worker in workers for worker in labels.workers])[table.variables]
        kept = ~(bad_worker | np.array([name in classes for name in labels.classes])[table.values])
        entries = table.rows[kept], table.variables[kept], table.values[kept]
        shares = table.indicator.data[kept] if table.shared else None
        rest = CategoricalTable.from_entries(*entries, table.sizes, labels.n_tasks, shares)
        return CrowdLabels(rest, labels.tasks, labels.workers, labels.classes)

    def why_by_vote(self, labels: CrowdLabels | None = None) -> str:
        """Return why the answer is the vote, and how many workers used only one class; "" if it is not the vote."""
        if not self.by_vote_:
            return ""
        one, K = 0, len(self._of_anybody)
        if labels is not None:
            used = np.unique(labels.table.variables * np.int64(K) + labels.table.values) // K
            one = int(np.sum(np.bincount(used, minlength=labels.n_workers) == 1))
        which = f"; {one} of {len(self.workers_)} workers used only one class" if one else ""
        return (
            f"the labels do not show which workers know the answers (more than {UNINFORMED:.0%} of the labels are from "
            f"uninformative workers{which}): the answer is the majority vote"
        )

    def _merged(self, labels: CrowdLabels) -> CrowdLabels:
        """Return labels in which duplicate workers have one label per task; workers are matched by their ids."""
        if not self.copies_:
            return labels
        place = {worker: m for m, worker in enumerate(self.workers_)}
        here = {worker: m for m, worker in enumerate(labels.workers)}
        first: dict[int, int] = {}
        owner = np.arange(labels.n_workers)
        for m, worker in enumerate(labels.workers):
            if worker in place:
                speaker = int(self._owner[place[worker]])
                owner[m] = first.setdefault(speaker, here.get(self.workers_[speaker], m))
        return merged(labels, owner)

    # ---- prediction ----

    def _posterior(self, labels: CrowdLabels) -> Floats:
        if self.by_vote_:
            votes = self._merged(self._met(labels)).votes
            n, K = votes.sum(axis=1, keepdims=True), labels.n_classes
            return np.asarray((votes + 1 / K) / (n + 1))
        table = self._merged(self._met(labels)).table  # labels of copies are one
        model = self._for_workers(self._states, labels.workers)

        def of(tasks: CategoricalTable) -> Floats:
            posterior, n = within_classes(model.posterior(tasks), labels.n_classes), tasks.entries_per_row
            posterior[n == 0] = self.model_.prior
            return tempered(posterior, n, self.design_effect_)

        return table.by_rows(of)

    def _population(self, blocks: Floats) -> Floats:
        """Return the expected confusion matrix (K, K), or by scores (K, K m), of a worker who is not known."""
        return np.repeat(self._of_anybody, blocks.shape[2] // len(self._of_anybody), axis=1)

    def answers(self, posterior: Floats) -> Ints:
        """Return the (N,) class codes that these probabilities lead to: with an order, the median grade."""
        return super().answers(posterior) if self.grades_ is None else self._quantile(posterior, 0.5)

    def interval(self, posterior: Floats) -> tuple[Ints, Ints]:
        """Return the ends, as class codes, of the central 90 % interval of the grade of each task."""
        return self._quantile(posterior, TAIL), self._quantile(posterior, 1 - TAIL)

    def _quantile(self, posterior: Floats, share: float) -> Ints:
        """Return the class of the lowest grade below or at which at least this share lies."""
        in_order = np.argsort(np.asarray(self.grades_))
        below = np.cumsum(posterior[:, in_order], axis=1) < share - TINY
        return np.asarray(in_order[np.minimum(below.sum(axis=1), len(in_order) - 1)])

    # ---- votes of those who know ----

    def informed_votes(self, labels: Labels) -> Floats:
        """Return (N, K) vote shares of `labels` (as in `fit`), with workers weighted by their informativeness.

        The weight is one minus the probability of type "none"; copies count once. On a task that only workers of weight
        zero labelled, all count the same. A task without labels has shares of zero.
        """
        known = self._recoded(as_labels(labels, self.classes_ if hasattr(self, "model_") else None))
        weight = np.ones(len(self.workers_))
        if "none" in self.types_ and not self.by_vote_:
            weight -= self.type_probabilities_[:, self.types_.index("none")]
        if known.workers != self.workers_:  # who was not there in `fit` counts as the average
            place = {worker: m for m, worker in enumerate(self.workers_)}
            weight = np.append(weight, weight.mean())[[place.get(worker, -1) for worker in known.workers]]
        return weighted_vote_shares(self._merged(self._met(known)).table, weight)

    def disagreement(self, labels: Labels, posterior: Floats | None = None) -> NDArray[np.bool_]:
        """Return a mask of the tasks of `labels` (as in `fit`) whose label differs from the informed majority vote.

        `posterior` is `predict_proba(labels)`, if it is known already. A label among tied classes agrees; so does the
        label of a task without votes, and that of a gold task. Where the two differ, neither should be trusted before a
        person has checked the task.
        """
        votes = self.informed_votes(labels)
        label = self.answers(np.asarray(self.predict_proba(labels) if posterior is None else posterior))
        known = as_labels(labels, self.classes_)
        behind = votes.max(axis=1) - votes[np.arange(len(votes)), label]
        found = np.asarray(behind > SAME_SHARE)
        if self.gold_:
            found &= np.array([task not in self.gold_ for task in known.tasks])
        return found


def weighted_vote_shares(table: CategoricalTable, weight: Floats) -> Floats:
    """Return (N, K) vote shares with workers weighted by `weight` (M,); several answers of one count by their shares.

    On a task that only workers of weight zero labelled, all count the same. A task without labels has shares of zero.
    """
    ways = [np.kron(w[:, None], np.eye(int(table.sizes[0]))) for w in (weight, np.ones(len(weight)))]

    def of(tasks: CategoricalTable) -> Floats:
        weighted, plain = (tasks.indicator @ way for way in ways)
        votes = np.where(weighted.sum(axis=1, keepdims=True) > FEW_VOTES, weighted, plain)
        return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), FEW_VOTES))

    return table.by_rows(of)
