"""Metrics of topics and communities: known answers, slow versions, laws, bad input."""

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.stats import spearmanr

from cofactor.core.errors import CofactorError
from cofactor.separable import (
    clustering_accuracy,
    coherence,
    document_accuracy,
    mrsa,
    rae,
    sim_count,
    spearman_rank_correlation,
)
from tests.each import each
from tests.oracles.generators import laws, seeds
from tests.oracles.topics import coherence_by_counting, sim_count_by_sets


def random_topics(seed, n_documents=30, n_words=25):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n_documents, n_words))
    counts[0] += 1  # every word is somewhere
    return counts, np.array([rng.permutation(n_words)[:6] for _ in range(4)])


def memberships(seed, shape=(50, 3), alpha=0.5):
    return np.random.default_rng(seed).dirichlet(np.full(shape[1], alpha), shape[0])


# ---- topics ----


@laws
@given(seed=seeds)
def test_coherence_and_sim_count_equal_the_slow_versions(seed):
    counts, words = random_topics(seed)
    expected = coherence_by_counting(counts, words)
    assert coherence(counts, words) == pytest.approx(expected, rel=1e-12)
    assert coherence(sparse.csr_matrix(counts), words) == pytest.approx(expected, rel=1e-12)
    assert sim_count(words) == sim_count_by_sets(words)


def test_coherence_divides_by_the_word_that_ranks_higher():
    counts = np.array([[1, 1], [1, 0], [1, 0], [0, 1]])
    assert coherence(counts, [[0, 1]]) == pytest.approx(2 * np.log(1.01 / 3))
    assert coherence(counts, [[1, 0]]) == pytest.approx(2 * np.log(1.01 / 2))
    assert coherence(counts, [[0, 1], [1, 0]]) == pytest.approx(np.log(1.01 / 3) + np.log(1.01 / 2))


@laws
@given(seed=seeds)
def test_clustering_accuracy_ignores_names_and_order(seed):
    rng = np.random.default_rng(seed)
    truth, clusters = rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    accuracy = clustering_accuracy(truth, clusters)
    order, names = rng.permutation(40), rng.permutation(4)
    assert clustering_accuracy(truth[order], names[clusters][order]) == accuracy
    assert clustering_accuracy(truth, truth) == 1.0 and accuracy >= 0.25


def test_clustering_accuracy_by_hand():
    assert clustering_accuracy([0, 0, 0, 1, 1, 2], [1, 1, 2, 2, 2, 2]) == pytest.approx(4 / 6)
    assert clustering_accuracy([0, 0, 1], [7, 8, 9]) == pytest.approx(2 / 3)
    for clusters in ([0, 1], [[0, 1, 1]]):
        with pytest.raises(CofactorError, match="one-dimensional, nonempty and of equal length"):
            clustering_accuracy([0, 1, 1], clusters)


def test_documents_are_clustered_by_direction():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    weights = (np.eye(3)[truth] + 0.1 * rng.random((60, 3))) * rng.uniform(0.01, 100, (60, 1))
    assert document_accuracy(truth, weights, n_runs=2, random_state=0) == 1.0
    weights[::2] = 0.0  # documents without words are all alike
    assert document_accuracy(truth, weights, n_runs=2, random_state=0) < 0.9


def test_document_accuracy_is_reproducible_and_a_mean():
    rng = np.random.default_rng(1)
    truth, weights = rng.integers(0, 4, 60), rng.random((60, 4))
    one = document_accuracy(truth, weights, n_runs=3, random_state=5)
    assert one == document_accuracy(truth, weights, n_runs=3, random_state=5)
    assert (one * 180) == pytest.approx(round(one * 180)) and one > 0.25


# ---- communities ----


@laws
@given(seed=seeds)
def test_rank_correlation_equals_the_best_of_all_matchings(seed):
    truth, estimate = memberships(seed).round(2), memberships(seed + 1, alpha=1.0).round(1)
    truth /= truth.sum(axis=1, keepdims=True)
    estimate /= estimate.sum(axis=1, keepdims=True)
    R = spearmanr(truth, estimate).statistic[:3, 3:]
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    best = max(np.mean([R[k, order[k]] for k in range(3)]) for order in orders)
    assert spearman_rank_correlation(truth, estimate) == pytest.approx(best, abs=1e-12)


@laws
@given(seed=seeds)
def test_rank_correlation_ignores_names_and_order(seed):
    rng = np.random.default_rng(seed)
    truth, estimate = memberships(seed), memberships(seed + 1)
    order = rng.permutation(50)
    value = spearman_rank_correlation(truth, estimate)
    assert spearman_rank_correlation(truth[order], estimate[order][:, [2, 0, 1]]) == pytest.approx(value, abs=1e-12)
    assert spearman_rank_correlation(estimate, truth) == pytest.approx(value, abs=1e-12)
    assert spearman_rank_correlation(truth, truth[:, [1, 2, 0]]) == pytest.approx(1.0)


def test_a_community_without_differences_correlates_with_nothing():
    truth = np.array([[1.0, 0], [0.5, 0.5], [0, 1]])
    assert spearman_rank_correlation(truth, np.full((3, 2), 0.5)) == 0.0
    assert spearman_rank_correlation(truth, [[1, 0], [0, 0], [0, 1]]) > 0.8  # a node of which nothing is known


@each("side", ["truth", "estimate"])
def test_memberships_that_are_none_are_named(side):
    good = memberships(0)
    bad = good.copy()
    bad[3, 0] += 0.5
    bad[7] = [1.2, -0.2, 0.0]
    bad[9] = np.nan
    pair = {"truth": good, "estimate": good} | {side: bad}
    with pytest.raises(CofactorError, match=f"rows 3, 7, 9 of {side} have negative entries or do not sum to one"):
        spearman_rank_correlation(**pair)
    with pytest.raises(CofactorError, match=rf"{side} must have one row per node .* got shape \(3,\)"):
        spearman_rank_correlation(**(pair | {side: good[0]}))
    with pytest.raises(CofactorError, match="must have equal shapes"):
        spearman_rank_correlation(**(pair | {side: good[:9]}))


# ---- angles of pure columns, and the share of the data that mixtures explain ----


def test_a_right_angle_is_half_of_the_scale():
    W = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    turned = np.array([[0.0, 0.0, 1.0, -1.0], [1.0, -1.0, 0.0, 0.0]])
    assert mrsa(W, turned) == pytest.approx(0)  # the same four columns in another order
    quarter = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2) @ W  # turned by 45 degrees
    assert mrsa(W, quarter) == pytest.approx(25)


def test_order_shift_and_scale_of_columns_do_not_matter_and_noise_does():
    rng = np.random.default_rng(0)
    W = rng.random((20, 6))
    order = rng.permutation(6)
    assert mrsa(W, 3 * W[:, order] + 1) == pytest.approx(0, abs=1e-5)
    near, far = (mrsa(W, W + scale * rng.random((20, 6))) for scale in (0.01, 0.5))
    assert 0.05 < near < 1 < far


def test_a_column_without_direction_is_at_a_right_angle():
    W = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])  # the third is the mean
    assert mrsa(W, W) == pytest.approx(50 / 3)
    V = np.array([[0.1, 0.5, 0.3], [0.2, 0.6, 0.4]])  # so is this one, but for rounding
    assert mrsa(V, V) == pytest.approx(50 / 3) == mrsa(V, 3 * V)


def test_share_explained():
    X = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert rae(X, X, np.eye(2)) == 1
    assert rae(X, np.zeros((2, 1)), np.zeros((1, 2))) == 0
    assert rae(X, X[:, :1], [[1.0, 0.0]]) == pytest.approx(1 - 4 / 5)


@each(
    "call, message",
    [
        *((lambda X=X: rae(X, np.ones((len(X), 1)), np.ones((1, X.shape[1]))), "X is zero")
          for X in (np.zeros((2, 3)), -np.zeros((1, 1)))),
        (lambda: rae([[1e-200]], [[1e200]], [[1e200]]), "too large to be compared with X"),
        (lambda: rae([[1e-200]], [[1e10]], [[1e200]]), "too large to be compared with X"),
        (lambda: mrsa(np.ones((3, 2)), np.ones((3, 1))), r"\(3, 2\) and \(3, 1\)"),
        (lambda: rae(np.ones((2, 3)), np.ones((2, 1)), np.ones((2, 3))), r"X \(2, 3\) .* W \(2, 1\) times H \(2, 3\)"),
        (lambda: coherence(np.array([[1, 1, 0, 0]]), [[0, 3, 2]]), "no document contains the words 3, 2:"),
    ],
)  # fmt: skip
def test_what_has_no_measure_is_refused(call, message):
    with pytest.raises(CofactorError, match=message):
        call()


@each("scale", [1e-318, 1e-200, 1e200, 1.7e308])
def test_neither_depends_on_the_scale(scale):
    X = np.array([[1.0, 0.0], [0.0, 0.5]])
    assert rae(scale * X, scale * X[:, :1], [[1.0, 0.0]]) == pytest.approx(rae(X, X[:, :1], [[1.0, 0.0]]), rel=1e-3)
    assert mrsa(scale * np.eye(3), np.eye(3)[:, ::-1]) == pytest.approx(0, abs=1e-5)
