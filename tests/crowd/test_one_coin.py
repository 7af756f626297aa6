"""One coin: the slow version agrees, the objective never falls, accuracies are recovered, peers' numbers come out."""

import warnings

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor import simulate
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import CrowdLabels, OneCoin, error_rate, vote_shares
from tests.oracles import one_coin as slow
from tests.oracles.generators import laws, permutations_of, recorded, relabel, seeds, skilled_crowd, triples


def coins(p, n_classes=4, n_tasks=2000, label_rate=0.6, seed=0):
    """Draw a crowd as the model has it."""
    eye = np.eye(n_classes)
    A = [p_j * eye + (1 - p_j) / (n_classes - 1) * (1 - eye) for p_j in p]
    model = LatentClassModel(np.full(n_classes, 1 / n_classes), A)
    return simulate.crowd(model, n_tasks, label_rate, random_state=seed)


@laws
@pytest.mark.parametrize("estimate_prior", [False, True])
@pytest.mark.parametrize("pseudo_counts", [(1.0, 1.0), (4.0, 0.5)])
@given(seed=seeds)
def test_equals_the_slow_version(estimate_prior, pseudo_counts, seed):
    labels = coins(np.linspace(0.3, 0.8, 6), 3, 30, seed=seed).labels.take_tasks(range(25))
    labels = labels.take_tasks(labels.table.entries_per_row > 0)
    method = recorded(OneCoin(pseudo_counts, estimate_prior, max_iter=4, tol=0).fit, labels)[0]
    expected = slow.em(triples(labels), vote_shares(labels), 6, method.result_.n_iter, *pseudo_counts, estimate_prior)
    p, Q, values = expected
    seen = labels.table.entries_per_variable > 0
    np.testing.assert_allclose(method.accuracy_[seen], p[seen], rtol=1e-9)
    np.testing.assert_allclose(method.predict_proba(labels), Q, atol=1e-9)
    if seen.all():
        np.testing.assert_allclose(method.result_.objective, values, rtol=1e-9)


@pytest.mark.parametrize("pseudo_counts", [(0, 0), (1, 1), (4, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_falls(pseudo_counts, seed):
    labels = skilled_crowd(seed, skill=0.3).labels
    objective = recorded(OneCoin(pseudo_counts, tol=1e-10).fit, labels)[0].result_.objective
    assert len(objective) > 5
    assert np.all(np.diff(objective) >= -1e-9 * np.abs(objective[1:]))


@pytest.mark.parametrize("seed", [0, 1])
def test_renaming_tasks_workers_and_classes_renames_the_answer(seed):
    labels = skilled_crowd(seed, n_tasks=80).labels
    tasks, workers, classes = permutations_of(labels, seed)
    renamed = relabel(labels, tasks, workers, classes)
    method, other = OneCoin().fit(labels), OneCoin().fit(renamed)
    np.testing.assert_allclose(other.predict_proba(renamed)[tasks][:, classes], method.predict_proba(labels), atol=1e-9)
    np.testing.assert_allclose(other.accuracy_[workers], method.accuracy_, atol=1e-9)


def test_recovers_the_accuracies_of_its_own_crowds():
    p = np.linspace(0.1, 0.9, 9)
    crowd = coins(p)
    method = OneCoin().fit(crowd.labels)
    np.testing.assert_allclose(method.accuracy_, p, atol=0.05)
    for A, p_j in zip(method.model_.conditionals, method.accuracy_, strict=True):
        np.testing.assert_allclose(A, (1 - p_j) / 3 + (p_j - (1 - p_j) / 3) * np.eye(4))
    assert error_rate(method.predict_proba(crowd.labels), crowd.truth) < 0.7 * error_rate(
        vote_shares(crowd.labels), crowd.truth
    )


@pytest.mark.parametrize("pseudo_counts", [(0, 0), (1, 1)])
def test_unanimous_labels_give_finite_answers(pseudo_counts):
    task, worker = np.divmod(np.arange(40), 4)
    labels = CrowdLabels.from_arrays(task, worker, task % 2, 3)
    method = OneCoin(pseudo_counts).fit(labels)
    r, w = pseudo_counts
    np.testing.assert_allclose(method.accuracy_, (10 + r) / (10 + r + w), atol=1e-3)
    np.testing.assert_allclose(method.predict_proba(labels), np.eye(3)[np.arange(10) % 2], atol=1e-3)
    assert np.isfinite(method.result_.objective).all()


def test_a_perfect_worker_is_found():
    crowd = coins([0.55] * 6 + [1.0], n_classes=3)
    method = OneCoin().fit(crowd.labels)
    assert method.accuracy_[6] > 0.96
    told = crowd.labels.take_workers([6]).table.entries_per_row > 0
    assert np.mean(method.predict(crowd.labels)[told] == crowd.truth[told]) > 0.99


def test_a_worker_without_labels_is_no_better_than_chance():
    labels = CrowdLabels.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1], 3, n_workers=3, unlabelled="keep")
    method = OneCoin().fit(labels)
    assert method.accuracy_[2] == 1 / 3
    np.testing.assert_allclose(method.model_.conditionals[2], 1 / 3)


def test_says_when_the_rounds_run_out():
    with pytest.warns(ConvergenceWarning, match="OneCoin: iteration limit 1"):
        assert not OneCoin(max_iter=1).fit(skilled_crowd(0, n_tasks=40).labels).result_.converged


@pytest.mark.parametrize(
    ("method", "named"),
    [(OneCoin((-1, 1)), "pseudo_counts="), (OneCoin(3.0), "pseudo_counts="), (OneCoin(max_iter=0), "max_iter=0")],
)
def test_parameters_out_of_range_are_refused(method, named):
    with pytest.raises(CofactorError, match=named):
        method.fit(skilled_crowd(0, n_tasks=40).labels)


def test_labels_without_labels_are_refused():
    with pytest.raises(CofactorError, match="no task has a label"):
        OneCoin().fit(skilled_crowd(0, n_tasks=40).labels.take_tasks([]))


# Accuracy in per cent, ties split, measured here: by default; and as crowd-kit 1.4.2's OneCoinDawidSkene, which
# estimates the class prior and has no pseudo-counts. It has 58.33, 88.67, 79.29, 92.50 and 56.04 on these sets; on the
# last, one task of 1,820 differs: a worker who is always right excludes other classes here, and has a floor there.
LEVELS = {
    "bluebird": (72.22, 58.33),
    "weather_cf": (88.33, 88.33),
    "music_genre": (79.57, 79.29),
    "rte": (92.38, 92.50),
    "trec": (57.19, 56.09),
}


@pytest.mark.parametrize("peer", [False, True])
@pytest.mark.parametrize(
    "name", ["bluebird", *(pytest.param(n, marks=pytest.mark.needs_mirror) for n in [*LEVELS][1:])]
)
def test_accuracy_on_public_data(name, peer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.DataWarning)
        found = cf.load(name)
        method = (OneCoin((0, 0), estimate_prior=True) if peer else OneCoin()).fit(found.labels)
    accuracy = 100 - 100 * error_rate(method.predict_proba(found.labels), found.truth)
    assert accuracy == pytest.approx(LEVELS[name][peer], abs=0.006)
