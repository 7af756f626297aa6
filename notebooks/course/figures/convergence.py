"""Pictures of notebook 04: how SymNMF turns, how fast it arrives, and where it gets stuck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import shifted_relu
from cofactor.plots.style import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, RED, new_picture, number, say, styled
from course.demos.convergence import CLAMP, PLAIN, ZERO, Film, Race, Starts, linear_rate

LINES = {PLAIN: (BLUE, "-", "o"), ZERO: (ORANGE, "--", "s"), CLAMP: (PURPLE, "-.", "^")}
LEVEL = 1e-3  # an error that the panels ask for
SHOWN = 1e-28  # squared errors below are all rounding
SEEN = 1e-2  # of the width of a picture
STUCK = 1e-6  # relative objectives above are no fit
WRONG = 1e-6  # relative errors above are another factor


@styled
def draw_race(race: Race, level: float = LEVEL) -> Figure:
    """Draw the error of each trial (thin) and the median (bold) of the three iterations, on a log scale."""
    fig = new_picture(7.5, 4.0)
    ax = fig.subplots()
    for name, curves in race.curves.items():
        colour, line, marker = LINES[name]
        t = np.arange(curves.shape[1])
        ax.semilogy(t, np.maximum(curves, SHOWN).T, color=colour, lw=0.5, alpha=0.25)
        ax.semilogy(t, np.maximum(race.median(name), SHOWN), color=colour, ls=line, lw=2, marker=marker, ms=4,
                    markevery=10, label=name)  # fmt: skip
    ax.axhline(level, color=INK, lw=0.8, ls=":")
    ax.set(xlabel="iteration t", ylabel="error $||H\\Pi - H_t||_F^2 / K$")
    ax.set_title(race.setting.replace("psi", "ψ"), loc="left", color=INK)
    trials = len(next(iter(race.curves.values())))
    ax.legend(title=f"median of {trials} trials", alignment="left")
    say(fig, f"Median error below {number(level)}: {_arrivals(race, level)}")
    return fig


def _arrivals(race: Race, level: float) -> str:
    arrivals = race.first_below(level)
    never = f"not within {next(iter(race.curves.values())).shape[1] - 1}"
    return "; ".join(f"{name} {never if t is None else f'after {t}'}" for name, t in arrivals.items())


@styled
def draw_operators(alpha: float = 0.3) -> Figure:
    """Draw both readings of ReLU_alpha beside the plain one."""
    fig = new_picture(7.5, 2.9)
    z = np.linspace(-0.6, 1, 641)
    for ax, (name, operator, shift) in zip(
        fig.subplots(1, 3, sharey=True),
        ((PLAIN, "zero", 0.0), (ZERO, "zero", alpha), (CLAMP, "clamp", alpha)),
        strict=True,
    ):
        values = shifted_relu(z, shift, "clamp" if operator == "clamp" else "zero")
        values[1:][np.diff(values) > 0.1] = np.nan  # a jump is no slope
        ax.plot(z, z, color=FAINT, lw=0.8, ls=":")
        ax.plot(z, values, color=LINES[name][0], lw=2.2)
        ax.axvline(shift, color=INK, lw=0.7, ls="--")
        ax.set(title=name, xlabel="entry of $UQ$", aspect="equal", ylim=(-0.12, 1.02))
    fig.axes[0].set_ylabel("entry of $H$")
    say(fig, f"Two readings of ReLU with α = {alpha:g}: below α, zero (formula) or α (prose and released code)")
    return fig


@styled
def draw_film(film: Film, pair: tuple[int, int] = (0, 1)) -> Figure:
    """Draw two coordinates of the rows of U Q after some iterations: the cloud turns into the positive quadrant."""
    fig = new_picture(max(1.6 * len(film.frames), 6.5), 2.9)
    axes = np.atleast_1d(fig.subplots(1, len(film.frames), sharey=True))
    reach = 1.08 * max(float(np.abs(frame[:, list(pair)]).max()) for frame in film.frames)
    for ax, frame, t, error in zip(axes, film.frames, film.iterations, film.errors, strict=True):
        _fill_cloud(ax, frame[:, list(pair)], reach)
        ax.set_title(f"after {t} step{'' if t == 1 else 's'}\nerror {number(error)}")
        ax.set_xlabel(f"column {pair[0] + 1}")
    axes[0].set_ylabel(f"column {pair[1] + 1}")
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


@styled
def draw_linear_rate(errors: Floats, first: int = 10) -> Figure:
    """Draw one error curve on a log scale with the line fitted to log e_t from iteration `first` on."""
    rho = linear_rate(errors, first)
    t = np.arange(len(errors))
    inside = t >= first
    middle = np.log(np.maximum(errors[inside], SHOWN)).mean()
    line = np.exp(middle + np.log(rho) * (t[inside] - t[inside].mean()))
    fig = new_picture()
    ax = fig.subplots()
    ax.semilogy(t, np.maximum(errors, SHOWN), "o", ms=3.5, color=BLUE, label="error $e_t$")
    ax.semilogy(t[inside], line, color=ORANGE, lw=2, label=f"line through $\\log e_t$: × {rho:.3f} per iteration")
    ax.set(xlabel="iteration t", ylabel="error $||H\\Pi - H_t||_F^2 / K$")
    ax.legend()
    tenth = np.log(0.1) / np.log(rho)
    say(fig, f"Linear convergence: each iteration leaves {100 * rho:.0f} % of the error, a digit takes {tenth:.1f}")
    return fig


@styled
def draw_rates(densities: Sequence[float], rates: dict[str, Sequence[float]]) -> Figure:
    """Draw the factor per iteration against the share of nonzeros of H, for each iteration of a race."""
    if not rates or any(len(values) != len(densities) for values in rates.values()):
        raise CofactorError("one rate per density, please")
    fig = new_picture()
    ax = fig.subplots()
    for name, values in rates.items():
        colour, line, marker = LINES[name]
        ax.plot(100 * np.asarray(densities), values, color=colour, ls=line, marker=marker, label=name)
    ax.set(xlabel="nonzeros of H (%)", ylabel="error left by an iteration (factor ρ)", ylim=(0, 1))
    ax.legend()
    best = {name: float(values[0]) for name, values in rates.items()}
    sparse, dense = (min(rates, key=lambda name, i=i: rates[name][i]) for i in (0, -1))  # type: ignore[misc]
    say(fig, f"At {100 * densities[0]:.0f} % nonzeros the fastest is “{sparse}” (ρ = {best[sparse]:.2f}), "
             f"at {100 * densities[-1]:.0f} % “{dense}” (ρ = {rates[dense][-1]:.2f})")  # fmt: skip
    return fig


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
