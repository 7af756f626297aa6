"""What notebook 01 computes and draws: the corner that turns, a method against the vote, EM, pictures to read."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.em import em
from cofactor.core.errors import NotIdentifiableError
from cofactor.core.scattering import scattering_certificate
from cofactor.crowd import Cooccurrences, error_rate
from cofactor.crowd.base import vote_model
from cofactor.crowd.labels import vote_shares
from course.nb01 import conditions, panels
from course.simplex import hull_margin


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


@pytest.mark.slow
def test_missing_block_panel_says_when_nothing_helps():
    panel = panels.missing_block_panel()
    panel.controls["imputation"].value = "designated"
    panel.controls["share"].value = 0.9
    assert "No method can recover the model" in panel.text and "components" in panel.text
    outcome = panel.outcome
    assert f"{(outcome.unreached & outcome.problem.pairs).sum() // 2} of them stay empty" in panel.text


def test_the_corner_is_turned_about_the_middle():
    Q = panels.corner(37.0)
    assert np.allclose(Q @ Q.T, np.eye(3)) and np.isclose(np.linalg.det(Q), 1) and np.allclose(Q.sum(axis=0), 1)
    assert np.isclose(np.trace(Q), 1 + 2 * np.cos(np.radians(37)))
    assert np.allclose(panels.corner(120.0), np.eye(3)[[2, 0, 1]])  # the same corner, its edges renamed


def test_rows_are_lost_where_a_turned_factor_has_negative_entries():
    outcome = panels.scattering(0.2, 10, seed=2)
    H, (low, *_, high) = outcome.H, outcome.free
    assert low < 0 < high
    for turn in (low, high):
        second = outcome._replace(turn=turn).second
        assert panels.lost(H, turn) == 0 and second.min() >= -1e-6 and np.allclose(second @ second.T, H @ H.T)
    for turn in (low - panels.STEP, high + panels.STEP):
        assert panels.lost(H, turn) == np.sum((H @ panels.corner(turn) < -1e-6).any(axis=1)) > 0


def test_rows_inside_the_disc_never_stop_a_turn():
    circle = np.linspace(0, 2 * np.pi, 50)[:, None]
    middle, across = np.ones(3) / 3, np.linalg.qr(np.column_stack([np.ones(3), np.eye(3)[:, :2]]))[0][:, 1:]
    rows = middle + 0.4 * (np.cos(circle) * across[:, 0] + np.sin(circle) * across[:, 1])  # the radius is 0.408
    assert np.all(panels.lost(rows, panels.TURNS) == 0)
    assert np.array_equal(panels.Scattering(rows, 0.0, True).free, panels.TURNS)


def test_turns_that_fit_again_after_a_gap_are_told():
    edge = np.array([[1.0, 2, 0], [2, 1, 0], [0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1]])  # where two corners cross
    outcome = panels.Scattering(edge, 0.0, True, turn=60.0)
    assert outcome.free.tolist() == [-60, 0, 60]
    told = panels.describe_turn(outcome)
    assert "a second solution" in told and "from −60° to 60°, with gaps" in told


@pytest.mark.slow
def test_turn_panel_tells_a_second_answer_from_none():
    panel = panels.turn_panel()
    assert "Turned by 5°, every row still fits: a second solution, whose probabilities differ by up to" in panel.text
    second = panel.outcome.second.reshape(-1, 3, 3)
    first = panel.outcome.H.reshape(-1, 3, 3)
    A, B = (F / F.sum(axis=1, keepdims=True) for F in (first, second))
    assert f"up to {np.abs(A - B).max():.2f}. The corner can turn from −6° to 8°." in panel.text
    panel.controls["turn"].value = 20
    assert f"{panels.lost(panel.outcome.H, 20.0)} of 30 rows are outside: no solution" in panel.text
    panel.controls["turn"].value = 0
    assert panel.text.startswith("Not turned yet")


def test_the_rounds_of_em_tell_the_truth():
    live, rounds = panels.em_live(), panels.em_rounds()
    n_tasks = len(rounds.truth)
    assert live.text == f"Before EM, by majority vote, {rounds.errors[0] * n_tasks:g} of {n_tasks} labels are wrong."
    live.controls["after"].value = 3
    assert f"{rounds.errors[3] * n_tasks:.0f} of {n_tasks} labels are wrong" in live.text
    labels, truth = panels.bird_crowd()
    right = np.array([[(labels.table.codes[truth == c, m] == c).mean() for c in (0, 1)] for m in range(39)])
    assert np.allclose(panels.shares_right(labels, np.eye(2)[truth])[0], 100 * right)


def test_the_corner_that_turns_loses_the_rows_that_are_counted():
    live = panels.corner_live()
    live.controls["degrees"].value = 37
    assert live.text == "Turned by 37°, every row fits: a second solution."
    live.controls["crowd"].value = "one perfect person, nine others"
    n_out = panels.lost(panels.specialist_factor(), 37.0)
    assert live.text == f"Turned by 37°, {n_out} of 30 rows are outside."


# ---- pictures to read conditions off ----


def test_every_picture_is_of_the_kind_that_the_library_finds():
    told = set()
    for seed in range(40):
        drawn = conditions.pictures(seed)
        for links in drawn["graphs"]:
            assert np.array_equal(links, links.T) and links.sum() == 12  # six links: their number tells nothing
            kind = conditions.kind_of_graph(links)
            told.add(("graph", kind))
            assert refused(links) == (kind < 3)
        for rows in drawn["clouds"]:
            kind, found = conditions.kind_of_cloud(rows), scattering_certificate(rows)
            told.add(("rows", kind))
            assert (found.condition1 == "holds") == found.holds == (kind > 1)
            assert (np.linalg.norm(rows[:, None] - np.eye(3), axis=2).min(axis=0).max() < 1e-9) == (kind == 3)
        found = conditions.kinds(**drawn)
        assert set(found[:4]) == set(found[4:]) == {1, 2, 3}
    assert len(told) == 6


def refused(links):
    four = simulate.dawid_skene_model(6, 3, 0.0, random_state=0)
    try:
        Cooccurrences.from_model(four, links).require_identifiable()
    except NotIdentifiableError:
        return True
    return False


def test_what_is_read_off_is_plain_to_see():
    for seed in range(40):
        for rows in conditions.pictures(seed)["clouds"]:
            nearest = np.linalg.norm(rows[:, None] - np.eye(3), axis=2).min(axis=0)
            assert np.all((nearest < 1e-9) | (nearest > 0.19))  # the side of the triangle is 1.41 long
            if conditions.kind_of_cloud(rows) == 1:
                assert hull_margin(rows) < -0.15  # the radius of the disc is 0.41
