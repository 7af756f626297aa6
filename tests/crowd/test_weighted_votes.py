"""Wawa, CATD, BWA: the slow versions agree, unanimous labels are no trouble, released and printed numbers come out."""

import warnings

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.crowd import BWA, CATD, CrowdLabels, Wawa, error_rate
from tests.oracles import weighted_votes as slow
from tests.oracles.generators import laws, permutations_of, recorded, relabel, seeds, skilled_crowd, triples

METHODS = {Wawa: slow.wawa, CATD: slow.catd}
ALL = [Wawa, CATD, BWA]


def small_crowd(seed, n_classes=3, n_tasks=12, n_workers=6):
    """Every task and every worker has labels."""
    rng = np.random.default_rng(seed)
    chosen = rng.random((n_tasks, n_workers)) < 0.5
    chosen[np.arange(n_tasks), np.arange(n_tasks) % n_workers] = True
    task, worker = np.nonzero(chosen)
    truth = rng.integers(0, n_classes, n_tasks)
    label = np.where(rng.random(len(task)) < 0.7, truth[task], rng.integers(0, n_classes, len(task)))
    return CrowdLabels.from_arrays(task, worker, label, n_classes)


def shape(labels):
    return labels.n_tasks, labels.n_workers, labels.n_classes


# ---- slow versions ----


@laws
@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize("rounds", [1, 4])
@given(seed=seeds)
def test_weighted_votes_equal_the_slow_version(cls, rounds, seed):
    labels = small_crowd(seed)
    method = recorded(cls(max_iter=rounds).fit, labels)[0]
    expected, v = slow.weighted_vote(triples(labels), shape(labels), METHODS[cls], method.result_.n_iter)
    np.testing.assert_allclose(method.posterior_, expected, atol=1e-9)
    np.testing.assert_allclose(method.weights_, v, rtol=1e-9)


@laws
@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=seeds)
def test_bwa_equals_the_slow_version(n_classes, seed):
    labels = small_crowd(seed, n_classes)
    method = recorded(BWA(max_iter=3, tol=0).fit, labels)[0]
    of_classes = [slow.bwa_of_class(triples(labels), k, shape(labels), rounds=3) for k in range(n_classes)]
    z = np.transpose([z for z, _ in of_classes])
    np.testing.assert_allclose(method.posterior_, z / z.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(method.weights_, np.transpose([v for _, v in of_classes]), rtol=1e-7)


# ---- what always holds ----


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("seed", [0, 1])
def test_renaming_tasks_workers_and_classes_renames_scores_and_weights(cls, seed):
    labels = skilled_crowd(seed, n_tasks=80).labels
    tasks, workers, classes = permutations_of(labels, seed)
    method, other = cls().fit(labels), cls().fit(relabel(labels, tasks, workers, classes))
    np.testing.assert_allclose(other.posterior_[tasks][:, classes], method.posterior_, atol=1e-9)
    weights = other.weights_[workers]
    np.testing.assert_allclose(weights[:, classes] if cls is BWA else weights, method.weights_, rtol=1e-9)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_unanimous_labels_win_and_nothing_is_nan(cls, n_classes):
    """Of five classes, three are never used: then the variance of the votes of a class is zero."""
    task, worker = np.divmod(np.arange(40), 4)
    method = cls().fit(CrowdLabels.from_arrays(task, worker, task % 2, n_classes))
    np.testing.assert_allclose(method.posterior_, np.eye(n_classes)[np.arange(10) % 2], atol=1e-6)
    assert np.isfinite(method.weights_).all() and np.isfinite(method.result_.objective).all()
    assert np.ptp(method.weights_, axis=0) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cls", ALL)
def test_whoever_is_always_right_weighs_most(cls):
    crowd = skilled_crowd(3, n_tasks=200, label_rate=1.0, skill=0.4)
    task, worker, label = triples(crowd.labels)
    label = np.where(worker == 5, crowd.truth[task], label)
    method = cls().fit(CrowdLabels.from_arrays(task, worker, label, 3))
    assert np.argmax(method.weights_.reshape(12, -1).mean(axis=1)) == 5


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_of_bwa_never_falls(seed):
    objective = recorded(BWA(tol=1e-9).fit, skilled_crowd(seed, skill=0.4).labels)[0].result_.objective
    assert len(objective) > 5
    assert np.all(np.diff(objective) >= -1e-9 * np.abs(objective[1:]))


@pytest.mark.parametrize("cls", [Wawa, CATD])
def test_where_it_stops_another_round_changes_nothing(cls):
    labels = skilled_crowd(4, skill=0.3).labels
    method = cls().fit(labels)
    again = recorded(cls(max_iter=method.result_.n_iter + 1, tol=-1).fit, labels)[0]
    assert again.result_.n_iter == method.result_.n_iter + 1
    np.testing.assert_array_equal(again.posterior_, method.posterior_)


def test_catd_trusts_few_labels_less():
    """Two workers lose nothing, one with 2 and one with 60 labels; the quantile alone tells them apart."""
    task, worker = np.divmod(np.arange(180), 3)
    labels = CrowdLabels.from_arrays([*task, 0, 1], [*worker, 3, 3], [*(task % 2), 0, 1])
    v = CATD().fit(labels).weights_
    assert v[3] < v[0] / 100
    assert Wawa().fit(labels).weights_[3] == 1


@pytest.mark.parametrize("cls", ALL)
def test_a_task_and_a_worker_without_labels(cls):
    labels = small_crowd(1)
    more = CrowdLabels.from_arrays(*triples(labels), 3, n_tasks=13, n_workers=7, unlabelled="keep")
    method, other = cls().fit(labels), cls().fit(more)
    np.testing.assert_allclose(other.posterior_[:12], method.posterior_, atol=1e-12)
    np.testing.assert_allclose(other.weights_[:6], method.weights_, rtol=1e-12)
    expected = method.posterior_.mean(axis=0) if cls is BWA else 1 / 3
    np.testing.assert_allclose(other.posterior_[12], expected)


# ---- bad input ----


@pytest.mark.parametrize("cls", ALL)
def test_says_when_the_rounds_run_out(cls):
    with pytest.warns(ConvergenceWarning, match=f"{cls.__name__}: iteration limit 1"):
        method = cls(max_iter=1).fit(skilled_crowd(0, n_tasks=40, skill=0.2).labels)
    assert not method.result_.converged


@pytest.mark.parametrize("cls", ALL)
def test_labels_without_labels_are_refused(cls):
    with pytest.raises(CofactorError, match="no task has a label"):
        cls().fit(skilled_crowd(0, n_tasks=40).labels.take_tasks([]))


@pytest.mark.parametrize(
    ("method", "named"),
    [(CATD(alpha=0), "alpha=0"), (CATD(alpha=1.0), "alpha=1"), (BWA(a_v=0), "a_v=0"), (BWA(ridge=-1), "ridge=-1"),
     (Wawa(max_iter=0), "max_iter=0"), (CATD(max_iter=1.5), "max_iter=1.5"), (BWA(max_iter=0), "max_iter=0")],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(method, named):
    with pytest.raises(CofactorError, match=named):
        method.fit(small_crowd(0))


# ---- levels ----

mirror = pytest.mark.needs_mirror

# Accuracy in per cent, ties split. BWA: first what the authors' notebook prints (yuan-li/truth-inference-at-scale,
# code/test_bwa.ipynb), then the kit's. They differ on two sets, where workers gave a task two labels: the authors count
# both, the kit the last.
RELEASED = {
    "bluebird": (75.93, 75.93),
    "weather_cf": (89.33, 89.33),
    "weather_amt": (86.0, 86.0),
    "music_genre": (78.57, 78.57),
    "sentiment_polarity": (91.70, 91.70),
    "sentiment_polarity_amt": (94.6, 94.6),
    "zencrowd_all": (83.48, 83.63),
    "zencrowd_in": (76.37, 76.37),
    "zencrowd_us": (91.08, 91.32),
    "product": (91.94, 91.94),
    "sentiment_1k": (95.6, 95.6),
    "face_sentiment": (61.82, 61.82),
    "adult_content": (74.17, 74.17),
    "dog": (83.15, 83.15),
    "rte": (92.75, 92.75),
    "trec": (60.44, 60.44),
    "web": (82.25, 82.25),
}
SETS = ["bluebird", *(pytest.param(name, marks=mirror) for name in RELEASED if name != "bluebird")]


def accuracy(method, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.DataWarning)
        found = cf.load(name)
        scores = method.fit(found.labels).predict_proba(found.labels)
    assert method.result_.converged
    return 100 - 100 * error_rate(scores, found.truth)


@pytest.mark.parametrize("name", SETS)
def test_bwa_is_as_accurate_as_released(name):
    assert accuracy(BWA(), name) == pytest.approx(RELEASED[name][1], abs=0.006)


# Measured here; no source prints Wawa or CATD on these sets with ties split. crowd-kit 1.4.2's Wawa, which is one round
# and breaks ties of the vote by the order of the labels, has 75.93, 88.33, 79.00, 91.88 and 76.93.
WAWA = {"bluebird": 75.93, "weather_cf": 88.67, "music_genre": 80.0, "rte": 92.12, "web": 82.02}
CATD_LEVELS = {"bluebird": 77.78, "weather_cf": 83.67, "music_genre": 79.14, "rte": 92.25, "web": 80.55}


@pytest.mark.parametrize("name", ["bluebird", *(pytest.param(name, marks=mirror) for name in list(WAWA)[1:])])
def test_accuracy_on_public_data(name):
    assert accuracy(Wawa(), name) == pytest.approx(WAWA[name], abs=0.006)
    assert accuracy(CATD(), name) == pytest.approx(CATD_LEVELS[name], abs=0.006)
