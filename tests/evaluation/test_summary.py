"""Ours beside the printed number: mean, spread, interval, verdict, and why a number is not met."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from cofactor import CofactorError
from cofactor.data.published import published
from evaluation import EXPERIMENTS, summary
from evaluation.experiment import PAPER_PROTOCOL as P
from tests.each import each
from tests.evaluation.toy import FACTS, toy, trials_of


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS)

    def summarised(experiment=None, needed=None, **values):
        found = summary.summarise(experiment or toy(trials=2), trials_of(**values), needed)
        return found.set_index(["setting", "method"]).loc["small"]

    return summarised


def test_mean_spread_difference_and_interval(table):
    row = table(Sum=[11.0, 13.0, 15.0]).loc["Sum"]
    assert (row["ours"], row["spread"], row["trials"], row["difference"]) == (13.0, 2.0, 3, 3.0)
    half = student.ppf(0.975, 2) * np.sqrt(4 / 3 + 4 / 2) + 0.05  # the toy paper has two trials
    assert (row["low"], row["high"]) == pytest.approx((3 - half, 3 + half))
    assert (row["verdict"], row["seconds"], row["published_seconds"]) == ("open", 1.0, 7.0)
    assert table(toy(centre="median"), Sum=[1.0, 2.0, 30.0]).loc["Sum", "ours"] == 2.0


@each("method, values, said", [
    ("Sum", [8.0, 12.0], "open"),  # so few trials scatter too much
    ("Sum", [9.9, 10.1, 9.9, 10.1], "same"),
    ("Sum", [10.4, 10.4], "same"),
    ("Sum", [19.9, 20.1, 19.9, 20.1], "differs worse"),
    ("Sum", [5.0, 5.0], "differs better"),
    ("Largest", [12.9, 13.1, 12.9, 13.1], "open"),  # the published numbers scatter by 3
    ("Largest", [99.9, 100.1, 99.9, 100.1], "differs worse"),
    ("Sum (off by one bug)", [20.0, 20.0], ""),  # an emulated defect
])  # fmt: skip
def test_verdict_follows_the_interval(table, method, values, said):
    row = table(**{method: values}).loc[method]
    assert f"{row['verdict']} {row['direction']}".strip() == said


def test_fewer_trials_than_are_kept_decide_nothing(table):
    """What draws nothing is kept with one trial, and one decides."""
    values = {"Sum": [10.0, 10.0], "Largest": [99.0, 99.0]}
    needed = {("small", "Sum"): 10, ("small", "Largest"): 2}
    found = table(toy(trials=2), needed, **values)
    assert found["verdict"].to_dict() == {"Sum": "open", "Largest": "differs"} and not found.loc["Sum", "direction"]
    assert found.loc["Sum", "note"] == "2 of the 10 trials that are kept, which decide"
    fixed = toy(trials=10, granularity={"small": 100})
    assert table(fixed, {("small", "Sum"): 1}, Sum=[10.0]).loc["Sum", "verdict"] == "same"
    assert table(fixed, {("small", "Sum"): 10}, Sum=[10.0]).loc["Sum", "verdict"] == "open"
    assert summary.trials_kept(trials_of(Sum=[1.0, 2.0], Largest=[3.0])) == {
        ("small", "Sum"): 2,
        ("small", "Largest"): 1,
    }


def test_one_of_many_random_trials_tells_nothing_and_on_fixed_data_one_decides(table):
    assert table(Sum=[10.0]).loc["Sum", ["verdict", "note"]].tolist() == [
        "open", "1 of 2 trials leave too wide an interval",
    ]  # fmt: skip
    assert table(toy(trials=1), Sum=[99.0]).loc["Sum", "verdict"] == "differs"
    row = table(toy(trials=2, granularity={"small": 0}), Sum=[10.04]).loc["Sum"]
    assert (row["low"], row["high"]) == pytest.approx((-0.01, 0.09)) and row["verdict"] == "same"
    one_task = table(toy(trials=2, granularity={"small": 100}), Sum=[11.0]).loc["Sum"]
    assert (one_task["low"], one_task["high"]) == pytest.approx((-0.05, 2.05))


def test_a_number_that_is_cut_off_stands_for_what_is_above_it(table):
    """12.03 for 12.037: the printed number is up to one unit of its last digit too low."""
    row = table(toy(trials=2, granularity={"small": 0}, cut_off=True), Sum=[10.0]).loc["Sum"]
    assert (row["low"], row["high"]) == pytest.approx((-0.1, 0.0))
    cut = {name for name, one in EXPERIMENTS.items() if one.cut_off}
    assert cut == {"crowd-table4", "crowd-table5"}


def test_the_paper_s_own_draws_leave_no_error_once_all_are_there(table):
    same = toy(trials=2, repeated={"Sum": {"error": 0.0}})
    row = table(same, Sum=[8.0, 12.04]).loc["Sum"]
    assert row["se"] == 0.0 and row["spread"] > 2
    assert (row["low"], row["high"]) == pytest.approx((0.02 - 0.05, 0.02 + 0.05))
    again = toy(trials=2, repeated={"Sum": {"error": 0.5}})  # what each draw scatters by, done again, is left
    assert table(again, Sum=[8.0, 12.04]).loc["Sum", "se"] == pytest.approx(0.5 / np.sqrt(2))
    assert table(same, Sum=[8.0, 12.2, 9.8]).loc["Sum", "verdict"] == "open"  # other draws


def test_with_a_control_few_of_the_papers_draws_tell_the_mean_of_all(table, monkeypatch):
    known = trials_of(Fast=[20.0, 10.0, 25.0, 9.0])
    monkeypatch.setattr(summary, "raw_trials", lambda name: known if name == "toy-fast" else None)
    control = toy(trials=4, control={"experiment": "toy-fast", "method": "Fast", "followed by": "Sum"})
    row = table(control, Sum=[14.0, 4.2]).loc["Sum"]  # 6 and 5.8 below, where all are 16 on average
    assert row["ours"] == pytest.approx(16 - 5.9) and row["trials"] == 2
    assert row["se"] == pytest.approx(0.2 / np.sqrt(2) * np.sqrt(1 / 2 - 1 / 4))  # two draws of four are not known
    half = student.ppf(0.975, 1) * row["se"] + 0.05  # the print is of the same draws: only its rounding is left
    assert (row["low"], row["high"]) == pytest.approx((0.1 - half, 0.1 + half))
    same = table(control, Sum=[20.0, 10.0, 25.0]).loc["Sum"]  # equal where it was run: elsewhere, who knows
    assert same["verdict"] == "open" and same["note"].startswith("the 3 of 4 draws that were run say nothing")
    own = pd.concat([known, trials_of(Sum=[14.0, 4.2, 21.0, 2.8])])  # it was run on all draws, too
    monkeypatch.setattr(summary, "raw_trials", lambda name: own)
    assert table(control, Sum=[14.0, 4.2]).loc["Sum", ["ours", "se"]].tolist() == pytest.approx([10.5, 0.0])
    monkeypatch.setattr(summary, "raw_trials", lambda name: known.iloc[:3])  # the control lacks a draw: no help
    assert table(control, Sum=[14.0, 4.2]).loc["Sum", "ours"] == pytest.approx(9.1)


def test_a_borrowed_spread_is_at_most_the_printed_mean(table):
    row = table(toy(trials=4), Sum=[0.0, 0.0, 0.0, 400.0]).loc["Sum"]
    half = student.ppf(0.975, 3) * np.hypot(200.0, 10.0) / 2
    assert row["high"] - row["low"] == pytest.approx(2 * (half + 0.05))


def test_rows_of_the_papers_protocol_and_what_was_not_run_stand_beside_the_print(table, monkeypatch):
    alone = table(**{"Sum" + P: [10.0, 10.0], "Sum(2)": [10.0, 10.0]})
    assert alone.loc["Sum" + P, "published"] == 10.0 and "Sum" not in alone.index
    assert np.isnan(alone.loc["Sum(2)", "published"])
    assert table(**{"Sum" + P: [10.0], "Sum": [10.0]}).loc["Sum", "published"] == 10.0
    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    whole = summary.summarise(toy(trials=2), trials_of(Sum=[10.0, 10.0])).set_index(["setting", "method"])
    assert whole.loc[("large", "Elsewhere"), ["verdict", "trials"]].tolist() == ["no value", 0]
    assert whole.loc[("large", "Sum"), "verdict"] == ""  # printed as N/A


def test_reasons_stand_only_where_the_number_is_not_met(table):
    notes = {("", "Sum"): "because", ("small", "Sum"): "here", ("", ""): "else"}
    known = toy(trials=2, notes=notes, apart={("small", "Other", ""): "other data"}, calibrated={"error": "a constant"})
    assert table(known, Sum=[10.0, 10.0]).loc["Sum", ["note", "calibrated"]].tolist() == ["", "a constant"]
    assert table(known, Sum=[99.0, 99.0]).loc["Sum", "note"] == "here"
    assert table(known, Largest=[20.0, 20.0]).loc["Largest", "note"] == "else"
    apart = toy(trials=2, apart={("small", "Sum", ""): "other data"})
    assert table(apart, Sum=[99.0, 99.0]).loc["Sum", ["verdict", "note"]].tolist() == ["not comparable", "other data"]
    assert table(**{"Sum": [5.0, 5.0], "Sum" + P: [10.0, 10.0]}).loc["Sum", "note"] == summary.SEE_PROTOCOL
    assert table(**{"Sum": [5.0, 5.0], "Sum" + P: [5.0, 5.0]}).loc["Sum", "note"] == summary.UNKNOWN
    assert table(toy(trials=3), Sum=[5.0, 10.0, 15.0]).loc["Sum", "note"] == summary.WIDE
    failed = pd.concat([trials_of(Sum=[10.0]), trials_of(Sum=[np.nan]).assign(trial=1, metric="", error="no")])
    row = summary.summarise(toy(), failed).set_index(["setting", "method"]).loc[("small", "Sum")]
    assert (row["trials"], row["failed"]) == (1, 1) and row["note"].endswith("; no value in 1 of 2 trials: no")


def test_a_reason_stands_once_after_all_that_it_is_about():
    rows = [("small", "A", "luck"), ("large", "A", "luck"), ("small", "B", "luck"), ("small", "C", "luck"),
            ("large", "B", "")]  # fmt: skip
    found = pd.DataFrame(rows, columns=["setting", "method", "note"])
    assert summary.noted(found) == {"luck": "A; B, C (small)"}


def test_methods_are_compared_on_the_same_data():
    found = summary.paired(toy(), trials_of(Sum=[3.0, 2.0, 6.0], Largest=[1.0, 1.0], Bad=[9.0]))
    (row,) = found.to_dict("records")
    assert (row["own"], row["method"], row["difference"], row["trials"]) == ("Sum", "Largest", 1.5, 2)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(student.ppf(0.975, 1) * 0.5)


def test_text_shows_everything_once_and_no_empty_column(table, monkeypatch):
    experiment = toy(trials=2, notes={("", "Sum"): "because", ("small", "Largest"): "therefore"})
    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    found = summary.summarise(experiment, trials_of(Sum=[99.0, 99.0], Largest=[100.0, 100.0]))
    text = summary.as_text(experiment, found)
    assert text.count("because") == text.count("therefore") == 1
    assert "Sum (small): because" in text and "small set" in text and "+89.00" in text and "nan" not in text
    assert "ours beside published: 2 differs, 1 no value" in text and "differs (worse)" in text
    monkeypatch.setattr(summary, "published", lambda name: FACTS.iloc[:0])
    text = summary.as_text(toy(), summary.summarise(toy(), trials_of(Sum=[1.0, 2.0])))
    assert "ours" in text and "published" not in text and "verdict" not in text


@each("arguments, text", [
    ((12.3456, 0.5, 0, 3), "12.35 ± 0.5"),
    ((12.3456, 0.0, 1, 1), "12.35"),
    ((435.0,), "435"),
    ((-408.9, 104.3, 0, 2), "-408.90 ± 104"),
    ((1 + 2.3e-16, 7.2e-17, 0, 20), "1.00 ± 0"),
    ((0.95, 0.001, 0, 20), "0.950 ± 0.001"),
    ((0.29372, 0.0, 4, 1), "0.2937"),
    ((32.0, np.nan, 2), "32.00"),
    ((0.0000021, np.nan, 7), "2.10e-06"),
    ((np.nan,), "-"),
])  # fmt: skip
def test_numbers_are_short(arguments, text):
    assert summary.number(*arguments) == text


@each("cells, text", [
    ((1.0, 0.5, 1.5), "+1.00 (+0.50 to +1.50)"),
    ((-0.0012, -np.inf, np.inf), "-0.001"),
    ((9e-16, 9e-16, 9e-16), "0"),
    ((np.nan, np.nan, np.nan), ""),
])  # fmt: skip
def test_a_difference_has_its_interval_where_that_has_ends(cells, text):
    assert summary.bounded(*cells) == text


def test_an_unknown_published_table_is_an_error_that_lists_the_known():
    with pytest.raises(CofactorError, match=r"'crowd_table8': choose one of comparisons_text, crowd_"):
        published("crowd_table8")
    assert published("").empty
