"""Estimators of a joint PMF: from a table by pairwise marginals and EM, and from pairwise marginals alone.

    symbol   meaning                                                              shape
    R_mj     joint PMF of variables m and j                                       (I_m, I_j)
    A_n      conditional of variable n given the class, columns sum to one        (I_n, F)
    lambda   prior of the classes                                                 (F,)

    R_mj = A_m diag(lambda) A_j',   and then   Pr(x) = sum_f lambda_f prod_n A_n[x_n, f]

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Eq. (5), and Theorems 1 to 3: when the joint PMF follows from the pairs; Yeredor and Haardt, "Maximum likelihood
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
    """CNMF-SPA: anchors of a virtual matrix of pairwise marginals, in closed form. With `em`, EM goes on from it.

    Parameters: `split` as in `cnmf_spa`; all others as in `JointPMFEstimator`. Raises (in `fit`): see both; the rank is
    capped by the alphabets.

    Cost and source: see `cnmf_spa`. It needs values that nearly one latent class alone takes: without them, as with 15
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

    Parameters and errors: see `JointPMFEstimator`. The joint PMF is the same at any rank: give one, since "auto" tries
    them all. Cost: O(sum I_n F). Source: none.

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


# ---- from pairwise marginals alone ----


def from_marginals(
    pairs: Pairs, rank: int, method: Literal["CNMF-OPT", "CNMF-SPA"] = "CNMF-OPT", random_state: Seed = 0
) -> LatentClassModel:
    """Estimate a latent class model, and so a joint PMF, from tables of pairs of variables.

    Parameters
    ----------
    pairs : dict {(i, j): (I_i, I_j) table}
        Of variables numbered from 0; one table of a pair, and not all pairs are needed. Tables of probabilities count
        alike, tables of counts as often as they were counted.
    rank : int
        F, the number of classes.
    method : {"CNMF-OPT", "CNMF-SPA"}
        The model nearest to all tables in Kullback-Leibler divergence, started from CNMF-SPA; or CNMF-SPA, in closed
        form, which needs values that nearly one class alone takes.
    random_state : seed

    Returns a `LatentClassModel`: `model.prior`, `model.conditionals`, `model.predict_map(table, target)` and so on.

    Raises a CofactorError for tables that are negative, not finite, zero or of other sizes than others of the variable
    (pairs are named), a pair given twice, and a rank that CNMF-SPA cannot have; a NotIdentifiableError for variables
    that no chain of pairs links. Warns (`DataWarning`) where tables imply different marginals of a variable, and
    (`ConvergenceWarning`) where 3000 iterations are too few.

    Cost and source: see `cnmf_opt` and `cnmf_spa`.

    >>> truth = LatentClassModel([0.6, 0.4], [[[0.8, 0.0], [0.2, 0.3], [0.0, 0.7]]] * 4)
    >>> tables = {(i, j): truth.pairwise(i, j) for i in range(4) for j in range(i)}
    >>> from_marginals(tables, rank=2).align_to(truth).prior.round(2)
    array([0.6, 0.4])
    """
    check_whole(1, rank=rank)
    if method not in ("CNMF-OPT", "CNMF-SPA"):
        raise CofactorError(f"method={method!r}: choose CNMF-OPT or CNMF-SPA")
    moments = moments_of(pairs)
    require_connected(moments)
    if method == "CNMF-SPA":
        return cnmf_spa(moments, rank, random_state=random_state)
    start = cnmf_spa(moments, rank, pad=True, random_state=random_state)
    return cnmf_opt(moments, start, max_iter=OPT_ITERATIONS, thorough=True)[0]


def moments_of(pairs: Pairs) -> PairwiseMoments:
    """Return checked tables of pairs as pairwise moments."""
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
        told = f"tables imply different marginals of variables {listing(apart)}"
        warnings.warn(f"{told}: do all of them describe one population?", DataWarning, stacklevel=3)
    n_rows = int(np.ceil(max(float(table.sum()) for table in tables.values())))
    return PairwiseMoments(counts.tocsr(), singles, sizes, n_rows)


def _checked(pairs: Any) -> dict[tuple[int, int], Floats]:
    check_kind(Mapping, pairs=pairs)
    found: dict[tuple[int, int], Floats] = {}
    for pair, given in pairs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(is_whole(n) and n >= 0 for n in pair)):
            raise CofactorError(f"pair {pair!r}: name two variables by their numbers from 0, such as (0, 1)")
        if pair[0] == pair[1] or pair[::-1] in found:
            raise CofactorError(f"pair {pair}: give one table for each pair of different variables")
        table = numbers(given, f"the table of {pair}", 2)
        if not (np.isfinite(table).all() and (table >= 0).all() and table.any()):
            raise CofactorError(
                f"the table of {pair} must hold probabilities or counts: numbers of at least 0, not all 0"
            )
        found[pair[0], pair[1]] = table
    if not found:
        raise CofactorError("no pairs: give at least one table, such as {(0, 1): table}")
    return found


def _sizes(tables: Mapping[tuple[int, int], Floats]) -> Any:
    sizes: dict[int, int] = {}
    for pair, table in tables.items():
        for n, size in zip(pair, table.shape, strict=True):
            if sizes.setdefault(n, size) != size:
                raise CofactorError(f"the table of {pair} has {size} values of variable {n}, another has {sizes[n]}")
    if missing := sorted(set(range(max(sizes) + 1)) - set(sizes)):
        raise CofactorError(f"variables {listing(missing)} are in no pair: number variables from 0 without a gap")
    return np.array([sizes[n] for n in range(len(sizes))], dtype=np.int64)
