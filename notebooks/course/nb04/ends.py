"""Runs of SymNMF from which a failure is read off: five random problems of four kinds, ten starts each.

kind   what went wrong                        what the ten starts show
1      some starts are stuck                  some fit, the others stop at a misfit
2      the factor is not unique               all fit, with results far from each other
3      stopped too early                      none fits yet, and the misfits are still falling
4      the shift is above some nonzeros       none fits, and all stop at the same result
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.latent_class import match_columns
from cofactor.core.types import Floats, Ints
from cofactor.crowd.symnmf import principal_root

N_STARTS, N_ITER = 10, 120
FITS = 1e-7  # relative misfits below are perfect
LATE = 20  # last iterations, over which a misfit falls or has stopped
SEEDS = {1: (4, 15, 44), 2: (0, 1, 3, 5), 3: (0, 1, 2, 3), 4: (1, 2, 3, 5)}  # of problems that show their kind clearly


def ends(seed: int) -> dict[str, Any]:
    """Return the misfits (5, 10, 120) of five problems by iteration, and the distance of each result (5, 10).

    Distances are relative, from the result with the smallest misfit, in the best order of the classes.
    """
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.append([1, 2, 3, 4], rng.integers(1, 5)))
    found, orders = [], [rng.permutation(N_STARTS) for _ in kinds]
    for kind, order in zip(kinds, orders, strict=True):
        misfits, far = runs(int(kind), int(rng.choice(SEEDS[int(kind)])))
        found.append((misfits[order], far[order]))
    misfits, far = map(np.stack, zip(*found, strict=True))
    return {"misfits": misfits, "far": far}


@cache
def runs(kind: int, seed: int) -> tuple[Floats, Floats]:
    """Return the misfits (10, 120) and the distances (10,) of the results of one problem of this kind."""
    U, alpha = problem(kind, seed), 0.3 if kind == 4 else 0.0
    steps = [run(U, start(U, number), alpha) for number in range(N_STARTS)]
    misfits = np.array([misfit for misfit, _ in steps])
    best = steps[misfits[:, -1].argmin()][1]
    far = [np.linalg.norm(best - H[:, match_columns(best, H)]) for _, H in steps]
    return misfits, np.array(far) / np.linalg.norm(best)


def problem(kind: int, seed: int) -> Floats:
    """Return the square root U of a problem of this kind."""
    if kind == 2:  # no zeros: many rotations keep all positive
        return principal_root(0.3 + 0.7 * np.random.default_rng(seed).random((15, 3)))
    size = {1: (12, 4, 0.5), 3: (200, 3, 0.97), 4: (200, 3, 0.5)}[kind]
    return simulate.symnmf_problem(*size, random_state=seed)[0]


def start(U: Floats, number: int) -> Floats:
    """Return a rotation: the identity first, then random ones under which no column is all negative."""
    K = U.shape[1]
    Q = ortho_group.rvs(K, random_state=number) if number else np.eye(K)
    return np.asarray(Q * np.sign((U @ Q).sum(axis=0)))


def run(U: Floats, Q: Floats, alpha: float) -> tuple[list[float], Floats]:
    """Return the relative misfits of N_ITER steps, and the last H."""
    misfits = []
    for _ in range(N_ITER):
        Z = U @ Q
        H = np.where(alpha <= Z, Z, 0.0) if alpha else np.maximum(Z, 0.0)
        misfits.append(float(np.sum((H - Z) ** 2) / np.sum(U**2)))
        W, _, Vt = np.linalg.svd(H.T @ U)
        Q = (W @ Vt).T
    return misfits, H


def kind_of(misfits: Floats) -> int:
    """Return the kind of a problem, from the misfits (10, 120) of its starts."""
    last = misfits[:, -1]
    if (last < FITS).all():
        return 2
    if (last < FITS).any():
        return 1
    return 4 if (misfits[:, -LATE] - last < 0.01 * last).all() else 3


def kinds(misfits: Floats) -> Ints:
    """Return the kinds of all problems."""
    return np.array([kind_of(one) for one in misfits])
