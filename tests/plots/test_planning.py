"""Pictures of plans and intervals: what is drawn is what was found."""

from dataclasses import replace

import numpy as np
import pytest

from cofactor.crowd import MVEM, bootstrap
from cofactor.crowd.plan_next import Plan
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.plots.crowd import draw_intervals, draw_plan

AMOUNTS = np.array([1.0, 2.0, 4.0, 8.0])
ERRORS = {"one": np.linspace(0.5, 1.5, 21)[:, None] * 0.4 / AMOUNTS, "never": np.full((21, 4), 0.3)}
PLAN = Plan("labels per task", "share wrong", AMOUNTS, ERRORS, 0.1, 2.0)


def title(ax):
    return ax.figure.get_suptitle().replace("\n", " ")


def test_curves_and_answers_are_those_of_the_plan():
    ax = draw_plan(PLAN)
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
    for name, table in PLAN.curve().groupby("method"):
        assert np.allclose(drawn[name], table[["amount", "error"]])
    (diamond,) = [line for line in ax.lines if line.get_marker() == "D"]  # of the one that gets there
    assert diamond.get_xydata().tolist() == [[pytest.approx(PLAN.needed()["amount"][0]), 0.1]]
    (wanted,) = [line for line in ax.lines if list(line.get_xdata()) == [0, 1]]  # from edge to edge
    assert wanted.get_linewidth() < min(line.get_linewidth() for line in ax.lines if line.get_label() in ERRORS)
    assert title(draw_plan(PLAN)) == "For an error of 0.1: one 4, never more than 8 labels per task"


def test_a_plan_that_is_only_a_range_has_no_diamond():
    unsure = replace(PLAN, only_range=True)
    assert not [line for line in draw_plan(unsure).lines if line.get_marker() == "D"]
    assert title(draw_plan(unsure)) == "For an error of 0.1: one 3 to 7, never more than 8 labels per task"


def test_amounts_that_span_decades_get_a_logarithmic_axis():
    wide = Plan("rows", "error", 100 * 4.0 ** np.arange(4), ERRORS, 0.1, 400.0)
    assert draw_plan(wide).get_xscale() == "log" and draw_plan(PLAN).get_xscale() == "linear"


def test_intervals_are_drawn_as_found_and_sorted_by_what_they_tell():
    found = bootstrap(MVEM(), crowd(dawid_skene_model(8, 2, random_state=0), 300, 0.5, random_state=0).labels, 30, 0)
    ax, table = draw_intervals(found), found.accuracy()
    better, worse = (table["low"] > 0.5).sum(), (table["high"] < 0.5).sum()
    counts = {
        "better than chance": better,
        "not distinguishable from chance": 8 - better - worse,
        "worse than chance": worse,
    }
    seen = {name: count for name, count in counts.items() if count}
    assert title(ax) == f"Of 8 workers: {', '.join(f'{count} {name}' for name, count in seen.items())}"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert (
        "chance: 50\xa0%" in legend
        and {name: int(count) for name, _, count in (text.rpartition(": ") for text in legend) if name in counts}
        == seen
    )
    order = table.sort_values("estimate", ascending=False, kind="stable")["worker"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [f"worker {name}" for name in order]
    bars = np.concatenate([c.get_segments() for box in ax.containers for c in box[2] if c.get_segments()])
    assert np.allclose(np.sort(bars[:, 0, 1]), np.sort(100 * table["low"]))
    assert np.allclose(np.sort(bars[:, 1, 1]), np.sort(100 * table["high"]))
