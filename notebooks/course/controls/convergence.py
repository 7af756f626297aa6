"""The panels of notebook 04: the race of the three iterations, and where starts end."""

from __future__ import annotations

import warnings

import ipywidgets as w

from cofactor import simulate
from cofactor.core.errors import ConvergenceWarning
from cofactor.plots.style import number
from course.panel import Panel, choice, slider
from course.demos.convergence import Film, Race, Starts, film, many_starts, race
from course.figures.convergence import STUCK, WRONG, draw_film, draw_race, draw_starts

NOISE = (("none", None), ("40 dB", 40.0), ("30 dB", 30.0), ("20 dB", 20.0), ("10 dB", 10.0))


def race_panel() -> Panel:
    """Change sparsity, schedule and noise; see the three iterations race."""

    def compute(density: float, psi: float, snr_db: float | None) -> Race:
        return race(density, psi, snr_db, 400, 10)

    controls = {
        "density": slider(w.FloatSlider, 0.5, 0.2, 0.9, 0.1, "share of nonzeros of H (φ)"),
        "psi": slider(w.FloatSlider, 0.75, 0.3, 0.95, 0.05, "schedule ψ"),
        "snr_db": choice(w.Dropdown, NOISE, None, "noise"),
    }
    return Panel(controls, compute, draw_race, describe_race)


def describe_race(outcome: Race) -> str:
    """Say who arrived first, and where all ended."""
    ends = {name: float(outcome.median(name)[-1]) for name in outcome.curves}
    told = "; ".join(f"{name}: {number(end)}" for name, end in ends.items())
    return f"Median error after {outcome.median(next(iter(ends))).size - 1} iterations: {told}."


def film_panel(seed: int = 0) -> Panel:
    """Turn by hand: choose the iteration and the sparsity, see the cloud and its error."""

    def compute(after: int, density: float) -> Film:
        U, H = simulate.symnmf_problem(300, 3, density, random_state=seed)
        return film(U, H, (0, after, 60))

    controls = {
        "after": slider(w.IntSlider, 1, 1, 59, 1, "steps"),
        "density": slider(w.FloatSlider, 0.5, 0.2, 0.9, 0.1, "share of nonzeros of H (φ)"),
    }
    return Panel(controls, compute, draw_film, describe_film)


def describe_film(outcome: Film) -> str:
    """Say how large the error is now, and at the end."""
    now, end = (number(error) for error in outcome.errors[1:])
    return f"After step {outcome.iterations[1]} the error is {now}, after step {outcome.iterations[2]} {end}."


def starts_panel() -> Panel:
    """Choose how many rows there are, how dense, and the seed; see where twelve starts end."""

    def compute(n_rows: int, density: float, seed: int) -> Starts:
        U, H = simulate.symnmf_problem(n_rows, 4, density, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told in the sentence
            return many_starts(U, H, 12, 2000)

    controls = {
        "n_rows": choice(w.SelectionSlider, (12, 20, 50, 200), 12, "rows of H"),
        "density": slider(w.FloatSlider, 0.5, 0.3, 0.9, 0.1, "share of nonzeros of H (φ)"),
        "seed": slider(w.IntSlider, 4, 0, 20, 1, "seed"),
    }
    return Panel(controls, compute, draw_starts, describe_starts)


def describe_starts(starts: Starts) -> str:
    """Count where the starts ended, and say how many were still moving."""
    stuck, wrong = starts.objective > STUCK, starts.error > WRONG
    moving = int((~starts.converged).sum())
    return (
        f"{int((~stuck & ~wrong).sum())} of {len(stuck)} starts find the factor, {int(stuck.sum())} do not fit, "
        f"{int((~stuck & wrong).sum())} fit and are wrong; {moving} were still moving at the limit."
    )
