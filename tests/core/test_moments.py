"""Pairwise moments: the counts of Eq. (3), additive over rows."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core import moments as module
from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
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


def test_counts_single_values():
    table = random_table(3)
    expected = [np.sum(table.codes[:, n] == i) for n, size in enumerate(SIZES) for i in range(size)]
    assert pairwise_moments(table).singles.tolist() == expected


@laws
@given(seed=seeds, n_rows=st.integers(1, 25))
def test_any_pieces_in_any_order_equal_one_shot(seed, n_rows):
    table = random_table(seed)
    whole, parts = pairwise_moments(table), [table.take_rows(slice(s, s + n_rows)) for s in range(0, 25, n_rows)]
    np.random.default_rng(seed).shuffle(parts)
    assert_equal(reduce(add, map(pairwise_moments, parts)), whole)


@laws
@given(seed=seeds)
def test_merging_is_associative_and_commutative(seed):
    a, b, c = (pairwise_moments(random_table(seed + i)) for i in range(3))
    assert_equal((a + b) + c, a + (c + b))


# ---- bad input ----


@pytest.mark.parametrize("sizes", [(2, 4, 3), (2, 3)])
def test_refuses_other_variables(sizes):
    with pytest.raises(CofactorError, match="3 variables with 9 values"):
        pairwise_moments(random_table(0)) + pairwise_moments(random_table(0, sizes=sizes))


def test_refuses_the_joint_of_variables_never_seen_together():
    moments = pairwise_moments(CategoricalTable([[0, -1], [-1, 1]]))
    with pytest.raises(CofactorError, match="variables 0 and 1 were never observed together"):
        moments.joint(0, 1)
