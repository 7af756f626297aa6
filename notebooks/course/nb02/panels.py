"""The panels of notebook 02: how good a crowd must be for a certificate, and what is recovered from missing blocks."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

from cofactor import simulate
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import Certificate, scattering_certificate
from cofactor.core.types import Floats
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor_app.plots.simplex import CENTRE, CORNERS, RADIUS, draw_triangle, hull_of, to_plane
from cofactor_app.plots.style import (
    BLUE,
    CLASS_COLOURS,
    FAINT,
    INK,
    ORANGE,
    RED,
    ROUNDING,
    new_picture,
    number,
    say,
    styled,
)  # fmt: skip
from course.crowds import hide_pairs
from course.live import Live, drag, reveal
from course.nb02.pictures import OUTER, TITLES, frame_about_centre, slice_in_frame
from course.panel import Panel, slider

PEOPLE, K = 12, 3
NEXT, BEFORE = np.roll(np.eye(K), 1, axis=0), np.roll(np.eye(K), -1, axis=0)  # what class c is mistaken for


def made_crowd(accuracy: float, n_specialists: int, spread: float, spam: float, n_workers: int = 10) -> Floats:
    """Make a crowd whose members mistake a class for one other class: half of them for the next, half for the previous.

    A_m = (1 - spread) (accuracy I + (1 - accuracy) P) + spread / 3, with P a cyclic permutation; equal priors. The
    specialist for class k gives label k only to class k. A spammer's labels are independent of the class. The first
    annotators are the specialists (0 to 3), one for each of the first classes; the last `spam` fraction are spammers.
    Returns the factor H (3 M, 3).
    """
    matrices = [accuracy * np.eye(K) + (1 - accuracy) * (NEXT, BEFORE)[m % 2] for m in range(n_workers)]
    for k, A in enumerate(matrices[:n_specialists]):
        for c in {0, 1, 2} - {k}:  # what was called k is now called the third class
            A[3 - k - c, c] += A[k, c]
            A[k, c] = 0.0
    knows = np.arange(n_workers) < round((1 - spam) * n_workers)
    A = np.where(knows[:, None, None], (1 - spread) * np.stack(matrices) + spread / K, 1 / K)
    return A.reshape(-1, K) / np.sqrt(K)


@styled
def certificate_live() -> Live:
    """Drag the quality of a crowd: its rows move, and with them the hull around the disc and T in the circle."""
    fig = new_picture(7.6, 3.7)
    left, right = fig.subplots(1, 2)
    centre = float(CENTRE[0]), float(CENTRE[1])
    moving: list[Artist] = []
    for ax, radius in ((left, RADIUS), (right, OUTER)):
        circle = Circle(centre, radius, fill=False, ec=ORANGE, lw=2, ls="--")
        for patch in (
            Polygon(CORNERS, fc=RED, alpha=0.75, lw=0), Polygon(CORNERS, fc="white", lw=0),
            Polygon(CORNERS, fc=(*BLUE, 0.16), ec=BLUE, lw=1.4), Polygon(CORNERS, fill=False, ec=INK, lw=1), circle,
        ):  # fmt: skip
            moving.append(ax.add_patch(patch))
        frame_about_centre(ax)
        ax.set_axis_off()
    left.add_patch(Circle(centre, RADIUS, fc=RED, alpha=0.75, lw=0))
    left.set_title(TITLES[0])
    right.set_title(TITLES[1])
    (dots,) = left.plot([], [], "o", ms=5, color=BLUE, mec="white", mew=0.5)
    moving[0].set_visible(False)  # left, the disc itself is red where no hull covers it
    moving[6].set_clip_path(moving[9])
    moving[7].set_clip_path(moving[9])
    say(fig, "Is the factor unique? Left: the rows of H; right: the same question in the dual")

    def update(accuracy: float, n_specialists: int, spread: float, spam: float, shown: bool) -> str:
        H = made_crowd(accuracy, n_specialists, spread, spam)
        places = to_plane(H)
        hull, T = hull_of(places), slice_in_frame(places)
        outline = places if hull is None else places[hull.vertices]
        for patch, corners in zip((*moving[1:3], *moving[5:8]), (outline, outline, T, T, T), strict=True):
            patch.set(xy=corners)
        for patch in moving[5:]:
            patch.set_visible(shown)
        dots.set_data(*places.T)
        return describe_certificate(H)

    controls = {
        "accuracy": drag(0.6, 0.0, 1.0, 0.01, "accuracy"),
        "n_specialists": drag(0, 0, 3, 1, "classes with a specialist"),
        "spread": drag(0.0, 0.0, 0.5, 0.01, "fraction of random labels"),
        "spam": drag(0.0, 0.0, 1.0, 0.1, "fraction of spammers"),
        "shown": reveal("T, on the right"),
    }
    look = "At which accuracy does the hull begin to cover the disc? Guess, then drag. What about below one half?"
    return Live(controls, fig, [*moving, dots], update, look)


def describe_certificate(H: Floats) -> str:
    """Say what the certificate finds, how many labels are right, and how close the rows come to the corners."""
    found = scattering_certificate(H)
    nearest = ", ".join(f"{distance:.2f}" for distance in found.distances)
    second = f", condition 2 {found.condition2}" if found.condition1 == "holds" else ""
    margin = f"margin {number(round(found.margin, 6))}" if np.isfinite(found.margin) else "T is unbounded"
    unique = "the factor is unique" if found.holds else "other factors may fit as well"
    right = np.trace(H.reshape(-1, K, K).mean(axis=0)) / np.sqrt(K)
    return (
        f"Condition 1 {found.condition1}{second} ({margin}): {unique}. Of all labels, {right:.0%} are right. "
        f"Distances of the nearest rows from the corners: {nearest}."
    )


class Recovery(NamedTuple):
    """A model with its factor H, the estimate of SymNMF from exact co-occurrences, and the errors on the way."""

    truth: LatentClassModel
    estimate: LatentClassModel
    H: Floats
    certificate: Certificate
    misfit: float
    n_hidden: int
    imputation_error: float

    @property
    def error(self) -> float:
        """ICML 2021, Eq. (19)."""
        return self.truth.mse(self.estimate)


def recovery(specialist_error: float, share: float, seed: int = 0) -> Recovery:
    """Hide a fraction of the exact blocks of a crowd with one specialist, impute them, and factor the result.

    Raises a NotIdentifiableError if too many pairs are hidden for any method.
    """
    truth = simulate.dawid_skene_model(PEOPLE, K, specialist_error, prior=np.full(K, 1 / K), random_state=seed)
    hidden = hide_pairs(PEOPLE, share, seed)
    cooc = Cooccurrences.from_model(truth, ~hidden)
    cooc.require_identifiable()
    H = factors_of_model(truth).reshape(-1, K)
    X = designated_imputation(cooc).X
    found, _, result = symnmf(square_root(X, K))
    estimate = model_of_factor(found).align_to(truth)
    n_hidden, worst = (int(hidden.sum()) - PEOPLE) // 2, float(np.abs(X - H @ H.T).max())
    return Recovery(truth, estimate, H, scattering_certificate(H), float(result.objective[-1]), n_hidden, worst)


@styled
def draw_recovery(outcome: Recovery) -> Figure:
    """Draw the rows of H with the disc, and every estimated probability against the true one."""
    fig = new_picture(7.2, 3.8)
    left, right = fig.subplots(1, 2, width_ratios=[1.4, 1])
    draw_triangle(to_plane(outcome.H), ax=left)
    left.get_legend().remove()
    right.plot([0, 1], [0, 1], "--", color=FAINT, lw=1)
    for k, (colour, marker) in enumerate(zip(CLASS_COLOURS, "osD", strict=False)):
        places = outcome.truth.stacked[:, k], outcome.estimate.stacked[:, k]
        right.plot(*places, marker, ms=4, color=colour, alpha=0.8, mec="white", mew=0.4, label=f"class {k + 1}")
    right.legend(loc="upper left", handletextpad=0.1)
    right.set(xlabel="true probability", ylabel="estimated probability", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    right.set_box_aspect(1)
    unique = "unique" if outcome.certificate.holds else "not certified"
    say(fig, f"The factor is {unique}; mean squared error of the model: {number(outcome.error)}")
    return fig


def identifiability_panel(seed: int = 0) -> Panel:
    """Make the specialist worse and hide blocks; see the certificate and what SymNMF recovers."""
    controls = {
        "specialist_error": slider(w.FloatSlider, 0.1, 0.0, 0.6, 0.05, "error of the specialist"),
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "fraction of pairs missing"),
    }
    return Panel(controls, partial(recovery, seed=seed), draw_recovery, describe_recovery)


def describe_recovery(outcome: Recovery) -> str:
    """Say what was hidden and imputed, what the certificate says, how well SymNMF fits, and the error of the model."""
    first, n_pairs = outcome.certificate.condition1, PEOPLE * (PEOPLE - 1) // 2
    error = outcome.imputation_error
    filled = "exactly" if error < ROUNDING else f"with errors of up to {number(error)}"
    return (
        f"{outcome.n_hidden} of {n_pairs} pairs were hidden and imputed {filled}. Condition 1 {first} "
        f"(margin {number(outcome.certificate.margin)}). The misfit of SymNMF is {number(outcome.misfit)}; "
        f"the mean squared error of the model is {number(outcome.error)}."
    )
