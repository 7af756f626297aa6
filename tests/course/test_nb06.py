"""What notebook 06 draws and lets learners move: descents, pictures, its panel; and what its exercises rest on."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from cofactor.comparisons import ComparisonMF, Comparisons, Objective
from cofactor.core.errors import CofactorError
from course.desk import exercises_of
from course.nb06 import judging, panels, pictures
from course.nb06.exercises import Choices, ComparisonGradient

TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


# ---- pictures ----


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_picture_of_descents_counts_iterations():
    fig = pictures.draw_descents({"fast": 0.1 ** np.arange(9), "slow": 0.5 ** np.arange(9)}, rate=0.5)
    assert title(fig) == "Iterations to a relative error of utilities of 1e−06: 7 (fast), more than 8 (slow)"
    assert np.allclose(fig.axes[0].lines[-1].get_ydata()[:2], [3, 1.5])
    fig = pictures.draw_descents({"fast": 0.1 ** np.arange(9)}, what="share")
    assert title(fig) == "Iterations to a share of 1e−06: 7 (fast)" and fig.axes[0].get_ylabel() == "share"


@pytest.mark.slow
@pytest.mark.parametrize(("error", "told"), [(0.7, "more than half"), (0.3, "30\xa0%")])
def test_the_picture_of_few_comparisons_tells_both_gaps(error, told):
    found = [np.full((1, 2), value) for value in (error, 0.1, 0.004)]
    expected = f"With 1 per degree of freedom the gap of the fit is below 0.01, and the utilities are off by {told}"
    assert title(pictures.draw_too_few([1.0, 2.0], found)) == expected


def test_the_picture_of_choices_tells_the_slope():
    fig = pictures.draw_choices([100, 400], [[0.4, 0.2]], [0.4, 0.2])
    assert title(fig) == "4 times the choices, an error 2.0 times smaller: slope −0.50"


# ---- live figures, and what the notebook says of them ----


@pytest.mark.slow
def test_utilities_come_back_from_some_400_comparisons_and_not_from_250():
    errors = {m: error for m, (_, error) in panels.fits_by_amount().items()}
    assert errors[250] > 1 and errors[400] < 1e-3 and all(errors[m] < 1e-5 for m in panels.AMOUNTS if m >= 450)
    assert "relative error" in moved(panels.amount_live(), m=450, shown=True)


@pytest.mark.slow
def test_turning_costs_nothing_and_moving_does():
    least = panels.placed(0, 0)[1]
    assert all(np.isclose(panels.placed(angle, 0)[1], least) for angle in (-180, 35, 90))
    assert panels.placed(0, 20)[1] > least + 1e-3
    assert moved(panels.valley_live(), angle=180).startswith("features changed by 200%")


@pytest.mark.slow
def test_choices_fitted_ask_for_no_ridge_and_others_for_about_three():
    own, other, errors = np.array([each[1:] for each in panels.fits_by_ridge().values()]).T
    assert np.all(np.diff(own) > 0)
    assert panels.RIDGES[other.argmin()] == panels.RIDGES[errors.argmin()] == 3.2
    assert "relative error 0.54" in moved(panels.ridge_live(), ridge=3.2, shown=True)


@pytest.mark.slow
def test_tastes_help_on_new_pairs_and_not_on_new_recipes():
    pairs, recipes = np.array(list(panels.fits_by_price()[1].values())).T
    assert pairs[0] > 0.78 and abs(pairs[-1] - 0.62) < 0.02 and np.ptp(recipes) < 0.05
    assert moved(panels.taste_live(), price=3, shown=True).startswith("ridge 3: 80 % of new pairs right")


def moved(live, **values):
    for name, value in values.items():
        live.controls[name].value = value
    return live.text


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


@pytest.mark.slow
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
