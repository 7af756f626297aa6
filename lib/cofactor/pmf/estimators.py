"""Estimators of a joint PMF, from a table (by pairwise marginals and EM) or from pairwise marginals alone.

    symbol   meaning                                                              shape
    R_mj     joint PMF of variables m and j                                       (I_m, I_j)
    A_n      conditional of variable n given the class, columns sum to one        (I_n, F)
    lambda   prior of the classes                                                 (F,)

    R_mj = A_m diag(lambda) A_j',   and then   Pr(x) = sum_f lambda_f prod_n A_n[x_n, f]

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Eq. (5), and Theorems 1 to 3 (when the pairs determine the joint PMF); Yeredor and Haardt, "Maximum likelihood
estimation of a low-rank probability mass tensor from partial observations", IEEE SPL 2019 (RAND-EM).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_kind, check_whole, is_whole, numbers, rng_of
from cofactor.core.em import em
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Seed
from cofactor.pmf.base import CLOSED_FORM, EM_TOL, START_FLOOR, JointPMFEstimator, random_model, require_connected
from cofactor.pmf.cnmf import cnmf_opt, cnmf_spa

CHOOSING_ITERATIONS = 100  # most of CNMF-OPT while rank and smoothing are chosen: the rest hardly moves a prediction
AGREE = 0.02  # largest difference of two marginals of one variable, as two tables imply them, that is not warned of
OPT_ITERATIONS = 3000
Pairs = Mapping[tuple[int, int], ArrayLike]


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFSPA(JointPMFEstimator):
    """CNMF-SPA: anchors of a virtual matrix of pairwise marginals, in closed form; with `em`, refined by EM.

    Parameters: `split` as in `cnmf_spa`; all others as in `JointPMFEstimator`. Errors (in `fit`): see both; the sizes
    of the alphabets limit the rank.

    Cost and source: see `cnmf_spa`. The method needs values that occur in nearly one latent class only. Without them,
    as in random models of 15 variables with ten values each, it can be worse than a constant, even on unlimited data.

    Dependence on the order: the split of the variables depends on the order of the columns (`split`), and "auto" hides
    random cells to choose the rank. On a table of 80 rows and 5 columns with 34 gaps, 10 other orders of the columns
    changed up to 2 filled values, and 10 other orders of the rows up to 1.

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
    """CNMF-SPA-EM: EM started at CNMF-SPA. Parameters, errors, cost and source: see `CNMFSPA` and `em`."""

    em: bool = True


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFOPT(JointPMFEstimator):
    """CNMF-OPT: the model closest to all pairwise marginals in Kullback-Leibler divergence; with `em`, CNMF-EM.

        min over A_1, ..., A_N, lambda of  sum_{j<k} w_jk KL(X_jk || A_j diag(lambda) A_k')

    Its cost does not depend on the number of rows, and its optimum is far easier to reach than that of the likelihood;
    EM started there then reaches the optimum of the likelihood.

    Parameters
    ----------
    init : "spa" or "random"
        Start at `cnmf_spa`, padded if it finds fewer classes, or at uniform random conditionals.
    split
        See `cnmf_spa`.
    weights : "count" or "equal"
        Weight pairs by how often they were observed, or equally, as in the paper.
    max_iter, tol, floor
        See `cnmf_opt`, which is called with `thorough`.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`, also for the errors of `fit`.

    Dependence on the order: the start, CNMF-SPA, depends on the order of the columns. On a table of 80 rows and 5
    columns with 34 gaps, 10 other orders of the columns changed up to 1 filled value, in 2 or 4 of the orders depending
    on the BLAS kernel.

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
    max_iter: int = OPT_ITERATIONS
    tol: float = 1e-9
    floor: float = START_FLOOR

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        start, limits = self._start(moments), (self.max_iter, self.tol, self.floor)
        with warnings.catch_warnings():
            if self.em:  # EM goes on from here, and says itself whether it converged
                warnings.simplefilter("ignore", ConvergenceWarning)
            return cnmf_opt(moments, start, self.weights, *limits, thorough=True, verbose=self.verbose)

    def _start(self, moments: PairwiseMoments) -> LatentClassModel:
        if self.init == "random":
            return random_model(moments.sizes, self.rank_, self.random_state)
        if self.init != "spa":
            raise CofactorError(f"init={self.init!r}: must be 'spa' or 'random'")
        return cnmf_spa(moments, self.rank_, self.split, pad=True, random_state=self.random_state)

    def _hurried(self) -> Self:
        self.max_iter = min(self.max_iter, CHOOSING_ITERATIONS)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class CNMFEM(CNMFOPT):
    """CNMF-EM: EM started at CNMF-OPT. Parameters, errors, cost and source: see `CNMFOPT` and `em`."""

    em: bool = True


@dataclass(eq=False, repr=False, kw_only=True)
class RANDEM(JointPMFEstimator):
    """RAND-EM: EM from random starts; keeps the one with the best objective (without smoothing, the likelihood).

    Parameters
    ----------
    n_starts : int
        Number of starts, drawn uniformly from (0, 1) and scaled. A single start, as in the papers, often ends in a poor
        optimum.
    max_iter : int
        Maximum number of iterations per start.
    rank, pseudo_count, random_state, verbose
        See `JointPMFEstimator`, also for the errors of `fit`.

    Cost: that of `em` for every start. Source: see `em`; IEEE SPL 2019. Deviation: EM runs until the objective
    converges (released: 30 iterations).
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
    """The product of the observed marginals, of rank one: the baseline that assumes independent variables.

    Parameters `pseudo_count`, `random_state`, `verbose` and errors: see `JointPMFEstimator`. Cost: that of counting.
    Source: a baseline of IEEE TSP 2021.
    """

    rank: int = field(default=1, init=False)
    em: bool = field(default=False, init=False)
    em_max_iter: int = field(default=1, init=False)


@dataclass(eq=False, repr=False, kw_only=True)
class Constant(JointPMFEstimator):
    """Uniform prior and conditionals, whatever the data: a baseline that any estimate should beat.

    Parameters and errors: see `JointPMFEstimator`. The joint PMF is the same at any rank, so set one: "auto" would try
    them all. Cost: O(sum I_n F). Source: none.

    Dependence on the order: all values are equally probable, so all gaps of a column are filled with its first value.
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


# ---- from pairwise marginals alone ----


def from_marginals(
    pairs: Pairs, rank: int, method: Literal["CNMF-OPT", "CNMF-SPA"] = "CNMF-OPT", random_state: Seed = 0
) -> LatentClassModel:
    """Estimate a latent-class model, and hence a joint PMF, from two-way tables of pairs of variables.

    Parameters
    ----------
    pairs : dict {(i, j): (I_i, I_j) table}
        One table for each pair; variables are numbered from 0, and pairs may be left out. Tables of probabilities have
        equal weights; tables of counts are weighted by their totals.
    rank : int
        F, the number of classes.
    method : {"CNMF-OPT", "CNMF-SPA"}
        "CNMF-OPT" finds the model closest to all tables in Kullback-Leibler divergence, started at CNMF-SPA.
        "CNMF-SPA" has a closed form and needs values that occur in nearly one class only.
    random_state : seed

    Returns a `LatentClassModel`, with `model.prior`, `model.conditionals`, `model.predict_map(table, target)`, etc.

    Raises a CofactorError if a table is negative, not finite, zero, or inconsistent in size with another table of the
    same variable (pairs are named), if a pair is given twice, or if CNMF-SPA cannot fit the rank. Raises a
    NotIdentifiableError if no chain of pairs links the variables. Issues a `DataWarning` if tables imply different
    marginals of a variable, and a `ConvergenceWarning` if 3000 iterations do not suffice.

    Cost and source: see `cnmf_opt` and `cnmf_spa`.

    >>> truth = LatentClassModel([0.6, 0.4], [[[0.8, 0.0], [0.2, 0.3], [0.0, 0.7]]] * 4)
    >>> tables = {(i, j): truth.pairwise(i, j) for i in range(4) for j in range(i)}
    >>> from_marginals(tables, rank=2).align_to(truth).prior.round(2)
    array([0.6, 0.4])
    """
    check_whole(1, rank=rank)
    if method not in ("CNMF-OPT", "CNMF-SPA"):
        raise CofactorError(f"method={method!r}: must be 'CNMF-OPT' or 'CNMF-SPA'")
    moments = moments_of(pairs)
    require_connected(moments)
    if method == "CNMF-SPA":
        return cnmf_spa(moments, rank, random_state=random_state)
    start = cnmf_spa(moments, rank, pad=True, random_state=random_state)
    return cnmf_opt(moments, start, max_iter=OPT_ITERATIONS, thorough=True)[0]


def moments_of(pairs: Pairs) -> PairwiseMoments:
    """Check two-way tables and return them as pairwise moments."""
    tables = _checked(pairs)
    sizes = _sizes(tables)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    counts, singles = sparse.lil_array((offsets[-1], offsets[-1])), np.zeros(offsets[-1])
    implied: dict[int, list[Floats]] = {}
    for (i, j), table in tables.items():
        own, other = slice(offsets[i], offsets[i + 1]), slice(offsets[j], offsets[j + 1])
        counts[own, other], counts[other, own] = table, table.T
        for n, marginal in ((i, table.sum(axis=1)), (j, table.sum(axis=0))):
            implied.setdefault(n, []).append(marginal / marginal.sum())
    for n, found in implied.items():
        singles[offsets[n] : offsets[n + 1]] = np.mean(found, axis=0)
    apart = [n for n, found in sorted(implied.items()) if np.ptp(found, axis=0).max() > AGREE]
    if apart:
        message = f"the tables imply different marginals of variables {listing(apart)}"
        warnings.warn(f"{message}; check that they describe the same population", DataWarning, stacklevel=3)
    n_rows = int(np.ceil(max(float(table.sum()) for table in tables.values())))
    return PairwiseMoments(counts.tocsr(), singles, sizes, n_rows)


def _checked(pairs: Any) -> dict[tuple[int, int], Floats]:
    check_kind(Mapping, pairs=pairs)
    found: dict[tuple[int, int], Floats] = {}
    for pair, given in pairs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(is_whole(n) and n >= 0 for n in pair)):
            raise CofactorError(f"pair {pair!r}: must be two variable numbers, counted from 0, such as (0, 1)")
        if pair[0] == pair[1] or pair[::-1] in found:
            raise CofactorError(f"pair {pair}: pass exactly one table for each pair of different variables")
        table = numbers(given, f"the table of {pair}", 2)
        if not (np.isfinite(table).all() and (table >= 0).all() and table.any()):
            raise CofactorError(
                f"the table of {pair} must contain probabilities or counts: nonnegative numbers that are not all 0"
            )
        found[pair[0], pair[1]] = table
    if not found:
        raise CofactorError("no pairs: pass at least one table, such as {(0, 1): table}")
    return found


def _sizes(tables: Mapping[tuple[int, int], Floats]) -> Any:
    sizes: dict[int, int] = {}
    for pair, table in tables.items():
        for n, size in zip(pair, table.shape, strict=True):
            if sizes.setdefault(n, size) != size:
                raise CofactorError(
                    f"the table of {pair} has {size} values of variable {n}, but another table has {sizes[n]}"
                )
    if missing := sorted(set(range(max(sizes) + 1)) - set(sizes)):
        raise CofactorError(f"variables {listing(missing)} are in no pair: number the variables consecutively from 0")
    return np.array([sizes[n] for n in range(len(sizes))], dtype=np.int64)
