"""Camps and dissenters: workers who may share a source, of whom the labels cannot tell whether they are right.

A **camp** is a group whose labels gain log 1000 nats or more as one voice (`cofactor.crowd.voices`). Of crowds of at
most 200 voices, these groups are looked at: three of pairs whose labels agree in three quarters beyond chance; three
nodes of average linkage of R_uv = (sum_i y_ui.y_vi / sqrt(v_u v_v) + 5 mean) / (n_uv + 5), where y is what was said
less the worker's share of the label, v = 1 - sum_l share^2: those of highest z >= 2.5 with T / (a d) >= .2; and the
complement of the first of these. With a, b, d the mean of y_u.y_v over pairs inside, across and outside a node,

    T = a d - b |b|,   z = T / sqrt(sum_i psi_i^2)
    psi_i = d (A_i - a n_i^A) / n^A + a (D_i - d n_i^D) / n^D - 2 |b| (B_i - b n_i^B) / n^B

Given the class, any matrices of two classes and any difficulty common to all, a d = b^2 at most.

**Dissenters** agree where the others say they are wrong. With both u and v, who said l and m, left out of the flattened
posterior r of a task,

    p_u(l) = sum_k r_k A_u,lk,   p_uv(l) = sum_k r_k A_u,lk A_v,lk,   mu = sum_l sqrt(p_u(l) p_v(l))
    s      = [l = m] sqrt(p_u(l) p_v(l)) / p_uv(l) - mu,   var = sum_l p_u(l) p_v(l) / p_uv(l) - mu^2
    c_uv   = sum s / sum var - max(median over pairs, 0),   z_uv = c_uv sqrt(sum var)

Pairs with c >= .2 are linked where Benjamini and Hochberg (JRSS B 1995) find them at .001; groups are components.

Source: this library's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import csgraph, special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.voices import ENOUGH, HOPELESS, Gains, voiced

FEWEST_VOICES, MOST_VOICES, MIN_COMMON, USUAL_TASKS = 4, 200, 5, 5.0
ALIKE, SUSPECTS = 0.75, 0.1  # agreement beyond chance (kappa); pairs of an honest crowd looked at by chance
SCREEN_Z, SCREEN_SHARE, LOOKS, MOST_TASKS = 2.5, 0.2, 3, 20_000  # of nodes; groups looked at; tasks of the screen
FALSE_DISCOVERIES, LEAST_EXCESS = 1e-3, 0.2  # of pairs; share of labels in common beyond skill
MOST_PAIRS, PAIRS_AT_ONCE = 1_000_000, 50_000  # pairs of labels, times a quarter of the classes' square


def camps(labels: CrowdLabels, owner: Ints) -> list[Ints]:
    """Return the camp of most gain (its voices), and the best other group without its workers, of a gain above -10.

    `owner`: who speaks for each worker. Empty where no group gains enough.

    Cost: the screen O(labels voices); a look at each of seven groups at most: a fit of 30 rounds, seldom more.
    """
    voices = voiced(labels, owner)
    here = np.flatnonzero(voices.table.entries_per_variable)
    if not FEWEST_VOICES <= len(here) <= MOST_VOICES:
        return []
    every = -(-voices.n_tasks // MOST_TASKS)
    Y, gave, v = centred(voices.take_tasks(np.arange(0, voices.n_tasks, every)), here)
    nodes = [node for node in linked(Y, gave, v) if 2 <= len(node) <= len(here) - 2]
    z, share = unexplained(Y, gave, nodes)
    best = [j for j in np.argsort(-z) if z[j] >= SCREEN_Z and share[j] >= SCREEN_SHARE][:LOOKS]
    groups = [np.unique(owner[group]) for group in alike_beyond_chance(labels)[:LOOKS]]
    groups += [here[nodes[j]] for j in best] + [np.delete(here, nodes[j]) for j in best[:1]]
    looked_at = {tuple(group.tolist()) for group in groups if 1 < len(group) < len(here)}
    gains = Gains(labels, owner)
    found = sorted(((gains.of(group), group) for group in looked_at), reverse=True)
    if not found or found[0][0] < ENOUGH:
        return []
    apart = (group for gain, group in found[1:] if gain >= HOPELESS and not {*group} & {*found[0][1]})
    return [np.array(group) for group in (found[0][1], *apart)][:2]


def centred(labels: CrowdLabels, workers: Ints) -> tuple[list[sparse.csr_array], sparse.csr_array, Floats]:
    """Return y by label, sparse (N, V), of these workers; who answered (N, V); and v (V,)."""
    table = labels.table.take_variables(workers)
    i, w, l, shape = table.rows, table.variables, table.values, (table.n_rows, len(workers))
    p = np.bincount(w * labels.n_classes + l, minlength=len(workers) * labels.n_classes).reshape(len(workers), -1)
    p = p / np.maximum(p.sum(axis=1, keepdims=True), 1)
    Y = [sparse.csr_array(((l == k) - p[w, k], (i, w)), shape) for k in range(labels.n_classes)]
    return Y, sparse.csr_array((np.ones(len(i)), (i, w)), shape), np.maximum(1 - (p**2).sum(axis=1), 1e-9)


def linked(Y: list[sparse.csr_array], gave: sparse.csr_array, v: Floats) -> Iterator[Ints]:
    """Yield the groups that average linkage makes of R."""
    from scipy.cluster.hierarchy import linkage  # here: takes a tenth of a second
    from scipy.spatial.distance import squareform

    R, n, off = sum((y.T @ y).toarray() for y in Y), (gave.T @ gave).toarray(), ~np.eye(len(v), dtype=bool)
    R = R / np.sqrt(v[:, None] * v)
    R = (R + USUAL_TASKS * R[off].sum() / max(n[off].sum(), 1)) / (n + USUAL_TASKS)
    far = np.maximum(1 - (R + R.T) / 2, 0)
    np.fill_diagonal(far, 0)
    groups = [[m] for m in range(len(v))]
    for x, y, _, _ in linkage(squareform(far, checks=False), "average"):
        groups.append(groups[int(x)] + groups[int(y)])
        yield np.sort(groups[-1])


def unexplained(Y: list[sparse.csr_array], gave: sparse.csr_array, groups: Sequence[Ints]) -> tuple[Floats, Floats]:
    """Return z of each group, and T / (a d), the share that class and difficulty do not explain; 0 where a d <= 0."""
    G = np.zeros((gave.shape[1], len(groups)))
    for j, group in enumerate(groups):
        G[group, j] = 1
    square, n = sum(y.multiply(y) for y in Y), gave @ G
    rest = np.diff(gave.indptr)[:, None] - n
    own = square @ G
    A, B, D = -own / 2, np.zeros_like(n), -(square.sum(axis=1)[:, None] - own) / 2
    for y in Y:
        inside = y @ G
        outside = y.sum(axis=1)[:, None] - inside
        A, B, D = A + inside**2 / 2, B + inside * outside, D + outside**2 / 2
    pairs = n * (n - 1) / 2, n * rest, rest * (rest - 1) / 2
    total = [np.maximum(x.sum(axis=0), 1e-12) for x in pairs]
    a, b, d = (x.sum(axis=0) / t for x, t in zip((A, B, D), total, strict=True))
    psi = d * (A - a * pairs[0]) / total[0] + a * (D - d * pairs[2]) / total[2]
    psi -= 2 * abs(b) * (B - b * pairs[1]) / total[1]
    T = a * d - b * abs(b)
    share = np.where(a * d > 0, T / np.maximum(a * d, 1e-12), 0.0)
    return T / np.maximum(np.sqrt((psi**2).sum(axis=0)), 1e-12), share


def alike_beyond_chance(labels: CrowdLabels) -> list[Ints]:
    """Return groups of workers who agree more than others do with them, and by kappa; those of most labels first."""
    table, M, K = labels.table, labels.n_workers, labels.n_classes
    F = table.indicator.astype(np.float64)
    said = [F[:, label::K] for label in range(K)]
    gave = sum(said)
    pairs, equal = sparse.triu(gave.T @ gave, 1).tocoo(), sparse.csr_array(sum(x.T @ x for x in said))
    u, v, n = pairs.row, pairs.col, pairs.data
    same, met = np.asarray(equal[u, v]).ravel(), np.r_[u, v]
    agree = (np.bincount(met, np.r_[same, same], M) + 1) / (np.bincount(met, np.r_[n, n], M) + 2)
    p = np.bincount(table.variables * K + table.values, minlength=M * K).reshape(M, K)
    chance = (p[u] * p[v]).sum(axis=1) / (p[u].sum(axis=1) * p[v].sum(axis=1))
    many, usual = n >= MIN_COMMON, np.minimum(np.maximum(agree[u], agree[v]), 1 - 1e-9)
    tail = special.bdtrc(same - 1, n.astype(np.int64), usual)
    chosen = many & (same / n - chance >= ALIKE * (1 - chance)) & (chance < 1) & (tail < SUSPECTS / max(many.sum(), 1))
    return sorted(_components(u[chosen], v[chosen], M), key=lambda group: -table.entries_per_variable[group].sum())


def dissenters(labels: CrowdLabels, model: LatentClassModel, design_effect: float) -> list[Ints]:
    """Return groups of workers who agree where the others say they are wrong, the clearest first; see `dissent`."""
    u, v, excess, z = dissent(labels, model, design_effect)
    p = special.ndtr(-z)
    below = np.flatnonzero(np.sort(p) <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / max(len(p), 1))
    hit = (p <= (np.sort(p)[below[-1]] if len(below) else -1)) & (excess >= LEAST_EXCESS)
    found = _components(u[hit], v[hit], labels.n_workers)
    return sorted(found, key=lambda group: -z[hit & np.isin(u, group)].sum())


def dissent(labels: CrowdLabels, model: LatentClassModel, design_effect: float) -> tuple[Ints, Ints, Floats, Floats]:
    """Return u, v, c and z of all pairs of workers with five common tasks or more.

    Parameters
    ----------
    labels : CrowdLabels
    model : LatentClassModel
        Expected matrices of all workers, none merged.
    design_effect : float

    Cost: O(pairs of labels of a task K^2). Of very many pairs, those of the workers with most labels are looked at.
    """
    table, M, K = labels.table, labels.n_workers, labels.n_classes
    A, log_prior, n = model.stacked.reshape(M, K, K), np.log(model.prior), table.entries_per_row
    log_A = np.log(model.stacked)
    S, cells = table.indicator @ log_A, table.indicator.indices
    e, g = _pairs_of_busy(table.indicator.indptr, table.variables, MOST_PAIRS * 4 // K**2)
    score, var = np.empty(len(e)), np.empty(len(e))
    for x in (slice(first, first + PAIRS_AT_ONCE) for first in range(0, len(e), PAIRS_AT_ONCE)):
        i, (u, l), (v, m) = table.rows[e[x]], np.divmod(cells[e[x]], K), np.divmod(cells[g[x]], K)
        flat = np.sqrt(1 + design_effect * np.maximum(n[i] - 3, 0))[:, None]
        r = special.softmax((S[i] - log_A[cells[e[x]]] - log_A[cells[g[x]]]) / flat + log_prior, axis=1)
        p_u, p_v, p_uv = ((y @ r[:, :, None])[:, :, 0] for y in (A[u], A[v], A[u] * A[v]))
        each = p_u * p_v / p_uv
        mu = np.sqrt(p_u * p_v).sum(axis=1)
        score[x] = np.where(l == m, np.sqrt(each / p_uv)[np.arange(len(l)), l], 0.0) - mu
        var[x] = np.maximum(each.sum(axis=1) - mu**2, 1e-9)
    pair = table.variables[e] * np.int64(M) + table.variables[g]
    pairs, place, common = np.unique(pair, return_inverse=True, return_counts=True)
    kept = common >= MIN_COMMON
    score, var = (np.bincount(place, each, len(pairs))[kept] for each in (score, var))
    excess = score / var
    excess -= max(np.median(excess), 0) if len(excess) else 0
    return *np.divmod(pairs[kept], M), excess, excess * np.sqrt(var)


def _pairs_of_busy(start: Ints, worker: Ints, most: int) -> tuple[Ints, Ints]:
    """Return the places of two labels of a task, for all pairs; of too many, for those of the busiest workers only."""
    n, place, taken = np.diff(start).astype(np.int64), np.arange(len(worker)), int(worker.max(initial=-1)) + 1
    busy = np.argsort(np.argsort(-np.bincount(worker), kind="stable"))[worker]  # 0: of the busiest worker
    while n @ (n - 1) // 2 > most and taken > 2:
        taken = taken * 3 // 4
        kept = busy < taken
        busy, place, start = busy[kept], place[kept], np.append(0, np.cumsum(kept))[start]
        n = np.diff(start)
    first, many = np.repeat(np.cumsum(n) - n, n), np.repeat(n, n)
    e = np.repeat(np.arange(len(place)), many)
    g = np.repeat(first, many) + np.arange(len(e)) - np.repeat(np.cumsum(many) - many, many)
    later = g > e
    return place[e[later]], place[g[later]]


def _components(u: Ints, v: Ints, n_workers: int) -> list[Ints]:
    """Return the groups of two or more workers that these pairs link."""
    links = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n_workers, n_workers))
    group = csgraph.connected_components(links, directed=False)[1]
    return [np.flatnonzero(group == x) for x in np.flatnonzero(np.bincount(group) > 1)]
