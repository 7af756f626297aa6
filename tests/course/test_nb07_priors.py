"""What notebook 07 computes and draws about priors: a thin crowd, evidence and its bound, two kinds of tasks."""

import numpy as np
import pytest
from scipy.special import beta

from cofactor.core.errors import CofactorError
from cofactor.crowd import CrowdLabels, error_rate, vote_shares
from cofactor.crowd.variational import Priors
from course.nb07 import priors
from course.nb07.priors import log_evidence


def title(fig):
    return fig.get_suptitle().replace("\n", " ").replace("\xa0", " ")


def test_a_thin_crowd_has_fewer_labels_a_worker_than_cells_and_repeats_itself():
    crowd = priors.thin_crowd(3)
    labels = crowd.labels
    assert (labels.n_tasks, labels.n_classes) == (700, 10) and labels.table.entries_per_row.max() <= 4
    assert np.median(labels.table.entries_per_variable) < 30
    assert error_rate(vote_shares(labels), crowd.truth) < 0.3
    assert np.array_equal(labels.table.values, priors.thin_crowd(3).labels.table.values)
    errors = np.stack([A / (1 - np.diag(A)) for A in crowd.model.conditionals])  # given that a label is wrong
    off = ~np.eye(10, dtype=bool)
    assert np.allclose(errors[:, off], errors[0, off])


def test_evidence_of_one_label_is_the_prior_mean():
    labels = CrowdLabels.from_arrays([0], [0], [0], 2)
    alpha = np.array([3.0, 1.0])  # Pr(label 0) = 3/4 * 4/5 + 1/4 * 1/5
    assert log_evidence(labels, Priors(4.0, 1.0, alpha)) == pytest.approx(np.log(0.75 * 0.8 + 0.25 * 0.2))


def test_evidence_of_two_labels_averages_over_confusion_matrices():
    labels = CrowdLabels.from_arrays([0, 1], [0, 0], [0, 0], 2)
    alpha, same = np.array([1.0, 1.0]), 1 / 3  # Pr(both tasks of class 0)
    right, wrong = beta(6, 1) / beta(4, 1), beta(3, 4) / beta(1, 4)  # twice label 0, of class 0 and of class 1
    expected = same * (right + wrong) + 2 * (1 / 6) * (4 / 5) * (1 / 5)
    assert log_evidence(labels, Priors(4.0, 1.0, alpha)) == pytest.approx(np.log(expected))


def test_the_bound_rises_and_stays_below_the_evidence():
    for seed in range(3):
        bound = priors.evidence_bound(seed)
        assert np.all(np.diff(bound.rounds) > -1e-9) and 0 < bound.gap < 3
        assert bound.gap == bound.evidence - bound.rounds[-1]


def test_two_kinds_gain_where_tasks_are_hard_and_lose_where_none_is():
    gain = priors.kinds_gain([0, 0.4], n_seeds=3)
    assert gain.shape == (3, 2)
    assert np.all(gain[:, 0] < 0) and np.all(gain[:, 1] > 0)


def test_beliefs_are_told_with_and_without_prior():
    fig = priors.draw_belief([(1, 2), (10, 20)])
    assert title(fig) == "After 3, 30 labels: 33 %, 33 % right by the plain share, 62 %, 40 % with the prior"
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["3 labels", "30 labels"]
    density = fig.axes[0].lines[1]
    x, y = density.get_xdata() / 100, density.get_ydata()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    assert np.trapezoid(x * y, x) == pytest.approx(5 / 8, abs=0.01)


@pytest.mark.parametrize("seen", [[], [(1, 2), (0, 0)]])
def test_nothing_seen_is_nothing_to_draw(seen):
    with pytest.raises(CofactorError, match="at least one label"):
        priors.draw_belief(seen)


def test_the_picture_of_evidence_tells_gap_and_gains():
    bound = priors.Bound(np.array([-9.0, -8.5]), -8.25)
    fig = priors.draw_evidence(bound, [0.0, 0.3], np.array([[-2.0, 8.0], [-4.0, 12.0]]))
    told = "two kinds lose 3 nats where no task is hard, and gain 10 where 30 % are"
    assert title(fig) == f"The bound ends 0.25 nats below the evidence; {told}"
    assert np.allclose(fig.axes[0].lines[1].get_ydata(), bound.rounds)
