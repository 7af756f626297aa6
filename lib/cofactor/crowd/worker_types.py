"""WorkerTypes, the default of this kit: every worker is of a type that the labels choose, and copies are one worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import PRIOR, Aggregator, Labels, as_labels
from cofactor.crowd.calibration import GoldCheck, HeldOut, held_out_gold, tempered
from cofactor.crowd.copies import groups, joined, one_voice, owners, without_copies, without_copies_of
from cofactor.crowd.dependence import Dependence
from cofactor.crowd.difficulty import Difficulty, fit_difficulty
from cofactor.crowd.disputes import outvoted, weighted_vote_shares
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.fit import Fit
from cofactor.crowd.graders import Settings, within_grades
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.order import checked_order, in_order
from cofactor.crowd.ordinal import GRADED, Grading, Loss, Reading, grade, score_grades
from cofactor.crowd.types import TypesBelief

USUAL_DESIGN_EFFECT = 2.4  # where none is learned: the best single one for public crowds
MAX_CLASSES = 50  # with more, learning the design effect takes too long
SAMPLED_TASKS = (
    200_000  # at most as many say how sure both models are of their labels, whose matrices are those of all tasks
)
MIN_GOLD_TASKS = 30  # for a check on held-out gold tasks
ONE_LABEL_ACCURACY = 0.8  # that of the prior, where no task has two labels
ONE_LABEL = Result(np.zeros(0), 0, True, "no task has two labels: nothing tells how good the workers are")


@dataclass(eq=False, repr=False)
class WorkerTypes(Aggregator):
    """Dawid-Skene in which every worker is of a type that the labels choose: the default of this kit.

    A worker has one accuracy ("coin"), an accuracy for each class ("class"), errors of his own ("own"), or nothing to
    say beside the others ("none"): see `cofactor.crowd.types`. "own" is offered with three classes or more, where
    there are at least as many labels as workers times classes and workers do not err together (`Dependence.z` at most
    2); with two classes it is the same as "class". Copies (`cofactor.crowd.copies`) are merged first, and count as
    one worker. Where no task has two labels, nothing is fitted: each label is right with probability 0.8, and nothing
    is known of anybody.

    Labels of one task repeat one another more than the model says. So the posterior r of task i is flattened before it
    is given out, the more the more labels n_i it has; the label stays that of r:

        p_ik proportional to r_ik^beta_i,   beta_i = 1 / sqrt(1 + design_effect (n_i - 1))

    The design effect is learned. A second model, in which tasks of one class differ in difficulty
    (`cofactor.crowd.difficulty`), says how probable the chosen labels are on average; the design effect is the one
    under which p says the same.

    Parameters
    ----------
    order : sequence, optional
        All classes, the lowest first, where they are grades: see `cofactor.crowd.ordinal`. Then graders, who err by
        steps along the scale, are a type ("graded"), and labels can be read as numbers.
    reading : "auto", "class" or "mean"
        Of grades: whether a task has a grade, or a score that is the crowd's mean, freed from the workers' offsets.
        Auto: whichever predicts held-out labels better, unless five gold tasks or more speak clearly.
    loss : "steps" or "errors"
        Of grades: whether labels are to be few steps off, or seldom wrong by however much.
    one_voice : sequence of groups of workers
        Workers who are known to be one voice, such as judges of one family: each group counts as one worker, who says
        what most of them say.
    merge_copies : bool
        Whether copies count as one worker. From shards and in a database they are looked for on a sample of tasks.
    design_effect : float, optional
        How much the labels of a task repeat one another; 0 leaves the posterior as it is. Default: learned as above;
        2.4 with more than 50 classes, where that takes too long; with 30 gold tasks or more, the value of smallest
        log-loss on gold tasks that were held out.
    diagonal, off : float
        a and b, labels imagined for every worker before the first: right ones, and each wrong one.
    max_iter, tol
        Rounds stop when one moves the expected labels by at most `tol` on average, or after `max_iter`.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    types_ : tuple of str
        Those that were offered: "coin", "class", "own", "none"; empty where nothing was fitted.
    type_probabilities_ : (n_workers, n_types) array
        Of every worker.
    type_shares_ : (n_types,) array
        In the whole crowd.
    copies_ : list of lists of workers
        The groups that count as one.
    dependence_ : Dependence or None
        Whether workers err together more than the model has it ("own" alone, where that was tried); None where nothing
        was fitted.
    design_effect_ : float
    difficulty_ : Difficulty or None
        How much tasks of a class differ in difficulty, where the design effect was learned.
    gold_check_ : GoldCheck or None
        With 30 gold tasks or more: how well they are predicted where they are not shown.
    grading_ : Grading or None
        Which reading of the grades was chosen, and its fit, where an order was given and there are three or more.
    belief_ : TypesBelief or None
    model_, result_, ... : see `Aggregator`
        `model_` has one expected confusion matrix a worker, that of the group for copies. `result_.objective` is the
        lower bound of the log-probability of the labels (nats); it never falls.

    Cost
    ----
    One fit, or two where "own" may be offered. A round costs an E-step of K states, O(labels K), and
    O(rows K types) digamma functions. The design effect takes up to 50 rounds of 7 K states.

    Source and deviations
    ---------------------
    This kit's; parts and their sources are named in `cofactor.crowd.types`, what was tried in docs/aggregation.md.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> WorkerTypes().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    takes_shares = True
    order: Sequence[Any] | None = None
    reading: Reading = "auto"
    loss: Loss = "steps"
    one_voice: Sequence[Sequence[Any]] = ()
    merge_copies: bool = True
    diagonal: float = PRIOR[0]
    off: float = PRIOR[1]
    design_effect: float | None = None
    max_iter: int = 500
    tol: float = 1e-5
    random_state: int | None = None
    verbose: bool = False

    def _takes_gold(self) -> bool:
        return True

    def _check_settings(self) -> None:
        for name, value, known in (("reading", self.reading, Reading), ("loss", self.loss, Loss)):
            if value not in get_args(known):
                raise CofactorError(f"{name}={value!r}: choose one of {', '.join(get_args(known))}")
        check_positive(diagonal=self.diagonal, off=self.off)
        check_whole(1, max_iter=self.max_iter)
        if self.design_effect is not None:
            check_positive(zero=True, design_effect=self.design_effect)

    def _begin(self, evidence: Evidence, owner: Ints) -> None:
        """Fit labels in which copies are merged already."""
        self._owner = owner
        self._near_copies: Any = None  # kept by `near_copies`
        self.copies_: list[list[Any]] = []
        self.types_: tuple[str, ...] = ()
        self.belief_: TypesBelief | None = None
        self.dependence_: Dependence | None = None
        self.difficulty_: Difficulty | None = None
        self.gold_check_: GoldCheck | None = None
        self.grading_: Grading | None = None
        fit = self._fit_to(evidence)
        if not len(evidence.gold()[0]) and fit.n_labels <= fit.votes.n_rows:
            self._know_nothing(fit.votes)
            return
        types, together = fit.offered()
        belief, counts, result = fit.run(types)
        self.dependence_ = together or fit.dependence(belief)
        given = self.design_effect  # learned before models of all rows are kept, which take memory
        self.design_effect_ = self._learned_effect(fit, belief, counts) if given is None else given
        self._keep(fit, belief, counts, result)

    def _fit_to(self, evidence: Evidence) -> Fit:
        return Fit(evidence, (self.diagonal, self.off), self.max_iter, self.tol, self.verbose)

    def fit_evidence(self, evidence: Evidence, owner: Ints | None = None) -> None:
        """Fit labels wherever they are, in which copies are merged as far as they are known.

        `owner` says whom every worker belongs to, in `workers_`; default: no worker is a copy.
        Raises a CofactorError where `order` or `one_voice` is set: both need all labels at once.
        """
        self._check_settings()
        if self.order is not None or self.one_voice:
            raise CofactorError("order and one_voice need all labels in memory: leave them out, or call fit(labels)")
        self._begin(evidence, np.arange(evidence.rows.n_workers) if owner is None else owner)
        self.copies_ = [] if owner is None else groups(owner, self.workers_)
        self._check_by_gold(evidence)

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self._check_settings()
        strange = {worker for group in self.one_voice for worker in group} - set(labels.workers)
        if strange:
            raise CofactorError(f"one_voice names workers that gave no label: {listing(map(repr, strange))}")
        labels = self._as_voices(labels)
        evidence = self._fit_groups(labels, gold, self._owners(labels))
        if self.order is None:
            self._check_by_gold(evidence)

    def _check_by_gold(self, evidence: Evidence) -> None:
        """Learn the design effect from gold tasks that were held out, where they are many, and check them."""
        tasks, classes = evidence.gold()
        if len(tasks) >= MIN_GOLD_TASKS:
            held_out = self._held_out(evidence, tasks, classes)
            if self.design_effect is None:
                self.design_effect_ = held_out.best_design_effect()
            self.gold_check_ = held_out.check(self.design_effect_)

    def _owners(self, labels: CrowdLabels) -> Ints:
        """Return whom every worker belongs to: copies, and workers who are said to be one, to the first of them."""
        owner = owners(labels.whole.table) if self.merge_copies else np.arange(labels.n_workers)
        return joined(owner, self._voices(labels))

    def _voices(self, labels: CrowdLabels) -> list[list[int]]:
        """Return the codes of the workers of each group that is said to be one, as far as they are here."""
        place = {worker: m for m, worker in enumerate(labels.workers)}
        groups = ([place[worker] for worker in group if worker in place] for group in self.one_voice)
        return [group for group in groups if group]

    def _as_voices(self, labels: CrowdLabels) -> CrowdLabels:
        """Return labels in which each group that is said to be one speaks through its first worker."""
        if not self.one_voice:
            return labels
        table = one_voice(labels.whole.table, self._voices(labels))
        return CrowdLabels(table, labels.tasks, labels.workers, labels.classes)

    def _grade(self, labels: CrowdLabels, gold: Ints | None, order: list[Any]) -> None:
        """Read labels without copies as grades, with the types that were offered; two grades are two classes."""
        if self.belief_ is None or labels.n_classes == 2:
            return
        settings = Settings(self.belief_.types, self.max_iter, self.tol)
        found = grade(labels, gold, order, settings, self.reading, self.loss, self.design_effect)
        self.grading_, self.design_effect_ = found, found.design_effect
        by_grade = np.argsort(found.grades)
        self._of_anybody: Floats = self._of_anybody[np.ix_(by_grade, by_grade)]
        self.model_ = self._of_members(found.model)
        if found.classes:
            belief, self.result_ = found.classes.belief, found.classes.result
            self.types_ = (*self.types_, GRADED)
            self.type_probabilities_, self.type_shares_ = belief.q[self._owner], belief.rho
            self._states = self._of_members(found.classes.states)

    def refit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        """Fit other labels of the same workers, with the copies that were found."""
        self._fit_groups(self._as_voices(labels), gold, self._owner)

    def _fit_groups(self, labels: CrowdLabels, gold: Ints | None, owner: Ints) -> Evidence:
        merged = without_copies_of(labels, owner)
        evidence = Evidence.of(merged, gold)
        self._begin(evidence, owner)
        self.copies_ = groups(owner, labels.workers)
        if self.order is not None:
            self._grade(merged, gold, checked_order(self.order))
        return evidence

    def _know_nothing(self, votes: SoftCounts) -> None:
        """Keep the prior's belief: nothing is known where no task has two labels."""
        K, M = len(votes.classes), len(votes.sizes)
        right = np.where(np.eye(K, dtype=bool), ONE_LABEL_ACCURACY, (1 - ONE_LABEL_ACCURACY) / (K - 1))
        self.model_ = LatentClassModel.from_stacked(np.full(K, 1 / K), np.tile(right, (M, 1)), votes.sizes)
        self.type_probabilities_, self.type_shares_ = np.zeros((M, 0)), np.zeros(0)
        self._states, self._of_anybody, self.belief_ = self.model_, right, None
        self.result_, self.design_effect_ = ONE_LABEL, 0.0

    def _keep(self, fit: Fit, belief: TypesBelief, counts: SoftCounts, result: Result) -> None:
        self.belief_, self.result_ = belief, result
        self.types_ = tuple(kind.name for kind in belief.types)
        self.type_probabilities_, self.type_shares_ = belief.q[self._owner], belief.rho
        self._states = self._of_members(belief.everywhere().expected_logs())
        self.model_ = self._of_members(fit.expected(counts))
        self._of_anybody = fit.average_worker(counts)

    def _of_members(self, model: LatentClassModel) -> LatentClassModel:
        """Return the model in which members of a group have the matrix of its owner."""
        if np.array_equal(self._owner, np.arange(len(self._owner))):
            return model
        K, S = int(model.sizes[0]), model.n_classes
        stacked = model.stacked.reshape(-1, K, S)[self._owner].reshape(-1, S)
        return LatentClassModel.from_stacked(model.prior, stacked, model.sizes)

    def _learned_effect(self, fit: Fit, belief: TypesBelief, counts: SoftCounts) -> float:
        """Return the design effect under which the posterior is as sure as the model of difficulty."""
        K = len(fit.alpha)
        if K > MAX_CLASSES:
            return USUAL_DESIGN_EFFECT
        e_step = fit.of_rows.e_step
        self.difficulty_ = fit_difficulty(e_step, fit.of_rows_alone(fit.expected(counts)), fit.rows, fit.alpha)
        some = fit.of_rows.sample(SAMPLED_TASKS)
        return some.confidence(belief.expected_logs(), self.difficulty_.model(fit.rows)).design_effect

    def _merged(self, labels: CrowdLabels) -> CategoricalTable:
        """Return the table in which copies have one label a task."""
        if not self.copies_ and not self.one_voice:
            return labels.table
        place = {worker: m for m, worker in enumerate(self.workers_)}
        here = {worker: m for m, worker in enumerate(labels.workers)}
        own = self.workers_
        owner = [
            here.get(own[self._owner[place[worker]]], m) if worker in place else m
            for m, worker in enumerate(labels.workers)
        ]
        return without_copies(self._as_voices(labels).table, np.array(owner))

    def _untempered(self, labels: CrowdLabels) -> tuple[Floats, Ints]:
        """Return r, the (N, K) posterior of the model, and the labels of every task, those of copies as one."""
        table = self._merged(labels) if self.copies_ else labels.table
        posterior = self._for_workers(self._states, labels.workers).posterior(table)
        n = table.entries_per_row
        posterior[n == 0] = self.model_.prior
        return posterior, n

    def informed_votes(self, labels: Labels) -> Floats:
        """Return (N, K) vote shares of `labels` (as in `fit`) in which each worker counts as far as they say something.

        A worker counts with one minus the probability of being of type "none", copies count once. Where only such
        workers labelled a task, all count the same. A task without labels has shares of zero.
        """
        known = self._recoded(as_labels(labels, self.classes_ if hasattr(self, "model_") else None))
        return weighted_vote_shares(self._merged(known), self._weights(known.workers))

    def _weights(self, workers: list[Any]) -> Floats:
        """Return the weight of each of these workers; that of the average for who was not there in `fit`."""
        informed = self._informed()
        if workers == self.workers_:
            return informed
        place = {worker: m for m, worker in enumerate(self.workers_)}
        return np.append(informed, informed.mean())[[place.get(worker, -1) for worker in workers]]

    def _informed(self) -> Floats:
        """Return, of every worker, one minus the probability of type "none"."""
        if "none" not in self.types_:
            return np.ones(len(self.workers_))
        return np.asarray(1 - self.type_probabilities_[:, self.types_.index("none")])

    def disagreement(self, labels: Labels) -> NDArray[np.bool_]:
        """Tell of every task of `labels` (as in `fit`) whether its label is another than most informed votes say.

        A label among tied classes agrees; so does every label of a task without votes, and that of a gold task. Where
        both differ, neither is to be believed before somebody has looked.
        """
        votes = self.informed_votes(labels)
        label = self.answers(np.asarray(self.predict_proba(labels)))
        known = as_labels(labels, self.classes_)
        gold = np.array([task in self.gold_ for task in known.tasks])
        return outvoted(votes, label) & ~gold

    def answers(self, posterior: Floats) -> Ints:
        """Return the class codes (N,) that are answered with these probabilities: of grades, as `loss` says."""
        return self.grading_.answers(posterior) if self.grading_ else super().answers(posterior)

    def _posterior(self, labels: CrowdLabels) -> Floats:
        if self.grading_:
            return self._graded(labels, self.grading_)
        return tempered(*self._untempered(labels), self.design_effect_)

    def _graded(self, labels: CrowdLabels, found: Grading) -> Floats:
        """Return the posterior of labels read as grades; its columns are in the order of the classes."""
        merged = CrowdLabels(self._merged(labels), labels.tasks, labels.workers, labels.classes)
        table = in_order(merged, self.order or ()).table
        if found.scores is None:
            r = within_grades(self._for_workers(self._states, labels.workers).posterior(table))
        else:
            offsets = dict(zip(self.workers_, found.scores.b[self._owner], strict=True))
            r = score_grades(table, found.scores, np.array([offsets.get(worker, 0.0) for worker in labels.workers]))
        n = table.entries_per_row
        posterior = tempered(r, n, found.design_effect)[:, found.grades]
        posterior[n == 0] = self.model_.prior
        return posterior

    def _population(self, blocks: Floats) -> Floats:
        """Return the expected confusion matrix (K, K), or by states of grades (K, G), of a worker who is not known."""
        return np.repeat(self._of_anybody, blocks.shape[2] // len(self._of_anybody), axis=1)

    def _held_out(self, evidence: Evidence, tasks: Ints, classes: Ints) -> HeldOut:
        """Predict gold tasks (numbers, classes) from fits that were told of the other gold tasks only."""

        def predict(asked: Ints) -> tuple[Floats, Ints]:
            again = clone(self).set_params(design_effect=0.0)
            again._begin(evidence.hiding(asked), self._owner)
            return evidence.posterior(again._states, asked)

        return held_out_gold(predict, tasks, classes)


def merged_evidence(labels: CrowdLabels, gold: Ints | None, owner: Ints) -> Evidence:
    """Return labels in which copies have one label a task, as sums."""
    return Evidence.of(without_copies_of(labels, owner), gold)
