"""The computations behind the panels."""

import numpy as np
import pytest

from cofactor.core.alignment import mse
from cofactor.core.em import em
from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments
from cofactor.crowd import Cooccurrences, error_rate
from cofactor.crowd.base import vote_model
from cofactor.crowd.labels import vote_shares
from course import demos

CROWD = demos.small_crowd(6, 3, 400, seed=0)


def test_a_larger_share_hides_the_same_pairs_and_more():
    few, many = demos.hide_pairs(10, 0.2, seed=4), demos.hide_pairs(10, 0.6, seed=4)
    assert np.array_equal(few, few.T) and np.all(many[few])
    assert [(hidden.sum() - 10) // 2 for hidden in (few, many)] == [9, 27]  # of 45
    assert np.all(np.diag(few))


def test_hidden_pairs_leave_no_trace_and_the_others_stay():
    moments = pairwise_moments(CROWD.labels.table)
    hidden = demos.hide_pairs(6, 0.4, seed=1)
    cooc = Cooccurrences.from_moments(demos.without_pairs(moments, hidden), min_common=1)
    assert np.array_equal(cooc.graph.toarray() == 0, hidden)
    for m, j in np.argwhere(~hidden):
        block = cooc.dense()[3 * m : 3 * m + 3, 3 * j : 3 * j + 3]
        assert np.allclose(block, moments.joint(m, j))


def test_without_imputation_missing_blocks_are_all_wrong():
    completion = demos.complete(CROWD, demos.hide_pairs(6, 0.3), "none")
    assert completion.error == 1
    assert np.array_equal(completion.unreached, completion.missing)


@pytest.mark.parametrize("imputation", ["designated", "robust"])
def test_imputation_fills_missing_blocks_only(imputation):
    none = demos.complete(CROWD, demos.hide_pairs(6, 0.3), "none")
    completion = demos.complete(CROWD, demos.hide_pairs(6, 0.3), imputation)
    assert not completion.unreached.any()
    assert np.array_equal(completion.estimate[~completion.hidden], none.estimate[~none.hidden])
    inside = np.kron(completion.pairs, np.ones((3, 3))) > 0
    by_hand = np.linalg.norm((completion.estimate - completion.truth)[inside]) / np.linalg.norm(
        completion.truth[inside]
    )
    assert np.isclose(completion.error, by_hand) and by_hand < 0.3


def test_unknown_imputation_is_refused():
    with pytest.raises(CofactorError, match="none, designated, robust"):
        demos.complete(CROWD, demos.hide_pairs(6, 0.3), "magic")


def test_patterns_that_identify_nothing_are_told():
    assert demos.complete(CROWD, demos.hide_pairs(6, 0.3), "none").verdict == ""
    teams = np.zeros((6, 6), dtype=bool)
    teams[:3, :3] = teams[3:, 3:] = True
    assert "bipartite" in demos.complete(CROWD, teams, "none").verdict


def test_nothing_missing_is_no_error():
    completion = demos.complete(CROWD, demos.hide_pairs(6, 0.0), "none")
    assert np.isnan(completion.error) and "nothing to impute" in completion.finding


def test_imputation_errors_are_those_of_each_crowd():
    errors = demos.imputation_errors(6, 3, 400, seeds=(0, 5), shares=(0.2, 0.4))
    assert errors.n_seeds == 2
    for s, seed in enumerate((0, 5)):
        single = demos.complete(demos.small_crowd(6, 3, 400, seed), demos.hide_pairs(6, 0.4, seed), "robust")
        assert errors.by_method["robust"][s, 1] == single.error


def test_a_perfect_specialist_makes_symnmf_exact():
    exact, poor = demos.scattering(0.0, 8, seed=1), demos.scattering(0.5, 8, seed=1)
    assert exact.error < 1e-10 < poor.error
    assert exact.converged and np.all(exact.H >= 0)


def test_the_principal_root_is_a_rotation_of_the_factor():
    H = demos.scattering(0.1, 6, seed=3).H
    U = demos.principal_root(H)
    assert np.allclose(U @ U.T, H @ H.T) and np.all(U.sum(axis=0) >= 0)
    assert np.allclose(U.T @ U, np.diag(np.diag(U.T @ U)))


def test_comparison_is_of_one_and_the_same_crowd():
    one, other = demos.compare(200, 6, "MV-EM", seed=2), demos.compare(200, 6, "RobSymNMF", seed=2)
    assert one.errors["MajorityVote"] == other.errors["MajorityVote"] > one.errors["MV-EM"]
    assert mse(one.truth, other.truth) == 0 and abs(one.labels_per_task - 6) < 0.5
    wrong = [abs(one.estimate.prior @ np.diag(a) - one.truth.prior @ np.diag(b))
             for a, b in zip(one.estimate.conditionals, one.truth.conditionals, strict=True)]  # fmt: skip
    assert np.isclose(one.accuracy_error, np.mean(wrong))


def test_rounds_are_those_of_em():
    rounds = demos.em_rounds(6, seed=3)
    labels, truth = demos.bird_crowd(seed=3)
    assert np.array_equal(rounds.posteriors[0], vote_shares(labels)) and np.isnan(rounds.log_likelihood[0])
    with pytest.warns(UserWarning, match="iteration limit 5"):
        model, result = em(labels.table, vote_model(labels), max_iter=5, tol=0)
    assert np.allclose(rounds.log_likelihood[1:6], result.objective)
    assert np.allclose(rounds.posteriors[6], model.posterior(labels.table))
    assert np.isclose(rounds.errors[6], error_rate(model.posterior(labels.table), truth))


def test_bird_watchers_are_hard_on_the_vote_as_those_of_bluebird_are():
    rounds = demos.em_rounds()
    assert rounds.errors[0] > 2 * rounds.errors[-1]
    assert np.all(np.diff(rounds.log_likelihood[1:]) > -1e-9)
