"""The panels of notebook 02: how good a crowd must be for a certificate, and what comes back with holes."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cofactor import simulate
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import Certificate, scattering_certificate
from cofactor.core.types import Floats
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor, square_root, symnmf
from cofactor.plots.simplex import fill_simplex, to_plane
from cofactor.plots.style import (
    CLASS_COLOURS,
    CLASS_HATCHES,
    FAINT,
    INK,
    ROUNDING,
    new_picture,
    number,
    say,
    styled,
)
from course.crowds import hide_pairs
from course.nb02.pictures import verdict
from course.panel import Panel, slider

PEOPLE = 12
NEXT, PREVIOUS = np.roll(np.eye(3), 1, axis=0), np.roll(np.eye(3), -1, axis=0)  # whom class c is taken for
MARKERS = "osD^vP"  # of classes


# ---- a crowd made by hand ----


def made_crowd(accuracy: float, n_specialists: int, slips: float, spam: float, n_workers: int) -> Floats:
    """Make a crowd whose members take a class for one certain other: half of them the next, half the one before.

    A_m = (1 - slips) (accuracy I + (1 - accuracy) P) + slips / 3, with P a cyclic permutation; equal priors. The
    specialist for class k gives the label k to no other class. A spammer's label says nothing.
    `accuracy` is that of all who know something, before slips: the share of labels that all give at random. The first
    annotators are the specialists (0 to 3), one each for the first classes; the last are the spammers, by their share.
    Returns the factor H (3 M, 3).
    """
    matrices = [accuracy * np.eye(3) + (1 - accuracy) * (NEXT, PREVIOUS)[m % 2] for m in range(n_workers)]
    for k, A in enumerate(matrices[:n_specialists]):
        _trust(A, k)
    knows = np.arange(n_workers) < round((1 - spam) * n_workers)
    A = np.where(knows[:, None, None], (1 - slips) * np.stack(matrices) + slips / 3, 1 / 3)
    return A.reshape(-1, 3) / np.sqrt(3)


def _trust(A: Floats, k: int) -> None:
    """Let label k be given to class k only: of every other class c, what was called k is now called the third class."""
    for c in {0, 1, 2} - {k}:
        A[3 - k - c, c] += A[k, c]
        A[k, c] = 0.0


@styled
def draw_certificate(H: Floats) -> Figure:
    """Draw the rows of a crowd's factor, their hull and the disc, and what the certificate says.

    Drawn while a slider moves, so its one set of axes is placed by hand.
    """
    certificate = scattering_certificate(H)
    fig = new_picture(6.5, 4.0, laid_out=False)
    ax = fig.add_axes((0.0, 0.0, 1.0, 0.88))
    ax.set(xticks=[], yticks=[])
    fill_simplex(ax, to_plane(H))
    checks = "\n".join(f"{name}: {found}" for name, found in _checks(certificate).items())
    ax.text(0.01, 0.97, checks, transform=ax.transAxes, ha="left", va="top", color=INK, linespacing=1.5)
    say(fig, verdict(certificate))
    return fig


def _checks(certificate: Certificate) -> dict[str, str]:
    second = certificate.condition2 if certificate.condition1 == "holds" else "not asked"
    return {
        "1, hull covers disc": certificate.condition1,
        "2, no other rotation": second,
        "longest corner of T": number(certificate.radius) if np.isfinite(certificate.radius) else "unbounded",
        "margin": f"{certificate.margin:.3f}".replace("-", "−") if np.isfinite(certificate.margin) else "none",
        "nearest rows": " ".join(f"{distance:.2f}" for distance in certificate.distances),
    }


def certificate_panel() -> Panel:
    """Drag the quality of a crowd; see its rows move, the hull cover the disc or not, and the certificate's verdict."""
    controls = {
        "accuracy": slider(w.FloatSlider, 0.6, 0.34, 1.0, 0.01, "accuracy"),
        "n_specialists": slider(w.IntSlider, 0, 0, 3, 1, "classes with a specialist"),
        "slips": slider(w.FloatSlider, 0.0, 0.0, 0.5, 0.01, "labels at random"),
        "spam": slider(w.FloatSlider, 0.0, 0.0, 1.0, 0.1, "share of spammers"),
        "n_workers": slider(w.IntSlider, 10, 2, 30, 1, "annotators"),
    }
    for control in controls.values():
        control.continuous_update = True  # quick enough to follow the hand
    return Panel(controls, made_crowd, draw_certificate, describe_certificate)


def describe_certificate(H: Floats) -> str:
    """Say what the certificate finds, and how near the rows come to the corners."""
    found = scattering_certificate(H)
    nearest = ", ".join(f"{distance:.2f}" for distance in found.distances)
    second = f", condition 2 {found.condition2}" if found.condition1 == "holds" else ""
    margin = f"margin {number(round(found.margin, 6))}" if np.isfinite(found.margin) else "T is unbounded"
    unique = "the factor is unique" if found.holds else "other factors may fit as well"
    return f"Condition 1 {found.condition1}{second} ({margin}): {unique}. Distances of the nearest rows: {nearest}."


# ---- what comes back from exact co-occurrences ----


class Recovery(NamedTuple):
    """A model, what SymNMF makes of its exact co-occurrences (classes in the same order), and how that went.

    H is the true factor (M K, K), with its certificate; `misfit` is ||H - U Q||^2 at the end; `n_hidden` pairs were
    hidden, and `imputation_error` is the largest error of any entry after their imputation.
    """

    truth: LatentClassModel
    estimate: LatentClassModel
    H: Floats
    certificate: Certificate
    misfit: float
    n_hidden: int
    imputation_error: float

    @property
    def error(self) -> float:
        """Mean squared error of the model; ICML 2021, Eq. (19)."""
        return self.truth.mse(self.estimate)


def recovery(specialist_error: float, share: float, n_classes: int, seed: int = 0) -> Recovery:
    """Hide a share of the exact blocks of a crowd with one specialist, impute them, factor the result.

    Raises
    ------
    NotIdentifiableError
        Too many pairs are hidden for any method.
    """
    prior = np.full(n_classes, 1 / n_classes)
    truth = simulate.dawid_skene_model(PEOPLE, n_classes, specialist_error, prior=prior, random_state=seed)
    hidden = hide_pairs(PEOPLE, share, seed)
    cooc = Cooccurrences.from_model(truth, ~hidden)
    cooc.require_identifiable()
    H = factors_of_model(truth).reshape(-1, n_classes)
    X = designated_imputation(cooc).X
    found, _, result = symnmf(square_root(X, n_classes))
    estimate = model_of_factor(found).align_to(truth)
    n_hidden = (int(hidden.sum()) - PEOPLE) // 2
    worst = float(np.abs(X - H @ H.T).max())
    return Recovery(truth, estimate, H, scattering_certificate(H), float(result.objective[-1]), n_hidden, worst)


@styled
def draw_recovery(outcome: Recovery) -> Figure:
    """Draw what the certificate sees (K = 3: the triangle), and every true probability against its estimate."""
    fig = new_picture(7.2, 3.8)
    left, right = fig.subplots(1, 2, width_ratios=[1.4, 1])
    if outcome.H.shape[1] == 3:
        fill_simplex(left, to_plane(outcome.H))
        left.get_legend().remove()
    else:
        _fill_distances(left, outcome.certificate.distances)
    _fill_entries(right, outcome.truth.stacked, outcome.estimate.stacked)
    unique = "unique" if outcome.certificate.holds else "not certified"
    say(fig, f"The factor is {unique}; mean squared error of the model: {number(outcome.error)}")
    return fig


def _fill_distances(ax: Axes, distances: Floats) -> None:
    for k, distance in enumerate(distances):
        colour, hatch = CLASS_COLOURS[k % len(CLASS_COLOURS)], CLASS_HATCHES[k % len(CLASS_HATCHES)]
        ax.barh(k, distance, color=colour, hatch=hatch, ec="white", height=0.7)
        ax.text(distance + 0.01, k, f"{distance:.2f}", va="center", color=INK)
    ax.set(
        xlabel="distance of the nearest row to the corner", ylabel="class", yticks=range(len(distances)), xlim=(0, 1)
    )
    ax.invert_yaxis()


def _fill_entries(ax: Axes, truth: Floats, estimate: Floats) -> None:
    ax.plot([0, 1], [0, 1], "--", color=FAINT, lw=1)
    for k in range(truth.shape[1]):
        colour, marker = CLASS_COLOURS[k % len(CLASS_COLOURS)], MARKERS[k % len(MARKERS)]
        ax.plot(
            truth[:, k], estimate[:, k], marker, ms=4, color=colour, alpha=0.8, mec="white", mew=0.4,
            label=f"class {k + 1}",
        )  # fmt: skip
    ax.legend(loc="upper left", handletextpad=0.1)
    ax.set(xlabel="true probability", ylabel="estimated probability", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.set_box_aspect(1)


def identifiability_panel(seed: int = 0) -> Panel:
    """Make the specialist worse, hide blocks, add classes; see the certificate, and what SymNMF recovers."""
    controls = {
        "specialist_error": slider(w.FloatSlider, 0.0, 0.0, 0.6, 0.05, "error of the specialist"),
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "share of pairs missing"),
        "n_classes": slider(w.IntSlider, 3, 2, 6, 1, "classes"),
    }
    return Panel(controls, partial(recovery, seed=seed), draw_recovery, describe_recovery)


def describe_recovery(outcome: Recovery) -> str:
    """Say what was hidden and filled, what the certificate says, how well SymNMF fits and how far off the model is."""
    n_pairs = PEOPLE * (PEOPLE - 1) // 2
    first = outcome.certificate.condition1
    filled = "exactly" if outcome.imputation_error < ROUNDING else f"up to {number(outcome.imputation_error)}"
    return (
        f"{outcome.n_hidden} of {n_pairs} pairs were hidden and imputed {filled}. Condition 1 {first} "
        f"(margin {number(outcome.certificate.margin)}). The misfit of SymNMF is {number(outcome.misfit)}; "
        f"the mean squared error of the model is {number(outcome.error)}."
    )
