"""Sums over rows: soft counts and pairwise moments, added up over pieces, are those of all rows."""

from functools import reduce
from operator import add

import numpy as np
import pytest

import cofactor as cf
from cofactor.core.em import em, expectation, iterate_em, maximization, soft_counts
from cofactor.core.moments import pairwise_moments

pytestmark = pytest.mark.usefixtures("both_ways")


def pieces_of(table, n_rows):
    return [table.take_rows(slice(first, first + n_rows)) for first in range(0, table.n_rows, n_rows)]


@pytest.fixture
def table():
    model = cf.simulate.dawid_skene_model(9, 3, skill=0.6, random_state=2)
    return cf.simulate.crowd(model, 400, 0.5, random_state=2).labels.table


@pytest.fixture
def start():
    return cf.simulate.dawid_skene_model(9, 3, skill=0.4, random_state=3)


def test_soft_counts_of_pieces_add_up_and_give_the_same_model(table, start):
    Q = start.posterior(table)
    whole = soft_counts(table, Q)
    pieces = reduce(add, (expectation(piece, start) for piece in pieces_of(table, 70)))
    assert np.allclose(pieces.cells, whole.cells, atol=1e-10) and pieces.n_rows == whole.n_rows == 400
    assert np.isclose(pieces.log_likelihood, start.log_likelihood(table), rtol=1e-13)
    model, known = pieces.model(0.5), maximization(table, Q, 0.5)
    assert np.allclose(model.stacked, known.stacked, atol=1e-13) and np.allclose(model.prior, known.prior, atol=1e-13)


def test_em_over_pieces_is_em(table, start):
    rows = table.take_rows(table.entries_per_row > 0)
    model, result = iterate_em(lambda model: reduce(add, (expectation(p, model) for p in pieces_of(rows, 70))), start)
    whole, known = em(table, start)
    assert result.n_iter == known.n_iter and np.allclose(result.objective, known.objective, rtol=1e-13)
    assert np.allclose(model.stacked, whole.stacked, atol=1e-12)


def test_soft_counts_of_other_variables_do_not_merge(table, start):
    counts = expectation(table, start)
    fewer = table.take_variables(range(8))
    with pytest.raises(cf.CofactorError, match="same variables and classes"):
        counts + soft_counts(fewer, np.ones((400, 3)) / 3)
    with pytest.raises(cf.CofactorError, match="nothing to fit"):
        soft_counts(table.take_rows(slice(0, 0)), np.ones((0, 3))).model()


def test_moments_of_pieces_add_up(table):
    whole, moments = pairwise_moments(table), reduce(add, map(pairwise_moments, pieces_of(table, 70)))
    assert (moments.counts != whole.counts).nnz == 0 and moments.counts.dtype == whole.counts.dtype
    assert np.array_equal(moments.singles, whole.singles) and moments.n_rows == whole.n_rows


def test_large_counts_are_kept_whole():
    many = pairwise_moments(cf.CategoricalTable(np.zeros((70_000, 2), dtype=int), sizes=[2, 2]))
    assert (many + many).counts[0, 2] == 140_000
