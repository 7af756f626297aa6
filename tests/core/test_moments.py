"""Pairwise moments: the counts of Eq. (3), additive over rows."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor import simulate
from cofactor.core import moments
from cofactor.core import moments as module
from cofactor.core.errors import CofactorError
from cofactor.core.moments import classes_told_apart, eigenvalues, pairwise_moments
from cofactor.core.tables import CategoricalTable
from tests.each import each
from tests.oracles.generators import SIZES, laws, random_table, seeds
from tests.oracles.latent_class import counts_by_looping

PAIRS = [(m, j) for m in range(len(SIZES)) for j in range(len(SIZES)) if m != j]
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])


def block(matrix, m, j):
    return matrix.toarray()[OFFSETS[m] : OFFSETS[m + 1], OFFSETS[j] : OFFSETS[j + 1]]


def assert_equal(a, b):
    assert (a.counts != b.counts).nnz == 0
    assert np.array_equal(a.singles, b.singles)
    assert a.n_rows == b.n_rows


@pytest.mark.usefixtures("both_ways")
@laws
@given(seed=seeds)
def test_equals_the_slow_version(seed):
    table = random_table(seed)
    moments = pairwise_moments(table)
    for m, j in PAIRS:
        C = counts_by_looping(table.codes, m, j, SIZES)
        assert np.array_equal(block(moments.counts, m, j), C)
        assert moments.n_joint.toarray()[m, j] == C.sum()
        if C.sum():
            assert np.allclose(moments.joint(m, j), C / C.sum(), rtol=1e-15)


@laws
@given(seed=seeds, n_rows=st.integers(0, 40), missing=st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_all_three_ways_of_counting_are_equal(seed, n_rows, missing):
    table = random_table(seed, n_rows, missing=missing)
    F = table.indicator
    product = module._by_product(F)
    for counts in (module._by_table(F), module._by_value(F, table.entries_per_row)):
        assert (counts != product).nnz == 0 and counts.nnz == product.nnz
        assert counts.has_sorted_indices
        assert counts.dtype == product.dtype and counts.indices.dtype == product.indices.dtype


@pytest.mark.parametrize(("n_rows", "way"), [(60, "_by_table"), (4, "_by_value"), (1, "_by_product")])
def test_the_way_of_counting_follows_from_the_pairs_per_cell(n_rows, way, monkeypatch):
    taken = []
    monkeypatch.setattr(module, "WORTH_COMPILING", 0)
    for name in ("_by_table", "_by_value", "_by_product"):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, name=name, f=original: taken.append(name) or f(*given))
    codes = np.full((n_rows, 50), -1)
    codes[:, :10] = 0
    pairwise_moments(CategoricalTable(codes, sizes=[2] * 50 if way == "_by_product" else [1] * 50))
    assert taken == [way]


@laws
@given(seed=seeds)
def test_symmetric_with_empty_diagonal_blocks(seed):
    moments = pairwise_moments(random_table(seed))
    assert np.issubdtype(moments.counts.dtype, np.integer)
    assert (moments.counts != moments.counts.T).nnz == 0
    assert all(not block(moments.counts, n, n).any() for n in range(len(SIZES)))
    assert moments.counts.nnz == np.count_nonzero(moments.counts.toarray())


@laws
@given(seed=seeds, n_rows=st.integers(1, 25))
def test_any_pieces_in_any_order_equal_one_shot(seed, n_rows):
    table = random_table(seed)
    whole, parts = pairwise_moments(table), [table.take_rows(slice(s, s + n_rows)) for s in range(0, 25, n_rows)]
    np.random.default_rng(seed).shuffle(parts)
    assert_equal(reduce(add, map(pairwise_moments, parts)), whole)


# ---- bad input ----


@each("sizes", [(2, 4, 3), (2, 3)])
def test_refuses_other_variables(sizes):
    with pytest.raises(CofactorError, match="3 variables with 9 values"):
        pairwise_moments(random_table(0)) + pairwise_moments(random_table(0, sizes=sizes))


def test_refuses_the_joint_of_variables_never_seen_together():
    moments = pairwise_moments(CategoricalTable([[0, -1], [-1, 1]]))
    with pytest.raises(CofactorError, match="variables 0 and 1 were never observed together"):
        moments.joint(0, 1)


# ---- how many classes pairs tell apart ----


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


@each("K", [2, 3, 5])
def test_counts_the_classes_of_a_crowd(K):
    found, strength = classes_told_apart(crowd_table(simulate.dawid_skene_model(25, K, skill=0.6, random_state=0)))
    assert found == K
    assert (strength[: K - 1] > 1).all() and (strength[K - 1 :] <= 1).all() and (np.diff(strength) <= 0).all()


@each("rank", [1, 2, 4])
def test_counts_the_rank_of_a_joint_pmf(rank):
    table = simulate.joint_table(simulate.joint_model(8, 5, rank, random_state=1), 4000, observed=0.7, random_state=1)
    assert classes_told_apart(table)[0] == rank


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


@each("codes", [[[0], [1]], [[-1, -1], [-1, -1]], [[0, -1], [-1, 1]]])
def test_without_pairs_there_is_one_class(codes):
    assert classes_told_apart(CategoricalTable(codes))[0] == 1
