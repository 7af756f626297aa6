"""The panel of notebook 03: error against co-labelled items."""

from __future__ import annotations

import ipywidgets as w

from cofactor_app.plots.style import percent
from course.nb03.pictures import SampleErrors, draw_sample_errors, sample_errors
from course.panel import Panel, slider

CROWDS, FEWER = 5, 2  # a panel must answer at once, and few blocks left make robust imputation slow
SPARSE = 0.55  # share of missing pairs from which on fewer crowds are drawn; the legend tells how many
FALLS = 0.8  # an error that is not below this share of what it was hardly moves: sqrt(10) would leave 0.32 of it


def sample_panel() -> Panel:
    """Change the missing share, the share of garbage blocks and the number of classes; see both lines and slopes."""

    def compute(share: float, outlying: float, n_classes: int) -> SampleErrors:
        return sample_errors(12, n_classes, share, outlying, seeds=range(CROWDS if share < SPARSE else FEWER))

    controls = {
        "share": slider(w.FloatSlider, 0.3, 0.1, 0.6, 0.1, "share of pairs missing"),
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
