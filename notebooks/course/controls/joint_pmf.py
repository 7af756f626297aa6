"""The panel of notebook 08: rows, missing entries, classes and anchors of a joint PMF."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import number
from course.panel import Panel, choice
from course.demos.joint_pmf import Recovered, recover
from course.figures.joint_pmf import draw_recovered

ROWS = (300, 1000, 3000, 10_000, 30_000, 100_000)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
RANKS = (3, 4, 5, 6)
SEPARABILITY = (("anchors", 0.1), ("blurred anchors", 0.2), ("very blurred anchors", 0.3), ("no anchors planted", None))


def joint_panel(seed: int = 0) -> Panel:
    """Choose rows S, observed share p, classes F and anchors; see what SPA takes and how far three methods are off."""

    def compute(n_rows: int, observed: float, rank: int, separability: float | None) -> Recovered:
        return recover(n_rows, observed, rank, separability, seed)

    controls = {
        "n_rows": choice(w.SelectionSlider, ROWS, 10_000, "rows S"),
        "observed": choice(w.SelectionSlider, SHARES, 0.5, "share observed p"),
        "rank": choice(w.SelectionSlider, RANKS, 3, "classes F"),
        "separability": choice(w.Dropdown, SEPARABILITY, 0.1, "separability"),
    }
    return Panel(controls, compute, draw_recovered, describe_recovered)


def describe_recovered(outcome: Recovered) -> str:
    """Say how many rows each pair and triple is seen in, and the errors of all methods."""
    told = "; ".join(f"{name}: {number(value)}" for name, value in outcome.mre.items())
    seen = (
        f"{outcome.pair_rows:,.0f} rows for the 100 cells of a pair, {outcome.triple_rows:,.0f} for 1,000 of a triple"
    )
    return f"About {seen}. Relative error of the joint PMF (MRE): {told}."
