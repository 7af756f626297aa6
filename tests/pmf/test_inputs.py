"""What `fit` takes beside a table of codes: arrays and DataFrames, coded as the command codes a file."""

import numpy as np
import pandas as pd
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.estimators import RANDEM, Independence
from cofactor.pmf.frames import CategoricalFrame
from cofactor.reading.tables import read_frame
from tests.each import each


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
    with pytest.warns(DataWarning, match="columns left out: id "):
        Independence().fit(frame.assign(id=[f"case {i}" for i in range(200)]))


WRONG = {
    "an unknown value": ({"hat": "green"}, r"hat holds values never seen before: data rows 0 \('green'\), 1 "),
    "text in an interval": ({"age": "old"}, r"age holds what are no numbers: data rows 0 \('old'\)"),
    "a list": ({"hat": [["red"]] * 200}, "column hat holds lists or the like, no categories: data rows 0, 1"),
}


@each("case", WRONG)
def test_other_values_than_those_fitted_on_are_refused_with_their_rows(case):
    column, said = WRONG[case]
    method = Independence().fit(people())
    with pytest.raises(CofactorError, match=said):
        method.predict(people().assign(**column), "kids")


def test_refuses_data_that_cannot_be_coded():
    method = Independence()
    for data, said in ((np.array([["a"]]), "an array of <U1 holds no codes: give a DataFrame"), ({"a": 1}, "got dict")):
        with pytest.raises(CofactorError, match=said):
            method.fit(data)
    for target in ("hat", "3"):
        with pytest.raises(CofactorError, match="no such column; the model has numbers only"):
            method.fit(drawn(30)).predict(drawn(30), target)
    with pytest.raises(CofactorError, match="the model was fitted to codes"):
        method.predict(people(), 0)
    with pytest.raises(CofactorError, match="no column kids; found hat, age, glad"):
        method.fit(people()).predict(people().drop(columns="kids"), 0)
