"""The computations behind notebooks 03 and 04."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd import symnmf
from cofactor.crowd.symnmf import convergence_curve
from course import demos

# ---- 03: error against co-labelled items ----


def changed(before, after):
    K = before.n_classes
    e = np.flatnonzero(np.abs(before.blocks - after.blocks).max(axis=(1, 2)) > 1e-12)
    return set(zip(before.rows[e].tolist(), before.indices[e].tolist(), strict=True)), K


def test_garbage_replaces_a_share_of_the_pairs_and_more_of_it_the_same_and_more():
    cooc = demos.holes(200, 8, 3, 0.0).cooc
    few, many = (changed(cooc, demos.garble(cooc, share, seed=5))[0] for share in (0.25, 0.5))
    assert (len(few), len(many)) == (14, 28) and few < many  # of 28 pairs, both directions counted
    assert all((j, m) in many for m, j in many)
    X = demos.garble(cooc, 0.5, seed=5).dense()
    assert np.array_equal(X, X.T) and np.allclose(X.reshape(8, 3, 8, 3).sum(axis=(1, 3)) + np.eye(8), 1)
    with pytest.raises(CofactorError, match=r"share=1\.5"):
        demos.garble(cooc, 1.5)


def test_the_error_is_that_of_the_missing_pairs_alone():
    problem = demos.holes(300, 6, 3, 0.3, seed=2)
    X = problem.truth.copy()
    seen = np.kron(~problem.missing | np.eye(6, dtype=bool), np.ones((3, 3))) > 0
    X[seen] = 7.0
    assert problem.error(X) == 0
    X[~seen] *= 1.25
    assert np.isclose(problem.error(X), 0.25)
    with pytest.raises(CofactorError, match="hide a larger share"):
        demos.holes(300, 6, 3, 0.0).error(X)
    with pytest.raises(CofactorError, match="designated, robust, least squares"):
        demos.fill(problem, "magic")


def test_a_power_law_is_found_again():
    sizes = np.array([100, 1000, 10_000])
    law = demos.PowerLaw.fit(sizes, np.array([[3.0], [2.0], [4.0]]) * sizes**-0.5)
    assert np.allclose(law.exponents, 0.5) and np.allclose(law.constants, [3, 2, 4])
    assert np.isclose(law.constant[0], 3) and np.isclose(law.items_needed(0.1)[0], 900)
    with pytest.raises(CofactorError, match="two sizes"):
        demos.PowerLaw.fit(sizes[:1], np.ones((2, 1)))


def test_without_garbage_the_error_falls_with_the_root_of_the_items():
    errors = demos.sample_errors()
    for method in errors.by_method:
        exponent, spread = errors.rate(method).exponent
        assert abs(exponent - 0.5) < 0.03 and spread < 0.02


def test_garbage_stops_all_but_the_robust_criterion():
    errors = demos.sample_errors(outlying=0.1, methods=("designated", "robust", "least squares"))
    exponents = {method: errors.rate(method).exponent[0] for method in errors.by_method}
    assert exponents["robust"] > 0.45 and max(exponents["designated"], exponents["least squares"]) < 0.15


def test_the_number_of_items_asked_for_gives_the_error_wanted():
    needed = round(demos.sample_errors().rate("robust").items_needed(0.1)[0])
    fresh = [demos.holes(needed, seed=seed) for seed in range(200, 220)]
    assert np.mean([problem.error(demos.fill(problem, "robust")) for problem in fresh]) == pytest.approx(0.1, rel=0.1)


# ---- 04: convergence ----


def test_a_geometric_curve_has_its_rate():
    assert np.isclose(demos.linear_rate(5 * 0.7 ** np.arange(40)), 0.7)
    assert np.isclose(demos.linear_rate(np.append(np.ones(10), 0.5 ** np.arange(100))), 0.5)  # down to rounding
    with pytest.raises(CofactorError, match="start earlier"):
        demos.linear_rate(np.ones(11))


def test_sparser_factors_are_found_faster():
    rates = [demos.linear_rate(demos.race(density, n_trials=5).median(demos.PLAIN)) for density in (0.3, 0.5, 0.7)]
    assert rates[0] < rates[1] - 0.1 < rates[2] - 0.2


def test_the_film_shows_the_steps_and_their_errors():
    U, H = simulate.symnmf_problem(40, 3, 0.5, random_state=1)
    film = demos.film(U, H, (0, 3, 60))
    curve = convergence_curve(U, H, n_iter=61)
    assert np.allclose(film.errors, curve[[1, 4, 61]])
    for frame, error in zip(film.frames, film.errors, strict=True):
        assert np.isclose(np.sum((np.maximum(frame, 0) - H) ** 2) / 3, error)


def test_starts_end_where_symnmf_ends():
    U, H = simulate.symnmf_problem(12, 4, 0.5, random_state=4)
    starts = demos.many_starts(U, H, 12)
    _, _, result = symnmf(U @ demos.random_rotation(4, 7))
    assert np.isclose(starts.objective[7], result.objective[-1] / np.sum(U**2), atol=1e-12)
    stuck = starts.objective > 1e-6
    assert 0 < stuck.sum() < 12
    assert np.all(starts.error[~stuck] < 1e-6) and np.all(starts.error[stuck] > 0.01)


def test_the_race_tells_when_each_arrived():
    race = demos.Race({"a": np.array([[4.0, 2.0, 1.0]] * 3), "b": np.array([[4.0, 4.0, 4.0]])}, "")
    assert race.first_below(3) == {"a": 1, "b": None}
