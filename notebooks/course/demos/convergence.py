"""What notebook 04 measures: how fast SymNMF finds a factor, with and without shift, from good and bad starts.

symbol   meaning                                               shape
H, U     nonnegative factor, and the square root of H H'       (J, K)
e_t      ||H P - H_t||_F^2 / K after t iterations
rho      factor by which e_t shrinks per iteration
psi      of the schedule alpha_t = psi^(t + 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.alignment import match_columns
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import Operator, Shift, convergence_curve, symnmf, symnmf_steps

PLAIN, ZERO, CLAMP = "no shift", "zero below the shift", "clamp up to the shift"
DEEP = 1e-20  # squared errors below are rounding


def schedule(psi: float) -> Callable[[int], float]:
    """Return alpha_t = psi^(t + 1), the schedule of the paper's Figures 2 and 3."""
    return partial(_power, psi)


def _power(psi: float, t: int) -> float:
    return float(psi ** (t + 1))


@dataclass(frozen=True)
class Race:
    """Errors of the three iterations on the same problems: per iteration a (trials, T + 1) array."""

    curves: dict[str, Floats]
    setting: str

    def median(self, name: str) -> Floats:
        """(T + 1,) median over trials."""
        return np.asarray(np.median(self.curves[name], axis=0))

    def first_below(self, level: float) -> dict[str, int | None]:
        """First iteration whose median error is below a level; None where none is."""
        below = {name: np.flatnonzero(self.median(name) < level) for name in self.curves}
        return {name: int(t[0]) if len(t) else None for name, t in below.items()}


@lru_cache(maxsize=64)
def race(
    density: float = 0.5,
    psi: float = 0.75,
    snr_db: float | None = None,
    n_rows: int = 1000,
    n_trials: int = 20,
    n_iter: int = 60,
) -> Race:
    """Run the three iterations of Figures 2 and 3 on random problems; about 20 ms per curve of 1000 rows."""
    ways: dict[str, tuple[Shift, Operator]] = {
        PLAIN: (0.0, "zero"), ZERO: (schedule(psi), "zero"), CLAMP: (schedule(psi), "clamp")
    }  # fmt: skip
    problems = [simulate.symnmf_problem(n_rows, 3, density, snr_db, seed) for seed in range(n_trials)]
    curves = {
        name: np.array([convergence_curve(U, H, *way, n_iter) for U, H in problems]) for name, way in ways.items()
    }
    noise = "no noise" if snr_db is None else f"{snr_db:g} dB"
    return Race(curves, f"{100 * density:.0f} % nonzeros, psi = {psi:g}, {noise}")


def linear_rate(errors: Floats, first: int = 10) -> float:
    """Fit log e_t by a line over t >= first, as far as e_t is above rounding; return rho, the factor per iteration."""
    t = np.arange(len(errors))
    good = (t >= first) & (errors > DEEP)
    if good.sum() < 3:
        raise CofactorError(f"fewer than three errors above rounding from iteration {first} on: start earlier")
    return float(np.exp(np.polyfit(t[good], np.log(errors[good]), 1)[0]))


@dataclass(frozen=True)
class Film:
    """The rotated rows U Q after some iterations: list of (J, K) arrays, with the iteration and error of each."""

    frames: list[Floats]
    iterations: list[int]
    errors: list[float]


def film(U: Floats, H: Floats, iterations: tuple[int, ...] = (0, 1, 2, 5, 20)) -> Film:
    """Watch U Q turn: iteration t has Q after t steps of plain SymNMF. Classes stand in the order of H at the end."""
    last = max(iterations)
    steps = list(islice(symnmf_steps(U), last + 1))
    order = match_columns(H, steps[-1].H)
    curve = convergence_curve(U, H, n_iter=last + 1)
    # step t + 1 shows U Q before its turn, that is after t turns
    return Film([steps[t].Z[:, order] for t in iterations], list(iterations), [float(curve[t + 1]) for t in iterations])


@dataclass(frozen=True)
class Starts:
    """Where SymNMF ends from many random rotations of one square root.

    Attributes
    ----------
    objective : (starts,) array
        ||H - U Q||_F^2 / ||U||_F^2 at the end; the first start is Q = I on principal axes.
    error : (starts,) array
        min over P of ||H P - H_end||_F^2 / ||H||_F^2.
    converged : (starts,) bool
    """

    objective: Floats
    error: Floats
    converged: NDArray[np.bool_]


def random_rotation(n_classes: int, seed: int) -> Floats:
    """Return a random orthogonal (K, K) matrix, uniformly distributed."""
    return np.asarray(ortho_group.rvs(n_classes, random_state=seed))


def many_starts(U: Floats, H: Floats, n_starts: int = 20, max_iter: int = 3000) -> Starts:
    """Run `symnmf` from Q = I and from random rotations; another start is another square root U Q_0."""
    ends = []
    for seed in range(n_starts):
        Q = np.eye(U.shape[1]) if seed == 0 else random_rotation(U.shape[1], seed)
        found, _, result = symnmf(U @ Q, max_iter=max_iter)
        distance = np.sum((H - found[:, match_columns(H, found)]) ** 2)
        ends.append((result.objective[-1] / np.sum(U**2), distance / np.sum(H**2), result.converged))
    objective, error, converged = zip(*ends, strict=True)
    return Starts(np.array(objective), np.array(error), np.array(converged))
