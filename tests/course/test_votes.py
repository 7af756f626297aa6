"""Answers in pictures: the data drawn are the data given, and the titles tell the truth."""

import numpy as np
import pytest

from cofactor import CrowdLabels, simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd import vote_shares
from course.crowds import mixed_crowd
from course.votes import disagreements, draw_methods


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


@pytest.mark.slow
def test_methods_are_ranked_against_the_vote():
    fig = draw_methods({"MajorityVote": 0.25, "worse": 0.4, "better": 0.1})
    bars = fig.axes[0].patches
    assert np.allclose([bar.get_width() for bar in bars], [40, 25, 10])  # upwards: the best on top
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["worse", "MajorityVote", "better"]
    assert np.allclose(fig.axes[0].lines[0].get_xdata(), 25)
    assert title(fig) == "better errs on 10.0\xa0% of the tasks, majority vote on 25.0\xa0%"


def test_methods_without_a_vote_have_no_line():
    fig = draw_methods({"a": 0.2, "b": 0.1})
    assert not fig.axes[0].lines and "majority" not in title(fig)
    with pytest.raises(CofactorError, match="no methods"):
        draw_methods({})


def test_a_tie_is_no_disagreement():
    labels = CrowdLabels.from_arrays([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [0, 1, 0, 0, 1])
    assert list(disagreements(labels, [[0.1, 0.9], [0.1, 0.9]])) == [1]


def test_the_tasks_of_a_disagreement_are_those_where_model_and_majority_differ():
    model = mixed_crowd(9, 3, seed=1)
    labels = simulate.crowd(model, 300, 0.5, random_state=1).labels
    posterior = model.posterior(labels.table)
    overruled, winner = disagreements(labels, posterior), vote_shares(labels).argmax(axis=1)
    assert len(overruled) > 0 and np.all(posterior[overruled].argmax(axis=1) != winner[overruled])
