"""Coupled tensor factorisation: one latent-class model fitted by least squares to moments up to the third order.

    min  1/2 sum_n ||p_n - A_n lambda||^2 + 1/2 sum_{m<j} ||R_mj - A_m diag(lambda) A_j'||_F^2
         + 1/2 sum_{j<k<l} ||X_jkl - [[lambda, A_j, A_k, A_l]]||_F^2,

over what was observed, with the columns of every A_n, and lambda, on the simplex. Third moments alone (CTD) identify
the model already; with all three orders this is TensorADMM.

    symbol   meaning                                                      shape
    p_n      frequencies of the values of variable n                      (I_n,)
    R_mj     joint frequencies of two variables                           (I_m, I_j)
    X_jkl    joint frequencies of three variables                         (I_j, I_k, I_l)
    A        all A_n stacked                                              (sum I_n, F)
    S_n      Gram matrix A_n'A_n                                          (F, F)
    G, V     the problem of A_n: 1/2 tr(A G A') - tr(A V')                (F, F), (I_n, F)
    U, rho   dual variable and penalty of ADMM                            (I_n, F)

The objective is quadratic in every A_n and in lambda. The model enters through Gram matrices only, the data through
the cells that occurred, so that no tensor is ever formed.

Source: Traganitis, Pages-Zamora and Giannakis, "Blind multiclass ensemble classification", IEEE TSP 2018 (TensorADMM);
Kargas, Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors", IEEE
TSP 2018 (CTD).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import History, Result
from cofactor.core.simplex import project_to_simplex
from cofactor.core.tables import Ints
from cofactor.core.triple_moments import TripleMoments

Floats = NDArray[np.float64]

RIDGE = 1e-7  # weight of the proximal term at a perfect fit: keeps a class of prior zero solvable
INNER_TOL = 1e-7  # of both residuals, at which ADMM stops early


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
    """Fit one latent-class model to third moments, and those of lower order where given, by least squares.

    Parameters
    ----------
    triples : TripleMoments
        Alphabets may differ. Triples never observed together are masked, not fitted as zeros.
    start : LatentClassModel
        With the variables of `triples`.
    pairs : PairwiseMoments, optional
        Of the same table: adds first and second moments (TensorADMM). Default: third moments only (CTD).
    inner : int
        Most ADMM steps per block; the duals stay warm.
    proximal : float
        Weight of 1/2 ||A_n - previous A_n||^2, relative to the squared residual of the fit; TensorADMM has 0.01.
    max_iter : int
        Most sweeps over all A_n and lambda.
    tol : float
        Stop when the relative residual sqrt(2 objective / ||data||^2) changes by at most this.
    verbose : bool
        Show a progress bar on a terminal.

    Returns
    -------
    model : LatentClassModel
        A variable in no observed moment gets uniform conditionals.
    result : Result
        `objective` is the criterion above after each sweep.

    Raises
    ------
    NotIdentifiableError
        No three variables were observed together.
    CofactorError
        Start and moments differ in their variables.

    Cost
    ----
    O((Z + T F + inner V F) F) time per sweep for Z cells that occurred, T observed triples of variables and V = sum
    I_n values; 150 Z bytes. Dense third moments would take 8 V^3 / 6 bytes.

    Source
    ------
    See the module. Deviations: unobserved pairs and triples are masked (released codes fit some of them as zeros); the
    penalty is rho = tr(G) / F, the rule of Kargas' public code (ICML 2021's: ||G||_F / K, IEEE TSP 2021's: 10, at
    which sweeps crawl); projections onto the simplex are exact.
    """
    _check(triples, start, pairs)
    data = _Data.of(triples, pairs)
    A, prior = start.stacked.copy(), start.prior.copy()
    duals = np.zeros_like(A), np.zeros_like(prior)
    history, residual = History("coupled tensor factorisation", max_iter, tol, verbose), 1.0
    for _ in history:
        mu = RIDGE + proximal * residual**2
        prior = _sweep(data, A, prior, duals, inner, mu)
        cost = data.cost(A, prior)
        before, residual = residual, float(np.sqrt(2 * cost / data.norm2))
        history.record(cost, abs(before - residual))
    alone = np.repeat(~data.seen, triples.sizes)
    A[alone] = np.repeat(1 / triples.sizes, triples.sizes)[alone, None]
    return LatentClassModel.from_stacked(prior, A, triples.sizes), history.result()


def _check(triples: TripleMoments, start: LatentClassModel, pairs: PairwiseMoments | None) -> None:
    if not len(triples.keys):
        raise NotIdentifiableError("no three variables were observed together: there are no third moments to fit")
    others = [start.sizes] if pairs is None else [start.sizes, pairs.sizes]
    if not all(np.array_equal(triples.sizes, other) for other in others):
        raise CofactorError(
            f"the third moments are of {len(triples.sizes)} variables with {triples.sizes.sum()} values in all; start "
            f"and pairwise moments have {', '.join(f'{len(o)} with {o.sum()}' for o in others)}: use the same table"
        )


class _Links(NamedTuple):
    """Items of every variable n: those numbered indptr[n] to indptr[n + 1], with their other indices and values."""

    indptr: Ints
    own: Ints
    others: Ints  # (items, 1 or 2)
    value: Floats

    @classmethod
    def of(cls, index: Ints, value: Floats, owner: Ints, N: int) -> _Links:
        """Take (order, items) indices and list every item under the owner of each of its indices."""
        order = len(index)
        own = np.concatenate(list(index))
        others = np.concatenate([np.delete(index, o, axis=0).T for o in range(order)])
        by_variable = np.argsort(owner[own], kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[own], minlength=N))])
        value = np.tile(value, order)[by_variable]
        return cls(indptr, own[by_variable], np.ascontiguousarray(others[by_variable]), value)


class _Data(NamedTuple):
    """The moments as cells that occurred (c) and as masks of what was observed (m), of second and third order."""

    c2: _Links
    m2: _Links
    c3: _Links
    m3: _Links
    p: Floats  # (sum I_n,) frequencies; zero where first moments are left out
    has_p: NDArray[np.bool_]  # (N,)
    first: Ints  # (N + 1,) first stacked row of every variable
    norm2: float

    @classmethod
    def of(cls, triples: TripleMoments, pairs: PairwiseMoments | None) -> _Data:
        """Turn counts into frequencies, listed under every variable they involve."""
        N, sizes = len(triples.sizes), triples.sizes
        owner, each = np.repeat(np.arange(N), sizes), np.arange(N)
        which, triple, n = triples.triples
        X = triples.counts / n[triple]
        cells, R, observed, p, has_p = _lower_orders(pairs, sizes, owner)
        norm2 = float(X @ X + R @ R + p @ p)
        c2, m2 = _Links.of(cells, R, owner, N), _Links.of(observed, np.ones(observed.shape[1]), each, N)
        c3, m3 = _Links.of(triples.cells, X, owner, N), _Links.of(which, np.ones(len(n)), each, N)
        return cls(c2, m2, c3, m3, p, has_p, np.concatenate([[0], np.cumsum(sizes)]), norm2)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(N,) mask of the variables in any observed moment."""
        return (np.diff(self.m2.indptr) + np.diff(self.m3.indptr) > 0) | self.has_p

    def gram(self, A: Floats) -> Floats:
        """(N, F, F) Gram matrices S_n."""
        return np.add.reduceat(A[:, :, None] * A[:, None, :], self.first[:-1], axis=0)

    def prior_problem(self, A: Floats) -> tuple[Floats, Floats]:
        """G and v of lambda: the objective is ||data||^2 / 2 - v'lambda + lambda'G lambda / 2."""
        S = self.gram(A)
        v, G = A.T @ self.p, S[self.has_p].sum(axis=0)
        _add_prior_cells(self.c2, A, v)
        _add_prior_cells(self.c3, A, v)
        _add_prior_masks(self.m2, S, G)
        _add_prior_masks(self.m3, S, G)
        return G, v

    def cost(self, A: Floats, prior: Floats) -> float:
        """The objective."""
        G, v = self.prior_problem(A)
        return max(0.5 * self.norm2 - float(v @ prior) + 0.5 * float(prior @ G @ prior), 0.0)


def _lower_orders(
    pairs: PairwiseMoments | None, sizes: Ints, owner: Ints
) -> tuple[Ints, Floats, Ints, Floats, NDArray[np.bool_]]:
    """Cells of R and their values, observed pairs, p, and whose p is observed; all empty without pairs."""
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


@njit(cache=True)
def _add_prior_cells(cells: _Links, A: Floats, v: Floats) -> None:
    """Add sum over cells of value * product of rows of A to v; each cell is met once, under its first variable."""
    for e in range(len(cells.own)):
        if cells.own[e] < cells.others[e, 0]:
            for f in range(len(v)):
                product = cells.value[e] * A[cells.own[e], f]
                for other in cells.others[e]:
                    product *= A[other, f]
                v[f] += product


@njit(cache=True)
def _add_prior_masks(masks: _Links, S: Floats, G: Floats) -> None:
    """Add the entrywise products of the Gram matrices of every observed pair or triple to G."""
    F = len(G)
    for e in range(len(masks.own)):
        if masks.own[e] < masks.others[e, 0]:
            for f in range(F):
                for g in range(F):
                    product = S[masks.own[e], f, g]
                    for other in masks.others[e]:
                        product *= S[other, f, g]
                    G[f, g] += product


@njit(cache=True)
def _add_block_cells(cells: _Links, n: int, first: int, A: Floats, V: Floats) -> None:
    """Add value * product of the other rows of A to the row of V that each cell of variable n belongs to."""
    for e in range(cells.indptr[n], cells.indptr[n + 1]):
        for f in range(A.shape[1]):
            product = cells.value[e]
            for other in cells.others[e]:
                product *= A[other, f]
            V[cells.own[e] - first, f] += product


@njit(cache=True)
def _add_block_masks(masks: _Links, n: int, S: Floats, G: Floats) -> None:
    """Add the entrywise products of the Gram matrices of the partners of n, over its observed pairs or triples."""
    F = len(G)
    for e in range(masks.indptr[n], masks.indptr[n + 1]):
        for f in range(F):
            for g in range(F):
                product = 1.0
                for other in masks.others[e]:
                    product *= S[other, f, g]
                G[f, g] += product


def _block_problem(data: _Data, n: int, A: Floats, S: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """G and V of A_n, with all else fixed."""
    rows, F = slice(data.first[n], data.first[n + 1]), len(prior)
    G, V = np.zeros((F, F)), np.zeros((rows.stop - rows.start, F))
    for masks, cells in ((data.m2, data.c2), (data.m3, data.c3)):
        _add_block_masks(masks, n, S, G)
        _add_block_cells(cells, n, rows.start, A, V)
    return (G + data.has_p[n]) * np.outer(prior, prior), V * prior + np.outer(data.p[rows], prior)


def _sweep(data: _Data, A: Floats, prior: Floats, duals: tuple[Floats, Floats], inner: int, mu: float) -> Floats:
    """Update every A_n in place, then return the new prior; a variable in no observed moment stays as it is."""
    S = data.gram(A)
    for n in np.flatnonzero(data.seen).tolist():
        rows = slice(data.first[n], data.first[n + 1])
        G, V = _block_problem(data, n, A, S, prior)
        A[rows], duals[0][rows] = _admm(G, V, A[rows], duals[0][rows], inner, mu)
        S[n] = A[rows].T @ A[rows]
    G, v = data.prior_problem(A)
    found, dual = _admm(G, v[None], prior[None], duals[1][None], inner, mu, by_row=True)
    duals[1][:] = dual[0]
    return found[0]


def _admm(
    G: Floats, V: Floats, A: Floats, U: Floats, inner: int, mu: float, by_row: bool = False
) -> tuple[Floats, Floats]:
    """Minimise 1/2 tr(A G A') - tr(A V') + mu/2 ||A - start||^2, columns (or rows) of A on the simplex."""
    rho = max(float(np.trace(G)) / len(G), RIDGE)
    inverse = np.linalg.inv(G + (rho + mu) * np.eye(len(G)))
    pull = V + mu * A
    for _ in range(inner):
        free = (pull + rho * (A + U)) @ inverse
        before = A
        A = project_to_simplex((free - U).T).T if by_row else project_to_simplex(free - U)
        U = U + A - free
        size = max(float(np.linalg.norm(A)), 1.0)
        if max(np.linalg.norm(A - free), np.linalg.norm(A - before)) <= INNER_TOL * size:
            break
    return A, U
