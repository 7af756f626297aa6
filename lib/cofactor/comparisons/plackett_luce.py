"""Rankings of three items and more, and choices of one of several: the model of Plackett and Luce.

    symbol   meaning                                                              shape
    u        utilities of the items, of mean zero                                 (n,)
    C_s      items that were left at stage s, of which c_s was chosen
    p_s      chances of the items at stage s, exp(u) / sum over C_s               (n,)
    w_s      how often the order of stage s was given
    H        minus the second derivatives, sum_s w_s (diag(p_s) - p_s p_s')       (n, n)

    P(order) = prod_s exp(u[c_s]) / sum_{i in C_s} exp(u_i)

The first place is a choice among all items, the second one among the rest, and so on. Of two items this is the model of
Bradley and Terry. The prior, its choice by evidence, and intervals are those of `rank`.

Source: Plackett, "The analysis of permutations", Applied Statistics 1975; Luce, "Individual choice behavior", 1959;
Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 2004 (when the maximum is finite).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.comparisons import davidson, evidence
from cofactor.comparisons.clusters import independent
from cofactor.comparisons.data import Codes
from cofactor.comparisons.davidson import Fitted
from cofactor.comparisons.orders import NONE, Orders
from cofactor.comparisons.places import Ranking, places
from cofactor.comparisons.ranking import FEW_USERS, check_linked, largest_part, unlinked_of, warn_of_loss
from cofactor.core.bootstrap import LEVEL, checked_level
from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import DataWarning
from cofactor.core.types import Floats, Indices, Seed

EVIDENCE_DRAWS = 16  # of utilities, and as many opposite ones, for the evidence


@dataclass(frozen=True)
class Stages:
    """Choices: row k is an item of stage `stage[k]`, rows sorted by stage, the chosen item first (at `start`)."""

    n_items: int
    stage: Indices
    item: Codes
    start: Indices
    order: Indices  # which order a stage belongs to
    weight: Floats  # how often a stage was seen
    has_ties: bool = False

    @property
    def X(self) -> Floats:
        """Covariates, of which rankings of several items have none: an empty matrix."""
        return np.zeros((len(self.start), 0))

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_items

    @property
    def total(self) -> Floats:
        """(s,) choices of every stage."""
        return self.weight

    def log_chances(self, theta: Floats) -> tuple[Floats, sparse.csr_array]:
        """Return the (s,) log-chances of what was chosen, and p."""
        z = theta[self.item]
        top = np.maximum.reduceat(z, self.start)
        e = np.exp(z - top[self.stage])
        total = np.add.reduceat(e, self.start)
        p = sparse.csr_array((e / total[self.stage], (self.stage, self.item)), (len(total), self.n_items))
        return z[self.start] - top - np.log(total), p

    def scores(self, p: sparse.csr_array) -> sparse.csr_array:
        """Return the (s, n) derivatives of the log-chances, times their weights."""
        n_stages = len(self.start)
        chosen = np.ones(n_stages), (np.arange(n_stages), self.item[self.start])
        return sparse.csr_array(sparse.diags_array(self.weight) @ (sparse.csr_array(chosen, p.shape) - p))

    def objective(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient, and H."""
        log_chance, p = self.log_chances(theta)
        H = information_of_stages(p, self.weight)
        return float(self.weight @ log_chance), np.asarray(self.scores(p).sum(axis=0)), H

    def expected(self, theta: Floats, P: Floats) -> float:
        """Return the mean log-likelihood of utilities that are normal, with this mean and (n, n) covariance.

        By the second derivatives, and for what these leave by the same `EVIDENCE_DRAWS` standard normal draws each
        time, and their opposites. Cost: O(EVIDENCE_DRAWS S L + n^3).
        """
        n, (value, _, H) = self.n_items, self.objective(theta)
        size = max(np.trace(P) / n, np.finfo(float).tiny)
        L = np.linalg.cholesky(P + size / n + 1e-10 * size * np.eye(n))  # all may share a number
        moves = np.random.default_rng(0).standard_normal((EVIDENCE_DRAWS, n)) @ L.T
        rest = [self._value(theta + move) + self._value(theta - move) - 2 * value + move @ H @ move for move in moves]
        return float(value - np.sum(H * P) / 2 + np.mean(rest) / 2)

    def _value(self, theta: Floats) -> float:
        """Return the log-likelihood."""
        z = theta[self.item]
        top = np.maximum.reduceat(z, self.start)
        total = np.add.reduceat(np.exp(z - top[self.stage]), self.start)
        return float(self.weight @ (z[self.start] - top - np.log(total)))


def information_of_stages(p: sparse.csr_array, weight: Floats) -> Floats:
    """Return H, minus the (n, n) second derivatives of the log-likelihood, of stages with (s,) weights."""
    return np.asarray(np.diag(weight @ p) - (p.T @ (sparse.diags_array(weight) @ p)).toarray())


def stages_of(orders: Orders) -> Stages:
    """Return a stage for every placed item but the last one of an order."""
    L = orders.item.shape[1]
    made = np.minimum(orders.placed, orders.size - 1)
    order, at = np.nonzero(np.arange(L) < made[:, None])
    left = (np.arange(L) >= at[:, None]) & (orders.item[order] != NONE)
    stage, column = np.nonzero(left)
    start = np.flatnonzero(np.diff(stage, prepend=-1))
    return Stages(len(orders.items), stage, orders.item[order[stage], column], start, order, orders.weight[order])


def rank_orders(orders: Orders, *, level: float = LEVEL, all_parts: bool = False, random_state: Seed = None) -> Ranking:
    """Rank items by orders of several, or by choices of one out of several, as `rank` does by pairs.

    Parameters
    ----------
    orders : Orders
        Two users or more make the intervals allow for users who are alike in all their orders.
    level : float
    all_parts : bool
        Refuse items in parts that no order links. By default the largest part is ranked, and the others are named.
    random_state : int, Generator or None
        Of the simulated quantile for ranks.

    Returns a `Ranking`. Its chances are those of two items alone; its log-loss is that of a choice at one stage, beside
    that of equal chances; its counts are of the pairs that an order says.

    Raises a CofactorError for anything but `Orders`. Warns (`DataWarning`) as `rank`.

    Cost: O(S L^2 + n^3) for S stages of L items, some sixty times, and for users the cube of n each.

    Source: see the module.

    >>> found = rank_orders(Orders([[0, 1, 2]] * 20 + [[1, 0, 2], [0, 2, 1]] * 5), random_state=0)
    >>> found.table()[["item", "rank", "wins", "comparisons"]].values.tolist()
    [[0, 1, 55, 60], [1, 2, 30, 60], [2, 3, 5, 60]]
    """
    check_kind((Orders,), orders=orders)
    checked_level(level)
    rng, pairs = rng_of(random_state), orders.pairs()
    if all_parts:
        check_linked(pairs)
    part = np.unique(pairs.take(largest_part(pairs)).left)
    orders = orders.take(np.isin(orders.item[:, 0], part))
    seen = np.unique(orders.item[orders.item != NONE])
    code = np.append(np.searchsorted(seen, np.arange(len(orders.items))), NONE)
    items = [orders.items[i] for i in seen.tolist()]
    orders = Orders(code[orders.item], orders.placed, orders.user, items, orders.weight)
    return _ranking(orders, level, rng)


def _ranking(orders: Orders, level: float, rng: np.random.Generator) -> Ranking:
    items, stages = list(orders.items), stages_of(orders)
    cells = davidson.pairs_of(davidson.rows_of(orders.pairs(), np.zeros((len(orders.pairs()), 0))))
    unlinked = unlinked_of(cells, items)
    sd, doubt, fitted = evidence.chosen(stages)
    n_users, V = _covariance(stages, fitted, orders)
    counts, u = davidson.counts(cells), fitted.theta
    V = evidence.with_doubt(V, independent(stages, fitted), fitted, doubt, counts[:, 2])
    ranks = [1 + np.sum(u[None, :] > u[:, None], axis=1), *places(u, V, level, n_users, rng)]
    losses = _held_out(orders, fitted)
    warn_of_loss(*losses)
    return Ranking(
        items=items,
        ranks=np.column_stack(ranks),
        counts=counts,
        covariates=[],
        parameters=u,
        covariance=V,
        n_users=n_users,
        n_prompts=0.0,
        unlinked=unlinked,
        sd=sd,
        log_loss=losses[0],
        trivial_log_loss=losses[1],
        level=level,
        result=fitted.result,
    )


def _covariance(stages: Stages, fitted: Fitted, orders: Orders) -> tuple[float, Floats]:
    """Return how many users count, 0 where orders count as independent, and the covariance; see `clusters`."""
    P = independent(stages, fitted)
    if orders.user is None or len(np.unique(orders.user)) == 1:
        return 0.0, P
    user = np.unique(orders.user, return_inverse=True)[1][stages.order]
    m = np.bincount(user, stages.weight)
    count = float(m.sum() ** 2 / (m @ m))
    if count < FEW_USERS:
        message = f"{len(m)} users, who count as {count:.3g} equally busy ones, cannot tell how users differ"
        advice = "intervals are for these users alone, as if their orders were independent"
        warnings.warn(f"{message}: {advice}", DataWarning, stacklevel=4)
        return 0.0, P
    p = stages.log_chances(fitted.theta)[1]
    S, eye, M = stages.scores(p), np.eye(stages.n_items), np.diag(fitted.ridge)
    for g in range(len(m)):
        rows = np.flatnonzero(user == g)
        x = np.linalg.solve(
            eye - information_of_stages(p[rows], stages.weight[rows]) @ P, np.asarray(S[rows].sum(axis=0))
        )
        M = M + (len(m) - 1) / len(m) * np.outer(x, x)
    return count, np.asarray(P @ M @ P)


def _held_out(orders: Orders, fitted: Fitted) -> tuple[float, float]:
    """Return the mean log-loss of choices in orders that were held out in five folds, and that of equal chances."""
    fold = np.random.default_rng(0).permutation(np.arange(len(orders)) % evidence.FOLDS)
    losses, made = np.zeros(2), 0.0
    for k in range(min(evidence.FOLDS, len(orders))):
        held = stages_of(orders.take(fold == k))
        theta = np.zeros(len(orders.items))
        if (fold != k).any():
            theta = davidson.fit_ranking(stages_of(orders.take(fold != k)), fitted.ridge, fitted.theta).theta
        losses -= held.weight @ held.log_chances(theta)[0], held.weight @ held.log_chances(0 * theta)[0]
        made += float(held.weight.sum())
    return float(losses[0] / made), float(losses[1] / made)
