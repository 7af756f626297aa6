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
from evaluation.experiment import PAPER_PROTOCOL, Measurement, experiment, measure
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


@experiment(
    "comparisons-figure1",
    title="Figure 1: starts at three distances",
    source="Sankagiri, Etesami and Grossglauser, ICML 2025, Figure 1",
    settings={
        "200x300,unit": "200 x 300, unit rows",
        "200x300,gauss": "200 x 300, Gaussian",
        "2000x3000,unit": "2000 x 3000, unit rows",
        "2000x3000,gauss": "2000 x 3000, Gaussian",
    },
    metrics={
        "t=0": "1",
        "t=10": "1",
        "t=20": "1",
        "t=50": "1",
        "t=100": "1",
        "t=150": "1",
        "t=200": "1",
        "t=300": "1",
        "t=400": "1",
        "t=500": "1",
    },
    trials=5,
    told=False,
    centre="median",
    plot="curves",
    axis="$\\|\\Delta(Z_t)\\|_F / \\sqrt{n_1 n_2}$",
)
def starts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Figure 1 a and c: starts at three distances, with and without projections, and the released constants.

    Rank 3, exact outcomes, step of one over the curvature at the truth, n1 (n2 - 1) / sigma_1, halved where f grows;
    lambda = gamma/40. The text has Gaussian truths, the released notebook rows of length one: both are shown. As many
    comparisons as in the released notebook. Projections make no difference with the true incoherence; with the
    printed one, 1.01, which no matrix of this shape can have (at least 1.25), they keep the error from falling.
    'theta=1 (paper protocol)' has the step and the weight of the regulariser of the released notebook, n1 n2 / (280
    mu r)^2 and 200 / (n1 n2): it moves the error by a tenth in 500 steps, so that the printed curves cannot come from
    these constants; Theorem 4.1 asks for 1e25 steps and more. 'released balance' has that regulariser and one over
    its curvature as the step: the regulariser alone, 3,990 times that of the text, holds the descent up.
    """
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


@experiment(
    "comparisons-figure1-amounts",
    like="comparisons-figure1",
    title="Figure 1: numbers of comparisons",
)
def amounts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Figure 1 b and d: more and more comparisons, from theta = 1."""
    problem = Problem(setting, rng)
    rows: list[Measurement] = []
    for share in PER_DEGREE[setting.split(",")[0]]:
        data = problem.compared(round(share * degrees_of_freedom(problem.n1, problem.n2, RANK)))
        rows += measure(f"{share:g} per degree", partial(problem.curve, data, 1.0, learning_rate=problem.step))
    return rows


@experiment(
    "comparisons-text",
    title="Numbers in the text: the drawn truths",
    source="Sankagiri, Etesami and Grossglauser, ICML 2025, Section 6",
    settings={
        "200x300,gauss": "200 x 300, Gaussian",
        "2000x3000,gauss": "2000 x 3000, Gaussian",
        "200x300,unit": "200 x 300, unit rows",
        "2000x3000,unit": "2000 x 3000, unit rows",
    },
    metrics={"mu": "1", "kappa": "1"},
    trials=20,
    told=False,
    published="comparisons_text",
)
def constants(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """What the text says of the truth: its incoherence, and sigma_1 / sigma_r of its utilities.

    Incoherence mu, Eq. (10), and kappa, the largest over the least singular value of the utilities, of truths of rank
    3, Gaussian as in the text and with rows of length one as in the released notebook. Less is better conditioned.
    """
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
AT_ONCE = (2, 4, 6), 50_000  # ranks and number for which the published recipe is run in the first trial


@experiment(
    "comparisons-figure2",
    title="Figure 2: rank and number of comparisons",
    source="Sankagiri, Etesami and Grossglauser, ICML 2025, Figure 2 and Appendix F",
    settings={
        "m=30,000": "30,000 comparisons",
        "m=40,000": "40,000 comparisons",
        "m=50,000": "50,000 comparisons",
        "m=60,000": "60,000 comparisons",
        "m=70,000": "70,000 comparisons",
        "m=80,000": "80,000 comparisons",
        "m=90,000": "90,000 comparisons",
        "m=100,000": "100,000 comparisons",
    },
    metrics={"error": "1", "relative": "1", "success": "share of trials", "passes": "1"},
    trials=10,
    plot="sweep",
)
def ranks(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One number of comparisons: every rank, by the default solver and as published.

    2000 users, 3000 items, Gaussian truths of rank 2 to 6, exact outcomes. 'r=2': spectral start, L-BFGS after steps
    of Barzilai and Borwein, 300 passes; below three comparisons per degree of freedom the first 50 have a ridge,
    which keeps features from running off. 'not eased' goes without, and gets stuck in some instances of rank 4 to 6
    at 50,000. 'r=2 (paper protocol)': Adam on mini-batches of 100, rate 1e-3, c = 0.01, 300 epochs, as published
    (fresh data in every cell here). The figure shows how far Adam gets, not how many comparisons are needed: c = 0.01,
    which Appendix F prints, is some 120,000 gamma and 4.8 million times the gamma/40 of the theory, which makes the
    problem stiff, and Adam's steps do not shrink. Above a relative error of one a fit is worse than predicting nothing.
    Success: relative error below 1e-6. In the first trial three cells alone are run as published: each takes 3 to 30
    seconds.
    """
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


@experiment(
    "comparisons-starts",
    title="Random starts against the spectral start",
    source="Beyond Sankagiri, Etesami and Grossglauser, ICML 2025",
    settings={
        "unit,m/dof=1.5": "unit rows, 1.5 per degree of freedom",
        "unit,m/dof=2": "unit rows, 2 per degree of freedom",
        "unit,m/dof=2.5": "unit rows, 2.5 per degree of freedom",
        "unit,m/dof=3": "unit rows, 3 per degree of freedom",
        "unit,m/dof=5": "unit rows, 5 per degree of freedom",
        "gauss,m/dof=1.5": "Gaussian, 1.5 per degree of freedom",
        "gauss,m/dof=2": "Gaussian, 2 per degree of freedom",
        "gauss,m/dof=2.5": "Gaussian, 2.5 per degree of freedom",
        "gauss,m/dof=3": "Gaussian, 3 per degree of freedom",
        "gauss,m/dof=5": "Gaussian, 5 per degree of freedom",
    },
    metrics={"success": "share of trials", "passes": "1"},
    trials=10,
)
def from_starts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Solve from a spectral start, and from random ones of different size.

    200 users, 300 items, rank 3, exact outcomes, the default solver for at most 500 steps. Success: relative error
    below 1e-3. Random starts have standard deviations of 0.001, 0.3 and 2 times the root mean square of true
    features. The paper says that starts from singular vectors do not work here.
    """
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
