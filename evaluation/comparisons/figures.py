"""Figures 1 and 2: exact outcomes, known features.

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, cast

import numpy as np

from cofactor.comparisons import (
    Comparisons,
    Objective,
    degrees_of_freedom,
    eased_start,
    feature_error,
    gradient_descent,
    lbfgs,
    random_start,
    spectral_start,
    utility_error,
)
from cofactor.core.types import Floats
from cofactor.simulate import comparison_factors, draw_comparisons
from evaluation.experiment import PAPER_PROTOCOL, Measurement, measure
from evaluation.released.comparisons import (
    PRINTED_BALANCE,
    adam,
    glorot_start,
    incoherence,
    projected_gradient_descent,
)

Kind = Literal["unit", "gauss"]

RANK = 3
COMPARED = {"200x300": 5_554, "2000x3000": 138_863}  # of the released notebook
SHOWN = (0, 10, 20, 50, 100, 150, 200, 300, 400, 500)
PRINTED_MU = 1.01


def sizes(setting: str) -> tuple[int, int]:
    """Users and items of a setting such as "200x300,unit"."""
    n1, n2 = setting.split(",")[0].split("x")
    return int(n1), int(n2)


class Problem:
    """Features, a start that is theta off, and what a descent is measured by."""

    def __init__(self, setting: str, rng: np.random.Generator) -> None:
        self.n1, self.n2 = sizes(setting)
        kind = cast(Kind, setting.split(",")[1])
        self.U, self.V = comparison_factors(self.n1, self.n2, RANK, kind, random_state=rng)
        self.seed = int(rng.integers(2**31))

    def compared(self, m: int) -> Comparisons:
        """Draw exact outcomes."""
        return draw_comparisons(self.U, self.V, m, "exact", random_state=self.seed)

    def start(self, objective: Objective, theta: float) -> Floats:
        """Return the truth with noise of standard deviation theta."""
        rng = np.random.default_rng(self.seed + 1)
        dU, dV = rng.standard_normal(self.U.shape), rng.standard_normal(self.V.shape)
        return objective.join(self.U + theta * dU, self.V + theta * (dV - dV.mean(axis=0)))

    @property
    def step(self) -> float:
        """One over the curvature at the truth, n1 (n2 - 1) / sigma_1."""
        return float(self.n1 * (self.n2 - 1) / np.linalg.norm(self.U, 2) ** 2)

    @property
    def released_step(self) -> float:
        """n1 n2 / (280 mu r)^2, a several hundredth of that and less."""
        return self.n1 * self.n2 / (280 * PRINTED_MU * RANK) ** 2

    @property
    def released_balance(self) -> float:
        """4 * 50 / (n1 n2), 3,990 times what the text says."""
        return 200 / (self.n1 * self.n2)

    def curve(
        self,
        data: Comparisons,
        theta: float,
        balance: float | None = None,
        mu: float | None = None,
        learning_rate: float | None = None,
    ) -> dict[str, float]:
        """Descend, projected where mu is given; the error of the figure's axis at the iterations shown."""
        descend = gradient_descent if mu is None else partial(projected_gradient_descent, mu=mu)
        objective, errors = Objective(data, RANK, balance=balance), list[float]()

        def note(x: Floats) -> None:
            errors.append(feature_error(*objective.split(x)[:2], self.U, self.V) / np.sqrt(self.n1 * self.n2))

        limits = SHOWN[-1], 0.0
        _, result = descend(objective, self.start(objective, theta), *limits, note, learning_rate=learning_rate)
        errors = errors[-1 - result.n_iter :]  # steps that were too long began again
        return {f"t={t}": errors[min(t, result.n_iter)] for t in SHOWN}


def starts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Figure 1 a and c: starts at three distances, with and without projections, and the released constants."""
    problem = Problem(setting, rng)
    data = problem.compared(COMPARED[setting.split(",")[0]])
    own, mu = {"learning_rate": problem.step}, incoherence(problem.U, problem.V)
    runs: dict[str, Callable[[], Mapping[str, float]]] = {}
    for theta in (0.5, 1.0, 2.0):
        runs[f"theta={theta:g}"] = partial(problem.curve, data, theta, **own)
        runs[f"theta={theta:g}, projected"] = partial(problem.curve, data, theta, mu=mu, **own)
    runs["theta=0.5, projected, printed mu"] = partial(problem.curve, data, 0.5, mu=PRINTED_MU, **own)
    runs["theta=1, released balance"] = partial(problem.curve, data, 1.0, problem.released_balance)
    runs["theta=1" + PAPER_PROTOCOL] = partial(
        problem.curve, data, 1.0, problem.released_balance, learning_rate=problem.released_step
    )
    return [row for name, run in runs.items() for row in measure(name, run)]


PER_DEGREE = {"200x300": (1.0, 1.5, 2.0, 2.5, 3.0, 3.7, 5.0, 8.6), "2000x3000": (1.5, 2.0, 3.0, 4.0, 9.3)}


def amounts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Figure 1 b and d: more and more comparisons, from theta = 1."""
    problem = Problem(setting, rng)
    rows: list[Measurement] = []
    for share in PER_DEGREE[setting.split(",")[0]]:
        data = problem.compared(round(share * degrees_of_freedom(problem.n1, problem.n2, RANK)))
        rows += measure(f"{share:g} per degree", partial(problem.curve, data, 1.0, learning_rate=problem.step))
    return rows


def constants(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """What the text says of the truth: its incoherence, and sigma_1 / sigma_r of its utilities."""
    return measure("truth", partial(_constants, Problem(setting, rng)))


def _constants(problem: Problem) -> dict[str, float]:
    spread = np.linalg.svd(np.linalg.qr(problem.U)[1] @ np.linalg.qr(problem.V)[1].T, compute_uv=False)
    return {"mu": incoherence(problem.U, problem.V), "kappa": float(spread[0] / spread[-1])}


# ---- Figure 2 ----

RANKS = (2, 3, 4, 5, 6)
SHAPE = 2000, 3000
EPOCHS = 300
EXACT = 1e-6  # relative error
MOST_PASSES = 300
QUICK = 1
AT_ONCE = (2, 4, 6), 50_000  # ranks and number for which the published recipe is run in the quick profile


def ranks(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One number of comparisons: every rank, by the default solver and as published."""
    U, V = comparison_factors(*SHAPE, max(RANKS), "gauss", random_state=rng)
    order, m = np.argsort(-np.sum(U**2, axis=0)), int(setting.removeprefix("m=").replace(",", ""))
    seed = int(rng.integers(2**31))
    rows: list[Measurement] = []
    for rank in RANKS:
        true = U[:, order[:rank]], V[:, order[:rank]]
        objective = Objective(draw_comparisons(*true, m, "exact", random_state=seed), rank)
        rows += measure(f"r={rank}", partial(_solved, objective, true, seed))
        rows += measure(f"r={rank}, not eased", partial(_at_once, Objective(objective.data, rank), true, seed))
        if trial >= QUICK or (rank in AT_ONCE[0] and m == AT_ONCE[1]):
            printed = Objective(objective.data, rank, balance=PRINTED_BALANCE)
            rows += measure(f"r={rank}{PAPER_PROTOCOL}", partial(_as_published, printed, true, seed))
    return rows


def _solved(objective: Objective, true: tuple[Floats, Floats], seed: int) -> dict[str, float]:
    """Start at the singular vectors, eased where comparisons are few."""
    start = objective.join(*spectral_start(objective.data, objective.rank, random_state=seed))
    start = eased_start(objective, start)
    x, _ = lbfgs(objective, start, max_iter=MOST_PASSES - objective.n_passes)
    return _errors(objective, x, true) | {"passes": objective.n_passes}


def _at_once(objective: Objective, true: tuple[Floats, Floats], seed: int) -> dict[str, float]:
    """Spectral start, no ridge at all."""
    start = objective.join(*spectral_start(objective.data, objective.rank, random_state=seed))
    x, _ = lbfgs(objective, start, max_iter=MOST_PASSES)
    return _errors(objective, x, true) | {"passes": objective.n_passes}


def _as_published(objective: Objective, true: tuple[Floats, Floats], seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    x, _ = adam(objective, glorot_start(objective, rng), EPOCHS, random_state=rng)
    return _errors(objective, x, true) | {"passes": EPOCHS}


def _errors(objective: Objective, x: Floats, true: tuple[Floats, Floats]) -> dict[str, float]:
    U, V, _ = objective.split(x)
    relative = utility_error(U, V, *true)
    error = utility_error(U, V, *true, relative=False) / np.sqrt(SHAPE[0] * SHAPE[1])
    return {"error": error, "relative": relative, "success": float(relative < EXACT)}


# ---- starts ----

FACTORS = {"random, 0.001": 1e-3, "random, 0.3": 0.3, "random, 2": 2.0}
SOLVED = 1e-3  # relative error


def from_starts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Solve from a spectral start, and from random ones of different size."""
    kind, share = setting.split(",m/dof=")
    problem = Problem(f"200x300,{kind}", rng)
    objective = Objective(problem.compared(round(float(share) * degrees_of_freedom(200, 300, RANK))), RANK)
    typical = float(np.sqrt((np.mean(problem.U**2) + np.mean(problem.V**2)) / 2))
    draws = {"spectral": partial(spectral_start, objective.data, RANK, random_state=problem.seed)} | {
        name: partial(random_start, objective.data, RANK, scale * typical, problem.seed)
        for name, scale in FACTORS.items()
    }
    return [row for name, draw in draws.items() for row in measure(name, partial(_from, objective, draw, problem))]


def _from(objective: Objective, draw: Callable[[], tuple[Floats, Floats]], problem: Problem) -> dict[str, float]:
    before = objective.n_passes
    x, _ = lbfgs(objective, objective.join(*draw()), max_iter=500)
    error = utility_error(*objective.split(x)[:2], problem.U, problem.V)
    return {"success": float(error < SOLVED), "passes": objective.n_passes - before}
