"""Pictures of notebook 04: the turning cloud, versions of the shift, errors by iteration, results of starts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cofactor.core.types import Floats
from cofactor.crowd.symnmf import shifted_relu
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    RED,
    new_picture,
    number,
    say,
    styled,
)
from course.simplex import fill_corner

LINES = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (PURPLE, "-.", "^"), (GREEN, ":", "D"))
SHOWN = 1e-28  # squared errors below are all rounding
LEVEL = 1e-3  # the error to which iterations are counted
SEEN = 1e-2  # visible distance, as a fraction of the width of a picture
STUCK = 1e-6  # starts with larger relative misfits do not fit
WRONG = 1e-6  # larger relative errors mean another factor


@styled
def draw_turn(frames: Mapping[str, Floats]) -> Figure:
    """Draw two coordinates of the rows of U Q after some steps: the cloud turns into the positive quadrant."""
    fig = new_picture(max(1.6 * len(frames), 6.5), 2.8 if len(frames) > 3 else 3.2)
    axes = np.atleast_1d(fig.subplots(1, len(frames), sharey=True))
    clouds = [rows[:, :2] for rows in frames.values()]
    reach = 1.08 * max(float(np.abs(rows).max()) for rows in clouds)
    for ax, title, rows in zip(axes, frames, clouds, strict=True):
        _fill_cloud(ax, rows, reach)
        ax.set(title=title, xlabel="column 1")
    axes[0].set_ylabel("column 2")
    first, last = (100 * _outside(rows, reach).mean() for rows in (clouds[0], clouds[-1]))
    say(fig, f"The cloud turns into the corner: {first:.0f} % of the dots lie outside left, {last:.0f} % right")
    return fig


def _outside(rows: Floats, reach: float) -> NDArray[np.bool_]:
    """Rows with an entry visibly below zero."""
    return np.asarray((rows < -SEEN * reach).any(axis=1))


def _fill_cloud(ax: Axes, rows: Floats, reach: float) -> None:
    fill_corner(ax, reach)
    bad = _outside(rows, reach)
    ax.plot(*rows[~bad].T, "o", ms=2.5, color=BLUE, alpha=0.6, mew=0)
    ax.plot(*rows[bad].T, "X", ms=3, color=RED, alpha=0.6, mew=0)


@styled
def draw_race(curves: Mapping[str, Floats]) -> Figure:
    """Draw errors on a log scale: each trial (thin) and the median (bold) of up to four (trials, T + 1) arrays."""
    fig = new_picture(7.5, 4.0)
    ax = fig.subplots()
    arrivals = []
    for (name, each), (colour, line, marker) in zip(curves.items(), LINES, strict=False):
        median = np.median(each, axis=0)
        t = np.arange(len(median))
        ax.semilogy(t, np.maximum(each, SHOWN).T, color=colour, lw=0.5, alpha=0.25)
        ax.semilogy(t, np.maximum(median, SHOWN), color=colour, ls=line, lw=2, marker=marker, ms=4, markevery=10,
                    label=name)  # fmt: skip
        below = np.flatnonzero(median < LEVEL)
        arrivals.append(f"{name}, {f'after {below[0]}' if len(below) else f'not within {t[-1]}'}")
    ax.axhline(LEVEL, color=INK, lw=0.8, ls=":")
    ax.set(xlabel="iteration t", ylabel="error $||H\\Pi - H_t||_F^2 / K$")
    ax.legend(title=f"bold: median of {len(each)} trials", alignment="left")
    say(fig, f"Median error below {number(LEVEL)}: {'; '.join(arrivals)}")
    return fig


@styled
def draw_operators(alpha: float = 0.3) -> Figure:
    """Draw both versions of ReLU_alpha beside the plain ReLU."""
    fig = new_picture(7.5, 2.9)
    z = np.linspace(-0.6, 1, 641)
    versions = {
        "no shift": (0.0, shifted_relu(z, 0.0, "zero")),
        "zero below the shift": (alpha, shifted_relu(z, alpha, "zero")),
        "clamp up to the shift": (alpha, shifted_relu(z, alpha, "clamp")),
    }
    for ax, name, (colour, *_) in zip(fig.subplots(1, 3, sharey=True), versions, LINES, strict=False):
        shift, values = versions[name]
        values[1:][np.diff(values) > 0.1] = np.nan  # a jump is no slope
        ax.plot(z, z, color=FAINT, lw=0.8, ls=":")
        ax.plot(z, values, color=colour, lw=2.2)
        ax.axvline(shift, color=INK, lw=0.7, ls="--")
        ax.set(title=name, xlabel="entry of $UQ$", aspect="equal", ylim=(-0.12, 1.02))
    fig.axes[0].set_ylabel("entry of $H$")
    say(fig, f"Two versions of ReLU with α = {alpha:g}: below α, zero (formula) or α (text and released code)")
    return fig


@styled
def draw_starts(misfits: ArrayLike, errors: ArrayLike) -> Figure:
    """Draw the relative error of each start's result against its relative misfit; the first starts at Q = I."""
    fits, far = (np.maximum(np.asarray(values, dtype=np.float64), 1e-20) for values in (misfits, errors))
    stuck, wrong = fits > STUCK, far > WRONG
    fig = new_picture(height=3.6)
    ax = fig.subplots()
    for chosen, marker, colour, name in (
        (~stuck & ~wrong, "o", BLUE, "fits, right"),
        (~stuck & wrong, "s", ORANGE, "fits, but wrong: not unique"),
        (stuck, "X", RED, "stuck in a local minimum"),
    ):
        ax.loglog(fits[chosen], far[chosen], marker, ms=7, color=colour, mec="white", mew=0.4, alpha=0.8, label=name)
    ax.loglog(fits[0], far[0], "o", ms=13, mfc="none", mec=INK, label="start at Q = I")
    ax.axvline(STUCK, color=FAINT, lw=0.8, ls=":")
    ax.axhline(WRONG, color=FAINT, lw=0.8, ls=":")
    ax.set(xlabel="misfit at the end, $||H - UQ||^2 / ||U||^2$", ylabel="error, $||H\\Pi - H_t||^2 / ||H||^2$")
    ax.set(xlim=(1e-21, 1), ylim=(1e-21, 10))
    ax.legend(loc="lower right")
    say(fig, f"{len(stuck)} starts: {int((~stuck & ~wrong).sum())} right, {int(stuck.sum())} stuck, "
             f"{int((~stuck & wrong).sum())} wrong with a perfect fit")  # fmt: skip
    return fig
