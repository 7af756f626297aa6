"""One pass of loss and gradient over all comparisons, beside PyTorch's autograd on the same data.

CPU seconds, one thread and 64 bits for both. The small problem is that of the paper's Figure 2 (2000 users, 3000 items,
rank 3, 100,000 comparisons); the large one has 20,000 users, 10,000 items, rank 10 and ten million. "ns per label" is
per comparison. PyTorch comes with the `deep` extra and serves only as the yardstick: gather, logistic loss, backward.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from runner import Bench, Reference
from threadpoolctl import threadpool_limits

from cofactor import Comparisons, simulate
from cofactor.comparisons import Objective, barzilai_borwein, lbfgs, spectral_start

try:
    import torch
except ImportError:
    torch = None
    print("!!! SKIPPED PyTorch: not installed, see the extra `deep`", file=sys.stderr, flush=True)

PATIENCE = 5.0
LEAST_RATIO = 8.0  # PyTorch's time over ours

Sizes = tuple[str, int, int, int, int]  # name, users, items, rank, comparisons
FULL: tuple[Sizes, ...] = (
    ("2000 x 3000, rank 3", 2000, 3000, 3, 100_000),
    ("20000 x 10000, rank 10", 20_000, 10_000, 10, 10_000_000),
)
TINY: tuple[Sizes, ...] = (("tiny", 50, 40, 3, 1000),)


def main() -> None:
    """Run every stage."""
    bench = Bench("comparisons", clock=time.process_time, patience=PATIENCE)
    with threadpool_limits(1):
        for size in TINY if bench.tiny else FULL:
            _passes(bench, *size)
        _fits(bench)
        bench.finish()


def _passes(bench: Bench, name: str, n_users: int, n_items: int, rank: int, m: int) -> None:
    U, V = simulate.comparison_factors(n_users, n_items, rank, random_state=0)
    for kind in ("binary", "exact"):
        data = simulate.draw_comparisons(U, V, m, kind, random_state=1)
        objective = Objective(data, rank, balance=0.0, n_threads=1)
        x = objective.join(1.1 * U, 0.9 * V)
        reference = _autograd_time(bench, data, 1.1 * U, 0.9 * V) if torch else None
        _, seconds = bench.time(partial(objective, x))
        stage = f"loss and gradient, {'choices' if kind == 'binary' else 'chances'}"
        bench.add((name, m), stage, seconds, reference=reference)
        if reference and min(seconds) * LEAST_RATIO > reference.seconds:
            print(f"less than {LEAST_RATIO:g} times as fast as PyTorch")


def _autograd_time(bench: Bench, data: Comparisons, U, V) -> Reference:
    """Time what does the same as one pass, by autograd."""
    torch.set_num_threads(1)
    u, i, j = (torch.from_numpy(code.astype("int64")) for code in (data.user, data.left, data.right))
    w = torch.from_numpy(data.outcome)
    A, B = torch.tensor(U, requires_grad=True), torch.tensor(V, requires_grad=True)

    def call():
        A.grad = B.grad = None
        z = (A[u] * (B[i] - B[j])).sum(dim=1)
        torch.nn.functional.binary_cross_entropy_with_logits(z, w).backward()
        return A.grad

    return Reference(min(bench.time(call)[1]), "PyTorch autograd, 64 bits")


def _fits(bench: Bench) -> None:
    """The paper's Figure 2 at 100,000 comparisons, start included, down to a gradient of 1e-10."""
    n_users, n_items, m = (50, 40, 1000) if bench.tiny else (2000, 3000, 100_000)
    U, V = simulate.comparison_factors(n_users, n_items, 3, "gauss", random_state=0)
    data = simulate.draw_comparisons(U, V, m, "exact", random_state=1)
    for name, solver in {"Barzilai-Borwein": barzilai_borwein, "L-BFGS": lbfgs}.items():

        def fit(solver=solver):
            objective = Objective(data, 3)
            return solver(objective, objective.join(*spectral_start(data, 3, random_state=0)), tol=1e-10)

        bench.measure(("tiny" if bench.tiny else "Figure 2, 2000 x 3000", m), f"spectral start and {name}", fit)


if __name__ == "__main__":
    main()
