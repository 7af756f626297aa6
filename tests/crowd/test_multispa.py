"""MultiSPA: exact where every class has its own label, never drops anybody, follows a renaming."""

import itertools

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor import plain, simulate
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import error_rate
from cofactor.rivals.crowd.multispa import MultiSPA, match_to_votes, model_of_matrices, vertex_matrices
from tests.oracles.crowd import blocks_of
from tests.oracles.generators import laws, random_model, recorded, seeds, skilled_crowd


def perfect_first(seed, M=6, K=3):
    """Annotator 0 never errs, so the others' co-occurrences with it hold their very columns."""
    model = random_model(seed, K, (K,) * M)
    return LatentClassModel(model.prior, [np.eye(K), *model.conditionals[1:]])


@laws
@given(seed=seeds)
def test_without_noise_the_columns_are_the_true_ones(seed):
    truth = perfect_first(seed)
    A, informative = vertex_matrices(Cooccurrences.from_model(truth))
    assert informative[1:].all()
    for found, true in zip(A[1:], truth.conditionals[1:], strict=True):
        orders = itertools.permutations(range(3))
        assert min(np.abs(found[:, order] - true).max() for order in orders) < 1e-9


@laws
@given(seed=seeds)
def test_equals_the_definition_annotator_by_annotator(seed):
    """Without sampling noise but far from separable, where ties do not occur."""
    mask = np.triu(np.random.default_rng(seed).random((6, 6)) < 0.7)
    cooc = Cooccurrences.from_model(random_model(seed, 3, (3,) * 6), mask | mask.T)
    A, informative = vertex_matrices(cooc)
    observed = blocks_of(cooc)
    for m in np.flatnonzero(informative):
        Z = np.hstack([observed[m, j][0] for j in range(6) if (m, j) in observed])
        Z = Z / Z.sum(axis=0)
        assert np.allclose(A[m], Z[:, plain.spa(Z, 3)])


def test_blocks_without_full_rank_do_not_count():
    truth = perfect_first(0)
    useless = LatentClassModel(truth.prior, [*truth.conditionals[:5], np.full((3, 3), 1 / 3)])
    A, informative = vertex_matrices(Cooccurrences.from_model(useless))
    assert informative.tolist() == [True] * 5 + [False]
    assert np.array_equal(A[5], np.full((3, 3), 1 / 3))
    assert np.allclose(A[:5], vertex_matrices(Cooccurrences.from_model(truth))[0][:5])


def test_one_pair_of_annotators_is_not_enough():
    """K columns are not more than K: the vertices of one block are all its columns, whatever they are."""
    truth = perfect_first(1, M=2)
    assert not vertex_matrices(Cooccurrences.from_model(truth))[1].any()
    nobody = Cooccurrences.from_model(truth, np.zeros((2, 2)))
    assert not vertex_matrices(nobody)[1].any()


def test_an_adversary_is_matched_as_one():
    honest, swapped = np.array([[0.8, 0.1], [0.2, 0.9]]), np.array([[0.1, 0.8], [0.9, 0.2]])
    votes = LatentClassModel([0.5, 0.5], [honest, swapped])
    for first, second in itertools.product([honest, honest[:, ::-1]], [swapped, swapped[:, ::-1]]):
        assert np.array_equal(match_to_votes(np.stack([first, second]), votes), [honest, swapped])


def test_the_floor_keeps_columns_on_the_simplex():
    model = model_of_matrices(np.stack([np.eye(3)] * 2), 0.01)
    assert np.allclose(model.stacked.reshape(2, 3, 3).sum(axis=1), 1)
    assert np.isclose(model.stacked.min(), 0.01 / 1.02)
    assert model_of_matrices(np.stack([np.eye(3)] * 2), 0.0).stacked.min() == 0


def test_gets_nearer_to_the_truth_with_more_tasks():
    model = simulate.dawid_skene_model(15, 3, skill=0.6, specialist_error=0.0, prior=np.ones(3) / 3, random_state=0)
    errors = []
    for n_tasks in (300, 30_000):
        labels = simulate.crowd(model, n_tasks, 0.5, random_state=0).labels
        errors.append(model.mse(MultiSPA().fit(labels).model_))
    assert errors[1] < errors[0] / 2


def test_names_those_it_cannot_estimate_and_keeps_their_place():
    labels = skilled_crowd(0).labels
    rows = (labels.table.rows, labels.table.variables, labels.table.values)
    more = [np.append(old, new) for old, new in zip(rows, ([400], [12], [0]), strict=True)]
    labels = CrowdLabels.from_arrays(*more, 3, 401, 13, unlabelled="keep")
    with pytest.warns(
        DataWarning, match="without a full-rank co-occurrence get uniform confusion matrices: 12$"
    ) as told:
        method = MultiSPA().fit(labels)
    assert told[0].filename == __file__
    assert np.array_equal(method.model_.conditionals[12], np.full((3, 3), 1 / 3))
    assert np.isfinite(method.predict_proba(labels)).all()


def test_refuses_where_it_can_estimate_nobody():
    labels = CrowdLabels.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    with pytest.raises(CofactorError, match="because none shares labels of all 2 classes"):
        MultiSPA().fit(labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plain", "with_zeros"),
    [
        ("bluebird", 13.89, 13.89),
        *(
            pytest.param(*row, marks=pytest.mark.needs_mirror)
            for row in [("dog", 17.91, 17.91), ("rte", 8.13, 8.38), ("trec", 31.78, 31.78)]
        ),
    ],
)
def test_errs_as_published(name, plain, with_zeros):
    """Published: 13.88, 17.96, 8.37, 31.56, zeros kept."""
    found = cf.load(name)
    labels = found.labels.busiest_workers(52) if name == "dog" else found.labels
    for floor, percent in ((1e-3, plain), (0.0, with_zeros)):
        method, _ = recorded(MultiSPA(floor=floor).fit, labels)
        assert round(100 * error_rate(method.predict_proba(labels), found.truth), 2) == percent
