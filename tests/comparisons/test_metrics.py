"""Errors, orders, planning, and the report before fitting."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

from cofactor import CofactorError, Comparisons, simulate
from cofactor.comparisons import (
    comparisons_needed,
    diagnose,
    expected_error,
    feature_error,
    ndcg,
    pair_accuracy,
    utility_error,
)
from cofactor.comparisons.diagnose import user_spans
from cofactor.comparisons.metrics import degrees_of_freedom, mean_information
from tests.comparisons.problems import drawn, few, truth
from tests.each import each


def test_utility_error_is_that_of_the_whole_matrices():
    rng = np.random.default_rng(0)
    U, V, A, B = (rng.standard_normal(shape) for shape in ((9, 2), (7, 2), (9, 3), (7, 3)))
    J = np.eye(7) - 1 / 7
    gap, size = np.linalg.norm((A @ B.T - U @ V.T) @ J), np.linalg.norm(U @ V.T @ J)
    assert utility_error(A, B, U, V) == pytest.approx(gap / size)
    assert utility_error(A, B, U, V, relative=False) == pytest.approx(gap)
    assert utility_error(U * (1 + 1e-13), V, U, V) == pytest.approx(1e-13, rel=0.05)


def test_feature_error_ignores_rotations_and_shifts_only():
    U, V = truth(n_users=9, n_items=7, rank=2)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    assert feature_error(U @ Q, V @ Q + 4.0, U, V) == pytest.approx(0, abs=1e-12)
    assert feature_error(2 * U, V / 2, U, V) > 0.1


@each("kind", [object, "str", "string", "category", "string[pyarrow]"])
def test_users_of_ndcg_may_have_any_ids(kind):
    rating, score = [3, 2, 1, 2, 0], [0.3, 0.4, 0.1, 0.4, 0.5]
    users = pd.Series(["b", "a", "b", "a", "a"], dtype=kind)
    assert ndcg(users, rating, score) == pytest.approx(ndcg([1, 0, 1, 0, 0], rating, score))
    users[2] = None
    with pytest.raises(CofactorError, match="rows 2 have no user: drop or fill them"):
        ndcg(users, rating, score)


def test_pair_accuracy_and_ndcg_by_hand():
    assert pair_accuracy([2, -1, 1], [1, 1, 0.3], counts=[1, 2, 1]) == 0.25
    with pytest.raises(CofactorError, match="every outcome is a tie"):
        pair_accuracy([1.0], [0.5])
    gains = 2.0 ** np.array([[3, 1, 2]]) - 1
    expected = (ndcg_score(gains, [[0.1, 0.5, 0.2]], k=2) + 1) / 2
    assert ndcg([5, 5, 5, 6, 6, 7], [3, 1, 2, 4, 1, 5], [0.1, 0.5, 0.2, 9, 1, 3], k=2) == pytest.approx(expected)
    with pytest.raises(CofactorError, match="no user has two rated items"):
        ndcg([0, 1], [1, 2], [1, 2])


def test_planning_is_its_own_inverse_and_knows_the_table():
    """200 x 300, rank 3, utilities of 0.571: measured errors 0.522, 0.257 and 0.092 at these sizes."""
    for m, error in ((40_000, 0.512), (160_000, 0.256), (1_280_000, 0.0905)):
        found = expected_error(m, 200, 300, 3, 0.571)
        assert found == pytest.approx(error, rel=0.01)
        assert comparisons_needed(found, 200, 300, 3, 0.571) == pytest.approx(m, abs=1)


@each("link", ["logistic", "probit"])
def test_mean_information_is_that_of_many_draws(link):
    z = np.sqrt(2) * 0.8 * np.random.default_rng(0).standard_normal(400_000)
    from cofactor.comparisons import LINKS

    assert mean_information(0.8, link) == pytest.approx(LINKS[link].information(z).mean(), rel=3e-3)


def test_degrees_of_freedom_are_the_rank_of_the_problem():
    """What moves utilities: the rank of the derivative of U V'J."""
    rng, (n1, n2, r) = np.random.default_rng(0), (5, 4, 2)
    U, V, J = rng.standard_normal((n1, r)), rng.standard_normal((n2, r)), np.eye(n2) - 1 / n2
    columns = [np.outer(e, V @ a) @ J for e in np.eye(n1) for a in np.eye(r)]
    columns += [np.outer(U @ a, e) @ J for e in np.eye(n2) for a in np.eye(r)]
    assert np.linalg.matrix_rank([c.ravel() for c in columns]) == degrees_of_freedom(n1, n2, r)


# ---- the generator ----


@each("kind", ["unit", "gauss", "factor"])
def test_truths_are_balanced_centred_and_scaled(kind):
    U, V = simulate.comparison_factors(30, 40, 3, kind, random_state=0)
    assert pytest.approx(V.T @ V, abs=1e-10) == U.T @ U and V.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-10)
    twice = simulate.comparison_factors(30, 40, 3, kind, 2.0, random_state=0)
    assert twice[0] @ twice[1].T == pytest.approx(2 * U @ V.T)


def test_comparisons_are_drawn_as_said():
    U, V = truth(n_users=20, n_items=10, rank=2)
    data = drawn(U, V, 50_000, "binary", user_weights=np.arange(20), item_weights=np.arange(1, 11))
    chance = drawn(U, V, 50_000, user_weights=np.arange(20), item_weights=np.arange(1, 11))
    assert (data.left != data.right).all() and data.per_user[0] == 0
    assert data.per_user / 50_000 == pytest.approx(np.arange(20) / 190, abs=0.006)
    assert data.outcome.mean() == pytest.approx(chance.outcome.mean(), abs=0.01)
    z = np.einsum("ka,ka->k", U[chance.user], V[chance.left] - V[chance.right])
    assert chance.outcome == pytest.approx(1 / (1 + np.exp(-z)))


# ---- the report ----


def test_a_sound_set_passes():
    U, V = truth(n_users=40, n_items=30, rank=2)
    report = diagnose(drawn(U, V, 8000, "binary"), rank=2)
    assert report.status == "pass" and report.verdict == "no method is ruled out"


def test_names_what_is_missing():
    data = Comparisons([0, 0, 1, 1, 3], [0, 1, 3, 4, 0], [1, 2, 4, 3, 1], [1, 1, 1, 0, 1], n_items=6)
    report = diagnose(data, rank=2)
    assert report["users"].value == "4, of which 1 without comparisons: 2"
    assert report["items"].value == "6, of which 1 without comparisons: 5"
    assert report["items linked"].status == "fail" and report["items linked"].value == "2 components with 3, 2 items"
    assert report["comparisons per user"].value == "the pairs of 2 users span fewer than 2 directions: 1, 3"
    assert report["comparisons"].status == "warn"
    assert report["always or never chosen"].value == "4 items: 0, 2, 3, 4"
    assert "ridge" in report.verdict


@each("m, status, points", [(240, "warn", "3.2"), (600, "pass", "2.0")])
def test_says_on_how_many_answers_the_choice_of_a_ridge_rests(m, status, points):
    report = diagnose(drawn(*truth(n_users=8, n_items=12, rank=2), m, "binary"), rank=2)
    assert report["comparisons"].value == f"{m} choices for 34 degrees of freedom"
    check = report["choice of rank and ridge"]
    assert check.status == status and f"based on {m} answers" in check.value and f"{points} points" in check.value
    assert ("the choice is uncertain" in report.verdict) == (status == "warn")


def test_answers_of_who_has_one_pair_choose_nothing():
    data = Comparisons([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 2, 0, 1, 0], [1, 0, 1, 1, 1])
    assert "based on 3 answers" in diagnose(data, rank=1)["choice of rank and ridge"].value


def test_spans_are_ranks():
    data = few(3, n1=8, n2=9, m=30)
    for u, span in enumerate(user_spans(data)):
        own = data.user == u
        rows = np.eye(9)[data.left[own]] - np.eye(9)[data.right[own]]
        assert span == (np.linalg.matrix_rank(rows) if own.any() else 0)
