"""Live figures of notebook 04 (turning by hand, the fall of the error); panels that compare shifts and show steps.

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
from cofactor_app.plots.style import BLUE, INK, ORANGE, RED, new_picture, number, say, styled
from course.live import Live, drag, reveal
from course.nb04.pictures import SEEN, draw_race, draw_turn
from course.panel import Panel, choice, slider
from course.simplex import fill_corner

NOISE = (("none", np.inf), ("40 dB", 40.0), ("30 dB", 30.0), ("20 dB", 20.0), ("10 dB", 10.0))
NONZEROS = "fraction of nonzeros in H (φ)"
LAST = 60  # the last step shown


@styled
def turn_live(seed: int = 0) -> Live:
    """Drag the angle until no dot is negative: SymNMF does this by itself; here with two classes."""
    U, _ = simulate.symnmf_problem(300, 2, 0.5, random_state=seed)
    cloud = U @ rotation(-90)
    angles = np.arange(0, 91)
    misfit = np.array([np.sum(np.minimum(cloud @ rotation(a), 0) ** 2) for a in angles])
    fig = new_picture(7.4, 3.5)
    left, right = fig.subplots(1, 2)
    reach = 1.08 * float(np.linalg.norm(cloud, axis=1).max())
    fill_corner(left, reach)
    left.set(xlabel="column 1 of UQ", ylabel="column 2")
    (inside,) = left.plot([], [], "o", ms=3, color=BLUE, alpha=0.6, mew=0)
    (outside,) = left.plot([], [], "X", ms=4, color=RED, alpha=0.7, mew=0)
    (curve,) = right.plot(angles, misfit, color=BLUE)
    (mark,) = right.plot([], [], "D", color=ORANGE, mec=INK, ms=8)
    right.set(xlabel="angle (degrees)", ylabel="misfit: squared negative part", xlim=(-2, 92))
    say(fig, "Turn the cloud into the positive corner")

    def update(angle: int, shown: bool) -> str:
        turned = cloud @ rotation(angle)
        bad = (turned < -SEEN * reach).any(axis=1)
        inside.set_data(*turned[~bad].T)
        outside.set_data(*turned[bad].T)
        mark.set_data([angle], [misfit[angle]])
        curve.set_visible(shown)
        return f"Turned by {angle}°, {bad.sum()} of {len(bad)} rows lie outside; misfit {misfit[angle]:.2f}."

    controls = {"angle": drag(0, 0, 90, 1, "angle"), "shown": reveal("all angles")}
    look = "Drag until no cross is left. Is there one such angle, or a range? Then show the misfit of all angles."
    return Live(controls, fig, [inside, outside, curve, mark], update, look)


def rotation(degrees: float) -> Floats:
    """Return the 2 x 2 rotation matrix."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


@styled
def walk_live(seed: int = 0) -> Live:
    """Drag through the steps of SymNMF: the cloud, and the fall of its error beside the line of a guessed rate."""
    U, H = simulate.symnmf_problem(300, 3, 0.5, random_state=seed)
    rows = [step.Z[:, :2] for step in islice(symnmf_steps(U), LAST + 1)]
    errors = convergence_curve(U, H, n_iter=LAST)
    t = np.arange(LAST + 1)
    fig = new_picture(7.4, 3.5)
    left, right = fig.subplots(1, 2)
    reach = 1.08 * float(max(np.abs(each).max() for each in rows))
    fill_corner(left, reach)
    left.set(xlabel="column 1 of UQ", ylabel="column 2")
    (inside,) = left.plot([], [], "o", ms=3, color=BLUE, alpha=0.6, mew=0)
    (outside,) = left.plot([], [], "X", ms=4, color=RED, alpha=0.7, mew=0)
    (guess,) = right.semilogy(t, errors, "--", color=ORANGE, label="your rate")
    (walk,) = right.semilogy(t, errors, "o-", ms=3, color=BLUE, label="error of SymNMF")
    right.set(xlabel="step t", ylabel="error $e_t$", xlim=(-1, LAST + 1), ylim=(1e-13, 1e3))
    right.legend(loc="lower left")
    say(fig, "Steps of SymNMF: every step leaves the same fraction of the error")

    def update(after: int, rho: float) -> str:
        bad = (rows[after] < -SEEN * reach).any(axis=1)
        inside.set_data(*rows[after][~bad].T)
        outside.set_data(*rows[after][bad].T)
        walk.set_data(t[: after + 1], errors[: after + 1])
        guess.set_data(t, errors[0] * rho**t)
        steps, said = f"{after} step{'' if after == 1 else 's'}", errors[0] * rho**after
        return f"After {steps}, the error is {number(errors[after])}; your rate {rho:.2f} predicts {number(said)}."

    controls = {"after": drag(0, 0, LAST, 1, "steps"), "rho": drag(0.9, 0.3, 0.98, 0.01, "your rate ρ")}
    look = "Drag to step ten, then set your rate so that the dashed line predicts the rest. Drag on: were you right?"
    return Live(controls, fig, [inside, outside, guess, walk], update, look)


def race_panel() -> Panel:
    """Change sparsity, schedule and noise; compare the three iterations."""
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
    """Say where each iteration ended."""
    told = "; ".join(f"{name}: {number(float(np.median(each[:, -1])))}" for name, each in curves.items())
    return f"Median error after 60 iterations: {told}."


def film_panel(seed: int = 0) -> Panel:
    """Choose the iteration and the sparsity; see the cloud and its error."""

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
