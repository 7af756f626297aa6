"""MultiSPA: the confusion matrix of every annotator from the vertices of its co-occurrences.

R_mj = A_m diag(lambda) A_j', so every column of R_mj, scaled to sum to one, is a mixture of the columns of A_m. If for
every class some annotator j uses a label for that class only, all columns of A_m are themselves columns of
[R_m1, R_m2, ...], and they are the vertices of their convex hull.

    symbol   meaning                                             shape
    R_mj     joint frequencies of the labels of m and j          (K, K)
    Z_m      [R_mj for j in Omega_m], columns sum to one         (K, K |Omega_m|)
    A_m      annotator confusion matrix, Pr(label | class)       (K, K)

Source: Ibrahim, Fu, Kargas and Huang, "Crowdsourcing via pairwise co-occurrences: identifiability and algorithms",
NeurIPS 2019, Algorithm 1; a baseline of Ibrahim and Fu, ICML 2021.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel, match_columns
from cofactor.core.moments import pairwise_moments
from cofactor.core.simplex import spa
from cofactor.core.types import Floats
from cofactor.crowd.aggregators import CLOSED_FORM
from cofactor.crowd.base import Aggregator, name_classes, vote_model
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts

CONFUSION_FLOOR = (
    1e-3  # smallest entry of a confusion matrix: a label never seen on a few tasks is rare, not impossible
)


@dataclass(eq=False, repr=False)
class MultiSPA(Aggregator):
    """MultiSPA: confusion matrices by successive projection, separately for each annotator, and then MAP labels.

    Z_m = [R_mj : j shares tasks with m, rank(R_mj) = K], columns scaled to sum to one;  A_m = Z_m[:, SPA(Z_m, K)]

    Parameters
    ----------
    min_common : int, optional
        Pairs of workers with fewer common tasks are treated as missing; default as in `Cooccurrences.from_moments`.
    floor : float
        Smallest entry of a confusion matrix. 0 keeps the zeros that SPA finds in sparse data, by which a single label
        can rule out a class.
    em, pseudo_counts, random_state, verbose
        See `Aggregator`; the method is deterministic.

    Raises a CofactorError in `fit` if no annotator has co-occurrences of rank K. Warns of annotators without K
    vertices, which get uniform confusion matrices.

    Cost: O(|Omega| K^3) time for |Omega| observed pairs, O(|Omega| K^2) memory. Source: NeurIPS 2019, Algorithm 1, with
    a uniform prior as in the released code. Deviations: SPA finds the classes of each annotator in an arbitrary order.
    The released code moves the column with the largest entry in row i to position i, which can use a column twice and
    assumes that every annotator is better than random; here, columns are matched one to one with the annotator's
    confusion matrix by majority votes, so adversaries remain adversaries. Annotators that cannot be estimated get
    uniform columns, not random ones. Entries are floored. Annotators need more than K columns, as in the code of 2021
    (2019: more than 7 K).

    Examples
    --------
    >>> from cofactor import simulate
    >>> crowd = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.7, random_state=0), 200, random_state=0)
    >>> MultiSPA().fit(crowd.labels).model_.n_variables
    8
    """

    min_common: int | None = None
    floor: float = CONFUSION_FLOOR
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        cooc = Cooccurrences.from_moments(pairwise_moments(labels.table), self.min_common)
        A, informative = vertex_matrices(cooc)
        tell_uninformative(informative, labels)
        A = match_to_votes(A, vote_model(labels))
        model = name_classes(model_of_matrices(A, self.floor), labels)
        return model, CLOSED_FORM


def vertex_matrices(cooc: Cooccurrences) -> tuple[Floats, NDArray[np.bool_]]:
    """Find the vertices of the co-occurrences of every annotator.

    Returns A (M, K, K), with columns in the order of SPA, which differs between annotators, and uniform columns for
    annotators with fewer than K vertices; and the (M,) mask of annotators with K vertices.
    """
    M, K = cooc.n_workers, cooc.n_classes
    full = np.linalg.matrix_rank(cooc.blocks) == K if len(cooc.blocks) else np.zeros(0, dtype=bool)
    A, informative = np.full((M, K, K), 1 / K), np.zeros(M, dtype=bool)
    for m in np.unique(cooc.rows[full]):
        mine = slice(cooc.indptr[m], cooc.indptr[m + 1])
        Z = _shares(cooc.blocks[mine][full[mine]])
        vertices = spa(Z, K)
        if Z.shape[1] > K and len(vertices) == K:
            A[m], informative[m] = Z[:, vertices], True
    return A, informative


def _shares(blocks: Floats) -> Floats:
    """Return (E, K, K) blocks side by side, with columns scaled to sum to one and without zero columns."""
    Z = blocks.transpose(1, 0, 2).reshape(blocks.shape[1], -1)
    totals = Z.sum(axis=0)
    return Z[:, totals > 0] / totals[totals > 0]


def match_to_votes(A: Floats, votes: LatentClassModel) -> Floats:
    """Match the columns of each A[m] (M, K, K) to those of the confusion matrix by votes, in least squares."""
    pairs = zip(A, votes.conditionals, strict=True)
    return np.stack([found[:, match_columns(voted, found)] for found, voted in pairs])


def model_of_matrices(A: Floats, floor: float) -> LatentClassModel:
    """Return the Dawid-Skene model of (M, K, K) matrices with entries of at least `floor` and a uniform prior."""
    M, K, _ = A.shape
    A = np.maximum(A, floor)
    A = A / A.sum(axis=1, keepdims=True)
    return LatentClassModel.from_stacked(np.full(K, 1 / K), A.reshape(M * K, K), np.full(M, K))


def tell_uninformative(informative: NDArray[np.bool_], labels: CrowdLabels, instead: str = "uniform") -> None:
    """Warn of workers who cannot be estimated; raise a CofactorError if no worker can be."""
    if not informative.any():
        raise CofactorError(
            f"MultiSPA cannot estimate any worker, because none shares labels of all {labels.n_classes} classes with "
            "others often enough: leave out classes that are never used, collect more labels per task, or use MV-EM or "
            "MajorityVote"
        )
    if not informative.all():
        named = listing(labels.workers[m] for m in np.flatnonzero(~informative))
        message = f"workers without a full-rank co-occurrence get {instead} confusion matrices: {named}"
        warnings.warn(message, DataWarning, stacklevel=5)
