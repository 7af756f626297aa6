import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from cofactor import CofactorError
from cofactor.data.published import published
from evaluation import EXPERIMENTS, summary
from evaluation.experiment import PAPER_PROTOCOL, Measurement, Task, measure
from evaluation.plots import draw
from evaluation.runner import Outcome
from tests.each import each
from tests.evaluation.toy import toy

FACTS = pd.DataFrame(
    [
        ("small", "Sum", "error", 10.0, np.nan),
        ("small", "Largest", "error", 10.0, 3.0),
        ("all", "Sum", "seconds", 7.0, np.nan),
        ("large", "Elsewhere", "error", 1.0, np.nan),
        ("large", "Sum", "error", np.nan, np.nan),
    ],
    columns=["setting", "method", "metric", "value", "spread"],
).assign(rounding=0.05)


def outcomes(**values):
    """Outcomes on the small set: method -> values over trials."""
    trials = max(len(found) for found in values.values())
    return [
        Outcome(
            Task("toy", "small", t),
            "code",
            1.0,
            tuple(Measurement(name, "error", found[t], seconds=t) for name, found in values.items() if t < len(found)),
        )
        for t in range(trials)
    ]


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS)

    def summarised(experiment=None, **values):
        return summary.summarise(experiment or toy(trials=2), outcomes(**values)).set_index(["setting", "method"])

    return summarised


def test_mean_spread_and_difference(table):
    row = table(Sum=[11.0, 13.0, 15.0]).loc[("small", "Sum")]
    assert (row["ours"], row["spread"], row["trials"], row["difference"]) == (13.0, 2.0, 3, 3.0)
    assert row["se"] == pytest.approx(2 / np.sqrt(3))
    half = student.ppf(0.975, 2) * np.sqrt(4 / 3 + 4 / 2) + 0.05  # the toy paper has two trials
    assert (row["low"], row["high"]) == pytest.approx((3 - half, 3 + half))
    assert (row["verdict"], row["seconds"], row["published_seconds"]) == ("cannot tell", 1.0, 7.0)


def test_median_where_the_paper_takes_it(table):
    assert table(toy(centre="median"), Sum=[1.0, 2.0, 30.0]).loc[("small", "Sum"), "ours"] == 2.0


@each(
    "method, values, verdict",
    [
        ("Sum", [8.0, 12.0], "cannot tell"),  # so few trials scatter too much
        ("Sum", [9.9, 10.1, 9.9, 10.1], "reproduced"),
        ("Sum", [19.9, 20.1, 19.9, 20.1], "worse"),
        ("Largest", [12.9, 13.1, 12.9, 13.1], "cannot tell"),  # the published numbers scatter by 3
        ("Largest", [99.9, 100.1, 99.9, 100.1], "worse"),
        ("Sum", [9.9, 9.9], "better"),
        ("Sum", [10.04, 10.04], "reproduced"),  # rounds to what is printed
        ("Sum", [10.06, 10.06], "worse"),
    ],
)
def test_verdict_follows_the_interval(table, method, values, verdict):
    assert table(**{method: values}).loc[("small", method), "verdict"] == verdict


def test_on_a_fixed_data_set_one_task_is_no_difference(table):
    fixed = toy(granularity={"small": 100})
    assert table(fixed, Sum=[11.0, 11.0]).loc[("small", "Sum"), "verdict"] == "reproduced"
    assert table(fixed, Sum=[11.1, 11.1]).loc[("small", "Sum"), "verdict"] == "worse"


def test_on_fixed_data_one_run_of_what_draws_nothing_decides(table):
    row = table(toy(trials=2, granularity={"small": 0}), Sum=[10.04]).loc[("small", "Sum")]
    assert (row["low"], row["high"]) == pytest.approx((-0.01, 0.09)) and row["verdict"] == "reproduced"
    assert EXPERIMENTS["separable-table4"].granularity.keys() == EXPERIMENTS["separable-table4"].settings.keys()


def test_one_of_many_random_trials_tells_nothing(table):
    assert table(Sum=[11.0]).loc[("small", "Sum"), "verdict"] == "cannot tell"
    assert table(Sum=[10.0]).loc[("small", "Sum"), "verdict"] == "cannot tell"
    assert table(Sum=[10.0]).loc[("small", "Sum"), "note"] == "1 of 2 trials leave too wide an interval"
    assert table(toy(trials=1), Sum=[11.0]).loc[("small", "Sum"), "verdict"] == "worse"
    assert table(toy(granularity={"small": 100}), Sum=[12.0]).loc[("small", "Sum"), "verdict"] == "worse"


def test_the_paper_s_own_draws_leave_no_error_once_all_are_there(table):
    same = toy(trials=2, repeated={"Sum": {"error": 0.0}})
    row = table(same, Sum=[8.0, 12.04]).loc[("small", "Sum")]
    assert (row["se"], row["verdict"]) == (0.0, "reproduced")
    assert row["spread"] > 2
    assert (row["low"], row["high"]) == pytest.approx((0.02 - 0.05, 0.02 + 0.05))
    assert table(same, Sum=[8.0, 12.2]).loc[("small", "Sum"), "verdict"] == "worse"  # rounds to another number
    again = toy(trials=2, repeated={"Sum": {"error": 0.5}})  # what each draw scatters by, done again, is left
    assert table(again, Sum=[8.0, 12.04]).loc[("small", "Sum"), "se"] == pytest.approx(0.5 / np.sqrt(2))
    assert table(same, Sum=[8.0, 12.2, 9.8]).loc[("small", "Sum"), "verdict"] == "cannot tell"  # other draws
    assert table(toy(trials=2), Sum=[8.0, 12.2]).loc[("small", "Sum"), "verdict"] == "cannot tell"


def test_a_number_that_the_papers_protocol_alone_was_run_for_stands_beside_it_once(table):
    rows = table(**{"Sum (paper protocol)": [10.0, 10.0]})
    shown = rows[rows["published"].notna()].index.get_level_values("method")
    assert "Sum (paper protocol)" in shown and "Sum" not in shown
    assert rows.loc[("small", "Sum (paper protocol)"), "published"] == 10.0
    both = table(**{"Sum (paper protocol)": [10.0, 10.0], "Sum": [10.0, 10.0]})
    assert both.loc[("small", "Sum"), "published"] == 10.0


def test_with_a_control_few_of_the_papers_draws_tell_the_mean_of_all(table, monkeypatch):
    fast = pd.DataFrame({"setting": "small", "trial": range(4), "method": "Fast", "metric": "error"})
    known = fast.assign(value=[20.0, 10.0, 25.0, 9.0])
    monkeypatch.setattr(summary, "raw_trials", lambda name: known if name == "toy-fast" else None)
    control = toy(trials=4, control={"experiment": "toy-fast", "method": "Fast", "followed by": "Sum"})
    row = table(control, Sum=[14.0, 4.2]).loc[("small", "Sum")]  # 6 and 5.8 below, where all are 16 on average
    assert row["ours"] == pytest.approx(16 - 5.9) and row["trials"] == 2
    assert row["spread"] == pytest.approx(0.2 / np.sqrt(2))
    assert row["se"] == pytest.approx(row["spread"] * np.sqrt(1 / 2 - 1 / 4))  # two draws of four are not known
    half = student.ppf(0.975, 1) * row["se"] + 0.05  # the print is of the same draws: only its rounding is left
    assert (row["low"], row["high"]) == pytest.approx((0.1 - half, 0.1 + half))
    known_all = table(control, Sum=[14.0, 4.2, 21.0, 2.8]).loc[("small", "Sum")]
    assert (known_all["ours"], known_all["se"]) == pytest.approx((10.5, 0.0))
    assert (known_all["low"], known_all["high"]) == pytest.approx((0.45, 0.55)) and known_all["verdict"] == "worse"
    same = table(control, Sum=[20.0, 10.0, 25.0]).loc[("small", "Sum")]  # equal where it was run: elsewhere, who knows
    assert same["ours"] == pytest.approx(55 / 3) and same["verdict"] == "cannot tell"
    assert same["note"].startswith(
        "the 3 of 4 draws that were run say nothing of the others: the answer is that of Fast"
    )
    own = pd.concat([known, fast.assign(method="Sum", value=[14.0, 4.2, 21.0, 2.8])])  # it was run on all draws, too
    monkeypatch.setattr(summary, "raw_trials", lambda name: own)
    row = table(control, Sum=[14.0, 4.2]).loc[("small", "Sum")]
    assert (row["ours"], row["se"], row["trials"]) == pytest.approx((10.5, 0.0, 2))
    monkeypatch.setattr(summary, "raw_trials", lambda name: known.iloc[:3])  # the control lacks a draw: no help
    assert table(control, Sum=[14.0, 4.2]).loc[("small", "Sum"), "ours"] == pytest.approx(9.1)


def test_a_borrowed_spread_is_at_most_the_printed_mean(table):
    row = table(toy(trials=4), Sum=[0.0, 0.0, 0.0, 400.0]).loc[("small", "Sum")]
    own, borrowed = 200.0, 10.0
    half = student.ppf(0.975, 3) * np.hypot(own, borrowed) / 2
    assert row["high"] - row["low"] == pytest.approx(2 * (half + 0.05))


def test_numbers_that_cannot_be_compared_are_counted_apart(table):
    apart = toy(trials=2, apart={("small", "Sum", ""): "other data"})
    row = table(apart, Sum=[11.0, 11.0]).loc[("small", "Sum")]
    assert (row["verdict"], row["note"]) == ("not comparable", "other data")
    variant = table(apart, **{"Sum" + PAPER_PROTOCOL: [11.0, 11.0]}).loc[("small", "Sum" + PAPER_PROTOCOL)]
    assert variant["verdict"] == "not comparable"
    assert table(apart, Largest=[11.0, 11.0]).loc[("small", "Largest"), "verdict"] != "not comparable"
    assert table(apart, Sum=[]).loc[("large", "Elsewhere"), "verdict"] == "no value"


def test_what_was_fitted_to_printed_numbers_is_said(table):
    fitted = toy(calibrated={"error": "one constant"})
    assert table(fitted, Sum=[11.0, 11.0]).loc[("small", "Sum"), "calibrated"] == "one constant"
    assert table(Sum=[11.0, 11.0]).loc[("small", "Sum"), "calibrated"] == ""


def test_variants_compare_with_the_printed_method(table):
    found = table(**{"Sum" + PAPER_PROTOCOL: [10.0, 10.0], "Sum(2)": [10.0, 10.0]})
    assert found.loc[("small", "Sum" + PAPER_PROTOCOL), "published"] == 10.0
    assert np.isnan(found.loc[("small", "Sum(2)"), "published"])


def test_published_rows_without_a_value_of_ours_are_kept(table):
    row = table(Sum=[10.0, 10.0]).loc[("large", "Elsewhere")]
    assert (row["verdict"], row["trials"]) == ("no value", 0)
    assert table(Sum=[10.0, 10.0]).loc[("large", "Sum"), "verdict"] == ""  # printed as N/A


def test_a_failure_in_one_trial_does_not_hide_the_others(table, monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS)
    found = [
        *outcomes(Sum=[10.0]),
        Outcome(Task("toy", "small", 1), "code", 1.0, (Measurement("Sum", "", None, 0.0, "no"),)),
    ]
    row = summary.summarise(toy(), found).set_index(["setting", "method"]).loc[("small", "Sum")]
    assert (row["trials"], row["failed"], row["ours"]) == (1, 1, 10.0)
    assert row["note"].endswith("; no value in 1 of 2 trials: no")


def test_where_every_task_failed_and_nothing_was_published_there_is_an_empty_table(monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS.iloc[:0])
    broken = [Outcome(Task("toy", "small", 0), "code", 1.0, (), "RuntimeError: no")]
    found = summary.summarise(toy(), broken)
    assert found.empty and {"verdict", "note"} <= set(found.columns)
    assert "Toy" in summary.as_text(toy(), found)
    assert draw(toy(), broken, found).axes


def test_text_shows_everything_once(table):
    experiment = toy(trials=2, notes={("", "Sum"): "because", ("small", "Largest"): "therefore"})
    frame = table(experiment, Sum=[11.0, 11.0], Largest=[100.0, 100.0]).reset_index()
    text = summary.as_text(experiment, frame)
    assert text.count("because") == text.count("therefore") == 1
    assert "Sum (small): because" in text and "small set" in text and "+1.00" in text and "nan" not in text
    assert "ours beside published: 1 no value, 2 worse" in text
    assert "\nmethod " in text and "\nLargest" in text  # names begin in one place


def test_columns_that_say_nothing_are_left_out(monkeypatch):
    monkeypatch.setattr(summary, "published", lambda name: FACTS.iloc[:0])
    text = summary.as_text(toy(), summary.summarise(toy(), outcomes(Sum=[1.0, 2.0])))
    assert "method" in text and "ours" in text and "time" in text
    assert "published" not in text and "verdict" not in text


def test_reasons_stand_only_where_the_published_number_is_not_met(table):
    experiment = toy(trials=2, notes={("", "Sum"): "because", ("small", "Sum"): "here", ("", ""): "else"})
    assert table(experiment, Sum=[10.0, 10.0]).loc[("small", "Sum"), "note"] == ""
    assert table(experiment, Sum=[11.0, 11.0]).loc[("small", "Sum"), "note"] == "here"
    assert table(experiment, Largest=[20.0, 20.0]).loc[("small", "Largest"), "note"] == "else"


def test_a_default_points_to_the_row_of_the_paper_s_choices_where_that_meets_the_number(table):
    protocol = "Sum" + PAPER_PROTOCOL
    assert table(**{"Sum": [5.0, 5.0], protocol: [10.0, 10.0]}).loc[("small", "Sum"), "note"] == summary.SEE_PROTOCOL
    assert table(**{"Sum": [5.0, 5.0], protocol: [5.0, 5.0]}).loc[("small", "Sum"), "note"] == summary.UNKNOWN


def test_what_an_interval_of_99_9_per_cent_holds_may_be_chance(table):
    near, far = [11.0, 11.1, 11.2], [111.0, 111.1, 111.2]
    assert table(Sum=near).loc[("small", "Sum"), "verdict"] == "worse"
    assert table(Sum=near).loc[("small", "Sum"), "note"] == summary.CHANCE
    assert table(Sum=far).loc[("small", "Sum"), "note"] == summary.UNKNOWN


def test_where_all_trials_of_the_paper_scatter_too_much_it_is_said(table):
    note = table(toy(trials=3), Sum=[5.0, 10.0, 15.0]).loc[("small", "Sum"), "note"]
    assert note == "trials scatter so much that all of the paper's leave too wide an interval"


def test_emulated_defects_get_no_verdict(table):
    found = table(**{"Sum (off by one bug)": [20.0, 20.0], "Sum (first class where unlabelled)": [20.0, 20.0]})
    assert set(found.loc["small"].iloc[:2]["verdict"]) == {""}


@each(
    "arguments, text",
    [
        ((12.3456, 0.5, 0, 3), "12.35 ± 0.5"),
        ((12.3456, 0.0, 1, 1), "12.35"),
        ((95.0, 0.5, 0, 3), "95.00 ± 0.5"),
        ((435.0,), "435"),
        ((-408.9, 104.3, 0, 2), "-408.90 ± 104"),
        ((1 + 2.3e-16, 7.2e-17, 0, 20), "1.00 ± 0"),
        ((0.95, 0.001, 0, 20), "0.950 ± 0.001"),
        ((0.29372, 0.0, 4, 1), "0.2937"),
        ((32.0, np.nan, 2), "32.00"),
        ((0.0000021, np.nan, 7), "2.10e-06"),
        ((0.0, 0.0, 0, 1), "0"),
        ((0.001234, np.nan), "0.00123"),
        ((np.nan,), "-"),
    ],
)
def test_numbers_are_short(arguments, text):
    assert summary.number(*arguments) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-0.0012, "-0.001"), (9e-16, "0"), (0.0, "0"), (np.nan, "")]
)
def test_differences_are_short(value, text):
    assert summary.difference(value) == text


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((1.0, 0.5, 1.5), "+1.00 (+0.50 to +1.50)"),
        ((1.0, -np.inf, np.inf), "+1.00"),
        ((1.0, 1.0, 1.0), "+1.00"),
        ((np.nan, np.nan, np.nan), ""),
    ],
)
def test_a_difference_has_its_interval_where_that_has_ends(cells, text):
    assert summary.bounded(*cells) == text


def test_a_reason_stands_once_after_all_that_it_is_about():
    found = pd.DataFrame(
        [
            ("small", "A", "luck"),
            ("large", "A", "luck"),
            ("small", "B", "luck"),
            ("small", "C", "luck"),
            ("large", "B", ""),
        ],
        columns=["setting", "method", "note"],
    )
    assert summary.noted(found) == {"luck": "A; B, C (small)"}


def test_measure_records_warnings_refusals_and_crashes():
    def warns():
        import warnings

        warnings.warn("thin data", UserWarning, stacklevel=1)
        return {"error": 1.0}

    def refuses():
        raise CofactorError("too few")

    def crashes():
        raise ZeroDivisionError("oops")

    assert measure("A", warns)[0].note == "thin data"
    assert (measure("B", refuses)[0].value, measure("B", refuses)[0].error) == (None, "too few")
    assert measure("C", crashes)[0].error == "ZeroDivisionError: oops"


def test_an_unknown_published_table_is_an_error_that_lists_the_known():
    with pytest.raises(
        CofactorError, match=r"no published table 'crowd_table8'; there are comparisons_text, crowd_benchmark"
    ):
        published("crowd_table8")
    assert published("").empty
