"""Memory: what is predicted is what fresh processes take, and what would not fit is refused."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from cofactor import simulate
from cofactor.core import checks
from cofactor.core.errors import CofactorError
from cofactor.separable import METHODS, geo_nmf, predicted_bytes, spoc
from cofactor_app.peak import CLEAR_REFS, measure_peak
from tests.each import each

linux = pytest.mark.skipif(not CLEAR_REFS.exists(), reason="only Linux tells the peak")
MEGABYTE = 1e6


def points(n_points, n_rows=50):
    return np.random.default_rng(0).random((n_rows, n_points))


def grown(method, n_points, **settings):
    """Return by how many MB a call grew a fresh process."""
    warm = {"X": points(300), "n_anchors": 5, **settings}
    arguments = {"X": points(n_points), "n_anchors": 40, **settings}
    figures = measure_peak(f"cofactor.separable:{method}", warm=warm, **arguments)
    return figures["peak_mb"] - figures["base_mb"]


@pytest.mark.slow
@linux
def test_merit_takes_what_was_predicted_and_no_square():
    _, small, large = (grown("merit", N, n_iter=5, n_jobs=1) for N in (300, 1_000, 10_000))  # the first may compile
    predicted = [predicted_bytes("MERIT", 50, N, 40, 5) / MEGABYTE for N in (1_000, 10_000)]
    assert large - small == pytest.approx(predicted[1] - predicted[0], rel=0.3)
    assert large < 0.1 * 8 * 10_000**2 / MEGABYTE


@pytest.mark.slow
@linux
@each(
    "function, name, N, settings",
    [
        ("fast_gradient", "FastGradient", 2_500, {"max_iter": 3}),
        ("xray", "XRAY", 20_000, {}),
        ("fast_anchor", "FastAnchor", 20_000, {}),
    ],
)
def test_rivals_take_what_was_predicted(function, name, N, settings):
    assert grown(function, N, **settings) == pytest.approx(predicted_bytes(name, 50, N, 40) / MEGABYTE, rel=0.25)


def test_predictions_follow_the_formulas():
    def ratio(method):
        return predicted_bytes(method, 50, 200_000, 40) / predicted_bytes(method, 50, 100_000, 40)

    assert ratio("MERIT") == pytest.approx(2, abs=0.05) and ratio("FastGradient") == pytest.approx(4, abs=0.05)
    assert predicted_bytes("MERIT", 50, 100_000, 20, 20) < 400 * MEGABYTE
    assert predicted_bytes("MERIT", 50, 1000, 5, 100) > predicted_bytes("MERIT", 50, 1000, 5, 10)
    for rows, tile in ((16, 384 * 1024), (15, 32 * 2048)):  # a tile of scores however few points there are
        assert 4 * tile < predicted_bytes("MERIT", rows, 1, 1) < 4 * tile + 2000
    assert predicted_bytes("FastAnchor", 50, 1000, 5) == 4 * 8 * 50 * 1000
    assert predicted_bytes("SPA", 50, 1000, 5) == 2 * 8 * 50 * 1000 + 8 * (5 * 50 + 3 * 1000)
    assert predicted_bytes("FastAnchor", 2000, 1000, 5) == 4 * 8 * 1000 * 1000 + 8 * 2000 * 1000
    few, many = (predicted_bytes("GeoNMF", 50, 1000, K) for K in (10, 20))
    assert many - few == 8 * 3 * 10 * 1000
    sizes = (50, 2_000_000_000, 5)  # integers of any kind
    assert predicted_bytes("FastGradient", *np.array(sizes)) == predicted_bytes("FastGradient", *sizes) > 2**63
    with pytest.raises(CofactorError, match="method='LDA'"):
        predicted_bytes("LDA", 1, 1, 1)


@pytest.mark.slow
@each("name, method", [("SPOC", spoc), ("GeoNMF", geo_nmf)])
def test_graph_methods_take_no_more_than_was_predicted(name, method):
    i, j = np.random.default_rng(0).integers(5000, size=(2, 50_000))
    A = sparse.csr_array((np.ones(50_000), (i, j)), shape=(5000, 5000))
    A = sparse.csr_array(A + A.T)
    A.setdiag(0)
    method(A, 3)  # what it imports does not count
    tracemalloc.start()
    method(A, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.4 < peak / predicted_bytes(name, round(A.nnz / 5000), 5000, 3) < 1.2


def test_fast_gradient_refuses_what_does_not_fit(monkeypatch):
    monkeypatch.setattr(checks, "available_bytes", lambda: 1e6)
    needed = predicted_bytes("FastGradient", 50, 300, 5)
    with pytest.raises(
        CofactorError, match=rf"on 300 points would take 0.0 GB \({needed} bytes\), but only 0.0 GB are free: use merit"
    ):
        METHODS["FastGradient"](5).fit(points(300))
    assert METHODS["MERIT"](5).fit(points(300)).anchors_.size == 5


@each(
    "method, place, value", product(["SPA", "MERIT", "FastGradient"], range(4), [-1, 0, 2.5, np.nan, "7", None, True])
)
def test_names_the_size_that_is_no_whole_number(method, place, value):
    sizes = {"n_rows": 5, "n_points": 6, "n_anchors": 2, "max_iter": 3}
    name = list(sizes)[place]
    with pytest.raises(CofactorError, match=f"{name}={value!r}: give a whole number of at least 1"):
        predicted_bytes(method, **sizes | {name: value})


def test_says_what_is_free(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    monkeypatch.setattr(checks, "MEMINFO", tmp_path / "meminfo")
    assert checks.available_bytes() == 2048 * 1024
    monkeypatch.setattr(checks, "MEMINFO", tmp_path / "nothing")
    assert checks.available_bytes() > 1e8


def test_what_is_free_is_what_the_limits_of_a_container_and_of_the_process_leave(monkeypatch, tmp_path):
    limit, stat = tmp_path / "limit", tmp_path / "stat"
    stat.write_text("cache 9\nanon 1000\n")
    monkeypatch.setattr(checks, "GROUPS", [(limit, stat, "anon")])
    for told, left in [("5000", 4000), ("900", 0)]:
        limit.write_text(told)
        assert checks.available_bytes() == left
    for told in ("max\n", ""):
        limit.write_text(told)
        assert checks.available_bytes() > 1e8
    resource = pytest.importorskip("resource")
    (tmp_path / "statm").write_text("3 1 1")
    monkeypatch.setattr(checks, "PROCESS", tmp_path / "statm")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (5 * resource.getpagesize(), -1))
    assert checks.available_bytes() == 2 * resource.getpagesize()


def test_lists_grow_only_as_far_as_columns_need():
    truth = simulate.dirichlet_mixtures(20, 300, 10, 10.0, random_state=0)
    fit = METHODS["MERIT"](10, max_iter=200).fit(truth.X).model_
    assert fit.result.nnz[-1] == fit.coefficients.nnz < 0.3 * 300 * 200
