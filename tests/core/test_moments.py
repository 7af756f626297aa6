"""Pairwise moments: the counts of Eq. (3), additive over rows."""

from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments, stream_moments
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
def test_any_chunks_in_any_order_equal_one_shot(seed, n_rows):
    table = random_table(seed)
    whole, parts = pairwise_moments(table), list(table.chunks(n_rows))
    np.random.default_rng(seed).shuffle(parts)
    assert_equal(stream_moments(iter(parts)), whole)


@laws
@given(seed=seeds)
def test_merging_is_associative_and_commutative(seed):
    a, b, c = (pairwise_moments(random_table(seed + i)) for i in range(3))
    assert_equal((a + b) + c, a + (c + b))


def test_stream_holds_one_table_at_a_time():
    read = []

    def tables():
        for seed in range(4):
            assert all(table() is None for table in read)  # those before are gone
            table = random_table(seed)
            read.append(ref(table))
            yield table
            del table

    assert stream_moments(tables()).n_rows == 80
    assert len(read) == 4


# ---- bad input ----


def test_refuses_an_empty_stream():
    with pytest.raises(CofactorError, match="empty"):
        stream_moments([])


@pytest.mark.parametrize("sizes", [(2, 4, 3), (2, 3)])
def test_refuses_other_variables(sizes):
    with pytest.raises(CofactorError, match="3 variables with 9 values"):
        pairwise_moments(random_table(0)) + pairwise_moments(random_table(0, sizes=sizes))


def test_refuses_the_joint_of_variables_never_seen_together():
    moments = pairwise_moments(CategoricalTable([[0, -1], [-1, 1]]))
    with pytest.raises(CofactorError, match="variables 0 and 1 were never observed together"):
        moments.joint(0, 1)
