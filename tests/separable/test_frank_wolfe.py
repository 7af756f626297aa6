"""MERIT: against the dense version, its integers, its stopping rules, published levels, bad input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from cofactor import ConvergenceWarning, simulate
from cofactor.core.errors import CofactorError
from cofactor.core.simplex import spa
from cofactor.separable import merit
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.merit import LANES, _lane_minima, _selected, descend
from tests.each import each
from tests.oracles.generators import laws, seeds
from tests.oracles.merit import dense_merit


def problem(seed, M=None, N=None, K=3, noise=0.05):
    rng = np.random.default_rng(seed)
    M, N = M or int(rng.integers(4, 12)), N or int(rng.integers(6, 60))
    H = np.hstack([np.eye(K), rng.dirichlet(np.ones(K), N - K).T])
    return rng.random((M, K)) @ H + noise * rng.standard_normal((M, N))


def blurred_start(X, K=3):
    """Simplex least squares on SPA's anchors, moved off exact fits."""
    N, anchors = X.shape[1], spa(X, K)
    C0 = np.zeros((N, N))
    C0[anchors] = 0.9 * simplex_least_squares(X[:, anchors], X) + 0.1 / K
    return C0


# ---- the dense version ----


@each("seed, lam, objective", product(range(4), [0.0, 1e-6, 0.3, 2.0], ["full", "half"]))
def test_equals_the_dense_version(seed, lam, objective):
    X, T = problem(seed), 10 + 12 * seed
    for C0, t in ((None, None), (blurred_start(X), 4)):
        C, values, gaps = dense_merit(X, lam, 1e-5, T, objective == "full", C0, t or 0)
        fit = merit(X, 3, lam, n_iter=T, objective=objective, init=C0, t_init=t)
        assert np.abs(fit.coefficients.toarray() - C).max() <= 1e-12
        assert np.abs(fit.scores - C.max(axis=1)).max() <= 1e-12
        assert np.allclose(fit.result.objective, values, rtol=1e-12)
        assert np.allclose(fit.result.gap[1:], gaps[1:], rtol=1e-9, atol=1e-12 * values[0])


@laws
@given(seed=seeds)
def test_a_blunt_penalty_equals_the_dense_version_too(seed):
    """With mu of the size of the entries, every entry of a row is penalised and not only its peak."""
    X = problem(seed)
    C0 = blurred_start(X)  # from C = 0 rows with equal entries tie, and the order of sums decides
    fit = merit(X, 3, 0.5, mu=0.05, init=C0, t_init=2)
    assert np.abs(fit.coefficients.toarray() - dense_merit(X, 0.5, 0.05, C0=C0, t_init=2)[0]).max() <= 1e-12


@pytest.mark.slow
def test_equals_the_dense_version_over_several_tiles_and_blocks():
    for M in (3, 20):
        X = problem(7, M=M, N=2300)
        C = dense_merit(X, 0.4, n_iter=3)[0]
        assert np.abs(merit(X, 3, 0.4, n_iter=3).coefficients.toarray() - C).max() <= 1e-12


@laws
@given(seed=seeds)
def test_entries_of_a_cold_run_are_whole_multiples(seed):
    T = 17
    parts = merit(problem(seed), 3, 0.3, n_iter=T).coefficients.data * T * (T + 1) / 2
    assert np.abs(parts - np.round(parts)).max() <= 1e-9 and parts.min() > 0.5


@laws
@given(seed=seeds)
def test_columns_stay_on_the_simplex_and_the_gap_bounds_the_error(seed):
    X = problem(seed)
    fit = merit(X, 3, 0.3, n_iter=40)
    assert np.allclose(fit.coefficients.sum(axis=0), 1, atol=1e-12)
    lower = (fit.result.objective[:-1] - fit.result.gap[1:]).max()
    assert lower <= merit(X, 3, 0.3, n_iter=400).result.objective[-1]


# ---- choices that must not matter ----


@pytest.mark.slow
def test_single_precision_picks_the_same():
    for seed, lam in product(range(5), [0.0, 0.3, "msr"]):
        X = problem(seed, M=30, N=700, K=12)
        lam = merit(X, 12, n_iter=1).lam if lam == "msr" else lam
        one, two = (descend(X, None, 0, lam, 1e-5, 60, dtype=kind)[0] for kind in (np.float32, np.float64))
        assert (one.to_sparse() != two.to_sparse()).nnz == 0


def test_single_precision_decides_what_only_double_precision_can_see():
    """Columns that differ by 1e-7: rough scores fall in another order, the pick does not change."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((50, 12)), 40, axis=1) * (1 + 1e-7 * rng.random((50, 480)))
    first = np.argmax(X.T @ X, axis=0)
    assert np.array_equal(merit(X, 3, 0.0, n_iter=1).coefficients.indices, first)


@pytest.mark.slow
@each("kind", [np.float32, np.float64])
def test_ties_go_to_the_lowest_index_at_any_number_of_threads(kind):
    X = np.tile(problem(3, M=12, N=500), 4)[:, :1700]
    fits = [descend(X, None, 0, 0.1, 1e-5, 25, dtype=kind, n_jobs=n)[0].to_sparse() for n in (1, 2, 3)]
    assert all((fits[0] != other).nnz == 0 for other in fits[1:])
    copies = merit(X, 3, 0.0, n_iter=20, n_jobs=2, merge_duplicates=False).coefficients
    assert copies.indices.max() < 500


@each("scale, init", product([2.0**-498, 1e-150, 1e-3, 8.0, 1e150], [None, "spa"]))
def test_units_and_storage_do_not_matter(scale, init):
    X = problem(5)
    fit, scaled = merit(X, 3, init=init, t_init=3), merit(sparse.csc_array(scale * X), 3, init=init, t_init=3)
    assert np.array_equal(scaled.anchors, fit.anchors)
    assert np.allclose(scaled.scores, fit.scores, atol=1e-9)
    assert np.allclose(scaled.result.objective / scale / scale, fit.result.objective, rtol=1e-9)
    if scale == 8:  # the weight and the gap are in units of squares of X
        fit = merit(X, 3, 0.01, n_iter=5000, gap_abs=0.5)
        scaled = merit(scale * X, 3, 0.01 * scale**2, n_iter=5000, gap_abs=0.5 * scale**2)
        assert (scaled.coefficients != fit.coefficients).nnz == 0 and scaled.result.n_iter == fit.result.n_iter > 2


# ---- starts and stops ----


def test_full_is_half_with_half_the_penalty():
    X = problem(1)
    full, half = merit(X, 3, 0.4, objective="full"), merit(X, 3, 0.2, objective="half")
    assert (full.coefficients != half.coefficients).nnz == 0
    assert np.allclose(full.result.objective, 2 * half.result.objective, rtol=1e-13)
    assert merit(X, 3, "msr").lam == pytest.approx(2 * merit(X, 3, "msr", objective="half").lam)


@each("N", [None, 4])
def test_the_penalty_by_rule(N):
    X = 3 * problem(2, N=N)
    anchors = spa(X, 3)
    rest = np.sum((X - X[:, anchors] @ simplex_least_squares(X[:, anchors], X)) ** 2)
    assert merit(X, 3, "msr").lam == pytest.approx(1.5 * rest / (X.shape[1] - 3), rel=1e-12)
    assert merit(X, 3, "paper").lam == pytest.approx(np.sqrt(rest) / 3, rel=1e-12)


def test_starts_from_spa_at_the_t_of_its_error():
    X = problem(4, noise=0.03)
    anchors = spa(X, 3)
    C0 = np.zeros((X.shape[1],) * 2)
    C0[anchors] = simplex_least_squares(X[:, anchors], X)
    t = round(1 / np.sqrt(np.mean(np.sum((X - X @ C0) ** 2, axis=0))))
    assert t > 3
    given_start = merit(X, 3, 0.1, init=sparse.csr_array(C0), t_init=t, n_iter=20)
    assert (merit(X, 3, 0.1, init="spa", n_iter=20).coefficients != given_start.coefficients).nnz == 0


def test_an_exact_start_is_returned():
    X = problem(4, noise=0.0)
    fit = merit(X, 3, 0.1, init="spa")
    assert fit.result.n_iter == 0 and fit.result.converged and "no step was taken" in fit.result.reason
    assert np.allclose(X @ fit.coefficients, X) and set(fit.anchors) == {0, 1, 2}


def test_a_column_without_residual_stays_where_it_is():
    """In exact arithmetic every row costs such a column the same; rounding must not move it."""
    X = problem(6)
    anchors = spa(X, 3)
    C = merit(X, 3, 0.0, init="spa", t_init=2, n_iter=30).coefficients.toarray()
    assert np.allclose(C[:, anchors][anchors], np.eye(3), rtol=0, atol=1e-12)


def test_stops_where_the_gap_is_within_a_tolerance_and_says_where_it_is_not():
    X = problem(8)
    fit = merit(X, 3, 0.01, n_iter=5000, tol=1e-2)
    assert fit.result.converged and 2 < fit.result.n_iter < 5000
    assert fit.result.gap[-1] <= 1e-2 * np.sum(X**2) < fit.result.gap[1:-1].min()
    assert merit(X, 3, 0.01, gap_abs=1e9).result.n_iter == 2  # the first step has no gap
    fit = merit(X, 3, 0.01, n_iter=5000, gap_abs=0.5)
    assert fit.result.gap[-1] <= 0.5 < fit.result.gap[1:-1].min()
    assert merit(X, 3, 0.005, n_iter=5000, gap_abs=0.25, objective="half").result.n_iter == fit.result.n_iter
    with pytest.warns(ConvergenceWarning, match="did not reach the tolerance within 5 steps"):
        assert not merit(X, 3, 0.01, n_iter=5, tol=1e-9).result.converged
    assert merit(X, 3, 0.01, n_iter=5).result.converged


# ---- the default penalty ----


@pytest.mark.slow
def test_the_default_penalty_holds_where_that_of_the_paper_fails():
    truth = [simulate.dirichlet_mixtures(20, 500, 10, 15, random_state=seed) for seed in range(5)]
    hits = {lam: np.mean([np.isin(merit(t.X, 10, lam).anchors, t.anchors) for t in truth]) for lam in ("msr", "paper")}
    assert hits["msr"] >= 0.95 > hits["paper"] + 0.3


# ---- bad input ----


@each(
    "settings, message",
    [
        ({"n_anchors": 41}, "n_anchors=41: X has 40 columns"),
        ({"n_anchors": 0}, "n_anchors=0"),
        ({"n_anchors": 2.5}, "n_anchors=2.5: X has 40 columns"),
        ({"n_anchors": "3"}, "n_anchors='3'"),
        ({"lam": -0.1}, "lam=-0.1: must be"),
        ({"lam": np.nan}, "lam=nan"),
        ({"lam": "best"}, "lam='best'"),
        ({"lam": np.array([1.0, 2.0])}, "lam=array"),
        ({"mu": "small"}, "mu='small'"),
        ({"mu": 0.0}, "mu=0.0: give a positive number"),
        ({"n_iter": 0}, "n_iter=0"),
        ({"n_iter": 1.5}, "n_iter=1.5: give a whole number of at least 1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"t_init": 0, "init": "spa"}, "t_init=0"),
        ({"gap_abs": "small"}, "tolerances must be nonnegative"),
        ({"tol": -1.0}, "tolerances must be nonnegative"),
        ({"init": "random"}, "init='random'"),
        ({"init": np.eye(3)}, r"init has shape \(3, 3\), but X has 40 columns"),
        ({"init": np.full((40, 40), 0.1)}, r"init is not on the simplex in 40 columns \(0, 1, 2"),
        ({"init": 2 * np.eye(40) - 1 / 40}, "not on the simplex"),
        ({"objective": "third"}, "objective='third'"),
        ({"select": "best"}, "select='best'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(CofactorError, match=message):
        merit(problem(0, N=40), **{"n_anchors": 3, **settings})


# ---- which rows are taken ----


@each("seed", range(3))
def test_copies_of_one_anchor_do_not_crowd_out_another(seed):
    rng, K = np.random.default_rng(seed), 6
    W = rng.dirichlet(np.full(20, 0.5), K).T
    anchor = np.append(np.repeat(np.arange(K), 8), np.full(60, -1))
    X = np.hstack([W[:, anchor[:48]], W @ rng.dirichlet(np.ones(K), 60).T])
    X += 0.005 * rng.standard_normal(X.shape)
    met = {how: set(anchor[merit(X, K, 1e-6, select=how).anchors]) for how in ("top", "spa", "auto")}
    assert len(met["top"]) < K
    assert met["spa"] == met["auto"] == set(range(K))


def test_largest_scores_are_taken_where_spread_rows_fit_no_better():
    X = simulate.midpoint_mixtures(50, 10, 11.0, random_state=1).X
    top, spread, chosen = (merit(X, 10, select=how).anchors.tolist() for how in ("top", "spa", "auto"))
    assert top == chosen != spread


def test_spa_chooses_among_three_times_as_many_as_are_asked_for_where_these_are_few():
    X = np.eye(2)[:, np.arange(30) % 2] * np.where(np.arange(30) == 6, 9.0, 1.0)  # the seventh is the longest by far
    scores = np.linspace(1, 0, 30)
    assert set(_selected(X, scores, 2, "spa")) <= set(range(6))
    X[:, [5, 6]] = X[:, [6, 5]]
    assert 5 in _selected(X, scores, 2, "spa")


def test_minima_of_lanes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for size in (1, LANES, 8 * LANES, 8 * LANES + 3, 25 * LANES + 1):
        scores, lanes = rng.standard_normal(size).astype(np.float32), np.empty(LANES, np.float32)
        assert _lane_minima(scores, lanes) == scores.min(), size
        assert lanes.tolist() == [scores[i::LANES].min(initial=np.inf) for i in range(LANES)], size
