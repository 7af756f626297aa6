"""What gaps are filled with, and how far off numbers are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cofactor.pmf import METHODS
from cofactor.pmf.filling import ENOUGH, draw, fill, no_better, number_errors, pooled
from cofactor.pmf.frames import CategoricalFrame
from cofactor.pmf.metrics import held_out
from tests.oracles.latent_class import conditional_by_summing


def mixed(n_rows, seed):
    """A word and a whole number of few values, a rounded number of many, all told by a kind; a tenth is missing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n_rows)
    hat = np.array(["red", "blue", "green"])[np.where(rng.random(n_rows) < 0.1, rng.integers(0, 3, n_rows), kind)]
    rooms = rng.poisson(1 + kind)
    frame = pd.DataFrame({"hat": hat, "rooms": rooms, "rent": (rng.gamma(9, 40, n_rows) * (1 + kind)).round(1)})
    return frame.astype(str).mask(rng.random((n_rows, 3)) < 0.1)


@pytest.mark.parametrize("n_bins", [2, 8])
def test_words_get_the_most_probable_value_numbers_the_least_expected_error(n_bins):
    data = CategoricalFrame.from_frame(mixed(300, 0), n_bins=n_bins)
    model = METHODS["RAND-EM"](rank=3, random_state=0).fit(data.table).model_
    cells = fill(model, data)
    codes = data.table.codes
    assert list(zip(cells.row, cells.variable, strict=True)) == list(zip(*np.nonzero(codes < 0), strict=True))
    for s, n, value, share in list(zip(cells.row, cells.variable, cells.value, cells.probability, strict=True))[::3]:
        shares = conditional_by_summing(model, codes[s], int(n))
        own = next(k for k, held in enumerate(data.observed[n]) if value in held)
        assert share == pytest.approx(shares[own])
        if data.names[n] == "hat":
            assert own == shares.argmax()
        if data.names[n] == "rent":
            values = np.concatenate([np.array(held, dtype=float) for held in data.observed[n]])
            weights = np.concatenate(
                [np.full(len(h), p / len(h)) for h, p in zip(data.observed[n], shares, strict=True)]
            )
            costs = [weights @ np.abs(values - guess) for guess in values]
            assert weights @ np.abs(values - float(value)) == pytest.approx(min(costs))


def test_a_column_that_nothing_tells_of_gets_its_median():
    frame = mixed(300, 2)
    data = CategoricalFrame.from_frame(frame)
    model = METHODS["RAND-EM"](rank=3, random_state=0).fit(data.table).model_
    cells = fill(model, data, [1, 2])
    for n, name in ((1, "rooms"), (2, "rent")):
        values = np.array(cells.value)[cells.variable == n].astype(float)
        given = np.sort(frame[name].dropna().astype(float))
        assert len(set(values)) == 1 and values[0] == given[(len(given) - 1) // 2]


def test_numbers_that_may_be_names_are_not_filled_with_what_is_rare():
    rng = np.random.default_rng(0)
    codes = rng.choice(["1", "2", "4"], 400, p=[0.45, 0.1, 0.45])
    frame = pd.DataFrame({"region": codes, "hat": rng.choice(["red", "blue"], 400)})
    frame.loc[:40, "region"] = None
    data = CategoricalFrame.from_frame(frame)
    assert "2" not in fill(METHODS["Independence"]().fit(data.table).model_, data).value


def test_errors_of_numbers_are_those_of_hidden_cells_which_no_guess_has_seen():
    data = CategoricalFrame.from_frame(mixed(1500, 1))
    found = held_out(METHODS["RAND-EM"](rank=3, random_state=0), data.table, 0)
    errors = number_errors(found, data)
    assert [data.names[n] for n in errors.index] == ["rooms", "rent"]
    assert (errors["mae"] < errors["base_mae"]).all() and (errors["gain"] > 2 * errors["error"]).all()
    rent = data.numbers[2]
    hidden = found.row[found.variable == 2]
    rest = np.delete(rent, hidden)
    base = np.abs(rent[hidden] - np.nanmedian(rest)).mean() / np.nanstd(rent)
    assert errors.loc[2, "base_mae"] == pytest.approx(base) and errors.loc[2, "cells"] == len(hidden)
    for scale in (1e-300, 1e300):  # whose squares are no numbers
        scaled = SimpleNamespace(numbers=[None if x is None else scale * x for x in data.numbers], is_cut=data.is_cut)
        again = number_errors(found, scaled)
        assert np.allclose(again[["mae", "base_mae"]], errors[["mae", "base_mae"]], rtol=1e-6), scale
    alone = held_out(METHODS["Independence"](), data.table, 0)
    apart = number_errors(alone, data).loc[2]
    assert apart["mae"] == pytest.approx(apart["base_mae"], abs=0.01) and abs(apart["gain"]) < 0.01


def test_a_median_is_said_to_be_no_worse_where_enough_cells_show_no_gain():
    cells = [ENOUGH, ENOUGH, ENOUGH, ENOUGH - 1]
    assert no_better(pd.DataFrame({"gain": [-0.1, 0.0, 0.02, -0.1], "cells": cells})) == [0, 1]


# ---- completed tables that are drawn ----


YES, PAY = 0.6 * 0.1 + 0.4 * 0.6, 20 + 0.4 * 15 + 12  # of all people


def survey(rng, n_rows=300):
    """Two kinds of people; those who differ in `hat` leave `ill` and `pay` out more or less often."""
    kind = rng.choice(2, n_rows, p=[0.6, 0.4])
    hat, coat = (np.where(rng.random(n_rows) < 0.15, 1 - kind, kind) for _ in range(2))
    ill = rng.random(n_rows) < np.array([0.1, 0.6])[kind]
    frame = pd.DataFrame({"hat": np.array(["red", "blue"])[hat], "coat": np.array(["old", "new"])[coat]})
    frame["ill"] = np.where(ill, "yes", "no")
    frame["pay"] = (20 + 15 * kind + rng.gamma(4, 3, n_rows)).round(1).astype(str)
    left = np.array([0.15, 0.5])[hat]
    return frame.assign(
        ill=frame["ill"].mask(rng.random(n_rows) < left), pay=frame["pay"].mask(rng.random(n_rows) < left)
    )


def test_drawn_tables_keep_what_was_given_and_how_frequent_values_are():
    frame = survey(np.random.default_rng(0), 3000)
    data = CategoricalFrame.from_frame(frame)
    method = METHODS["RAND-EM"](rank=2, random_state=0).fit(data.table)
    draws = draw(method, data, 3, random_state=0)
    tables = list(draws)
    assert len(draws) == 3 and all(table.equals(again) for table, again in zip(tables, draws, strict=True))
    assert not tables[0].equals(tables[1])
    cells = fill(method.model_, data)
    mode = (data.filled(cells.row, cells.variable, cells.value)["ill"] == "yes").mean()
    for table in tables:
        assert table.notna().all(axis=None) and (table == frame).where(frame.notna(), True).all(axis=None)
        assert (table["ill"] == "yes").mean() == pytest.approx(YES, abs=0.04) and abs(mode - YES) > 0.04
        assert table["pay"].astype(float).mean() == pytest.approx(PAY, abs=0.8)


@pytest.mark.slow
def test_pooled_intervals_hold_the_truth_as_often_as_they_say_where_the_rows_without_gaps_mislead():
    held, alone = [], []
    for seed in range(30):
        frame = survey(np.random.default_rng(seed))
        data = CategoricalFrame.from_frame(frame)
        method = METHODS["RAND-EM"](rank=2, random_state=0).fit(data.table)
        found = pooled(draw(method, data, 10, random_state=seed), data).set_index(["column", "value"])
        ill, pay = found.loc["ill", "yes"], found.loc["pay", ""]
        held.append([ill.low <= YES <= ill.high, pay.low <= PAY <= pay.high])
        alone.append((frame["ill"].dropna() == "yes").mean() - YES)
        assert 0.05 < ill.missing < 0.8
    assert (np.mean(held, axis=0) >= 0.8).all() and np.mean(alone) < -0.03  # 90 %, less two standard errors of 30


def test_numbers_of_an_interval_come_from_rows_of_the_drawn_class():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    frame = pd.DataFrame({name: np.where(kind, "red", "blue") for name in ("hat", "coat", "shoe")})
    pay = (10 + 8 * kind + 12 * rng.random(400)).round(2)  # 10 to 22, and 18 to 30: both kinds in each interval
    frame["pay"] = pay.astype(str)
    gaps = rng.random(400) < 0.4
    data = CategoricalFrame.from_frame(frame.assign(pay=frame["pay"].mask(gaps)), n_bins=2)
    drawn = pd.concat(draw(METHODS["RAND-EM"](2, random_state=0).fit(data.table), data, 5, random_state=0))
    drawn = drawn.loc[np.flatnonzero(gaps), ["hat", "pay"]].astype({"pay": float}).groupby("hat")["pay"]
    assert drawn.max()["blue"] <= 22 and drawn.min()["red"] >= 18 and (drawn.nunique() > 60).all()
    assert drawn.mean().to_dict() == pytest.approx({"blue": 16, "red": 24}, abs=0.6)


@pytest.mark.slow
def test_refits_have_enough_classes_where_people_differ_by_degrees():
    off = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        degree = rng.normal(size=400)
        levels = {name: np.digitize(degree + 0.4 * rng.normal(size=400), [-0.7, 0.7]) for name in ("hat", "coat")}
        frame = pd.DataFrame({name: np.array(list("abc"))[level] for name, level in levels.items()})
        pay = 40 + 15 * degree + rng.gamma(4, 3, 400)
        frame["pay"] = pd.Series(pay.round(1).astype(str)).mask(
            rng.random(400) < np.array([0.05, 0.3, 0.7])[levels["hat"]]
        )
        data = CategoricalFrame.from_frame(frame)
        method = METHODS["RAND-EM"](2, random_state=0).fit(data.table)
        draws = draw(method, data, 4, random_state=0)
        assert draws.models[0].n_classes == 8 and method.model_.n_classes == 2
        off.append(pooled(draws, data).set_index(["column", "value"]).loc[("pay", ""), "estimate"] - pay.mean())
    assert np.mean(off) > -0.6  # with two classes, -1.5
    for name, n_classes in (("Independence", 1), ("CNMF-OPT", 2)):
        method = METHODS[name]().set_params(**({"rank": 2} if n_classes == 2 else {})).fit(data.table)
        assert draw(method, data, 2, random_state=0).models[0].n_classes == n_classes
    few = CategoricalFrame.from_frame(frame.head(100))
    assert draw(METHODS["RAND-EM"](3).fit(few.table), few, 2).models[0].n_classes == 6  # for 25 rows each one, at most
