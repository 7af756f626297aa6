"""Arguments that are no numbers are refused by name, whatever NumPy would make of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import base

from cofactor import crowd
from cofactor.core import errors
from cofactor.core.checks import (
    added_up,
    check_between,
    check_positive,
    check_whole,
    finite_matrix,
    numbers,
    positions,
    whole_matrix,
)
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.latent_class import match_classes, match_columns
from tests.each import each


@each(
    "values",
    [
        "text",
        [[1, 2], [3]],
        [1j],
        {1: 2},
        np.array(["2020-01-01"], dtype="M8[s]"),
        sparse.csr_array((3, 4)),
        [[None, {}]],
    ],
)
def test_what_holds_no_numbers_is_refused(values):
    with pytest.raises(CofactorError, match="W must contain numbers"):
        numbers(values, "W")


def test_numbers_stay_as_they_are():
    given = np.array([[1.0, np.nan]])
    assert numbers(given, "W", 2) is given
    assert numbers([2**70, True], "W").tolist() == [2.0**70, 1.0]
    with pytest.raises(CofactorError, match=r"W must have 1 dimension\(s\), got shape \(1, 2\)"):
        numbers(given, "W", 1)


def test_bad_entries_of_matrices_are_named():
    with pytest.raises(CofactorError, match=r"W contains NaN or infinity in 2 columns \(1, 2\):"):
        finite_matrix([[0, np.nan, np.inf]], "W")
    with pytest.raises(CofactorError, match=r"W is empty"):
        finite_matrix(np.zeros((0, 3)), "W")
    with pytest.raises(CofactorError, match=r"from 0 to below 3; found -1\.0, 3\.0, 0\.5"):
        whole_matrix([[-1, 3, 0.5, 2]], "words", 3)
    assert whole_matrix([[0, 2**31 - 1]], "words").tolist() == [[0, 2**31 - 1]]
    with pytest.raises(CofactorError, match=r"from 0 to below 2147483648; found 2147483648"):
        whole_matrix([[2**31]], "words")


def test_sparse_entries_are_added_up_on_a_copy():
    twice = sparse.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    zero = sparse.csr_array(([0.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    for given, whole in ((twice, [[3, 0], [0, 5]]), (zero, [[0, 0], [0, 2]])):
        found = added_up(given)
        assert found.has_canonical_format and found.data.all() and found.toarray().tolist() == whole
        assert found is not given and len(given.data) > len(found.data)
    sound = sparse.csr_array(np.eye(2))
    assert added_up(sound) is sound


@each("value", [0, 1.5, True, "2", None, np.nan])
def test_settings_must_be_whole_numbers(value):
    with pytest.raises(CofactorError, match=r"rank=.*whole number of at least 1"):
        check_whole(1, rank=value)


@each("value", [-0.1, 1.1, np.nan, "a", None])
def test_settings_must_lie_between(value):
    with pytest.raises(CofactorError, match=r"share=.*a number from 0 to 1"):
        check_between(0, 1, share=value)


def test_settings_must_be_positive_or_zero_where_that_is_allowed():
    check_positive(rate=1e-9)
    check_positive(zero=True, rate=0, ridge=0.5)
    for zero, wrong in ((False, 0), (False, -1), (True, -1e-9), (True, np.inf), (True, np.nan), (True, "1")):
        with pytest.raises(CofactorError, match="least 0" if zero else "positive number"):
            check_positive(zero=zero, rate=wrong)


def test_huge_columns_are_matched_without_overflow():
    assert match_columns([[1e300, 0], [0, 1e300]], [[0, 1e300], [1e300, 0]]).tolist() == [1, 0]


def test_matrices_of_different_rows_are_not_matched():
    for match in (match_columns, match_classes):
        with pytest.raises(CofactorError, match="must have the same number of rows"):
            match(np.ones((2, 2)), np.ones((3, 2)))


@each("chosen", [[3], [0.5], "text", [True], [[0]], 1, [[0, 1], [1]], [-4]])
def test_positions_out_of_range_are_refused(chosen):
    with pytest.raises(CofactorError, match="rows: give "):
        positions(chosen, 3, "rows")


# ---- lists in messages ----


@each(
    "count, expected",
    [
        (0, ""),
        (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        (11, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (11 in all)"),
    ],
)
def test_names_ten_and_counts_all(count, expected):
    assert errors.listing(iter(range(count))) == expected


# ---- the protocol of scikit-learn ----


def test_both_clones_give_the_same_and_leave_the_fit_behind():
    rng = np.random.default_rng(0)
    method = crowd.WorkerTypes(diagonal=3.0, random_state=rng)
    method.model_ = "found by a fit"
    for copied in (clone(method), base.clone(method)):
        assert type(copied) is crowd.WorkerTypes and copied.diagonal == 3.0 and not hasattr(copied, "model_")
        assert copied.random_state is not rng and copied.random_state.random() == np.random.default_rng(0).random()


def test_parameters_are_told_changed_and_shown():
    method = crowd.MVEM(random_state=1)
    assert list(method.get_params()) == sorted(method.get_params()) and method.get_params()["random_state"] == 1
    assert method.set_params(max_iter=7) is method and method.max_iter == 7
    assert repr(method) == "MVEM(max_iter=7, random_state=1)" and repr(crowd.MVEM()) == "MVEM()"
    with pytest.raises(CofactorError, match=r"^MVEM has no parameter rounds, taste; it has .*max_iter.*random_state"):
        method.set_params(max_iter=9, rounds=3, taste="x")
    assert method.max_iter == 7
