"""What notebook 01 computes and draws: imputation errors, the disc, a method against the vote, EM round by round."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from cofactor.core.em import em
from cofactor.crowd import METHODS, error_rate
from cofactor.crowd.base import vote_model
from cofactor.crowd.labels import vote_shares
from cofactor.plots.simplex import hull_margin
from cofactor.plots.style import percent
from course.crowds import HoledCrowd, hide_pairs, small_crowd
from course.nb01 import draw_imputation_error, imputation_errors, panels


def test_imputation_errors_are_those_of_each_crowd():
    errors = imputation_errors(6, 3, 400, seeds=(0, 5), shares=(0.2, 0.4))
    assert {name: values.shape for name, values in errors.items()} == {"designated": (2, 2), "robust": (2, 2)}
    for s, seed in enumerate((0, 5)):
        single = HoledCrowd.of(small_crowd(6, 3, 400, seed), hide_pairs(6, 0.4, seed))
        assert errors["robust"][s, 1] == single.error(single.fill("robust"))


def test_a_perfect_specialist_makes_symnmf_exact():
    exact, poor = panels.scattering(0.0, 8, seed=1), panels.scattering(0.5, 8, seed=1)
    assert exact.error < 1e-10 < poor.error
    assert exact.converged and np.all(exact.H >= 0)


def test_comparison_is_of_one_and_the_same_crowd():
    one, other = panels.compare(200, 6, "MV-EM", seed=2), panels.compare(200, 6, "RobSymNMF", seed=2)
    assert one.errors["MajorityVote"] == other.errors["MajorityVote"] > one.errors["MV-EM"]
    assert one.truth.mse(other.truth) == 0 and abs(one.labels_per_task - 6) < 0.5
    wrong = [abs(one.estimate.prior @ np.diag(a) - one.truth.prior @ np.diag(b))
             for a, b in zip(one.estimate.conditionals, one.truth.conditionals, strict=True)]  # fmt: skip
    assert np.isclose(one.accuracy_error, np.mean(wrong))


def test_rounds_are_those_of_em():
    rounds = panels.em_rounds(6, seed=3)
    labels, truth = panels.bird_crowd(seed=3)
    assert np.array_equal(rounds.posteriors[0], vote_shares(labels)) and np.isnan(rounds.log_likelihood[0])
    with pytest.warns(UserWarning, match="iteration limit 5"):
        model, result = em(labels.table, vote_model(labels), max_iter=5, tol=0)
    assert np.allclose(rounds.log_likelihood[1:6], result.objective)
    assert np.allclose(rounds.posteriors[6], model.posterior(labels.table))
    assert np.isclose(rounds.errors[6], error_rate(model.posterior(labels.table), truth))


def test_bird_watchers_are_hard_on_the_vote_as_those_of_bluebird_are():
    rounds = panels.em_rounds()
    assert rounds.errors[0] > 2 * rounds.errors[-1]
    assert np.all(np.diff(rounds.log_likelihood[1:]) > -1e-9)


# ---- pictures and panels ----


def test_imputation_errors_are_means_within_their_range():
    values = np.array([[0.1, 0.4], [0.3, 0.8]])
    fig = draw_imputation_error({"designated": values, "robust": values / 2}, (0.2, 0.6))
    designated, robust = fig.axes[0].lines
    assert np.allclose(designated.get_data(), [[20, 60], [20, 60]])
    assert np.allclose(robust.get_ydata(), [10, 30])
    assert designated.get_linestyle() != robust.get_linestyle() and designated.get_marker() != robust.get_marker()
    band = fig.axes[0].collections[0].get_paths()[0].vertices
    assert {(20, 10), (20, 30), (60, 40), (60, 80)} <= {(round(x), round(y)) for x, y in band}
    assert (
        fig.get_suptitle().replace("\n", " ")
        == "At 60\xa0% missing pairs, robust imputation is 30\xa0% off, designated 60\xa0%"
    )


def test_missing_block_panel_tells_the_truth():
    panel = panels.missing_block_panel(seed=1)
    panel.controls["imputation"].value = "robust"
    panel.controls["share"].value = 0.5
    problem = HoledCrowd.of(small_crowd(8, 3, 1000, 1), hide_pairs(8, 0.5, 1))
    assert panel.text.startswith("14 of 28 pairs are missing.")
    assert f"{percent(problem.error(problem.fill('robust')), 1)} off" in panel.text


def test_missing_block_panel_says_when_nothing_helps():
    panel = panels.missing_block_panel()
    panel.controls["imputation"].value = "designated"
    panel.controls["share"].value = 0.9
    assert "No method can recover the model" in panel.text and "components" in panel.text
    outcome = panel.outcome
    assert f"{(outcome.unreached & outcome.problem.pairs).sum() // 2} of them stay empty" in panel.text


@pytest.mark.parametrize("error", [0.0, 0.5])
def test_scattering_panel_tells_the_truth(error):
    panel = panels.scattering_panel()
    panel.controls["specialist_error"].value = error
    covered = hull_margin(panel.outcome.H) >= -1e-6
    assert covered == (error == 0)
    assert ("The hull covers the disc" in panel.text) == covered
    told = "below 1e-12" if panel.outcome.error < 1e-12 else f"of {panel.outcome.error:.0e}"
    assert told in panel.text.replace("\N{MINUS SIGN}", "-")


def test_crowd_panel_tells_the_truth():
    panel = panels.crowd_panel(seed=4)
    panel.controls["method"].value = "DesSymNMF"
    expected = panels.compare(1000, 5, "DesSymNMF", seed=4)
    assert f"majority vote errs on {percent(expected.errors['MajorityVote'], 1)}" in panel.text
    assert f"DesSymNMF on {percent(expected.errors['DesSymNMF'], 1)}" in panel.text
    assert f"off by {percent(expected.accuracy_error, 1)}" in panel.text


def test_crowd_panel_offers_methods_that_exist():
    panel = panels.crowd_panel()
    assert set(panel.controls["method"].options) <= set(METHODS)


def test_em_panel_tells_the_truth():
    panel, rounds = panels.em_panel(), panels.em_rounds()
    n_tasks = len(rounds.truth)
    panel.controls["after"].value = 0
    assert panel.text.startswith(f"Before EM, by majority vote, {rounds.errors[0] * n_tasks:g} of {n_tasks} labels")
    panel.controls["after"].value = 3
    assert f"{rounds.errors[3] * n_tasks:.0f} of {n_tasks} labels are wrong" in panel.text
    assert f"{abs(rounds.log_likelihood[3]):.1f} nats" in panel.text
    assert f"{rounds.log_likelihood[3] - rounds.log_likelihood[2]:.2g} more" in panel.text


def test_panels_draw_figures():
    panel = panels.em_panel()
    assert isinstance(panel.draw(panel.outcome), Figure)
    assert np.isfinite(panels.em_rounds().log_likelihood[1:]).all()
