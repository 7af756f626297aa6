"""Spectral methods for two classes: KOS, GhoshSVD and EigenRatio.

Each method derives one weight per worker from an eigenvector and uses the weighted vote.

    symbol   meaning                                                         shape
    O        labels as signs: +1 second class, -1 first, 0 no label          (N, M), sparse
    C        O'O: agreements minus disagreements of two workers              (M, M), sparse
    n        |O|'|O|: number of tasks that two workers share                 (M, M), sparse
    w        weight of a worker                                              (M,)
    b        offset: the score of a task is O w - b
    t_l      for K ordered classes, whether the class is above l             (N,)

For more than a few hundred workers, no N x M or M x M matrix is dense: Lanczos needs one product with C per step.

Source: Ghosh, Kale and McAfee, EC 2011; Karger, Oh and Shah, NIPS 2011; Dalvi, Dasgupta, Kumar and Rastogi, WWW 2013;
as implemented by Zhang, Chen, Zhou and Jordan, JMLR 2016, whose code the tables of Ibrahim and Fu, ICML 2021, use.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.em import maximization
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import sparse_linalg
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.aggregators import CLOSED_FORM
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts

DENSE_SIZE = 400  # up to here all eigenvectors at once are as fast as Lanczos, and never fail to converge
SUPPORT = 1e-8  # an entry of a leading eigenvector below this share of the largest is zero but for rounding
SHARE_TIE = 1e-9  # weighted vote shares this close to one half are tied, as for posteriors


@dataclass(eq=False, repr=False)
class SignScorer(Aggregator):
    """Base class of methods with one weight per worker and a weighted vote per task.

    Subclasses implement `_weights`, which returns w (M,) and b for a sign matrix O.

    For two classes, `predict_proba` returns the fraction of the weight that each class received,

        Pr(second class) = 1/2 + (O w - b) / (2 (|O| |w| + |b|)),

    which is not a calibrated probability, but lies on the predicted side of one half; a task without labels gets
    `model_.prior`. New tasks of the same crowd can be scored. `model_` is the Dawid-Skene model for these fractions as
    soft classes. If every worker always gives the same label, or all scores are zero, the weights are undetermined, and
    the plain vote is used, with a `DataWarning`.

    Parameters
    ----------
    multiclass : {"error", "ordinal"}
        Treatment of K > 2 classes. "ordinal" solves K - 1 binary problems, "is the class above l?" (l = 1, 2, ...), and
        stops at the first no; the result has probability one (divided if a vote is tied). It assumes that the order of
        the codes is a scale; otherwise the result depends on the order of the classes. For 60 tasks with three classes
        without an order, other orders changed the class of 5 to 12 tasks.
    em : bool
        Refine `model_` by expectation-maximisation; `predict_proba` then returns its posterior.
    pseudo_counts, random_state, verbose
        See `Aggregator`; the methods are deterministic.

    Attributes after `fit`
    ----------------------
    weights_, offsets_ : (K - 1, M) and (K - 1,) arrays
        w and b of every binary problem.
    """

    multiclass: Literal["error", "ordinal"] = "error"
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _weights(self, O: sparse.csr_array) -> tuple[Floats, float]:
        raise NotImplementedError

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        self._require_two_classes(labels)
        labelled = labels.table.take_rows(labels.table.entries_per_row > 0)
        if not labelled.n_rows:
            raise CofactorError("no task has a label, so there is nothing to fit")
        splits = [self._split(signs(labelled, level)) for level in range(labels.n_classes - 1)]
        self.weights_ = np.stack([w for w, _ in splits])
        self.offsets_ = np.array([b for _, b in splits])
        return maximization(labelled, self._shares(labelled)), CLOSED_FORM

    def _split(self, O: sparse.csr_array) -> tuple[Floats, float]:
        """Return w and b for a sign matrix, or those of the plain vote if the labels do not determine weights."""
        if not (never_vary := bool(np.all(np.abs(O.sum(axis=0)) == abs(O).sum(axis=0)))):
            w, b = self._weights(O)
            if np.any(np.abs(O @ w - b) > SUPPORT * (abs(O) @ np.abs(w) + abs(b))):
                return w, b
        cause = "every worker always gives the same label" if never_vary else "all scores are zero"
        message = f"{cause}, so {type(self).__name__} cannot weight the workers and uses the majority vote"
        warnings.warn(message, DataWarning, stacklevel=2)
        return np.ones(O.shape[1]), 0.0

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) weighted vote fractions or, after EM, the posterior."""
        if self.em:
            return super()._posterior(labels)
        self._check_same_crowd(labels)
        labelled = labels.table.entries_per_row > 0
        return np.where(labelled[:, None], self._shares(labels.table), self.model_.prior)

    def _shares(self, table: CategoricalTable) -> Floats:
        splits = enumerate(zip(self.weights_, self.offsets_, strict=True))
        above = np.stack([vote_share(signs(table, level), w, b) for level, (w, b) in splits])
        if len(above) > 1:  # no (0), tied (1/2) or yes (1): shares of different splits cannot be compared
            above = np.where(np.abs(above - 0.5) <= SHARE_TIE, 0.5, np.round(above))
        return first_no(above)

    def _require_two_classes(self, labels: CrowdLabels) -> None:
        name = type(self).__name__
        if self.multiclass not in ("error", "ordinal"):
            raise CofactorError(f"multiclass={self.multiclass!r}: must be 'error' or 'ordinal'")
        if labels.n_classes > 2 and self.multiclass == "error":
            raise CofactorError(
                f"{name} is for two classes, but these labels have {labels.n_classes}: if the classes are ordered, use "
                f'{name}(multiclass="ordinal"), otherwise a method for several classes, such as MV-EM'
            )


class KOS(SignScorer):
    """KOS in its spectral form: the top right singular vector of the centred sign matrix.

    B = O - 1 o', o the mean of each column over all labelled tasks, with zeros for missing labels
    w = argmax ||B w|| over ||w|| = 1,  score = B w

    with the sign for which most of the mass of w is positive, that is, most workers are better than chance.

    Parameters, errors and attributes as in `SignScorer`. Cost: O(sum over tasks of (labels of the task)^2), then
    O(co-labelling pairs) per Lanczos step.

    Source: Karger, Oh and Shah, NIPS 2011, as implemented by Zhang et al., JMLR 2016. Deviation: the published method
    passes messages along the labels, each without the contribution of its own edge; the code used for the tables takes
    the limit with that contribution, a power iteration, and centres O first.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> KOS().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    def _weights(self, O: sparse.csr_array) -> tuple[Floats, float]:
        mean = np.asarray(O.mean(axis=0)).ravel()
        w = leading_eigenvector(O.T @ O, np.sqrt(O.shape[0]) * mean)
        w = w if np.sum(w[w >= 0] ** 2) >= 0.5 else -w
        return w, float(mean @ w)


class GhoshSVD(SignScorer):
    """GhoshSVD: weights from the leading singular vector of the sign matrix O.

    w = argmax ||O w|| over ||w|| = 1,  score = O w

    with the sign for which scores agree with plain votes: (O w)'(O 1) >= 0.

    Parameters, errors and attributes: see `SignScorer`. Cost: see `KOS`. Source: Ghosh, Kale and McAfee, EC 2011. If
    workers label different fractions of the tasks, the vector reflects who labelled most, not who labelled well.
    """

    def _weights(self, O: sparse.csr_array) -> tuple[Floats, float]:
        C = (O.T @ O).tocsr()
        return _towards_votes(leading_eigenvector(C), C), 0.0


class EigenRatio(SignScorer):
    """EigenRatio: reliabilities from agreement rates, corrected for the pattern of shared tasks.

    R1 = C / n (zero where n = 0),  R2 = 1[n > 0],  w = v(R1) / v(R2),  score = O w

    v(.) is the eigenvector of the largest eigenvalue. E[R1] is the pattern R2 times p p', with p = 2 Pr(right) - 1 the
    reliabilities; hence the ratio. The sign is the one for which scores agree with plain votes.

    Parameters, errors and attributes: see `SignScorer`. Cost: that of `KOS`, with two eigenvectors.

    Source: Dalvi et al., WWW 2013, "Eigenvectors of ratio". Deviations: v(R2) is zero outside the largest component of
    a disconnected co-labelling graph, and the code used for the tables divides by it; here, such workers get weight
    zero. The largest algebraic eigenvalue is used, not the largest in magnitude.
    """

    def _weights(self, O: sparse.csr_array) -> tuple[Floats, float]:
        C, n = (O.T @ O).tocsr(), (abs(O).T @ abs(O)).tocsr()
        R1 = C.multiply(_with_data(n, 1 / n.data)).tocsr()
        pattern = np.abs(leading_eigenvector(_with_data(n, np.ones(n.nnz))))
        w = np.divide(leading_eigenvector(R1), pattern, out=np.zeros_like(pattern), where=pattern > 0)
        return _towards_votes(w, C), 0.0


def signs(table: CategoricalTable, level: int) -> sparse.csr_array:
    """Return the sparse (N, M) sign matrix: +1 if the label is above `level`, -1 if not, 0 for missing labels."""
    owner = np.repeat(np.arange(table.n_variables), table.sizes)
    code = np.arange(len(owner)) - table.offsets[owner]
    sign = np.where(code > level, 1.0, -1.0)
    split = sparse.csr_array((sign, (np.arange(len(owner)), owner)), shape=(len(owner), table.n_variables))
    return (table.indicator @ split).tocsr()


def leading_eigenvector(C: sparse.sparray, less: Floats | None = None) -> Floats:
    """Return the (M,) unit eigenvector of the largest eigenvalue of C - less less', for symmetric sparse C.

    Its sign is arbitrary. Entries at the level of rounding errors are set to zero, so that a worker without influence
    does not decide tasks that no other worker labelled. Raises a CofactorError if Lanczos does not converge.
    """
    M, x = C.shape[0], np.zeros(C.shape[0]) if less is None else less
    if M <= DENSE_SIZE:
        v = np.linalg.eigh(C.toarray() - np.outer(x, x))[1][:, -1]
    else:
        shifted = sparse_linalg.LinearOperator(
            (M, M), matvec=lambda y: C @ y.ravel() - x * (x @ y.ravel()), dtype=np.float64
        )
        start = np.random.default_rng(0).standard_normal(M)  # fixed: the same result in every run
        try:
            v = sparse_linalg.eigsh(shifted, k=1, which="LA", v0=start)[1][:, 0]
        except sparse_linalg.ArpackError as error:
            raise CofactorError(
                f"the labels of {M} workers have no dominant direction ({error}): use MV-EM or MajorityVote"
            ) from None
    return np.where(np.abs(v) > SUPPORT * np.abs(v).max(), v, 0.0)


def vote_share(O: sparse.csr_array, w: Floats, b: float) -> Floats:
    """Return the (N,) fraction of weight for +1; one half if no worker with nonzero weight voted."""
    weight = abs(O) @ np.abs(w) + abs(b)
    agreeing = np.divide(O @ w - b, weight, out=np.zeros(O.shape[0]), where=weight > 0)
    return (1 + agreeing) / 2


def first_no(above: Floats) -> Floats:
    """Convert (K-1, N) answers to "above class l?", from 0 (no) to 1 (yes), to (N, K) probabilities of the classes."""
    yes = np.cumprod(np.vstack([np.ones(above.shape[1]), above]), axis=0)
    return np.vstack([yes[:-1] * (1 - above), yes[-1:]]).T


def _towards_votes(w: Floats, C: sparse.csr_array) -> Floats:
    """Choose the sign of w for which (O w)'(O 1) = w'C 1 is not negative."""
    return w if w @ C.sum(axis=1) >= 0 else -w


def _with_data(pattern: sparse.csr_array, data: NDArray[np.float64]) -> sparse.csr_array:
    return sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)
