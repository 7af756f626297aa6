"""What notebook 06 computes and draws: tastes, curvature, descents, amounts, hidden items, pictures, its panel."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cofactor import simulate
from cofactor.comparisons import (
    ComparisonMF,
    Comparisons,
    Objective,
    WinRate,
    expected_error,
    gradient_descent,
    spectral_start,
    utility_error,
)
from cofactor.core.errors import CofactorError
from course import check, given
from course.nb06 import panels, pictures
from course.rates import linear_rate

U, V = TRUTH = simulate.comparison_factors(60, 80, 2, random_state=0)
DATA = simulate.draw_comparisons(U, V, 1500, "exact", random_state=1)
LIKELIHOOD = Objective(DATA, 2, balance=0)
OBJECTIVE = Objective(DATA, 2)
TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


# ---- what comparisons see ----


def test_differences_are_all_that_comparisons_see():
    table = pictures.tastes()
    base = pictures.differences(table.U, table.V)
    assert base.shape == (4, 6, 6) and np.isclose(base[2, 1, 4], table.U[2] @ (table.V[1] - table.V[4]))
    for changed in ((table.U, table.V + 3.0), (table.U @ TURN, table.V @ TURN), (2 * table.U, table.V / 2)):
        assert np.allclose(pictures.differences(*changed), base)
    assert not np.allclose(pictures.differences(2 * table.U, table.V), base)


def test_dishes_are_centred():
    assert np.allclose(pictures.tastes().V.mean(axis=0), 0)


# ---- the landscape ----


def test_curvature_is_that_of_finite_differences():
    small = simulate.comparison_factors(5, 6, 1, random_state=3)
    data = simulate.draw_comparisons(*small, 40, "exact", random_state=4)
    objective = Objective(data, 1, balance=0)
    x, h = objective.join(*small), 1e-5
    second = [(objective(x + h * e)[1] - objective(x - h * e)[1]) / (2 * h) for e in np.eye(x.size)]
    assert np.allclose(pictures.curvature(objective, x), np.linalg.eigvalsh(np.array(second)), atol=1e-8)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_flat_directions_are_the_invariances(rank):
    truth = simulate.comparison_factors(15, 20, rank, random_state=0)
    data = simulate.draw_comparisons(*truth, 2000, "exact", random_state=1)
    values = pictures.curvature(Objective(data, rank, balance=0), np.concatenate([F.ravel() for F in truth]))
    assert pictures.flat_directions(values) == rank**2 + rank


def test_a_comparison_fixes_one_direction_at_most():
    few = DATA.take(np.arange(100))
    assert (
        pictures.flat_directions(pictures.curvature(Objective(few, 2, balance=0), LIKELIHOOD.join(U, V))) >= 280 - 100
    )


def test_the_plane_is_flat_along_turns_and_nowhere_else():
    angles, shares, loss = pictures.losses_around(LIKELIHOOD, U, V)
    middle = np.abs(shares).argmin()
    assert loss.shape == (len(shares), len(angles)) and loss[middle].max() < 1e-20
    assert np.delete(loss, middle, axis=0).min() > 1e-6
    assert np.allclose(loss[:, 0], loss[:, -1])  # -180 and 180 degrees are one


# ---- descents ----


def test_a_descent_is_the_library_s():
    start, seen = panels.away(TRUTH, 0.5), []
    eta = panels.step_size(U, V)
    gradient_descent(OBJECTIVE, start, tol=1e-6, learning_rate=eta, callback=seen.append)
    found = panels.descend(OBJECTIVE, start, eta, 50, TRUTH)
    assert np.allclose(found.errors, [utility_error(*OBJECTIVE.split(x)[:2], U, V) for x in seen[:51]])
    assert np.allclose(found.losses, [OBJECTIVE(x)[0] for x in seen[:51]])
    assert np.allclose(found.x, seen[51])


def test_a_start_is_as_far_away_as_asked_for():
    Z = np.vstack(TRUTH)
    assert np.isclose(np.linalg.norm(panels.away(TRUTH, 0.7) - Z.ravel()), 0.7 * np.linalg.norm(Z))


def test_the_rate_is_foretold_by_the_flattest_direction():
    eta = panels.step_size(U, V)
    run = panels.descend(OBJECTIVE, panels.away(TRUTH, 1), eta, 300, TRUTH)
    values = pictures.curvature(OBJECTIVE, run.x)
    foretold = 1 - eta * values[pictures.flat_directions(values)]
    assert np.isclose(linear_rate(run.errors[150:], 0), foretold, atol=5e-4)


def test_a_step_that_is_too_long_runs_away_and_is_stopped():
    run = panels.pursue(4, 2, "spectral", 4.0, answers=0, max_iter=400)
    assert len(run.descent.errors) < 400 and run.descent.losses[-1] > run.descent.losses[0]


@pytest.mark.parametrize("start", panels.STARTS)
def test_enough_comparisons_are_recovered_from_any_start(start):
    found = panels.pursue(6, 2, start, 1.0, answers=0, max_iter=300)
    assert found.descent.errors[-1] < 1e-6 and found.dof == 274 and found.n_comparisons == 6 * 274
    assert np.allclose(found.found, found.truth, atol=1e-4)


def test_starts_have_their_sizes_and_owe_nothing_to_the_truth():
    starts = {name: panels.pursue(4, 2, name, 1.0, answers=0, max_iter=0).descent.errors[0] for name in panels.STARTS}
    assert starts["spectral"] < 0.9 < starts["small random"] < 1.1 < starts["random"] < starts["large random"]


def test_an_unknown_start_is_refused():
    with pytest.raises(CofactorError, match="'spectral'"):
        panels.pursue(4, 2, "warm", 1.0, 0)


def test_answers_are_shares_of_choices():
    same = panels.answered(DATA, 0)
    assert same is DATA
    found = panels.answered(DATA, 10, seed=1)
    assert np.allclose(found.outcome * 10, np.rint(found.outcome * 10)) and np.all(found.counts == 10)
    chance = expit(np.einsum("ka,ka->k", U[found.user], V[found.left] - V[found.right]))
    assert np.allclose(chance, DATA.outcome)
    assert abs(np.mean(found.outcome - chance)) < 0.02
    assert abs(np.mean((found.outcome - chance) ** 2) * 10 / np.mean(chance * (1 - chance)) - 1) < 0.1


# ---- amounts ----


def test_too_few_fit_well_and_are_wrong():
    found = pictures.too_few([1, 3], n_trials=3)
    error, held, trained = (np.median(runs, axis=0) for runs in found.values())
    assert [name.split()[0] for name in found] == ["error", "gap", "gap"] and "held-out" in list(found)[1]
    assert trained[0] < 0.01 < 0.3 < error[0] and held[0] > 0.03
    assert max(trained[1], held[1], error[1]) < 1e-6


def test_the_gap_is_of_chances():
    x = LIKELIHOOD.join(*spectral_start(DATA, 2, random_state=0))
    A, B, _ = LIKELIHOOD.split(x)
    chance = expit(np.sum(A[DATA.user] * (B[DATA.left] - B[DATA.right]), axis=1))
    assert np.isclose(pictures.gap(DATA, x, 2), np.sqrt(np.mean((chance - DATA.outcome) ** 2)))


def test_errors_of_choices_fall_as_foretold():
    found = pictures.choices([40, 160], n_trials=2)
    assert found.n_comparisons.tolist() == [40 * 274, 160 * 274]
    assert np.isclose(found.expected[1], expected_error(160 * 274, 60, 80, 2, np.sqrt(np.mean((U @ V.T) ** 2))))
    assert np.allclose(found.errors.mean(axis=0), found.expected, rtol=0.12)
    assert abs(found.slope + 0.5) < 0.1


# ---- recommending ----


def test_hidden_items_are_seen_by_nobody_who_is_asked_about_them():
    data = simulate.draw_comparisons(*simulate.comparison_factors(8, 12, 2, random_state=0), 4000, random_state=1)
    learn, held = pictures.hide_items(data, per_user=4, seed=2)
    for user in range(8):
        known, asked = (
            set(part.left[part.user == user]) | set(part.right[part.user == user]) for part in (learn, held)
        )
        assert len(asked) == 4 and not known & asked and known | asked == set(range(12))
    assert len(learn) + len(held) < len(data)


def test_accuracy_takes_ids():
    frame = pd.DataFrame({"user": ["ann", "bob"], "left": ["tea", "milk"], "right": ["gin", "tea"], "outcome": [1, 0]})
    learn = Comparisons.from_frame(frame)
    model = WinRate().fit(learn)
    assert pictures.accuracy(model, learn) == 1
    wrong = Comparisons.from_frame(frame.assign(outcome=[0, 0]))
    assert pictures.accuracy(model, wrong) == 0.5


# ---- pictures ----


def test_the_picture_of_utilities_tells_the_error():
    X = U @ V.T
    assert title(pictures.draw_utilities(DATA, X, X)).endswith("relative error below 1e−08")
    assert title(pictures.draw_utilities(DATA, 1.25 * X, X)).endswith("relative error 0.25")


def test_the_picture_of_maps_tells_what_changes():
    table = pictures.tastes()
    fig = pictures.draw_maps(table, {"a": (table.U, table.V), "b": (table.U @ TURN, table.V @ TURN)})
    assert title(fig) == "Different features, and no difference of utilities changes"
    off = table.V.copy()
    off[0, 0] += 1
    assert "changes by 1.6" in title(pictures.draw_maps(table, {"a": (table.U, off)}))


def test_the_picture_of_a_spectrum_counts_what_is_flat():
    fig = pictures.draw_spectrum({"a": [1.0, 0.5, 0.0, 1e-14], "b": [0.0, 0.0, 0.0, 2.0]})
    assert title(fig) == "Flat directions: 2 with a, 3 with b"
    assert np.allclose(fig.axes[0].lines[0].get_ydata(), [1, 0.5, 1e-6, 1e-6])


def test_the_picture_of_descents_counts_iterations():
    fig = pictures.draw_descents({"fast": 0.1 ** np.arange(9), "slow": 0.5 ** np.arange(9)}, rate=0.5)
    assert title(fig) == "Iterations to a relative error of 1e−06: 7 (fast), more than 8 (slow)"
    assert np.allclose(fig.axes[0].lines[-1].get_ydata()[:2], [3, 1.5])


def test_the_picture_of_the_plane_tells_the_loss_of_turns():
    assert "the loss is below 1e−12" in title(pictures.draw_plane(LIKELIHOOD, U, V))
    off = LIKELIHOOD(np.concatenate([2 * U.ravel(), V.ravel()]))[0]
    assert f"the loss is {off:.4g}" in title(pictures.draw_plane(LIKELIHOOD, 2 * U, V))


@pytest.mark.parametrize(("error", "told"), [(0.7, "more than half"), (0.3, "30\xa0%")])
def test_the_picture_of_few_comparisons_tells_both_gaps(error, told):
    found = dict(zip(pictures.LEFT, (np.full((1, 2), value) for value in (error, 0.1, 0.004)), strict=True))
    expected = f"With 1 per degree of freedom the gap of the fit is below 0.01, and the utilities are off by {told}"
    assert title(pictures.draw_too_few([1.0, 2.0], found)) == expected


def test_the_picture_of_choices_tells_the_slope():
    m = np.array([100.0, 400.0])
    found = pictures.Choices(m, np.array([[0.4, 0.2]]), np.array([0.4, 0.2]))
    assert title(pictures.draw_choices(found)) == "4 times the choices, an error 2.0 times smaller: slope −0.50"


def test_the_picture_of_accuracies_names_the_best_of_each():
    fig = pictures.draw_accuracies({"x": {"a": [0.6, 0.7], "b": [0.5, 0.5]}, "y": {"a": [0.5], "b": [0.8]}})
    assert title(fig) == "Best: x, a with 65\xa0%; y, b with 80\xa0%"


@pytest.mark.parametrize("draw", ["draw_spectrum", "draw_descents", "draw_accuracies"])
def test_nothing_to_draw_is_told(draw):
    with pytest.raises(CofactorError, match="to draw: give at least one"):
        getattr(pictures, draw)({})


# ---- the panel ----


def test_the_panel_tells_what_was_asked_and_what_came_of_it():
    panel = panels.descent_panel()
    assert panel.text.startswith("1,096 comparisons with exact chances for 274 degrees of freedom. From a spectral")
    assert panel.text.count("below 1e−12") == 2
    panel.controls["per_dof"].value = 1.0
    assert panel.text.startswith("274 comparisons") and panel.outcome.descent.errors[-1] > 0.3
    panel.controls["step"].value = 0.001
    assert "400 steps of 0.001 / curvature" in panel.text


def test_the_panel_shows_noise_and_runaways():
    panel = panels.descent_panel()
    panel.controls["answers"].value = 1
    assert "1 answer each" in panel.text
    assert title(panels.draw_pursuit(panel.outcome)).startswith(("Learnt the noise", "Ran away"))
    panel.controls["answers"].value, panel.controls["step"].value = 0, 4.0
    assert title(panels.draw_pursuit(panel.outcome)).startswith("Ran away")


def test_a_fit_with_a_ridge_beats_what_the_panel_does_to_single_answers():
    found = panels.pursue(20, 2, "spectral", 1.0, answers=1)
    U2, V2 = simulate.comparison_factors(60, 80, 2, random_state=0)
    data = panels.answered(simulate.draw_comparisons(U2, V2, 20 * 274, "exact", random_state=1), 1, 2)
    fit = ComparisonMF(2, item_bias=False, random_state=0).fit(data)
    assert utility_error(fit.user_factors_, fit.item_factors_, U2, V2) < found.descent.errors[-1]


# ---- exercises ----


def wrong_answers():
    pull, error, choices = given("pull"), given("error"), given("choices")
    z, m = pull["U_u"] @ (pull["V_i"] - pull["V_j"]), choices["m"] * choices["information"]
    found, truth = error["U"] @ error["V"].T, error["true_U"] @ error["true_V"].T
    yield "pull", (z - pull["w"]) * pull["U_u"], "z is a difference of utilities"
    yield "pull", (1 - expit(z)) * pull["U_u"], "the gradient points the other way"
    yield "error", np.linalg.norm(found - truth) / np.linalg.norm(truth), "take every user's mean off"
    yield "error", np.linalg.norm(error["U"]), "an entry is off by"
    yield "choices", (np.sqrt(500 * 200 / (2 * m)) / 0.8, 9), "dof is not the number of utilities"
    yield "choices", (np.sqrt((699 * 4 - 16) / m) / 0.8, 9), "a factor 2 is missing"
    yield "choices", (np.sqrt((699 * 4 - 16) / (2 * m)) / 0.8, 3), "the error falls with the square root of m"


@pytest.mark.parametrize(("name", "answer", "told"), list(wrong_answers()))
def test_typical_wrong_answers_are_recognised(name, answer, told, capsys):
    check(name, answer)
    assert told in " ".join(capsys.readouterr().out.split())
