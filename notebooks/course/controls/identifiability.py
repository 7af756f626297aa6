"""The panels of notebook 02: how good a crowd must be for a certificate, and what comes back with holes."""

from __future__ import annotations

import ipywidgets as w
import numpy as np

from cofactor.plots.style import ROUNDING, number
from course.panel import Panel, slider
from course.demos.identifiability import PEOPLE, Quality, Recovery, quality, recovery
from course.figures.identifiability import draw_quality, draw_recovery


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
    return Panel(controls, quality, draw_quality, describe_quality)


def describe_quality(outcome: Quality) -> str:
    """Say what the certificate finds, and how near the rows come to the corners."""
    found = outcome.certificate
    nearest = ", ".join(f"{distance:.2f}" for distance in found.distances)
    second = f", condition 2 {found.condition2}" if found.condition1 == "holds" else ""
    margin = f"margin {number(round(found.margin, 6))}" if np.isfinite(found.margin) else "T is unbounded"
    verdict = "the factor is unique" if found.holds else "other factors may fit as well"
    return f"Condition 1 {found.condition1}{second} ({margin}): {verdict}. Distances of the nearest rows: {nearest}."


def identifiability_panel(seed: int = 0) -> Panel:
    """Make the specialist worse, hide blocks, add classes; see the certificate, and what SymNMF recovers."""
    controls = {
        "specialist_error": slider(w.FloatSlider, 0.0, 0.0, 0.6, 0.05, "error of the specialist"),
        "share": slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "share of pairs missing"),
        "n_classes": slider(w.IntSlider, 3, 2, 6, 1, "classes"),
    }
    return Panel(controls, lambda **values: recovery(**values, seed=seed), draw_recovery, describe_recovery)


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
