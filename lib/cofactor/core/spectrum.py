"""How many hidden classes pairs of variables tell apart: eigenvalues of their dependence against those of chance.

Two variables with joint PMF A_m diag(lambda) A_j' depend on one another through

    A_m (diag(lambda) - lambda lambda') A_j',    of rank at most F - 1

The counts of all pairs, each less what independence expects and divided by the square root of that, make one symmetric
matrix: F - 1 of its eigenvalues stand out of the noise. How large noise gets is read off tables in which every
variable's values are shuffled over the rows where it was observed.

    symbol   meaning                                                              shape
    C        counts of pairs of values                                            (sum I_n, sum I_n)
    E        what independence expects, given each pair's own margins             (sum I_n, sum I_n)
    Z        (C - E) / sqrt(E), zero where E is                                   (sum I_n, sum I_n)

Source: Horn, "A rationale and test for the number of factors in factor analysis", Psychometrika 1965 (parallel
analysis); that it is applied to counts of pairs is this kit's choice.
"""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import rng_of
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

SHUFFLES = 10
DEVIATIONS = 3.0  # of the shuffled tables' largest eigenvalue, from which on one stands out
MOST_VALUES = 300  # sum of alphabets that are looked at: the variables observed most
MOST_ROWS = 20_000  # evenly spaced


def classes_told_apart(table: CategoricalTable, random_state: int = 0) -> tuple[int, Floats]:
    """Count the hidden classes that pairwise counts tell apart: one, and one for each eigenvalue above chance.

    Returns
    -------
    n_classes : int
        A lower bound of F as soon as the table is large: directions weaker than the noise are missed. Rows that are
        alike in other ways than the hidden class, such as their difficulty, add to it.
    strength : array
        Eigenvalues of Z, falling, in units of what chance reaches; those above one are counted. Empty where no two
        variables of up to 150 values can be looked at.

    Cost: eleven times the pairwise moments of at most 20,000 rows, and eigenvalues of at most 300 values.

    >>> from cofactor import simulate
    >>> table = simulate.joint_table(simulate.joint_model(6, 4, 3, random_state=0), 2000, random_state=0)
    >>> classes_told_apart(table)[0]
    3
    """
    chosen = _most_observed(table)
    if chosen.n_variables < 2:
        return 1, np.zeros(0)
    found = eigenvalues(pairwise_moments(chosen))
    rng = rng_of(random_state)
    chance = [eigenvalues(pairwise_moments(_shuffled(chosen, rng)))[0] for _ in range(SHUFFLES)]
    strength = found / max(np.mean(chance) + DEVIATIONS * np.std(chance), np.finfo(float).tiny)
    return 1 + int((strength > 1).sum()), strength


def eigenvalues(moments: PairwiseMoments) -> Floats:
    """Return the eigenvalues of Z, largest first."""
    C = moments.counts.toarray().astype(np.float64)
    owner = np.repeat(np.arange(len(moments.sizes)), moments.sizes)
    starts = np.cumsum(moments.sizes) - moments.sizes
    margins = np.add.reduceat(C, starts, axis=1)[:, owner]  # of value v, over the rows it shares with w's variable
    n = np.add.reduceat(margins, starts, axis=0)[owner]
    E = margins * margins.T / np.maximum(n, 1)
    Z = np.where(E > 0, (C - E) / np.sqrt(np.where(E > 0, E, 1.0)), 0.0)
    return np.linalg.eigvalsh(Z)[::-1]


def _most_observed(table: CategoricalTable) -> CategoricalTable:
    """Keep the variables observed most, up to MOST_VALUES values, and MOST_ROWS rows."""
    small = np.flatnonzero(table.sizes <= MOST_VALUES // 2)
    order = small[np.argsort(-table.entries_per_variable[small], kind="stable")]
    within = np.cumsum(table.sizes[order]) <= MOST_VALUES
    in_order = table.take_variables(np.sort(order[within]))
    if in_order.n_rows <= MOST_ROWS:
        return in_order
    return in_order.take_rows(np.linspace(0, in_order.n_rows - 1, MOST_ROWS).astype(np.int64))


def _shuffled(table: CategoricalTable, rng: np.random.Generator) -> CategoricalTable:
    variables, values = table.variables, table.values
    shuffled: Ints = np.empty_like(values)
    shuffled[np.argsort(variables, kind="stable")] = values[np.lexsort((rng.random(len(values)), variables))]
    return CategoricalTable.from_entries(table.rows, variables, shuffled, table.sizes, table.n_rows)
