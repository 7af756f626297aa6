"""Weighted votes: Wawa, CATD and BWA score a task by votes that count more, the better the worker agrees with the rest.

    s_ik = sum of v_j over the workers j who gave task i the label k;    class probabilities: s_i normalised

All three alternate: winners of the weighted vote, then weights from the agreement with them. They differ in the weight:

    Wawa   v_j = share of the worker's labels that won
    CATD   v_j = chi2_{alpha/2}(n_j) / labels that lost: large only where many labels show it
    BWA    v_jk = (a_v + n_j) / (b_k + squared distance to the mean), each class against all others, no hard winners

    symbol   meaning                                               shape
    n_j      labels of worker j: `n`                               (M,)
    v        weights                                               (M,), or (M, K) for BWA
    s        weighted votes                                        (N, K)
    z_ik     BWA: mean of "is the label of task i a k?"            (N, K)
    y_ijk    BWA: 1 where worker j gave task i the label k         never stored but as the sparse table

Confusion matrices are none of their parameters: errors that go one way more than the other are not seen.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares

VOTE_TIE = 1e-9  # share of the winner's votes by which a class may fall short and still count as tied
LOST_LABELS = 0.5  # lost labels that a worker without any counts with in CATD: without it the weight would be infinite
NO_SPREAD = 1e-9  # smallest b_k in BWA: with unanimous labels it is zero, and so is the distance that it is added to


class WeightedVote(TaskScorer):
    """Base class of votes whose weights follow from the winners; a method implements `_weights`.

    Parameters
    ----------
    max_iter, tol, random_state, verbose
        Most rounds, and the share of tasks with another winner that ends them; see `Aggregator`, nothing is random.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        Shares of the weighted votes; uniform for a task without labels.
    weights_ : (n_workers,) array
        v; zero for a worker without labels.
    model_, result_ : see `TaskScorer`
        `result_.objective` is the share of all labels that won the round before.

    Raises `CofactorError` in `fit`: no task has a label, or a parameter is out of range.
    Cost: O(labels + N K) time per round, O(N K) memory.
    """

    max_iter: int
    tol: float

    @abstractmethod
    def _weights(self, agreed: Floats, n: Floats) -> Floats:
        """Return (M,) weights of workers, of whose n labels so many agreed with the winners."""

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        _check(labels, self.max_iter)
        table, M = labels.table, labels.n_workers
        n = np.bincount(table.variables, minlength=M).astype(np.float64)
        s = labels.votes.astype(np.float64)
        won = winners(s)
        history = History(type(self).__name__, self.max_iter, self.tol, self.verbose)
        for _ in history:
            agreed = np.asarray(np.bincount(table.variables, won[table.rows, table.values], M), dtype=np.float64)
            self.weights_ = self._weights(agreed, n)
            s = _votes(labels, self.weights_[table.variables])
            before, won = won, winners(s)
            history.record(agreed.sum() / n.sum(), change=float(np.any(won != before, axis=1).mean()))
        totals = s.sum(axis=1, keepdims=True)
        return np.where(totals > 0, s / np.where(totals > 0, totals, 1.0), vote_shares(labels)), history.result()


@dataclass(eq=False, repr=False)
class Wawa(WeightedVote):
    """Let labels count as much as their worker agrees with the winners, until these settle ("Wawa").

    Worker agreement with aggregate: v_j is the share of the worker's labels that won the weighted vote; ties share.
    Parameters, attributes, errors and cost as in `WeightedVote`; `max_iter=1` is crowd-kit's method, which
    weighs once, but for ties: there the first of the tied classes wins.

    Source: "worker agreement with aggregate" as in crowd-kit 1.4 (class `Wawa`); no paper. Deviations: rounds go on
    until the winners settle, and tied winners count in equal parts instead of the first of them alone.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 0, 1, 2, 0, 1, 2], [1, 0, 1, 0, 1, 0, 1, 0])
    >>> method = Wawa().fit(labels)
    >>> method.predict(labels).tolist(), method.weights_.tolist()
    ([1, 1, 0], [1.0, 0.0, 1.0])
    """

    max_iter: int = 100
    tol: float = 0.0
    random_state: int | None = None
    verbose: bool = False

    def _weights(self, agreed: Floats, n: Floats) -> Floats:
        return agreed / np.maximum(n, 1)


@dataclass(eq=False, repr=False)
class CATD(WeightedVote):
    """Let labels count as much as their worker is surely right, until the winners settle ("CATD").

    Confidence-aware truth discovery: v_j = chi2_{alpha/2}(n_j) / d_j, where d_j of the worker's n_j labels lost, is one
    over the upper end of the 1 - alpha interval of the variance of a worker's errors. A worker with few labels has a
    wide interval, hence little weight, however well they agree.

    Parameters
    ----------
    alpha : float in (0, 1)
        One minus the level of the interval.
    max_iter, tol, random_state, verbose
        As in `WeightedVote`, and so are attributes, errors and cost.

    Source: Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han, "A confidence-aware approach for truth discovery on long-tail
    data", VLDB 2014, with the distance 0 or 1 of categorical data; alpha = 0.05 as there. Deviations: d_j, which the
    paper leaves open where it is 0, is at least one half (with the 1e-9 of the code of Zheng et al., VLDB 2017, one
    label that won outvotes everybody who ever lost one). Tied winners count in equal parts instead of at random.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 0, 1, 2, 0, 1, 2], [1, 0, 1, 0, 1, 0, 1, 0])
    >>> CATD().fit(labels).predict(labels).tolist()
    [1, 1, 0]
    """

    alpha: float = 0.05
    max_iter: int = 100
    tol: float = 0.0
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        if not 0 < self.alpha < 1:
            raise CofactorError(f"alpha={self.alpha}: give a number between 0 and 1, neither of them")
        return super()._score(labels)

    def _weights(self, agreed: Floats, n: Floats) -> Floats:
        """Take the lower quantile, which is the upper end of the variance's interval; workers without labels get 0."""
        return np.where(n > 0, 2 * special.gammaincinv(np.maximum(n, 1) / 2, self.alpha / 2), 0.0) / np.maximum(
            n - agreed, LOST_LABELS
        )


@dataclass(eq=False, repr=False)
class BWA(TaskScorer):
    """Average labels with weights from a normal model of the workers' errors ("BWA").

    Bayesian weighted average: for every class k against all others, y_ijk ~ Normal(z_ik, 1/v_jk) with priors
    z_ik ~ Normal(mu_k, 1/lambda) and v_jk ~ Gamma(a_v/2, b_k/2). Maximises the log-density of log v and z, one of v, mu
    and z at a time, from vote shares:

        F = sum_jk ((a_v + n_j) log v_jk - v_jk (b_k + sum_i (y_ijk - z_ik)^2)) / 2 - lambda/2 sum_ik (z_ik - mu_k)^2

    Parameters
    ----------
    a_v : float
        Labels that the prior of a worker's precision is worth; positive.
    ridge : float
        lambda, precision of the prior of z; not negative.
    max_iter, tol, random_state, verbose
        Most rounds, and the movement of z that ends them; see `Aggregator`, nothing is random.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        z normalised over the classes; a task without labels gets the mean of the others.
    weights_ : (n_workers, n_classes) array
        v.
    model_, result_ : see `TaskScorer`
        `result_.objective` is F; it never falls.

    Raises `CofactorError` in `fit`: no task has a label, or a parameter is out of range.

    Cost: O(labels K) time per round, O((N + M) K) memory. Source: Li, Rubinstein and Cohn, "Truth inference at scale",
    WWW 2019; a_v, lambda, and b_k = 4 (1 - 1/K) a_v (mean variance of the votes) as in their code
    (yuan-li/truth-inference-at-scale on GitHub). Deviations: b_k has a floor, without which unanimous labels give NaN;
    classes run side by side until all have settled.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> BWA().fit(labels).predict_proba(labels).round(2)
    array([[0.66, 0.34],
           [0.02, 0.98]])
    """

    a_v: float = 15.0
    ridge: float = 1.0
    max_iter: int = 500
    tol: float = 1e-4
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        check_positive(a_v=self.a_v)
        check_positive(zero=True, ridge=self.ridge)
        _check(labels, self.max_iter)
        labelled = labels.table.entries_per_row > 0
        z, result = self._average(labels.take_tasks(labelled))
        z /= z.sum(axis=1, keepdims=True)
        posterior = np.tile(z.mean(axis=0), (labels.n_tasks, 1))
        posterior[labelled] = z
        return posterior, result

    def _average(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        """Maximise F over tasks that all have labels."""
        table, z = labels.table, vote_shares(labels)
        given = sparse.csr_array(
            (np.ones(table.n_entries), (table.rows, table.variables)), (table.n_rows, len(table.sizes))
        )
        n = table.entries_per_variable[:, None]
        b = self._spread(labels, z)
        history = History("BWA", self.max_iter, self.tol, self.verbose)
        for _ in history:
            mu = z.mean(axis=0)
            v = (self.a_v + n) / (b + _distances(labels, given, z))  # maximises F, where v (b + distance) = a_v + n
            F = np.sum((self.a_v + n) * (np.log(v) - 1)) / 2 - self.ridge / 2 * np.sum((z - mu) ** 2)
            s = _votes(labels, v[table.variables, table.values])
            old, z = z, (self.ridge * mu + s) / (self.ridge + given @ v)
            history.record(float(F), change=float(np.abs(z - old).max()))
        self.weights_ = v
        return z, history.result()

    def _spread(self, labels: CrowdLabels, z: Floats) -> Floats:
        """Return (K,) b_k, so that the prior's mean precision is that of the votes' variance."""
        variance = labels.table.entries_per_row @ (z * (1 - z)) / labels.n_labels
        return np.maximum(4 * (1 - 1 / labels.n_classes) * self.a_v * variance, NO_SPREAD)


def _check(labels: CrowdLabels, max_iter: int) -> None:
    check_whole(1, max_iter=max_iter)
    if not labels.n_labels:
        raise CofactorError("no task has a label")


def winners(s: Floats) -> Floats:
    """Return (N, K) shares of the classes with most votes: 1 for the winner, 1/t each in a tie of t."""
    tied = s >= s.max(axis=1, keepdims=True) * (1 - VOTE_TIE)
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


def _votes(labels: CrowdLabels, weight: Floats) -> Floats:
    """Return (N, K) sums of the weights of labels (n_labels,), by task and class."""
    table, (N, K) = labels.table, (labels.n_tasks, labels.n_classes)
    cell = np.asarray(table.rows, dtype=np.int64) * K + table.values
    return np.asarray(np.bincount(cell, weight, minlength=N * K).reshape(N, K), dtype=np.float64)


def _distances(labels: CrowdLabels, given: sparse.csr_array, z: Floats) -> Floats:
    """Return (M, K) sum_i (y_ijk - z_ik)^2 over the tasks of worker j, as sum z^2 - 2 sum_{y=1} z + sum y."""
    table, (M, K) = labels.table, (labels.n_workers, labels.n_classes)
    cell = np.asarray(table.variables, dtype=np.int64) * K + table.values
    at_label = np.bincount(cell, 1 - 2 * z[table.rows, table.values], minlength=M * K).reshape(M, K)
    return np.maximum(given.T @ z**2 + at_label, 0.0)  # rounding can leave less than nothing
