"""Co-occurrences of annotators: the observed K x K blocks, their graph, and what it identifies.

    symbol   meaning                                                  shape
    C        counts of label pairs, `PairwiseMoments`                 (M K, M K), sparse
    F'V      labels of every worker, weighted by the vote shares      (M K, K)
    n_mj     tasks that annotators m and j both labelled
    R_mj     joint frequencies of their labels, sums to one           (K, K)
    Omega    pairs with n_mj >= min_common; the rest is missing

Only observed blocks are stored, as the rows of a block-sparse matrix, so that M annotators cost O(|Omega|), not M^2.

Source: Ibrahim and Fu, ICML 2021, Eq. (2)-(3). That a bipartite pattern of observed blocks cannot identify the model
is not in the paper: blocks U_m G and U_j G^-T fit the observed pairs for every invertible G.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_whole, numbers
from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError, NotIdentifiableError, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import csgraph, njit
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels


@dataclass(frozen=True)
class CrowdMoments:
    """Sums over tasks: counts of label pairs, and soft counts of the majority vote.

    Attributes
    ----------
    pairs : PairwiseMoments
        `n_rows` is the number of tasks.
    votes : SoftCounts
        Soft counts of the vote shares, over tasks with labels: `votes.model()` is the start from majority vote.
    workers, classes : lists
        Ids, in the order of the codes.
    """

    pairs: PairwiseMoments
    votes: SoftCounts
    workers: list[Any]
    classes: list[Any]

    @classmethod
    def of(cls, labels: CrowdLabels) -> CrowdMoments:
        """Return the sums for labels in memory. Cost: that of `pairwise_moments`."""
        F, K = labels.table.indicator, labels.n_classes
        cells, classes = np.zeros((F.shape[1], K)), np.zeros(K)
        n_tasks = _add_votes(F.indptr, F.indices, cells, classes)
        votes = SoftCounts(cells, classes, n_tasks, labels.table.sizes)
        return cls(pairwise_moments(labels.table), votes, labels.workers, labels.classes)


@njit(cache=True, nogil=True)
def _add_votes(indptr: Ints, indices: Ints, cells: Floats, classes: Floats) -> int:
    K, n_tasks = len(classes), 0
    shares = np.empty(K)
    for s in range(len(indptr) - 1):
        first, end = indptr[s], indptr[s + 1]
        n_tasks += first < end
        shares[:] = 0
        for x in range(first, end):
            shares[np.uint32(indices[x]) % np.uint32(K)] += 1
        for k in range(K):
            shares[k] /= max(end - first, 1)
            classes[k] += shares[k]
        for x in range(first, end):
            v = np.uint64(indices[x])
            for k in range(K):
                cells[v, k] += shares[k]
    return n_tasks


DENSE_TASKS = 10  # median co-labelled tasks from which thin pairs are left out by default ...
THIN_TASKS = 5  # ... that is, pairs with at most this many tasks in common


@dataclass(frozen=True)
class Cooccurrences:
    """Observed co-occurrence blocks R_mj of M annotators.

    Row m of the pattern lists the annotators `indices[indptr[m]:indptr[m + 1]]` that m shares blocks with, sorted;
    `blocks` and `n` are in the same order. Both (m, j) and (j, m) are included.
    """

    indptr: Ints  # (M + 1,)
    indices: Ints  # (E,)
    blocks: Floats  # (E, K, K), each sums to one
    n: Floats  # (E,) tasks each block was counted on

    @classmethod
    def from_moments(cls, moments: PairwiseMoments, min_common: int | None = None) -> Cooccurrences:
        """Estimate R_mj = C_mj / n_mj for all pairs with at least `min_common` tasks in common; Eq. (3).

        Raises a `CofactorError` unless all variables have the same alphabet. `min_common` is 1 by default, but 6 if the
        median pair has 10 tasks or more (thin pairs are then exceptions, and noise) and no worker is cut off by it.
        """
        sizes = np.unique(moments.sizes)
        if len(sizes) > 1:
            raise CofactorError(f"annotators must have the same classes, found alphabets of size {listing(sizes)}")
        K = int(sizes[0])
        pairs = moments.n_joint.astype(np.float64)
        if min_common is not None:
            check_whole(1, min_common=min_common)
            return cls._count(moments, pairs, K, min_common)
        everything = cls._count(moments, pairs, K, 1)
        if not pairs.nnz or np.median(pairs.data) < DENSE_TASKS:
            return everything
        dense = cls._count(moments, pairs, K, THIN_TASKS + 1)
        found, known = dense.components, everything.components  # nobody cut off, an odd cycle wherever there was one?
        alike = len(found) == len(known) and all(np.array_equal(a, b) for a, b in zip(found, known, strict=True))
        return dense if alike and dense.bipartite == everything.bipartite else everything

    @classmethod
    def _count(cls, moments: PairwiseMoments, n_joint: sparse.csr_array, K: int, min_common: int) -> Cooccurrences:
        pairs = n_joint.copy()
        pairs.data[pairs.data < min_common] = 0
        pairs.eliminate_zeros()
        pairs.sort_indices()
        M, cells, n = pairs.shape[0], moments.counts.tocoo(), pairs.tocoo()
        known, met = n.row.astype(np.int64) * M + n.col, cells.row.astype(np.int64) // K * M + cells.col // K
        blocks = np.zeros((len(known), K, K))
        if len(known):  # sparse counts are spread over the blocks of the pattern; other pairs are left out
            place = np.minimum(np.searchsorted(known, met), len(known) - 1)
            there = known[place] == met
            place = place[there]
            blocks[place, cells.row[there] % K, cells.col[there] % K] = cells.data[there] / n.data[place]
        return cls(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64), blocks, pairs.data)

    @classmethod
    def from_model(cls, model: LatentClassModel, observed: ArrayLike | None = None) -> Cooccurrences:
        """Return the exact blocks A_m diag(lambda) A_j' of a known model, for the pairs in `observed`.

        `observed` is a symmetric (M, M) mask (default: all pairs); its diagonal is ignored. Every n is one.
        """
        M = model.n_variables
        if len(set(model.sizes.tolist())) > 1:
            raise CofactorError(f"annotators must have the same classes, found sizes {listing(model.sizes)}")
        mask = np.ones((M, M), dtype=bool) if observed is None else numbers(observed, "observed") != 0
        if mask.shape != (M, M):
            raise CofactorError(f"observed must be a mask of shape {(M, M)}, one row per annotator; got {mask.shape}")
        pattern = sparse.csr_array(mask & ~np.eye(M, dtype=bool))
        rows = np.repeat(np.arange(M), np.diff(pattern.indptr))
        A = np.stack(model.conditionals)
        blocks = np.einsum("eif,f,ejf->eij", A[rows], model.prior, A[pattern.indices])
        return cls(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), blocks, np.ones(len(rows)))

    @property
    def n_workers(self) -> int:
        """M, the number of annotators."""
        return len(self.indptr) - 1

    @property
    def n_classes(self) -> int:
        """K, the number of classes."""
        return int(self.blocks.shape[1])

    @property
    def missing_share(self) -> float:
        """Fraction of the M(M-1) off-diagonal blocks that are not observed."""
        return 1.0 - len(self.indices) / max(self.n_workers * (self.n_workers - 1), 1)

    @cached_property
    def rows(self) -> Ints:
        """(E,) the first annotator of each block."""
        return np.repeat(np.arange(self.n_workers), np.diff(self.indptr))

    @cached_property
    def graph(self) -> sparse.csr_array:
        """(M, M) co-labelling graph, with edges weighted by n_mj."""
        return sparse.csr_array((self.n, self.indices, self.indptr), shape=(self.n_workers,) * 2)

    @cached_property
    def isolated(self) -> Ints:
        """Annotators without any observed block."""
        return np.flatnonzero(np.diff(self.indptr) == 0)

    @cached_property
    def components(self) -> list[Ints]:
        """Connected components of the co-labelling graph without isolated annotators, largest first."""
        _, component = csgraph.connected_components(self.graph, directed=False)
        groups = [np.flatnonzero(component == c) for c in np.unique(np.delete(component, self.isolated))]
        return sorted(groups, key=len, reverse=True)

    @cached_property
    def bipartite(self) -> list[bool]:
        """Whether each component is bipartite: two teams, and no observed block within a team."""
        found = []
        for component in self.components:
            order, parent = csgraph.breadth_first_order(self.graph, component[0], directed=False)
            colour = np.zeros(self.n_workers, dtype=bool)
            for m in order[1:]:
                colour[m] = not colour[parent[m]]
            inside = np.isin(self.rows, component)
            found.append(bool(np.all(colour[self.rows[inside]] != colour[self.indices[inside]])))
        return found

    def dense(self) -> Floats:
        """Return the (M K, M K) matrix of all blocks, zero where missing."""
        return self.sparse().toarray()

    def sparse(self) -> sparse.bsr_array:
        """Return the (M K, M K) block-sparse matrix of all observed blocks."""
        size = self.n_workers * self.n_classes
        return sparse.bsr_array((self.blocks, self.indices, self.indptr), shape=(size, size))

    def require_identifiable(self, names: list[object] | None = None) -> None:
        """Raise a `NotIdentifiableError` if no method can recover the model from this pattern of blocks.

        This is so if no two annotators share tasks, or if the co-labelling graph is disconnected (its components are
        listed) or bipartite. `names` are the annotators' ids for the message.
        """
        names = list(range(self.n_workers)) if names is None else names
        if not self.components:
            raise NotIdentifiableError("no two workers labelled enough tasks in common, so there are no co-occurrences")
        if len(self.components) > 1:
            listed = "; ".join(f"[{listing(names[m] for m in c)}]" for c in self.components[:10])
            raise NotIdentifiableError(
                f"the co-labelling graph has {len(self.components)} components, so classes cannot be matched between "
                f"them: {listed}. Let some workers share more tasks across components, aggregate each component "
                "separately, or use MV-EM or MajorityVote"
            )
        if self.bipartite[0]:
            raise NotIdentifiableError(
                "the co-labelling graph is bipartite, so wrong models fit it perfectly: the workers form two teams, "
                "and no two of one team share a task. Let two workers of one team share tasks, or use MV-EM or "
                "MajorityVote"
            )
