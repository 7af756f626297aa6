"""Copies: workers with equal labels on all common tasks and the same errors; and the gain from merging workers.

A group of workers is merged into one worker, whose label of a task is that of most members (ties: the first in the
file). Its labels are explained in two steps: the merged labels by the classes, the members' by the merged labels:

    F(labels)  = bound of the log-probability of the labels: types coin, class, none                     nats
    members(G) = sum_(w in G) sum_v [log B(N_w.v + prior_.v) - log B(prior_.v)],   N_wlv: w gave l, the group v
    gain(G)    = F(labels with G merged) + members(G) - F(labels) - log(M binomial(M, n))

with M workers, n of them in the group. Merging workers who err independently given the class gains nothing, however
often both are right: the class explains what they have in common. Tasks that are hard for all workers also correlate
their errors; the gain from difficulty, h, is therefore subtracted: + h(G merged) - h(all apart).

**Copies.** Two workers with the same label on all of their n common tasks may be one person, or one model asked
twice. They are candidates if this is unlikely to be chance, judging by the labels of others on the same tasks:

    d = (labels of others that are different + 1/2) / (labels of others + 1)       on those n tasks
    (1 - d)^n < `FALSE_ALARMS` / pairs of workers

But experts also agree where most workers do not. Copies are recognised by equal errors. With the candidates as one
worker g, whose matrix is A, and the class of task i known from the labels of all others, rho_i,

    rho_ik proportional to exp(log pi_k + [sum over (w, l) of i, w != g: log A_w,lk] / sqrt(1 + effect (n_i - 2)))
    D_uv   = - sum over common tasks of log [ sum_k rho_ik A_lk^2 / sum_k rho_ik A_lk ]

is minus the log probability that v gives the labels of u: where both are right, A^2 / A is near 1 and adds nothing.
Candidates are copies of the first of their group if -D_uv is below the log of the probability above, and if merging the
group gains, by gain(G) without subtracting difficulty.

Source: this library's own; errors in common are the oldest sign of copied answers (Angoff, JASA 1974).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.em import SoftCounts
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.lazy import WORTH_COMPILING, csgraph, njit, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.confidence import gain_of_difficulty, learned_effect, offered_types
from cofactor.crowd.fit import WITHOUT_OWN, Evidence, Fit
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, prior_cells

# ---- workers merged into one ----


ENOUGH = float(np.log(1000))  # nats: from here on, a group has a source in common
FEW_ROUNDS, MOST_ROUNDS = 30, 500  # of a first look at a gain, and of the fit
HOPELESS = -10.0  # nats after a few rounds: a gain that is not looked at for longer


def joined(owner: Ints, group: Sequence[int] | Ints) -> Ints:
    """Return the owners (M,) after merging the workers of a group and all who already belong to them."""
    inside = np.isin(owner, owner[np.asarray(group, dtype=np.int64)])
    return np.where(inside, np.flatnonzero(inside)[:1], owner)


def merged(labels: CrowdLabels, owner: Ints) -> CrowdLabels:
    """Return labels in which each group has one worker, its owner, with the most frequent label (ties: the first).

    Cost: O(labels) time and memory.
    """
    merged = one_label_each(labels.table, owner)
    if merged is labels.table:
        return labels
    return CrowdLabels(merged, labels.tasks, labels.workers, labels.classes)


def one_label_each(table: CategoricalTable, owner: Ints) -> CategoricalTable:
    """Return the table of `merged` labels, with one label per group and task."""
    here = np.flatnonzero(table.entries_per_variable)
    if np.array_equal(owner[here], here):
        return table
    variable = owner[table.variables]
    pair, K = table.rows * np.int64(table.n_variables) + variable, int(table.sizes.max())
    place = np.unique(pair * K + table.values, return_inverse=True)[1]
    order = np.argsort(-np.bincount(place, table.indicator.data)[place], kind="stable")
    kept = np.sort(order[np.unique(pair[order], return_index=True)[1]])
    column = table.offsets[variable[kept]] + table.values[kept]
    return CategoricalTable.of_columns(table.rows[kept], column, table.sizes, table.n_rows)


def groups(owner: Ints, workers: Sequence[Any]) -> list[list[Any]]:
    """Return the groups of more than one worker."""
    repeated = np.flatnonzero(np.bincount(owner) > 1)
    return [[workers[int(w)] for w in np.flatnonzero(owner == u)] for u in repeated]


def members(labels: CrowdLabels, together: CrowdLabels, owner: Ints) -> float:
    """Return the log marginal likelihood (nats) of members' labels given their group's. O(labels + M K^2)."""
    M, K, table, of_group = labels.n_workers, labels.n_classes, labels.table, together.table
    grouped = np.bincount(owner, minlength=M)[owner] > 1
    inside = grouped[table.variables]
    if not inside.any():
        return 0.0
    worker = table.variables[inside]
    said = of_group.rows * np.int64(M) + of_group.variables  # in rising order
    heard = of_group.values[np.searchsorted(said, table.rows[inside] * np.int64(M) + owner[worker])]
    place = np.unique(worker, return_inverse=True)[1]
    cells = np.bincount((place * K + table.values[inside]) * K + heard, minlength=(place.max() + 1) * K * K)
    N, prior = cells.reshape(-1, K, K), prior_cells(PRIOR, K)
    return float(_log_beta(N + prior).sum() - len(N) * _log_beta(prior).sum())


def _log_beta(x: Floats) -> Floats:
    """Return log B over the labels, the second axis from behind."""
    return np.asarray(special.gammaln(x).sum(axis=-2) - special.gammaln(x.sum(axis=-2)))


class Gains:
    """Gains from merging groups of workers, compared with the crowd unmerged; results are cached.

    Parameters
    ----------
    labels : CrowdLabels
        With at most one answer per worker and task.
    owner : (M,) ints, optional
        Workers who are merged on both sides of the comparison.

    Cost of a gain: at most two fits, of 30 rounds at first, and four more with the difficulty of tasks.
    """

    def __init__(self, labels: CrowdLabels, owner: Ints | None = None) -> None:
        self.labels, self.owner = labels, np.arange(labels.n_workers) if owner is None else owner
        self.n_workers = np.count_nonzero(labels.table.entries_per_variable)
        self._found: dict[tuple[bytes, int], float] = {}
        self._fits: dict[bytes, tuple[Fit, float]] = {}

    def of(self, group: Sequence[int] | Ints, difficulty: bool = True) -> float:
        """Return the gain of a group (nats), minus what difficulty explains if that matters; approximate below -10."""
        owner = joined(self.owner, group)
        n, M = int(np.count_nonzero(owner == owner[group[0]])), self.n_workers
        log_ = special.gammaln
        choices = float(np.log(M) + log_(M + 1) - log_(n + 1) - log_(M - n + 1))
        for n_rounds in (FEW_ROUNDS, MOST_ROUNDS):
            gain = self._log_probability(owner, n_rounds) - self._log_probability(self.owner, n_rounds) - choices
            if gain < HOPELESS:
                return gain
        if gain < ENOUGH or not difficulty:
            return gain
        return gain + self._of_difficulty(owner) - self._of_difficulty(self.owner)

    def _fit(self, owner: Ints) -> tuple[Fit, float]:
        key = owner.tobytes()
        if key not in self._fits:
            together = merged(self.labels, owner)
            self._fits[key] = Fit(Evidence.of(together)), members(self.labels, together, owner)
        return self._fits[key]

    def _log_probability(self, owner: Ints, n_rounds: int) -> float:
        key = owner.tobytes(), n_rounds
        if key not in self._found:
            fit, of_members = self._fit(owner)
            self._found[key] = fit.log_probability(n_rounds) + of_members
        return self._found[key]

    def _of_difficulty(self, owner: Ints) -> float:
        key = owner.tobytes(), 0
        if key not in self._found:
            self._found[key] = gain_of_difficulty(self._fit(owner)[0])
        return self._found[key]


# ---- copies ----


MIN_COMMON = 5  # tasks
FALSE_ALARMS = 1e-3  # crowds of independent workers in which copies are found, at most
FEWEST_WORKERS = 4
FIRST_ROUNDS = 10  # of a first look at who errs alike


def owners(labels: CrowdLabels) -> Ints:
    """Return for every worker the first worker of their group of copies; a worker without copies is their own owner.

    Parameters
    ----------
    labels : CrowdLabels

    With fewer than four workers, or if no task has two labels, there are no copies.

    Cost: that of `candidates`; if there are any, one fit, and two more for each group.

    >>> rng, task, worker = np.random.default_rng(0), *np.divmod(np.arange(1000), 5)
    >>> wrong = rng.random((200, 5)) < 0.2
    >>> wrong[:, 1] = wrong[:, 0]
    >>> owners(CrowdLabels.from_arrays(task, worker, (wrong[task, worker] + task) % 2)).tolist()
    [0, 0, 2, 3, 4]
    """
    labels = labels.whole
    table, owner = labels.table, np.arange(labels.n_workers)
    active = int(np.count_nonzero(table.entries_per_variable))
    if active < FEWEST_WORKERS or table.entries_per_row.max(initial=0) <= 1:
        return owner
    alike = candidates(table)
    if np.array_equal(alike, owner):
        return owner
    found, gains = wrong_together(labels, alike, _limit(active)), Gains(labels)
    for first in np.flatnonzero(np.bincount(found, minlength=len(found)) > 1):
        group = np.flatnonzero(found == first)
        if gains.of(group, difficulty=False) >= 0:
            owner = joined(owner, group)
    return owner


def _limit(n_workers: int) -> float:
    """Return -log of the chance that is left to each pair of workers (nats)."""
    return float(np.log(n_workers * (n_workers - 1) / 2 / FALSE_ALARMS))


def candidates(table: CategoricalTable) -> Ints:
    """Return for every worker the first worker of a group that gave equal labels on all common tasks.

    Parameters
    ----------
    table : CategoricalTable
        Tasks by workers.

    A pair whose common tasks no other worker labelled is not a candidate: it is unknown how easy these tasks are.

    Cost: O(sum over tasks of labels^2) time, O(labels) memory.

    >>> honest = np.arange(40) % 2
    >>> codes = np.stack([honest, honest, 1 - honest, honest[::-1]], axis=1)
    >>> candidates(CategoricalTable(codes)).tolist()
    [0, 0, 2, 2]
    """
    M = table.n_variables
    if np.count_nonzero(table.entries_per_variable >= MIN_COMMON) < 2:
        return np.arange(M)
    limit = _limit(max(int(np.count_nonzero(table.entries_per_variable)), 2))
    start, d = table.indicator.indptr, table.entries_per_row
    if int(d @ d) <= WORTH_COMPILING:
        pairs = _alike_of_few(table, limit)
    else:
        pairs = _alike(start, table.indicator.indices, table.sizes, table.entries_per_variable, limit)
    links = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(M, M))
    group = csgraph.connected_components(links, directed=False)[1]
    _, first_of_group = np.unique(group, return_index=True)
    return np.asarray(first_of_group[group], dtype=np.int64)


def wrong_together(labels: CrowdLabels, alike: Ints, limit: float) -> Ints:
    """Return the owners (M,) after keeping, in each group of candidates, only workers who err like its first worker.

    If no pair is near the limit after ten rounds, there are none; otherwise the fit runs to convergence, flattened.
    """
    together, owner = merged(labels, alike), np.arange(len(alike))
    fit = Fit(Evidence.of(together))
    if fit.n_labels <= fit.start.n_rows:
        return owner
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        counts = fit.run(WITHOUT_OWN, FIRST_ROUNDS).counts
        sharp, flat = (_surprise(labels, together, alike, fit, counts, effect) for effect in (0.0, np.inf))
        if all(np.maximum(one, other).sum() < limit / 2 for (*_, one), (*_, other) in zip(sharp, flat, strict=True)):
            return owner
        found = fit.run(offered_types(fit)[0])
    effect = 0.0 if fit.uninformed(found) else learned_effect(fit, found)[0]
    for first, v, D in _surprise(labels, together, alike, fit, found.counts, effect):
        if D.sum() > limit:
            owner[v] = first
    return owner


def _surprise(
    labels: CrowdLabels, together: CrowdLabels, alike: Ints, fit: Fit, counts: SoftCounts, effect: float
) -> list[tuple[int, int, Floats]]:
    """Return the first worker of a group, another, and D by common task, for all others of all groups."""
    nu, K, A = fit.alpha + counts.classes, labels.n_classes, fit.expected(counts).stacked
    log_A, table = np.log(A), labels.table
    order = np.argsort(table.variables, kind="stable")  # labels by worker
    start = np.append(0, np.cumsum(table.entries_per_variable))
    found = []
    for first in np.flatnonzero(np.bincount(alike, minlength=len(alike)) > 1):
        mine = order[start[first] : start[first + 1]]
        task, own = table.rows[mine], A[first * K + table.values[mine]]
        scores, n = together.table.indicator[task] @ log_A, together.table.entries_per_row[task]
        flat = np.sqrt(1 + effect * np.maximum(n - 2, 0)) if effect < np.inf else np.full(len(task), np.inf)
        rho = special.softmax((scores - np.log(own)) / flat[:, None] + np.log(nu / nu.sum()), axis=1)
        D = -np.log((rho * own**2).sum(axis=1) / (rho * own).sum(axis=1))
        for v in np.flatnonzero(alike == first)[1:]:
            common = np.isin(task, table.rows[order[start[v] : start[v + 1]]])
            found.append((int(first), int(v), D[common]))
    return found


def _alike_of_few(table: CategoricalTable, limit: float) -> NDArray[np.int64]:
    """As `_alike`, with all pairs of labels of a task side by side; O(sum over tasks of labels^2) memory."""
    start, worker, label = table.indicator.indptr, table.variables, table.values
    cell = table.rows * table.sizes.max(initial=1) + label
    _, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    same = count[place]  # labels of the task that are the same
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
def _alike(start: Ints, column: Ints, sizes: Ints, given: Ints, limit: float) -> NDArray[np.int64]:
    """Return the pairs of workers who are copies; one worker after the other is held against all later ones.

    `column` has the labels as columns of the indicator, by task, and `given` how many each worker gave.
    """
    M = len(sizes)
    owner, base = np.repeat(np.arange(M).astype(np.int32), sizes), np.cumsum(sizes) - sizes
    first = np.zeros(M + 1, dtype=np.int64)
    first[1:] = np.cumsum(given)
    free, tasks = first[:-1].copy(), np.empty(len(column), dtype=np.int32)
    for i in range(len(start) - 1):
        for x in range(start[i], start[i + 1]):
            u = owner[column[x]]
            tasks[free[u]] = i
            free[u] += 1
    common, unlike = np.zeros(M, dtype=np.int64), np.zeros(M, dtype=np.int64)
    others, differ = np.zeros(M), np.zeros(M)
    found = [(np.int64(0), np.int64(0))][:0]
    for u in range(M):
        if given[u] < MIN_COMMON:
            continue
        met = [np.int64(0)][:0]
        for z in range(first[u], first[u + 1]):
            a, b = start[tasks[z]], start[tasks[z] + 1]
            x = a
            while owner[column[x]] != u:
                x += 1
            own, same = column[x] - base[u], 0
            for y in range(a, b):
                same += column[y] - base[owner[column[y]]] == own
            for y in range(x + 1, b):
                v = owner[column[y]]
                if common[v] == 0:
                    met.append(np.int64(v))
                common[v] += 1
                unlike[v] += column[y] - base[v] != own
                others[v] += b - a - 2
                differ[v] += b - a - same
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
