"""Completion of labels: the proximal operator against the SVD, laws of names, levels on real data."""

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd.base import error_rate
from cofactor.crowd.baselines import completion
from cofactor.crowd.baselines.completion import CRIAV, PGTAC
from cofactor.crowd.labels import CrowdLabels
from tests.oracles.generators import laws, permutations_of, recorded, relabel, seeds, skilled_crowd, triples

METHODS = [PGTAC, CRIAV]


@laws
@given(seed=seeds)
def test_shrinking_is_that_of_the_singular_values(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(rng.integers(2, 9, 2)).astype(np.float32)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    assert np.allclose(completion.shrink(X, 0.7), U * np.maximum(s - 0.7, 0) @ Vt, atol=1e-4)


def test_unfolding_and_folding_undo_one_another():
    T = np.random.default_rng(0).standard_normal((5, 4, 3)).astype(np.float32)
    assert np.allclose(completion._refold(list(completion._unfoldings(T)), T.shape), T, atol=1e-6)


def objective(T, Y, known, share):
    penalties = [share * np.linalg.norm(X, 2) for X in completion._unfoldings(Y)]
    nuclear = [np.linalg.norm(X, "nuc") for X in completion._unfoldings(T)]
    return ((T - Y)[known] ** 2).sum() / 2 + np.dot(penalties, nuclear) / 3


def test_steps_lower_the_objective():
    Y, known = completion.observed_tensor(skilled_crowd(0).labels)
    values = [objective(completion.complete_tensor(Y, known, 0.1, n), Y, known, 0.1) for n in (0, 1, 5, 20)]
    assert np.all(np.diff(values) < 0)


def test_completed_fibres_are_distributions():
    Y, known = completion.observed_tensor(skilled_crowd(0).labels)
    for T in (completion.complete_tensor(Y, known, 0.05, 10), completion.complete_classes(Y, known, 0.05)):
        assert np.allclose(T.sum(axis=2), 0, atol=1e-5)
        assert T.min() >= -1 / 3 - 1e-5


def test_reliable_annotators_weigh_more_and_adversaries_nothing():
    votes = np.eye(2, dtype=np.float32)[np.arange(6) % 2] - 0.5
    Y = np.stack([votes, -votes, votes * 0], axis=1)
    w = completion.reliability(Y, np.array([[True, True, False]] * 6), votes)
    assert w.tolist() == [1, 0, 0]


def test_weighted_shares_are_vote_shares_where_only_given_labels_count():
    labels = skilled_crowd(0, label_rate=0.3).labels
    Y, _ = completion.observed_tensor(labels)
    g = completion._weighted_shares(Y, np.full(12, 1 / 12, dtype=np.float32))
    labelled = labels.table.entries_per_row > 0
    assert np.allclose(g[labelled], (cf.crowd.vote_shares(labels) - 1 / 3)[labelled], atol=1e-5)
    assert not g[~labelled].any()


@pytest.mark.parametrize("cls", METHODS)
def test_names_do_not_matter_much(cls):
    """The held-out labels differ, so that scores may too, but not the clear answers."""
    labels = skilled_crowd(1).labels
    tasks, workers, classes = permutations_of(labels, 1)
    method, other = recorded(cls().fit, labels)[0], recorded(cls().fit, relabel(labels, tasks, workers, classes))[0]
    renamed = np.argmax(other.posterior_, axis=1)[tasks]
    assert np.mean(renamed == classes[np.argmax(method.posterior_, axis=1)]) > 0.97


@pytest.mark.parametrize("cls", METHODS)
def test_as_good_as_the_votes_on_a_good_crowd_and_the_same_twice(cls):
    crowd = skilled_crowd(2)
    method, again = (recorded(cls(random_state=3).fit, crowd.labels)[0] for _ in range(2))
    assert np.array_equal(method.posterior_, again.posterior_)
    votes = error_rate(cf.crowd.vote_shares(crowd.labels), crowd.truth)
    assert error_rate(method.predict_proba(crowd.labels), crowd.truth) <= votes + 0.01


@pytest.mark.parametrize("cls", METHODS)
def test_a_task_without_labels_stays_undecided(cls):
    labels = skilled_crowd(0).labels
    more = CrowdLabels.from_arrays(*triples(labels), 3, 401, 13, unlabelled="keep")
    method = recorded(cls().fit, more)[0]
    assert np.allclose(method.posterior_[400], 1 / 3, atol=1e-3)
    assert np.isfinite(method.model_.stacked).all()


def test_refuses_what_does_not_fit_in_memory(monkeypatch):
    monkeypatch.setattr(completion, "MOST_CELLS", 1000)
    with pytest.raises(CofactorError, match="too many to complete"):
        CRIAV().fit(skilled_crowd(0).labels)


@pytest.mark.parametrize("cls", METHODS)
def test_refuses_no_labels(cls):
    labels = skilled_crowd(0).labels
    with pytest.raises(CofactorError, match="no task has a label"):
        cls().fit(labels.take_tasks(np.zeros(400, dtype=bool)))


# published: PG-TAC 24.07, 18.21, 8.12; CRIAV 24.07, 17.10, 9.37 per cent
LEVELS = {
    (PGTAC, "bluebird"): 26.9,
    (PGTAC, "dog"): 18.3,
    (PGTAC, "rte"): 9.3,
    (CRIAV, "bluebird"): 25.0,
    (CRIAV, "dog"): 17.5,
    (CRIAV, "rte"): 9.5,
}


@pytest.mark.needs_mirror
@pytest.mark.parametrize(("cls", "name"), LEVELS)
def test_errors_on_public_data_are_of_the_published_level(cls, name):
    found = cf.load(name)
    labels = found.labels.busiest_workers(52) if name == "dog" else found.labels
    error = error_rate(recorded(cls(random_state=0).fit, labels)[0].predict_proba(labels), found.truth)
    assert 100 * error <= LEVELS[cls, name]
