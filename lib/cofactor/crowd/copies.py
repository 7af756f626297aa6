"""Workers who are one: copies are found before a fit, and count as one worker.

Two workers with the same label on all of their n common tasks may be one person, or one model asked twice. Whether that
can be chance is told by what the others say of the same tasks:

    d = (labels of others that are different + 1/2) / (labels of others + 1)       on those n tasks
    (1 - d)^n                                                                      chance that an honest pair is alike

The pair counts as copies if that chance is below `FALSE_ALARMS` divided by the number of pairs of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.lazy import WORTH_COMPILING, csgraph, njit
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels

MIN_COMMON = 5  # tasks
FALSE_ALARMS = 1e-3  # pairs called copies by chance in a whole crowd, at most


def owners(table: CategoricalTable) -> Ints:
    """Return, of every worker, the first worker of the group of copies; of most, the worker.

    Parameters
    ----------
    table : CategoricalTable
        Tasks by workers.

    A pair whose common tasks nobody else labelled is never called copies: nothing tells how easy these tasks are.

    Cost: O(sum over tasks of labels^2) time, O(labels) memory.

    >>> honest = np.arange(40) % 2
    >>> codes = np.stack([honest, honest, 1 - honest, honest[::-1]], axis=1)
    >>> owners(CategoricalTable(codes)).tolist()
    [0, 0, 2, 2]
    """
    M = table.n_variables
    if np.count_nonzero(table.entries_per_variable >= MIN_COMMON) < 2:
        return np.arange(M)
    active = max(int(np.count_nonzero(table.entries_per_variable)), 2)
    limit = float(np.log(active * (active - 1) / 2 / FALSE_ALARMS))
    start, d, same = table.indicator.indptr, table.entries_per_row, _same_label(table)
    if int(d @ d) <= WORTH_COMPILING:
        pairs = _alike_of_few(start, table.variables, table.values, same, limit)
    else:
        place, first = _by_worker(table)
        pairs = _alike(first, place, start, table.variables, table.values, same, limit)
    links = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(M, M))
    group = csgraph.connected_components(links, directed=False)[1]
    _, first_of_group = np.unique(group, return_index=True)
    return np.asarray(first_of_group[group], dtype=np.int64)


def joined(owner: Ints, groups: Sequence[Sequence[int]]) -> Ints:
    """Return the owners (M,) after the workers of each group, and all who belong to them, become one."""
    owner = owner.copy()
    for group in groups:
        together = np.unique(owner[list(group)])
        owner[np.isin(owner, together)] = together[0]
    return owner


def one_voice(table: CategoricalTable, groups: Sequence[Sequence[int]]) -> CategoricalTable:
    """Let the first worker of each group say what most of it say of a task, and the others nothing; ties: the first."""
    variable = joined(np.arange(table.n_variables), groups)[table.variables]
    pair = table.rows * np.int64(table.n_variables) + variable
    place = np.unique(np.stack([pair, table.values]), axis=1, return_inverse=True)[1].ravel()
    votes = np.bincount(place, table.indicator.data)[place].astype(np.float64)
    return _one_each(table, variable, -votes)


def without_copies(table: CategoricalTable, owner: Ints) -> CategoricalTable:
    """Give the labels of copies to the first of their group, who has one label a task: that of the first of them."""
    variable = owner[table.variables]
    if np.array_equal(variable, table.variables):
        return table
    return _one_each(table, variable, -table.indicator.data)  # of several answers of a worker, the most frequent


def without_copies_of(labels: CrowdLabels, owner: Ints) -> CrowdLabels:
    """Return labels in which copies have one label a task."""
    return CrowdLabels(without_copies(labels.table, owner), labels.tasks, labels.workers, labels.classes)


def groups(owner: Ints, workers: Sequence[Any]) -> list[list[Any]]:
    """Return the groups of more than one worker."""
    repeated = np.flatnonzero(np.bincount(owner) > 1)
    return [[workers[int(w)] for w in np.flatnonzero(owner == u)] for u in repeated]


def _one_each(table: CategoricalTable, variable: Ints, rank: Floats) -> CategoricalTable:
    """Return the table of these workers, with the label of least rank for every worker and task."""
    pair = table.rows * np.int64(table.n_variables) + variable
    order = np.argsort(rank, kind="stable")
    kept = np.sort(order[np.unique(pair[order], return_index=True)[1]])
    entries = table.rows[kept], variable[kept], table.values[kept]
    return CategoricalTable.from_entries(*entries, table.sizes, table.n_rows)


def _by_worker(table: CategoricalTable) -> tuple[Ints, Ints]:
    """Return the places of the labels (in the order of the table) by worker, and where each worker begins."""
    order = np.argsort(table.variables, kind="stable")
    return order, np.append(0, np.cumsum(table.entries_per_variable))


def _same_label(table: CategoricalTable) -> Ints:
    """Return, of every label, how many labels of its task are the same."""
    K = int(table.sizes.max(initial=1))
    cell = table.rows * np.int64(K) + table.values
    _, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    return np.asarray(count[place], dtype=np.int64)


def _alike_of_few(start: Ints, worker: Ints, label: Ints, same: Ints, limit: float) -> NDArray[np.int64]:
    """As `_alike`, with all pairs of labels of a task side by side; O(sum over tasks of labels^2) memory."""
    d = np.repeat(np.diff(start), np.diff(start))  # labels of the task, of every label
    e = np.repeat(np.arange(len(worker)), d)
    other = np.repeat(np.repeat(start[:-1], np.diff(start)) + d - np.cumsum(d), d) + np.arange(len(e))
    later = worker[other] > worker[e]
    e, other = e[later], other[later]
    M = np.int64(worker.max(initial=0) + 1)
    pairs, pair, common = np.unique(worker[e] * M + worker[other], return_inverse=True, return_counts=True)
    amounts = (label[e] != label[other], d[e] - 2, d[e] - same[e])
    unlike, others, differ = (np.bincount(pair, amount, len(pairs)) for amount in amounts)
    alike = np.flatnonzero((common >= MIN_COMMON) & (unlike == 0) & (others > 0))
    chance = common[alike] * np.log(1 - (differ[alike] + 0.5) / (others[alike] + 1.0))
    return np.stack(np.divmod(pairs[alike[-chance > limit]], M), axis=1)


@njit(cache=True, nogil=True)
def _alike(
    first: Ints, place: Ints, start: Ints, worker: Ints, label: Ints, same: Ints, limit: float
) -> NDArray[np.int64]:
    """Return the pairs of workers who are copies; one worker after the other is held against all later ones."""
    M = len(first) - 1
    task_of = np.empty(len(worker), dtype=np.int64)
    for i in range(len(start) - 1):
        task_of[start[i] : start[i + 1]] = i
    common, unlike = np.zeros(M, dtype=np.int64), np.zeros(M, dtype=np.int64)
    others, differ = np.zeros(M), np.zeros(M)
    found = [(np.int64(0), np.int64(0))][:0]
    for u in range(M):
        if first[u + 1] - first[u] < MIN_COMMON:
            continue
        met = [np.int64(0)][:0]
        for x in range(first[u], first[u + 1]):
            e = place[x]
            i = task_of[e]
            n = start[i + 1] - start[i]
            for y in range(start[i], start[i + 1]):
                v = worker[y]
                if v <= u:
                    continue
                if common[v] == 0:
                    met.append(np.int64(v))
                common[v] += 1
                unlike[v] += label[y] != label[e]
                others[v] += n - 2
                differ[v] += n - same[e]
        for v in met:
            if common[v] >= MIN_COMMON and unlike[v] == 0 and others[v] > 0:
                d = (differ[v] + 0.5) / (others[v] + 1.0)
                if -common[v] * np.log(1 - d) > limit:
                    found.append((np.int64(u), v))
            common[v], unlike[v], others[v], differ[v] = 0, 0, 0.0, 0.0
    pairs = np.empty((len(found), 2), dtype=np.int64)
    for p in range(len(found)):
        pairs[p] = found[p]
    return pairs
