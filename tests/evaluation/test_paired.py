"""Differences on the same data: what is shared is compared, what is not is left out, and the interval is Student's."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.paired import COLUMNS, heading, paired
from tests.evaluation.toy import toy


def trials(values, metric="error", setting="small"):
    """Rows of trials from lists of values by method; NaN where a method gave none."""
    return pd.DataFrame(
        [
            {"setting": setting, "trial": t, "method": method, "metric": metric, "value": value}
            for method, found in values.items()
            for t, value in enumerate(found)
        ]
    )


def test_the_interval_is_that_of_a_paired_test():
    rng = np.random.default_rng(0)
    luck = rng.normal(scale=10, size=12)
    first, second = luck + rng.normal(size=12), luck + rng.normal(size=12) + 1
    (row,) = paired(toy(), trials({"MERIT": first, "SPA": second})).to_dict("records")
    told = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (row["own"], row["method"], row["metric"], row["trials"]) == ("MERIT", "SPA", "error", 12)
    assert row["difference"] == pytest.approx(np.mean(first - second))
    assert (row["low"], row["high"]) == pytest.approx((told.low, told.high))
    assert row["high"] - row["low"] < 5, "the luck of the data does not cancel"


def test_only_trials_that_both_share_count():
    table = paired(toy(), trials({"A": [1, 2, 3, 4], "B": [0, np.nan, 0, 0], "C": [1, np.nan, np.nan, np.nan]}))
    assert table[["own", "method", "trials"]].to_numpy().tolist() == [["A", "B", 3]]
    assert table.loc[0, "difference"] == pytest.approx((1 + 3 + 4) / 3)


def test_settings_are_not_mixed_and_the_first_metric_is_compared():
    here, there = trials({"A": [1, 1], "B": [2, 2]}), trials({"A": [5, 5], "B": [1, 1]}, setting="large")
    table = paired(toy(), pd.concat([there, here, trials({"A": [9, 9], "B": [0, 0]}, metric="time")]))
    assert table["setting"].tolist() == ["small", "large"] and table["difference"].tolist() == [-1, 4]
    assert (table["low"] == table["high"]).all()


def test_the_kit_s_own_method_is_compared_and_rows_that_emulate_a_defect_are_not():
    table = paired(toy(), trials({"SPA": [1, 2], "MERIT": [3, 4], "SPA (NaN bug)": [5, 6]}))
    assert table[["own", "method"]].to_numpy().tolist() == [["MERIT", "SPA"]]
    assert heading(table).startswith("MERIT less each other method on the same data: mean difference of error")


@pytest.mark.parametrize("plot", ["curves", "histogram", "simplex"])
def test_what_has_no_number_to_compete_for_is_left_out(plot):
    table = paired(toy(plot=plot), trials({"A": [1, 2], "B": [3, 4]}))
    assert len(table) == 0 and list(table.columns) == COLUMNS
    assert len(paired(toy(), trials({"A": [1, 2]}))) == 0
