"""Sparse matrices as other programs write them: the same answer or a `CofactorError`; they stay as they are."""

import numpy as np
import pytest
from scipy import sparse

from tests.fuzz.test_extremes import LONG, REFUSED, SOUND, arrays_of, plain_answer, run, same

OTHER_ERROR = {"pmf.JointPMFClassifier"}  # scikit-learn asks its estimators for a TypeError


def matrices_of(name):
    return {key: array for key, array in arrays_of(name).items() if array.ndim == 2}


CASES = [name for name in SOUND if name not in LONG | OTHER_ERROR and matrices_of(name)]


def untidy(array, kind):
    """The same numbers in a sparse matrix: indices fall, zeros are stored, each entry comes in two parts."""
    lines = array if kind is sparse.csr_array else array.T
    places = np.tile(np.arange(lines.shape[1])[::-1], (len(lines), 2))
    values = np.hstack([lines[:, ::-1] - 1, np.ones_like(lines)])
    starts = np.arange(len(lines) + 1) * places.shape[1]
    matrix = kind((values.ravel(), places.ravel(), starts), shape=array.shape)
    assert not matrix.has_canonical_format and np.allclose(matrix.toarray(), array)
    return matrix


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("name", CASES)
def test_untidy_matrices_give_the_same_answer_and_stay_as_they_are(name, kind):
    for key, array in matrices_of(name).items():
        given = untidy(array, kind)
        before = [part.copy() for part in (given.data, given.indices, given.indptr)]
        found = run(name, **{key: given})
        after = given.data, given.indices, given.indptr
        assert all(map(np.array_equal, before, after)), f"{key} was changed"
        assert found is REFUSED or same(found, plain_answer(name)), key


@pytest.mark.parametrize("place", [-1, 10**4])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("name", CASES)
def test_entries_outside_of_a_matrix_are_refused(name, kind, place):
    for key, array in matrices_of(name).items():
        given = kind(array)
        if given.nnz:
            given.indices[-1] = place
            assert run(name, **{key: given}) is REFUSED, key


def test_matrices_of_the_separable_line_may_be_sparse():
    taken = {name for name in CASES for key, array in matrices_of(name).items() if accepts(name, key, array)}
    assert {"separable.MERIT", "separable.spa", "separable.topic_model", "separable.spoc"} <= taken


def accepts(name, key, array):
    return run(name, **{key: sparse.csr_array(array)}) is not REFUSED
