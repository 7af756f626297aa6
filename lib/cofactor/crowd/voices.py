"""Workers who count as one, and what the labels gain by it.

A group of workers as one has a voice, which says what most of its members say of a task (ties: the first in the file).
Its labels are explained in two steps, the voice by the classes, and the members by the voice:

    F(labels)  = bound of the log-probability of the labels: types coin, class, none                     nats
    members(G) = sum_(w in G) sum_v [log B(N_w.v + prior_.v) - log B(prior_.v)],   N_wlv: w said l, the voice v
    gain(G)    = F(labels with G one voice) + members(G) - F(labels) - log(M binomial(M, n))

with M workers, n of them in the group. Workers who err independently, given the class, gain nothing as one, however
often they are right alike: what they have in common is explained. Tasks that are hard for all bring errors together,
too; what the labels gain by difficulty, h, is therefore taken off: + h(G one voice) - h(all apart).

Source: this library's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cofactor.core.lazy import special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import PRIOR
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.fit import Fit
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.priors import prior_cells

ENOUGH = float(np.log(1000))  # nats: from here on, a group has a source in common
FEW_ROUNDS, MOST_ROUNDS = 30, 500  # of a first look at a gain, and of the fit
HOPELESS = -10.0  # nats after a few rounds: a gain that is not looked at for longer


def joined(owner: Ints, group: Sequence[int] | Ints) -> Ints:
    """Return the owners (M,) after the workers of a group, and all who belong to them, become one."""
    inside = np.isin(owner, owner[np.asarray(group, dtype=np.int64)])
    return np.where(inside, np.flatnonzero(inside)[:1], owner)


def voiced(labels: CrowdLabels, owner: Ints) -> CrowdLabels:
    """Return labels in which owners speak for their group: what most of it say of a task; ties: the first of the file.

    Cost: O(labels) time and memory.
    """
    merged = one_label_each(labels.table, owner)
    if merged is labels.table:
        return labels
    return CrowdLabels(merged, labels.tasks, labels.workers, labels.classes)


def one_label_each(table: CategoricalTable, owner: Ints) -> CategoricalTable:
    """Return the table of `voiced` labels."""
    variable = owner[table.variables]
    if np.array_equal(variable, table.variables):
        return table
    pair, K = table.rows * np.int64(table.n_variables) + variable, int(table.sizes.max())
    place = np.unique(pair * K + table.values, return_inverse=True)[1]
    order = np.argsort(-np.bincount(place, table.indicator.data)[place], kind="stable")
    kept = np.sort(order[np.unique(pair[order], return_index=True)[1]])
    entries = table.rows[kept], variable[kept], table.values[kept]
    return CategoricalTable.from_entries(*entries, table.sizes, table.n_rows)


def groups(owner: Ints, workers: Sequence[Any]) -> list[list[Any]]:
    """Return the groups of more than one worker."""
    repeated = np.flatnonzero(np.bincount(owner) > 1)
    return [[workers[int(w)] for w in np.flatnonzero(owner == u)] for u in repeated]


def members(labels: CrowdLabels, voices: CrowdLabels, owner: Ints) -> float:
    """Return the log marginal of what members of groups say, given what their voice says (nats). O(labels + M K^2)."""
    M, K, table, voice = labels.n_workers, labels.n_classes, labels.table, voices.table
    grouped = np.bincount(owner, minlength=M)[owner] > 1
    inside = grouped[table.variables]
    if not inside.any():
        return 0.0
    worker = table.variables[inside]
    said = voice.rows * np.int64(M) + voice.variables  # in rising order
    heard = voice.values[np.searchsorted(said, table.rows[inside] * np.int64(M) + owner[worker])]
    place = np.unique(worker, return_inverse=True)[1]
    cells = np.bincount((place * K + table.values[inside]) * K + heard, minlength=(place.max() + 1) * K * K)
    N, prior = cells.reshape(-1, K, K), prior_cells(PRIOR, K)
    return float(_log_beta(N + prior).sum() - len(N) * _log_beta(prior).sum())


def _log_beta(x: Floats) -> Floats:
    """Return log B over the labels, the second axis from behind."""
    return np.asarray(special.gammaln(x).sum(axis=-2) - special.gammaln(x.sum(axis=-2)))


class Gains:
    """Gains of groups of a crowd as one worker, over the crowd with all apart; what is asked twice is computed once.

    Parameters
    ----------
    labels : CrowdLabels
        Without several answers of one worker to a task.
    owner : (M,) ints, optional
        Workers who count as one on both sides.

    Cost of a gain: two fits at most, of 30 rounds at first, and with the difficulty of tasks four more.
    """

    def __init__(self, labels: CrowdLabels, owner: Ints | None = None) -> None:
        self.labels, self.owner = labels, np.arange(labels.n_workers) if owner is None else owner
        self.n_workers = np.count_nonzero(labels.table.entries_per_variable)
        self._found: dict[tuple[bytes, int], float] = {}
        self._fits: dict[bytes, tuple[Fit, float]] = {}

    def of(self, group: Sequence[int] | Ints, difficulty: bool = True) -> float:
        """Return the gain of a group (nats), less what difficulty explains if that decides; rough below -10."""
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
            voices = voiced(self.labels, owner)
            self._fits[key] = Fit(Evidence.of(voices)), members(self.labels, voices, owner)
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
            self._found[key] = self._fit(owner)[0].gain_of_difficulty()
        return self._found[key]
