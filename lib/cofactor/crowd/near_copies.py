"""Workers who answer nearly alike: copies with slips, who are named and not merged.

Two good workers agree, too, and so do two of one opinion. What tells copies is that they agree where they err. So a
pair is held against what two workers of their skills would do on the same tasks:

    symbol  meaning                                                                       shape
    n, s    common tasks of a pair, and equal labels among them
    r_ik    posterior of class k for task i, all pairs that may be copies as one voice    (N, K)
    A_u     confusion matrix of worker u on these classes, a column a class               (K, K)
    p       sum over common tasks and classes of r_ik (A_u' A_v)_kk / n: chance of equal labels, were they independent
    m       median over all pairs of s / n - p, if positive: tasks that mislead several at once

A pair is named where s of n is beyond chance p + m (`FALSE_ALARMS` in a crowd), and at most a third of the
different labels that two such workers would have is left.

Few common tasks hide copies. On simulated crowds of 30 workers of skill .55 to .9 and 1,000 tasks, where a copy labels
the tasks of the other, of 100 pairs with 5 % (10 %) of own answers were named or counted as one:

    labels each    2 classes    5 or 20 classes, at least
    50             86 (73)      78 (66)
    100            95 (89)      96 (89)
    200            100 (100)    100 (93)

Copies who choose tasks of their own share few: of 600 pairs with 50 or 100 labels each, none was named.

Source: this kit's; "Errors in common" is the oldest sign of copied answers (Angoff, JASA 1974).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cofactor.core.errors import listing
from cofactor.core.lazy import csgraph, special
from cofactor.core.types import Floats
from cofactor.crowd.copies import FALSE_ALARMS, MIN_COMMON
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.worker_types import WorkerTypes

Pair = tuple[Any, Any, int, int]
MOST_WORKERS = 500
LEAST_WORKERS = 4
LEAST_AGREEMENT = 0.75
SUSPECTS = 0.1  # pairs of an honest crowd that are looked at for no reason but chance
LEFT = 1 / 3  # of the labels that two independent workers of such skills would have different


def near_copies(method: WorkerTypes, labels: CrowdLabels) -> list[Pair]:
    """Return pairs of workers who answer nearly alike, and are not counted as one: u, v, equal labels, common tasks.

    Parameters
    ----------
    method : WorkerTypes, fitted on the labels
    labels : CrowdLabels

    Empty for crowds of fewer than 4 or more than 500 workers, where nothing was fitted, and for labels read as grades.
    Cost: O(K M^2) memory; one fit where a pair may be copies.
    """
    known = getattr(method, "_near_copies", None)
    if known is None or known[0] is not labels:
        known = method._near_copies = labels, _found(method, labels)
    return list(known[1])


def _found(method: WorkerTypes, labels: CrowdLabels) -> list[Pair]:
    labels = labels.whole
    active = np.flatnonzero(labels.table.entries_per_variable)
    if not LEAST_WORKERS <= len(active) <= MOST_WORKERS or not method.types_ or method.grading_:
        return []
    said = _by_label(labels)
    n, s = _pairs(said)
    may_be = _may_be(n, s)
    may_be[_owned_by_one(method, labels)] = False
    if not may_be.any():
        return []
    r = _posterior_of_voices(labels, may_be)
    p = _chance_of_equal(said, r, n)
    several = np.triu(n >= MIN_COMMON, 1)
    m = max(float(np.median((s / np.maximum(n, 1) - p)[several])), 0.0)
    chance = np.clip(p + m, 0.0, 1 - 1e-9)
    least = LEFT * (1 - chance) >= 1 - s / np.maximum(n, 1)
    tail = special.bdtrc(s - 1, n.astype(np.int64), chance)  # chance of s equal labels or more
    found = np.argwhere(np.triu(may_be & least & (tail < FALSE_ALARMS / max(several.sum(), 1)), 1))
    return [(labels.workers[u], labels.workers[v], int(s[u, v]), int(n[u, v])) for u, v in found]


def _by_label(labels: CrowdLabels) -> list[Any]:
    """Return, for every label, the (N, M) sparse matrix of who said it of which task."""
    return [labels.table.indicator[:, k :: labels.n_classes].astype(np.float64) for k in range(labels.n_classes)]


def _pairs(said: list[Any]) -> tuple[Floats, Floats]:
    """Return common tasks and equal labels of all pairs, both (M, M)."""
    gave = sum(said)
    return (gave.T @ gave).toarray(), sum((part.T @ part).toarray() for part in said)


def _may_be(n: Floats, s: Floats) -> Any:
    """Tell which pairs agree more often than others agree with them: few by chance, for the test of skills decides."""
    rate = s.sum(axis=1) - np.diag(s), n.sum(axis=1) - np.diag(n)
    agree = (rate[0] + 1) / (rate[1] + 2)
    usual = np.maximum(agree[:, None], agree[None, :])
    tail = special.bdtrc(s - 1, n.astype(np.int64), np.clip(usual, 0.0, 1 - 1e-9))
    several = n >= MIN_COMMON
    np.fill_diagonal(several, False)
    return several & (s >= LEAST_AGREEMENT * n) & (tail < SUSPECTS / max(several.sum() / 2, 1))


def _owned_by_one(method: WorkerTypes, labels: CrowdLabels) -> Any:
    """Tell which pairs count as one worker already."""
    group = np.arange(labels.n_workers)
    place = {worker: m for m, worker in enumerate(labels.workers)}
    for workers in method.copies_:
        here = [place[worker] for worker in workers if worker in place]
        group[here] = here[0]
    return group[:, None] == group[None, :]


def _posterior_of_voices(labels: CrowdLabels, may_be: Any) -> Floats:
    """Return the (N, K) posterior of a fit in which workers who may be copies of one another are one voice."""
    group = csgraph.connected_components(may_be, directed=False)[1]
    several = np.flatnonzero(np.bincount(group) > 1)
    groups = [[labels.workers[int(w)] for w in np.flatnonzero(group == g)] for g in several]
    fit = WorkerTypes(one_voice=groups, design_effect=0.0).fit(labels)
    return np.asarray(fit.predict_proba(labels))


def _chance_of_equal(said: list[Any], r: Floats, n: Floats) -> Floats:
    """Return the chance p that two workers give the same label if they err independently: (M, M)."""
    K = len(said)
    counts = np.stack([part.T @ r for part in said], axis=1) + np.eye(K) + 0.5 / K  # (M, K labels, K classes)
    A = counts / counts.sum(axis=1, keepdims=True)
    gave = sum(said)
    expected = np.zeros_like(n)
    for k in range(K):
        common = (gave.T @ gave.multiply(r[:, [k]]).tocsr()).toarray()
        expected += common * (A[:, :, k] @ A[:, :, k].T)
    return expected / np.maximum(n, 1)


def in_words(pairs: list[Pair]) -> str:
    """Return the pairs as a sentence tells them."""
    return listing(f"{u} and {v} ({s} of {n} labels)" for u, v, s, n in pairs)
