"""The panels of notebook 04: the race of the three iterations, how the rows turn, and where starts end.

symbol   meaning                                               shape
H, U     nonnegative factor, and the square root of H H'       (J, K)
e_t      ||H P - H_t||_F^2 / K after t iterations
psi      of the schedule alpha_t = psi^(t + 1)
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.alignment import match_columns
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import Operator, Shift, convergence_curve, symnmf, symnmf_steps
from cofactor.plots.style import BLUE, FAINT, GREEN, INK, ORANGE, RED, new_picture, number, say, styled
from course.nb04.pictures import CLAMP, LINES, PLAIN, SHOWN, ZERO
from course.panel import Panel, choice, slider

NOISE = (("none", None), ("40 dB", 40.0), ("30 dB", 30.0), ("20 dB", 20.0), ("10 dB", 10.0))
LEVEL = 1e-3  # an error that the race asks for
SEEN = 1e-2  # of the width of a picture
STUCK = 1e-6  # relative objectives above are no fit
WRONG = 1e-6  # relative errors above are another factor


# ---- the race ----


class Race(NamedTuple):
    """Errors of the three iterations on the same problems, per iteration a (trials, T + 1) array, and the setting."""

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

    def schedule(t: int) -> float:
        return float(psi ** (t + 1))

    ways: dict[str, tuple[Shift, Operator]] = {
        PLAIN: (0.0, "zero"), ZERO: (schedule, "zero"), CLAMP: (schedule, "clamp")
    }  # fmt: skip
    problems = [simulate.symnmf_problem(n_rows, 3, density, snr_db, seed) for seed in range(n_trials)]
    curves = {
        name: np.array([convergence_curve(U, H, *way, n_iter) for U, H in problems]) for name, way in ways.items()
    }
    noise = "no noise" if snr_db is None else f"{snr_db:g} dB"
    return Race(curves, f"{100 * density:.0f} % nonzeros, psi = {psi:g}, {noise}")


@styled
def draw_race(race: Race) -> Figure:
    """Draw the error of each trial (thin) and the median (bold) of the three iterations, on a log scale."""
    fig = new_picture(7.5, 4.0)
    ax = fig.subplots()
    for name, curves in race.curves.items():
        colour, line, marker = LINES[name]
        t = np.arange(curves.shape[1])
        ax.semilogy(t, np.maximum(curves, SHOWN).T, color=colour, lw=0.5, alpha=0.25)
        ax.semilogy(t, np.maximum(race.median(name), SHOWN), color=colour, ls=line, lw=2, marker=marker, ms=4,
                    markevery=10, label=name)  # fmt: skip
    ax.axhline(LEVEL, color=INK, lw=0.8, ls=":")
    ax.set(xlabel="iteration t", ylabel="error $||H\\Pi - H_t||_F^2 / K$")
    ax.set_title(race.setting.replace("psi", "ψ"), loc="left", color=INK)
    trials = len(next(iter(race.curves.values())))
    ax.legend(title=f"median of {trials} trials", alignment="left")
    arrivals = [
        f"{name} {f'not within {curves.shape[1] - 1}' if t is None else f'after {t}'}"
        for name, t in race.first_below(LEVEL).items()
    ]
    say(fig, f"Median error below {number(LEVEL)}: {'; '.join(arrivals)}")
    return fig


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


# ---- how the rows turn ----


class Film(NamedTuple):
    """The rotated rows U Q after some iterations: (J, K) arrays, with the iteration and error of each."""

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


@styled
def draw_film(film: Film) -> Figure:
    """Draw two coordinates of the rows of U Q after some iterations: the cloud turns into the positive quadrant."""
    fig = new_picture(max(1.6 * len(film.frames), 6.5), 2.9)
    axes = np.atleast_1d(fig.subplots(1, len(film.frames), sharey=True))
    reach = 1.08 * max(float(np.abs(frame[:, :2]).max()) for frame in film.frames)
    for ax, frame, t, error in zip(axes, film.frames, film.iterations, film.errors, strict=True):
        _fill_cloud(ax, frame[:, :2], reach)
        ax.set_title(f"after {t} step{'' if t == 1 else 's'}\nerror {number(error)}")
        ax.set_xlabel("column 1")
    axes[0].set_ylabel("column 2")
    first, last = (_outside(frame, reach).mean() for frame in (film.frames[0], film.frames[-1]))
    say(fig, f"The cloud turns into the corner: {100 * first:.0f} % of the rows have a negative entry before, "
             f"{100 * last:.0f} % after {film.iterations[-1]} steps")  # fmt: skip
    return fig


def _outside(rows: Floats, reach: float) -> NDArray[np.bool_]:
    """Rows with an entry visibly below zero."""
    return np.asarray((rows < -SEEN * reach).any(axis=1))


def _fill_cloud(ax: Axes, rows: Floats, reach: float) -> None:
    ax.add_patch(Rectangle((0, 0), reach, reach, fc=GREEN, alpha=0.12, lw=0))
    ax.axhline(0, color=FAINT, lw=0.8)
    ax.axvline(0, color=FAINT, lw=0.8)
    bad = _outside(rows, reach)
    ax.plot(*rows[~bad].T, "o", ms=2.5, color=BLUE, alpha=0.6, mew=0)
    ax.plot(*rows[bad].T, "X", ms=3, color=RED, alpha=0.6, mew=0)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


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


# ---- where starts end ----


class Starts(NamedTuple):
    """Where SymNMF ends from many random rotations of one square root; the first start is Q = I on principal axes.

    ||H - U Q||_F^2 / ||U||_F^2 at the end, min over P of ||H P - H_end||_F^2 / ||H||_F^2, and who had converged.
    """

    objective: Floats
    error: Floats
    converged: NDArray[np.bool_]


def many_starts(U: Floats, H: Floats, n_starts: int = 20, max_iter: int = 3000) -> Starts:
    """Run `symnmf` from Q = I and from random rotations; another start is another square root U Q_0."""
    ends = []
    for seed in range(n_starts):
        Q = np.eye(U.shape[1]) if seed == 0 else ortho_group.rvs(U.shape[1], random_state=seed)
        found, _, result = symnmf(U @ Q, max_iter=max_iter)
        distance = np.sum((H - found[:, match_columns(H, found)]) ** 2)
        ends.append((result.objective[-1] / np.sum(U**2), distance / np.sum(H**2), result.converged))
    objective, error, converged = zip(*ends, strict=True)
    return Starts(np.array(objective), np.array(error), np.array(converged))


@styled
def draw_starts(starts: Starts) -> Figure:
    """Draw where each start ended: how badly it fits against how wrong it is."""
    stuck, wrong = starts.objective > STUCK, starts.error > WRONG
    fig = new_picture(height=3.6)
    ax = fig.subplots()
    fits = np.maximum(starts.objective, 1e-20)
    errors = np.maximum(starts.error, 1e-20)
    for chosen, marker, colour, name in (
        (~stuck & ~wrong, "o", BLUE, "fits and right"),
        (~stuck & wrong, "s", ORANGE, "fits and wrong: not unique"),
        (stuck, "X", RED, "stuck: a local minimum"),
    ):
        ax.loglog(fits[chosen], errors[chosen], marker, ms=7, color=colour, mec="white", mew=0.4, alpha=0.8, label=name)
    ax.loglog(fits[0], errors[0], "o", ms=13, mfc="none", mec=INK, label="start at Q = I")
    ax.axvline(STUCK, color=FAINT, lw=0.8, ls=":")
    ax.axhline(WRONG, color=FAINT, lw=0.8, ls=":")
    ax.set(xlabel="misfit at the end, $||H - UQ||^2 / ||U||^2$", ylabel="error, $||H\\Pi - H_t||^2 / ||H||^2$")
    ax.set(xlim=(1e-21, 1), ylim=(1e-21, 10))
    ax.legend(loc="lower right")
    say(fig, f"Of {len(stuck)} starts, {int((~stuck & ~wrong).sum())} find the factor, {int(stuck.sum())} are stuck, "
             f"{int((~stuck & wrong).sum())} fit perfectly and are wrong")  # fmt: skip
    return fig


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
