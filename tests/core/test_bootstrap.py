"""Bootstrap: rows drawn with replacement, the same at any number of jobs, intervals of known width."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from cofactor import CategoricalTable, CofactorError, DataWarning, LatentClassModel
from cofactor.core import bootstrap as engine
from cofactor.core.bootstrap import ModelBootstrap, observations, probability_intervals, refit_by_em, resample
from tests.each import each


def rows_themselves(rows):
    return rows


def refuse_row_zero(rows):
    if 0 in rows:
        raise CofactorError("row 0 was drawn")
    return rows


def test_draws_as_many_rows_as_there_are_with_replacement():
    draws = np.array(resample(rows_themselves, 50, n_draws=400, random_state=0))
    assert draws.shape == (400, 50) and draws.min() == 0 and draws.max() == 49
    distinct = np.mean([len(np.unique(rows)) for rows in draws]) / 50
    assert distinct == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.01)


@pytest.mark.slow
def test_is_the_same_at_any_number_of_jobs():
    one, two = (resample(rows_themselves, 20, 12, random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, resample(rows_themselves, 20, 12, random_state=4))


def test_refusals_are_left_out_and_told():
    for used, refused in ((330, 3), (128, 1)):  # how many of 1000 rows the refit looks at
        with pytest.warns(DataWarning, match=f"^{refused} of 20 refits failed on the rows drawn and are left out: row"):
            kept = resample(lambda rows, n=used: refuse_row_zero(rows[:n]), 1000, n_draws=20, random_state=5)
        assert len(kept) == 20 - refused and all(0 not in rows for rows in kept)


def test_gives_up_where_most_refits_refuse():
    with pytest.raises(CofactorError, match="refits failed on the rows drawn: row 0 was drawn"):
        resample(refuse_row_zero, 2, n_draws=20, random_state=0)


@each("settings", [{"n_draws": 1}, {"n_jobs": 0}])
def test_names_settings_that_make_no_sense(settings):
    with pytest.raises(CofactorError, match="at least two draws and one process"):
        resample(rows_themselves, 5, **settings)


def test_without_spread_an_interval_is_that_of_jeffreys():
    low, high = probability_intervals(np.array([0.3, 0.0]), np.zeros(2), [20, 5], level=0.8)
    assert low[0] == pytest.approx(beta.ppf(0.1, 6.5, 14.5)) and high[0] == pytest.approx(beta.ppf(0.9, 6.5, 14.5))
    assert low[1] == 0 and high[1] == pytest.approx(beta.ppf(0.9, 0.5, 5.5))


def test_a_spread_beyond_that_of_the_observations_counts():
    """With p (1 - p) / s^2 - 1 = 24 observations' worth of spread, a thousand observations count as 24."""
    low, high = probability_intervals(np.array([0.5]), np.array([0.1]), 1000)
    assert (low[0], high[0]) == pytest.approx((beta.ppf(0.05, 12.5, 12.5), beta.ppf(0.95, 12.5, 12.5)))


@given(p=st.floats(0, 1), spread=st.floats(0, 0.5), n=st.floats(0, 1e6), level=st.floats(0.05, 0.99))
def test_an_interval_holds_its_estimate_mirrors_and_widens(p, spread, n, level):
    (low,), (high,) = probability_intervals(np.array([p]), np.array([spread]), n, level)
    assert 0 <= low <= p <= high <= 1
    (mirrored_low,), (mirrored_high,) = probability_intervals(np.array([1 - p]), np.array([spread]), n, level)
    assert (1 - mirrored_high, 1 - mirrored_low) == pytest.approx((low, high), abs=1e-6)
    (wider_low,), (wider_high,) = probability_intervals(np.array([p]), np.array([spread]), n, level + 0.009)
    assert wider_low <= low and high <= wider_high


@each("level", [0, 1, -0.5, 90, np.nan])
def test_a_level_is_a_share(level):
    with pytest.raises(CofactorError, match="level="):
        probability_intervals(np.array([0.5]), np.array([0.1]), 10, level)
    with pytest.raises(CofactorError, match="level="):
        engine.quantiles(np.zeros((5, 2)), level)


@pytest.mark.slow
def test_the_spread_of_a_frequency_is_the_binomial_one():
    """With one latent class, the fit is the frequencies: their standard error is known."""
    S, p = 400, 0.2
    table = CategoricalTable((np.arange(S) < p * S).astype(int)[:, None], sizes=[2])
    model = LatentClassModel([1.0], [[[1 - p], [p]]])
    draws = [d for d, _ in resample(lambda rows: refit_by_em(rows, table, model), S, n_draws=1000, random_state=0)]
    found = ModelBootstrap(model, tuple(draws), observations(table, model), S)
    spread = np.std([draw.stacked[1, 0] for draw in found.draws])
    assert spread == pytest.approx(np.sqrt(p * (1 - p) / S), rel=0.08)
    low, high = found.cell_intervals(0.9)
    assert high[1, 0] - low[1, 0] == pytest.approx(2 * 1.645 * np.sqrt(p * (1 - p) / S), rel=0.08)
    estimate, below, above = found.interval(lambda m: m.stacked[1], 0.9)
    assert estimate == pytest.approx([p])
    assert np.concatenate([below, above]) == pytest.approx([low[1, 0], high[1, 0]], abs=0.006)


def test_observations_are_counted_softly():
    table = CategoricalTable([[0, 1], [1, -1], [0, 0]], sizes=[2, 2])
    model = LatentClassModel([0.6, 0.4], [[[0.9, 0.3], [0.1, 0.7]], [[0.8, 0.2], [0.2, 0.8]]])
    Q, counts = model.posterior(table), observations(table, model)
    assert np.allclose(counts[:2], Q.sum(axis=0)) and np.allclose(counts[2:], Q[[0, 2]].sum(axis=0))
