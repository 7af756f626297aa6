"""Intervals cover what they say, verdicts follow them, and a printed cell counts once."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from evaluation.trials import raw_trials
from evaluation.verdicts import Sample, controlled, distinct, interval, proportion, sample, verdict
from tests.each import each


@pytest.mark.parametrize(("gap", "n", "n_paper"), [(1.0, 8, 8), (2.3, 5, 20), (4.0, 12, 6)])
def test_with_both_spreads_the_interval_is_that_of_welch(gap, n, n_paper):
    low, high = interval(Sample(gap, 2.0, n), Sample(0.0, 3.0, n_paper), 0.0, fixed=False)
    _, p = ttest_ind_from_stats(gap, 2.0, n, 0.0, 3.0, n_paper, equal_var=False)
    assert (low <= 0 <= high) == (p >= 0.05)
    # a difference of half the width is the edge
    _, p = ttest_ind_from_stats(gap - low, 2.0, n, 0.0, 3.0, n_paper, equal_var=False)
    assert p == pytest.approx(0.05)


def test_a_borrowed_spread_has_the_degrees_of_freedom_of_ours():
    low, high = interval(Sample(1.0, 2.0, 8), Sample(0.0, 2.0, 8, own_spread=False), 0.0, fixed=False)
    assert (high - low) / 2 == pytest.approx(2.364624)  # t with 7 degrees of freedom, standard error 1


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_paper"), [(5, 20), (20, 20), (50, 50)])
def test_where_both_scatter_alike_95_per_cent_of_intervals_hold_zero(n, n_paper):
    rng, held, repeats = np.random.default_rng(0), 0, 2000
    for _ in range(repeats):
        ours = sample(rng.normal(3, 2, n), "error", "mean")
        printed = Sample(rng.normal(3, 2 / np.sqrt(n_paper)), ours.deviation, n_paper, own_spread=False)
        low, high = interval(ours, printed, 0.0, fixed=False)
        held += low <= 0 <= high
    assert 0.94 <= held / repeats <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_intervals_of_shares_cover_too(share):
    rng, held, repeats = np.random.default_rng(1), 0, 2000
    for _ in range(repeats):
        ours = sample(rng.random(30) < share, "success", "mean")
        printed = proportion(np.mean(rng.random(50) < share), 50)
        low, high = interval(ours, printed, 0.0, fixed=False)
        held += low <= 0 <= high
    assert held / repeats >= 0.93


def test_intervals_of_medians_cover_about_as_said():
    rng, held, repeats = np.random.default_rng(2), 0, 2000
    for _ in range(repeats):
        ours = sample(rng.normal(size=40), "error", "median")
        printed = Sample(float(np.median(rng.normal(size=40))), ours.deviation, 40)
        low, high = interval(ours, printed, 0.0, fixed=False)
        held += low <= 0 <= high
    assert 0.92 <= held / repeats <= 0.99


def test_one_draw_has_no_interval_and_one_run_on_fixed_data_is_exact():
    once = Sample(2.0, 0.0, 1)
    assert interval(once, Sample(1.0, 0.0, 20), 0.1, fixed=False) == (-np.inf, np.inf)
    assert interval(once, Sample(1.0, 0.0, 20), 0.1, fixed=True) == pytest.approx((0.9, 1.1))


def test_some_equal_draws_do_not_show_how_draws_scatter():
    assert interval(Sample(2.0, 0.0, 3), Sample(1.0, 0.0, 20), 0.1, fixed=False) == (-np.inf, np.inf)
    assert interval(Sample(2.0, 0.0, 20), Sample(1.0, 0.0, 20), 0.1, fixed=False) == pytest.approx((0.9, 1.1))


@each("metric, unit, printed, low, high, said", [
    ("error", "%", 10.0, -0.9, 0.9, "same"),
    ("error", "%", 10.0, 0.1, 0.9, "same"),  # surely another number, and within the tolerance
    ("error", "%", 10.0, -1.1, 0.9, "open"),
    ("error", "%", 10.0, 0.9, 1.1, "open"),
    ("error", "%", 10.0, 1.1, 9.0, "differs worse"),
    ("error", "%", 10.0, -9.0, -1.1, "differs better"),
    ("error", "%", 10.0, -np.inf, np.inf, "open"),
    ("accuracy", "1", 0.9, 0.101, 0.12, "differs better"),
    ("accuracy", "1", 0.9, -0.049, 0.049, "same"),
    ("accuracy", "%", 90.0, -4.9, 5.1, "open"),
    ("success", "1", 1.0, -0.09, 0.09, "same"),
    ("coherence", "1", -400.0, -39.0, 39.0, "same"),
    ("error", "%", np.nan, -1.0, 1.0, ""),
    ("error", "%", 10.0, np.nan, np.nan, "no value"),
    ("seconds", "s", 10.0, np.nan, np.nan, "no value"),
    ("time", "s", 10.0, 1.0, 2.0, ""),
    ("kappa", "1", 8.0, -2.0, -1.0, "differs"),  # of the data: neither more nor less is better
    ("error", "%", 0.0, -0.1, 0.1, "same"),  # the last printed digit
])  # fmt: skip
def test_a_verdict_is_of_the_whole_interval(metric, unit, printed, low, high, said):
    assert " ".join(verdict(metric, unit, printed, low, high, exact=0.05)).strip() == said


def rows(*cells):
    columns = ["setting", "method", "metric", "published", "verdict", "se", "high"]
    return pd.DataFrame(cells, columns=columns).assign(trials=10)


def test_a_printed_cell_counts_once_by_the_row_of_the_paper_s_protocol():
    table = rows(
        ("a", "X", "error", 1.0, "open", 0.1, 1.0),
        ("a", "X (paper protocol)", "error", 1.0, "same", 0.1, 1.0),
        ("a", "X (converged)", "error", 1.0, "differs", 0.1, 1.0),
        ("a", "Y", "error", 1.0, "differs", 0.0, 1.0),
        ("a", "Z", "error", np.nan, "", 0.1, np.nan),
        ("a", "Y (off by one bug)", "error", 1.0, "", 0.1, 1.0),
    )
    again = rows(("a", "Y", "error", 1.0, "open", 0.1, 1.0))
    cells = distinct({"one": table}, {"one": "Table 1"}, " (paper protocol)")
    assert cells[["method", "verdict"]].to_numpy().tolist() == [["X", "same"], ["Y", "differs"]]
    two = {"one": table, "two": again}
    assert len(distinct(two, {"one": "Table 1", "two": "Table 2"}, " (paper protocol)")) == 3


def test_a_printed_cell_that_two_experiments_show_counts_with_most_trials():
    few, many = rows(("a", "Y", "error", 1.0, "open", 0.1, 1.0)), rows(("a", "Y", "error", 1.0, "differs", 0.1, 1.0))
    printed = {"few": "Table 1", "many": "Table 1"}
    cells = distinct({"few": few, "many": many.assign(trials=50)}, printed, " (paper protocol)")
    assert cells[["table", "verdict"]].to_numpy().tolist() == [["many", "differs"]]
    by_protocol = few.assign(method="Y (paper protocol)")
    cells = distinct({"many": many.assign(trials=50), "few": by_protocol}, printed, " (paper protocol)")
    assert cells[["table", "verdict"]].to_numpy().tolist() == [["few", "open"]]  # the protocol comes first


def test_a_control_variate_tells_the_mean_over_draws_that_were_not_run():
    rng = np.random.default_rng(0)
    fast = pd.Series(rng.normal(50, 20, size=50))
    slow = fast - 3 + rng.normal(0, 1, size=50)
    few = controlled(slow.iloc[:10], fast)
    assert few.trials == 10 and few.deviation < 2
    assert few.centre == pytest.approx(fast.mean() + (slow - fast).iloc[:10].mean())
    assert abs(few.centre - slow.mean()) < 1 < abs(slow.iloc[:10].mean() - slow.mean())
    scatter = np.std((slow - fast).iloc[:10], ddof=1)
    assert few.error == pytest.approx(scatter * np.sqrt(1 / 10 - 1 / 50))
    assert controlled(slow, fast).centre == pytest.approx(slow.mean()) and controlled(slow, fast).error == 0
    assert controlled(slow.iloc[:0], fast).trials == 0
    assert controlled(slow.iloc[:1], fast).deviation == 0


def test_draws_that_say_nothing_of_the_others_have_an_interval_without_end():
    fast, printed = pd.Series([20.0, 30.0, 5.0, 9.0]), Sample(15.0, 0.0, 4)
    nothing = (-np.inf, np.inf)
    same = controlled(fast.iloc[1:3], fast)
    assert (same.centre, same.trials) == (17.5, 2) and interval(same, printed, 0.1, fixed=False) == nothing
    assert interval(controlled(fast.iloc[1:3] + 0.3, fast, moves=0.1), printed, 0.1, fixed=False) == nothing
    assert np.isfinite(
        interval(controlled(fast.iloc[1:3] + np.array([0.5, 0.6]), fast, moves=0.1), printed, 0.1, False)
    ).all()
    outside = pd.Series([21.0, 32.0])  # the mean of all, 16, is below both draws that were run
    for follows in (True, False):
        assert interval(controlled(outside, fast, follows), printed, 0.1, fixed=False) == nothing
    own = controlled(fast.iloc[:2], fast, own=True)
    assert (own.centre, own.error) == (16.0, 0.0) and interval(own, printed, 0.1, False) == pytest.approx((0.9, 1.1))


def test_a_method_that_does_not_follow_the_control_has_its_own_mean():
    fast, slow = pd.Series([20.0, 30.0, 5.0, 9.0]), pd.Series([7.0, 4.0, 6.0])
    few = controlled(slow, fast, follows=False)
    assert few.centre == slow.mean() and few.error == pytest.approx(slow.std() * np.sqrt(1 / 3 - 1 / 4))


@pytest.mark.slow
def test_intervals_from_few_choices_of_words_hold_the_mean_over_all():
    """Of two methods run on all 50, which served to choose the rule, and of a third, run after that.

    XRAY is seldom another than SPA, and MERIT(0) never is: of both, few choices must leave the others open.
    """
    rng, decided, held = np.random.default_rng(0), Counter(), Counter()
    raw = pd.concat(raw_trials(f"separable-table2-{name}-fast") for name in ("tdt2", "reuters"))
    raw = raw[raw["metric"].isin(["coherence", "sim_count"])]
    cells, repeats, alike = 0, 20, ("XRAY", "MERIT(0) (paper protocol)")
    for _, cell in raw.groupby(["setting", "metric"]):
        cells += 1
        all_of = pd.DataFrame({name: rows.set_index("trial")["value"] for name, rows in cell.groupby("method")})
        for (method, n), _ in product(product((*alike, "FastAnchor"), (5, 10)), range(repeats)):
            few = all_of[method].sample(n, random_state=rng)
            few = controlled(few, all_of["SPA"], follows=method in alike)
            low, high = interval(few, Sample(all_of[method].mean(), 0.0, 50), 1e-9, fixed=False)
            decided[method] += np.isfinite(low)
            held[method] += np.isfinite(low) and low <= 0 <= high
    assert cells == 32 and decided["XRAY"] < 0.01 * (total := cells * repeats * 2)
    assert decided["MERIT(0) (paper protocol)"] == 0
    assert decided["FastAnchor"] > 0.85 * total and 0.92 <= held["FastAnchor"] / decided["FastAnchor"] <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 40])
def test_over_the_paper_s_own_draws_95_per_cent_of_intervals_hold_the_truth(n):
    rng, held, repeats = np.random.default_rng(3), 0, 2000
    for _ in range(repeats):
        fast = pd.Series(rng.normal(50, 20, size=50))
        slow = fast - 3 + rng.normal(0, 1, size=50)
        low, high = interval(controlled(slow.iloc[:n], fast), Sample(slow.mean(), 0.0, 50), 0.0, fixed=False)
        held += low <= 0 <= high
    assert 0.935 <= held / repeats <= 0.965  # a wider interval is as wrong as a narrower one
