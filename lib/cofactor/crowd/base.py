"""The base class of all aggregators: fit, predict, gold tasks, and workers not seen in `fit`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_kind, unmasked
from cofactor.core.em import em_rounds, maximization
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.estimator import Estimator, History, NotFittedError, Result, clone
from cofactor.core.latent_class import LatentClassModel, map_class, match_classes
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import UNKNOWN, CrowdLabels, recoded, vote_shares
from cofactor.crowd.model import PRIOR, PseudoCounts, prior_cells


def own_class(labels: CrowdLabels) -> Floats:
    """Return (M K, K) columns for classes on which a worker has no label: always right; zero for workers without any.

    Such a worker never gave that label. In the equations of 1979 the column is 0 / 0. Code that leaves it at zero
    excludes the class on all tasks of this worker; so does this column, but it is a distribution. A uniform column
    would bring in classes that no worker chose on a task: with four labels per worker and five classes, EM then ends at
    another solution, with an accuracy five points lower.
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
    """Base class of methods that turn crowd labels into one label per task.

    A method implements `_estimate`, which returns the Dawid-Skene model and the report of its iteration; if `em` is
    set, expectation-maximisation continues from there.

    Parameters
    ----------
    em : bool
        Refine by expectation-maximisation.
    pseudo_counts : (float, float)
        For EM: prior counts of correct labels and of each wrong label, for every worker and class. They keep the
        confusion matrix of a worker with few labels from overfitting. (0, 0) is maximum likelihood, as in the papers.

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        Class prior (K,) and one (K, K) annotator confusion matrix per worker, Pr(label i | class c) in [i, c].
    result_ : Result
        The report of the last iterative stage.
    workers_, classes_ : lists
        The ids seen in `fit`.
    labels_given_ : (n_workers,) array
        How many labels each worker gave.
    gold_ : dict of task to class code
        Tasks of known class.
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
        gold : (n_tasks,) class codes with -1 where unknown, or classes by task, optional
            Tasks of known class, from which confusion matrices are learned. Classes by task are a dict, a Series
            indexed by task, or a table with columns task and truth (or label). Accepted by WorkerTypes, by methods that
            end in EM, and by MajorityVote, which learns skills from them.

        Raises
        ------
        CofactorError
            Labels that cannot be read, or gold for a method that cannot use it.
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
        """Fit, and return `predict` of the same labels."""
        return self.fit(labels, gold).predict(labels)

    def _countable(self, labels: CrowdLabels, warn: bool = False) -> CrowdLabels:
        """Return labels with answers in parts only for a method that can count them."""
        if not labels.table.shared or self.takes_shares:
            return labels
        if warn:
            message = f"{type(self).__name__} counts only the most frequent of a worker's answers to a task"
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
                f"{type(self).__name__} cannot use gold tasks: use WorkerTypes, a method whose name ends in -EM, or "
                "MajorityVote, which then weights workers by them"
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
            Workers and classes are matched by their ids. Workers not seen in `fit` count as the average of those who
            were, with a `DataWarning`. Gold tasks keep their class.

        Returns
        -------
        (n_tasks, n_classes) array in the order of `classes_`; a DataFrame of tasks by classes if `labels` is a table or
        a path. A task without labels gets the prior.

        Raises
        ------
        CofactorError
            Not fitted yet, or classes that were not seen in `fit` (they are named).
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
        (n_tasks,) class codes; if `labels` is a table or a path, a Series of the classes themselves, indexed by task.
        Ties go to the class with the larger prior, then to the lower code.
        """
        posterior = self.predict_proba(labels)
        codes = self.answers(np.asarray(posterior))
        if isinstance(posterior, np.ndarray):
            return codes
        return pd.Series([self.classes_[k] for k in codes], posterior.index, name="label")

    def answers(self, posterior: Floats) -> Ints:
        """Return the (N,) class codes that these (N, K) probabilities lead to; ties as in `predict`."""
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
                f"classes not seen in fit: {listing(map(repr, other))}; fit again on labels of all classes"
            )
        return recoded(labels, self.classes_)

    def _for_workers(self, model: LatentClassModel, workers: list[Any]) -> LatentClassModel:
        """Return the model of these workers; those not seen in `fit` get the population's confusion matrix."""
        if workers == self.workers_:
            return model
        place = {worker: m for m, worker in enumerate(self.workers_)}
        blocks = model.stacked.reshape(len(self.workers_), len(self.classes_), -1)
        unknown = [worker for worker in workers if worker not in place]
        if unknown:
            message = f"workers not seen in fit count as the average of those who were: {listing(unknown)}"
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
                f"but the labels have {labels.n_workers} and {labels.n_classes}: pass labels of the same crowd"
            )
        fitted = [*self.workers_, *self.classes_]
        asked = [*labels.workers, *labels.classes]
        other = [f"{new!r} instead of {old!r}" for old, new in zip(fitted, asked, strict=True) if old != new]
        if other:
            raise CofactorError(f"workers and classes must be those of fit, in the same order; found {listing(other)}")


class TaskScorer(Aggregator):
    """Base class of methods that score the given tasks directly, without a model that could score other tasks.

    A method implements `_score`, which returns (N, K) class probabilities of the tasks and the report of its
    iteration. `model_` is then the Dawid-Skene model in which these count as soft classes; with `em`, EM continues from
    it.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        The scores of the tasks in `fit`.
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
        """Return the (n_tasks, n_classes) scores of the tasks in `fit`; after EM, the posterior of any tasks."""
        if self.em:
            return super()._posterior(labels)
        self._check_same_crowd(labels)
        asked = labels.table.indicator
        if asked.shape != self._fitted.shape or (asked != self._fitted).nnz:
            raise CofactorError(
                f"{type(self).__name__} scores only the labels it was fitted on: fit it on these labels, "
                "or use model_.posterior(labels.table)"
            )
        return self.posterior_


def as_labels(labels: Labels, classes: list[Any] | None = None) -> CrowdLabels:
    """Return `CrowdLabels` unchanged, or read them from a table or a file, with these classes; else raise."""
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
    """Raise a CofactorError for anything but `CrowdLabels`; it says how to create them."""
    if not isinstance(labels, CrowdLabels):
        how = "create them with CrowdLabels.from_frame or from_arrays"
        raise CofactorError(f"expected CrowdLabels, got {type(labels).__name__}: {how}")


def fitted_on(method: Aggregator, labels: CrowdLabels) -> Aggregator:
    """Return the method if it is fitted, which must be on this crowd; otherwise a copy that is fitted now."""
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


def gold_codes(gold: Gold, labels: CrowdLabels, called: str = "gold") -> Ints:
    """Return the known class of every task as a code, -1 where unknown; `gold` is such codes, or classes by task.

    `called` names codes in messages.

    Raises a CofactorError for anything but one whole number per task, for codes or classes that do not exist, for tasks
    of two classes (they are named), or if no task is known. Gold tasks without labels are ignored, with a `DataWarning`
    that names them.
    """
    if not isinstance(gold, np.ndarray) and isinstance(gold, Mapping | pd.Series | pd.DataFrame):
        return _codes_by_task(_one_class_each(gold, labels), labels)
    codes = unmasked(gold, np.int64(UNKNOWN))
    if codes.shape != (labels.n_tasks,) or codes.dtype.kind not in "iu":
        raise CofactorError(
            f"{called} must have one class code per task, -1 where unknown: expected {labels.n_tasks} whole numbers, "
            f"got shape {codes.shape} of {codes.dtype}"
        )
    bad = np.flatnonzero((codes < UNKNOWN) | (codes >= labels.n_classes))
    if bad.size:
        tasks = listing(f"task {labels.tasks[n]!r}: {codes[n]}" for n in bad)
        raise CofactorError(f"{called} codes must be between -1 and {labels.n_classes - 1}; found {tasks}")
    if (codes == UNKNOWN).all():
        raise CofactorError(f"{called} contains no known class: omit it")
    return codes.astype(np.int64)


def _one_class_each(gold: Mapping[Any, Any] | pd.Series | pd.DataFrame, labels: CrowdLabels) -> Mapping[Any, Any]:
    """Return the class by task, both as the labels have them, and refuse tasks that have two."""
    if isinstance(gold, pd.DataFrame):
        name = next((name for name in ("truth", "label") if name in gold), None)
        if "task" not in gold or name is None:
            found = listing(gold.columns)
            raise CofactorError(f"a table of gold tasks needs the columns task and truth (or label); found {found}")
        tasks, classes = gold["task"].tolist(), gold[name].tolist()
    else:
        tasks, classes = list(gold.keys()), [truth for _, truth in gold.items()]
    pairs = zip(_as_known(tasks, labels.tasks), _as_known(classes, labels.classes), strict=True)
    known: dict[Any, Any] = {}
    twice = [task for task, truth in pairs if not pd.isna(truth) and known.setdefault(task, truth) != truth]
    if twice:
        named = listing(map(repr, dict.fromkeys(twice)))
        raise CofactorError(f"gold gives two classes for tasks {named}: keep only one")
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
        raise CofactorError(f"gold has classes that no label has: {listing(bad)}; the classes are {listing(code)}")
    codes = np.array([code[gold[task]] if task in gold else UNKNOWN for task in labels.tasks], dtype=np.int64)
    if (codes == UNKNOWN).all():
        raise CofactorError(f"gold contains none of the labelled tasks; its tasks are {listing(map(repr, gold))}")
    there = set(labels.tasks)
    other = [repr(task) for task in gold if task not in there]
    if other:
        message = f"ignored {amount(len(other), 'gold task')} without labels: {listing(other)}"
        warnings.warn(message, DataWarning, stacklevel=5)
    return codes


def gold_against_vote(labels: CrowdLabels, gold: Ints) -> str:
    """Return a question if gold (N,), -1 where unknown, contradicts the vote on most tasks, and on most clear ones.

    A task is clear if four fifths of its votes are for one class; tasks that readings dispute are not.
    """
    known = np.flatnonzero((gold != UNKNOWN) & (labels.table.entries_per_row > 0))
    votes = vote_shares(labels)[known]
    most = votes.max(axis=1, initial=0)
    against, clear = votes[np.arange(len(known)), gold[known]] < most, most >= CLEAR_VOTE
    if 2 * against.sum() <= len(known) or 2 * against[clear].sum() <= clear.sum():
        return ""
    return f"gold contradicts the vote on {against.sum()} of {len(known)} tasks: are its classes swapped?"


def tied_share(labels: CrowdLabels) -> float:
    """Return the fraction of all tasks on which the vote is tied, including tasks without labels."""
    return float(np.mean(np.sum(labels.votes == labels.votes.max(axis=1, keepdims=True), axis=1) > 1))


def worker_accuracy(model: LatentClassModel) -> Floats:
    """Return (M,) Pr(label is the true class) = sum_c lambda_c A_m[c, c] of every annotator."""
    check_kind(LatentClassModel, model=model)
    if (other := np.flatnonzero(model.sizes != model.n_classes)).size:
        raise CofactorError(f"the model of a crowd has one label per class; variables {listing(other.tolist())} do not")
    return np.array([model.prior @ np.diag(A) for A in model.conditionals])
