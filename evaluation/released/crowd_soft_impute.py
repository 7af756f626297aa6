"""Soft-impute: complete a matrix whose singular values fall off, from a few of its entries, in factors.

    symbol   meaning                                       shape
    y        values of the known entries                   (n,)
    Y        sparse matrix of them                         (N, M)
    A, B     factors of the completed matrix Z = A B'      (N, r), (M, r)

Source: Mazumder, Hastie and Tibshirani, "Spectral regularization algorithms for learning large incomplete matrices",
JMLR 2010; Hastie, Mazumder, Lee and Zadeh, "Matrix completion and low-rank SVD via fast alternating least squares",
JMLR 2015, Theorem 3 for the factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cofactor.core.estimator import History
from cofactor.core.types import Floats, Ints

Singles = NDArray[np.float32]  # entries are 0 or 1 and scores are compared: seven digits do, at half the memory
Mask = NDArray[np.bool_]
Factors = tuple[Singles, Singles]

# penalties tried, as shares of the largest singular value
PATH = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.09, 0.06, 0.045, 0.03)
CERTIFIED = 0.02  # soft-impute: by how much a direction left out may exceed the penalty
HELD_OUT = 0.1  # of the labels, to choose among penalties
GROWTH = 20  # directions added at once
BLOCK = 10_000_000  # numbers gathered at once by the regressions


@dataclass(frozen=True)
class Entries:
    """Which entries of an (N, M) matrix are known."""

    rows: Ints
    columns: Ints
    shape: tuple[int, int]

    def only(self, chosen: Mask) -> Entries:
        """Return the chosen ones of them."""
        return Entries(self.rows[chosen], self.columns[chosen], self.shape)

    def matrix(self, values: Singles) -> sp.csr_array:
        """Return the matrix with these values, other entries absent."""
        return sp.csr_array((values, (self.rows, self.columns)), shape=self.shape)

    def at(self, A: Singles, B: Singles) -> Singles:
        """Return the values of A B' there."""
        return np.asarray(np.einsum("lr,lr->l", A[self.rows], B[self.columns]), dtype=np.float32)


def held_out(n_labels: int, random_state: int | None) -> Mask:
    """Draw about a tenth of the labels."""
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return rng.random(n_labels) < HELD_OUT


def completed(everything: Entries, y: Singles, hidden: Mask) -> Factors:
    """Complete a matrix with the penalty that predicts the hidden entries best.

    The path ends at the first penalty that predicts them worse; without hidden entries, at the strongest.
    """
    shown, asked = everything.only(~hidden), everything.only(hidden)
    best, smallest = (0.0, nothing(everything.shape)), np.inf
    for penalty, Z in _path(shown, y[~hidden]):
        error = float(((asked.at(*Z) - y[hidden]) ** 2).sum())
        if error >= smallest:
            break
        best, smallest = (penalty, Z), error
    penalty, Z = best
    return soft_impute(everything, y, penalty, Z) if penalty else Z


def _path(shown: Entries, y: Singles) -> Iterator[tuple[float, Factors]]:
    """Solve for one penalty after the other, each from the solution before; nothing if no entry is one."""
    Z, largest = nothing(shown.shape), norm(shown.matrix(y))
    for share in PATH if largest else ():
        Z = soft_impute(shown, y, share * largest, Z)
        yield share * largest, Z


def nothing(shape: tuple[int, int]) -> Factors:
    """Return the factors of a matrix of zeros."""
    return np.zeros((shape[0], 0), dtype=np.float32), np.zeros((shape[1], 0), dtype=np.float32)


def soft_impute(known: Entries, y: Singles, penalty: float, start: Factors) -> Factors:
    """Complete a matrix from some of its entries.

        min over Z  1/2 sum over known (Z - y)^2 + penalty ||Z||_*,    Z = A B',  2 ||Z||_* = min ||A||^2 + ||B||^2

    Soft-impute fills in, lowers the singular values and repeats, which takes about 1 / (share known) rounds: hundreds,
    where annotators see a few tasks. The same minimum is found here by ridge regressions of A and B in turn. It is
    one of Z, too, when no singular value of what is left over exceeds the penalty; directions that do are added.
    Returns A (N, r) and B (M, r); warns where 50 rounds of directions do not suffice.

    Cost: O(sum over rows and columns of r d min(d, r)) per sweep for d known entries in each, O(known r) memory, and
    O(min(N, M)^3) per round of directions. Source: Mazumder, Hastie and Tibshirani, JMLR 2010 (problem and warm
    starts); Hastie, Mazumder, Lee and Zadeh, JMLR 2015, Theorem 3 (factors).
    """
    Y = known.matrix(y)
    Yt, (A, B) = Y.T.tocsr(), start
    history = History("soft-impute", max_iter=50, tol=CERTIFIED)
    for _ in history:
        U, s, V = _leading(known.matrix(y - known.at(A, B)), penalty * (1 + CERTIFIED))
        history.record(_objective(known, y, penalty, A, B), change=float(s.max(initial=0.0)) / penalty - 1)
        if history.converged:
            break
        step = np.sqrt(s - penalty)
        A, B = np.hstack([A, U * step]), np.hstack([B, V * step])
        value = np.inf
        for _ in range(100):
            A = _ridge(Y, B, penalty)
            B = _ridge(Yt, A, penalty)
            value, last = _objective(known, y, penalty, A, B), value
            if last - value <= 1e-4 * last:
                break
        A, B = _balanced(A, B)
    history.result()
    return A, B


def _objective(known: Entries, y: Singles, penalty: float, A: Singles, B: Singles) -> float:
    """Of the factors, which bounds that of Z from above."""
    return float(((known.at(A, B) - y) ** 2).sum() + penalty * ((A**2).sum() + (B**2).sum())) / 2


def _ridge(Y: sp.csr_array, B: Singles, penalty: float) -> Singles:
    """Regress the known entries of every row of Y on the rows of B that they belong to, rows as long at once."""
    A = np.zeros((Y.shape[0], B.shape[1]), dtype=np.float32)
    lengths = np.diff(Y.indptr)
    for d in np.unique(lengths[lengths > 0]):
        same = np.flatnonzero(lengths == d)
        for rows in np.array_split(same, 1 + len(same) * d * B.shape[1] // BLOCK):
            places = Y.indptr[rows][:, None] + np.arange(d)
            A[rows] = _regressed(B[Y.indices[places]], Y.data[places], penalty)
    return A


def _regressed(X: Singles, y: Singles, penalty: float) -> Singles:
    """Ridge regressions of n vectors y (n, d) on X (n, d, r), in the smaller of d and r dimensions."""
    Xt = X.transpose(0, 2, 1)
    if X.shape[1] < X.shape[2]:
        return np.asarray((Xt @ np.linalg.solve(_plus(X @ Xt, penalty), y[:, :, None]))[:, :, 0])
    return np.asarray(np.linalg.solve(_plus(Xt @ X, penalty), Xt @ y[:, :, None])[:, :, 0])


def _plus(G: Singles, penalty: float) -> Singles:
    return G + np.float32(penalty) * np.eye(G.shape[1], dtype=np.float32)


def _leading(R: sp.csr_array, above: float) -> tuple[Singles, Singles, Singles]:
    """At most GROWTH leading singular triples of R, singular values above a level only."""
    if R.shape[0] < R.shape[1]:
        V, s, U = _leading(R.T.tocsr(), above)
        return U, s, V
    squares, V = np.linalg.eigh((R.T @ R).toarray())
    kept = squares > above**2
    kept[:-GROWTH] = False
    s, V = np.sqrt(squares[kept]), V[:, kept]
    return (R @ V) / s, s, V


def _balanced(A: Singles, B: Singles) -> Factors:
    """The same product, A'A = B'B diagonal, directions that vanish left out."""
    (Qa, Ra), (Qb, Rb) = np.linalg.qr(A), np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(Ra @ Rb.T, full_matrices=False)
    kept = s > 1e-4 * s.max()
    root = np.sqrt(s[kept])
    return Qa @ (U[:, kept] * root), Qb @ (Vt[kept].T * root)


def gram(X: Singles | sp.csr_array) -> Floats:
    """Return the Gram matrix of the shorter side, in double precision."""
    G = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    return np.asarray(G if isinstance(G, np.ndarray) else G.toarray(), dtype=np.float64)


def norm(X: Singles | sp.csr_array) -> float:
    """Return the largest singular value."""
    return float(np.sqrt(max(np.linalg.eigvalsh(gram(X))[-1], 0.0)))
