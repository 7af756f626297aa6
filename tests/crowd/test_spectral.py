"""Spectral-D&S: exact on exact moments, equal to the loops, names never matter, and the published errors come out."""

import itertools

import numpy as np
import pytest

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import error_rate
from cofactor.rivals.crowd.spectral import SpectralDS, group_factor, tensor_power, third_moment
from tests.oracles import spectral as oracle
from tests.oracles.generators import skilled_crowd, triples

HALF = [[0.7, 0.2], [0.3, 0.8]], [[0.9, 0.4], [0.1, 0.6]], [[0.6, 0.1], [0.4, 0.9]]


def exact_crowd():
    """Three workers whose 2000 labels of each have exactly the moments of the model."""
    task, label = 0, []
    for combination in itertools.product(range(2), repeat=3):
        p = sum(0.5 * np.prod([HALF[m][combination[m]][c] for m in range(3)]) for c in range(2))
        task += round(2000 * p)
        label += [combination] * round(2000 * p)
    assert task == 2000
    return CrowdLabels.from_arrays(np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000), np.ravel(label))


def test_exact_moments_give_the_exact_model():
    model = SpectralDS(em=False).fit(exact_crowd()).model_
    for A, expected in zip(model.conditionals, HALF, strict=True):
        np.testing.assert_allclose(A, expected, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_the_loops(seed, n_classes):
    labels = skilled_crowd(seed, n_workers=7, n_classes=n_classes, n_tasks=150, label_rate=0.7, skill=0.7).labels
    method = SpectralDS(em=False).fit(labels)
    for A, expected in zip(method.model_.conditionals, oracle.confusions(labels), strict=True):
        np.testing.assert_allclose(A, expected, atol=1e-7)


def test_the_factor_of_a_group_agrees_with_the_loops():
    x = oracle.group_votes(skilled_crowd(2, skill=0.7).labels)
    mu, w = group_factor(*x, np.random.default_rng(5))
    expected_mu, expected_w = oracle.group_factor(*x, seed=1)
    np.testing.assert_allclose(mu, expected_mu, atol=1e-7)
    np.testing.assert_allclose(w, expected_w, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_power_method_finds_an_orthogonal_decomposition(seed):
    rng = np.random.default_rng(seed)
    V, values = np.linalg.qr(rng.standard_normal((5, 5)))[0], np.array([3.0, 2.5, 2.0, 1.5, 1.0])
    found, U = tensor_power(np.einsum("c,ic,jc,kc->ijk", values, V, V, V), np.random.default_rng(seed))
    order = np.argsort(-found)
    np.testing.assert_allclose(found[order], values, atol=1e-9)
    np.testing.assert_allclose(U[:, order], V, atol=1e-9)


def test_third_moment_is_symmetric_and_that_of_the_rows():
    y = np.random.default_rng(0).standard_normal((3, 40, 4))
    T = third_moment(*y)
    whole = np.einsum("ni,nj,nk->ijk", *y) / 40
    for order in itertools.permutations(range(3)):
        np.testing.assert_allclose(T.transpose(order), T)
    np.testing.assert_allclose(np.einsum("iii->i", T), np.einsum("iii->i", whole))
    np.testing.assert_allclose(T.sum(), whole.sum())


def test_the_start_of_the_power_method_does_not_matter():
    labels = skilled_crowd(3, skill=0.7).labels
    first, second = (SpectralDS(em=False, random_state=seed).fit(labels).model_ for seed in (0, 1))
    np.testing.assert_allclose(first.stacked, second.stacked, atol=1e-8)
    again = SpectralDS(em=False, random_state=1).fit(labels).model_
    np.testing.assert_array_equal(again.stacked, second.stacked)


def test_a_worker_without_labels_keeps_a_uniform_matrix_and_tasks_without_labels_change_nothing():
    crowd = skilled_crowd(0, skill=0.7).labels
    task, worker, label = triples(crowd)
    worker = worker + (worker >= 3) * 3  # three new workers, one per group, with no label
    labels = CrowdLabels.from_arrays(task, worker, label, 3, 405, 15, unlabelled="keep")
    model, before = (SpectralDS(em=False).fit(given).model_ for given in (labels, crowd))
    old = [0, 1, 2, *range(6, 15)]
    for m in (3, 4, 5):
        np.testing.assert_allclose(model.conditionals[m], 1 / 3)
    np.testing.assert_allclose([model.conditionals[m] for m in old], before.conditionals, atol=1e-8)


def test_two_workers_are_refused():
    with pytest.raises(CofactorError, match="needs at least three workers, but there are 2: use MV-EM"):
        SpectralDS().fit(exact_crowd().take_workers([0, 1]))


def test_a_class_that_a_group_never_uses_is_refused():
    labels = skilled_crowd(0).labels
    task, worker, label = triples(labels)
    kept = (worker % 3 != 1) | (label != 2)
    labels = CrowdLabels.from_arrays(task[kept], worker[kept], label[kept], 3, 400, 12, unlabelled="keep")
    with pytest.raises(CofactorError, match=r"no worker of group 1 \(1, 4, 7, 10\) ever gave the label 2.*MV-EM"):
        SpectralDS().fit(labels)


def test_groups_that_share_no_task_are_refused():
    labels = skilled_crowd(0).labels
    task, worker, label = triples(labels)
    kept = task % 3 == worker % 3
    labels = CrowdLabels.from_arrays(task[kept], worker[kept], label[kept], 3, 400, 12, unlabelled="keep")
    with pytest.raises(CofactorError, match="co-occurrence of the votes of groups 0 and 1 has a rank below"):
        SpectralDS().fit(labels)


mirror = pytest.mark.needs_mirror
# per cent (before EM, after EM) of this split; over eight random splits Bluebird spans 10.2-13.0 (EM 10.2-12.0), Dog
# 16.4-19.6 (15.7-16.2), RTE 7.0-9.0 (7.1-7.4), TREC 31.6-33.7 (29.6-29.9)
MEASURED = [
    ("bluebird", 11.11, 10.19),
    pytest.param("dog", 16.98, 16.11, marks=mirror),
    pytest.param("rte", 8.0, 7.37, marks=mirror),
    pytest.param("trec", 33.05, 29.7, marks=mirror),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "before", "after"), MEASURED)
def test_errors_on_public_data(name, before, after):
    found = cf.load(name)
    labels = found.labels.busiest_workers(52) if name == "dog" else found.labels
    for em, percent in ((False, before), (True, after)):
        method = SpectralDS(em=em, pseudo_counts=(0, 0)).fit(labels)
        assert 100 * error_rate(method.predict_proba(labels), found.truth) == pytest.approx(percent, abs=0.15)
