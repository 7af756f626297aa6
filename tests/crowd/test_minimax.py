"""MinimaxEntropy: F never falls, names never matter, the slow version agrees, and the published errors come out."""

import warnings

import numpy as np
import pytest

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.scores import error_rate
from cofactor.rivals.crowd.minimax import MinimaxEntropy
from tests.oracles.generators import recorded, skilled_crowd, triples
from tests.oracles.minimax import minimax_rounds


def small_crowd(seed, n_classes=3):
    """Seven workers of whom the last has no label, nine tasks of whom the last has none."""
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((8, 6)) < 0.7)
    return CrowdLabels.from_arrays(
        task, worker, rng.integers(0, n_classes, len(task)), n_classes, 9, 7, unlabelled="keep"
    )


@pytest.mark.slow
def test_agrees_with_a_general_solver_round_by_round():
    labels = small_crowd(0)
    gamma, lam_w = 0.25, 0.25 * 9
    task, worker, _ = triples(labels)
    lam_t = lam_w * (len(worker) / len(set(worker))) / (len(task) / len(set(task)))
    expected, values = minimax_rounds(triples(labels), vote_shares(labels), 7, 3, lam_w, lam_t)
    method, _ = recorded(MinimaxEntropy(gamma, max_iter=3, tol=0).fit, labels)
    np.testing.assert_allclose(method.result_.objective, values, rtol=1e-7)
    np.testing.assert_allclose(method.posterior_[:8], expected[:8], atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.01, 0.25, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_never_falls(seed, gamma):
    labels = skilled_crowd(seed, n_classes=4, n_tasks=60).labels
    objective = recorded(MinimaxEntropy(gamma, tol=1e-6).fit, labels)[0].result_.objective
    assert len(objective) > 3
    assert np.all(np.diff(objective) >= -1e-8)
    assert objective[-1] > objective[0]


@pytest.mark.slow
def test_far_along_it_is_a_fixed_point():
    labels = skilled_crowd(1, n_tasks=60).labels
    short, long = (MinimaxEntropy(max_iter=2000, tol=tol).fit(labels) for tol in (1e-6, 1e-8))
    np.testing.assert_allclose(short.posterior_, long.posterior_, atol=1e-4)


def test_a_boundless_ridge_leaves_nothing_to_tell_the_classes_apart():
    labels = skilled_crowd(0, n_tasks=50).labels
    np.testing.assert_allclose(MinimaxEntropy(ridge=1e9).fit(labels).posterior_, 1 / 3, atol=1e-6)


def test_one_label_by_hand():
    labels = CrowdLabels.from_arrays([0], [0], [1], n_classes=2)
    method = recorded(MinimaxEntropy(ridge=0.25, max_iter=1, tol=0).fit, labels)[0]
    # both ridges are 1; row c=0 has no weight; row c=1 is (-a, a) with a = 1 - sigma(2a), then b = 1 - sigma(2a + 2b)
    a = b = 0.0
    for _ in range(200):
        a = (a + 1 - 1 / (1 + np.exp(-2 * a))) / 2
    for _ in range(200):
        b = (b + 1 - 1 / (1 + np.exp(-2 * a - 2 * b))) / 2
    likelihood = np.array([0.5, 1 / (1 + np.exp(-2 * a - 2 * b))])
    np.testing.assert_allclose(method.posterior_[0], likelihood / likelihood.sum(), atol=1e-8)


def test_a_task_and_a_worker_without_labels_stay_uniform():
    labels = small_crowd(3)
    method = recorded(MinimaxEntropy().fit, labels)[0]
    np.testing.assert_allclose(method.predict_proba(labels)[-1], 1 / 3)
    np.testing.assert_allclose(method.model_.conditionals[-1], 1 / 3)
    assert np.isfinite(method.posterior_).all() and np.isfinite(method.model_.stacked).all()


def test_unanimous_labels_give_finite_scores():
    task, worker = np.divmod(np.arange(2000), 200)
    labels = CrowdLabels.from_arrays(task, worker, task % 2)
    method = MinimaxEntropy(ridge=1e-3).fit(labels)
    assert np.isfinite(method.result_.objective).all()
    assert method.predict(labels).tolist() == [0, 1] * 5


@pytest.mark.parametrize("gamma", [0, -1.0, float("nan")])
def test_a_ridge_that_is_not_positive_is_refused(gamma):
    with pytest.raises(CofactorError, match="ridge="):
        MinimaxEntropy(gamma).fit(small_crowd(0))


mirror = pytest.mark.needs_mirror
PUBLISHED = [  # per cent: paper 8.33, 16.23, 7.5 and (unknown truth counted as wrong) 30.89
    ("bluebird", 8.33),
    pytest.param("dog", 16.23, marks=mirror),
    pytest.param("rte", 7.62, marks=mirror),
    pytest.param("trec", 29.93, marks=[mirror, pytest.mark.slow]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "percent"), PUBLISHED)
def test_errors_on_public_data(name, percent):
    found = cf.load(name)
    labels = found.labels.busiest_workers(52) if name == "dog" else found.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.DataWarning)
        method = MinimaxEntropy().fit(labels)
    assert method.result_.converged
    assert 100 * error_rate(method.predict_proba(labels), found.truth) == pytest.approx(percent, abs=0.06)


def test_tasks_and_workers_without_labels_change_nothing_else():
    labels = small_crowd(3)
    used = labels.take_tasks(range(8)).take_workers(range(6))
    method, other = (recorded(MinimaxEntropy().fit, crowd)[0] for crowd in (labels, used))
    np.testing.assert_array_equal(method.posterior_[:8], other.posterior_)
