"""Estimators of a joint PMF from pairwise marginals, and EM.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021; Yeredor and Haardt, "Maximum likelihood estimation of a low-rank probability mass tensor from partial
observations", IEEE SPL 2019 (RAND-EM).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from cofactor.core.checks import check_whole, rng_of
from cofactor.core.em import em
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.base import CLOSED_FORM, EM_TOL, START_FLOOR, JointPMFEstimator, random_model
from cofactor.pmf.cnmf_opt import cnmf_opt
from cofactor.pmf.cnmf_spa import cnmf_spa

CHOOSING_ITERATIONS = 100  # most of CNMF-OPT while rank and smoothing are chosen: the rest hardly moves a prediction


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFSPA(JointPMFEstimator):
    """CNMF-SPA: anchors of a virtual matrix of pairwise marginals, in closed form. With `em`, EM goes on from it.

    Parameters: `split` as in `cnmf_spa`; all others as in `JointPMFEstimator`. Raises (in `fit`): see both; the rank is
    capped by the alphabets.

    Cost and source: see `cnmf_spa`. It needs values that nearly one hidden class alone takes: without them, as with 15
    variables of ten values drawn at random, it can be worse than a constant, even on endless data.

    Order: half of the columns, as they stand, are anchors of the others (`split`), and "auto" draws cells that are
    hidden to choose the rank. In 10 other orders of the columns of 80 rows by 5, up to 2 of 34 gaps were filled
    otherwise; in 10 other orders of the rows, up to 1.

    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 10, 5, separability=0.1, random_state=0)
    >>> table = simulate.joint_table(truth, 10_000, observed=0.5, random_state=0)
    >>> CNMFSPA(rank=5).fit(table).predict(table.take_rows(slice(3)), target=4)
    array([2, 8, 1])
    """

    split: int | Sequence[int] | None = None

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return cnmf_spa(moments, self.rank_, self.split, random_state=self.random_state), CLOSED_FORM


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFSPAEM(CNMFSPA):
    """CNMF-SPA-EM: CNMF-SPA, and EM from there. Parameters, errors, cost and source: see `CNMFSPA` and `em`."""

    em: bool = True


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFOPT(JointPMFEstimator):
    """CNMF-OPT: the model nearest to all pairwise marginals in Kullback-Leibler divergence. With `em`: CNMF-EM.

        min over A_1, ..., A_N, lambda of  sum_{j<k} w_jk KL(X_jk || A_j diag(lambda) A_k')

    Its cost does not depend on the number of rows, and its optima are far easier to reach than those of the
    likelihood: EM that starts from here reaches the likelihood's.

    Parameters
    ----------
    init : "spa" or "random"
        `cnmf_spa`, padded where it finds fewer classes; or uniform random conditionals.
    split
        Of `cnmf_spa`.
    weights : "count" or "equal"
        Pairs count as often as they were observed, or all alike as in the paper.
    max_iter, tol, floor
        See `cnmf_opt`, which runs with `thorough`.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`, also for what `fit` raises.

    Order: it starts at CNMF-SPA, for which columns in another order are another start. In 10 other orders of the
    columns of 80 rows by 5, up to 1 of 34 gaps was filled otherwise: in 2 orders or in 4, by the kernel of BLAS.

    Cost and source: see `cnmf_opt`; IEEE TSP 2021, Algorithm 1.

    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 10, 5, random_state=0)
    >>> table = simulate.joint_table(truth, 10_000, random_state=0)
    >>> CNMFOPT(rank=5).fit(table).result_.converged
    True
    """

    init: Literal["spa", "random"] = "spa"
    split: int | Sequence[int] | None = None
    weights: Literal["count", "equal"] = "count"
    max_iter: int = 3000
    tol: float = 1e-9
    floor: float = START_FLOOR

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        settings: dict[str, Any] = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "verbose": self.verbose,
        }
        with warnings.catch_warnings():
            if self.em:  # EM goes on from here, and says itself whether it converged
                warnings.simplefilter("ignore", ConvergenceWarning)
            return cnmf_opt(moments, self._start(moments), self.weights, floor=self.floor, thorough=True, **settings)

    def _start(self, moments: PairwiseMoments) -> LatentClassModel:
        if self.init == "random":
            return random_model(moments.sizes, self.rank_, self.random_state)
        if self.init != "spa":
            raise CofactorError(f"init={self.init!r}: choose 'spa' or 'random'")
        return cnmf_spa(moments, self.rank_, self.split, pad=True, random_state=self.random_state)

    def _hurried(self) -> Self:
        self.max_iter = min(self.max_iter, CHOOSING_ITERATIONS)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFEM(CNMFOPT):
    """CNMF-EM: CNMF-OPT, and EM from there. Parameters, errors, cost and source: see `CNMFOPT` and `em`."""

    em: bool = True


@dataclass(eq=False, repr=False, kw_only=True)
class RANDEM(JointPMFEstimator):
    """RAND-EM: EM from random starts, the best of them by its objective (the likelihood, where nothing is smoothed).

    Parameters
    ----------
    n_starts : int
        Starts, drawn uniform on (0, 1) and scaled; one, as in the papers, often ends in a poor optimum.
    max_iter : int
        Most rounds of each.
    rank, pseudo_count, random_state, verbose
        See `JointPMFEstimator`, also for what `fit` raises.

    Cost and source: see `em`, for every start; IEEE SPL 2019. Deviation: rounds go on until the objective stands still
    (released: 30).
    """

    n_starts: int = 1
    max_iter: int = 500
    em: bool = field(default=True, init=False)
    em_max_iter: int = field(default=1, init=False)  # not used: it is EM already

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        check_whole(1, n_starts=self.n_starts, max_iter=self.max_iter)
        rng = rng_of(self.random_state)
        starts = [random_model(table.sizes, self.rank_, rng) for _ in range(self.n_starts)]
        found = [em(table, s, self.max_iter, EM_TOL, self.verbose, self.pseudo_count_) for s in starts]
        return max(found, key=lambda one: float(one[1].objective[-1]))

    def _finish(
        self, model: LatentClassModel, result: Result, table: CategoricalTable
    ) -> tuple[LatentClassModel, Result]:
        return model, result


@dataclass(eq=False, repr=False, kw_only=True)
class Independence(JointPMFEstimator):
    """The product of the observed marginals, of rank one: the baseline that takes all variables for independent.

    Parameters `pseudo_count`, `random_state`, `verbose` and errors: see `JointPMFEstimator`. Cost: that of counting.
    Source: a baseline of IEEE TSP 2021.
    """

    rank: int = field(default=1, init=False)
    em: bool = field(default=False, init=False)
    em_max_iter: int = field(default=1, init=False)


@dataclass(eq=False, repr=False, kw_only=True)
class Constant(JointPMFEstimator):
    """Uniform prior and conditionals, whatever the data: the baseline for errors, which any estimate should beat.

    Parameters and errors: see `JointPMFEstimator`; only `rank` matters. Cost: O(sum I_n F). Source: none.

    Order: all values are equally probable, so that the first of each column fills all of its gaps.
    """

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return self._rank_one(moments)

    def _rank_one(self, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        uniform = np.repeat(1 / moments.sizes, moments.sizes)[:, None]
        stacked = np.tile(uniform, self.rank_)
        return LatentClassModel.from_stacked(np.full(self.rank_, 1 / self.rank_), stacked, moments.sizes), CLOSED_FORM

    def _finish(
        self, model: LatentClassModel, result: Result, table: CategoricalTable
    ) -> tuple[LatentClassModel, Result]:
        return model, result
