"""Readings: different answers that are consistent with one set of labels, and the tasks on which they differ.

The vote trusts all workers equally. The model trusts those who agree best with each other; but workers who share a
source, such as language models of one family, also agree where all of them are wrong. The labels alone cannot
distinguish the two cases. So these readings are compared, although the answer is always that of the model:

    vote        the class that most workers chose
    model       `WorkerTypes`
    merged      `WorkerTypes` with a camp as one worker (`cofactor.crowd.readings`)
    believed    on tasks that dissenters labelled: `WorkerTypes` with all other workers as one worker
    groups      `WorkerTypes` with each group of workers named by the user as one worker

Source: this library's own. docs/default.md reports how often warnings are false.

A **camp** is a group whose labels gain log 1000 nats or more when merged into one worker (`cofactor.crowd.copies`). In
crowds of at most 200 workers, these groups are examined: three formed by pairs whose labels agree beyond chance with a
kappa of at least .75; three nodes of average linkage of R_uv = (sum_i y_ui.y_vi / sqrt(v_u v_v) + 5 mean) / (n_uv + 5),
where y is the indicator of the label minus the worker's share of it, and v = 1 - sum_l share^2: those with the highest
z >= 2.5 and T / (a d) >= .2; and the complement of the first of these. With a, b, d the mean of y_u.y_v over pairs
inside, across and outside a node,

    T = a d - b |b|,   z = T / sqrt(sum_i psi_i^2)
    psi_i = d (A_i - a n_i^A) / n^A + a (D_i - d n_i^D) / n^D - 2 |b| (B_i - b n_i^B) / n^B

If labels are independent given the class, a d is at most b^2 for any confusion matrices of two classes and any
difficulty common to all workers.

**Dissenters** agree where the others contradict them. With u and v, who gave labels l and m, both left out of the
flattened posterior r of a task,

    p_u(l) = sum_k r_k A_u,lk,   p_uv(l) = sum_k r_k A_u,lk A_v,lk,   mu = sum_l sqrt(p_u(l) p_v(l))
    s      = [l = m] sqrt(p_u(l) p_v(l)) / p_uv(l) - mu,   var = sum_l p_u(l) p_v(l) / p_uv(l) - mu^2
    c_uv   = sum s / sum var - max(median over pairs, 0),   z_uv = c_uv sqrt(sum var)

Pairs with c >= .2 are linked if they are significant at a false discovery rate of .001 (Benjamini and Hochberg, JRSS B
1995); groups are connected components.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.checks import check_kind, check_whole
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import csgraph, pd, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import MajorityVote
from cofactor.crowd.base import Aggregator, Gold, Labels, as_labels, fitted_on, gold_codes
from cofactor.crowd.copies import ENOUGH, HOPELESS, Gains, joined, merged
from cofactor.crowd.copies import groups as groups_of
from cofactor.crowd.labels import UNKNOWN, CrowdLabels, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.scores import right_shares

# ---- camps and dissenters ----


FEWEST_WORKERS, MOST_WORKERS, MIN_COMMON, USUAL_TASKS = 4, 200, 5, 5.0
ALIKE, SUSPECTS = 0.75, 0.1  # agreement beyond chance (kappa); pairs of an honest crowd looked at by chance
SCREEN_Z, SCREEN_SHARE, LOOKS, MOST_TASKS = 2.5, 0.2, 3, 20_000  # of nodes; groups looked at; tasks of the screen
FALSE_DISCOVERIES, LEAST_EXCESS = 1e-3, 0.2  # of pairs; share of labels in common beyond skill
MOST_PAIRS, PAIRS_AT_ONCE = 1_000_000, 50_000  # pairs of labels, times a quarter of the classes' square


def camps(labels: CrowdLabels, owner: Ints) -> list[Ints]:
    """Return the workers of the camp with the largest gain, and of the best disjoint group with a gain above -10.

    `owner` gives the owner of every worker. The list is empty if no group gains enough.

    Cost: O(labels workers) for the screen; a fit of 30 rounds, rarely more, for each of at most seven groups.
    """
    together = merged(labels, owner)
    here = np.flatnonzero(together.table.entries_per_variable)
    if not FEWEST_WORKERS <= len(here) <= MOST_WORKERS:
        return []
    every = -(-together.n_tasks // MOST_TASKS)
    Y, gave, v = centred(together.take_tasks(np.arange(0, together.n_tasks, every)), here)
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
    """Return for these workers y by label, sparse (N, V); the mask of given labels (N, V); and v (V,)."""
    table = labels.table.take_variables(workers)
    i, w, l, shape = table.rows, table.variables, table.values, (table.n_rows, len(workers))
    p = np.bincount(w * labels.n_classes + l, minlength=len(workers) * labels.n_classes).reshape(len(workers), -1)
    p = p / np.maximum(p.sum(axis=1, keepdims=True), 1)
    Y = [sparse.csr_array(((l == k) - p[w, k], (i, w)), shape) for k in range(labels.n_classes)]
    return Y, sparse.csr_array((np.ones(len(i)), (i, w)), shape), np.maximum(1 - (p**2).sum(axis=1), 1e-9)


def linked(Y: list[sparse.csr_array], gave: sparse.csr_array, v: Floats) -> Iterator[Ints]:
    """Yield the groups formed by average linkage on R."""
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
    """Return z of each group, and T / (a d), the share not explained by class and difficulty; 0 if a d <= 0."""
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
    """Return groups of workers who agree unusually often with each other, by kappa; those with most labels first."""
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
    """Return groups of workers who agree where the others contradict them, the clearest first; see `dissent`."""
    u, v, excess, z = dissent(labels, model, design_effect)
    p = special.ndtr(-z)
    below = np.flatnonzero(np.sort(p) <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / max(len(p), 1))
    hit = (p <= (np.sort(p)[below[-1]] if len(below) else -1)) & (excess >= LEAST_EXCESS)
    found = _components(u[hit], v[hit], labels.n_workers)
    return sorted(found, key=lambda group: -z[hit & np.isin(u, group)].sum())


def dissent(labels: CrowdLabels, model: LatentClassModel, design_effect: float) -> tuple[Ints, Ints, Floats, Floats]:
    """Return u, v, c and z of all pairs of workers with at least five common tasks.

    Parameters
    ----------
    labels : CrowdLabels
    model : LatentClassModel
        Expected confusion matrices of all workers, without merging.
    design_effect : float

    Cost: O(pairs of labels of a task K^2). If there are very many pairs, only the workers with most labels are used.
    """
    table, M, K = labels.table, labels.n_workers, labels.n_classes
    A, log_A, log_prior = model.stacked.reshape(M, K, K), np.log(model.stacked), np.log(model.prior)
    cells, (e, g) = table.indicator.indices, _pairs_of_busy(table, MOST_PAIRS * 4 // K**2)
    task, at = np.unique(np.searchsorted(table.indicator.indptr, e, side="right") - 1, return_inverse=True)
    S, n = table.take_rows(task).indicator @ log_A, table.entries_per_row[task]
    score, var = np.empty(len(e)), np.empty(len(e))
    for x in (slice(first, first + PAIRS_AT_ONCE) for first in range(0, len(e), PAIRS_AT_ONCE)):
        i, (u, l), (v, m) = at[x], np.divmod(cells[e[x]], K), np.divmod(cells[g[x]], K)
        flat = np.sqrt(1 + design_effect * np.maximum(n[i] - 3, 0))[:, None]
        r = special.softmax((S[i] - log_A[cells[e[x]]] - log_A[cells[g[x]]]) / flat + log_prior, axis=1)
        p_u, p_v, p_uv = ((y @ r[:, :, None])[:, :, 0] for y in (A[u], A[v], A[u] * A[v]))
        each = p_u * p_v / p_uv
        mu = np.sqrt(p_u * p_v).sum(axis=1)
        score[x] = np.where(l == m, np.sqrt(each / p_uv)[np.arange(len(l)), l], 0.0) - mu
        var[x] = np.maximum(each.sum(axis=1) - mu**2, 1e-9)
    pair = cells[e] // K * np.int64(M) + cells[g] // K
    pairs, place, common = np.unique(pair, return_inverse=True, return_counts=True)
    kept = common >= MIN_COMMON
    total, spread = (np.bincount(place, each, len(pairs))[kept] for each in (score, var))
    excess = total / spread
    excess -= max(np.median(excess), 0) if len(excess) else 0
    return *np.divmod(pairs[kept], M), excess, excess * np.sqrt(spread)


def _of_columns(table: CategoricalTable, columns: Ints) -> Ints:
    return np.asarray(table.indicator @ columns, dtype=np.int64)


def _pairs_of_busy(table: CategoricalTable, most: int) -> tuple[Ints, Ints]:
    """Return the places of two labels of a task, for all pairs; of too many, for those of the busiest workers only."""
    given = table.entries_per_variable
    busy = np.repeat(np.argsort(np.argsort(-given, kind="stable")), table.sizes)  # of columns; 0: of the busiest worker
    n, kept, taken = table.entries_per_row, busy >= 0, len(np.trim_zeros(given, "b"))
    while n @ (n - 1) // 2 > most and taken > 2:
        taken = taken * 3 // 4
        kept = busy < taken
        n = table.by_rows(partial(_of_columns, columns=kept.astype(np.int64)))
    place = np.flatnonzero(kept[table.indicator.indices])
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


# ---- readings ----


MANY_DEPEND = 0.05  # of all tasks: from here on, a warning
LEAST_SHARE = 0.1  # of the labels: dissenters with fewer are no reading
SAME_SHARE = 1e-9  # of votes: closer ones are tied
LEAST_GOLD = 5  # tasks of known class that choose a reading
CLEARLY_MORE = 2  # of them right, beyond those of the model: then another reading is taken


@dataclass(frozen=True)
class Readings:
    """The answers that one set of labels allows, with the tasks on which they differ.

    Attributes
    ----------
    tasks, classes : lists
        Ids, in the order of the labels.
    names : tuple of str
        "vote", "model", and readings of camps: "merged", "believed" or "groups", a second one of a kind with a number.
    posteriors : (R, N, K) array
        Class probabilities of every task under every reading; vote shares for the vote.
    groups : dict
        For readings of camps, the ids of the workers who count as one, or who are believed.
    differ : (N,) bools
        Tasks whose label depends on the reading. A label among tied classes of the vote is not a difference.
    """

    tasks: list[Any]
    classes: list[Any]
    names: tuple[str, ...]
    posteriors: Floats
    groups: dict[str, list[Any]]
    differ: NDArray[np.bool_]

    def posterior(self, name: str) -> Floats:
        """Return the (N, K) probabilities under a reading."""
        return np.asarray(self.posteriors[self.names.index(name)])

    def depending(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the tasks on which this reading and the model give different labels."""
        return np.asarray(self.posterior(name).argmax(axis=1) != self.posterior("model").argmax(axis=1))

    @property
    def decisive(self) -> str:
        """The name of the camp reading that changes most labels; empty if no camp was found."""
        return max(self.groups, key=lambda name: self.depending(name).sum(), default="")

    @property
    def share_depending(self) -> float:
        """The largest fraction of tasks whose label depends on a camp."""
        return float(self.depending(self.decisive).mean()) if self.decisive else 0.0

    @property
    def ambiguous(self) -> bool:
        """Whether so many labels depend on a camp that a person should check."""
        return self.share_depending >= MANY_DEPEND

    def __str__(self) -> str:
        told = ", ".join(
            f"{name} ({listing(map(str, self.groups[name]))}) changes {self.depending(name).sum()} labels"
            if name in self.groups
            else name
            for name in self.names
        )
        return (
            f"{self.differ.sum()} of {len(self.tasks)} tasks ({self.differ.mean():.1%}) get different labels under "
            f"these readings: {told}"
        )

    def warning(self, file: str = "FILE") -> str:
        """Return a warning to read before using the labels; empty unless many of them depend on a camp.

        It names the workers and the consequences, and ends with the command that resolves it.
        """
        if not self.ambiguous:
            return ""
        name, who = self.decisive, listing(map(str, self.groups[self.decisive]))
        changed = self.depending(name)
        model, other = (self.posterior(x).argmax(axis=1) for x in ("model", name))
        count = np.stack([np.bincount(x, minlength=len(self.classes)) for x in (model, other)])
        k = int(np.abs(count[1] - count[0]).argmax())
        sharing = "the workers of each group share" if name == "groups" else f"workers {who} share"
        either = "" if name == "groups" else ", or the others do"
        believed = "if they are believed" if name.startswith("believed") else "counted as one worker"
        would = f"{count[1, k]} tasks in place of {count[0, k]} would be {self.classes[k]!r}"
        return (
            f"{changed.sum()} of {len(changed)} labels ({changed.mean():.0%}) depend on whether {sharing} their "
            f"mistakes{either}: {believed}, {would}. Check about 10 tasks: cofactor next {file} --checks 10, then pass "
            "them with --gold"
        )

    def checks(self, n_tasks: int) -> pd.DataFrame:
        """Choose tasks to check by hand, whose truth shows which reading is right.

        They are drawn uniformly (seed 0) from the tasks on which the readings differ, since choosing the most
        informative ones would favour one reading; if there are too few, the tasks of which the model is least certain
        follow.

        Returns
        -------
        DataFrame with columns task, the label under each reading, and differ, in the order in which to check them.
        """
        check_whole(1, n_tasks=n_tasks)
        order = np.random.default_rng(0).permutation(len(self.tasks))
        sure = self.posterior("model").max(axis=1)
        chosen = order[np.lexsort((np.where(self.differ, 0.0, sure)[order], ~self.differ[order]))][:n_tasks]
        said = {name: [self.classes[k] for k in self.posterior(name)[chosen].argmax(axis=1)] for name in self.names}
        columns = {"task": [self.tasks[n] for n in chosen]} | said
        return pd.DataFrame(columns | {"differ": self.differ[chosen]})


def readings(
    labels: Labels,
    method: WorkerTypes | None = None,
    group: Mapping[Any, Any] | None = None,
    posterior: Floats | None = None,
) -> Readings:
    """Compare the vote, the model, and the model with camps of the crowd counted as one worker.

    Parameters
    ----------
    labels : CrowdLabels, DataFrame with columns task, worker, label, or path of a file with these
    method : WorkerTypes, optional
        Fitted on these labels without gold, or not fitted yet. Default: `WorkerTypes()`.
    group : dict, optional
        The family or model that each worker belongs to, by worker; the reading "groups" merges each of them.
    posterior : (N, K) array, optional
        `predict_proba` of the fitted method on these labels, if it is known already.

    Raises a CofactorError for labels that cannot be read, a method of other labels, or unknown workers in `group`.

    Cost
    ----
    A fit of `WorkerTypes` for each reading, except the model if `method` is fitted, and the cost of `camps` and
    `dissenters`: three fits in the median.

    Examples
    --------
    >>> from cofactor import simulate
    >>> found = readings(simulate.crowd(simulate.dawid_skene_model(5, 2, random_state=0), 50, random_state=0).labels)
    >>> found.names
    ('vote', 'model')
    """
    known = as_labels(labels)
    default, group = WorkerTypes() if method is None else method, {} if group is None else group
    check_kind(WorkerTypes, method=default)
    check_kind(Mapping, group=group)
    families = _families(known, group)
    own = fitted_on(default, known)
    assert isinstance(own, WorkerTypes)  # as the default
    P = own.predict_proba(known) if posterior is None else posterior
    found = {"vote": vote_shares(known), "model": np.asarray(P)}
    groups: dict[str, list[Any]] = {}
    if own.types_ and not own.by_vote_:
        for kind, workers, posterior in _of_camps(known.whole, own, found["model"], families):
            n = sum(name.startswith(kind) for name in groups)
            name = f"{kind} {n + 1}" if n else kind
            found[name], groups[name] = posterior, [known.workers[w] for w in workers]
    posteriors = np.stack(list(found.values()))
    votes, others = posteriors[0], posteriors[1:]
    chosen = others.argmax(axis=2)
    behind = votes.max(axis=1) - np.take_along_axis(votes, chosen.T, axis=1).T > SAME_SHARE
    ambiguous = behind.any(axis=0) | (chosen != chosen[0]).any(axis=0)
    return Readings(known.tasks, known.classes, tuple(found), posteriors, groups, np.asarray(ambiguous))


def _of_camps(
    labels: CrowdLabels, method: WorkerTypes, P: Floats, families: list[Ints]
) -> Iterator[tuple[str, Ints, Floats]]:
    """Yield the kind of each reading of a camp, its workers, and the probabilities under it."""
    owner, met = method._owner, method._met(labels)
    table = met.table

    def as_one(owner: Ints) -> Floats:
        return np.asarray(_merging(method, owner, labels).predict_proba(labels))

    if families:
        together = owner
        for family in families:
            together = joined(together, family)
        yield "groups", np.sort(np.concatenate(families)), as_one(together)
    for camp in camps(met, owner):
        together = joined(owner, camp)
        yield "merged", np.flatnonzero(together == together[camp[0]]), as_one(together)
    apart = _merging(method, np.arange(len(owner)), labels) if method.copies_ else method
    here = np.unique(owner[np.flatnonzero(table.entries_per_variable)])
    for group in dissenters(met, apart.model_, apart.design_effect_):
        of_them, others = np.isin(table.variables, group), np.setdiff1d(here, owner[group])
        if of_them.mean() >= LEAST_SHARE and len(np.unique(owner[group])) > 1 and len(others) > 1:
            has = np.bincount(table.rows[of_them], minlength=labels.n_tasks) > 0
            yield "believed", group, np.where(has[:, None], as_one(joined(owner, others)), P)


def _families(labels: CrowdLabels, group: Mapping[Any, Any]) -> list[Ints]:
    """Return the codes of the workers of each group of two or more; a missing group is none."""
    known = set(labels.workers)
    strange = [worker for worker in group if worker not in known]
    if strange:
        raise CofactorError(f"group names workers without labels: {listing(map(repr, strange))}")
    names: dict[Any, list[int]] = {}
    for w, worker in enumerate(labels.workers):
        if worker in group and not pd.isna(group[worker]):
            names.setdefault(group[worker], []).append(w)
    return [np.array(family) for family in names.values() if len(family) > 1]


def _merging(method: WorkerTypes, owner: Ints, labels: CrowdLabels) -> WorkerTypes:
    """Return the method with these workers as one, fitted without a word."""
    as_one = clone(method).set_params(same_source=groups_of(owner, labels.workers), merge_copies=False, verbose=False)
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", category)
        return as_one.fit(labels)


def believed(
    labels: Labels, gold: Gold, verbose: bool = False, group: Mapping[Any, Any] | None = None
) -> tuple[Aggregator, dict[str, float]]:
    """Choose the reading that labels gold tasks best, and fit it with these gold tasks.

    Each reading is fitted without gold and scored by the number of gold tasks that it labels correctly; a tie of t
    classes counts 1 / t. The model is chosen unless another reading has at least two more correct; also if fewer than
    five gold tasks are known.

    Parameters
    ----------
    labels, gold : as in `Aggregator.fit`
    verbose : bool
    group : dict, optional
        As in `readings`.

    Returns
    -------
    method : Aggregator
        `WorkerTypes`, `MajorityVote` if the vote was chosen, or `Believed`; gold tasks keep their class.
    right : dict
        The number of gold tasks that each reading labels correctly; empty with fewer than five gold tasks.

    Raises a CofactorError as in `fit`. Cost: that of `readings`, and one fit.
    """
    known = as_labels(labels)
    codes = gold_codes(gold, known)
    if np.sum(codes != UNKNOWN) < LEAST_GOLD:
        return WorkerTypes(verbose=verbose).fit(known, gold=codes), {}
    found = readings(known, group=group)
    right = {name: float(right_shares(found.posterior(name), codes).sum()) for name in found.names}
    best = max(right, key=lambda name: right[name])
    chosen = best if right[best] >= right["model"] + CLEARLY_MORE else "model"
    method: Aggregator = WorkerTypes(verbose=verbose)
    if chosen == "vote":
        method = MajorityVote(skills=dict.fromkeys(known.workers, 1.0), verbose=verbose)
    elif chosen.startswith("believed"):
        method = Believed(found.groups[chosen], verbose=verbose)
    elif chosen == "groups":
        families = _families(known, group or {})
        method = WorkerTypes(same_source=[[known.workers[w] for w in family] for family in families], verbose=verbose)
    elif chosen != "model":
        method = WorkerTypes(same_source=(found.groups[chosen],), verbose=verbose)
    return method.fit(known, gold=codes), right


@dataclass(eq=False, repr=False)
class Believed(Aggregator):
    """`WorkerTypes` that trusts some workers: on the tasks that they labelled, all others count as one worker.

    Parameters
    ----------
    workers : sequence of workers
    """

    takes_shares, takes_gold = True, True
    workers: Sequence[Any] = ()
    random_state: int | None = None
    verbose: bool = False

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        others = [worker for worker in labels.workers if worker not in set(self.workers)]
        self._model = WorkerTypes(verbose=self.verbose).fit(labels, gold)
        self._as_one = WorkerTypes(same_source=(others,), verbose=self.verbose).fit(labels, gold)
        self.model_, self.result_ = self._as_one.model_, self._as_one.result_

    def _posterior(self, labels: CrowdLabels) -> Floats:
        theirs = np.isin(labels.table.variables, [w for w, x in enumerate(labels.workers) if x in set(self.workers)])
        has = np.bincount(labels.table.rows[theirs], minlength=labels.n_tasks) > 0
        return np.where(has[:, None], self._as_one._posterior(labels), self._model._posterior(labels))
