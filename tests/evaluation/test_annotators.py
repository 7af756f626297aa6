"""Classifiers as annotators: the paper's settings, rates and parts, and the error of the vote that it printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import cofactor as cf
from cofactor.crowd import error_rate, vote_shares
from evaluation.crowd import annotators
from tests.oracles.generators import laws, recorded, seeds


def classifiers_on(seed):
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0)
    return recorded(annotators.machine_annotators, X, y, random_state=seed)[0]


SETTINGS = {  # ICML 2021, Table 8, whose "coarse" Gaussian kernel of P = 9 features has the scale 4 sqrt(P) = 12
    "100 neighbours": dict(n_neighbors=100, p=2),
    "10 neighbours": dict(n_neighbors=10, p=2),
    "1 neighbour": dict(n_neighbors=1, p=2),
    "10 cosine neighbours": dict(n_neighbors=10, metric="cosine"),
    "tree, 5 leaves": dict(max_leaf_nodes=5),
    "tree, 21 leaves": dict(max_leaf_nodes=21),
    "tree, 101 leaves": dict(max_leaf_nodes=101),
    "linear SVM": dict(C=1),
    "quadratic SVM": dict(kernel="poly", degree=2, coef0=1, C=1),
    "RBF SVM": dict(kernel="rbf", gamma=1 / 12**2, C=1),
}


@pytest.mark.parametrize(("name", "settings"), SETTINGS.items())
def test_classifiers_have_the_settings_of_the_paper(name, settings):
    place = annotators.MACHINES.index(name)
    found = annotators._classifiers(9, 150, 0)[place][-1].get_params()
    assert {key: found[key] for key in settings} == settings
    few = annotators._classifiers(9, 6, 0)[place][-1].get_params()
    assert few.get("n_neighbors", 0) == min(6, settings.get("n_neighbors", 0))


def test_machine_annotators_are_deterministic_and_better_than_chance():
    first, second, other = (classifiers_on(seed) for seed in (0, 0, 1))
    assert np.array_equal(first.labels.table.codes, second.labels.table.codes)
    assert not np.array_equal(first.labels.table.codes, other.labels.table.codes)
    assert first.labels.workers == list(annotators.MACHINES)
    assert first.labels.n_tasks == len(first.truth) == 340
    assert first.model is None
    right = first.truth[first.labels.table.rows] == first.labels.table.values
    assert right.mean() > 0.5


def problem(n_rows=400):
    return make_classification(n_rows, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0)


@pytest.mark.slow
@laws
@given(seed=seeds, designated=st.integers(0, 10))
def test_designated_annotators_have_the_rate_of_their_own(seed, designated):
    rates = annotators.label_rates(10, (0.3, 0.5), designated, 0.8, seed)
    assert np.sum(rates == 0.8) == designated
    assert np.sum((rates >= 0.3) & (rates <= 0.5)) == 10 - designated


def test_designated_annotators_label_more():
    crowd = recorded(annotators.machine_annotators, *problem(2000), label_rate=(0.1, 0.2), n_designated=2)[0]
    share = np.sort(crowd.labels.table.entries_per_variable / crowd.labels.n_tasks)
    assert np.all(np.abs(share[-2:] - 0.8) <= 5 * np.sqrt(0.16 / crowd.labels.n_tasks)) and share[-3] < 0.25


def parts_of(mask):
    """(parts, n_workers) who may label each part; (parts,) how many tasks it has."""
    return np.unique(mask, axis=0, return_counts=True)


@laws
@given(seed=seeds, each=st.integers(4, 9))
def test_parts_are_for_so_many_annotators_each_who_hang_together(seed, each):
    mask = annotators.part_mask(200, 10, each, random_state=seed)
    members, sizes = parts_of(mask)
    assert sorted(sizes) == [20, 60, 120] or each > 6  # large parts may be for the same annotators
    assert np.all(members.sum(axis=1) == each)
    assert members.any(axis=0).all()
    shared = members.astype(int) @ members.T
    assert np.linalg.matrix_power(shared, len(members))[0].all()


@pytest.mark.parametrize(("each", "missing"), [(4, 0.64), (5, 0.47), (7, 0.2)])
def test_fewer_annotators_per_part_leave_more_pairs_without_common_tasks(each, missing):
    shares = []
    for seed in range(100):
        mask = annotators.part_mask(100, 10, each, random_state=seed).astype(int)
        together = mask.T @ mask
        np.fill_diagonal(together, 0)
        shares.append(np.mean(together == 0))
    assert np.mean(shares) == pytest.approx(missing, abs=0.02)


def test_parts_may_be_for_different_numbers_of_annotators():
    for numbers in ((7, 4, 4), (4, 4, 9), [4, 4, 4]):
        mask = annotators.part_mask(200, 10, numbers, random_state=3)
        members, sizes = parts_of(mask)
        assert sorted(zip(sizes, members.sum(axis=1), strict=True)) == list(zip((20, 60, 120), numbers, strict=True))
        assert members.any(axis=0).all()
    alike = [annotators.part_mask(50, 10, parts, random_state=1) for parts in (5, (5, 5, 5))]
    assert np.array_equal(*alike)


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize(
    ("rate", "designated", "error"),
    # spec crowd.md, Table 2, majority vote with unlabelled items wrong and ties split: mean of 20 trials, sd about 1.1
    [((0.3, 0.3), 0, 18.39), ((0.3, 0.5), 2, 14.91), ((0.5, 0.7), 2, 14.50)],
)
def test_credit_errs_as_published(rate, designated, error):
    credit, errors = cf.load("credit"), []
    for seed in range(10):
        crowd = annotators.machine_annotators(credit.features, credit.target, 150, rate, seed, n_designated=designated)
        unlabelled = np.mean(crowd.labels.table.entries_per_row == 0)  # a tie of both classes counts half by itself
        errors.append(100 * (error_rate(vote_shares(crowd.labels), crowd.truth) + unlabelled / 2))
    assert np.mean(errors) == pytest.approx(error, abs=1.1)
