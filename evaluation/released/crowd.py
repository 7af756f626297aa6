"""The crowd methods of the papers as their code was released, each an estimator of the library's protocol.

They differ from the library's methods of the same names in the steps of `crowd_steps`, and serve the rows "(paper
protocol)" of the tables. `protocol` is "real" (crowds), "uci" (classifiers as annotators) or "synthetic".

Source: Ibrahim and Fu, ICML 2021, and the code released with it, see `crowd_steps`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import DataWarning, NotIdentifiableError
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import CLOSED_FORM, informative_workers, require_used_classes
from cofactor.crowd.base import Aggregator, name_classes, vote_model
from cofactor.crowd.cooccurrence import Cooccurrences, CrowdMoments
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts
from cofactor.rivals.crowd.multispa import match_to_votes, model_of_matrices, tell_uninformative, vertex_matrices
from evaluation.released import crowd_steps as steps
from evaluation.released.crowd_criav import CRIAV
from evaluation.released.crowd_pgtac import PGTAC
from evaluation.released.crowd_steps import Protocol, Which
from evaluation.released.em import released_em
from evaluation.released.mirror_descent import mirror_descent


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedAggregator(Aggregator):
    """Base class: with `em`, ten rounds of maximum likelihood follow.

    Parameters
    ----------
    min_common : int
        Pairs of workers with fewer tasks in common count as missing. The paper seems to have used 6 on Dog, 2 on TREC.
    em : bool
    protocol : "real", "uci" or "synthetic"
    random_state, verbose
        See `Aggregator`.
    """

    min_common: int = 1
    em: bool = False
    takes_gold = False
    protocol: Which = "real"
    random_state: int | None = None
    verbose: bool = False

    def _refine(
        self, model: LatentClassModel, labels: CrowdLabels, gold: Ints | None = None
    ) -> tuple[LatentClassModel, Result]:
        return released_em(labels.table, model, steps.ROUNDS, self.verbose)


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedSymNMF(ReleasedAggregator):
    """SymNMF of the co-occurrences as they are; data that cannot be identified only gets a `DataWarning`."""

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        moments, protocol = CrowdMoments.of(labels), steps.protocol_of(self.protocol)
        require_used_classes(moments)
        cooc = Cooccurrences.from_moments(moments.pairs, self.min_common)
        _warn_if_unidentifiable(cooc, labels)
        informative = informative_workers(cooc, labels.workers)
        H, result = steps.rotate(self._root(cooc, protocol), protocol, self.verbose)
        model = steps.read_model(H, informative, protocol, not self._reads_prior(protocol))
        return (model if protocol.align else name_classes(model, labels)), result

    def _root(self, cooc: Cooccurrences, protocol: Protocol) -> Floats:
        return steps.singular_root(cooc.sparse(), cooc.n_classes)

    def _reads_prior(self, protocol: Protocol) -> bool:
        return protocol.designated_prior


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedDesSymNMF(ReleasedSymNMF):
    """SymNMF after imputation from one random pair of linking annotators per missing block."""

    def _root(self, cooc: Cooccurrences, protocol: Protocol) -> Floats:
        imputed = steps.random_pair_imputation(cooc, np.random.default_rng(self.random_state))
        return steps.singular_root(imputed.X, cooc.n_classes)


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedRobSymNMF(ReleasedSymNMF):
    """SymNMF after robust imputation from a random start; `p` as in `RobSymNMF`."""

    p: float = 1.0

    def _root(self, cooc: Cooccurrences, protocol: Protocol) -> Floats:
        rng = np.random.default_rng(self.random_state)
        U, _ = steps.projected_gradient_factors(cooc, rng, self.p, protocol, self.verbose)
        U[cooc.isolated] = 0  # their random start must not turn the rotation
        return U.reshape(-1, cooc.n_classes)

    def _reads_prior(self, protocol: Protocol) -> bool:
        return protocol.robust_prior


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedMultiSPA(ReleasedAggregator):
    """MultiSPA with columns ordered annotator by annotator, no floor, and random matrices for who cannot be estimated.

    On synthetic data the released code compares each annotator with the truth by itself; columns follow the votes here.
    """

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        cooc = Cooccurrences.from_moments(pairwise_moments(labels.table), self.min_common)
        model, informative = vertex_model(cooc, labels, steps.protocol_of(self.protocol), self.random_state)
        tell_uninformative(informative, labels, "random")
        return model, CLOSED_FORM


def vertex_model(
    cooc: Cooccurrences, labels: CrowdLabels, protocol: Protocol, random_state: int | None
) -> tuple[LatentClassModel, NDArray[np.bool_]]:
    """Return the model of `ReleasedMultiSPA`, and who was estimated."""
    A, informative = vertex_matrices(cooc)
    drawn = np.random.default_rng(random_state).random(A.shape)
    ordered = steps.align_each(A) if protocol.align else match_to_votes(A, vote_model(labels))
    return model_of_matrices(np.where(informative[:, None, None], ordered, drawn), 0.0), informative


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedDawidSkene(ReleasedAggregator):
    """MV-EM: ten rounds from vote shares with a uniform prior, see `crowd_steps.votes_em`; alike for all `protocol`."""

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        steps.protocol_of(self.protocol)
        return steps.votes_em(labels, self.verbose)


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedCNMF(Aggregator):
    """CNMF by nine passes of mirror descent from MultiSPA as released, zeros and all; no class is named anew.

    All pairs count alike, but for those whose co-occurrences, zeros lifted to 1e-6, have rank one: they are left out.
    The script for crowds asks for ten passes, one of which is the look at the start; 99 for UCI, 499 for synthetic
    data. With `em`, the library's EM follows. A worker without a pair gets uniform columns, not those of the start.

    Parameters as `CNMF` and `ReleasedMultiSPA`. Cost: see `mirror_descent`. Source: NeurIPS 2019, as released.
    """

    max_iter: int = 9
    tol: float = 1e-6
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    protocol: Which = "real"
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        moments = pairwise_moments(labels.table)
        cooc = Cooccurrences.from_moments(moments, 1)
        start, _ = vertex_model(cooc, labels, steps.protocol_of(self.protocol), self.random_state)
        return mirror_descent(moments, start, pairs_fitted(cooc), self.max_iter, self.tol, 0.0, verbose=self.verbose)


def pairs_fitted(cooc: Cooccurrences) -> Floats:
    """Mark by one the pairs (M, M) whose block, zeros lifted, has a rank above one."""
    lifted = np.where(cooc.blocks == 0, steps.FILL, cooc.blocks)
    several = np.linalg.matrix_rank(lifted / lifted.sum(axis=(1, 2), keepdims=True)) > 1
    return sparse.csr_array((several * 1.0, cooc.indices, cooc.indptr), shape=(cooc.n_workers,) * 2).toarray()


def _warn_if_unidentifiable(cooc: Cooccurrences, labels: CrowdLabels) -> None:
    try:
        cooc.require_identifiable(list(labels.workers))
    except NotIdentifiableError as refusal:
        if not cooc.components:
            raise
        warnings.warn(f"going on as the released code does, although {refusal}", DataWarning, stacklevel=4)


CROWD: dict[str, Callable[..., Aggregator]] = {
    "MV-EM": ReleasedDawidSkene,
    "RobSymNMF": ReleasedRobSymNMF,
    "RobSymNMF-EM": partial(ReleasedRobSymNMF, em=True),
    "RobSymNMF(w=1)": partial(ReleasedRobSymNMF, p=2.0),
    "RobSymNMF(w=1)-EM": partial(ReleasedRobSymNMF, p=2.0, em=True),
    "DesSymNMF": ReleasedDesSymNMF,
    "DesSymNMF-EM": partial(ReleasedDesSymNMF, em=True),
    "SymNMF(no imputation)": ReleasedSymNMF,
    "SymNMF(no imputation)-EM": partial(ReleasedSymNMF, em=True),
    "MultiSPA": ReleasedMultiSPA,
    "MultiSPA-EM": partial(ReleasedMultiSPA, em=True),
    "CNMF": ReleasedCNMF,
    "CNMF-EM": partial(ReleasedCNMF, em=True),
    "PG-TAC": PGTAC,
    "CRIAV": CRIAV,
}
