"""Coupled tensor factorisation: a latent-class model fitted by least squares to moments up to the third order.

    min  1/2 sum_n ||p_n - A_n lambda||^2 + 1/2 sum_{m<j} ||R_mj - A_m diag(lambda) A_j'||_F^2
         + 1/2 sum_{j<k<l} ||X_jkl - [[lambda, A_j, A_k, A_l]]||_F^2,

over the observed moments, with the columns of every A_n, and lambda, on the simplex. Third moments alone already
identify the model (CTD); with all three orders, the method is TensorADMM.

    symbol   meaning                                                      shape
    p_n      frequencies of the values of variable n                      (I_n,)
    R_mj     joint frequencies of two variables                           (I_m, I_j)
    X_jkl    joint frequencies of three variables                         (I_j, I_k, I_l)
    A        all A_n stacked                                              (sum I_n, F)
    S_n      Gram matrix A_n'A_n                                          (F, F)
    G, V     the problem of A_n: 1/2 tr(A G A') - tr(A V')                (F, F), (I_n, F)
    U, rho   dual variable and penalty of ADMM                            (I_n, F)

The objective is quadratic in every A_n and in lambda. The model enters only through Gram matrices, and the data only
through the cells that occurred, so no tensor is ever formed. A sum over these cells, such as
V[a] += X[a, b, c] A[b] * A[c], uses the same product d = A[b] * A[c] for every value a of the variable that is solved
for. Cells are therefore listed under each of their variables, in groups with the same other values (`CellGroups`).

Source: Traganitis, Pages-Zamora and Giannakis, "Blind multiclass ensemble classification", IEEE TSP 2018 (TensorADMM);
Kargas, Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors", IEEE
TSP 2018 (CTD).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments
from cofactor.core.simplex import project_vector
from cofactor.core.types import Floats, Ints
from cofactor.rivals.triple_moments import TripleMoments

PROXIMAL_WEIGHT = 1e-7  # weight of the proximal term at a perfect fit: keeps a class of prior zero solvable
INNER_TOL = 1e-7  # of both residuals, relative to the size of A, at which ADMM stops early

Solver = Callable[[Floats, Floats, Floats, Floats, float], tuple[Floats, Floats]]  # G, V, A, U, mu: new A and U


def coupled_tensor(
    triples: TripleMoments,
    start: LatentClassModel,
    pairs: PairwiseMoments | None = None,
    inner: int = 30,
    proximal: float = 0.0,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Fit a latent-class model by least squares to third moments and, if given, to moments of lower order.

    Parameters
    ----------
    triples : TripleMoments
        Alphabets may differ. Triples that were never observed together are masked, not fitted as zeros.
    start : LatentClassModel
        A model of the variables of `triples`.
    pairs : PairwiseMoments, optional
        Moments of the same table; adds first and second moments (TensorADMM). Default: third moments only (CTD).
    inner : int
        Maximum number of ADMM steps per block, with warm-started duals.
    proximal : float
        Weight of 1/2 ||A_n - previous A_n||^2, relative to the squared residual of the fit; TensorADMM uses 0.01.
    max_iter : int
        Maximum number of sweeps over all A_n and lambda.
    tol : float
        Stop when the relative residual sqrt(2 objective / ||data||^2) changes by at most this.
    verbose : bool

    Returns
    -------
    model : LatentClassModel
        A variable without any observed moment gets uniform conditionals.
    result : Result
        `objective` is the criterion above after each sweep.

    Raises a NotIdentifiableError if no three variables were observed together, and a CofactorError if start and moments
    have different variables.

    Cost: O((Z + T F + inner V F) F) time per sweep for Z cells that occurred, T observed triples of variables and V =
    sum I_n values; 150 Z bytes.

    Source: see the module. Deviations: unobserved pairs and triples are masked (released codes fit some of them as
    zeros); the penalty is rho = tr(G) / F, as in Kargas' public code (ICML 2021: ||G||_F / K; IEEE TSP 2021: 10, with
    which sweeps make little progress); projections onto the simplex are exact.
    """
    check_moments(triples, start, pairs)
    data = TensorData.of(triples, pairs)
    solvers = partial(_admm, inner=inner, by_row=False), partial(_admm, inner=inner, by_row=True)
    A, prior = start.stacked.copy(), start.prior.copy()
    duals = np.zeros_like(A), np.zeros_like(prior)
    history, residual = History("coupled tensor factorisation", max_iter, tol, verbose), 1.0
    for _ in history:
        before = residual
        prior, cost = sweep(data, A, prior, duals, solvers, PROXIMAL_WEIGHT + proximal * residual**2)
        residual = float(np.sqrt(2 * cost / data.norm2))
        history.record(cost, abs(before - residual))
    alone = np.repeat(~data.seen, triples.sizes)
    A[alone] = np.repeat(1 / triples.sizes, triples.sizes)[alone, None]
    return LatentClassModel.from_stacked(prior, A, triples.sizes), history.result()


def check_moments(triples: TripleMoments, start: LatentClassModel, pairs: PairwiseMoments | None = None) -> None:
    """Refuse moments without triples, and a start or pairs with other variables."""
    if not len(triples.keys):
        raise NotIdentifiableError("no three variables were observed together: there are no third moments to fit")
    others = [start.sizes] if pairs is None else [start.sizes, pairs.sizes]
    if not all(np.array_equal(triples.sizes, other) for other in others):
        who = "the start has" if pairs is None else "start and pairwise moments have"
        raise CofactorError(
            f"the third moments have {len(triples.sizes)} variables with {triples.sizes.sum()} values in total, {who} "
            f"{', '.join(f'{len(o)} with {o.sum()}' for o in others)}: use the same table"
        )


class TensorData(NamedTuple):
    """Moments of second and third order, as cells that occurred (c) and as masks of observed moments (m)."""

    c2: CellGroups
    m2: CellGroups  # of N variables of one value each: then sums of products of S_n are sums over cells
    c3: CellGroups
    m3: CellGroups
    p: Floats  # (sum I_n,) frequencies; zero where first moments are left out
    has_p: NDArray[np.bool_]  # (N,)
    first: Ints  # (N + 1,) first stacked row of every variable
    norm2: float

    @classmethod
    def of(cls, triples: TripleMoments, pairs: PairwiseMoments | None, fitted: Ints | None = None) -> TensorData:
        """Convert counts to frequencies; `fitted` are the (3, T) triples to fit (default: all observed ones)."""
        N, sizes = len(triples.sizes), triples.sizes
        owner, single = np.repeat(np.arange(N), sizes), np.ones(N, dtype=np.int64)
        which, triple, n = triples.triples
        X = triples.counts / n[triple]
        cells, R, observed, p, has_p = _lower_orders(pairs, sizes, owner)
        norm2 = float(X @ X + R @ R + p @ p)
        which = which if fitted is None else fitted
        c2, m2 = CellGroups.of(cells, R, sizes), CellGroups.of(observed, np.ones(observed.shape[1]), single)
        c3, m3 = CellGroups.of(triples.cells, X, sizes), CellGroups.of(which, np.ones(which.shape[1]), single)
        return cls(c2, m2, c3, m3, p, has_p, np.concatenate([[0], np.cumsum(sizes)]), norm2)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """The (N,) mask of variables with an observed moment."""
        return (np.diff(self.m2.variables) + np.diff(self.m3.variables) > 0) | self.has_p

    def gram(self, A: Floats) -> Floats:
        """Return the (N, F, F) Gram matrices S_n."""
        return np.add.reduceat(A[:, :, None] * A[:, None, :], self.first[:-1], axis=0)

    def prior_problem(self, A: Floats) -> tuple[Floats, Floats]:
        """Return G and v of lambda: the objective is ||data||^2 / 2 - v'lambda + lambda'G lambda / 2."""
        S = self.gram(A)
        v, G = A.T @ self.p, S[self.has_p].sum(axis=0)
        for masks, cells in ((self.m2, self.c2), (self.m3, self.c3)):
            add_full_products(masks, S.reshape(len(S), -1), G.reshape(-1))
            add_full_products(cells, A, v)
        return G, v

    def cost(self, A: Floats, prior: Floats) -> float:
        """Return the objective."""
        return self.cost_of(*self.prior_problem(A), prior)

    def cost_of(self, G: Floats, v: Floats, prior: Floats) -> float:
        """Return the objective, given the problem of lambda."""
        return max(0.5 * self.norm2 - float(v @ prior) + 0.5 * float(prior @ G @ prior), 0.0)


def _lower_orders(
    pairs: PairwiseMoments | None, sizes: Ints, owner: Ints
) -> tuple[Ints, Floats, Ints, Floats, NDArray[np.bool_]]:
    """Return the cells of R, their values, the observed pairs, p, and its mask; all are empty without pairs."""
    N, none = len(sizes), np.zeros((2, 0), dtype=np.int64)
    if pairs is None:
        return none, np.zeros(0), none, np.zeros(len(owner)), np.zeros(N, dtype=bool)
    counts, joint = pairs.counts.tocoo(), pairs.n_joint.tocoo()
    n = dict(zip((joint.row * N + joint.col).tolist(), joint.data.tolist(), strict=True))
    upper = (counts.row < counts.col) & (counts.data > 0)
    cells = np.stack([counts.row[upper], counts.col[upper]]).astype(np.int64)
    R = counts.data[upper] / np.array([n[key] for key in (owner[cells[0]] * N + owner[cells[1]]).tolist()])
    above = (joint.row < joint.col) & (joint.data > 0)
    observed = np.stack([joint.row[above], joint.col[above]]).astype(np.int64)
    totals = np.bincount(owner, weights=pairs.singles, minlength=N)
    return cells, R, observed, pairs.singles / np.maximum(totals, 1e-300)[owner], totals > 0


def _block_problem(data: TensorData, n: int, A: Floats, S: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return G and V of A_n, with all other parameters fixed."""
    rows, F = slice(data.first[n], data.first[n + 1]), len(prior)
    G, V = np.zeros((1, F * F)), np.zeros((rows.stop - rows.start, F))
    for masks, cells in ((data.m2, data.c2), (data.m3, data.c3)):
        add_products(masks, n, n, S.reshape(len(S), -1), G)
        add_products(cells, n, rows.start, A, V)
    G = (G.reshape(F, F) + data.has_p[n]) * np.outer(prior, prior)
    return G, V * prior + np.outer(data.p[rows], prior)


def sweep(
    data: TensorData, A: Floats, prior: Floats, duals: tuple[Floats, Floats], solvers: tuple[Solver, Solver], mu: float
) -> tuple[Floats, float]:
    """Update every A_n in place, and return the new prior and the objective; `solvers` are for A_n and lambda.

    Variables without observed moments are not changed.
    """
    S = data.gram(A)
    for n in np.flatnonzero(data.seen).tolist():
        rows = slice(data.first[n], data.first[n + 1])
        G, V = _block_problem(data, n, A, S, prior)
        A[rows], duals[0][rows] = solvers[0](G, V, A[rows], duals[0][rows], mu)
        S[n] = A[rows].T @ A[rows]
    G, v = data.prior_problem(A)
    found, dual = solvers[1](G, v[None], prior[None], duals[1][None], mu)
    duals[1][:] = dual[0]
    return found[0], data.cost_of(G, v, found[0])


def _admm(G: Floats, V: Floats, A: Floats, U: Floats, mu: float, inner: int, by_row: bool) -> tuple[Floats, Floats]:
    """Minimise 1/2 tr(A G A') - tr(A V') + mu/2 ||A - start||^2, columns (or the row) of A on the simplex."""
    rho = max(float(np.trace(G)) / len(G), PROXIMAL_WEIGHT)
    inverse = np.asarray(np.linalg.inv(G + (rho + mu) * np.eye(len(G))), dtype=np.float64)
    X, dual = A.T.copy(), U.T.copy()
    _admm_steps(inverse, np.ascontiguousarray((V + mu * A).T), rho, X, dual, inner, by_row)
    return X.T, dual.T


@njit(cache=True)
def _admm_steps(inverse: Floats, pull: Floats, rho: float, X: Floats, U: Floats, inner: int, by_row: bool) -> None:
    """Iterate on X and U, transposes of A and of the dual, in place."""
    for _ in range(inner):
        free = inverse @ (pull + rho * (X + U))
        before = X.copy()
        X[:] = free - U
        for f in range(1 if by_row else len(X)):
            project_vector(X[:, 0] if by_row else X[f])
        U += X - free
        size = max(np.sqrt(np.sum(X**2)), 1.0)
        if max(np.sum((X - free) ** 2), np.sum((X - before) ** 2)) <= (INNER_TOL * size) ** 2:
            break


# ---- cells in groups, so that a factor of many cells is computed once ----


class CellGroups(NamedTuple):
    """Cells of one order, listed under each of their variables.

    Variable n has the groups variables[n] to variables[n + 1]; group g has the cells groups[g] to groups[g + 1].
    """

    variables: Ints  # (N + 1,)
    groups: Ints  # (groups + 1,)
    others: NDArray[np.int32]  # (groups, order - 1) stacked values, those of the other variables
    own: NDArray[np.int32]  # (cells,) stacked value of the variable itself
    value: Floats  # (cells,)

    @classmethod
    def of(cls, cells: Ints, value: Floats, sizes: Ints) -> CellGroups:
        """Group (order, Z) stacked values a < b < ... and their Z moments; O(Z log Z) time, at most 84 bytes a cell."""
        order, V, owner = len(cells), int(sizes.sum()), np.repeat(np.arange(len(sizes)), sizes)
        own = np.concatenate(list(cells))
        key = owner[own]
        others = [  # column p: the p-th other value of every cell, as seen from its first, second, ... variable
            np.concatenate([cells[place + (place >= seen)] for seen in range(order)]) for place in range(order - 1)
        ]
        for column in others:
            key = key * V + column  # at most N V^2: V is at most 2,000,000
        by_key = np.argsort(key, kind="stable")
        key, own = key[by_key], own[by_key]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        ends = np.searchsorted(owner[own[first]], np.arange(len(sizes) + 1))
        rows = np.stack([column[by_key[first]] for column in others], axis=1)
        return cls(
            ends.astype(np.int64),
            np.append(first, len(key)).astype(np.int64),
            rows.astype(np.int32),
            own.astype(np.int32),
            np.tile(value, order)[by_key],
        )


@njit(cache=True)
def add_products(cells: CellGroups, n: int, start: int, A: Floats, V: Floats) -> None:
    """Add value * d to a row of V for every cell of variable n; rows are counted from stacked value `start`."""
    F = A.shape[1]
    d = np.empty(F)
    for g in range(cells.variables[n], cells.variables[n + 1]):
        _product(cells.others, g, A, d)
        for e in range(cells.groups[g], cells.groups[g + 1]):
            row, value = np.uint64(cells.own[e] - start), cells.value[e]
            for f in range(F):
                V[row, f] += value * d[f]


@njit(cache=True)
def add_full_products(cells: CellGroups, A: Floats, v: Floats) -> None:
    """Add value * (product of all rows of A of a cell) to v; each cell is used once, under its first variable."""
    F = A.shape[1]
    d, inner = np.empty(F), np.empty(F)
    for g in range(len(cells.groups) - 1):
        if cells.own[cells.groups[g]] < cells.others[g, 0]:
            inner[:] = 0.0
            for e in range(cells.groups[g], cells.groups[g + 1]):
                row, value = np.uint64(cells.own[e]), cells.value[e]
                for f in range(F):
                    inner[f] += value * A[row, f]
            _product(cells.others, g, A, d)
            for f in range(F):
                v[f] += inner[f] * d[f]


@njit(cache=True)
def _product(others: NDArray[np.int32], g: int, A: Floats, d: Floats) -> None:
    """Write the product of a group into d; unsigned indices without slices take a third of the total time."""
    first = np.uint64(others[g, 0])
    for f in range(len(d)):
        d[f] = A[first, f]
    for place in range(1, others.shape[1]):
        row = np.uint64(others[g, place])
        for f in range(len(d)):
            d[f] *= A[row, f]
