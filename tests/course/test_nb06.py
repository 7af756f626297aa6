"""What notebook 06 draws and lets learners move: descents, pictures, its panel; and what its exercises rest on."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from cofactor import simulate
from cofactor.comparisons import ComparisonMF, Comparisons, Objective, gradient_descent, utility_error
from cofactor.core.errors import CofactorError
from course.desk import exercises_of
from course.nb06 import judging, panels, pictures
from course.nb06.exercises import Choices, ComparisonGradient

U, V = TRUTH = simulate.comparison_factors(60, 80, 2, random_state=0)
DATA = simulate.draw_comparisons(U, V, 1500, "exact", random_state=1)
OBJECTIVE = Objective(DATA, 2)
TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


# ---- descents ----


def test_a_descent_is_the_library_s():
    start, seen = OBJECTIVE.join(1.2 * U, 0.5 * V + 0.1), []
    eta = 60 * 79 / np.linalg.norm(U @ V.T, 2)
    gradient_descent(OBJECTIVE, start, tol=1e-6, learning_rate=eta, callback=seen.append)
    found = panels._descend(OBJECTIVE, start, eta, 50, TRUTH)
    assert np.allclose(found.errors, [utility_error(*OBJECTIVE.split(x)[:2], U, V) for x in seen[:51]])
    assert np.allclose(found.losses, [OBJECTIVE(x)[0] for x in seen[:51]])
    assert np.allclose(found.x, seen[51])


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


def test_answers_are_shares_of_choices():
    same = panels.answered(DATA, 0)
    assert same is DATA
    found = panels.answered(DATA, 10, seed=1)
    assert np.allclose(found.outcome * 10, np.rint(found.outcome * 10)) and np.all(found.counts == 10)
    chance = expit(np.einsum("ka,ka->k", U[found.user], V[found.left] - V[found.right]))
    assert np.allclose(chance, DATA.outcome)
    assert abs(np.mean(found.outcome - chance)) < 0.02
    assert abs(np.mean((found.outcome - chance) ** 2) * 10 / np.mean(chance * (1 - chance)) - 1) < 0.1


# ---- pictures ----


def test_the_picture_of_utilities_tells_the_error():
    X = U @ V.T
    assert title(pictures.draw_utilities(DATA, X, X)).endswith("relative error below 1e−08")
    assert title(pictures.draw_utilities(DATA, 1.25 * X, X)).endswith("relative error 0.25")


def test_the_picture_of_maps_tells_what_is_noticed():
    people, dishes = np.array([[1.6, 0.4], [0.3, -1.5]]), np.array([[0.9, 0.9], [1.1, -0.9], [-1.0, 1.0]])
    maps = {"made": (people, dishes), "moved": (people, dishes + 3.0), "turned": (people @ TURN, dishes @ TURN)}
    assert title(pictures.draw_maps("ab", "xyz", maps)) == "0 of 2 changes can be seen in choices: none"
    fig = pictures.draw_maps("ab", "xyz", maps | {"shifted": (people + 1.0, dishes)})
    assert title(fig) == "1 of 3 changes can be seen in choices: shifted"
    assert [ax.get_title() for ax in fig.axes] == ["made", "moved", "turned", "shifted: noticed"]


def test_names_in_a_map_stand_apart_where_items_are_close():
    items = np.array([[0.5, 0.5], [0.55, 0.45], [-1.0, -1.0]])
    fig = pictures.draw_maps(["Ann"], ["chilli", "pizza", "salad"], {"made": (np.array([[-1.0, 0.5]]), items)})
    places = [text.get_window_extent() for text in fig.axes[0].texts if text.get_text()]
    assert len(places) == 4 and not any(one.overlaps(other) for one, other in combinations(places, 2))


def test_the_picture_of_a_spectrum_counts_what_is_flat():
    fig = pictures.draw_spectrum({"a": [1.0, 0.5, 0.0, 1e-14], "b": [0.0, 0.0, 0.0, 2.0]})
    assert title(fig) == "Flat directions: 2 with a, 3 with b"
    assert np.allclose(fig.axes[0].lines[0].get_ydata(), [1, 0.5, 1e-6, 1e-6])


def test_the_picture_of_descents_counts_iterations():
    fig = pictures.draw_descents({"fast": 0.1 ** np.arange(9), "slow": 0.5 ** np.arange(9)}, rate=0.5)
    assert title(fig) == "Iterations to a relative error of utilities of 1e−06: 7 (fast), more than 8 (slow)"
    assert np.allclose(fig.axes[0].lines[-1].get_ydata()[:2], [3, 1.5])
    fig = pictures.draw_descents({"fast": 0.1 ** np.arange(9)}, what="share")
    assert title(fig) == "Iterations to a share of 1e−06: 7 (fast)" and fig.axes[0].get_ylabel() == "share"


def test_the_picture_of_the_plane_tells_the_loss_of_turns():
    angles, shares, loss = [-180.0, 0.0, 180.0], [-0.5, 0.0, 0.5], np.full((3, 3), 0.1)
    loss[1] = 0.0
    assert "the loss is below 1e−12" in title(pictures.draw_plane(angles, shares, loss))
    loss[1, 2] = 0.03
    assert "the loss is 0.03" in title(pictures.draw_plane(angles, shares, loss))


@pytest.mark.parametrize(("error", "told"), [(0.7, "more than half"), (0.3, "30\xa0%")])
def test_the_picture_of_few_comparisons_tells_both_gaps(error, told):
    found = [np.full((1, 2), value) for value in (error, 0.1, 0.004)]
    expected = f"With 1 per degree of freedom the gap of the fit is below 0.01, and the utilities are off by {told}"
    assert title(pictures.draw_too_few([1.0, 2.0], found)) == expected


def test_the_picture_of_choices_tells_the_slope():
    fig = pictures.draw_choices([100, 400], [[0.4, 0.2]], [0.4, 0.2])
    assert title(fig) == "4 times the choices, an error 2.0 times smaller: slope −0.50"


def test_the_picture_of_accuracies_names_the_best_of_each():
    fig = pictures.draw_accuracies({"x": {"a": [0.6, 0.7], "b": [0.5, 0.5]}, "y": {"a": [0.5], "b": [0.8]}})
    assert title(fig) == "Best: x, a with 65\xa0%; y, b with 80\xa0%"


# ---- the panel ----


def test_the_panel_tells_what_was_asked_and_what_came_of_it():
    panel = panels.descent_panel()
    assert panel.text.startswith("1,096 comparisons with exact chances for 274 degrees of freedom. From a spectral")
    assert panel.text.count("below 1e−12") == 2
    panel.controls["per_dof"].value = 1.0
    assert panel.text.startswith("274 comparisons") and panel.outcome.descent.errors[-1] > 0.3
    panel.controls["step"].value = 0.001
    assert "400 steps of 0.001 / curvature" in panel.text


@pytest.mark.slow
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


def test_the_gradient_asked_for_is_the_library_s():
    data = ComparisonGradient().cases()[0]
    objective = Objective(Comparisons(*(data[name] for name in "uijw"), 6, 9), 3, balance=0)
    found = [part.answer for part in ComparisonGradient().solve(**data)]
    assert np.allclose(objective.join(*found), objective(objective.join(data["U"], data["V"]))[1])


def test_data_not_seen_hold_what_is_special():
    cases = ComparisonGradient().cases()
    idle = [len(set(case["u"])) < len(case["U"]) for case in cases]
    again = [len(set(zip(*(case[name] for name in "uij"), strict=True))) < len(case["w"]) for case in cases]
    assert any(idle) and any(again) and {case["U"].shape[1] for case in cases} == {1, 2, 3, 4}


def test_counts_of_numbers_are_told_apart():
    """Forgetting the shift is no longer within the tolerance of the right error."""
    part = Choices().parts[0]
    for says, wrong in part.mistakes.items():
        assert abs(wrong - part.answer) > 4 * part.tolerance * part.answer, says


def test_of_the_four_fits_the_one_with_the_fewest_comparisons_meets_them_best_and_the_last_is_to_be_trusted():
    for problem in judging.PROBLEMS:
        fits = judging.four_fits(problem)
        gaps, trust = judging.Trusted().solve(**fits)
        assert fits["gaps_own"].argmin() == 0 == 4 - trust.answer and np.all(np.diff(gaps.answer) < 0)


def test_a_gain_is_told_by_its_error_and_new_pairs_mislead():
    kinds = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        base = rng.normal(0.6, 0.1, (2, 40))
        for gain, kind in ((0.05, 1), (0.004, 2), (-0.05, 3)):
            apart = gain + rng.choice([-0.03, 0.03], 40)
            shares = {"new pairs": base + np.array([[0], [0.15]]), "new items": np.array([base[0], base[0] + apart])}
            found, error, verdict = (part.answer for part in judging.Personal().solve(**shares))
            assert np.isclose(error, np.std(apart, ddof=1) / 40**0.5) and np.isclose(found, apart.mean())
            assert verdict == (2 if abs(found) < 2 * error else 1 if found > 0 else 3)
            kinds.add((kind, verdict))
    assert {(1, 1), (2, 2), (3, 3)} <= kinds


@pytest.mark.parametrize(("kind", "says"), [(1, ""), (2, "no comparison links"), (4, "has no maximum")])
def test_the_library_says_of_a_crowd_what_the_exercise_does(kind, says):
    u, i, j, w = judging.crowd(kind, np.random.default_rng(0))
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            ComparisonMF(rank=2, item_bias=False, ridge=0, random_state=0).fit(Comparisons(u, i, j, w, 10, 12))
            said = " ".join(str(note.message) for note in notes)
        except CofactorError as refusal:
            said = str(refusal)
    assert says in said and bool(says) == bool(said)


def test_crowds_are_of_the_same_size_and_of_every_kind():
    u, i, j, w = exercises_of("nb06")["failures"].given().values()
    assert u.shape == i.shape == j.shape == w.shape == (5, 160) and (i != j).all()
    assert {part.answer for part in exercises_of("nb06")["failures"].parts} == {1, 2, 3, 4}
    for seed in range(6):
        few = judging.crowd(3, np.random.default_rng(seed))
        assert 20 < len(set(zip(*few[:3], strict=True))) <= 30 and judging.kind_of(*few) == 3
