"""Pictures of notebook 06: utilities and what was seen of them, maps, the landscape, descents, amounts, accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.spectral import residual_matrix
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.plots.style import (
    BLUE,
    DIVERGING,
    FAINT,
    GREEN,
    HALO,
    INK,
    ORANGE,
    PURPLE,
    SEQUENTIAL,
    WIDTH,
    bare,
    heat,
    new_picture,
    number,
    percent,
    say,
    styled,
)
from course.demos.comparisons import (
    EXACT,
    Amounts,
    Choices,
    Plane,
    Pursuit,
    Tastes,
    differences,
    flat_directions,
)

BESIDE = 2  # maps in a row
Map = tuple[Floats, Floats]

LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"), (INK, "X", (0, (5, 1))))
SHOWN = 1e-12  # relative errors below are all rounding
SMALL = 1e-8  # smaller ones depend on when a solver stops
FLAT = 1e-6  # where eigenvalues that are zero are drawn, relative to the largest
SOLVED = 1e-3


@styled
def draw_utilities(data: Comparisons, found: Floats, truth: Floats) -> Figure:
    """Draw what comparisons say of each user and item, utilities found and true ones; rows and columns sorted."""
    seen = residual_matrix(data).toarray()
    rows, columns = (np.argsort(_angle(side)) for side in (truth, truth.T))
    reach = float(np.abs(truth).max())
    fig = new_picture(7.5, 2.7)
    shown = {f"{len(data):,} comparisons": seen / np.abs(seen).max(), "found": found / reach, "true": truth / reach}
    for ax, (name, X) in zip(fig.subplots(1, 3), shown.items(), strict=True):
        heat(ax, X[np.ix_(rows, columns)], (-1, 1), DIVERGING)
        bare(ax)
        ax.set(title=name, xlabel="items", ylabel="users")
    error = float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
    said = f"{truth.size:,} utilities from {len(data):,} comparisons"
    say(fig, f"{said}: relative error {number(error) if error > SMALL else f'below {number(SMALL)}'}")
    return fig


def _angle(X: Floats) -> Floats:
    """Direction of every row in the plane of the first two singular vectors."""
    A = np.linalg.svd(X, full_matrices=False)[0]
    A = A * np.sign(A[np.abs(A).argmax(axis=0), np.arange(A.shape[1])])  # the sign of singular vectors is chance
    return np.asarray(np.arctan2(A[:, 1], A[:, 0]))


@styled
def draw_maps(people: Tastes, maps: Mapping[str, Map]) -> Figure:
    """Draw users (arrows) and items (points) under several features; the title says what comparisons notice."""
    if not maps:
        raise CofactorError("no map to draw: give at least one name with its features U and V")
    rows = -(-len(maps) // BESIDE)
    fig = new_picture(WIDTH, 0.3 + 2.7 * rows)
    axes = fig.subplots(rows, min(len(maps), BESIDE), squeeze=False).ravel()
    for ax in axes[len(maps) :]:
        ax.remove()
    base = differences(people.U, people.V)
    worst = 0.0
    for ax, (name, (U, V)) in zip(axes, maps.items(), strict=False):
        _fill_map(ax, people, U, V)
        ax.set_title(name)
        worst = max(worst, float(np.abs(differences(U, V) - base).max()))
    told = (
        "no difference of utilities changes" if worst < SHOWN else f"a difference of utilities changes by {worst:.2g}"
    )
    say(fig, f"{'Different' if len(maps) > 1 else 'These'} features, and {told}")
    return fig


def _fill_map(ax: Axes, people: Tastes, U: Floats, V: Floats) -> None:
    for name, u in zip(people.users, U, strict=True):
        ax.annotate("", u, (0, 0), arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 1.3})
        shift, va = ((0, 3), "bottom") if u[1] >= 0 else ((0, -3), "top")
        ax.annotate(name, u, shift, textcoords="offset points", ha="center", va=va, fontsize=8, color=INK,
                    path_effects=HALO)  # fmt: skip
    ax.plot(*V.T, "o", color=BLUE, ms=5, zorder=4)
    for name, v in zip(people.items, V, strict=True):
        ax.annotate(name, v, (4, 3), textcoords="offset points", fontsize=8, color=BLUE, path_effects=HALO)
    ax.axhline(0, color=FAINT, lw=0.5, zorder=0)
    ax.axvline(0, color=FAINT, lw=0.5, zorder=0)
    everything = np.vstack([U, V, [[0, 0]]])
    margin = 0.2 * np.ptp(everything, axis=0).max()
    low, high = everything.min(axis=0) - margin, everything.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0] + margin), ylim=(low[1], high[1]), xticks=[], yticks=[])


# ---- the landscape ----


@styled
def draw_plane(plane: Plane) -> Figure:
    """Draw the loss around the truth: turned left to right, moved away up and down."""
    fig = new_picture(height=3.2)
    ax = fig.subplots()
    root = np.sqrt(np.maximum(plane.loss, 0))
    image = ax.contourf(plane.angles, 100 * plane.shares, root, levels=12, cmap=SEQUENTIAL)
    fig.colorbar(image, label="square root of the loss", ax=ax)
    ax.axhline(0, color=ORANGE, lw=1.5, ls="--")
    ax.set(xlabel="features turned by (degrees)", ylabel="moved by (% of their length)")
    ax.set(xticks=[-180, -90, 0, 90, 180])
    middle = plane.loss[np.abs(plane.shares).argmin()]
    largest = number(float(middle.max())) if middle.max() > SHOWN else f"below {number(SHOWN)}"
    say(fig, f"A valley of equals: on the dashed line the loss is {largest}; steps off it cost")
    return fig


@styled
def draw_spectrum(spectra: Mapping[str, ArrayLike]) -> Figure:
    """Draw eigenvalues of the curvature, largest first, relative to the largest; zeros lie on the floor."""
    if not spectra:
        raise CofactorError("no curvature to draw: give at least one name with its eigenvalues")
    fig = new_picture(height=3.1)
    ax = fig.subplots()
    told = []
    for (name, values), (colour, marker, line) in zip(spectra.items(), LOOKS, strict=False):
        values = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        zeros = flat_directions(values)
        shown = np.maximum(values / values[0], FLAT)
        shown[len(values) - zeros :] = FLAT
        ax.semilogy(np.arange(1, len(values) + 1), shown, color=colour, marker=marker, ls=line, ms=2.5, label=name)
        told.append(f"{zeros} with {name}")
    ax.axhline(FLAT, color=FAINT, lw=0.8, ls=":")
    ax.text(1, 1.3 * FLAT, "zero", color=INK, fontsize=8.5, va="bottom")
    ax.set(xlabel="direction, steepest first", ylabel="curvature, relative")
    ax.legend(loc="center left")
    say(fig, f"Flat directions: {', '.join(told)}")
    return fig


# ---- descents ----


@styled
def draw_descents(runs: Mapping[str, ArrayLike], rate: float | None = None) -> Figure:
    """Draw relative errors of utilities, iteration by iteration, with a line of the given rate beside them."""
    if not runs:
        raise CofactorError("no descent to draw: give at least one name with its errors")
    fig = new_picture(height=3.4)
    ax = fig.subplots()
    curves = {name: np.maximum(np.asarray(errors, dtype=np.float64), SHOWN) for name, errors in runs.items()}
    for (name, errors), (colour, marker, line) in zip(curves.items(), LOOKS, strict=False):
        every = max(len(errors) // 12, 1)
        ax.semilogy(errors, color=colour, ls=line, lw=1.8, marker=marker, ms=4, markevery=every, label=name)
    if rate is not None:
        t = np.arange(max(map(len, curves.values())))
        ax.semilogy(t, np.maximum(3 * rate**t, SHOWN), color=FAINT, lw=1, ls=":", label=f"× {rate:.3f} per iteration")
    ax.set(xlabel="iteration", ylabel="relative error of utilities")
    ax.legend()
    say(fig, _arrivals(curves))
    return fig


def _arrivals(curves: Mapping[str, Floats], level: float = 1e-6) -> str:
    told = []
    for name, errors in curves.items():
        below = np.flatnonzero(errors < level)
        told.append(f"{below[0]} ({name})" if below.size else f"more than {len(errors) - 1} ({name})")
    return f"Iterations to a relative error of {number(level)}: {', '.join(told)}"


@styled
def draw_pursuit(outcome: Pursuit) -> Figure:
    """Draw error and loss of a descent, beside found utilities against true ones."""
    run = outcome.descent
    fig = new_picture(7.5, 3.3)
    left, right = fig.subplots(1, 2, width_ratios=[1.3, 1])
    left.semilogy(np.maximum(run.errors, SHOWN), color=BLUE, lw=2, label="relative error of utilities")
    left.semilogy(np.maximum(run.losses, SHOWN**2), color=ORANGE, lw=1.5, ls="--", label="loss on the comparisons")
    left.set(xlabel="iteration", ylabel="error, loss")
    left.legend(loc="best", fontsize=8)
    reach = 1.1 * float(np.abs(outcome.truth).max())
    right.plot([-reach, reach], [-reach, reach], "--", color=FAINT, lw=1)
    right.plot(outcome.truth.ravel(), outcome.found.ravel(), ",", color=BLUE, alpha=0.6, rasterized=True)
    right.set(xlabel="true utility", ylabel="utility found", xlim=(-reach, reach), ylim=(-2 * reach, 2 * reach))
    say(fig, f"{verdict(outcome)}: relative error {_short(run.errors[-1])} after {len(run.errors) - 1} steps")
    return fig


def verdict(outcome: Pursuit) -> str:
    """Say in a word how a descent ended."""
    run = outcome.descent
    if run.losses[-1] > run.losses[0]:
        return "Ran away"
    if run.errors[-1] < SOLVED:
        return "Recovered"
    if run.errors[-1] > 1.5 * run.errors.min() and outcome.answers != EXACT:
        return "Learnt the noise"
    return "Not recovered"


def _short(value: float) -> str:
    return number(float(f"{value:.1e}"))


# ---- amounts ----


@styled
def draw_too_few(amounts: Amounts) -> Figure:
    """Draw what fits leave on their own comparisons, on others, and of the utilities, by their number (medians)."""
    fig = new_picture(height=3.3)
    ax = fig.subplots()
    curves = {
        "error of utilities, relative": amounts.error,
        "gap on held-out comparisons": amounts.held,
        "gap on its own comparisons": amounts.trained,
    }
    medians = {name: np.median(runs, axis=0) for name, runs in curves.items()}
    for (name, values), (colour, marker, line) in zip(medians.items(), LOOKS, strict=False):
        ax.semilogy(amounts.multiples, np.maximum(values, SHOWN), color=colour, marker=marker, ls=line, label=name)
    ax.set(xlabel="comparisons per degree of freedom", ylabel="median over trials")
    ax.legend()
    trained, error = medians["gap on its own comparisons"][0], medians["error of utilities, relative"][0]
    within = number(10 ** np.ceil(np.log10(trained)))
    off = "more than half" if error > 0.5 else percent(error)  # the digits of a hopeless fit are chance
    first = f"With {amounts.multiples[0]:g} per degree of freedom"
    say(fig, f"{first} the gap of the fit is below {within}, and the utilities are off by {off}")
    return fig


@styled
def draw_choices(found: Choices) -> Figure:
    """Draw errors of fits to binary choices against their number, beside the predicted ones."""
    fig = new_picture(height=3.2)
    ax = fig.subplots()
    m = found.n_comparisons
    ax.loglog(m, found.expected, color=FAINT, lw=1.5, ls="--", label="predicted")
    ax.loglog(m, found.errors.T, "o", color=BLUE, ms=4, alpha=0.5, mew=0)
    ax.loglog(m, found.errors.mean(axis=0), "D", color=BLUE, ms=6, mec="white", label="found (mean; dots: trials)")
    ax.set(xlabel="choices m", ylabel="relative error of utilities")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.set_xticks(m, [f"{amount:,.0f}" for amount in m])
    ax.set_yticks([0.1, 0.2, 0.4, 0.8], ["0.1", "0.2", "0.4", "0.8"])
    ax.legend()
    grown, shrunk = m[-1] / m[0], found.errors.mean(axis=0)[0] / found.errors.mean(axis=0)[-1]
    slope = f"{found.slope:.2f}".replace("-", "−")
    say(fig, f"{grown:.0f} times the choices, an error {shrunk:.1f} times smaller: slope {slope}")
    return fig


@styled
def draw_accuracies(settings: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw held-out pair accuracies of methods (mean and all splits), one panel per way of holding out."""
    if not settings:
        raise CofactorError("nothing to draw: give at least one setting with its methods' accuracies")
    names = list(next(iter(settings.values())))[::-1]
    fig = new_picture(WIDTH, 1.4 + 0.35 * len(names))
    axes = fig.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    told = []
    for ax, (setting, found) in zip(axes, settings.items(), strict=True):
        for y, name in enumerate(names):
            values = 100 * np.asarray(found[name])
            ax.plot(values, np.full(len(values), y), "o", color=BLUE, ms=3.5, alpha=0.45, mew=0)
            ax.plot(values.mean(), y, "D", color=BLUE, ms=6, mec="white")
        ax.axvline(50, color=FAINT, lw=1, ls=":")
        ax.set(title=setting, xlabel="held-out pairs right (%)", yticks=range(len(names)), yticklabels=names)
        ax.margins(y=0.25)
        ax.set_xlim(45, 100)
        best = max(names, key=lambda name: float(np.mean(found[name])))
        told.append(f"{setting}, {best} with {percent(float(np.mean(found[best])))}")
    say(fig, f"Best: {'; '.join(told)}")
    return fig
