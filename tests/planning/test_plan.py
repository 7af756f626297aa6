"""A plan reads errors off simulations, and amounts off errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.plan_next import Plan, _repeats, amount_for, check_names, checked_amounts, checked_error

AMOUNTS = np.array([1.0, 2.0, 4.0, 8.0])


def plan_of(errors, wanted=0.1, **kwargs):
    return Plan("labels per task", "share wrong", AMOUNTS, errors, wanted, 3.0, **kwargs)


def test_reads_the_amount_off_a_falling_curve():
    errors = 0.4 / AMOUNTS  # 0.1 at exactly 4, 0.2 at 2
    assert amount_for(0.1, AMOUNTS, errors) == pytest.approx(4)
    assert amount_for(0.15, AMOUNTS, errors) == pytest.approx(np.sqrt(2 * 4))  # halfway, on a logarithmic scale
    assert amount_for(0.5, AMOUNTS, errors) == 1
    assert amount_for(0.04, AMOUNTS, errors) == np.inf


def test_small_crowds_are_simulated_often_but_not_for_ever():
    for n_tasks, often in ((2, 100), (20, 100), (40, 50), (4000, 2)):
        assert len(_repeats(CategoricalTable(np.zeros((n_tasks, 2), dtype=int)), 0)) == often


def test_a_bump_is_levelled_out():
    assert amount_for(0.25, AMOUNTS, np.array([0.4, 0.2, 0.3, 0.1])) == pytest.approx(2)
    assert amount_for(0.1, AMOUNTS, np.array([0.4, 0.05, 0.3, 0.2])) == np.inf  # one lucky trial is no promise


def test_amounts_at_which_a_method_refused_are_passed_over():
    assert amount_for(0.2, AMOUNTS, np.array([np.nan, 0.3, np.nan, 0.1])) == pytest.approx(4)
    assert amount_for(0.2, AMOUNTS, np.full(4, np.nan)) == np.inf


@given(errors=st.lists(st.floats(0, 1), min_size=4, max_size=4), one=st.floats(0.01, 0.99), two=st.floats(0.01, 0.99))
def test_a_smaller_error_never_takes_less(errors, one, two):
    less, more = sorted((one, two))
    assert amount_for(less, AMOUNTS, np.array(errors)) >= amount_for(more, AMOUNTS, np.array(errors)) - 1e-9


def test_the_answer_is_the_median_trial_and_its_band():
    factors = np.linspace(0.5, 1.5, 21)
    plan = plan_of({"one": factors[:, None] * 0.4 / AMOUNTS}, wanted=0.1)
    (row,) = plan.needed(level=0.8).to_dict("records")
    assert row["amount"] == pytest.approx(4)
    assert row["low"] == pytest.approx(amount_for(0.1, AMOUNTS, factors[2] * 0.4 / AMOUNTS))
    assert row["high"] == pytest.approx(amount_for(0.1, AMOUNTS, factors[18] * 0.4 / AMOUNTS))
    assert (plan.needed(0.2)["amount"] < plan.needed(0.1)["amount"]).all()


def test_of_an_even_number_of_trials_the_middle_two_are_averaged():
    amounts = [amount_for(0.1, AMOUNTS, factor * 0.4 / AMOUNTS) for factor in (0.5, 1.5)]
    plan = plan_of({"one": np.array([[0.5], [1.5]]) * 0.4 / AMOUNTS, "half": np.array([[0.4], [9.0]]) / AMOUNTS})
    assert plan.needed()["amount"].tolist() == [pytest.approx(np.mean(amounts)), np.inf]


def test_the_curve_holds_median_and_quantiles():
    errors = np.random.default_rng(0).random((50, 4))
    table = plan_of({"a": errors, "b": errors / 2}).curve(0.5)
    mine = table[table["method"] == "b"]
    assert np.allclose(mine["error"], np.median(errors, axis=0) / 2)
    assert np.allclose(mine[["low", "high"]].T, np.quantile(errors, [0.25, 0.75], axis=0) / 2)
    assert mine["amount"].tolist() == AMOUNTS.tolist()


def test_says_what_it_found():
    errors = {"good": np.tile(0.35 / AMOUNTS, (3, 1)), "<bad>": np.full((3, 4), 0.5), "best": np.zeros((3, 4))}
    plan = plan_of(errors, notes=("tasks are alike",))
    assert str(plan).splitlines() == [
        "share wrong of at most 0.1: labels per task needed (now: 3)",
        "  good   4",
        "  <bad>  more than 8",
        "  best   at most 1",
        "note: tasks are alike",
    ]
    html = plan._repr_html_()
    assert "more than 8" in html and "&lt;bad&gt;" in html and "<bad>" not in html and "tasks are alike" in html


def test_a_band_is_told_where_there_is_one():
    plan = plan_of({"one": np.linspace(0.5, 1.5, 21)[:, None] * 0.4 / AMOUNTS})
    assert "one  4 (90% of the simulations: 3 to 7)" in str(plan)


def test_where_much_is_unknown_there_is_a_range_and_no_middle():
    errors = {"one": np.linspace(0.5, 1.5, 21)[:, None] * 0.4 / AMOUNTS, "sure": np.tile(0.35 / AMOUNTS, (21, 1))}
    plan = plan_of(errors, only_range=True)
    assert plan.answers() == {"one": "3 to 7", "sure": "4"}
    assert "one   3 to 7" in str(plan) and "simulations:" not in str(plan)
    assert "<td></td><td>3 to 7</td>" in plan._repr_html_()


@pytest.mark.parametrize("wanted", [0, 1, -0.1, 5, np.nan])
def test_an_error_is_a_share(wanted):
    with pytest.raises(CofactorError, match="between 0 and 1"):
        checked_error(wanted)
    with pytest.raises(CofactorError, match="between 0 and 1"):
        plan_of({"one": np.zeros((2, 4))}).needed(wanted)


@pytest.mark.parametrize("amounts", [[], [0, 1], [1.5], [np.nan], "many", [[1, 2]]])
def test_amounts_are_whole_numbers(amounts):
    with pytest.raises(CofactorError, match="amounts="):
        checked_amounts(amounts)


def test_amounts_are_sorted_and_capped():
    assert checked_amounts([5, 1, 5, 3], most=4).tolist() == [1, 3]
    with pytest.raises(CofactorError, match="the largest possible amount, 4"):
        checked_amounts([5, 6], most=4)


def test_methods_must_be_known():
    assert check_names(["a"], ["a", "b"]) == ("a",)
    for wrong in (["c"], []):
        with pytest.raises(CofactorError, match="choose one or more of a, b"):
            check_names(wrong, ["a", "b"])
