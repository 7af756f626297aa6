"""The panels of notebook 04: the race of the three iterations, and how the rows turn.

symbol   meaning                                               shape
H, U     nonnegative factor, and the square root of H H'       (J, K)
e_t      ||H P - H_t||_F^2 / K after t iterations
psi      of the schedule alpha_t = psi^(t + 1)
"""

from __future__ import annotations

from itertools import islice

import ipywidgets as w
import numpy as np

from cofactor import simulate
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import Operator, Shift, convergence_curve, symnmf_steps
from cofactor_app.plots.style import number
from course.nb04.pictures import draw_race, draw_turn
from course.panel import Panel, choice, slider

NOISE = (("none", np.inf), ("40 dB", 40.0), ("30 dB", 30.0), ("20 dB", 20.0), ("10 dB", 10.0))
NONZEROS = "share of nonzeros of H (φ)"
LAST = 60  # step that the film ends with


def race_panel() -> Panel:
    """Change sparsity, schedule and noise; see the three iterations race."""
    controls = {
        "density": slider(w.FloatSlider, 0.5, 0.2, 0.9, 0.1, NONZEROS),
        "psi": slider(w.FloatSlider, 0.75, 0.3, 0.95, 0.05, "schedule ψ"),
        "snr_db": choice(w.Dropdown, NOISE, np.inf, "noise"),
    }
    return Panel(controls, race, draw_race, describe_race)


def race(density: float, psi: float, snr_db: float, n_rows: int = 400, n_trials: int = 10) -> dict[str, Floats]:
    """Run the three iterations on the same random problems; (trials, 61) errors of each. `snr_db` inf: no noise."""

    def schedule(t: int) -> float:
        return float(psi ** (t + 1))

    ways: dict[str, tuple[Shift, Operator]] = {
        "no shift": (0.0, "zero"),
        "zero below the shift": (schedule, "zero"),
        "clamp up to the shift": (schedule, "clamp"),
    }
    level = snr_db if np.isfinite(snr_db) else None
    problems = [simulate.symnmf_problem(n_rows, 3, density, level, seed) for seed in range(n_trials)]
    return {name: np.array([convergence_curve(U, H, *way) for U, H in problems]) for name, way in ways.items()}


def describe_race(curves: dict[str, Floats]) -> str:
    """Say where all ended."""
    told = "; ".join(f"{name}: {number(float(np.median(each[:, -1])))}" for name, each in curves.items())
    return f"Median error after 60 iterations: {told}."


def film_panel(seed: int = 0) -> Panel:
    """Turn by hand: choose the iteration and the sparsity, see the cloud and its error."""

    def compute(after: int, density: float) -> dict[str, Floats]:
        return film(*simulate.symnmf_problem(300, 3, density, random_state=seed), (0, after, LAST))

    controls = {
        "after": slider(w.IntSlider, 1, 1, LAST - 1, 1, "steps"),
        "density": slider(w.FloatSlider, 0.5, 0.2, 0.9, 0.1, NONZEROS),
    }
    return Panel(controls, compute, draw_turn, lambda frames: "; ".join(frames).replace("\n", ": ") + ".")


def film(U: Floats, H: Floats, steps: tuple[int, ...]) -> dict[str, Floats]:
    """Return the rows of U Q after some plain steps, by a title with the error e_t."""
    rows = [step.Z for step in islice(symnmf_steps(U), max(steps) + 1)]
    errors = convergence_curve(U, H, n_iter=max(steps))
    return {f"after {t} step{'' if t == 1 else 's'}\nerror {number(errors[t])}": rows[t] for t in steps}
