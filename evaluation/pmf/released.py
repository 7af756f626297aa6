"""CNMF-SPA as the scripts of Tables 8 to 14 run it, and what starts from it.

    symbol   meaning                                               shape
    X        joint frequencies of five variables with the others   (K_1, K_2)
    W        its anchor columns                                    (K_1, F)
    H        their weights                                         (K_2, F)

Source: code with Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals",
IEEE TSP 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.coupled_nmf import coupled_nmf
from cofactor.core.em import em
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.mirror_descent import Mirror
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import Result
from cofactor.core.spa import spa
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf.base import CLOSED_FORM, JointPMFEstimator
from evaluation.pmf.methods import NEVER, RELEASED_FLOOR, RELEASED_TOL, ROUNDS

SPLIT = 5  # variables on one side of X
STEPS = 300  # of projected gradients, for H
OUTER = 200  # most passes of CNMF-OPT
RELEASED = Mirror(50, 5, 0.1, 0.3, 1e-4, 1e-5, 1e-6, True)


@dataclass(eq=False, repr=False, kw_only=True)
class Released(JointPMFEstimator):
    """CNMF-SPA as released, and what starts from it.

    `then`: "" for nothing, "em" for 30 rounds, "mirror" for CNMF-OPT by mirror descent with all pairs alike.
    """

    pseudo_count: float = 0.0
    then: str = ""
    uniform_prior: bool = False
    tol: float = RELEASED_TOL

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        model = released_spa(moments, self.rank_, np.random.default_rng(self.random_state))
        if self.then == "em":
            return em(table, model, ROUNDS, NEVER)
        if self.then != "mirror":
            return model, CLOSED_FORM
        if self.uniform_prior:
            model = LatentClassModel(np.full(self.rank_, 1 / self.rank_), model.conditionals)
        return coupled_nmf(moments, model, "mirror", "equal", OUTER, self.tol, RELEASED_FLOOR, RELEASED)


def released_spa(moments: PairwiseMoments, rank: int, rng: np.random.Generator) -> LatentClassModel:
    """Pairs never observed are zeros, H takes 300 gradient steps from a random start, lambda is a product of maxima."""
    sizes = moments.sizes
    K = int(sizes[:SPLIT].sum())
    n = moments.n_joint[:SPLIT][:, SPLIT:].toarray()
    every = np.repeat(np.repeat(n, sizes[:SPLIT], axis=0), sizes[SPLIT:], axis=1)
    X = moments.counts[:K][:, K:].toarray() / np.maximum(every, 1)
    totals = X.sum(axis=0)
    columns = np.flatnonzero(totals > 0)
    found = columns[spa(X[:, columns] / totals[columns], rank)]
    if len(found) < rank:
        raise CofactorError(f"rank={rank}: successive projection finds {len(found)} anchors; ask for as many at most")
    W = X[:, found]
    H = _weights(X, W, rng)
    A, level_w = _scaled(W, sizes[:SPLIT])
    B, level_h = _scaled(H, sizes[SPLIT:])
    prior = level_w * level_h
    return LatentClassModel.from_stacked(prior / prior.sum(), np.vstack([A, B]), sizes).lift(RELEASED_FLOOR)


def _weights(X: Floats, W: Floats, rng: np.random.Generator) -> Floats:
    """Descend ||X - W H'||_F^2 over H >= 0."""
    H = rng.random((X.shape[1], W.shape[1]))
    H /= H.sum(axis=1, keepdims=True)
    G, V = W.T @ W, X.T @ W
    step = 1 / np.linalg.eigvalsh(G)[-1]
    for _ in range(STEPS):
        H = np.maximum(H - step * (H @ G - V), 0)
    return H


def _scaled(blocks: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Columns of every block scaled to sum to one (zeros stay zeros), and the largest of each column's sums."""
    sums = np.add.reduceat(blocks, np.cumsum(sizes) - sizes, axis=0)
    scale = np.repeat(sums, sizes, axis=0)
    return np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0), sums.max(axis=0)
