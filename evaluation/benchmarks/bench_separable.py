"""One step of MERIT beside the matrix product it cannot do without, and simplex least squares at the paper's size.

CPU seconds, one thread. The product is numpy's X'R of the same sizes in double precision, a thousand columns at a time,
the scores thrown away: what a step would take if it did nothing but the product. "ns per label" is per point.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from runner import Bench, Reference
from threadpoolctl import threadpool_limits

from cofactor import simulate
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.merit import descend

STEPS = 4  # timed together: what starts a run is shared by them
RELEASED = {(50, 10_000): 1.159, (6, 6_437): 0.306}  # one step of the released core, on another machine
FULL, TINY = ((50, 10_000, 40), (6, 6_437, 6)), ((6, 300, 6),)  # rows, points, anchors


def main() -> None:
    """Run every stage."""
    bench = Bench("separable", clock=time.process_time)
    with threadpool_limits(1):
        for M, N, K in TINY if bench.tiny else FULL:
            X = simulate.dirichlet_mixtures(M, N, K, 10.0, random_state=0).X
            data = ("tiny" if bench.tiny else f"{M} x {N}"), N
            bench.measure(data, "product X'R in numpy", partial(_product, X))
            _steps(bench, data, X, bench.last("the product alone"))
        M, N, K = (6, 300, 4) if bench.tiny else (50, 10_000, 40)
        truth = simulate.dirichlet_mixtures(M, N, K, 10.0, random_state=0)
        data = ("tiny" if bench.tiny else f"{M} x {N}"), N
        call = partial(simplex_least_squares, truth.W, truth.X)
        bench.measure(data, f"simplex least squares, {K} atoms", call)
    bench.finish()


def _product(X: np.ndarray) -> None:
    for start in range(0, X.shape[1], 1000):
        X[:, start : start + 1000].T @ X


def _steps(bench: Bench, data: tuple[str, int], X: np.ndarray, product: Reference) -> None:
    for kind in (np.float32, np.float64):
        run = partial(descend, X, None, 0, 0.25, 1e-5, STEPS, -np.inf, kind, 1)
        _, seconds = bench.time(run)
        each = [value / STEPS for value in seconds]
        stage = f"MERIT, one step, {np.dtype(kind).name} scores"
        bench.add(data, stage, each, reference=product)
        if kind is np.float32 and X.shape in RELEASED:
            released = Reference(RELEASED[X.shape], "the released core, on another machine")
            bench.add(data, stage, each, reference=released)


if __name__ == "__main__":
    main()
