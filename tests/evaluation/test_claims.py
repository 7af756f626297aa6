"""Claims: intervals are those of the textbook, rules decide both ways, and every claim names what there is."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as fisher
from scipy.stats import t as student
from scipy.stats import ttest_ind, ttest_rel

from cofactor import CofactorError
from evaluation import EXPERIMENTS
from evaluation.claims import LINES, VERDICTS, Claim, Judged, Rule, claims, declared, estimates, paper, quantities
from evaluation.claims.declaration import words
from evaluation.claims.estimates import Estimate, Results, Row
from evaluation.claims.quantities import (
    Quantity,
    Rows,
    behind,
    kept,
    mean,
    printed,
    rank,
    rate,
    said,
    share,
    slope,
    spread,
)
from evaluation.experiment import Measurement, Task
from evaluation.runner import Outcome
from evaluation.trials import write_trials
from evaluation.verdicts import sample
from tests.each import each
from tests.evaluation.toy import toy

SETTINGS = ("N=10", "N=100", "N=1,000")
COUNTS = {"crowd": 36, "pmf": 24, "separable": 31, "comparisons": 19}
THEOREMS = {
    "crowd": ["Proposition 1", "Theorem 1", "Theorem 2", "Theorem 3"],
    "pmf": ["Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4"],
    "separable": ["Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Proposition 1"],
    "comparisons": ["Theorem 4.1"],
}
ALL = [(line, one) for line in LINES for one in claims(line)]


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Keep trials of a made-up experiment, {(setting, method, metric): values}, where rules find them."""

    def keep(values, **fields):
        outcomes = [
            Outcome(Task("toy", setting, trial), "", 0.0, (Measurement(method, metric, value, seconds=value),))
            for (setting, method, metric), row in values.items()
            for trial, value in enumerate(row)
        ]
        write_trials(tmp_path / "toy.npz", outcomes)
        kept = Results(toy(settings=SETTINGS, trials=8, **fields), tmp_path)
        monkeypatch.setattr(quantities, "results", {"toy": kept}.__getitem__)
        monkeypatch.setattr(estimates, "methods_of", lambda line: {key[1] for key in values})
        return kept

    return keep


TEN = kept("toy", "error").at("N=10")


def number(quantity):
    (case,) = quantity.quantity().cases
    return case.number


NOTHING = Quantity(Rows(), "", [])
CLAIM = Claim("a", "b", "c", judge=lambda: None)


def drawn(seed, centre=1.0, n=8):
    return np.random.default_rng(seed).normal(centre, 0.1, n)


# ---- intervals ----


def test_methods_on_the_same_data_are_compared_trial_by_trial(made):
    a = drawn(0)
    b = a + drawn(1, 0.05) / 20
    made({("N=10", "A", "error"): a, ("N=10", "B", "error"): b})
    expected = ttest_rel(a, b).confidence_interval()
    assert number(TEN["A"] - TEN["B"]) == pytest.approx((np.mean(a - b), *expected))


def test_other_data_are_compared_by_welch(made):
    a, b = drawn(0), drawn(1, 1.2)
    made({("N=10", "A", "error"): a, ("N=100", "A", "error"): b})
    expected = ttest_ind(a, b, equal_var=False).confidence_interval()
    assert number(TEN["A"] - TEN["A"].at("N=100")) == pytest.approx((a.mean() - b.mean(), *expected))


def test_a_ratio_is_that_of_means_and_its_interval_holds_it_95_times_in_100():
    held, rng = 0, np.random.default_rng(3)
    for _ in range(400):
        a, b = pd.Series(rng.gamma(20, 0.1, 8)), pd.Series(rng.gamma(20, 0.2, 8))
        rows = (Row(sample(row.to_numpy(), "error", "mean"), row) for row in (a, b))
        found = estimates.exponential(estimates.combined(estimates.log_ratio(*rows)))
        assert found.value == pytest.approx(a.mean() / b.mean())
        held += found.low <= 0.5 <= found.high
    assert 0.91 <= held / 400 <= 0.99


def test_where_the_median_counts_ratios_are_of_every_trial(made):
    a, b = np.exp(drawn(0, 0.0)), np.exp(drawn(1, 0.0))
    made({("N=10", "A", "t=1"): a, ("N=10", "A", "t=0"): b}, centre="median")
    expected = np.exp(ttest_rel(np.log(a), np.log(b)).confidence_interval())
    found = number(TEN["A"].of("t=1") / TEN["A"].of("t=0"))
    assert found[1:] == pytest.approx(tuple(expected))


def test_a_power_law_has_its_exponent_and_a_decay_its_rate(made):
    noise = np.exp(drawn(2, 0.0) / 10)
    powers = {("N=10", "A", "error"): 3 / noise, ("N=100", "A", "error"): 0.3 * noise}
    made(powers | {("N=1,000", "A", "error"): 0.03 * noise})
    found = number(slope(kept("toy", "error")["A"]))
    assert found.value == pytest.approx(-1, abs=0.02) and found.low < -1 < found.high
    made({("N=10", "A", f"t={t}"): noise * 0.8**t for t in (0, 10, 20)})
    assert number(rate(kept("toy", "t=0", "t=10", "t=20")["A"])) == pytest.approx((0.8, 0.8, 0.8))


def test_spreads_are_compared_by_the_distribution_of_f(made):
    a, b = 3 * drawn(4), drawn(5)
    made({("N=10", "A", "error"): a, ("N=10", "B", "error"): b})
    value, low, high = number(spread(TEN["A"], TEN["B"]))
    assert value == pytest.approx(a.std(ddof=1) / b.std(ddof=1))
    assert fisher.cdf((value / low) ** 2, 7, 7) == pytest.approx(0.975)
    assert fisher.cdf((value / high) ** 2, 7, 7) == pytest.approx(0.025)


def test_one_draw_has_no_interval_and_one_run_on_fixed_data_needs_none(made):
    one = {("N=10", "A", "error"): [1.0], ("N=10", "B", "error"): [2.0]}
    made(one)
    fixed = kept("toy", "error", fixed=True)
    assert number(TEN["A"] - TEN["B"]) == (-1, -np.inf, np.inf) and number(fixed["A"] - fixed["B"]) == (-1, -1, -1)
    made(one, granularity={"N=10": 100})
    assert number(TEN["A"] - TEN["B"]) == (-1, -1, -1)


def test_a_time_needs_several_runs_since_the_first_one_compiles(made):
    made({("N=10", "A", "error"): [30.0, 1.0], ("N=10", "B", "error"): [30.0, 2.0, 2.1, 2.0]}, granularity={"N=10": 9})
    seconds = TEN.of("seconds")
    assert not np.isfinite(number(seconds["A"]).high)
    assert number(seconds["B"]).value == pytest.approx(2.05)


def test_shares_end_where_shares_do(made):
    made({("N=10", "A", "success"): np.ones(8)}, metrics={"success": "1"})
    value, low, high = number(TEN["A"].of("success"))
    assert value == high == 1 and 0.5 < low < 0.9


def test_shares_of_the_same_trials_are_compared_trial_by_trial(made):
    a, b = np.repeat([1.0, 0.0], [5, 3]), np.repeat([1.0, 0.0], [4, 4])
    made({("N=10", "A", "success"): a, ("N=10", "B", "success"): b}, metrics={"success": "1"})
    success = TEN.of("success")
    value, low, high = number(success["A"] - success["B"])
    # by Agresti and Min: 1.5 of 10 trials for A, 0.5 for B, shares 0.15 and 0.05
    half = student.ppf(0.975, 7) * np.sqrt((0.2 - 0.1**2) / 10)
    assert (value, low, high) == pytest.approx((1 / 8, 1 / 8 - half, 1 / 8 + half))


def test_equal_trials_leave_an_interval_of_their_shares(made):
    rows = {("N=10", name, "success"): np.ones(8) for name in "AB"}
    made(rows, metrics={"success": "1"})
    success = TEN.of("success")
    value, low, high = number(success["A"] - success["B"])
    assert value == 0 and low == -high and 0.1 < high < 0.4


def test_intervals_of_paired_shares_hold_the_truth_95_times_in_100():
    held, rng = 0, np.random.default_rng(5)
    for _ in range(400):
        luck = rng.random(30)  # of the data; where it is below 0.5, A succeeds, and below 0.7 B mostly does
        both = (pd.Series((luck < p) ^ (rng.random(30) < 0.05), dtype=float) for p in (0.5, 0.7))
        rows = [Row(sample(row.to_numpy(), "success", "mean"), row, of_shares=True) for row in both]
        found = estimates.combined(estimates.difference(*rows))
        held += found.low <= -0.18 <= found.high  # (0.5 - 0.7) (1 - 2 * 0.05)
    assert 0.93 <= held / 400 <= 0.99


def test_a_share_of_trials_is_that_with_the_limit_or_more(made):
    made({("N=10", "A", "error"): [29.0, 30.0, 31.0, 10.0, 10.0, 10.0, 10.0, 10.0]})
    value, low, high = number(share(TEN["A"], 30))
    assert value == 0.25 and low == 0 and 0.4 < high < 0.7


def test_over_steps_a_ratio_is_the_geometric_mean_of_each_trial(made):
    a, b = np.exp(drawn(0, 0.0)), np.exp(drawn(1, 0.0))
    rows = {("N=10", "A", "t=1"): a, ("N=10", "A", "t=2"): 4 * a, ("N=10", "B", "t=1"): b, ("N=10", "B", "t=2"): b}
    made(rows, centre="median")
    expected = np.log(2 * a / b)
    steps = kept("toy", "t=1", "t=2")
    found = number(steps["A"] / steps["B"])
    assert found.value == pytest.approx(np.exp(expected.mean())) and found.low < found.value < found.high


def test_a_difference_can_be_compared_with_the_same_one_elsewhere(made):
    one, other = (drawn(0), drawn(1)), (drawn(2), drawn(3, 1.5))
    rows = {("N=10", name, "error"): row for name, row in zip("AB", one, strict=True)}
    made(rows | {("N=100", name, "error"): row for name, row in zip("AB", other, strict=True)})
    expected = ttest_ind(one[0] - one[1], other[0] - other[1], equal_var=False).confidence_interval()
    there = kept("toy", "error").at("N=100")
    found = number((TEN["A"] - TEN["B"]) - (there["A"] - there["B"]))
    assert found.value == pytest.approx(np.mean(one[0] - one[1]) - np.mean(other[0] - other[1]))
    assert found[1:] == pytest.approx(tuple(expected))


def test_a_mean_over_settings_adds_its_errors_in_squares(made):
    rows = {(setting, "A", "error"): drawn(i, i) for i, setting in enumerate(SETTINGS)}
    made(rows)
    error = kept("toy", "error")
    nothing = {(setting, "B", "error"): np.zeros(8) for setting in SETTINGS}
    made(rows | nothing)
    found = number(mean(error["A"] - error["B"]))
    errors = np.array([values.std(ddof=1) for values in rows.values()]) / np.sqrt(8)
    half = (found.high - found.low) / 2
    assert found.value == pytest.approx(np.mean([row.mean() for row in rows.values()]))
    assert 2.07 < half / (np.sqrt((errors**2).sum()) / 3) < 2.37  # Student's, with 7 to 21 degrees of freedom


def test_the_best_of_some_methods_has_a_place_among_all(made):
    made({("N=10", name, "error"): [value] * 3 for name, value in {"A": 3.0, "B": 1.0, "C": 2.0, "D": 4.0}.items()})
    assert number(rank(TEN["A"], TEN["B", "C", "D"])).value == 3
    assert number(rank(TEN["A", "C"], TEN["B", "D"])).value == 2
    more = {("N=10", name, "accuracy"): [value] * 3 for name, value in {"A": 3.0, "B": 1.0}.items()}
    made(more, metrics={"accuracy": "%"})
    accuracy = TEN.of("accuracy")
    assert number(rank(accuracy["A"], accuracy["B"])).value == 1  # more of it is better


def test_a_place_has_the_interval_of_resampled_trials(made):
    a = drawn(0)
    rows = {("N=10", "A", "error"): a, ("N=10", "B", "error"): a + 0.01, ("N=10", "C", "error"): drawn(1)}
    made(rows)
    assert number(rank(TEN["A"], TEN["B"])) == (1, 1, 1)  # trial by trial B is always worse
    assert number(rank(TEN["A"], TEN["B", "C"]))[1:] == (1, 2)


def test_a_place_is_that_in_the_trials_that_all_have(made):
    made({("N=10", "A", "error"): [2.0, 2.1, 2.0, 9.0], ("N=10", "B", "error"): [3.0, 3.1, 3.0]})
    assert number(rank(TEN["A"], TEN["B"])) == (1, 1, 1)
    made({("N=10", "A", "error"): [2.0, 2.1], ("N=10", "B", "error"): [3.0]})
    assert number(rank(TEN["A"], TEN["B"])) == (1, -np.inf, np.inf)  # one draw does not show how it scatters
    nothing = [np.nan, np.nan]
    made({("N=10", "A", "error"): [2.0, 2.1, *nothing], ("N=10", "B", "error"): [*nothing, 3.0, 3.1]})
    assert number(rank(TEN["A"], TEN["B"])) == (1, -np.inf, np.inf)


def test_a_method_can_stand_in_an_experiment_beside(made, monkeypatch, tmp_path):
    there = made({("N=10", "A", "error"): [1.0, 2.0, 3.0]})
    outcome = Outcome(Task("toy", "N=10", 1), "", 0.0, (Measurement("B", "error", 5.0, seconds=1.0),))
    write_trials(tmp_path / "toy.npz", [outcome])
    beside = Results(toy(settings=SETTINGS, trials=8), tmp_path)
    monkeypatch.setattr(quantities, "results", {"toy": there, "beside": beside}.__getitem__)
    monkeypatch.setattr(estimates, "methods_of", lambda line: {"A", "B"})
    both = kept("toy", "error", beside=["beside"])
    assert number(both["A"] - both["B"]).value == 2 - 5
    assert np.isnan(number(TEN["A"] - TEN["B"]).value)


# ---- verdicts ----


@each(
    "bounds, found",
    [
        ({"below": 3.1}, "holds"),
        ({"below": 3}, "open"),
        ({"at_most": 3}, "holds"),
        ({"at_most": 2}, "open"),
        ({"below": 1}, "fails"),
        ({"at_most": 0.9}, "fails"),
        ({"at_most": 1}, "open"),
        ({"above": 0.9}, "holds"),
        ({"above": 1}, "open"),
        ({"at_least": 1}, "holds"),
        ({"above": 3}, "fails"),
        ({"at_least": 3}, "open"),
        ({"at_least": 3.1}, "fails"),
        ({"at_least": 1, "at_most": 3}, "holds"),
        ({"at_least": 2, "at_most": 4}, "open"),
        ({"at_least": 4, "at_most": 5}, "fails"),
    ],
)
def test_a_case_holds_or_fails_with_its_whole_interval(bounds, found):
    assert Rule(NOTHING, **bounds).lies(Estimate(2, 1, 3)) == found


def test_a_case_without_a_value_or_an_interval_is_open():
    assert Rule(NOTHING, below=9).lies(Estimate(np.nan, np.nan, np.nan)) == "open"
    assert Rule(NOTHING, below=9).lies(Estimate(1, -np.inf, np.inf)) == "open"


@pytest.mark.parametrize(
    ("printed", "found"), [(2, "holds"), (4, "open"), (7, "fails"), (-2, "fails"), (np.nan, "open")]
)
def test_a_bound_can_be_a_share_of_the_printed_number(printed, found):
    rule = Rule(NOTHING, at_least=0.5).of_the_printed()
    assert rule.lies(Estimate(2, 1, 3), printed) == found
    assert rule.lies(Estimate(-2, -3, -1), -printed) == found


CASES = {  # A below B surely, above it surely, and neither
    "N=10": (drawn(0, 1), drawn(1, 5)),
    "N=100": (drawn(2, 5), drawn(3, 1)),
    "N=1,000": (drawn(4, 1), drawn(4, 1) + drawn(5, 0)),
}


@each(
    "settings, need, verdict",
    [
        (["N=10"], 0, "supported"),
        (["N=100"], 0, "not supported"),
        (["N=1,000"], 0, "cannot tell"),
        (["N=10", "N=100"], 0, "not supported"),
        (["N=10", "N=1,000"], 0, "cannot tell"),
        (list(CASES), 1, "supported"),
        (list(CASES), 2, "cannot tell"),
        (list(CASES), 3, "not supported"),
    ],
)
def test_a_verdict_counts_cases(made, settings, need, verdict):
    made({(s, name, "error"): row for s, pair in CASES.items() for name, row in zip("AB", pair, strict=True)})
    error = kept("toy", "error").at(*settings)
    found = (error["A"] - error["B"] < 0).need(need)
    assert found.verdict == verdict and len(found.quantity.cases) == len(settings)


def test_by_setting_all_comparisons_must_hold(made):
    rows = {"A": 1.0, "B": 2.0, "C": 3.0}
    first = {("N=10", name, "error"): drawn(i, value) for i, (name, value) in enumerate(rows.items())}
    made(first | {("N=100", name, "error"): drawn(i, 4 - value) for i, (name, value) in enumerate(rows.items())})
    error = kept("toy", "error").at("N=10", "N=100")
    both = error["B"] - error["C", "A"] < 0
    assert [both.need(n).verdict for n in (1, 2, 3)] == ["supported", "supported", "not supported"]
    assert both.each_setting().need(1).verdict == "not supported"
    assert (error["B"] - error["C"] < 0).each_setting().need(1).verdict == "supported"


def test_a_claim_is_as_good_as_its_weakest_rule(made):
    made({(s, name, "error"): row for s, pair in CASES.items() for name, row in zip("AB", pair, strict=True)})
    error = kept("toy", "error")
    each = [error["A"].at(s) - error["B"].at(s) < 0 for s in CASES]  # supported, not supported, cannot tell
    of = lambda *chosen: Judged(CLAIM, [each[i] for i in chosen]).verdict  # noqa: E731
    assert [of(0), of(0, 2), of(0, 1), of(1, 2)] == ["supported", "cannot tell", "not supported", "not supported"]
    assert of() == "not testable here"


def test_a_rule_without_any_value_is_not_testable(made):
    made({("N=10", "A", "error"): drawn(0), ("N=100", "B", "error"): drawn(1)})
    assert (TEN["B"] < 0).verdict == "not testable here"
    assert (TEN["A"].at("N=10", "N=100") < 2).verdict == "cannot tell"


def test_times_are_shown_but_not_judged_since_they_are_of_other_code(made):
    times = {("N=10", name, "error"): [value] * 8 for name, value in (("A", 1.0), ("B", 9.0))}
    made(times)
    seconds = kept("toy", "seconds").at("N=10")
    rule = seconds["A"] / seconds["B"] <= 0.2
    assert rule.outcomes == ["holds"] and rule.verdict == "not testable here"
    assert (TEN["A"] / TEN["B"] <= 0.2).verdict == "supported"


def test_wrong_names_are_refused(made):
    made({("N=10", "A", "error"): drawn(0)})
    wrong = {"N=9": TEN["A"].at("N=9"), "Z": TEN["Z"], "eror": TEN["A"].of("eror")}
    for named, rows in wrong.items():
        with pytest.raises(CofactorError, match=named):
            rows.quantity()
    with pytest.raises(CofactorError, match="Z"):
        TEN["A"] - TEN["Z"]
    with pytest.raises(CofactorError, match="one other place, not of N=10, N=100"):
        TEN["A"].at("N=1,000") - TEN["A"].at("N=10", "N=100")


def test_two_bounds_at_once_are_refused_since_python_would_drop_one(made):
    made({("N=10", "A", "error"): drawn(0)})
    with pytest.raises(TypeError, match="between"):
        0 < TEN["A"] < 2  # noqa: B015
    assert TEN["A"].between(0, 2).bounds == "at least 0 and at most 2"


def test_printed_numbers_are_judged_by_the_same_rule():
    error = kept("crowd-table4", "error").at("dog")
    quantity = error["KOS"] - error["MultiSPA"]
    (case,) = quantity.cases
    assert case.printed.value == pytest.approx(31.84 - 17.96)
    assert number(printed(quantity)) == case.printed != case.number


def test_a_method_can_be_printed_under_another_name():
    error = kept("crowd-table4", "error", prints={"CNMF-EM": "CNMF"}).at("dog")
    assert [case.printed.value for case in error["CNMF-EM"].quantity().cases] == [15.86]


def test_a_number_of_a_notebook_is_the_one_behind_the_text():
    assert number(said("04_symnmf_convergence", "rate, half of H zero")).value == pytest.approx(0.619, abs=0.005)
    with pytest.raises(CofactorError, match="no number behind 'nowhere'"):
        behind("04_symnmf_convergence", "nowhere")


# ---- what is declared ----


def test_the_words_of_a_claim_are_read_from_its_docstring():
    def judge():
        """The paper says so: "this".

        Measured: two
        lines.

        Known defects:
        - One, on
          two lines.
        - Another.
        """

    defects = ["One, on two lines.", "Another."]
    assert words(judge) == {"says": 'The paper says so: "this".', "measured": "two lines.", "defects": defects}


@pytest.mark.parametrize("line", LINES)
def test_every_claim_names_what_there_is_and_is_judged(line):
    judged = claims(line)
    assert len(judged) == len(declared(line)) and paper(line)
    for one in judged:
        assert one.verdict in VERDICTS and all(rule.quantity.cases for rule in one.rules)


def levels(rule):
    """The numbers whose level in print meets what a rule asks, as cells: experiment, setting, method, metric."""
    rows, cases = rule.quantity.rows, rule.quantity.cases
    if not (rule.of_printed or rule.quantity.what == "Value") or set(rule.in_print) != {"holds"}:
        return []  # methods compared with each other, or a bound that is not read from the printed number
    return [(case.experiment, case.setting, case.about.split(" less ")[0], rows.metrics[0]) for case in cases]


@each("line, one", ALL)
def test_no_claim_judges_numbers_that_results_call_not_comparable(line, one):
    cells = [cell for rule in one.rules if rule.verdict != "not testable here" for cell in levels(rule)]
    assert not [cell for cell in cells if EXPERIMENTS[cell[0]].incomparable(*cell[1:])]


def test_numbers_that_are_shown_only_get_no_verdict(made):
    made({("N=10", "A", "error"): drawn(0)})
    rule = TEN["A"] < 1000
    assert rule.verdict == "supported" and rule.shown_only().verdict == "not testable here"
    assert rule.shown_only().outcomes == ["holds"]


@pytest.mark.parametrize("line", LINES)
def test_no_claim_and_no_theorem_is_lost(line):
    found = declared(line)
    names = [claim.name for claim in found]
    assert len(set(names)) == len(names)
    assert [claim.name for claim in found if claim.is_theorem] == THEOREMS[line]
    assert sum(not claim.is_theorem for claim in found) == COUNTS[line]


def test_there_are_fourteen_theorems_and_propositions():
    assert sum(map(len, THEOREMS.values())) == 14


@each("line, one", ALL)
def test_every_claim_says_where_it_stands_and_how_it_is_read(line, one):
    claim = one.claim
    assert claim.place and claim.says and (one.rules or claim.untestable)
    assert claim.measured or not one.rules
    assert all(rule.bounds for rule in one.rules)
    assert claim.untestable or not any(
        rule.quantity.rows.metrics == (estimates.SECONDS,) or not rule.is_judged for rule in one.rules
    )
    if claim.is_theorem:
        assert claim.assumes and claim.notebooks and len(claim.says + "".join(claim.assumes)) > 150
