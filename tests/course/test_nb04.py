"""What notebook 04 measures: rates, the turn of the rows, the race, and what a step is judged by."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd import symnmf
from cofactor.crowd.symnmf import convergence_curve, symnmf_steps
from cofactor_app.plots.style import alt_text
from course.desk import find
from course.nb04 import ends, exercises, panels, pictures
from course.rates import linear_rate


def test_a_geometric_curve_has_its_rate():
    assert np.isclose(linear_rate(5 * 0.7 ** np.arange(40)), 0.7)
    assert np.isclose(linear_rate(np.append(np.ones(10), 0.5 ** np.arange(100))), 0.5)  # down to rounding
    with pytest.raises(CofactorError, match="start earlier"):
        linear_rate(np.ones(11))


def medians(density, **how):
    return {name: np.median(each, axis=0) for name, each in panels.race(density, 0.75, np.inf, **how).items()}


@pytest.mark.slow
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
    assert "fast, after 1; slow, not within 2" in alt_text(pictures.draw_race(curves))


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
    assert "moves U away" in next(exercise.properties(case, [H, -turned]))


def test_the_start_of_the_exercise_is_near_in_one_order_only():
    H, Q, Q_0, nu = find("near_start").given().values()
    left, lowest, highest = (part.answer for part in find("near_start").parts)
    assert left < H[H > 0].min() and lowest < highest and np.isclose(highest - lowest, H[H > 0].min() - left)
    assert 2 * np.linalg.norm(H) * np.linalg.norm(Q_0 - Q) + 2 * nu > H.max()
    clean = H @ Q.T @ Q_0  # what a step cuts at the start, but for the noise
    order = [int(np.abs(clean - H[:, [k]]).sum(axis=0).argmin()) for k in range(3)]
    zero = H == 0
    assert np.abs(clean[:, order][zero]).max() <= lowest and clean[:, order][~zero].min() >= highest


def test_noise_and_rate_predict_as_the_exercise_has_it():
    U, H = simulate.symnmf_problem(300, 3, 0.5, random_state=0)
    rho, found = linear_rate(convergence_curve(U, H)), []
    for snr_db in (30, 17):
        noisy, _ = simulate.symnmf_problem(300, 3, 0.5, snr_db, random_state=0)
        loose, tight = (symnmf(noisy, tol=tol)[2].n_iter for tol in (1e-4, 1e-10))
        found.append((convergence_curve(noisy, H, n_iter=200)[-1], tight - loose))
    asked = {"end": found[0][0], "snr": 17.0, "rho": rho, "loose": 1e-4, "tight": 1e-10}
    assert np.allclose([part.answer for part in find("noise_and_tol").solve(**asked)], found[1], rtol=0.05)


@pytest.mark.slow
def test_every_problem_shows_its_kind():
    for kind, seeds in ends.SEEDS.items():
        for seed in seeds:
            misfits, far = ends.runs(kind, seed)
            assert ends.kind_of(misfits) == kind
            assert far.min() == 0 and (far.max() < 1e-6) == (kind == 4) and (kind in (3, 4) or far.max() > 0.2)
            fit = misfits[:, -1] < ends.FITS
            assert kind != 1 or (far[fit].max() < 5e-3 and far[~fit].min() > 0.2)


def test_the_problems_have_every_kind_in_an_order_of_the_seed():
    kinds = [ends.kinds(ends.ends(seed)["misfits"]) for seed in range(12)]
    assert all(set(one) == {1, 2, 3, 4} and len(one) == 5 for one in kinds)
    assert len({tuple(one) for one in kinds}) > 6


@pytest.mark.slow
def test_turning_by_hand_ends_where_no_row_is_outside():
    live = panels.turn_live()
    outside = []
    for angle in range(91):
        live.controls["angle"].value = angle
        outside.append(int(live.text.split()[3]))
    assert min(outside) == 0 and outside[0] > 50 and outside[-1] > 50


def test_the_walk_has_the_errors_of_the_library():
    live = panels.walk_live()
    errors = convergence_curve(*simulate.symnmf_problem(300, 3, 0.5, random_state=0), n_iter=60)
    live.controls["after"].value, live.controls["rho"].value = 3, 0.62
    said = errors[0] * 0.62**3
    assert live.text == f"After 3 steps, the error is {errors[3]:.4g}; your rate 0.62 predicts {said:.4g}."
