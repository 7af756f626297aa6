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
from tests.course import moved

# ---- pictures ----


def test_names_in_a_map_stand_apart_where_items_are_close():
    items = np.array([[0.5, 0.5], [0.55, 0.45], [-1.0, -1.0]])
    fig = pictures.draw_maps(["Ann"], ["chilli", "pizza", "salad"], {"made": (np.array([[-1.0, 0.5]]), items)})
    places = [text.get_window_extent() for text in fig.axes[0].texts if text.get_text()]
    assert len(places) == 4 and not any(one.overlaps(other) for one, other in combinations(places, 2))


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
