"""The panels of notebook 03: error against co-labelled items, and how many are needed."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import percent
from course.nb03.pictures import SampleErrors, draw_items_needed, draw_sample_errors, sample_errors
from course.panel import Panel, choice, slider

TARGETS = (0.02, 0.05, 0.1, 0.2)
CROWDS = 5  # a panel must answer at once
FALLS = 0.8  # an error that is not below this share of what it was hardly moves: sqrt(10) would leave 0.32 of it


def sample_panel() -> Panel:
    """Change the missing share, the share of garbage blocks and the number of classes; see both lines and slopes."""

    def compute(share: float, outlying: float, n_classes: int) -> SampleErrors:
        return sample_errors(12, n_classes, share, outlying, seeds=range(CROWDS))

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.1, 0.7, 0.1, "share of pairs missing"),
        "outlying": slider(w.FloatSlider, 0.1, 0.0, 0.5, 0.05, "share of blocks garbage"),
        "n_classes": slider(w.IntSlider, 3, 2, 5, 1, "classes K"),
    }
    return Panel(controls, compute, draw_sample_errors, describe_sample_errors)


def describe_sample_errors(errors: SampleErrors) -> str:
    """Say what the last tenfold increase of labels bought each method."""
    told = []
    for name, values in errors.by_method.items():
        before, after = values[:, -3].mean(), values[:, -1].mean()
        how = "falls" if after < FALLS * before else "hardly moves"
        told.append(f"the error of {name} imputation {how} ({percent(before, 1)}, then {percent(after, 1)})")
    return f"From {errors.sizes[-3]:,} to {errors.sizes[-1]:,} co-labelled items, {'; '.join(told)}."


def needed_panel() -> Panel:
    """Choose the error wanted, the classes and the missing share; see how many co-labelled items it takes."""

    def compute(target: float, n_classes: int, share: float) -> tuple[SampleErrors, float]:
        return sample_errors(12, n_classes, share, 0.0, ("least squares",)), target

    controls = {
        "target": choice(w.SelectionSlider, TARGETS, 0.1, "error wanted"),
        "n_classes": slider(w.IntSlider, 3, 2, 5, 1, "classes K"),
        "share": slider(w.FloatSlider, 0.3, 0.1, 0.7, 0.1, "share of pairs missing"),
    }
    return Panel(
        controls, compute, lambda found: draw_items_needed(found[0], "least squares", found[1]), describe_needed
    )


def describe_needed(outcome: tuple[SampleErrors, float]) -> str:
    """Say how many items it takes, and the range over crowds."""
    middle, low, high = outcome[0].items_needed("least squares", outcome[1])
    return f"For an error of {percent(outcome[1])}: about {middle:,.0f} items per pair ({low:,.0f} to {high:,.0f})."
