"""Tables of categories and cut numbers: drawn codes become values again."""

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import DataWarning
from cofactor.crowd.labels import CrowdLabels
from cofactor.pmf.frames import CategoricalFrame


def test_numbers_drawn_are_all_those_of_their_interval():
    age = np.tile(np.arange(50), 8)
    frame = pd.DataFrame({"age": age.astype(str), "hat": ["red", "blue"] * 200})
    data = CategoricalFrame.from_frame(frame, None, 4)
    drawn = data.drawn(data.table, np.random.default_rng(0))
    found = drawn["age"].astype(int).to_numpy()
    assert (drawn["hat"] == frame["hat"]).all()
    assert set(found) == set(range(50)) and np.corrcoef(found, age)[0, 1] > 0.9


def test_text_is_a_variable_where_its_values_come_twice_on_average():
    twice, once = np.arange(60) % 30, np.arange(60) % 31
    frame = pd.DataFrame({"twice": twice, "once": once, "hat": np.arange(60) % 2}).astype(str).radd("no ")
    data = CategoricalFrame.from_frame(frame)
    assert data.names == ["twice", "hat"] and data.left_out == {"once": "31 values in 60 cells: ids or free text"}


def test_filling_gaps_leaves_the_table_itself_as_it_was():
    frame = pd.DataFrame({"hat": ["red", None, "red", "blue"] * 10, "coat": ["old", "new"] * 20}).astype(object)
    data = CategoricalFrame.from_frame(frame)
    row = np.flatnonzero(frame["hat"].isna())
    filled = data.filled(row, np.zeros_like(row), ["red"] * len(row))
    assert filled["hat"].notna().all() and data.frame["hat"].isna().sum() == 10


def test_a_column_with_gaps_is_never_ids():
    frame = pd.DataFrame({"pay": np.arange(3000, 3060), "hat": ["red", "blue"] * 30}).astype(str)
    assert CategoricalFrame.from_frame(frame).left_out == {"pay": "60 whole numbers that never repeat: ids"}
    frame.loc[3, "pay"] = "n/a"
    data = CategoricalFrame.from_frame(frame)
    assert data.names == ["pay", "hat"] and data.gap_words == {"n/a": {"pay": 1}}


def test_values_and_columns_that_look_alike_are_told_or_merged():
    frame = pd.DataFrame({"Job": ["cook", "Cook ", "cook", "nurse"] * 9, "job": ["7", "7.0", "1", "true"] * 9})
    found = CategoricalFrame.from_frame(frame)
    assert found.alike == {"Job": [["Cook ", "cook"]], "job": [["1", "true"], ["7", "7.0"]], "": [["Job", "job"]]}
    with pytest.warns(DataWarning, match="Job: values that differ in capitals, .* are one: 'Cook ' = 'cook'"):
        merged = CategoricalFrame.from_frame(frame, spelling="all")
    assert merged.alike == {"job": [["1", "true"], ["7", "7.0"]], "": [["Job", "job"]]}
    assert merged.observed[0] == [["cook"], ["nurse"]]


def test_what_spreadsheets_write_for_no_value_is_a_gap_and_as_a_label_is_noted():
    words = ["#REF!", "#DIV/0!", "#N/A", "undefined", "?"]
    frame = pd.DataFrame({"hat": [*words, *["red", "blue"] * 10], "size": [*["1", "2"] * 12, "1"]})
    data = CategoricalFrame.from_frame(frame)
    assert set(data.gap_words) == set(words) and data.table.sizes[0] == 2
    rows = pd.DataFrame({"task": range(25), "worker": ["a", "b", "c", "d", "e"] * 5, "label": frame["hat"]})
    with pytest.warns(DataWarning, match="look like no answer") as caught:
        CrowdLabels.from_frame(rows)
    assert all(word in str(caught[0].message) for word in words)


def test_words_for_nothing_are_gaps_or_noted_however_they_are_written():
    words = ["\\N", "(blank)", "Null", "\u2014", "Don\u2019t  know"]
    data = CategoricalFrame.from_frame(pd.DataFrame({"hat": [*words, *["red", "blue"] * 10]}))
    assert set(data.gap_words) == set(words[:3]) and set(data.answers) == set(words[3:])


def test_a_code_far_from_three_other_numbers_may_be_a_gap_and_from_two_a_value():
    for others, doubtful in ((["1", "2"], {}), (["1", "2", "3"], {"-99": {"grade": 2}})):
        data = CategoricalFrame.from_frame(pd.DataFrame({"grade": [*others * 6, "-99", "-99"]}))
        assert data.answers == doubtful, others


def test_many_intervals_never_leave_one_empty():
    rng = np.random.default_rng(0)
    for n_bins, n_values in ((24, 21), (24, 25), (50, 60), (100, 60)):
        frame = pd.DataFrame({"age": rng.integers(0, n_values, 300).astype(str), "hat": ["red", "blue"] * 150})
        data = CategoricalFrame.from_frame(frame, None, n_bins)
        assert 20 < len(data.observed[0]) <= n_values and (data.columns[0].often > 0).all()


def test_other_rows_get_the_codes_of_those_learnt_from():
    age = np.tile(np.arange(50), 8)
    frame = pd.DataFrame({"age": age.astype(str), "kids": (age % 4).astype(str)})
    data = CategoricalFrame.from_frame(frame, None, 4)
    again = CategoricalFrame.coded_by(data.columns, frame.iloc[::-1].reset_index(drop=True), None)
    assert (again.table.codes == data.table.codes[::-1]).all() and again.is_cut(0) and not again.is_cut(1)
    new = pd.DataFrame({"kids": ["3.0", "?", "2"], "age": ["1,000.5", "-3", "None"], "more": "x"})
    found = CategoricalFrame.coded_by(data.columns, new)
    assert found.table.codes.tolist() == [[3, 3], [0, -1], [-1, 2]]
    assert found.left_out == {"more": "the model has no such column"} and found.names == data.names
