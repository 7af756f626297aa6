"""Views of a crowd: the data drawn are the data given, and the titles tell the truth."""

import numpy as np
import pytest

from cofactor import LatentClassModel, simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd import CrowdLabels, worker_accuracy
from cofactor_app.plots.crowd import (
    MARKED,
    draw_confusions,
    draw_uncertainty,
    draw_worker_accuracy,
    spread_workers,
)
from course.crowds import mixed_crowd

MODEL = mixed_crowd(9, 3, seed=1)
CROWD = simulate.crowd(MODEL, 300, 0.5, random_state=1)
POSTERIOR = MODEL.posterior(CROWD.labels.table)


def two_class(*accuracies):
    return LatentClassModel([0.5, 0.5], [np.array([[a, 1 - a], [1 - a, a]]) for a in accuracies])


def title(drawn):
    return drawn.figure.get_suptitle().replace("\n", " ")


def test_confusions_name_the_worst_one():
    model = LatentClassModel([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]], [[0.3, 0.4], [0.7, 0.6]]])
    fig = draw_confusions(model, workers=["ann", "bob"], classes=["cat", "dog"])
    assert title(fig) == "85\xa0% to 45\xa0% right: bob labels 70\xa0% of ‘cat’ as ‘dog’"


def test_confusions_show_the_whole_range_of_workers():
    order = np.argsort(-worker_accuracy(MODEL))
    chosen = spread_workers(MODEL, 3)
    assert chosen[0] == order[0] and chosen[1] == order[4] and chosen[2] == order[-1]
    assert list(spread_workers(MODEL, 50)) == list(order)


@pytest.mark.parametrize("which", [[0, 9], [-1], [], [0.5], "all"])
def test_confusions_of_nobody_are_refused(which):
    with pytest.raises(CofactorError, match="worker"):
        draw_confusions(MODEL, which=which)


def test_accuracy_against_labels_given_fills_the_picture():
    ax = draw_worker_accuracy(MODEL, CROWD.labels)
    drawn = np.concatenate([np.column_stack(line.get_data()) for line in ax.lines[:2]])
    given, accuracy = CROWD.labels.table.entries_per_variable, 100 * worker_accuracy(MODEL)
    assert np.allclose(sorted(drawn.tolist()), sorted(zip(given.tolist(), accuracy.tolist(), strict=True)))
    assert ax.get_xlim() == pytest.approx((0.8 * given.min(), 1.25 * given.max())) and ax.get_ylim() == (-3, 103)


def test_numbers_of_labels_that_differ_widely_get_a_logarithmic_axis():
    for n, scale in ((20, "linear"), (21, "log")):
        tasks, workers = [*range(n), 0], [0] * n + [1]
        labels = CrowdLabels.from_arrays(tasks, workers, [0] * n + [1])
        assert draw_worker_accuracy(two_class(0.9, 0.8), labels).get_xscale() == scale


def test_accuracy_by_rank_where_all_gave_equally_many_labels():
    labels = simulate.crowd(two_class(0.9, 0.3, 0.6), 20, 1.0, random_state=0).labels
    ax = draw_worker_accuracy(two_class(0.9, 0.3, 0.6), labels)
    fine, bad = ax.lines[:2]
    assert list(fine.get_xdata()) == [3, 2] and list(bad.get_xdata()) == [1]
    assert "20 labels" in ax.get_xlabel()
    assert title(ax) == "1 of 3 workers is worse than chance; the median is right on 60\xa0%"


def test_uncertain_tasks_come_first_and_wrong_ones_are_crossed():
    posterior = np.array([[0.99, 0.01], [0.6, 0.4], [0.2, 0.8], [0.05, 0.95]])
    ax = draw_uncertainty(posterior, truth=[0, 1, 1, -1])
    points, crosses = (line for line in ax.lines if line.get_marker() != "None")
    assert np.allclose(points.get_ydata(), [0.6, 0.8, 0.95, 0.99])
    assert np.allclose(crosses.get_data(), [[1], [0.6]])
    assert crosses.get_markersize() > points.get_markersize()
    assert title(ax) == "Below 90\xa0% certain: 2 of 4 tasks, 1 of the 1 wrong labels"


def test_many_wrong_labels_are_also_drawn_as_shares():
    shuffled = np.random.default_rng(0).permutation(CROWD.truth)
    wrong = POSTERIOR.argmax(axis=1) != shuffled
    assert wrong.sum() > MARKED
    bars = draw_uncertainty(POSTERIOR, shuffled).figure.axes[1].patches
    assert np.isclose(np.mean([bar.get_height() for bar in bars]), 100 * wrong.mean())
    assert len(draw_uncertainty(POSTERIOR).figure.axes) == 1
