"""What notebook 04 measures: rates, the turn of the rows, the race, and what a step is judged by."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd.symnmf import convergence_curve, symnmf_steps
from cofactor_app.plots.style import alt_text
from course.nb04 import exercises, panels, pictures
from course.rates import linear_rate


def test_a_geometric_curve_has_its_rate():
    assert np.isclose(linear_rate(5 * 0.7 ** np.arange(40)), 0.7)
    assert np.isclose(linear_rate(np.append(np.ones(10), 0.5 ** np.arange(100))), 0.5)  # down to rounding
    with pytest.raises(CofactorError, match="start earlier"):
        linear_rate(np.ones(11))


def medians(density, **how):
    return {name: np.median(each, axis=0) for name, each in panels.race(density, 0.75, np.inf, **how).items()}


def test_sparser_factors_are_found_faster():
    rates = [linear_rate(medians(density, n_rows=1000, n_trials=5)["no shift"]) for density in (0.3, 0.5, 0.7)]
    assert rates[0] < rates[1] - 0.1 < rates[2] - 0.2


def test_the_race_runs_all_three_on_the_same_problems_with_and_without_noise():
    U, H = simulate.symnmf_problem(60, 3, 0.5, 20.0, 1)
    noisy = panels.race(0.5, 0.75, 20.0, n_rows=60, n_trials=2)
    assert np.allclose(noisy["no shift"][1], convergence_curve(U, H))
    assert np.allclose(noisy["clamp up to the shift"][1], convergence_curve(U, H, lambda t: 0.75 ** (t + 1), "clamp"))
    assert medians(0.5)["zero below the shift"][-1] < 1e-15 < noisy["zero below the shift"].min()


def test_a_race_says_when_each_arrived():
    curves = {"fast": np.array([[4.0, 1e-4, 1e-9]] * 3), "slow": np.array([[4.0, 4.0, 4.0]])}
    assert "fast after 1; slow not within 2" in alt_text(pictures.draw_race(curves))


def test_every_case_of_the_step_has_one_best_rotation():
    exercise = exercises.SymNMFStep()
    for case in (exercise.given(), *exercise.cases()):
        H = np.asarray(exercise.solve(**case)[0].answer)
        s = np.linalg.svd(H.T @ case["U"], compute_uv=False)
        assert s[-1] > 0.02 * s[0]


def test_the_film_shows_the_steps_and_their_errors():
    U, H = simulate.symnmf_problem(40, 3, 0.5, random_state=1)
    film = panels.film(U, H, (0, 1, 60))
    curve = convergence_curve(U, H, n_iter=60)
    assert [title.split("\n")[0] for title in film] == ["after 0 steps", "after 1 step", "after 60 steps"]
    assert [float(title.split()[-1]) for title in list(film)[:2]] == pytest.approx(curve[:2], rel=1e-3)
    Q = next(symnmf_steps(U)).Q
    assert np.allclose(list(film.values())[:2], [U, U @ Q])
    assert list(film.values())[-1].min() > -1e-6


def test_a_step_that_turns_away_is_told_so():
    case = exercises.SymNMFStep().given()
    H, turned = (np.asarray(part.answer) for part in exercises.SymNMFStep().solve(**case))
    exercise = exercises.SymNMFStep()
    assert not list(exercise.properties(case, [H, turned]))
    assert "further away" in next(exercise.properties(case, [H, -turned]))
