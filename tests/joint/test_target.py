"""The error of predicting one variable from the others."""

import numpy as np
import pandas as pd
import pytest

from cofactor import CategoricalTable, CofactorError, simulate
from cofactor_app.joint.target import better, classified, cross_validated


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


def test_ours_is_as_good_as_logistic_regression_and_better_where_columns_act_together():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (800, 4))
    gap = rng.random(X.shape) < 0.05
    together, each = X[:, 0] ^ X[:, 1], (X.sum(axis=1) + rng.normal(0, 0.7, 800) > 2).astype(int)
    for y, least in ((together, 0.4), (each, -0.01)):
        table = CategoricalTable(np.column_stack([np.where(gap, -1, X), y]), [2] * 5)
        loss = cross_validated(table, 4).set_index("method")["loss"]
        assert loss["logistic"] - loss["joint + logistic"] > least and loss["joint + logistic"] < loss["majority"]


def test_gaps_get_what_the_method_that_is_asked_for_learnt_from_the_other_rows():
    X = np.random.default_rng(0).integers(0, 2, (200, 2))
    together = np.where(np.arange(200) < 20, -1, X[:, 0] ^ X[:, 1])
    table = CategoricalTable(np.column_stack([X, together]), [2] * 3)
    rows, code, share = classified(table, 2)
    assert rows.tolist() == list(range(20)) and (code == (X[:20, 0] ^ X[:20, 1])).all() and (share > 0.9).all()
    assert (classified(table, 2, method="logistic")[2] < 0.7).all()
    losses = pd.DataFrame({"method": ["joint + logistic", "logistic"], "loss": [0.2, 0.1]})
    assert better(losses) == "logistic" and better(losses.assign(loss=[0.1, 0.1])) == "joint + logistic"
