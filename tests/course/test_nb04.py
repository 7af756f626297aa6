"""What notebook 04 measures: rates, the turn of the rows, where starts end."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd import symnmf
from cofactor.crowd.symnmf import convergence_curve
from course.nb04 import panels, pictures
from course.rates import linear_rate


def test_a_geometric_curve_has_its_rate():
    assert np.isclose(linear_rate(5 * 0.7 ** np.arange(40)), 0.7)
    assert np.isclose(linear_rate(np.append(np.ones(10), 0.5 ** np.arange(100))), 0.5)  # down to rounding
    with pytest.raises(CofactorError, match="start earlier"):
        linear_rate(np.ones(11))


def test_sparser_factors_are_found_faster():
    rates = [linear_rate(panels.race(density, n_trials=5).median(pictures.PLAIN)) for density in (0.3, 0.5, 0.7)]
    assert rates[0] < rates[1] - 0.1 < rates[2] - 0.2


def test_the_film_shows_the_steps_and_their_errors():
    U, H = simulate.symnmf_problem(40, 3, 0.5, random_state=1)
    film = panels.film(U, H, (0, 3, 60))
    curve = convergence_curve(U, H, n_iter=61)
    assert np.allclose(film.errors, curve[[1, 4, 61]])
    for frame, error in zip(film.frames, film.errors, strict=True):
        assert np.isclose(np.sum((np.maximum(frame, 0) - H) ** 2) / 3, error)


def test_starts_end_where_symnmf_ends():
    U, H = simulate.symnmf_problem(12, 4, 0.5, random_state=4)
    starts = panels.many_starts(U, H, 12)
    _, _, result = symnmf(U @ ortho_group.rvs(4, random_state=7))
    assert np.isclose(starts.objective[7], result.objective[-1] / np.sum(U**2), atol=1e-12)
    stuck = starts.objective > 1e-6
    assert 0 < stuck.sum() < 12
    assert np.all(starts.error[~stuck] < 1e-6) and np.all(starts.error[stuck] > 0.01)


def test_the_race_tells_when_each_arrived():
    race = panels.Race({"a": np.array([[4.0, 2.0, 1.0]] * 3), "b": np.array([[4.0, 4.0, 4.0]])}, "")
    assert race.first_below(3) == {"a": 1, "b": None}
