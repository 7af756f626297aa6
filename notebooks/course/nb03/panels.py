"""Live figures of notebook 03 (a hole and its link, error against labels), and a panel of error against labels."""

from __future__ import annotations

from functools import lru_cache

import ipywidgets as w
import numpy as np
from matplotlib.collections import PolyCollection

from cofactor import simulate
from cofactor.core.types import Floats, Ints
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, bare, heat, new_picture, percent, say, styled
from course.live import Live, drag, reveal, sliding
from course.nb03.pictures import SampleErrors, draw_sample_errors, log_axes, sample_errors
from course.panel import Panel, slider

CROWDS, FEWER = 5, 2  # a panel must answer at once, and few blocks left make robust imputation slow
SPARSE = 0.55  # fraction of missing pairs above which fewer crowds are drawn; the legend tells how many
FALLS = 0.8  # an error that stays above this fraction hardly moves: the law would leave 1 / sqrt(10) = 0.32


M, K, HOLE, RIGHT = 12, 3, (0, 1), 2  # annotators and classes; the hole, and the annotator r of its link
LINKS = tuple(range(3, M))  # annotators l
SAMPLES = np.geomspace(30, 30_000, 31).round().astype(int)
DRAWS = 80


@lru_cache(maxsize=1)
def through_links() -> tuple[Floats, Floats, Floats]:
    """Return the missing block (K, K), draws of its estimate (L, S, K, K), and quantiles of the error (L, S, 3).

    An estimate uses one link: R_mr R_lr^-1 R_ln, with blocks counted on S tasks. The quantiles are 10, 50 and 90 %.
    """
    model = simulate.dawid_skene_model(M, K, skill=0.4, prior=np.ones(K) / K, random_state=0)
    A, (m, n), rng = np.stack(model.conditionals), HOLE, np.random.default_rng(0)
    exact = np.einsum("mac,c,jbc->mjab", A, model.prior, A)

    def counted(first: int, second: int, n_tasks: int) -> Floats:
        drawn: Floats = rng.multinomial(n_tasks, exact[first, second].ravel(), DRAWS) / n_tasks
        return drawn.reshape(DRAWS, K, K)

    shown, errors = np.empty((len(LINKS), len(SAMPLES), K, K)), np.empty((len(LINKS), len(SAMPLES), 3))
    for i, link in enumerate(LINKS):
        for s, n_tasks in enumerate(SAMPLES):
            inverse = np.linalg.pinv(counted(link, RIGHT, n_tasks))
            made = counted(m, RIGHT, n_tasks) @ inverse @ counted(link, n, n_tasks)
            off = np.linalg.norm(made - exact[m, n], axis=(1, 2)) / np.linalg.norm(exact[m, n])
            shown[i, s], errors[i, s] = made[0], np.quantile(off, (0.1, 0.5, 0.9))
    return exact[m, n], shown, errors


@styled
def link_live() -> Live:
    """Drag the number of tasks and the annotator who links a hole: see the imputed block and the band of its error."""
    exact, shown, errors = through_links()
    fig = new_picture(8, 3.3)
    left, middle, right = fig.subplots(1, 3, width_ratios=[1, 1, 2.1])
    top = 1.2 * float(exact.max())
    heat(left, exact, (0, top))
    image = heat(middle, exact, (0, top))
    for ax, title in ((left, "true block"), (middle, "imputed through the link")):
        bare(ax)
        ax.set_title(title)
    band = PolyCollection([np.zeros((3, 2))], fc=(*BLUE, 0.15), lw=0)
    right.add_collection(band)
    (line,) = right.plot(SAMPLES, SAMPLES, color=BLUE, label="median error through this link")
    (mark,) = right.plot([30], [10], "D", color=ORANGE, mec=INK, ms=8, label="tasks chosen")
    log_axes(right)
    right.set(xlim=(25, 36_000), ylim=(1, 400), xlabel="tasks S per block", ylabel="error of the block (%)")
    right.legend(loc="lower left")
    say(fig, "A missing block, imputed through two other annotators")

    def update(place: int, link: int) -> str:
        low, half, high = 100 * errors[link - LINKS[0]].T
        image.set_data(shown[link - LINKS[0], place])
        band.set_verts([np.concatenate([np.column_stack([SAMPLES, low]), np.column_stack([SAMPLES, high])[::-1]])])
        line.set_data(SAMPLES, half)
        mark.set_data([SAMPLES[place]], [half[place]])
        return (
            f"{SAMPLES[place]:,} tasks per block, link through annotator {link}: median error "
            f"{half[place]:.0f} % (80 % of the draws: {low[place]:.0f} to {high[place]:.0f} %)."
        )

    controls = {
        "place": sliding(tuple((f"{S:,}", place) for place, S in enumerate(SAMPLES)), 6, "tasks"),
        "link": drag(3, LINKS[0], LINKS[-1], 1, "linking annotator"),
    }
    look = "How many times as many tasks halve the error? Drag. Then find the best link, and a bad one."
    return Live(controls, fig, [image, band, line, mark], update, look)


@styled
def rate_live() -> Live:
    """Guess the slope by dragging; then see the errors measured on ten crowds, as mean and range."""
    errors = sample_errors(methods=("designated", "least squares"))
    values = 100 * errors.by_method["least squares"][:, 1:]
    S: Ints = errors.sizes[1:]
    fig = new_picture(6.5, 3.6)
    ax = fig.subplots()
    start = values[:, 0].mean()
    ax.plot(S[:1], [start], "D", color=INK, ms=8, label=f"measured at S = {S[0]}")
    (guess,) = ax.plot(S, S, "--", color=ORANGE, lw=2, label="your guess")
    band = ax.fill_between(S, values.min(axis=0), values.max(axis=0), color=BLUE, alpha=0.15, lw=0)
    (mean,) = ax.plot(S, values.mean(axis=0), "o-", color=BLUE, label="mean and range of ten crowds")
    ax.axhline(10, color=FAINT, lw=1)
    log_axes(ax)
    ax.set(xlim=(80, 14_000), ylim=(0.3, 60))
    ax.legend(loc="lower left")
    say(fig, "How fast does the error of the missing blocks fall?")

    def update(b: float, shown: bool) -> str:
        line = start * (S / S[0]) ** -b
        guess.set_data(S, line)
        for artist in (band, mean):
            artist.set_visible(shown)
        needed = S[0] * (start / 10) ** (1 / b)
        said = f"If the error falls like S to the power of −{b:.2f}, it reaches 10 % at {needed:,.0f} tasks."
        found, error = errors.exponent("least squares")
        return f"{said} Measured exponent: −{found:.2f} ± {error:.2f}." if shown else said

    controls = {"b": drag(0.25, 0.1, 1.0, 0.05, "slope b"), "shown": reveal("measured")}
    look = "Drag to the slope that you expect. Then show the measured errors."
    return Live(controls, fig, [band, mean, guess], update, look)


def sample_panel() -> Panel:
    """Change the fractions of missing pairs and garbage blocks and the number of classes; see both lines and slopes."""

    def compute(share: float, outlying: float, n_classes: int) -> SampleErrors:
        return sample_errors(12, n_classes, share, outlying, seeds=range(CROWDS if share < SPARSE else FEWER))

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.1, 0.6, 0.1, "fraction of pairs missing"),
        "outlying": slider(w.FloatSlider, 0.1, 0.0, 0.5, 0.05, "fraction of garbage blocks"),
        "n_classes": slider(w.IntSlider, 3, 2, 5, 1, "classes K"),
    }
    return Panel(controls, compute, draw_sample_errors, describe_sample_errors)


def describe_sample_errors(errors: SampleErrors) -> str:
    """Say how much the last tenfold increase of labels helped each method."""
    told = []
    for name, values in errors.by_method.items():
        before, after = values[:, -3].mean(), values[:, -1].mean()
        how = "falls" if after < FALLS * before else "hardly moves"
        told.append(f"the error of {name} imputation {how} ({percent(before, 1)}, then {percent(after, 1)})")
    return f"From {errors.sizes[-3]:,} to {errors.sizes[-1]:,} co-labelled items, {'; '.join(told)}."
