"""The report before anchors are chosen: what is wrong is named, and the methods agree with it."""

import sys

import numpy as np
import pytest
from scipy import sparse

from cofactor import CofactorError, separable, simulate
from cofactor.separable import diagnose

PROBLEM = simulate.dirichlet_mixtures(30, 150, 5, snr_db=30, random_state=0)
METHODS = {name: separable.METHODS[name] for name in ("SPA", "MERIT", "FastGradient", "XRAY", "FastAnchor")}


def changed(change):
    X = PROBLEM.X.copy()
    change(X)
    return X


def test_a_sound_matrix_passes():
    report = diagnose(np.abs(PROBLEM.X))
    assert report.status == "pass", report
    assert report.verdict == "no method is ruled out"
    assert report["condition of the anchors"].value == f"{np.linalg.cond(np.abs(PROBLEM.X)[:, PROBLEM.anchors]):.3g}"


def test_a_column_that_is_nothing_beside_the_others_is_zero():
    X = np.abs(PROBLEM.X) + 0.1
    X[:, 7] = 1e-20
    assert diagnose(X)["zero columns"].value == "1: 7"


@pytest.mark.parametrize("exponent", [-1000, 1023])
def test_the_unit_makes_no_difference(exponent):
    X = np.abs(PROBLEM.X) / np.abs(PROBLEM.X).max()
    assert diagnose(np.ldexp(X, exponent)).checks == diagnose(X).checks


@pytest.mark.parametrize("K", [2, 5, 10])
@pytest.mark.parametrize("snr", [None, 20])
def test_suggests_the_number_of_anchors(K, snr):
    X = simulate.dirichlet_mixtures(40, 300, K, snr_db=snr, random_state=K).X
    check = diagnose(X)["number of anchors"]
    assert check.status == "pass" and check.value.startswith(f"{K} suggested")
    other = diagnose(X, n_anchors=K + 1)["number of anchors"]
    assert other.status == "warn" and other.value.startswith(f"{K + 1} asked for")


def test_noise_without_anchors_is_told():
    check = diagnose(np.random.default_rng(0).standard_normal((30, 200)))["number of anchors"]
    assert check.status == "warn" and "no clear drop" in check.advice


def test_the_number_is_that_of_suggest_n_anchors_in_high_dimensions_too():
    """With more rows than anchors are tried, the last one tried is not taken for the last there is."""
    X = simulate.dirichlet_mixtures(230, 240, 6, snr_db=10, random_state=0).X
    k, margin = separable.suggest_n_anchors(X)
    assert k < 200 and diagnose(X)["number of anchors"].value == f"{k} suggested, by a margin of {margin:.2f}"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_fail_and_every_method_refuses(value):
    def spoil(X):
        X[2, [3, 7]] = value

    report = diagnose(changed(spoil))
    assert report.status == "fail" and report["finite"].value == "NaN or infinity in columns 3, 7"
    assert report.verdict == "no method can find anchors (finite)"
    for method in METHODS.values():
        with pytest.raises(CofactorError, match="NaN or infinity"):
            method(5).fit(changed(spoil))


def test_nothing_but_zeros_fails_and_no_method_finds_an_anchor():
    report = diagnose(np.zeros((4, 6)))
    assert report["zero columns"].status == "fail" and report.verdict == "no method can find anchors (zero columns)"
    for method in METHODS.values():
        with pytest.raises(CofactorError):
            method(2).fit(np.zeros((4, 6)))


def test_zero_columns_are_named_and_change_nothing_else():
    X = np.insert(PROBLEM.X, [0, 80], 0.0, axis=1)
    report, before = diagnose(X), diagnose(PROBLEM.X)
    assert (report["zero columns"].status, report["zero columns"].value) == ("warn", "2: 0, 81")
    for name in ("number of anchors", "condition of the anchors"):
        assert report[name] == before[name]


def test_equal_columns_are_named():
    def repeat(X):
        X[:, 9] = X[:, 4]

    check = diagnose(changed(repeat))["equal columns"]
    assert (check.status, check.value) == ("warn", "1 group: (4, 9)")


def test_columns_of_different_size_are_told():
    sizes = np.random.default_rng(0).uniform(1, 100, PROBLEM.X.shape[1])
    assert diagnose(np.abs(PROBLEM.X) * sizes)["scale"].status == "warn"
    assert diagnose(np.abs(PROBLEM.X))["scale"].status == "pass"


def test_sums_of_columns_with_negative_entries_are_not_compared():
    X = np.abs(PROBLEM.X) * np.random.default_rng(0).uniform(1, 100, PROBLEM.X.shape[1])
    X[0, :15] *= -1
    check = diagnose(X)["scale"]
    assert (check.status, check.value) == ("pass", f"{15 / X.size:.1%} of the entries are negative")


def test_anchors_that_nearly_mix_into_one_another_are_told():
    W = np.random.default_rng(0).random((30, 4))
    W[:, 3] = W[:, :3].mean(axis=1) + 1e-4 * W[:, 3]
    H = np.hstack([np.eye(4), np.random.default_rng(1).dirichlet(np.ones(4), 50).T])
    assert diagnose(W @ H, n_anchors=4)["condition of the anchors"].status == "warn"


def test_too_few_anchors_leave_much():
    X = PROBLEM.X
    enough, few = diagnose(X, 5)["residual"], diagnose(X, 2)["residual"]
    assert enough.status == "pass" and few.status == "warn"
    assert float(enough.value.split("%")[0]) < 5 < float(few.value.split("%")[0])


def test_more_anchors_than_directions_are_told():
    X = simulate.dirichlet_mixtures(5, 60, 8, snr_db=30, random_state=0).X
    assert diagnose(X, 8)["number of anchors"].value == "8 asked for, 5 found"


def test_memory_beyond_what_is_free_is_told(monkeypatch):
    module = sys.modules["cofactor.separable.diagnose"]  # the package's attribute of this name is the function
    monkeypatch.setattr(module, "available_bytes", lambda: 1e6)
    check = diagnose(PROBLEM.X)["memory"]
    assert check.status == "warn" and "MERIT" in check.advice


def test_sparse_and_dense_get_the_same_report():
    X = np.where(np.abs(PROBLEM.X) < 0.1, 0.0, PROBLEM.X)
    assert diagnose(sparse.csr_array(X)).checks == diagnose(X).checks


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((0, 4)), np.ones((1, 1))])
def test_matrices_of_no_use_are_refused_or_reported(X):
    if X.size == 1:
        assert diagnose(X)["number of anchors"].status == "warn"
        return
    with pytest.raises(CofactorError, match="non-empty matrix"):
        diagnose(X)


@pytest.mark.parametrize("n_anchors", [0, 151])
def test_a_number_of_anchors_out_of_range_is_refused(n_anchors):
    with pytest.raises(CofactorError, match="n_anchors="):
        diagnose(PROBLEM.X, n_anchors)


def test_equal_columns_are_named_ten_a_group_at_most():
    X = np.random.default_rng(0).random((5, 40))
    X[:, :30] = X[:, :1]
    value = diagnose(X, 3)["equal columns"].value
    assert value.startswith("1 group: (0, 1, 2,") and "(30 in all)" in value and value.count(",") < 12
