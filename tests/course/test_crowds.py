"""Simulated crowds: pairs hidden, holes filled, and where model and majority differ."""

import numpy as np
import pytest

from cofactor import CrowdLabels, simulate
from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments
from cofactor.crowd import Cooccurrences, vote_shares
from course.crowds import HoledCrowd, hide_pairs, mixed_crowd, small_crowd, without_pairs
from course.votes import disagreements

CROWD = small_crowd(6, 3, 400, seed=0)


def completion(share, imputation):
    return HoledCrowd.of(CROWD, hide_pairs(6, share)).complete(imputation)


def test_a_larger_share_hides_the_same_pairs_and_more():
    few, many = hide_pairs(10, 0.2, seed=4), hide_pairs(10, 0.6, seed=4)
    assert np.array_equal(few, few.T) and np.all(many[few])
    assert [(hidden.sum() - 10) // 2 for hidden in (few, many)] == [9, 27]  # of 45
    assert np.all(np.diag(few))


def test_hidden_pairs_leave_no_trace_and_the_others_stay():
    moments = pairwise_moments(CROWD.labels.table)
    hidden = hide_pairs(6, 0.4, seed=1)
    cooc = Cooccurrences.from_moments(without_pairs(moments, hidden), min_common=1)
    assert np.array_equal(cooc.graph.toarray() == 0, hidden)
    assert np.array_equal(HoledCrowd.of(CROWD, hidden).missing, hidden)
    for m, j in np.argwhere(~hidden):
        block = cooc.dense()[3 * m : 3 * m + 3, 3 * j : 3 * j + 3]
        assert np.allclose(block, moments.joint(m, j))


def test_without_imputation_missing_blocks_are_all_wrong():
    none = completion(0.3, "none")
    assert none.problem.error(none.estimate) == 1 and "left at zero: 100.0\xa0% off" in none.finding
    assert np.array_equal(none.unreached, none.problem.missing)


@pytest.mark.slow
@pytest.mark.parametrize("imputation", ["designated", "robust", "least squares"])
def test_imputation_fills_missing_blocks_only(imputation):
    none, found = completion(0.3, "none"), completion(0.3, imputation)
    problem = found.problem
    assert not found.unreached.any()
    seen = problem.entries(~problem.missing)
    assert np.array_equal(found.estimate[seen], none.estimate[seen])
    inside = np.kron(problem.pairs, np.ones((3, 3))) > 0
    truth = problem.truth[inside]
    by_hand = np.linalg.norm(found.estimate[inside] - truth) / np.linalg.norm(truth)
    assert np.isclose(problem.error(found.estimate), by_hand) and by_hand < 0.3


def test_patterns_that_identify_nothing_are_told():
    assert completion(0.3, "none").problem.refusal == ""
    teams = np.zeros((6, 6), dtype=bool)
    teams[:3, :3] = teams[3:, 3:] = True
    assert "bipartite" in HoledCrowd.of(CROWD, teams).refusal


def test_nothing_missing_is_no_error():
    whole = completion(0.0, "none")
    assert "No pair is missing" in whole.finding
    with pytest.raises(CofactorError, match="hide a larger fraction"):
        whole.problem.error(whole.estimate)


def test_a_tie_is_no_disagreement():
    labels = CrowdLabels.from_arrays([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [0, 1, 0, 0, 1])
    assert list(disagreements(labels, [[0.1, 0.9], [0.1, 0.9]])) == [1]


def test_the_tasks_of_a_disagreement_are_those_where_model_and_majority_differ():
    model = mixed_crowd(9, 3, seed=1)
    labels = simulate.crowd(model, 300, 0.5, random_state=1).labels
    posterior = model.posterior(labels.table)
    overruled, winner = disagreements(labels, posterior), vote_shares(labels).argmax(axis=1)
    assert len(overruled) > 0 and np.all(posterior[overruled].argmax(axis=1) != winner[overruled])
