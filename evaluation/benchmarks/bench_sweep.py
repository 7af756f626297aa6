"""Whether compiling pays: one sweep of robust imputation, in plain NumPy and as the library runs it.

The NumPy version works on all blocks of an annotator at once; annotators have to come one after another.
"""

from __future__ import annotations

import numpy as np
from bench_crowd import Crowd, crowds
from runner import Bench

from cofactor.core.moments import pairwise_moments
from cofactor.core.types import Floats
from cofactor.crowd.aggregators import START_COUNT
from cofactor.crowd.base import vote_model
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import SMOOTHING, _fit_in_ball, _sweep, factors_of_model

P = 1.0  # the robust criterion


def numpy_sweep(cooc: Cooccurrences, U: Floats) -> Floats:
    """Update the factors of all annotators once."""
    U = U.copy()
    for m in range(cooc.n_workers):
        span = slice(cooc.indptr[m], cooc.indptr[m + 1])
        if span.start < span.stop:
            U[m] = numpy_update(U[m], U[cooc.indices[span]], cooc.blocks[span], cooc.n[span])
    return U


def numpy_update(Um: Floats, Uj: Floats, R: Floats, n: Floats) -> Floats:
    """Weights of Eq. (11), normal equations, ball-constrained fit of one annotator."""
    residual = ((R - np.einsum("ia,jka->jik", Um, Uj)) ** 2).sum(axis=(1, 2))
    weight = n ** (P / 2) * (residual + SMOOTHING) ** (P / 2 - 1)
    weighted = weight[:, None, None] * Uj
    G = np.einsum("jka,jkb->ab", weighted, Uj)
    B = np.einsum("jik,jkb->ib", R, weighted)
    return _fit_in_ball.py_func(G, B)


def compiled_sweep(cooc: Cooccurrences, U: Floats) -> Floats:
    """Do the same with the library's kernel."""
    U = U.copy()
    _sweep(cooc.indptr, cooc.indices, cooc.blocks, cooc.n, U, P)
    return U


def bench_sweeps(bench: Bench, crowd: Crowd) -> None:
    """Time both from the majority-vote start, and see that they agree."""
    labels = crowd.read()
    cooc = Cooccurrences.from_moments(pairwise_moments(labels.table))
    start = factors_of_model(vote_model(labels, START_COUNT))
    slow = bench.measure(crowd.data, "sweep in NumPy", lambda: numpy_sweep(cooc, start))
    numpy = bench.last("NumPy")
    fast = bench.measure(crowd.data, "sweep compiled", lambda: compiled_sweep(cooc, start), reference=numpy)
    np.testing.assert_allclose(fast, slow, atol=1e-8)


def main() -> None:
    """Run on every crowd."""
    bench = Bench("sweep")
    for crowd in crowds(bench.tiny):
        bench_sweeps(bench, crowd)
    bench.finish()


if __name__ == "__main__":
    main()
