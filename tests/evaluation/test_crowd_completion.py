"""Completion of labels: the proximal operator against the SVD, laws of names, levels on real data."""

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import error_rate
from evaluation.released import crowd_criav as criav
from evaluation.released import crowd_pgtac as pgtac
from evaluation.released import crowd_soft_impute as soft_impute
from evaluation.released.crowd_criav import CRIAV
from evaluation.released.crowd_pgtac import PGTAC
from tests.oracles.completion import mean_of_thresholded_unfoldings, soft_impute_by_filling_in
from tests.oracles.generators import laws, permutations_of, recorded, relabel, seeds, skilled_crowd, triples

METHODS = [PGTAC, CRIAV]


@laws
@given(seed=seeds)
def test_shrinking_is_that_of_the_singular_values(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(rng.integers(2, 9, 2)).astype(np.float32)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    assert np.allclose(pgtac.shrink(X, 0.7), U * np.maximum(s - 0.7, 0) @ Vt, atol=1e-4)


def objective(T, Y, known, share):
    penalties = [share * np.linalg.norm(X, 2) for X in pgtac._unfoldings(Y)]
    nuclear = [np.linalg.norm(X, "nuc") for X in pgtac._unfoldings(T)]
    return ((T - Y)[known] ** 2).sum() / 2 + np.dot(penalties, nuclear) / 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_lower_the_objective_and_end_at_fibres_that_are_distributions(n_classes):
    Y, known = everything_known(skilled_crowd(0, n_classes=n_classes).labels)
    steps = [pgtac.complete_tensor(Y, known, 0.1, np.zeros_like(Y), n) for n in (0, 1, 5, 20)]
    assert np.all(np.diff([objective(T, Y, known, 0.1) for T in steps]) < 0)
    assert (steps[-1] @ pgtac._basis(n_classes)).min() >= -1 / n_classes - 1e-5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_coordinates_take_the_same_step_as_whole_fibres(n_classes):
    Y, _ = everything_known(skilled_crowd(1, n_tasks=60, n_classes=n_classes).labels)
    whole = Y @ pgtac._basis(n_classes)
    penalties = [0.2 * np.linalg.norm(X, 2) for X in pgtac._unfoldings(whole)]
    step = pgtac._thresholded(Y, penalties) @ pgtac._basis(n_classes)
    assert np.allclose(step, mean_of_thresholded_unfoldings(whole, penalties), atol=1e-5)


def everything_known(labels):
    return pgtac.augmented_tensor(labels, np.ones(labels.n_labels, dtype=bool))


@pytest.mark.slow
@laws
@given(seed=seeds)
def test_soft_impute_finds_what_filling_in_and_thresholding_finds(seed):
    rng = np.random.default_rng(seed)
    shape, penalty = rng.integers(5, 20, 2), rng.uniform(0.5, 1.5)
    Y = (rng.random(shape) < 0.5).astype(np.float32)
    known = rng.random(shape) < 0.6
    entries = soft_impute.Entries(*np.nonzero(known), tuple(shape))
    A, B = soft_impute.soft_impute(entries, Y[known], penalty, soft_impute.nothing(tuple(shape)))
    slow = soft_impute_by_filling_in(Y, known, penalty)
    values = [imputed_objective(Z, Y, known, penalty) for Z in (A @ B.T, slow)]
    assert values[0] <= 1.06 * values[1]  # passes end where one gains a ten thousandth; 2.3 % was left at most in 1,500


def imputed_objective(Z, Y, known, penalty):
    return ((Z - Y)[known] ** 2).sum() / 2 + penalty * np.linalg.norm(Z, "nuc")


def test_a_class_of_rank_one_is_completed():
    Y = np.outer(np.ones(100), np.arange(10) < 6).astype(np.float32)
    known = np.random.default_rng(0).random(Y.shape) < 0.8
    entries = soft_impute.Entries(*np.nonzero(known), Y.shape)
    hidden = soft_impute.held_out(known.sum(), 0)
    A, B = soft_impute.completed(entries, Y[known], hidden)
    Z = A @ B.T
    assert Z[:, :6].min() > 0.2 > 0.1 > Z[:, 6:].max()


def test_a_class_nobody_names_is_completed_by_nothing():
    entries = soft_impute.Entries(np.arange(5), np.arange(5), (5, 5))
    A, B = soft_impute.completed(entries, np.zeros(5, np.float32), np.arange(5) == 0)
    assert not (A @ B.T).any()


def test_agreement_counts_labels_given_and_ties_in_part():
    labels = CrowdLabels.from_arrays([0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1], 2, 2, 3, unlabelled="keep")
    decided = criav._decided(np.array([[0.7, 0.3], [0.5, 0.5]]))
    assert criav.agreement(labels, decided).tolist() == [0.75, 0.25, 0]


def test_reliable_annotators_weigh_more_and_adversaries_nothing():
    votes = pgtac._basis(2).T[np.arange(6) % 2]
    Y = np.stack([votes, -votes, votes * 0], axis=1)
    w = pgtac.reliability(Y, np.array([[True, True, False]] * 6), votes)
    assert w.tolist() == [1, 0, 0]


def test_weighted_shares_are_vote_shares_where_only_given_labels_count():
    labels = skilled_crowd(0, label_rate=0.3).labels
    Y, known = everything_known(labels)
    g = pgtac._weighted_shares(Y[:, :-1], np.full(12, 1 / 12, dtype=np.float32)) @ pgtac._basis(3)
    labelled = known[:, -1]
    assert np.allclose(g[labelled], (cf.crowd.vote_shares(labels) - 1 / 3)[labelled], atol=1e-5)
    assert np.allclose(g, Y[:, -1] @ pgtac._basis(3), atol=1e-5)


def test_numbers_that_underflow_become_zero():
    assert pgtac._without_dust(np.array([1e-30, -1e-30, 1e-3], dtype=np.float32)).tolist() == [
        0,
        0,
        np.float32(1e-3),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("cls", METHODS)
def test_names_do_not_matter_much(cls):
    """The held-out labels differ, so that scores may too, but not the clear answers."""
    labels = skilled_crowd(1).labels
    tasks, workers, classes = permutations_of(labels, 1)
    method, other = recorded(cls().fit, labels)[0], recorded(cls().fit, relabel(labels, tasks, workers, classes))[0]
    renamed = np.argmax(other.posterior_, axis=1)[tasks]
    assert np.mean(renamed == classes[np.argmax(method.posterior_, axis=1)]) > 0.97


@pytest.mark.slow
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
    monkeypatch.setattr(pgtac, "MOST_CELLS", 1000)
    with pytest.raises(CofactorError, match="too many to complete"):
        PGTAC().fit(skilled_crowd(0).labels)


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


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize(("cls", "name"), LEVELS)
def test_errors_on_public_data_are_of_the_published_level(cls, name):
    found = cf.load(name)
    labels = found.labels.busiest_workers(52) if name == "dog" else found.labels
    error = error_rate(recorded(cls(random_state=0).fit, labels)[0].predict_proba(labels), found.truth)
    assert 100 * error <= LEVELS[cls, name]
