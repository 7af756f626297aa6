"""Pictures of results hold what the results hold."""

import numpy as np
import pandas as pd
import pytest

from evaluation import summary
from evaluation.experiment import Measurement, Task
from evaluation.plots import PLOTS, draw
from evaluation.runner import Outcome
from tests.evaluation.test_summary import FACTS
from tests.evaluation.toy import toy


@pytest.fixture
def panels(monkeypatch):
    """Draw measurements {method: {metric: value}} of each trial on the small set; returns the panels."""
    monkeypatch.setattr(summary, "published", lambda name: FACTS)

    def drawn(trials, **fields):
        experiment = toy(**fields)
        outcomes = [
            Outcome(
                Task("toy", next(iter(experiment.settings)), number),
                "code",
                1.0,
                tuple(Measurement(m, metric, v) for m, found in trial.items() for metric, v in found.items()),
            )
            for number, trial in enumerate(trials)
        ]
        return draw(experiment, outcomes, summary.summarise(experiment, outcomes)).axes

    return drawn


def errors(*values):
    return [{"Sum": {"error": value}, "Fixed": {"error": 3.0}} for value in values]


def test_levels_show_ours_with_its_interval_beside_published(panels):
    small, large = panels(errors(9.0, 13.0), plot="levels")
    assert (small.get_title(), large.get_title()) == ("small set", "large set")
    names = [label.get_text() for label in small.get_yticklabels()]
    row = names.index("Sum")
    (bars,) = small.containers
    ours, published = bars.lines[0], small.lines[-1]
    assert ours.get_xdata()[row] == 11.0 and published.get_xdata()[row] == 10.0
    (segments,) = bars.lines[2]
    ends = segments.get_segments()[row][:, 0]
    assert ends == pytest.approx([11.0 - 1.96 * 2, 11.0 + 1.96 * 2])  # standard error 2
    assert small.get_xlabel() == "error (%)"


@pytest.mark.parametrize("metric", ["mse", "seconds"])
def test_squared_errors_and_times_stand_on_a_logarithmic_axis(panels, metric):
    (axes,) = panels([{"New": {metric: 0.1}}, {"New": {metric: 1e-5}}], plot="levels", metrics={metric: "1"})
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", metric)
    assert axes.get_xlim()[0] <= 0.05 <= axes.get_xlim()[1]  # of nothing else is there a value: no other panel
    assert not axes.figure.legends  # nothing of it was published: nothing to tell apart


def test_memory_over_sizes_stands_on_a_logarithmic_axis(panels):
    settings = ("N=1,000", "N=2,000")
    found = panels(
        [{"New": {"peak": 9.0, "hits": 1.0}}], plot="sweep", settings=settings, metrics={"peak": "MB", "hits": "1"}
    )
    assert [axes.get_yscale() for axes in found] == ["log", "linear"]


def test_curves_show_every_trial_and_the_median_in_the_order_of_iterations(panels):
    trials = [{"A": {"t=10": 1.0 * k, "t=9": 2.0 * k}} for k in (1, 2, 9)]
    small, _ = panels(trials, plot="curves", metrics={"t=10": "1"})
    median = next(line for line in small.lines if line.get_label() == "A")
    assert len(small.lines) == 4
    assert list(median.get_xdata()) == [9, 10] and list(median.get_ydata()) == [4.0, 2.0]
    assert small.get_yscale() == "log"


def test_no_curve_is_left_out_and_no_two_look_alike(panels):
    trial = {f"method {k}": {"t=1": 1.0 + k, "t=2": 2.0 + k} for k in range(11)}
    small, _ = panels([trial], plot="curves", metrics={"t=1": "1"})
    bold = [line for line in small.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in bold] == list(trial)
    assert len({(line.get_linestyle(), line.get_marker()) for line in bold}) == 11  # without colour, too


def test_histograms_count_trials_and_leave_out_what_does_not_vary(panels):
    small, _ = panels(errors(1.0, 2.0, 2.0, 5.0), plot="histogram")
    (label,) = [text.get_text() for text in small.figure.legends[0].texts]
    assert sum(bar.get_height() for bar in small.patches) == 4
    assert label.startswith("Sum")


def test_sweeps_run_over_the_numbers_of_the_settings_with_hollow_published_values(panels, monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS.replace({"setting": {"small": "N=1,000"}}))
    settings = ("N=1,000", "N=20")
    experiment = toy(plot="sweep", settings=settings)
    outcomes = [
        Outcome(Task("toy", setting, 0), "", 1.0, (Measurement("Sum", "error", value),))
        for setting, value in zip(settings, (3.0, 4.0), strict=True)
    ]
    figure = draw(experiment, outcomes, summary.summarise(experiment, outcomes))
    (axes,) = figure.axes
    below = figure.legends[0].get_window_extent().y1
    assert below < axes.get_window_extent().y0 and axes.get_legend() is None  # the legend covers no line
    line, hollow, *_ = axes.lines
    assert hollow.get_markerfacecolor() == "none" and hollow.get_marker() == line.get_marker()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1000, 20], [3.0, 4.0])
    assert (hollow.get_xdata()[0], hollow.get_ydata()[0]) == (1000, 10.0)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("N", "error (%)")
    assert figure.legends[0].texts[-1].get_text() == "published (hollow)"


def test_a_sweep_of_which_nothing_was_published_has_no_hollow_mark_and_few_numbers_below(panels):
    settings = tuple(f"N={number},000" for number in range(30, 110, 10))
    (axes,) = panels([{"New": {"hits": 1.0}}], plot="sweep", settings=settings, metrics={"hits": "1"})
    assert [text.get_text() for text in axes.figure.legends[0].texts] == ["New"]
    assert len(axes.get_xticks()) <= 6


def test_levels_have_no_line_for_what_has_no_value_of_the_metric(panels):
    found = {"Sum": {"error": 1.0}, "Never": {"error": np.nan}, "Other": {"accuracy": 90.0}}
    small, large = panels([found], plot="levels", metrics={"error": "%", "accuracy": "%"})
    assert {label.get_text() for label in small.get_yticklabels()} == {"Sum", "Largest", "Elsewhere"}  # two published
    assert large.get_title() == "large set"
    assert small.get_ylim() == large.get_ylim() == (-0.5, 2.5)  # half a line around the marks


def test_every_declared_kind_of_picture_can_be_drawn_of_failed_trials(panels):
    for kind in PLOTS:
        metrics = {"t=1": "1"} if kind == "curves" else {"error": "%"}
        metrics |= {"more": "1", "low": "1", "high": "1"} if kind in ("intervals", "range") else {}
        settings = ("N=1", "N=2") if kind == "sweep" else ("small", "large")
        panels([{"Sum": {next(iter(metrics)): np.nan}}], plot=kind, metrics=metrics, settings=settings)


def test_the_table_is_not_changed(monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    outcome = Outcome(Task("toy", "small", 0), "", 1.0, (Measurement("Sum", "error", 1.0),))
    table = summary.summarise(toy(), [outcome])
    kept = table.copy()
    draw(toy(), [outcome], table)
    pd.testing.assert_frame_equal(table, kept)


def test_intervals_show_the_first_method_with_its_interval_and_all_as_points(panels):
    metrics = {"accuracy": "%", "more": "points", "low": "points", "high": "points"}
    found = {
        "Sum": {"accuracy": 90.0, "more": 2.0, "low": -1.0, "high": 5.0},
        "Other": {"accuracy": 60.0, "more": -28.0},
    }
    (axes,) = panels([found], plot="intervals", metrics=metrics)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["small"]
    (bars,) = axes.containers
    (segments,) = bars.lines[2]
    assert segments.get_segments()[0][:, 0].tolist() == [-1.0, 5.0]
    points = axes.lines[0].get_xdata()
    assert sorted(points[~np.isnan(points)]) == [-28.0, 2.0]
    low, high = axes.get_xlim()
    assert -28 < low < -1 and high > 2 and axes.get_xlabel() == "more (points)"


def test_a_range_goes_from_the_first_metric_to_the_second_with_the_third_on_it(panels):
    metrics = {"lowest": "1", "highest": "1", "as printed": "1"}
    found = {"Sum": {"lowest": 0.1, "highest": 0.4, "as printed": 0.3}}
    (axes,) = panels([found], plot="range", metrics=metrics, axis="rank correlation")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large set", "small set"]
    (bars,) = axes.collections
    segment = bars.get_segments()[1]
    (point,) = axes.lines
    assert segment.tolist() == [[0.1, 1], [0.4, 1]] and point.get_xdata()[1] == 0.3
    assert axes.get_xlabel() == "rank correlation"
