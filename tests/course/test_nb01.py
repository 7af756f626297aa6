"""What notebook 01 computes and draws: the corner that turns, a method against the vote, EM, pictures to read."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.em import em
from cofactor.core.errors import NotIdentifiableError
from cofactor.core.scattering import scattering_certificate
from cofactor.crowd import METHODS, Cooccurrences, error_rate
from cofactor.crowd.base import vote_model
from cofactor.crowd.labels import vote_shares
from cofactor_app.plots.simplex import to_plane
from cofactor_app.plots.style import percent
from course.crowds import HoledCrowd, hide_pairs, small_crowd
from course.nb01 import conditions, draw_conditions, draw_starts, panels
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


def test_starts_are_drawn_round_by_round_and_the_best_is_named():
    fig = draw_starts({"the vote": ([-30.0, -20.0], [0.3, 0.25]), "pairs": ([-12.0, -10.0], [0.1, 0.0])})
    climb, wrong = fig.axes
    assert [line.get_ydata().tolist() for line in climb.lines] == [[-30, -20], [-12, -10]]
    assert [line.get_ydata().tolist() for line in wrong.lines] == [[30, 25], [10, 0]]
    assert wrong.lines[0].get_xdata().tolist() == [1, 2]
    title = " ".join(fig.get_suptitle().split())
    assert title == "EM from pairs ends 10 nats higher; labels wrong: from the vote 25.0 %, from pairs 0.0 %"


@pytest.mark.slow
def test_missing_block_panel_tells_the_truth():
    panel = panels.missing_block_panel(seed=1)
    panel.controls["imputation"].value = "robust"
    panel.controls["share"].value = 0.5
    problem = HoledCrowd.of(small_crowd(8, 3, 1000, 1), hide_pairs(8, 0.5, 1))
    assert panel.text.startswith("14 of 28 pairs are missing.")
    assert f"{percent(problem.error(problem.fill('robust')), 1)} off" in panel.text


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
    assert "a second answer" in told and "from −60° to 60°, with gaps" in told


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.0, 0.5])
def test_turn_panel_tells_the_truth(error):
    panel = panels.turn_panel()
    panel.controls["specialist_error"].value = error
    outcome = panel.outcome
    covered = hull_margin(outcome.H) >= -1e-6
    assert covered == (error == 0) == ("The hull covers the disc" in panel.text)
    assert ("No turn of 0.5° or more is left" in panel.text) == (outcome.free.tolist() == [0]) == covered
    told = "below 1e-12" if outcome.error < 1e-12 else f"error {outcome.error:.4g}"
    assert told in panel.text.replace("\N{MINUS SIGN}", "-")


@pytest.mark.slow
def test_turn_panel_turns_by_whole_degrees():
    panel = panels.turn_panel()
    assert "turn the corner by (degrees) = 5;" in panel.caption and panel.text.startswith("Turned by 5°")
    panel.controls["turn"].value = -60
    assert "(degrees) = -60;" in panel.caption


@pytest.mark.slow
def test_turn_panel_tells_a_second_answer_from_none():
    panel = panels.turn_panel()
    assert "Turned by 5°, every row still fits: a second answer, whose probabilities differ by up to" in panel.text
    second = panel.outcome.second.reshape(-1, 3, 3)
    first = panel.outcome.H.reshape(-1, 3, 3)
    A, B = (F / F.sum(axis=1, keepdims=True) for F in (first, second))
    assert f"up to {np.abs(A - B).max():.2f}. The corner can turn from −6° to 8°." in panel.text
    panel.controls["turn"].value = 20
    assert f"{panels.lost(panel.outcome.H, 20.0)} of 30 rows are outside: no answer" in panel.text
    panel.controls["turn"].value = 0
    assert panel.text.startswith("Not turned yet")


@pytest.mark.slow
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
    assert live.text == "Turned by 37°, every row fits: a second answer."
    live.controls["crowd"].value = "one perfect, nine others"
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


def test_conditions_are_drawn_without_the_answer():
    drawn = conditions.pictures(3)
    fig = draw_conditions(**drawn)
    assert [ax.get_title() for ax in fig.axes] == list("abcdefgh")
    for ax, links in zip(fig.axes[:4], drawn["graphs"], strict=True):
        *lines, dots = ax.lines
        ends = {frozenset(map(tuple, line.get_xydata().round(6))) for line in lines}
        places = dots.get_xydata().round(6)
        assert ends == {frozenset((tuple(places[a]), tuple(places[b]))) for a, b in np.argwhere(links)}
    for ax, rows in zip(fig.axes[4:], drawn["clouds"], strict=True):
        assert np.allclose(ax.lines[0].get_xydata(), to_plane(rows)) and len(ax.patches) == 2  # no hull
    assert "cover" not in fig.get_suptitle()
