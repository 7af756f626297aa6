"""The panels of notebook 03: error against co-labelled items, and how many are needed."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import percent
from course.crowds import MARKS, Completion, draw_completion
from course.nb03.pictures import SIZES, SampleErrors, draw_items_needed, draw_sample_errors, holes, sample_errors
from course.panel import Panel, choice, slider

TARGETS = (0.02, 0.05, 0.1, 0.2)
CROWDS = 5  # a panel must answer at once


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
    gains = [
        f"{name} from {percent(values[:, -3].mean(), 1)} to {percent(values[:, -1].mean(), 1)}"
        for name, values in errors.by_method.items()
    ]
    few, many = errors.sizes[-3], errors.sizes[-1]
    return f"From {few:,} to {many:,} co-labelled items the error falls: {'; '.join(gains)}."


def holes_panel(seed: int = 0) -> Panel:
    """Choose S, the holes and the garbage; see the matrix, how it is completed, and where it is wrong."""

    def compute(n_items: int, outlying: float, method: str) -> Completion:
        return holes(n_items, 8, 3, 0.3, outlying, seed).complete(method)

    controls = {
        "n_items": choice(w.SelectionSlider, SIZES, 1000, "co-labelled items S"),
        "outlying": slider(w.FloatSlider, 0.0, 0.0, 0.5, 0.1, "share of blocks garbage"),
        "method": choice(w.Dropdown, tuple(MARKS), "designated", "imputation"),
    }
    return Panel(controls, compute, draw_completion, lambda completion: f"{completion.finding}.")


def needed_panel() -> Panel:
    """Choose the error wanted, the classes and the missing share; see how many co-labelled items it takes."""

    def compute(target: float, n_classes: int, share: float) -> tuple[SampleErrors, float]:
        return sample_errors(12, n_classes, share, 0.0, ("robust",), seeds=range(CROWDS)), target

    controls = {
        "target": choice(w.SelectionSlider, TARGETS, 0.1, "error wanted"),
        "n_classes": slider(w.IntSlider, 3, 2, 5, 1, "classes K"),
        "share": slider(w.FloatSlider, 0.3, 0.1, 0.7, 0.1, "share of pairs missing"),
    }
    return Panel(controls, compute, lambda found: draw_items_needed(found[0], "robust", found[1]), describe_needed)


def describe_needed(outcome: tuple[SampleErrors, float]) -> str:
    """Say how many items it takes, and the range over crowds."""
    errors, target = outcome
    middle, low, high = errors.rate("robust").items_needed(target)
    return f"For an error of {percent(target)}: about {middle:,.0f} items per pair ({low:,.0f} to {high:,.0f})."
