"""Errors are ValueErrors, warnings are UserWarnings, and lists of culprits stay short."""

import pytest

from cofactor.core import errors


@pytest.mark.parametrize("kind", [errors.NotIdentifiableError, errors.DatasetUnavailableError])
def test_every_error_is_a_cofactor_error_and_a_value_error(kind):
    assert issubclass(kind, errors.CofactorError) and issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [errors.ConvergenceWarning, errors.DataWarning])
def test_warnings_are_for_users(kind):
    assert issubclass(kind, UserWarning)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, ""),
        (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        (11, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (11 in all)"),
    ],
)
def test_names_ten_and_counts_all(count, expected):
    assert errors.listing(iter(range(count))) == expected
