"""Pictures of results hold what the results hold."""

import numpy as np
import pandas as pd
import pytest

from evaluation import EXPERIMENTS, summary
from evaluation.plots import PLOTS, draw
from tests.evaluation.toy import FACTS, toy, trials_of


@pytest.fixture
def panels(monkeypatch):
    """Draw trials of the first setting; returns the panels."""
    monkeypatch.setattr(summary, "published", lambda name: FACTS)

    def drawn(*tables, **fields):
        experiment, trials = toy(**fields), pd.concat(tables)
        trials = trials.replace({"setting": {"small": next(iter(experiment.settings))}})
        table = summary.summarise(experiment, trials)
        before = table.copy()
        axes = draw(experiment, trials, table).axes
        pd.testing.assert_frame_equal(table, before)
        return axes

    return drawn


def test_levels_show_ours_with_its_interval_beside_published(panels):
    small, large = panels(trials_of(Sum=[9.0, 13.0], Fixed=[3.0, 3.0]), plot="levels")
    assert (small.get_title(), large.get_title()) == ("small set", "large set")
    row = [label.get_text() for label in small.get_yticklabels()].index("Sum")
    (bars,) = small.containers
    assert bars.lines[0].get_xdata()[row] == 11.0 and small.lines[-1].get_xdata()[row] == 10.0
    ends = bars.lines[2][0].get_segments()[row][:, 0]
    assert ends == pytest.approx([11.0 - 1.96 * 2, 11.0 + 1.96 * 2])  # standard error 2
    (axes,) = panels(trials_of(metric="mse", New=[0.1, 1e-5]), metrics={"mse": "1"})
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "mse") and not axes.figure.legends


@pytest.mark.slow
def test_curves_show_every_trial_and_the_median_and_no_two_look_alike(panels):
    found = [trials_of(metric=f"t={t}", A=[1.0 * k, 2.0 * k, 9.0 * k]) for t, k in ((10, 1), (9, 2))]
    small, _ = panels(*found, plot="curves", metrics={"t=10": "1"})
    median = next(line for line in small.lines if line.get_label() == "A")
    assert len(small.lines) == 4 and small.get_yscale() == "log"
    assert list(median.get_xdata()) == [9, 10] and list(median.get_ydata()) == [4.0, 2.0]
    many = {f"method {k}": [1.0 + k] for k in range(11)}
    small, _ = panels(trials_of(metric="t=1", **many), plot="curves", metrics={"t=1": "1"})
    bold = [line for line in small.lines if not line.get_label().startswith("_")]
    assert len({(line.get_linestyle(), line.get_marker()) for line in bold}) == 11  # without colour, too


def test_histograms_count_trials_and_leave_out_what_does_not_vary(panels):
    small, _ = panels(trials_of(Sum=[1.0, 2.0, 2.0, 5.0], Fixed=[3.0] * 4), plot="histogram")
    (label,) = [text.get_text() for text in small.figure.legends[0].texts]
    assert sum(bar.get_height() for bar in small.patches) == 4 and label.startswith("Sum")


def test_sweeps_run_over_the_numbers_of_the_settings_with_hollow_published_values(panels, monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS.replace({"setting": {"small": "N=1,000"}}))
    found = trials_of(Sum=[3.0]), trials_of("N=20", Sum=[4.0])
    (axes,) = panels(*found, plot="sweep", settings=("N=1,000", "N=20"))
    line, hollow, *_ = axes.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1000, 20], [3.0, 4.0])
    assert hollow.get_markerfacecolor() == "none" and (hollow.get_xdata()[0], hollow.get_ydata()[0]) == (1000, 10.0)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("N", "error (%)")
    assert axes.figure.legends[0].texts[-1].get_text() == "published (hollow)"


@pytest.mark.slow
def test_every_declared_kind_of_picture_can_be_drawn_of_failed_trials(panels):
    assert {one.plot for one in EXPERIMENTS.values()} == set(PLOTS)
    for kind in PLOTS:
        metrics = {"t=1": "1"} if kind == "curves" else {"error": "%"}
        settings = ("N=1", "N=2") if kind == "sweep" else ("small", "large")
        panels(trials_of(metric=next(iter(metrics)), Sum=[np.nan]), plot=kind, metrics=metrics, settings=settings)
