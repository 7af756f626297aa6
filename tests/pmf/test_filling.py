"""What gaps are filled with, and how far off numbers are."""

import numpy as np
import pandas as pd
import pytest

from cofactor.pmf import METHODS
from cofactor.pmf.filling import fill, number_errors
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


def test_words_get_the_most_probable_value_numbers_the_least_expected_error():
    data = CategoricalFrame.from_frame(mixed(300, 0))
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
    alone = held_out(METHODS["Independence"](), data.table, 0)
    apart = number_errors(alone, data).loc[2]
    assert apart["mae"] == pytest.approx(apart["base_mae"], abs=0.01) and abs(apart["gain"]) < 0.01


def test_a_model_of_codes_alone_measures_no_numbers():
    data = CategoricalFrame.from_frame(pd.DataFrame({"hat": ["red", "blue"] * 50, "yes": ["0", "1"] * 50}))
    found = held_out(METHODS["Independence"](), data.table, 0)
    assert number_errors(found, data).empty
