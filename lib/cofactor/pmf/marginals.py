"""A joint distribution from pairwise marginals alone.

    symbol   meaning                                                              shape
    R_mj     joint PMF of variables m and j                                       (I_m, I_j)
    A_n      conditional of variable n given the class, columns sum to one        (I_n, F)
    lambda   prior of the classes                                                 (F,)

    R_mj = A_m diag(lambda) A_j',   and then   Pr(x) = sum_f lambda_f prod_n A_n[x_n, f]

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Eq. (5) and Theorems 1 to 3: when the joint PMF follows from the pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_kind, check_whole, is_whole, numbers
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.types import Floats, Seed
from cofactor.pmf.base import require_connected
from cofactor.pmf.cnmf_opt import cnmf_opt
from cofactor.pmf.cnmf_spa import cnmf_spa

METHODS = ("CNMF-OPT", "CNMF-SPA")
AGREE = 0.02  # largest difference of two marginals of one variable, as two tables imply them, that is not warned of
OPT_ITERATIONS = 3000
Pairs = Mapping[tuple[int, int], ArrayLike]


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
    that no chain of pairs links. Warns (`DataWarning`) where tables imply different marginals of a variable.

    Cost and source: see `cnmf_opt` and `cnmf_spa`.

    >>> truth = LatentClassModel([0.6, 0.4], [[[0.8, 0.1], [0.2, 0.2], [0.0, 0.7]]] * 4)
    >>> tables = {(i, j): truth.pairwise(i, j) for i in range(4) for j in range(i)}
    >>> from_marginals(tables, rank=2).align_to(truth).prior.round(2)
    array([0.6, 0.4])
    """
    check_whole(1, rank=rank)
    if method not in METHODS:
        raise CofactorError(f"method={method!r}: choose {' or '.join(METHODS)}")
    moments = moments_of(pairs)
    require_connected(moments)
    if method == "CNMF-SPA":
        return cnmf_spa(moments, rank, random_state=random_state)
    start = cnmf_spa(moments, rank, pad=True, random_state=random_state)
    model, result = cnmf_opt(moments, start, max_iter=OPT_ITERATIONS, thorough=True)
    if not result.converged:
        warnings.warn(f"CNMF-OPT has not converged: {result.reason}", ConvergenceWarning, stacklevel=2)
    return model


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
            raise CofactorError(f"pair {pair}: give one table of each two different variables")
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
