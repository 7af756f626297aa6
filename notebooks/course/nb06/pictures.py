"""Pictures of notebook 06: maps of features, the landscape of the loss, descents, errors by number of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from cofactor.core.types import Floats
from cofactor_app.plots import style
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    INK,
    LOOKS,
    ORANGE,
    WIDTH,
    new_picture,
    number,
    percent,
    say,
    styled,
)
from course.nb06.panels import SHOWN

BESIDE = 3  # maps per row
MAP, NAME = np.array([150, 130]), np.array([20, 9])  # width and height of a map (points); from an item to its name
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1))  # of an item, for its name
SMALL = 1e-8  # smaller errors depend on when a solver stops
LEVEL = 1e-6  # error to which the iterations of descents are counted
FLAT = 1e-6  # where zero eigenvalues are drawn, relative to the largest


# ---- maps ----


@styled
def draw_maps(users: Sequence[str], items: Sequence[str], maps: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Draw users (arrows) and items (points) with several features; titles say which changes comparisons detect.

    Comparisons detect a change if a utility difference is not that of the first features.
    """
    rows = -(-len(maps) // BESIDE)
    fig = new_picture(WIDTH, 0.3 + 2.2 * rows)
    axes = fig.subplots(rows, min(len(maps), BESIDE), squeeze=False).ravel()
    for ax in axes[len(maps) :]:
        ax.remove()
    base, noticed = _differences(*next(iter(maps.values()))), list[str]()
    for ax, (name, (U, V)) in zip(axes, maps.items(), strict=False):
        _fill_map(ax, users, items, U, V)
        if np.abs(_differences(U, V) - base).max() > SHOWN:
            noticed.append(name)
        ax.set_title(name + ": detected" * (name in noticed))
    say(fig, f"Comparisons detect {len(noticed)} of {len(maps) - 1} changes: {', '.join(noticed) or 'none'}")
    return fig


def _differences(U: Floats, V: Floats) -> Floats:
    """Return the (n1, n2, n2) utility differences, on which alone comparisons depend."""
    X = U @ V.T
    return np.asarray(X[:, :, None] - X[:, None, :])


def _fill_map(ax: Axes, users: Sequence[str], items: Sequence[str], U: Floats, V: Floats) -> None:
    everything = np.vstack([U, V, [[0, 0]]])
    margin = 0.2 * np.ptp(everything, axis=0).max() * np.array([1.7, 1])  # names are wider than high
    low, high = everything.min(axis=0) - margin, everything.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    small: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "path_effects": style.HALO}
    taken = list((everything - low) / (high - low) * MAP)
    for name, u in zip(users, U, strict=True):
        ax.annotate("", u, (0, 0), arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 1.3})
        shift, va = ((0, 3), "bottom") if u[1] >= 0 else ((0, -3), "top")
        ax.annotate(name, u, shift, ha="center", va=va, color=INK, **small)
        taken.append((u - low) / (high - low) * MAP + 3 * np.array(shift))
    ax.plot(*V.T, "o", color=BLUE, ms=5, zorder=4)
    for name, v in zip(items, V, strict=True):
        x, y = _free_side((v - low) / (high - low) * MAP, taken)
        ha, va = "left" if x > 0 else "right", "bottom" if y > 0 else "top"
        ax.annotate(name, v, (4 * x, 3 * y), ha=ha, va=va, color=BLUE, **small)
    ax.axhline(0, color=FAINT, lw=0.5, zorder=0)
    ax.axvline(0, color=FAINT, lw=0.5, zorder=0)


def _free_side(place: Floats, taken: list[Floats]) -> tuple[int, int]:
    """Return the side of a place (in points) where its name is farthest from those taken, and add it to them."""
    spots = [place + np.array(side) * NAME for side in SIDES]
    room = [min(np.abs((spot - one) / NAME).max() for one in taken) for spot in spots]
    best = int(np.argmax(np.minimum(room, 1.3)))  # the first where there is room
    taken.append(spots[best])
    return SIDES[best]


# ---- the landscape ----


def _flat_directions(values: ArrayLike) -> int:
    """Count eigenvalues that are zero up to rounding."""
    values = np.asarray(values, dtype=np.float64)
    return int(np.sum(values < 1e-10 * values.max()))


@styled
def draw_spectrum(spectra: Mapping[str, ArrayLike]) -> Figure:
    """Draw the eigenvalues of the Hessian in falling order, relative to the largest; zeros lie on the floor."""
    fig = new_picture(height=3.1)
    ax = fig.subplots()
    for (name, values), (colour, marker, line) in zip(spectra.items(), LOOKS, strict=False):
        values = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        shown = np.maximum(values / values[0], FLAT)
        shown[len(values) - _flat_directions(values) :] = FLAT
        ax.semilogy(np.arange(1, len(values) + 1), shown, color=colour, marker=marker, ls=line, ms=2.5, label=name)
    ax.axhline(FLAT, color=FAINT, lw=0.8, ls=":")
    ax.text(1, 1.3 * FLAT, "zero", color=INK, fontsize=8.5, va="bottom")
    ax.set(xlabel="direction, steepest first", ylabel="relative curvature")
    ax.legend(loc="center left")
    told = [f"{_flat_directions(values)} with {name}" for name, values in spectra.items()]
    say(fig, f"Flat directions: {', '.join(told)}")
    return fig


# ---- descents ----


@styled
def draw_descents(
    runs: Mapping[str, ArrayLike], rate: float | None = None, what: str = "relative error of utilities"
) -> Figure:
    """Draw errors by iteration, with a line of the given rate for comparison."""
    fig = new_picture(height=3.4)
    ax = fig.subplots()
    curves = {name: np.maximum(np.asarray(errors, dtype=np.float64), SHOWN) for name, errors in runs.items()}
    for (name, errors), (colour, marker, line) in zip(curves.items(), LOOKS, strict=False):
        every = max(len(errors) // 12, 1)
        ax.semilogy(errors, color=colour, ls=line, lw=1.8, marker=marker, ms=4, markevery=every, label=name)
    if rate is not None:
        t = np.arange(max(map(len, curves.values())))
        ax.semilogy(t, np.maximum(3 * rate**t, SHOWN), color=FAINT, lw=1, ls=":", label=f"× {rate:.3f} per iteration")
    ax.set(xlabel="iteration", ylabel=what)
    ax.legend()
    say(fig, f"Iterations until the {what} is below {number(LEVEL)}: {_arrivals(curves)}")
    return fig


def _arrivals(curves: Mapping[str, Floats]) -> str:
    told = []
    for name, errors in curves.items():
        below = np.flatnonzero(errors < LEVEL)
        told.append(f"{below[0]} ({name})" if below.size else f"more than {len(errors) - 1} ({name})")
    return ", ".join(told)


# ---- amounts ----


LEFT = ("relative error of utilities", "gap on held-out comparisons", "gap on fitted comparisons")


@styled
def draw_too_few(multiples: Sequence[float], found: ArrayLike) -> Figure:
    """Draw median errors and gaps of fits to few comparisons, against comparisons per degree of freedom.

    `found` is a (3, trials, multiples) array: relative errors of utilities, gaps of probabilities on held-out
    comparisons, and gaps on fitted comparisons.
    """
    fig = new_picture(height=3.3)
    ax = fig.subplots()
    medians = np.median(np.asarray(found, dtype=np.float64), axis=1)
    for name, values, (colour, marker, line) in zip(LEFT, medians, LOOKS, strict=False):
        ax.semilogy(multiples, np.maximum(values, SHOWN), color=colour, marker=marker, ls=line, label=name)
    ax.set(xlabel="comparisons per degree of freedom", ylabel="median over trials")
    ax.legend()
    error, _, trained = (values[0] for values in medians)
    within = number(10 ** np.ceil(np.log10(trained)))
    off = "more than 50\N{NO-BREAK SPACE}%" if error > 0.5 else percent(error)  # digits of a hopeless fit are chance
    first = f"With {multiples[0]:g} comparison{'' if multiples[0] == 1 else 's'} per degree of freedom"
    say(fig, f"{first}, the fit's gap is below {within}, but utilities are off by {off}")
    return fig


@styled
def draw_choices(m: ArrayLike, errors: ArrayLike, expected: ArrayLike) -> Figure:
    """Draw (trials, sizes) errors of fits to m binary choices, with the (sizes,) predicted ones."""
    m, errors = np.asarray(m, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    mean = errors.mean(axis=0)
    fig = new_picture(height=3.2)
    ax = fig.subplots()
    ax.loglog(m, expected, color=FAINT, lw=1.5, ls="--", label="predicted")
    ax.loglog(m, errors.T, "o", color=BLUE, ms=4, alpha=0.5, mew=0)
    ax.loglog(m, mean, "D", color=BLUE, ms=6, mec="white", label="measured (mean; dots: trials)")
    ax.set(xlabel="number of choices m", ylabel="relative error of utilities")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.set_xticks(m, [f"{amount:,.0f}" for amount in m])
    ax.set_yticks([0.1, 0.2, 0.4, 0.8], ["0.1", "0.2", "0.4", "0.8"])
    ax.legend()
    slope = f"{np.polyfit(np.log(m), np.log(errors).mean(axis=0), 1)[0]:.2f}".replace("-", "−")
    fewer = f"{m[-1] / m[0]:.0f} times as many choices reduce the error by a factor of {mean[0] / mean[-1]:.1f}"
    say(fig, f"{fewer} (slope {slope})")
    return fig
