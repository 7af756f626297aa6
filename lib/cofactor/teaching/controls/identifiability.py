"""The panel of notebook 02: how good a specialist, how many holes, how many classes."""

from __future__ import annotations

import ipywidgets as w

from cofactor.teaching.controls.panel import Panel, slider
from cofactor.teaching.demos.identifiability import PEOPLE, Recovery, recovery
from cofactor.teaching.figures.identifiability import draw_recovery
from cofactor.teaching.style import ROUNDING, number


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
