"""Odd data: copies, zeros, repeats, one point, more anchors than rows, numbers of anchors not known."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import CofactorError, DataWarning, simulate
from cofactor.separable import METHODS, diagnose, lone_columns, merit, suggest_n_anchors
from cofactor.separable.columns import same_columns
from cofactor.separable.methods import OF_POINTS
from tests.each import each
from tests.oracles.generators import laws, seeds

EVERY = [name for name in OF_POINTS if name != "ProjectedSPA"]  # whose anchors are columns of projections


def mixtures(seed=0, M=20, N=60, K=5, snr_db=25.0):
    return simulate.dirichlet_mixtures(M, N, K, snr_db, random_state=seed)


# ---- copies ----


def test_copies_are_merged_and_reported():
    X = mixtures().X
    copied = np.hstack([X, X[:, [3, 3, 7]] * (1 + 1e-12)])
    fit, plain = merit(copied, 5), merit(X, 5)
    assert [group.tolist() for group in fit.duplicates] == [[3, 60, 61], [7, 62]]
    assert np.array_equal(fit.anchors, plain.anchors)
    C = fit.coefficients.toarray()
    assert np.array_equal(C[:, 60], C[:, 3]) and np.array_equal(C[:, 62], C[:, 7])
    assert not C[60:].any() and not fit.scores[60:].any()
    assert np.array_equal(C[:60, :60], plain.coefficients.toarray())
    assert merit(copied, 5, merge_duplicates=False).duplicates == []


def test_merged_copies_leave_rounding_nothing_to_decide():
    """The same anchors under relative changes of 1e-13, in every trial."""
    X = np.repeat(mixtures(1, M=6).X, 3, axis=1)
    fit = merit(X, 5, 1e-6)
    rng = np.random.default_rng(0)
    for _ in range(10):
        shaken = X * (1 + 1e-13 * rng.standard_normal(X.shape))
        assert np.array_equal(merit(shaken, 5, 1e-6).anchors, fit.anchors)


@laws
@given(seed=seeds)
def test_finds_groups_of_equal_columns(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 8, 20)
    X = rng.standard_normal((4, 8))[:, kinds] * (1 + 1e-13 * rng.standard_normal((4, 20)))
    first, groups = same_columns(X)
    assert np.array_equal(first, [np.flatnonzero(kinds == kind)[0] for kind in kinds])
    assert sorted(map(len, groups)) == sorted(c for c in np.bincount(kinds) if c > 1)


def test_columns_that_only_look_alike_along_one_direction_stay_apart():
    v = np.sin(np.arange(1, 4))
    across = np.array([v[1], -v[0], 0.0])
    X = np.stack([np.ones(3), np.ones(3) + across, np.ones(3) + 2e-9], axis=1)
    assert same_columns(X)[1] == []


# ---- zeros and shapes ----


@each("method", EVERY)
def test_columns_of_zeros_are_left_out_with_a_warning(method):
    X = mixtures().X
    with pytest.warns(DataWarning, match=r"2 columns of X are zero \(0, 11\)"):
        fit = METHODS[method](5, random_state=0).fit(np.insert(X, [0, 10], 0.0, axis=1)).model_
    kept = np.delete(np.arange(62), [0, 11])
    plain = METHODS[method](5, random_state=0).fit(X).model_
    assert np.array_equal(fit.anchors, kept[plain.anchors])
    if fit.coefficients is not None:
        assert fit.coefficients.shape == (62, 62) and not fit.coefficients[:, [0, 11]].nnz
        assert np.array_equal(fit.coefficients.toarray()[np.ix_(kept, kept)], plain.coefficients.toarray())


@each("method", OF_POINTS)
def test_one_point_one_row_and_every_point_an_anchor(method):
    assert METHODS[method](1).fit(np.array([[2.0], [1.0]])).anchors_.tolist() == [0]
    if method in ("SPA", "MERIT", "MERIT(0)", "FastGradient"):
        found = METHODS[method](2).fit(np.array([[0.5, 3.0, 1.0, 2.0]])).anchors_
        assert found.size == 2 and 1 in found
    if method != "MERIT(0)":
        X = np.random.default_rng(0).random((6, 4))
        assert sorted(METHODS[method](4).fit(X).anchors_.tolist()) == [0, 1, 2, 3]


def test_more_anchors_than_rows():
    truth = simulate.dirichlet_mixtures(30, 150, 40, 25.0, random_state=0)
    found = merit(truth.X, 40).anchors
    assert np.isin(found, truth.anchors).mean() >= 0.9
    assert METHODS["SPA"](40).fit(truth.X).anchors_.size == 40


# ---- how many ----


@pytest.mark.slow
@each("K, snr", [(3, 20), (5, 20), (10, 20), (2, None), (6, 30)])
def test_the_number_of_anchors_is_suggested_by_one_rule(K, snr):
    X = mixtures(K, M=50, N=200, K=K, snr_db=snr).X
    known, unknown = merit(X, K), merit(X)
    assert (unknown.n_suggested, unknown.margin) == suggest_n_anchors(X) == (known.n_suggested, known.margin)
    assert unknown.anchors.size == K and unknown.margin > 0.5
    assert np.array_equal(unknown.anchors, known.anchors) and unknown.lam == known.lam
    assert METHODS["SPA"]().fit(X).anchors_.size == K
    check, other = (diagnose(X, number)["number of anchors"] for number in (None, K + 1))
    assert check.status == "pass" and check.value.startswith(f"{K} suggested")
    assert other.status == "warn" and other.value.startswith(f"{K + 1} requested")


@pytest.mark.slow
@each("K", [3, 5, 10])
def test_few_anchors_in_much_noise_are_counted_or_the_doubt_is_said(K):
    """At 10 dB: mostly right, and hardly ever wrong without a word."""
    found = [suggest_n_anchors(mixtures(seed, M=50, N=200, K=K, snr_db=10.0).X) for seed in range(20)]
    right = np.array([k == K for k, _ in found])
    sure = np.array([margin >= 0.5 for _, margin in found])
    assert right.sum() >= 12 and np.sum(sure & ~right) <= 1


def spoiled(kind, X, rng):
    """Make one column, which is no anchor, an outlier of this kind."""
    X = X.copy()
    X[:, 7] = {
        "spectrum": rng.random(len(X)) * X.max(),
        "hot entry": X[:, 7] + 5 * X.max() * (np.arange(len(X)) == 3),
        "glint": 10 * X[:, 7],
    }[kind]
    return X


@pytest.mark.slow
def test_outliers_are_named_and_not_counted():
    for kind in ("spectrum", "hot entry", "glint"):
        for seed, K in enumerate([3, 4, 6, 8]):
            drawn = mixtures(seed, M=50, N=200, K=K, snr_db=25.0)
            order = np.argsort(np.isin(np.arange(200), drawn.anchors), kind="stable")  # anchors come last
            X, anchors = spoiled(kind, drawn.X[:, order], np.random.default_rng(seed)), np.arange(200 - K, 200)
            assert lone_columns(X).tolist() == lone_columns(X, K).tolist() == [7]
            k, margin = suggest_n_anchors(X)
            assert k == K and margin > 0.5
            for name in ("SPA", "MERIT") if K == 3 else ():
                with pytest.warns(DataWarning, match="columns 7 would be anchors of themselves only"):
                    fitted = METHODS[name]().fit(X)
                assert sorted(fitted.anchors_.tolist()) == anchors.tolist() and fitted.scores_[7] == 0
                assert (fitted.scores_[anchors] > 0).all()


def test_a_pure_column_of_which_others_hold_something_is_not_an_outlier():
    rng = np.random.default_rng(0)
    H = np.hstack([np.eye(4), rng.dirichlet(np.ones(4), 196).T * [[0.4], [1], [1], [1]]])
    X = rng.random((50, 4)) @ (H / H.sum(axis=0))
    assert not lone_columns(X + 0.003 * rng.standard_normal(X.shape)).size
    assert not lone_columns(X[:, :9]).size  # too few columns to tell


def test_anchors_that_lead_no_column_by_chance_are_not_lone():
    """Of 40 anchors with four mixtures each some lead none; their weight in others tells them from lone ones."""
    found = [suggest_n_anchors(mixtures(seed, M=50, N=200, K=40, snr_db=20.0).X)[0] for seed in range(8)]
    assert sum(k == 40 for k in found) >= 6


def test_a_number_is_not_clear_where_more_than_noise_is_left():
    """Two strong directions and one weak one: the largest drop is behind the second, and says nothing of the third."""
    for weak, least, most in ((0.003, 0.0, 0.0), (0.00015, 0.1, 0.5), (0.0, 0.9, 1.0)):
        rng = np.random.default_rng(0)
        W = rng.random((40, 1)) + np.array([0.0, 0.3, weak]) * rng.standard_normal((40, 3))
        X = W @ np.hstack([np.eye(3), rng.dirichlet(np.ones(3), 297).T])
        k, margin = suggest_n_anchors(X + 2e-4 * rng.standard_normal(X.shape))
        assert k == 2 and least <= margin <= most


def test_an_unclear_number_is_a_warning():
    X = np.random.default_rng(0).standard_normal((30, 9))
    with pytest.warns(DataWarning, match="the suggested number of anchors, .* try several numbers, or set n_anchors"):
        assert merit(X).margin < 0.5
    merit(X, 5)  # whoever gives the number is not warned


def test_counts_by_the_residuals_of_spa():
    """Orthogonal columns of lengths 4, 3, 2, 0.5 and mixtures of them: squares 16, 9, 4, 0.25, factors 9/4 and 16."""
    X = np.diag([4.0, 3.0, 2.0, 0.5]) @ np.hstack([np.eye(4), np.full((4, 3), 0.25)])
    k, margin = suggest_n_anchors(X)
    assert k == 3 and margin == pytest.approx(1 - 9 / 4 / 16)
    assert suggest_n_anchors(X * 1e-200) == suggest_n_anchors(X * 1e200) == (k, pytest.approx(margin))


def test_the_margin_is_to_the_second_largest_factor_however_small():
    """Squares 9, 6.25, 4.84, 0.25: the factors are 6.25 / 4.84, below two, and 19.36."""
    X = np.diag([3.0, 2.5, 2.2, 0.5]) @ np.hstack([np.eye(4), np.full((4, 3), 0.25)])
    assert suggest_n_anchors(X) == (3, pytest.approx(1 - 6.25 / 4.84 / 19.36))


def test_counts_no_further_than_the_rank_nor_than_are_tried():
    assert suggest_n_anchors(np.outer([1.0, 2.0], [1.0, 0.5, 0.2])) == (1, 0.0)
    assert suggest_n_anchors([[0.7]]) == (1, 0.0)
    exact = mixtures(M=30, N=60, K=4, snr_db=None).X
    assert suggest_n_anchors(exact)[0] == 4
    assert suggest_n_anchors(mixtures(M=80, N=100, K=70, snr_db=30.0).X)[0] == 70
    high = mixtures(M=230, N=240, K=6, snr_db=10.0).X  # with more rows than anchors are tried
    k, margin = suggest_n_anchors(high)
    assert k < 200 and diagnose(high)["number of anchors"].value == f"{k} suggested, with a margin of {margin:.2f}"
    for X, message in (
        (np.zeros((0, 3)), "non-empty"),
        ([[0.5, np.nan]], "NaN"),
        (np.zeros((2, 3)), "all entries of X are zero"),
    ):
        with pytest.raises(CofactorError, match=message):
            suggest_n_anchors(X)
