"""Several answers of one worker to one task.

A worker who is asked m times, such as a language model, has one opinion with a spread: each answer counts 1/m. In the
vote these are parts of a vote. In Dawid-Skene and its relatives they are exponents,

    Pr(answers of w to task i | class c) = prod over answers l of A_w[l, c]^(1/m),

so that five equal answers count as one, and answers that differ speak for either class with less than one label.
"""

from __future__ import annotations

import numpy as np

from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints


def shares_of_answers(task: Ints, worker: Ints, label: Ints) -> tuple[tuple[Ints, Ints, Ints], Floats]:
    """Return task, worker and label of all different answers, and the share of each among those of its worker there."""
    different, times = np.unique(np.stack([task, worker, label]), axis=1, return_counts=True)
    _, opinion = np.unique(different[:2], axis=1, return_inverse=True)
    shares = times / np.bincount(opinion.ravel(), times)[opinion.ravel()]
    return (different[0], different[1], different[2]), shares


def most_frequent(table: CategoricalTable) -> tuple[Ints, Ints, Ints]:
    """Return row, variable and value of the answer of most share, one for each variable of a row."""
    order = np.lexsort((-table.indicator.data, table.variables, table.rows))
    rows, variables = table.rows[order], table.variables[order]
    first = np.append(True, (np.diff(rows) != 0) | (np.diff(variables) != 0)) if len(rows) else np.zeros(0, bool)
    return rows[first], variables[first], table.values[order][first]
