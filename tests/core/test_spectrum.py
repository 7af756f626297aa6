"""Hidden classes are counted by eigenvalues above those of chance."""

import numpy as np
import pytest

from cofactor import CategoricalTable, LatentClassModel, pairwise_moments, simulate
from cofactor.core import moments
from cofactor.core.moments import classes_told_apart, eigenvalues


def crowd_table(model, n_tasks=2000, rate=0.3, seed=0):
    return simulate.crowd(model, n_tasks, rate, random_state=seed).labels.table


def matrix_by_definition(table):
    """Z as the module has it, one pair of values at a time."""
    codes, sizes = table.codes, table.sizes
    values = [(n, i) for n in range(len(sizes)) for i in range(sizes[n])]
    Z = np.zeros((len(values), len(values)))
    for v, (m, i) in enumerate(values):
        for w, (j, k) in enumerate(values):
            both = (codes[:, m] >= 0) & (codes[:, j] >= 0)
            if m == j or not both.any():
                continue
            C = (both & (codes[:, m] == i) & (codes[:, j] == k)).sum()
            E = (both & (codes[:, m] == i)).sum() * (both & (codes[:, j] == k)).sum() / both.sum()
            Z[v, w] = (C - E) / np.sqrt(E) if E else 0
    return Z


def test_eigenvalues_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    table = CategoricalTable(rng.integers(-1, [2, 3, 4, 2], size=(40, 4)), sizes=[2, 3, 4, 2])
    expected = np.sort(np.linalg.eigvalsh(matrix_by_definition(table)))[::-1]
    assert np.allclose(eigenvalues(pairwise_moments(table)), expected)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_counts_the_classes_of_a_crowd(K):
    found, strength = classes_told_apart(crowd_table(simulate.dawid_skene_model(25, K, skill=0.6, random_state=0)))
    assert found == K
    assert (strength[: K - 1] > 1).all() and (strength[K - 1 :] <= 1).all() and (np.diff(strength) <= 0).all()


def test_what_is_just_above_chance_counts():
    model = simulate.dawid_skene_model(25, 5, skill=0.3, random_state=0)
    found, strength = classes_told_apart(crowd_table(model, 1000))
    assert ((strength > 1) & (strength < 2)).any() and found == 1 + np.sum(strength > 1)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_counts_the_rank_of_a_joint_pmf(rank):
    table = simulate.joint_table(simulate.joint_model(8, 5, rank, random_state=1), 4000, observed=0.7, random_state=1)
    assert classes_told_apart(table)[0] == rank


def test_classes_that_nobody_tells_apart_count_once():
    model = simulate.dawid_skene_model(25, 3, skill=0.6, random_state=2)
    merged = LatentClassModel(model.prior, [A[:, [0, 1, 1]] for A in model.conditionals])
    assert classes_told_apart(crowd_table(merged))[0] == 2


def test_names_and_order_do_not_matter():
    table = crowd_table(simulate.dawid_skene_model(10, 3, skill=0.6, random_state=0), 500)
    rng = np.random.default_rng(0)
    codes = table.codes[rng.permutation(500)][:, rng.permutation(10)]
    renamed = CategoricalTable(np.where(codes >= 0, np.array([2, 0, 1])[codes], -1), sizes=[3] * 10)
    one, other = (eigenvalues(pairwise_moments(x)) for x in (table, renamed))
    assert np.allclose(one, other)
    assert classes_told_apart(table)[1].tolist() == classes_told_apart(table)[1].tolist()


def test_shuffling_keeps_where_and_how_often():
    table = crowd_table(simulate.dawid_skene_model(6, 3, skill=0.6, random_state=0), 300)
    shuffled = moments._shuffled(table, np.random.default_rng(0))
    assert np.array_equal(shuffled.codes >= 0, table.codes >= 0)
    assert np.array_equal(shuffled.indicator.sum(axis=0), table.indicator.sum(axis=0))
    assert (shuffled.codes != table.codes).mean() > 0.05


def test_looks_at_the_variables_observed_most(monkeypatch):
    monkeypatch.setattr(moments, "MOST_VALUES", 6)
    monkeypatch.setattr(moments, "MOST_ROWS", 3)
    codes = [[0, 0, -1, 0], [0, 1, -1, 1], [1, 0, 0, 1], [1, 1, 1, -1], [0, 1, -1, 3]]
    chosen = moments._most_observed(CategoricalTable(codes, sizes=[2, 2, 2, 4]))
    assert chosen.codes.tolist() == [[0, 0, -1], [1, 0, 0], [0, 1, -1]]  # the fourth has too many values


@pytest.mark.parametrize("codes", [[[0], [1]], [[-1, -1], [-1, -1]], [[0, -1], [-1, 1]]])
def test_without_pairs_there_is_one_class(codes):
    assert classes_told_apart(CategoricalTable(codes))[0] == 1
