"""The error of predicting one variable from the others."""

import numpy as np
import pytest

from cofactor import CategoricalTable, CofactorError, simulate
from cofactor.pmf.target import cross_validated


def test_errors_are_shares_of_wrong_rows_and_what_so_many_rows_tell():
    table = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 200, random_state=0)
    found = cross_validated(table, 3, rank=2).set_index("method")
    assert found.error.to_numpy() == pytest.approx(np.sqrt(found.wrong * (1 - found.wrong) / 200))
    most = np.bincount(table.codes[:, 3]).max()
    assert found.wrong["majority"] == pytest.approx(1 - most / 200)


def test_a_value_seen_once_is_a_value_too():
    codes = np.column_stack([np.arange(30) % 2, np.arange(30) == 7]).astype(int)
    found = cross_validated(CategoricalTable(codes, (2, 2)), 1, rank=2).set_index("method")
    assert found.wrong["majority"] == pytest.approx(1 / 30)
    codes[:, 1] = 0
    with pytest.raises(CofactorError, match="the target has 1 values in 30 rows"):
        cross_validated(CategoricalTable(codes, (2, 2)), 1, rank=2)
