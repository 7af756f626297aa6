"""CategoricalTable: dense and sparse views agree, every part is the part, bad input is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from tests.each import each
from tests.oracles.generators import SIZES, laws, random_codes, random_table, seeds


@laws
@given(seed=seeds, missing=st.sampled_from([0.0, 0.4, 0.95, 1.0]))
def test_dense_to_entries_and_back(seed, missing):
    codes = random_codes(seed, missing=missing)
    table = CategoricalTable(codes, SIZES)
    order = np.random.default_rng(seed).permutation(table.n_entries)
    entries = table.rows[order], table.variables[order], table.values[order]
    again = CategoricalTable.from_entries(*entries, SIZES, n_rows=len(codes))
    assert np.array_equal(table.codes, codes)
    assert np.array_equal(again.codes, codes)


@laws
@given(seed=seeds)
def test_counts_what_is_observed(seed):
    codes = random_codes(seed)
    table = CategoricalTable(codes, SIZES)
    assert table.n_entries == (codes >= 0).sum()
    assert np.array_equal(table.entries_per_row, (codes >= 0).sum(axis=1))
    assert np.array_equal(table.entries_per_variable, (codes >= 0).sum(axis=0))
    assert (table.n_rows, table.n_variables) == codes.shape


@laws
@given(seed=seeds)
def test_parts_equal_dense_indexing(seed):
    table, rng = random_table(seed), np.random.default_rng(seed)
    rows, mask = rng.integers(0, 20, size=7), rng.random(20) < 0.5
    assert np.array_equal(table.take_rows(rows).codes, table.codes[rows])
    assert np.array_equal(table.take_rows(mask).codes, table.codes[mask])
    assert np.array_equal(table.take_rows(slice(3, 9)).codes, table.codes[3:9])
    variables = rng.permutation(3)[: rng.integers(1, 4)]
    part = table.take_variables(variables)
    assert np.array_equal(part.codes, table.codes[:, variables])
    assert np.array_equal(part.sizes, np.array(SIZES)[variables])


def test_default_alphabets_are_the_largest_codes():
    table = CategoricalTable([[0, 3, -1], [1, 0, -1]])
    assert table.sizes.tolist() == [2, 4, 1]
    assert table.offsets.tolist() == [0, 2, 6]


# ---- bad input ----


@each(
    "codes, message",
    [
        ([0, 1], r"2 dimension\(s\), got an array of shape \(2,\)"),
        ([["a", "b"]], "integers"),
        ([[0, 1e300]], r"integers, or -1 if missing; found others at \(0, 1\)"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), r"others at \(0, 1\)"),
        ([[0.5, 1.0]], r"\(0, 0\)"),
        ([[0.0, np.nan]], r"\(0, 1\)"),
        ([[True, False]], "got bool"),
        ([[0, -2]], "row 0, variable 1: -2"),
    ],
)
def test_refuses_what_is_no_table_of_codes(codes, message):
    with pytest.raises(CofactorError, match=message):
        CategoricalTable(codes)


def test_names_the_first_ten_codes_outside_their_alphabet_and_counts_them():
    with pytest.raises(CofactorError, match=r"row 0, variable 0: 5, .*row 9, variable 0: 5, \.\.\. \(12 in all\)"):
        CategoricalTable(np.full((12, 1), 5), sizes=[3])


@each(
    "row, variable, code, message",
    [
        ([0, 9], [0, 0], [0, 0], r"row index out of range 0\.\.2: 9"),
        ([0, -1], [0, 0], [0, 0], "row index out of range .*: -1"),
        ([0], [7], [0], r"variable index out of range 0\.\.1: 7"),
        ([0], [0], [2], "row 0, variable 0: 2"),
        ([0], [0], [-1], "row 0, variable 0: -1"),
        ([0, 1], [0], [0], "differ in length: 2, 1 and 1"),
        ([1, 1], [0, 0], [0, 1], "more than once .*row 1, variable 0"),
        ([1, 1], [0, 0], [1, 1], "more than once .*row 1, variable 0"),
    ],
)
def test_names_bad_entries(row, variable, code, message):
    with pytest.raises(CofactorError, match=message):
        CategoricalTable.from_entries(row, variable, code, sizes=[2, 2], n_rows=3)


@each("sizes", [[2], [2, 2, 2]])
def test_refuses_as_many_sizes_as_there_are_no_variables(sizes):
    with pytest.raises(CofactorError, match="size"):
        CategoricalTable([[0, -1]], sizes=sizes)


def test_refuses_ragged_rows():
    with pytest.raises(CofactorError):
        CategoricalTable([[0, 1], [0]])


@each("sizes, n_rows", [([-1, 2], 1), ([1.5, 2], 1), ([2, 2], -1)])
def test_refuses_sizes_and_numbers_of_rows_that_make_no_table(sizes, n_rows):
    with pytest.raises(CofactorError):
        CategoricalTable.from_entries([], [], [], sizes, n_rows)


def test_sizes_that_no_memory_holds_are_refused_with_their_bytes():
    for sizes in ([2**31, 2], [2**62, 2**62], [2**40, 2]):
        with pytest.raises(CofactorError, match=r"would take .* GB \(\d+ bytes\)"):
            CategoricalTable([[0, 1], [1, 0]], sizes)
