"""The live figures of notebook 08: a slice of a joint distribution, a party from votes; and where anchors lie.

symbol   meaning                                                              shape
W        the conditionals of the variables in S_1, one below another          (sum over S_1 of I_j, F)
X        the pairs of S_1 (rows) with S_2 (columns); X = W H'
theta    coordinates of a column of X in the columns of W, all sums being one  (F,)
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from cofactor import simulate
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Ints
from cofactor.data import load
from cofactor.pmf import METHODS
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, bare, heat, new_picture, say, styled
from course.live import Live, drag, reveal
from course.panel import choice

CONSTANT = "Constant"
AMOUNTS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)  # rows
REST = 300  # members of the first Congress, whose votes the model has seen


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


# ---- a slice of a joint distribution ----


@cache
def learnt() -> tuple[Floats, dict[int, tuple[Floats, Floats]]]:
    """The true table of three variables of five values; counted, and fitted to pairs, from so many rows."""
    truth = simulate.joint_model(3, 5, 2, random_state=1)
    found = {}
    for rows in AMOUNTS:
        table = simulate.joint_table(truth, rows, random_state=1)
        counted = np.zeros((5, 5, 5))
        np.add.at(counted, tuple(table.codes.T), 1 / rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = METHODS["CNMF-OPT"](rank=2, split=1, pseudo_count=0).fit(table).model_
        found[rows] = counted, fit.joint_tensor()
    return truth.joint_tensor(), found


def off(table: Floats) -> float:
    """How far a table is from the true one, relative to the true one."""
    truth = learnt()[0]
    return float(np.linalg.norm(table - truth) / np.linalg.norm(truth))


@styled
def _draw_slice() -> Figure:
    truth, found = learnt()
    fig = new_picture(7.5, 2.7)
    *maps, right = fig.subplots(1, 4, width_ratios=[1, 1, 1, 1.4])
    for ax, name in zip(maps, ("true", "counted", "from pairs"), strict=True):
        heat(ax, truth[0], (0, truth.max()))
        bare(ax)
        ax.set(title=name, xlabel="third answer")
    maps[0].set_ylabel("second answer")
    for tables, name, look in zip(
        zip(*found.values(), strict=True), ("counted", "from pairs"), ("-", "--"), strict=True
    ):
        right.loglog(AMOUNTS, [off(table) for table in tables], look, color=BLUE, label=name)
    right.set(xlabel="people asked", ylabel="relative error", ylim=(0.01, 3))
    right.loglog([], [], "o", color=ORANGE)
    right.legend(loc="lower left")
    say(fig, "Three questions of five answers: 125 cells, seen slice by slice")
    return fig


def slice_live() -> Live:
    """Drag through a joint distribution, and over how many people were asked; count cells, or learn from pairs."""
    fig = _draw_slice()
    truth, found = learnt()
    images, (counts, pairs, dot) = [ax.images[0] for ax in fig.axes[:3]], fig.axes[3].lines

    def update(first: int, rows: int, shown: bool) -> str:
        for image, table in zip(images, (truth, *found[rows]), strict=True):
            image.set_data(table[first - 1])
        errors = [off(table) for table in found[rows]]
        dot.set_data([rows], errors[:1])
        for line in (counts, pairs, dot):
            line.set_visible(shown)
        told = (
            f"counting is off by {errors[0]:.2f}, pairs by {errors[1]:.2f}"
            if shown
            else "which is closer to the truth?"
        )
        return f"{rows:,} people, those with the first answer {first}: {told}"

    rows = choice(w.SelectionSlider, AMOUNTS, 200, "people asked")
    rows.continuous_update = True
    controls = {"first": drag(1, 1, 5, 1, "first answer"), "rows": rows, "shown": reveal("errors")}
    look = "How many people does counting need to get close to the true table? And pairs? Then show the errors."
    return Live(controls, fig, [*images, counts, pairs, dot], update, look)


# ---- a party from votes ----


@cache
def congress() -> tuple[LatentClassModel, Ints]:
    """A model of the votes and parties of 300 members of Congress, and the codes of the others."""
    votes = load("votes").table
    order = np.random.default_rng(0).permutation(votes.n_rows)
    method = METHODS["RAND-EM"](rank=8, n_starts=3, pseudo_count=0.05, random_state=0)
    return method.fit(votes.take_rows(order[:REST])).model_, votes.take_rows(order[REST:]).codes


def told_by_votes(codes: Ints) -> Floats:
    """Probability of the second party after none, one, two, ... of the votes of a member; a gap tells nothing."""
    model = congress()[0]
    weight, chances = model.prior, []
    for n in range(len(codes)):
        if n and codes[n] >= 0:
            weight = weight * model.conditionals[n][codes[n]]
        chances.append(float((model.conditionals[0] @ weight / weight.sum())[1]))
    return np.array(chances)


@styled
def _draw_member() -> Figure:
    fig = new_picture(WIDTH, 2.8)
    ax = fig.subplots()
    ax.axhline(50, color=FAINT, lw=1, ls=":")
    ax.plot([], [], "o-", color=BLUE, label="from the known votes")
    ax.axhline(0, color=ORANGE, ls="--", label="the party")
    ax.set(xlabel="votes known", ylabel="chance of one party (%)", xlim=(-0.5, 16.5), ylim=(-5, 105))
    ax.legend(loc="center right")
    say(fig, "A member of Congress whom the model has not seen, and 16 votes")
    return fig


def member_live() -> Live:
    """Drag the number of known votes of a new member; guess the party, then see it."""
    fig = _draw_member()
    codes = congress()[1]
    _, line, party = fig.axes[0].lines

    def update(member: int, known: int, shown: bool) -> str:
        chances = 100 * told_by_votes(codes[member])
        line.set_data(np.arange(known + 1), chances[: known + 1])
        party.set_ydata([100 * codes[member, 0]] * 2)
        party.set_visible(shown)
        right = "right" if (chances[known] > 50) == codes[member, 0] else "wrong"
        told = f"the model is {right}" if shown else "and the party?"
        return f"{known} votes known: {chances[known]:.0f} % for one party, {told}"

    controls = {
        "member": drag(0, 0, len(codes) - 1, 1, "member"),
        "known": drag(0, 0, 16, 1, "votes known"),
        "shown": reveal("party"),
    }
    return Live(
        controls, fig, [line, party], update, "How many votes does it take until the party is clear? Try ten members."
    )
