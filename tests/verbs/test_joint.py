"""The verb `joint`: every way in gives the same result, rows are the user's, latent classes are described."""

import warnings

import numpy as np
import pandas as pd
import pytest

import cofactor as cf

FAST = {"method": "RAND-EM", "rank": 2}


@pytest.fixture(scope="module")
def frame():
    """Two kinds of people, gaps in a tenth of the cells, an id, and a number."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    flip = rng.random((200, 2)) < 0.05
    table = pd.DataFrame(
        {"mood": np.where(kind ^ flip[:, 0], "glad", "sad"), "hat": np.where(kind ^ flip[:, 1], "red", "blue")}
    )
    table["age"] = 20.0 + 40 * kind + rng.integers(0, 30, 200)
    table = table.mask(rng.random(table.shape) < 0.1)
    table.insert(0, "who", [f"p{n}" for n in range(200)])
    return table


def test_every_way_in_gives_the_same_result(frame, tmp_path):
    import pyarrow

    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.iloc[:90].to_csv(tmp_path / "one.csv", index=False)
    frame.iloc[90:].to_csv(tmp_path / "two.csv", index=False)
    ways = {
        "path": tmp_path / "t.csv",
        "several": [tmp_path / "one.csv", tmp_path / "two.csv"],
        "arrow": pyarrow.Table.from_pandas(frame),
        "own index": frame.set_axis(frame["who"], axis=0),
    }
    expected = cf.joint(frame, **FAST)
    assert expected.table.dtypes.tolist() == frame.dtypes.tolist() and expected.table["age"].notna().all()
    for name, source in ways.items():
        found = cf.joint(source, **FAST)
        text = [one.table.astype({"age": float}).astype(str).to_numpy().tolist() for one in (found, expected)]
        assert text[0] == text[1], name
        pd.testing.assert_frame_equal(
            found.classes.drop(columns="value"), expected.classes.drop(columns="value"), obj=name
        )
        assert found.cells["value"].astype(str).str.replace(".0", "").tolist() == expected.cells["value"].tolist()


@pytest.mark.slow
def test_codes_and_data_sets_are_tables(frame):
    codes = np.column_stack([pd.factorize(frame[name])[0] for name in ("mood", "hat", "age")])
    codes[:, 2] = np.where(codes[:, 2] >= 0, frame["age"] > 50, -1)
    ways = [cf.joint(codes, **FAST), cf.joint(cf.CategoricalTable(codes), **FAST)]
    assert ways[0].table.equals(ways[1].table) and (ways[0].table.astype(int) >= 0).all(axis=None)
    with warnings.catch_warnings(action="ignore"):
        votes = cf.joint("votes", **FAST)
    assert votes.summary[0] == "435 rows, 17 columns, 392 gaps" and votes.table.notna().all(axis=None)


@pytest.mark.parametrize("kind", ["boolean", "object", "category"])
def test_filled_cells_are_of_the_kind_of_their_column(frame, kind):
    old = (frame["age"] > 50).astype(kind).mask(frame["age"].isna())
    found = cf.joint(frame[["mood", "hat"]].assign(old=old), **FAST).table["old"]
    assert found.dtype == old.dtype and {type(value) for value in found.tolist()} == {bool}


def test_every_row_has_its_row_under_its_own_id(frame):
    holes = frame.copy().set_axis([f"r{n}" for n in range(200)], axis=0)
    holes.iloc[[3, 7], 1:] = None
    found = cf.joint(holes, **FAST)
    assert found.table.index.tolist() == holes.index.tolist()
    assert found.table.iloc[[3, 7], 1:].isna().all(axis=None) and (found.table["who"] == holes["who"]).all()
    assert found.memberships["row"].tolist() == holes.index.tolist()
    assert found.memberships["who"].tolist() == holes["who"].tolist()
    assert found.memberships["class"].isna().to_numpy().nonzero()[0].tolist() == [3, 7]
    assert "2 rows without a value stay empty: rows r3, r7" in found.notes
    assert set(found.cells["row"]) <= set(holes.index) - {"r3", "r7"}
    twofold = frame.set_index([np.arange(200) // 2, np.arange(200) % 2])
    found = cf.joint(twofold, **FAST)
    assert found.table.index.equals(twofold.index) and found.memberships["row"].tolist() == twofold.index.tolist()


def test_rows_that_add_up_others_are_left_out_by_name(frame, tmp_path):
    whole = frame.assign(age=frame["age"] + 0.5)
    total = pd.DataFrame([["Total", None, None, whole["age"].sum()]], columns=[*frame])
    expected = cf.joint(whole, **FAST)
    last = pd.concat([whole, total]).set_axis([f"r{n}" for n in range(201)])
    last.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    for source, row in ((last, "r200"), (tmp_path / "comma.csv", "202")):
        said = f"left out, since totals and means are no cases: row {row} ('Total' adds up the rows above); remove them"
        with pytest.warns(cf.DataWarning) as caught:
            found = cf.joint(source, **FAST)
        assert said in found.warnings and said in map(str, [one.message for one in caught])
        assert len(found.table) == len(found.memberships) == 200 and found.summary == expected.summary
        assert found.table["age"].astype(float).tolist() == expected.table["age"].tolist()
    notes = cf.joint(pd.concat([whole, pd.DataFrame([["Source: a survey", *[None] * 3]], columns=[*frame])]), **FAST)
    assert any(note.startswith("a single cell, as in a footnote: row 0 ('Source: a survey')") for note in notes.notes)
    assert len(notes.table) == 201 and not any("no cases" in note for note in expected.notes)


def test_minus_one_is_a_gap_only_in_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 3, (60, 4))
    for array, gaps in (
        (codes, (codes == -1).sum()),
        (codes - 1, 0),
        (codes.astype(float), 0),
        (np.where(codes < 0, np.nan, codes), (codes == -1).sum()),
        (rng.normal(size=(60, 4)).round(), 0),
    ):
        with warnings.catch_warnings(action="ignore"):
            found = cf.joint(array, **FAST)
        assert len(found.cells) == gaps and found.data.table.n_entries == 240 - gaps


def test_one_name_may_stand_for_a_list_of_one(frame):
    with pytest.raises(cf.CofactorError, match="two usable columns are needed, and only mood is usable"):
        cf.joint(frame, columns="mood", **FAST)
    with pytest.raises(cf.CofactorError, match="no column 7; found"):
        cf.joint(frame, columns=7, **FAST)
    coded = frame.assign(hat=frame["hat"].fillna("none"), age=frame["age"].fillna(9))
    for gaps, n in (("none", frame["hat"].isna().sum()), (9.0, 0), (9, frame["age"].isna().sum())):
        found = cf.joint(coded, gaps=gaps, **FAST)
        assert len(found.cells) == n + frame["mood"].isna().sum(), gaps


def test_numbers_beyond_floats_and_complex_ones(frame):
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        found = cf.joint(frame.assign(key=[10**25 + n % 3 for n in range(200)]), **FAST)
    assert found.table["key"].nunique() == 3
    with pytest.raises(cf.CofactorError, match="column wave contains complex numbers: split them"):
        cf.joint(frame.assign(wave=np.arange(200) * 1j), **FAST)


def test_classes_are_profiles_the_largest_first_and_memberships_posteriors(frame):
    found = cf.joint(frame, **FAST)
    classes, model = found.classes, found.method.model_
    assert classes.groupby("class")["share"].first().is_monotonic_decreasing
    assert np.allclose(classes.groupby(["class", "column"])["probability"].sum(), 1)
    overall = (classes["share"] * classes["probability"]).groupby([classes["column"], classes["value"]]).sum()
    assert np.allclose(overall, classes.groupby(["column", "value"])["overall"].first())
    order = np.argsort(-model.prior)
    Q = model.posterior(found.data.table)[:, order]
    assert np.allclose(found.memberships[["class 1", "class 2"]], Q)
    assert np.allclose(found.memberships["probability"], Q.max(axis=1))
    share = classes[(classes["column"] == "hat") & (classes["value"] == "red")].set_index("class")["probability"]
    assert share.max() > 0.9 > 0.1 > share.min()  # what the kinds were drawn with


@pytest.mark.slow
def test_few_distinct_rows_have_few_classes():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 600)
    table = pd.DataFrame({f"q{n}": kind ^ (rng.random(600) < 0.2) for n in range(4)}).astype(str)
    with warnings.catch_warnings(action="ignore"):
        found = cf.joint(table, method="RAND-EM")
    assert found.model.n_classes == 2 and found.model.n_parameters < 16
    assert found.summary[1].startswith("2 latent classes: ")


def test_a_check_that_concerns_other_methods_is_no_warning():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 9, (200, 4)), columns=list("abcd")).astype(str)
    with warnings.catch_warnings(action="ignore"):
        found = cf.joint(table, method="RAND-EM", rank=1)
    assert found.checks["rows per triple"].status == "warn"
    assert not any(text.startswith("rows per triple") for text in found.warnings)


def test_columns_may_be_named_by_numbers(frame):
    numbered = frame.set_axis(range(4), axis=1)
    with warnings.catch_warnings(action="ignore"):
        found, expected = cf.joint(numbered, columns=[1, 2], **FAST), cf.joint(frame, columns=["mood", "hat"], **FAST)
    assert list(found.table) == [0, 1, 2, 3] and found.table[[1, 2]].equals(
        expected.table[["mood", "hat"]].set_axis([1, 2], axis=1)
    )
    assert found.table[3].equals(frame["age"].rename(3))  # left as it is
    with pytest.raises(cf.CofactorError, match="no column 7; found 0, 1, 2, 3"):
        cf.joint(numbered, columns=[7], **FAST)


def test_a_column_that_tells_another_is_told_of_truly():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 5, 300)
    table = pd.DataFrame({"q1": one, "q2": np.array(list("badce"))[one], "other": rng.integers(0, 2, 300)}).astype(str)
    with pytest.warns(cf.DataWarning) as caught:
        found = cf.joint(table, **FAST)
    said = "redundant columns: each value of q1 occurs with one value of q2: one column determines the other"
    assert any(text.startswith(said) for text in found.warnings)
    assert {str(one.message) for one in caught} == set(found.warnings) <= set(found.notes)


@pytest.mark.slow
def test_the_result_shows_itself_draws_and_writes_a_page(frame, tmp_path):
    found = cf.joint(frame, **FAST)
    draws = found.draws(2)
    assert len(draws) == 2 and all(one.drop(columns="who").notna().all(axis=None) for one in draws)
    assert {"column", "value", "estimate", "low", "high", "missing"} == set(found.pooled(draws))
    assert len(found.sample(5)) == 5 and "200 rows, 3 columns" in repr(found) and "<table" in found._repr_html_()
    found.report(tmp_path / "page.html")
    assert "<h2>Latent classes</h2>" in (tmp_path / "page.html").read_text(encoding="utf8")


def test_what_is_no_table_is_refused(frame):
    refused = {
        "no method 'EM': choose one of": lambda: cf.joint(frame, method="EM"),
        "no column nope; found who, mood": lambda: cf.joint(frame, columns=["mood", "nope"]),
        "of shape .3,.: give a path": lambda: cf.joint(np.zeros(3)),
        "expected a table, got complex128 of shape": lambda: cf.joint(np.eye(3) * 1j),
        "two usable columns are needed, and only ": lambda: cf.joint(frame[["who", "mood"]]),
    }
    for message, ask in refused.items():
        with pytest.raises(cf.CofactorError, match=message):
            ask()
