"""The panel of notebook 08: rows, missing entries, classes and anchors of a joint PMF.

symbol   meaning                                                              shape
W        the conditionals of the variables in S_1, one below another          (sum over S_1 of I_j, F)
X        the pairs of S_1 (rows) with S_2 (columns); X = W H'
theta    coordinates of a column of X in the columns of W, all sums being one  (F,)
"""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import NullFormatter

from cofactor import simulate
from cofactor.core.em import em
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.spa import spa
from cofactor.core.types import Floats, Ints
from cofactor.pmf import METHODS, mre, mse
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, RED, WIDTH, new_picture, number, percent, say, styled
from course.panel import Panel, choice

CONSTANT = "Constant"
ROWS = (300, 1000, 3000, 10_000, 30_000)
ROUNDS, EM_ROUNDS = 1000, 100  # at most, so that a slider is answered soon: CNMF-OPT is then within .01 of its end
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
SEPARABILITY = (("anchors", 0.1), ("blurred anchors", 0.2), ("very blurred anchors", 0.3), ("no anchors planted", 0.0))

Recovered = namedtuple("Recovered", "anchors mse mre pair_rows triple_rows")


class Anchors(NamedTuple):
    """Columns of X in the coordinates of the true classes, (J, F) rows summing to one, and the (F,) SPA takes."""

    theta: Floats
    found: Ints

    @property
    def gaps(self) -> Floats:
        """(F,) distance of each corner to the nearest anchor taken, in the space of theta; 0: found exactly."""
        away = np.eye(self.theta.shape[1])[:, None] - self.theta[self.found]
        return np.asarray(np.linalg.norm(away, axis=2).min(axis=1))


def anchors(truth: LatentClassModel, X: Floats, split: int = 3) -> Anchors:
    """Look for anchors among the columns of X, the pairs of the first `split` variables with the others."""
    X = X[:, X.any(axis=0)]
    X = X / X.sum(axis=0)
    W = np.vstack(truth.conditionals[:split]) / split
    theta = np.linalg.lstsq(W, X, rcond=None)[0].T
    return Anchors(theta / theta.sum(axis=1, keepdims=True), spa(X, truth.n_classes))


def recover(n_rows: int, observed: float, rank: int, separability: float, seed: int = 0) -> Recovered:
    """Draw 5 variables of 10 values; estimate their joint PMF in three ways, not smoothed, beside the constant.

    CNMF-EM goes on from CNMF-OPT by itself, so that the fit to the pairs is done once.
    """
    truth = simulate.joint_model(5, 10, rank, separability or None, random_state=seed)
    table = simulate.joint_table(truth, n_rows, observed, random_state=seed)
    plain: dict[str, Any] = {"rank": rank, "split": 3, "pseudo_count": 0, "random_state": seed}
    models = {CONSTANT: METHODS[CONSTANT](rank=rank).fit(table).model_}
    models["CNMF-SPA"] = METHODS["CNMF-SPA"](**plain).fit(table).model_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models["CNMF-OPT"] = METHODS["CNMF-OPT"](**plain, max_iter=ROUNDS).fit(table).model_
        models["CNMF-EM"] = em(table, models["CNMF-OPT"], max_iter=EM_ROUNDS)[0]
    both = [{name: error(truth, model) for name, model in models.items()} for error in (mse, mre)]
    moments = pairwise_moments(table)
    X = np.block([[moments.joint(j, k) for k in (3, 4)] for j in range(3)])
    return Recovered(anchors(truth, X), both[0], both[1], n_rows * observed**2, n_rows * observed**3)


@styled
def draw_recovered(outcome: Recovered) -> Figure:
    """Draw the anchors of a simulated table beside the errors of three methods and the constant."""
    fig = new_picture(WIDTH, 3.4)
    left, *both = fig.subplots(1, 3, width_ratios=[1.15, 1, 1])
    fill_anchors(left, outcome.anchors)
    fill_errors(both[0], outcome.mse, "MSE")
    fill_errors(both[1], outcome.mre, "MRE")
    both[1].set_yticklabels([])
    best = min(outcome.mre, key=lambda name: outcome.mre[name])
    missed = f"SPA misses a corner by {outcome.anchors.gaps.max():.2f}"
    say(fig, f"Best joint PMF: {best}, {percent(outcome.mre[best])} off; {missed}")
    return fig


def fill_anchors(ax: Axes, found: Anchors) -> None:
    """Draw one set of columns into axes; classes are the corners of a regular polygon."""
    corners = polygon(found.theta.shape[1])
    places, taken = found.theta @ corners, found.theta[found.found] @ corners
    away = taken - taken.mean(axis=0)
    around = np.argsort(np.arctan2(away[:, 1], away[:, 0]))
    ax.add_patch(Polygon(corners, closed=True, fc="none", ec=INK, lw=1.2))
    ax.add_patch(Polygon(taken[around], closed=True, fc=(*ORANGE, 0.15), ec=ORANGE, lw=1.2, ls="--"))
    ax.plot(*corners.T, "s", color=INK, ms=6, label="class (truth)")
    ax.plot(*places.T, "o", color=BLUE, ms=4, alpha=0.6, mec="white", mew=0.4, label="value: column of X")
    ax.plot(*taken.T, "D", color=ORANGE, ms=6, mec="white", mew=0.6, label="taken by SPA")
    reach = np.vstack([corners, places])
    margin = 0.08 * np.ptp(reach, axis=0).max()
    low, high = reach.min(axis=0) - margin, reach.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_xlabel("plane of the classes")


def polygon(n_classes: int) -> Floats:
    """Return the (F, 2) corners of a regular polygon; for three classes distances are those of the simplex, scaled."""
    angle = np.pi / 2 + 2 * np.pi * np.arange(n_classes) / n_classes
    return np.column_stack([np.cos(angle), np.sin(angle)])


def fill_errors(ax: Axes, errors: Mapping[str, float], name: str) -> None:
    """Draw one error of each method as a dot, red where it is above the constant's."""
    names = list(errors)[::-1]
    level = errors[CONSTANT]
    ax.axvline(level, color=FAINT, lw=1, zorder=0)
    for y, method in enumerate(names):
        colour: str | tuple[float, float, float]
        colour, marker = (RED, "X") if errors[method] > level else (BLUE, "o")
        if method == CONSTANT:
            colour, marker = INK, "s"
        place = errors[method], y
        ax.plot(*place, marker, color=colour, ms=7)
        said = number(float(f"{errors[method]:.2g}"))
        ax.annotate(said, place, (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.set(xscale="log", xlabel=name, yticks=range(len(names)), yticklabels=names)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.25, y=0.22)


def joint_panel(seed: int = 0) -> Panel:
    """Choose rows S, observed share p, classes F and anchors; see what SPA takes and how far three methods are off."""
    controls = {
        "n_rows": choice(w.SelectionSlider, ROWS, 10_000, "rows S"),
        "observed": choice(w.SelectionSlider, SHARES, 0.5, "share observed p"),
        "rank": choice(w.SelectionSlider, (3, 4, 5, 6), 3, "classes F"),
        "separability": choice(w.Dropdown, SEPARABILITY, 0.1, "separability"),
    }
    return Panel(controls, partial(recover, seed=seed), draw_recovered, _describe)


def _describe(outcome: Recovered) -> str:
    told = "; ".join(f"{name}: {number(value)}" for name, value in outcome.mre.items())
    pair, triple = f"{outcome.pair_rows:,.0f} rows for the 100 cells of a pair", f"{outcome.triple_rows:,.0f} for 1,000"
    return f"About {pair}, {triple} of a triple. Relative error of the joint PMF (MRE): {told}."
