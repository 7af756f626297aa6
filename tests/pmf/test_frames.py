"""Tables of categories and cut numbers: drawn codes become values again."""

import numpy as np
import pandas as pd
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.labels import CrowdLabels
from cofactor.pmf.estimators import RANDEM, Independence
from cofactor.pmf.frames import CategoricalFrame
from cofactor.reading.tables import read_frame
from tests.each import each


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
    assert data.names == ["twice", "hat"] and data.left_out == {
        "once": "probably ids or free text: 31 distinct values in 60 cells"
    }


def test_a_column_of_twenty_values_is_taken_as_it_is():
    for n, taken in ((20, ["name", "hat"]), (21, ["hat"])):
        frame = pd.DataFrame({"name": [f"no {k}" for k in range(n)], "hat": [f"hat {k % 2}" for k in range(n)]})
        assert CategoricalFrame.from_frame(frame).names == taken


def test_filling_gaps_leaves_the_table_itself_as_it_was():
    frame = pd.DataFrame({"hat": ["red", None, "red", "blue"] * 10, "coat": ["old", "new"] * 20}).astype(object)
    data = CategoricalFrame.from_frame(frame)
    row = np.flatnonzero(frame["hat"].isna())
    filled = data.filled(row, np.zeros_like(row), ["red"] * len(row))
    assert filled["hat"].notna().all() and data.frame["hat"].isna().sum() == 10


def test_a_column_with_gaps_is_never_ids():
    frame = pd.DataFrame({"pay": np.arange(3000, 3060), "hat": ["red", "blue"] * 30}).astype(str)
    assert CategoricalFrame.from_frame(frame).left_out == {"pay": "probably ids: 60 whole numbers that never repeat"}
    frame.loc[3, "pay"] = "n/a"
    data = CategoricalFrame.from_frame(frame)
    assert data.names == ["pay", "hat"] and data.gap_words == {"n/a": {"pay": 1}}


def test_values_and_columns_that_look_alike_are_told_or_merged():
    frame = pd.DataFrame({"Job": ["cook", "Cook ", "cook", "nurse"] * 9, "job": ["7", "7.0", "1", "true"] * 9})
    found = CategoricalFrame.from_frame(frame)
    assert found.alike == {"Job": [["Cook ", "cook"]], "job": [["1", "true"], ["7", "7.0"]], "": [["Job", "job"]]}
    with pytest.warns(DataWarning, match="Job: values that differ only in capitals, .* count as one: 'Cook ' = 'cook'"):
        merged = CategoricalFrame.from_frame(frame, spelling="all")
    assert merged.alike == {"job": [["1", "true"], ["7", "7.0"]], "": [["Job", "job"]]}
    assert merged.observed[0] == [["cook"], ["nurse"]]


def test_what_spreadsheets_write_for_no_value_is_a_gap_and_as_a_label_is_noted():
    words = ["#REF!", "#DIV/0!", "#N/A", "undefined", "?"]
    frame = pd.DataFrame({"hat": [*words, *["red", "blue"] * 10], "size": [*["1", "2"] * 12, "1"]})
    data = CategoricalFrame.from_frame(frame)
    assert set(data.gap_words) == set(words) and data.table.sizes[0] == 2
    rows = pd.DataFrame({"task": range(25), "worker": ["a", "b", "c", "d", "e"] * 5, "label": frame["hat"]})
    with pytest.warns(DataWarning, match="look like non-answers") as caught:
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


def test_thousands_with_points_are_numbers_in_columns_of_few_values_and_of_other_rows_too():
    frame = pd.DataFrame({"pay": ["5.969", "858", "25.471"] * 20, "tall": [f"1,{n}" for n in range(50, 80)] * 2})
    data = CategoricalFrame.from_frame(frame)
    assert data.observed[0] == [["858"], ["5969"], ["25471"]]
    assert data.written["with '.' between thousands"] == ["pay"]
    assert (CategoricalFrame.coded_by(data.columns, frame).table.codes == data.table.codes).all()


# ---- what `fit` takes ----


def drawn(n_rows):
    return simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), n_rows, 0.8, random_state=1)


def people(n_rows=200):
    """Two kinds of people as a DataFrame of several types, with gaps."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame({"hat": np.where(kind, "red", "blue"), "kids": kind + rng.integers(0, 2, n_rows)})
    frame["age"] = (20 + 30 * kind + rng.integers(0, 25, n_rows)).astype(float)
    frame["glad"] = pd.Categorical((kind == 1) ^ (rng.random(n_rows) < 0.1))
    return frame.mask(rng.random(frame.shape) < 0.1)


def test_arrays_of_codes_fit_as_their_table_does_whatever_marks_a_gap():
    table = drawn(300)
    codes = table.codes
    codes[::3, 1] = -1
    holes = np.where(codes == -1, np.nan, codes)
    expected = RANDEM(2, random_state=0).fit(CategoricalTable(codes)).model_
    for same in (codes, holes, [[None if c == -1 else c for c in row] for row in codes.tolist()]):
        method = RANDEM(2, random_state=0).fit(same)
        assert np.array_equal(method.model_.stacked, expected.stacked) and method.columns_ == []
        assert np.array_equal(method.predict(same, 1), expected.predict_map(CategoricalTable(codes), 1))


def test_data_frames_are_coded_as_the_command_codes_a_file(tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = CategoricalFrame.from_frame(read_frame(tmp_path / "a.csv", None))
    method = RANDEM(2, random_state=0).fit(frame)
    expected = RANDEM(2, random_state=0).fit(data.table)
    assert np.array_equal(method.model_.stacked, expected.model_.stacked)
    new = frame.iloc[5:15].iloc[:, ::-1].assign(more=1)  # other columns beside, in another order
    found = method.predict_proba(new, "hat")
    assert np.array_equal(found, expected.predict_proba(data.table.take_rows(slice(5, 15)), 0))
    assert method.columns_[0].shown(int(method.predict(new, "hat")[0])) in ("blue", "red")
    assert RANDEM(2, random_state=0).fit(data).columns_ == data.columns
    with pytest.warns(DataWarning, match="columns were left out: id "):
        Independence().fit(frame.assign(id=[f"case {i}" for i in range(200)]))


WRONG = {
    "an unknown value": (
        {"hat": "green"},
        r"hat contains values that did not occur in the fit: data rows 0 \('green'\), 1 ",
    ),
    "text in an interval": ({"age": "old"}, r"age contains values that are not numbers: data rows 0 \('old'\), 1 "),
    "a list": (
        {"hat": [["red"]] * 200},
        "column hat contains lists or other objects instead of categories: data rows 0, 1",
    ),
}


@each("case", WRONG)
def test_other_values_than_those_fitted_on_are_refused_with_their_rows(case):
    column, said = WRONG[case]
    method = Independence().fit(people())
    with pytest.raises(CofactorError, match=said):
        method.predict(people().assign(**column), "kids")


def test_refuses_data_that_cannot_be_coded():
    method = Independence()
    for data, said in (
        (np.array([["a"]]), "an array of dtype <U1 does not contain codes: pass a DataFrame"),
        ({"a": 1}, "got dict"),
    ):
        with pytest.raises(CofactorError, match=said):
            method.fit(data)
    for target in ("hat", "3"):
        with pytest.raises(CofactorError, match="no such column; its variables have no names"):
            method.fit(drawn(30)).predict(drawn(30), target)
    with pytest.raises(CofactorError, match="the model was fitted to codes"):
        method.predict(people(), 0)
    with pytest.raises(CofactorError, match="no column kids; found hat, age, glad"):
        method.fit(people()).predict(people().drop(columns="kids"), 0)
