"""What every aggregator has in common: fit, predict, gold tasks, and labels of workers that were not there before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_kind, unmasked
from cofactor.core.em import em_rounds, maximization
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Estimator, History, NotFittedError, Result, clone
from cofactor.core.latent_class import LatentClassModel, map_class, match_classes
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import UNKNOWN, CrowdLabels, recoded, vote_shares
from cofactor.crowd.model import PRIOR, PseudoCounts, prior_cells


def own_class(labels: CrowdLabels) -> Floats:
    """Return (M K, K) columns for classes on which a worker was never seen: always right; none for who gave no label.

    Such a worker never gave that label. In the equations of 1979 the column is 0 / 0, and code that leaves it at zero
    excludes the class on the tasks of the worker; so does this one, which is a distribution. A uniform column would
    bring in classes that no worker chose on a task: where workers have four labels each of five classes, EM then ends
    elsewhere, five points lower.
    """
    given = labels.table.entries_per_variable > 0
    return np.asarray(np.kron(given[:, None], np.eye(labels.n_classes)), dtype=np.float64)


Table: TypeAlias = "pd.DataFrame | str | PathLike[str]"
Labels: TypeAlias = "CrowdLabels | Table"
Gold: TypeAlias = "ArrayLike | Mapping[Any, Any] | pd.Series[Any] | pd.DataFrame"

EM_ROUNDS = 500  # at most
SURE = 0.9  # probability of a label below which it is uncertain
CLEAR_VOTE = 0.8  # share of the votes of a task
EM_TOL = 1e-6  # relative change of EM's objective at which it stops


class Aggregator(Estimator):
    """Base class: turns crowd labels into one label per task.

    A method implements `_estimate`, which returns the Dawid-Skene model and how its iteration went; where `em` is
    set, expectation-maximisation goes on from there.

    Parameters
    ----------
    em : bool
        Refine by expectation-maximisation.
    pseudo_counts : (float, float)
        For EM: labels imagined for every worker and class before the first, right ones and each wrong one. They keep
        the confusion matrix of a worker with few labels from following every one of them. (0, 0) is maximum
        likelihood, as in the papers.

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        Class prior (K,) and one (K, K) annotator confusion matrix per worker, Pr(label i | class c) in [i, c].
    result_ : Result
        Of the last iterative stage.
    workers_, classes_ : lists
        The ids fitted on.
    labels_given_ : (n_workers,) array
        How many labels each worker gave.
    gold_ : dict of task to class code
        The tasks whose class was known.
    """

    model_: LatentClassModel
    result_: Result
    workers_: list[Any]
    classes_: list[Any]
    labels_given_: Ints
    gold_: dict[Any, int]

    takes_shares = False  # whether several answers of one worker to one task can count in parts
    takes_gold: bool | None = None  # None: if it ends in EM
    em: bool = False  # a method has these as fields, if they can be chosen
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None  # part of the common signature: most methods are deterministic
    verbose: bool = False

    def fit(self, labels: Labels, gold: Gold | None = None) -> Self:
        """Estimate the model from labels; returns self.

        Parameters
        ----------
        labels : CrowdLabels, DataFrame with columns task, worker, label, or path of a file with these
        gold : (n_tasks,) class codes with -1 where unknown, or a class by task, optional
            Tasks of known class: their labels teach the confusion matrices. A class by task is a dict, a Series by
            task, or a table with columns task and truth (or label). For methods that end in EM, WorkerTypes, and
            MajorityVote, which learns skills from them.

        Raises
        ------
        CofactorError
            Labels that cannot be read, or gold for a method that has no use for it.
        """
        known = self._countable(as_labels(labels), warn=True)
        codes = None if gold is None else self._checked_gold(gold, known)
        self._fit(known, codes)
        self.workers_, self.classes_ = known.workers, known.classes
        self.labels_given_ = known.table.entries_per_variable
        given = [] if codes is None else codes.tolist()
        self.gold_ = {task: code for task, code in zip(known.tasks, given, strict=False) if code != UNKNOWN}
        return self

    @overload
    def fit_predict(self, labels: CrowdLabels, gold: Gold | None = None) -> Ints: ...

    @overload
    def fit_predict(self, labels: Table, gold: Gold | None = None) -> pd.Series[Any]: ...

    def fit_predict(self, labels: Labels, gold: Gold | None = None) -> Ints | pd.Series[Any]:
        """Fit, and return what `predict` says of the same labels."""
        return self.fit(labels, gold).predict(labels)

    def _countable(self, labels: CrowdLabels, warn: bool = False) -> CrowdLabels:
        """Return labels with answers in parts only for a method that can count them."""
        if not labels.table.shared or self.takes_shares:
            return labels
        if warn:
            message = f"{type(self).__name__} counts the most frequent of a worker's answers to a task only"
            warnings.warn(message, DataWarning, stacklevel=3)
        return labels.whole

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.model_, self.result_ = self._estimate(labels)
        if self.em:
            self.model_, self.result_ = self._refine(self.model_, labels, gold)

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        raise NotImplementedError

    def _refine(
        self, model: LatentClassModel, labels: CrowdLabels, gold: Ints | None = None
    ) -> tuple[LatentClassModel, Result]:
        """Run EM from a model, then name the classes anew, since EM from a poor start can swap them."""
        history = History("EM", *self._limits(), self.verbose)
        for found in self._rounds(model, labels, gold, history):
            model = found
        return (model if gold is not None else name_classes(model, labels)), history.result()

    def _limits(self) -> tuple[int, float]:
        """Most rounds of EM, and the relative change of its objective that ends them."""
        return EM_ROUNDS, EM_TOL

    def _rounds(
        self, model: LatentClassModel, labels: CrowdLabels, gold: Ints | None, history: History
    ) -> Iterator[LatentClassModel]:
        cells = np.tile(prior_cells(self.pseudo_counts, labels.n_classes), (labels.n_workers, 1))
        return em_rounds(Evidence.of(labels, gold).e_step, model, history, cells, own_class(labels))

    def _checked_gold(self, gold: Gold, labels: CrowdLabels) -> Ints:
        if not (self.em if self.takes_gold is None else self.takes_gold):
            raise CofactorError(
                f"{type(self).__name__} cannot use gold tasks: give them to WorkerTypes, a method that ends in -EM, or "
                "MajorityVote, which then weighs workers by them"
            )
        codes = gold_codes(gold, labels)
        if message := gold_against_vote(labels, codes):
            warnings.warn(message, DataWarning, stacklevel=4)
        return codes

    @overload
    def predict_proba(self, labels: CrowdLabels) -> Floats: ...

    @overload
    def predict_proba(self, labels: Table) -> pd.DataFrame: ...

    def predict_proba(self, labels: Labels) -> Floats | pd.DataFrame:
        """Return the class probabilities of every task.

        Parameters
        ----------
        labels : as in `fit`, of any tasks
            Workers and classes are matched by their ids. Workers who were not there in `fit` count as the average of
            those who were, with a `DataWarning`. Tasks that were gold keep their class.

        Returns
        -------
        (n_tasks, n_classes) array in the order of `classes_`; a table of tasks by classes where `labels` is a table or
        a path. A task without labels gets the prior.

        Raises
        ------
        CofactorError
            Not fitted yet, or labels of classes that were not there in `fit` (they are named).
        """
        known = self._recoded(as_labels(labels, self.classes_ if hasattr(self, "model_") else None))
        known = self._countable(known)
        posterior = self._posterior(known)
        if self.gold_:
            for n, task in enumerate(known.tasks):
                if task in self.gold_:
                    posterior[n] = np.arange(posterior.shape[1]) == self.gold_[task]
        if isinstance(labels, CrowdLabels):
            return posterior
        return pd.DataFrame(posterior, _index(known.tasks, "task"), _index(self.classes_, "class"))

    @overload
    def predict(self, labels: CrowdLabels) -> Ints: ...

    @overload
    def predict(self, labels: Table) -> pd.Series[Any]: ...

    def predict(self, labels: Labels) -> Ints | pd.Series[Any]:
        """Return the class of every task; `labels` as in `predict_proba`.

        Returns
        -------
        (n_tasks,) class codes; where `labels` is a table or a path, a Series of the classes themselves by task. Ties
        go to the class with the larger prior, then to the lower code.
        """
        posterior = self.predict_proba(labels)
        codes = self.answers(np.asarray(posterior))
        if isinstance(posterior, np.ndarray):
            return codes
        return pd.Series([self.classes_[k] for k in codes], posterior.index, name="label")

    def answers(self, posterior: Floats) -> Ints:
        """Return the class codes (N,) that are answered with these (N, K) probabilities; ties as in `predict`."""
        return map_class(posterior, self.model_.prior)

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (N, K) posterior of labels whose classes are those of the fit."""
        return self._for_workers(self.model_, labels.workers).posterior(labels.table)

    def _check_fitted(self) -> None:
        """Raise NotFittedError where there is no model: before `fit`, and after one that failed halfway."""
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit(labels) first")

    def _recoded(self, labels: CrowdLabels) -> CrowdLabels:
        """Return labels with the classes of the fit, in their order."""
        self._check_fitted()
        there = set(self.classes_)
        other = [known for known in labels.classes if known not in there]
        if other:
            raise CofactorError(
                f"classes that were not there in fit: {listing(map(repr, other))}; fit again with labels of all classes"
            )
        return recoded(labels, self.classes_)

    def _for_workers(self, model: LatentClassModel, workers: list[Any]) -> LatentClassModel:
        """Return the model of these workers; who was not there in `fit` gets the population's confusion matrix."""
        if workers == self.workers_:
            return model
        place = {worker: m for m, worker in enumerate(self.workers_)}
        blocks = model.stacked.reshape(len(self.workers_), len(self.classes_), -1)
        unknown = [worker for worker in workers if worker not in place]
        if unknown:
            message = f"workers who were not there in fit count as the average of those who were: {listing(unknown)}"
            warnings.warn(message, DataWarning, stacklevel=5)
        everybody = np.concatenate([blocks, self._population(blocks)[None]])
        chosen = everybody[[place.get(worker, -1) for worker in workers]]
        sizes = np.full(len(workers), len(self.classes_))
        return LatentClassModel.from_stacked(model.prior, chosen.reshape(-1, model.n_classes), sizes)

    def _population(self, blocks: Floats) -> Floats:
        """Return the (K, S) mean of the workers' matrices, each counted as often as it was seen."""
        return np.average(blocks, axis=0, weights=self.labels_given_)

    def _check_same_crowd(self, labels: CrowdLabels) -> None:
        require_labels(labels)
        self._check_fitted()
        if not np.array_equal(labels.table.sizes, self.model_.sizes):
            raise CofactorError(
                f"fitted on {self.model_.n_variables} workers and {self.model_.n_classes} classes, "
                f"asked about {labels.n_workers} and {labels.n_classes}: give labels of the same crowd"
            )
        fitted = [*self.workers_, *self.classes_]
        asked = [*labels.workers, *labels.classes]
        other = [f"{new!r} for {old!r}" for old, new in zip(fitted, asked, strict=True) if old != new]
        if other:
            raise CofactorError(f"not the workers and classes fitted on, in the same order: {listing(other)}")


class TaskScorer(Aggregator):
    """Base class of methods that score the tasks themselves instead of fitting a model that could score others.

    A method implements `_score`, which returns (N, K) class probabilities of the tasks and how its iteration went.
    `model_` then holds the Dawid-Skene model in which these count as soft classes; with `em`, EM goes on from it.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        The scores, for the tasks fitted on.
    model_, result_, workers_, classes_ : see `Aggregator`
    """

    posterior_: Floats

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        raise NotImplementedError

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        self.posterior_, result = self._score(labels)
        self._fitted = labels.table.indicator
        labelled = labels.table.entries_per_row > 0
        return maximization(labels.table.take_rows(labelled), self.posterior_[labelled]), result

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) scores of the tasks fitted on; after EM, the posterior of any tasks."""
        if self.em:
            return super()._posterior(labels)
        self._check_same_crowd(labels)
        asked = labels.table.indicator
        if asked.shape != self._fitted.shape or (asked != self._fitted).nnz:
            raise CofactorError(
                f"{type(self).__name__} scores only the labels it was fitted on: fit it on these, "
                "or use model_.posterior(labels.table)"
            )
        return self.posterior_


def as_labels(labels: Labels, classes: list[Any] | None = None) -> CrowdLabels:
    """Return labels as they are, or read them, of these classes, from a table or a file; refuse anything else."""
    if isinstance(labels, str | PathLike):
        return CrowdLabels.from_file(labels, classes=classes)
    if not isinstance(labels, CrowdLabels) and isinstance(labels, pd.DataFrame):
        return CrowdLabels.from_frame(labels, classes=classes)
    require_labels(labels)
    return labels


def _index(ids: list[Any], name: str) -> pd.Index[Any]:
    """Return an index of ids as they are: a tuple is one id, not several levels."""
    return pd.Index(ids, name=name, tupleize_cols=False)


def require_labels(labels: object) -> None:
    """Refuse anything but `CrowdLabels`, and say how to make one."""
    if not isinstance(labels, CrowdLabels):
        how = "make them with CrowdLabels.from_frame or from_arrays"
        raise CofactorError(f"expected CrowdLabels, got {type(labels).__name__}: {how}")


def fitted_on(method: Aggregator, labels: CrowdLabels) -> Aggregator:
    """Return the method, if it was fitted on this crowd, or a copy that is fitted now."""
    require_labels(labels)
    check_kind(Aggregator, method=method)
    fitted = method if hasattr(method, "model_") else clone(method).fit(labels)
    fitted._check_same_crowd(labels)
    return fitted


def vote_model(labels: CrowdLabels, pseudo_count: float = 0.0, unseen: Floats | None = None) -> LatentClassModel:
    """Return the Dawid-Skene model in which vote shares count as soft classes (one M-step)."""
    return Evidence.of(labels).start().model(pseudo_count, unseen=unseen)


def name_classes(model: LatentClassModel, labels: CrowdLabels) -> LatentClassModel:
    """Order the latent classes so that they agree most with the majority votes; no ground truth is used."""
    labelled = labels.table.entries_per_row > 0
    posterior = model.posterior(labels.table)[labelled]
    return model.reorder(match_classes(vote_shares(labels)[labelled], posterior))


def gold_codes(gold: Gold, labels: CrowdLabels) -> Ints:
    """Return the known class of every task as a code, -1 where unknown; `gold` is that, or a class for some tasks.

    Raises a CofactorError for other than one whole number a task, codes or classes that are none, tasks of two classes
    (their tasks are named), or where no task is known. Tasks that are not among the labels are passed over, with a
    `DataWarning` that names them.
    """
    if not isinstance(gold, np.ndarray) and isinstance(gold, Mapping | pd.Series | pd.DataFrame):
        return _codes_by_task(_one_class_each(gold, labels), labels)
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


def _one_class_each(gold: Mapping[Any, Any] | pd.Series | pd.DataFrame, labels: CrowdLabels) -> Mapping[Any, Any]:
    """Return the class by task, both as the labels have them, and refuse tasks that have two."""
    if isinstance(gold, pd.DataFrame):
        name = next((name for name in ("truth", "label") if name in gold), None)
        if "task" not in gold or name is None:
            found = listing(gold.columns)
            raise CofactorError(f"a table of gold tasks needs the columns task and truth (or label), found {found}")
        tasks, classes = gold["task"].tolist(), gold[name].tolist()
    else:
        tasks, classes = list(gold.keys()), [truth for _, truth in gold.items()]
    pairs = zip(_as_known(tasks, labels.tasks), _as_known(classes, labels.classes), strict=True)
    known: dict[Any, Any] = {}
    twice = [task for task, truth in pairs if known.setdefault(task, truth) != truth]
    if twice:
        raise CofactorError(f"gold gives two classes for tasks {listing(map(repr, dict.fromkeys(twice)))}: leave one")
    return known


def _as_known(values: list[Any], known: Sequence[Any]) -> list[Any]:
    """Return values as they stand among the known ones, where they are written alike: 1 for "1"."""
    there = set(known)
    if there.issuperset(values):
        return values
    by_text = {str(one): one for one in known}
    return [value if value in there else by_text.get(str(value), value) for value in values]


def _codes_by_task(gold: Mapping[Any, Any], labels: CrowdLabels) -> Ints:
    code = {known: k for k, known in enumerate(labels.classes)}
    bad = [f"task {task!r}: {known!r}" for task, known in gold.items() if known not in code]
    if bad:
        raise CofactorError(f"gold of classes that no label has: {listing(bad)}; the classes are {listing(code)}")
    codes = np.array([code[gold[task]] if task in gold else UNKNOWN for task in labels.tasks], dtype=np.int64)
    if (codes == UNKNOWN).all():
        raise CofactorError(f"gold has none of the labelled tasks; its tasks are {listing(map(repr, gold))}")
    there = set(labels.tasks)
    other = [repr(task) for task in gold if task not in there]
    if other:
        message = f"{len(other)} gold tasks have no labels and are passed over: {listing(other)}"
        warnings.warn(message, DataWarning, stacklevel=5)
    return codes


def gold_against_vote(labels: CrowdLabels, gold: Ints) -> str:
    """Return a question where gold (N,), -1 where unknown, contradicts the vote on most tasks, and on most clear ones.

    Clear are tasks with four fifths of the votes for one class; those that readings of the labels dispute are not.
    """
    known = np.flatnonzero((gold != UNKNOWN) & (labels.table.entries_per_row > 0))
    votes = vote_shares(labels)[known]
    most = votes.max(axis=1, initial=0)
    against, clear = votes[np.arange(len(known)), gold[known]] < most, most >= CLEAR_VOTE
    if 2 * against.sum() <= len(known) or 2 * against[clear].sum() <= clear.sum():
        return ""
    return f"gold contradicts the vote on {against.sum()} of {len(known)} tasks: are its classes swapped?"


def tied_share(labels: CrowdLabels) -> float:
    """Share of all tasks on which the vote is tied, those without any label included."""
    return float(np.mean(np.sum(labels.votes == labels.votes.max(axis=1, keepdims=True), axis=1) > 1))


def worker_accuracy(model: LatentClassModel) -> Floats:
    """Return (M,) Pr(label is the true class) = sum_c lambda_c A_m[c, c] of every annotator."""
    check_kind(LatentClassModel, model=model)
    if (other := np.flatnonzero(model.sizes != model.n_classes)).size:
        raise CofactorError(f"not one label per class, as a crowd's model has: variables {listing(other.tolist())}")
    return np.array([model.prior @ np.diag(A) for A in model.conditionals])
