"""The error of predicting one variable from the others."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.pmf.target import cross_validated


def test_errors_are_shares_of_wrong_rows_and_what_so_many_rows_tell():
    table = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 200, random_state=0)
    found = cross_validated(table, 3, rank=2).set_index("method")
    assert found.error.to_numpy() == pytest.approx(np.sqrt(found.wrong * (1 - found.wrong) / 200))
    most = np.bincount(table.codes[:, 3]).max()
    assert found.wrong["majority"] == pytest.approx(1 - most / 200)
