"""Majority vote, EM, the aggregators of the paper (co-occurrences, imputation, SymNMF, MAP label), user methods.

Source: Dawid and Skene, 1979 (EM); Ibrahim and Fu, ICML 2021, Section 3 ("RobSymNMF", "DesSymNMF", "SymNMF (w/o
imput.)", each also "-EM").
"""

from __future__ import annotations

import copy
import inspect
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import is_number
from cofactor.core.em import maximization
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import (
    EM_ROUNDS,
    EM_TOL,
    Aggregator,
    Gold,
    Labels,
    TaskScorer,
    as_labels,
    name_classes,
    own_class,
    vote_model,
)
from cofactor.crowd.cooccurrence import Cooccurrences, CrowdMoments
from cofactor.crowd.imputation import designated_imputation, factors_of_model, robust_imputation
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.model import PRIOR, PseudoCounts
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.registry import loaded

# ---- the vote, and EM from it ----


CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")
TINY = 1e-12


@dataclass(eq=False, repr=False)
class MajorityVote(Aggregator):
    """Choose the most frequent label of each task, or the label with the largest weight if skills are known.

    `predict_proba` returns vote shares (uniform for a task without labels); `model_` contains the confusion matrices
    that result if these shares count as soft truth. `predict` breaks ties as every aggregator does; score
    `predict_proba` with `error_rate` to split ties instead.

    Parameters
    ----------
    skills : dict or Series of worker to weight, optional
        Nonnegative weights of the votes; workers without one get the mean, with a `DataWarning`. If `fit` gets gold
        tasks and no skills are given, the skill of a worker is the fraction of gold tasks they labelled correctly.
        Default: all equal.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    weights_ : (n_workers,) array

    `fit` raises `CofactorError` if a skill is not a number of at least zero, or if no worker has a positive skill.
    Cost: O(labels). Source: the baseline of every table of Ibrahim and Fu, ICML 2021. Skills as in crowd-kit
    (`MajorityVote(skills)` and `GoldMajorityVote`).

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1, 0, 0, 1, 1, 0])
    >>> MajorityVote(skills={0: 0.9, 1: 0.4, 2: 0.4}).fit(labels).predict(labels).tolist()
    [1, 1]
    """

    takes_shares, takes_gold = True, True
    skills: Mapping[Any, float] | pd.Series[Any] | None = None
    random_state: int | None = None
    verbose: bool = False

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        if self.skills is not None:
            if not isinstance(self.skills, Mapping | pd.Series):
                raise CofactorError(f"skills must be a dict or a Series by worker, got {type(self.skills).__name__}")
            self.weights_ = known_skills(dict(self.skills.items()), labels.workers)
        else:
            self.weights_ = np.ones(labels.n_workers) if gold is None else skills_on_gold(labels, gold)
        if np.ptp(self.weights_) == 0:
            self.model_ = vote_model(labels)
        else:
            seen = labels.take_tasks(labels.table.entries_per_row > 0)
            self.model_ = maximization(seen.table, weighted_shares(seen, self.weights_))
        self.result_ = CLOSED_FORM

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) weighted shares; workers not seen in `fit` count as the mean."""
        place = {worker: m for m, worker in enumerate(self.workers_)}
        everybody = np.append(self.weights_, self.weights_.mean())
        return weighted_shares(labels, everybody[[place.get(worker, -1) for worker in labels.workers]])


def known_skills(skills: Mapping[Any, float], workers: Sequence[Any]) -> Floats:
    """Return the (M,) weights of the workers; those without a skill get the mean of the others."""
    bad = [repr(worker) for worker, skill in skills.items() if not (is_number(skill) and 0 <= skill < np.inf)]
    if bad:
        raise CofactorError(f"skills are weights and must be nonnegative numbers; invalid for {listing(bad)}")
    weights = np.array([skills.get(worker, np.nan) for worker in workers], dtype=np.float64)
    if not np.nansum(weights) > 0:
        raise CofactorError(f"no worker has a skill above zero; skills were given for {listing(map(repr, skills))}")
    return _filled(weights, workers, "without a skill")


def skills_on_gold(labels: CrowdLabels, gold: Ints) -> Floats:
    """Return the (M,) fraction of gold tasks that each worker labelled correctly; the mean for workers without any."""
    table = labels.table
    known, weight = gold[table.rows] >= 0, table.indicator.data
    right = known & (table.values == gold[table.rows])
    asked, hits = (np.bincount(table.variables, weight * part, labels.n_workers) for part in (known, right))
    if not hits.any():
        raise CofactorError("no worker labelled a gold task correctly, so skills cannot be learned from gold")
    return _filled(np.where(asked > 0, hits / np.maximum(asked, TINY), np.nan), labels.workers, "without gold tasks")


def _filled(weights: Floats, workers: Sequence[Any], who: str) -> Floats:
    missing = np.flatnonzero(np.isnan(weights)).tolist()
    if missing:
        found = listing(repr(workers[m]) for m in missing)
        warnings.warn(f"workers {who} count as the mean of the others: {found}", DataWarning, stacklevel=5)
    return np.where(np.isnan(weights), np.nanmean(weights), weights)


def weighted_shares(labels: CrowdLabels, weights: Floats) -> Floats:
    """Return (N, K) vote shares with workers weighted by `weights`; plain shares if all votes of a task weigh zero."""
    columns = np.kron(weights[:, None], np.eye(labels.n_classes))
    votes = np.asarray(labels.table.indicator @ columns)
    totals = votes.sum(axis=1, keepdims=True)
    return np.where(totals > 0, votes / np.where(totals > 0, totals, 1.0), vote_shares(labels))


@dataclass(eq=False, repr=False)
class MVEM(Aggregator):
    """MV-EM: the Dawid-Skene model fitted by EM, started from the majority vote.

    If majority vote is a poor start, EM stays in the wrong basin. Without a prior (`pseudo_counts=(0, 0)`) it overfits
    workers with few labels.

    Parameters
    ----------
    pseudo_counts : (float, float)
        The prior, see `Aggregator`; (0, 0) is the maximum likelihood of 1979.
    max_iter, tol
        Maximum number of rounds; relative change of the objective at which they stop.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Cost: O(labels K) per round. Source: Dawid and Skene, 1979. Deviations from the code released with the ICML 2021
    paper: confusion matrices have a prior, the class prior is estimated, posteriors are computed in the log domain
    (there, one task without labels turns everything into NaN), and rounds continue until convergence instead of
    stopping after ten.
    """

    em, takes_shares = True, True
    pseudo_counts: PseudoCounts = PRIOR
    max_iter: int = EM_ROUNDS
    tol: float = EM_TOL
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels, unseen=own_class(labels)), CLOSED_FORM

    def _limits(self) -> tuple[int, float]:
        return self.max_iter, self.tol

    def rounds(self, labels: Labels, gold: Gold | None = None) -> Iterator[LatentClassModel]:
        """Yield the model of the vote, then the model after every round.

        Parameters as in `fit`, which takes the same rounds and finally matches the classes to the votes. The iterator
        ends as `fit` does, by `tol` or `max_iter`, without a warning. Cost: O(labels K) for each model.

        Examples
        --------
        >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
        >>> for model in MVEM(max_iter=2).rounds(labels):
        ...     print(model.posterior(labels.table)[0].round(3))
        [0.889 0.111]
        [0.865 0.135]
        [0.856 0.144]
        """
        known = as_labels(labels)
        codes = None if gold is None else self._checked_gold(gold, known)
        model, _ = self._estimate(known)
        yield model
        yield from self._rounds(model, known, codes, History("EM", *self._limits()))


# ---- the paper's ----


START_COUNT = 0.1  # pseudo-count of the majority-vote start: no factor starts exactly singular
MOVEMENT = 1e-7  # of the rotation, at which SymNMF stops: far below the noise of any labels
FACTOR_FLOOR = 1e-3  # smallest entry of a confusion matrix read off a factor; the released code's value for real data
MANY_CLASSES = 30  # above, pairs of workers share far fewer tasks than a block has cells
UNREACHED = 0.1  # share of blocks left zero from which designated imputation says so


@dataclass(eq=False, repr=False)
class SymNMF(Aggregator):
    """SymNMF of the co-occurrences without imputation: missing blocks are zero ("w/o imput." in the tables).

    Parameters
    ----------
    min_common : int, optional
        Pairs of workers with fewer tasks in common count as missing; default as in `Cooccurrences.from_moments`.
    em, pseudo_counts, random_state, verbose
        See `Aggregator`; the method is deterministic.

    `fit` raises `NotIdentifiableError` if the co-labelling graph is disconnected or bipartite, and `CofactorError` if
    there are more classes than the rank of the co-occurrences.

    Cost: see `square_root` and `symnmf`. Source: ICML 2021, Eq. (6), (12)-(13), Proposition 1. Deviation: the class
    prior is uniform here, since blocks left at zero distort the column sums of H; with imputation it is taken from H.
    """

    _imputes = False

    min_common: int | None = None
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        model, result = self.estimate_from(CrowdMoments.of(labels))
        return name_classes(model, labels), result

    def estimate_from(self, moments: CrowdMoments) -> tuple[LatentClassModel, Result]:
        """Estimate the model from sums over tasks; latent classes are not yet matched to labels."""
        require_used_classes(moments)
        cooc = Cooccurrences.from_moments(moments.pairs, self.min_common)
        cooc.require_identifiable(moments.workers)
        informative = informative_workers(cooc, moments.workers)
        U = self._root(moments, cooc) * np.repeat(informative, cooc.n_classes)[:, None]
        H, _, result = symnmf(U, tol=MOVEMENT, verbose=self.verbose)
        model = model_of_factor(H, informative, FACTOR_FLOOR)
        prior = model.prior if self._imputes else np.full(cooc.n_classes, 1 / cooc.n_classes)
        return LatentClassModel.from_stacked(prior, model.stacked, model.sizes), result

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        """Return a (M K, K) square root of the co-occurrence matrix."""
        return square_root(cooc.sparse(), cooc.n_classes)


class DesSymNMF(SymNMF):
    """SymNMF after designated-annotator imputation, from all linking pairs of annotators at once.

    Parameters as in `SymNMF`. Warns if less than 90 % of the blocks are observed or can be imputed. Cost: see
    `designated_imputation`. Source: ICML 2021, Eq. (7)-(8), (12)-(13).
    """

    _imputes = True

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        imputed = designated_imputation(cooc)
        if imputed.unreached_share > UNREACHED:
            message = (
                f"designated imputation left {imputed.unreached_share:.0%} of the co-occurrence blocks empty because "
                "too few annotators are linked by well-conditioned blocks; prefer RobSymNMF or MV-EM"
            )
            warnings.warn(message, DataWarning, stacklevel=2)
        return square_root(imputed.X, cooc.n_classes)


class RobSymNMF(SymNMF):
    """SymNMF after robust imputation: the paper's main method.

    Parameters
    ----------
    p : float
        1 is the robust criterion; 2 weights all blocks by sample size only ("w=1" in the tables).
    min_common, em, pseudo_counts, random_state, verbose
        As in `SymNMF`.

    Cost: see `robust_imputation`. Source: ICML 2021, Eq. (9)-(13), (17)-(18). The fitted factors U_m are the square
    root of the completed matrix, which is never formed.

    Order: the sweeps process the workers in the order of the labels and stop before the exact minimum. In 20 other
    orders, probabilities changed by up to .042 on bluebird, .068 on rte, .0056 on face_sentiment and .009 on dog, where
    one task of 807 got another class; with `em` by .0005 on dog, .0007 or less on the others, and no class changed.
    With p = 2 it was up to .072 (rte), with `em` .0002 (dog). With sweeps down to a relative change of 1e-13, 6 orders
    of bluebird differ by 2e-5. So there is one minimum, and where the sweeps stop depends on the order.
    """

    _imputes = True

    def __init__(
        self,
        p: float = 1.0,
        min_common: int | None = None,
        em: bool = False,
        pseudo_counts: PseudoCounts = PRIOR,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(min_common, em, pseudo_counts, random_state, verbose)
        self.p = p

    def _root(self, moments: CrowdMoments, cooc: Cooccurrences) -> Floats:
        start = factors_of_model(moments.votes.model(START_COUNT))
        U, _ = robust_imputation(cooc, start, p=self.p, verbose=self.verbose)
        return U.reshape(-1, cooc.n_classes)


@dataclass(frozen=True)
class Start:
    """One start of `MultiStartEM`: its log posterior density after EM (nats), or why it failed."""

    name: str
    log_posterior: float
    refusal: str = ""


@dataclass(eq=False, repr=False)
class MultiStartEM(Aggregator):
    """EM from majority vote, DesSymNMF and RobSymNMF; the run with the highest posterior density is kept.

    Useful if the vote is a poor start because workers are wrong more often than right. On most crowds `WorkerTypes` is
    better. The choice needs no ground truth; it protects against bad starts but does not find the lowest error among
    good ones. Without a prior (`pseudo_counts=(0, 0)`) it chooses by likelihood, and with few labels per worker the
    start that overfits most wins. A start whose method fails on the data (for example on a disconnected co-labelling
    graph) is left out, with a `DataWarning`; so are the two SymNMF starts with more than 30 classes. Parameters: see
    `Aggregator`. If RobSymNMF wins, probabilities depend on the order of the workers as with RobSymNMF-EM: by up to
    .0005 in 20 orders of dog, of rte .0004; if another start wins (bluebird, face_sentiment), by less than 1e-8.

    Attributes after `fit`
    ----------------------
    starts_ : list of Start
    best_start_ : str
    model_, result_ : see `Aggregator`

    Cost: the sum of its parts. Source: Ibrahim and Fu, ICML 2021, for the starts; the choice is cofactor's.
    """

    em = True
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.starts_, runs = [], {}
        methods: list[Aggregator] = [MajorityVote()]
        if labels.n_classes > MANY_CLASSES:  # a pair of workers shares far fewer tasks than K^2
            message = (
                f"started only from the vote: with {labels.n_classes} classes, the co-occurrences of two workers have "
                f"{labels.n_classes**2} cells, too many for the number of labels"
            )
            warnings.warn(message, DataWarning, stacklevel=3)
        else:
            methods += [DesSymNMF(verbose=self.verbose), RobSymNMF(verbose=self.verbose)]
        for method in methods:
            name = type(method).__name__
            try:
                model, result = self._refine(method.fit(labels).model_, labels, gold)
            except CofactorError as refusal:
                self.starts_.append(Start(name, -np.inf, str(refusal)))
                continue
            self.starts_.append(Start(name, float(result.objective[-1])))
            runs[name] = model, result
        refused = [start for start in self.starts_ if start.refusal]
        if len(refused) == len(self.starts_):
            raise CofactorError(refused[0].refusal)
        if refused:
            message = f"started without {listing(start.name for start in refused)}: {refused[0].refusal}"
            warnings.warn(message, DataWarning, stacklevel=3)
        self.best_start_ = max(self.starts_, key=lambda start: start.log_posterior).name
        self.model_, self.result_ = runs[self.best_start_]


def require_used_classes(moments: CrowdMoments) -> None:
    """Raise a CofactorError that names the classes without labels, if there are any."""
    used = moments.pairs.singles.reshape(-1, len(moments.classes)).sum(axis=0)
    never = [moments.classes[k] for k in np.flatnonzero(used == 0)]
    if never:
        raise CofactorError(
            f"more classes ({len(moments.classes)}) than the rank of the co-occurrences: no label has class "
            f"{listing(never)}; remove it, or use MV-EM or MajorityVote"
        )


def informative_workers(cooc: Cooccurrences, workers: Sequence[Any]) -> NDArray[np.bool_]:
    """Return a mask of the workers who share enough tasks with another worker; a warning names the others."""
    informative = np.ones(cooc.n_workers, dtype=bool)
    informative[cooc.isolated] = False
    if cooc.isolated.size:
        message = (
            "left out of the factorisation because they share too few tasks with any other worker (EM still uses their "
            f"labels): workers {listing(workers[m] for m in cooc.isolated)}"
        )
        warnings.warn(message, DataWarning, stacklevel=3)
    return informative


# ---- a method of the user's own ----


FRAME_NAMES = ("data", "df", "frame")  # of the first parameter of a method that wants a DataFrame
DONE = Result(np.zeros(0), 0, True, "a user-defined method, which does not report convergence")


@dataclass(eq=False, repr=False)
class Outside(TaskScorer):
    """Wraps a method that is not one of cofactor's classes as an `Aggregator`.

    Parameters
    ----------
    method : callable, object or str
        A function of `CrowdLabels`; an object with `fit(labels)` and `predict_proba(labels)`; or its location, such as
        `FILE.py:NAME` or `PACKAGE.MODULE:NAME`, optionally with arguments as in `FILE.py:NAME(alpha=2)`. It returns
        (N, K) nonnegative probabilities or scores, or N class codes. If its first parameter is called data, df or
        frame, or is annotated as a DataFrame, it gets one with the columns task, worker, label, and may return a Series
        (class by task) or a DataFrame (tasks by classes); so the classes of crowd-kit work unchanged, for example
        `crowdkit.aggregation:DawidSkene`. An object is copied, so that every fit starts afresh.
    random_state, verbose
        See `Aggregator`; they are not passed to the method.

    Attributes after `fit`
    ----------------------
    posterior_ : (N, K) array
        The method's answer, with rows scaled to sum to one; uniform for tasks that it does not answer.
    model_ : LatentClassModel
        The Dawid-Skene model in which these count as soft classes; accuracies of workers are computed from it.

    Raises `CofactorError` if the method fails (the last line of its traceback is named) or returns another shape.

    Examples
    --------
    >>> def first_class(labels):
    ...     return np.zeros(labels.n_tasks, dtype=int)
    >>> labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 0, 1])
    >>> Outside(first_class).fit(labels).predict(labels).tolist()
    [0, 0]
    """

    method: Any = None
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        method = loaded(self.method) if isinstance(self.method, str) else self.method
        return probabilities(answer_of(method, labels), labels), DONE


def answer_of(method: Any, given: Any) -> Any:
    """Return the answer of a function, or of a fresh copy of an object with `fit` and `predict_proba`, to an input."""
    try:
        if isinstance(given, CrowdLabels) and takes_frame(method):
            method, given = copy.deepcopy(method), given.to_frame()
            for name in ("fit_predict_proba", "fit_predict"):  # of several ways to ask, the one with probabilities
                if hasattr(method, name):
                    return getattr(method, name)(given)
        if hasattr(method, "fit"):
            fitted = copy.deepcopy(method)
            fitted = fitted.fit(given) or fitted
            return fitted.predict_proba(given) if hasattr(fitted, "predict_proba") else fitted.predict(given)
        return method(given)
    except CofactorError:
        raise
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise CofactorError(f"the method stops in {Path(at.filename).name}, line {at.lineno}: {said}") from error


def takes_frame(method: Any) -> bool:
    """Return whether a method expects a DataFrame, by the name or annotation of its first parameter."""
    try:
        parameters = inspect.signature(getattr(method, "fit", method)).parameters
    except (TypeError, ValueError):  # of compiled code
        return False
    first = next(iter(parameters.values()), None)
    return first is not None and (first.name in FRAME_NAMES or "DataFrame" in str(first.annotation))


def by_ids(answer: pd.Series | pd.DataFrame, labels: CrowdLabels) -> Floats:
    """Return (N, K) scores from an answer indexed by task id: one class per task, or one column per class."""
    if isinstance(answer, pd.DataFrame):
        if strange := [name for name in answer.columns if name not in labels.classes]:
            raise CofactorError(f"the method answers with columns that are not classes: {listing(map(repr, strange))}")
        return answer.reindex(index=labels.tasks, columns=labels.classes).fillna(0.0).to_numpy(dtype=np.float64)
    code = {name: k for k, name in enumerate(labels.classes)}
    said = answer.reindex(labels.tasks)
    if strange := [name for name in said.dropna().unique() if name not in code]:
        raise CofactorError(f"the method answers with unknown classes: {listing(map(repr, strange))}")
    found = np.zeros((labels.n_tasks, labels.n_classes))
    known = said.notna().to_numpy()
    found[known, [code[name] for name in said[known]]] = 1.0
    return found


def probabilities(answer: Any, labels: CrowdLabels) -> Floats:
    """Return (N, K) probabilities from (N, K) scores or N class codes; raise for anything else."""
    N, K = labels.n_tasks, labels.n_classes
    if isinstance(answer, pd.Series | pd.DataFrame):
        answer = by_ids(answer, labels)
    try:
        found = np.asarray(answer)
    except ValueError:
        found = np.empty(0)
    if found.shape == (N,) and found.dtype.kind in "iu":
        if found.size and not (found.min() >= 0 and found.max() < K):
            said = f"{found.min()} to {found.max()}"
            raise CofactorError(f"the method must answer with class codes from 0 to {K - 1}, not {said}")
        return np.eye(K)[found]
    if found.shape != (N, K) or found.dtype.kind not in "fiub":
        kind = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must answer with ({N}, {K}) probabilities or {N} class codes, not {kind}")
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1) | (found < 0).any(axis=1))
    if bad.size:
        raise CofactorError(f"the method answers with NaN or negative values for tasks {listing(bad.tolist())}")
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), 1 / K)
