"""`cofactor joint`: its tables are those of the verb; what is printed, what is written, what is refused."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.verbs import joint
from cofactor_app.cli import main
from tests.each import each

FAST = ("--method", "RAND-EM", "--rank", "2")


@pytest.fixture(scope="module")
def truth():
    """Two kinds of cases; `mood` and `hat` tell the kind, `age` is a number, `coin` tells nothing."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    flip = rng.random((400, 2)) < 0.05
    frame = pd.DataFrame({"id": [f"case {i}" for i in range(400)]})
    frame["mood"] = np.where(kind ^ flip[:, 0], "glad", "sad")
    frame["hat"] = np.where(kind ^ flip[:, 1], "red", "blue")
    frame["age"] = (20 + 40 * kind + rng.integers(0, 30, 400)).astype(str)
    frame["coin"] = rng.choice(["heads", "tails"], 400)
    return frame


@pytest.fixture
def folder(truth, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    given = truth.copy()
    for name in ("mood", "hat", "age"):
        given.loc[rng.random(400) < 0.1, name] = rng.choice(["", "?", "NA"])
    given.to_csv("cases.csv", index=False)
    return tmp_path


def test_tables_are_those_of_the_verb(folder, capsys):
    names = ("output", "filled", "classes", "memberships")
    files = [word for name in names for word in (f"--{name}", f"{name}.csv")]
    assert main(["joint", "cases.csv", *FAST, *files, "--sample", "7", "sample.csv"]) == 0
    found, said = cf.joint("cases.csv", method="RAND-EM", rank=2), capsys.readouterr()
    text = {"dtype": str, "keep_default_na": False}
    pd.testing.assert_frame_equal(
        pd.read_csv("output.csv", **text), found.table.reset_index(drop=True), check_dtype=False
    )
    for name, table in (("filled", found.cells), ("classes", found.classes), ("memberships", found.memberships)):
        pd.testing.assert_frame_equal(pd.read_csv(f"{name}.csv"), table.round(6), check_dtype=False, obj=name)
    pd.testing.assert_frame_equal(pd.read_csv("sample.csv", **text), found.sample(7), check_dtype=False)
    lines = said.out.splitlines()
    assert lines[:3] == found.summary and len(lines) == 8 and all(line.startswith("wrote ") for line in lines[3:])
    assert lines[3] == f"wrote output.csv (400 rows, {len(found.cells)} gaps filled)"
    assert said.err.splitlines() == [f"{'warning' if n in found.warnings else 'note'}: {n}" for n in found.notes]


def test_gaps_are_filled_nearly_as_the_truth_was_and_nothing_else_is_changed(folder, truth, capsys):
    assert main(["joint", "cases.csv", *FAST, "-o", "full.csv", "--filled", "cells.csv", "-v"]) == 0
    said = "".join(capsys.readouterr())
    given, full = (pd.read_csv(name, dtype=str, keep_default_na=False) for name in ("cases.csv", "full.csv"))
    gap = given.isin(["", "?", "NA"])
    assert full.columns.tolist() == given.columns.tolist() and (full == given).where(~gap, True).all(axis=None)
    assert (full["mood"] == truth["mood"])[gap["mood"]].mean() > 0.85
    assert (
        set(full["mood"]) == {"glad", "sad"}
        and "column left out: id: probably ids or free text: 400 distinct values in 400 cells" in said
    )
    for name in ("mood", "hat", "age"):
        word = given[name][gap[name]].iloc[0]
        shown = re.escape(repr(word)) if word else "empty cells"
        assert re.search(f"counts as a gap: {shown}: .*{gap[name].sum()} in {name}", said)
    assert f"400 rows, 4 columns, {gap.sum().sum()} gaps" in said
    cells = pd.read_csv("cells.csv")
    assert len(cells) == gap.sum().sum() and cells["probability"].between(0.1, 1).all()
    row = cells[cells["column"] == "mood"].iloc[0]
    assert full["mood"][row["row"] - 2] == row["value"] and gap["mood"][row["row"] - 2]  # as a spreadsheet counts
    assert cells["probability"][cells["column"] == "mood"].mean() > 0.85


@pytest.mark.slow
def test_what_may_say_that_there_is_no_answer_is_named_and_dates_are_told_as_dates(folder, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    n = len(table)
    table["born"] = pd.date_range("1950-01-01", periods=n, freq="17D").strftime("%d.%m.%Y")
    table["sign"] = np.where(np.arange(n) % 2, "+", "-")
    table["kids"] = np.where(np.arange(n) < 7, "-99", (np.arange(n) % 5).astype(str))
    table["near"] = np.where(np.arange(n) < 7, "9", (np.arange(n) % 8).astype(str))  # one more than the others
    table.loc[3:5, "coin"] = "Don't  know"
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST]) == 0
    said = capsys.readouterr().err
    assert """"Don't  know" counts as an answer: 3 in coin (rows 5, 6, 7); if it is a gap, name it as one""" in said
    assert "'-99' counts as an answer: 7 in kids (rows 2, 3," in said and said.count("counts as an answer") == 2
    assert f"left out: born: {n} dates: replace them with numbers, such as the year" in said
    assert main(["joint", "cases.csv", *FAST, "--gaps", "-99, don't  know, Don't  know", "-v"]) == 0
    said = "".join(capsys.readouterr())
    assert "counts as an answer" not in said and "counts as a gap: '-99': 7 in kids" in said


def test_numbers_without_end_are_named_with_their_rows(folder, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table["pay"] = [f"{n / 7:.3f}" for n in range(400)]
    table.loc[[3, 5, 9], "pay"] = ["inf", "1e400", "inf"]
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST]) == 0
    told, said = "numbers mixed with text: 'inf' (rows 5, 11), '1e400' (row 7)", capsys.readouterr().err
    assert (
        f"left out: pay: {told}" in said
        and "none of its values is treated as a number: 'inf' (rows 5, 11), '1e400'" in said
    )
    table[["coin", "pay"]].to_csv("two.csv", index=False)
    assert main(["joint", "two.csv", *FAST]) == 1
    assert f"two usable columns are needed, and only coin is usable; left out: pay ({told})" in capsys.readouterr().err


@pytest.mark.slow
def test_the_user_says_which_words_are_gaps(folder, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table.loc[:9, "coin"] = "None"
    table.loc[:4, "age"] = "unknown"
    table["pay"] = np.where(np.arange(400) < 12, "None", 3000 + np.arange(400)).astype(str)
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST, "-o", "full.csv", "-v"]) == 0
    said, full = "".join(capsys.readouterr()), pd.read_csv("full.csv", dtype=str, keep_default_na=False)
    assert (
        "'None' counts as an answer: 10 in coin (rows 2, 3, 4," in said and "counts as a gap: 'None': 12 in pay" in said
    )
    assert (
        "age: the column has numbers and text, so none of its values is treated as a number: 'unknown' (rows 2, 3, 4"
        in said
    )
    assert "400 rows, 5 columns" in said and "left out: age" not in said  # its values are categories
    assert (full["coin"][:10] == "None").all() and full["pay"][:12].astype(int).between(3000, 3400).all()
    given = [*FAST, "--gaps", "None, unknown, ?, NA, nowhere", "-o", "full.csv", "--force"]
    assert main(["joint", "cases.csv", *given]) == 0
    said, full = capsys.readouterr(), pd.read_csv("full.csv", dtype=str, keep_default_na=False)
    assert "answer" not in said.err and "among them" not in said.err
    assert "no cell contains 'nowhere', which was named as a gap" in said.err
    assert set(full["coin"]) == {"heads", "tails"} and full["age"].str.isdecimal().all()
    assert main(["joint", "cases.csv", *FAST, "--gaps", "", "--columns", "mood", "hat", "-v"]) == 0
    assert "counts as a gap: '" not in capsys.readouterr().out
    table.loc[:4, "age"] = "unknown"
    assert main(["joint", "cases.csv", *FAST, "--skip-bad", "-o", "full.csv", "--force"]) == 0
    assert "age: text among numbers counts as gaps: 'unknown' (rows 2, 3, 4, 5, 6)" in capsys.readouterr().err
    assert pd.read_csv("full.csv")["age"].between(20, 90).all()


def test_draws_are_one_file_and_pooled_estimates_another(folder, truth, capsys):
    words = ["--draws", "3", "-o", "all.csv", "--pooled", "shares.csv"]
    assert main(["joint", "cases.csv", *FAST, *words]) == 0
    said, drawn = capsys.readouterr().out, pd.read_csv("all.csv")
    assert drawn["draw"].tolist() == np.repeat([1, 2, 3], 400).tolist() and drawn.notna().all(axis=None)
    found = pd.read_csv("shares.csv").set_index(["column", "value"])
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()
    assert found.loc[("coin", "heads"), "missing"] == 0 and "coin" not in said.split("pooled over 3 draws")[1]
    age = found.loc[("age", np.nan)] if ("age", np.nan) in found.index else found.loc["age"].iloc[0]
    assert age["low"] < truth["age"].astype(int).mean() < age["high"]


def test_hidden_cells_are_compared_with_each_column_alone(folder, capsys):
    assert main(["joint", "cases.csv", *FAST, "-v"]) == 0
    said = capsys.readouterr().out
    told = r"held-out cells: ([\d.]+) % wrong, most frequent value ([\d.]+) %"
    told += r"; log-loss ([\d.]+), independent columns ([\d.]+)"
    wrong, majority, loss, alone = map(float, re.search(told, said).groups())
    assert loss < alone - 0.2 and wrong < majority - 10
    ours, median = map(float, re.search(r"age: .* error ([\d.]+) .*\(([\d.]+) when predicting", said).groups())
    assert ours < 0.6 < median < 1
    assert main(["joint", "cases.csv", "--columns", "coin", "mood", "--method", "Independence"]) == 0
    said = capsys.readouterr()
    wrong, majority = re.search(told, said.out).groups()[:2]
    assert "warning: the model is no better than independent columns" in said.err and wrong == majority


def test_drawn_rows_have_the_dependence_of_the_table(folder, truth):
    assert main(["joint", "cases.csv", *FAST, "--sample", "2000", "drawn.csv"]) == 0
    drawn = pd.read_csv("drawn.csv")
    agree = ((drawn["mood"] == "glad") == (drawn["hat"] == "red")).mean()
    assert len(drawn) == 2000 and agree == pytest.approx(
        ((truth.mood == "glad") == (truth.hat == "red")).mean(), abs=0.05
    )
    assert abs(drawn["age"].mean() - truth["age"].astype(int).mean()) < 3 and drawn["age"].nunique() > 40


def test_page_names_columns_and_says_what_the_command_says(folder, capsys):
    assert main(["joint", "cases.csv", *FAST, "--report", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf8")
    for line in capsys.readouterr().out.splitlines():
        assert line.startswith("wrote") or line in html.unescape(page)
    assert page.count("<img") == 2 and all(name in page for name in ("mood", "hat", "age", "coin"))
    assert "built-in" not in page


@pytest.mark.slow
def test_many_columns_are_told_to_take_long_before_they_do(tmp_path, capsys, monkeypatch):
    assert joint.MANY == 100
    monkeypatch.setattr(joint, "MANY", 4)
    columns = {f"q{n}": ["yes", "no", "no", "yes"] for n in range(4)}
    pd.DataFrame(columns).to_csv(tmp_path / "wide.csv", index=False)
    assert main(["joint", str(tmp_path / "wide.csv"), "--method", "RAND-EM"]) == 0
    assert (
        "4 columns: choosing the number of latent classes takes about forty fits; set rank, such as --rank 5"
        in capsys.readouterr().err
    )
    pd.DataFrame(columns).iloc[:, 1:].to_csv(tmp_path / "narrow.csv", index=False)
    for words in (["narrow.csv", "--method", "RAND-EM"], ["wide.csv", *FAST]):
        assert main(["joint", str(tmp_path / words[0]), *words[1:]]) == 0
        assert "fits" not in capsys.readouterr().err


@pytest.mark.slow
def test_letters_without_a_font_and_endless_names_leave_pictures_and_one_note(tmp_path, capsys):
    kind = np.random.default_rng(0).integers(0, 2, 60)
    columns = {"\U00012000 \U00012001": kind, "x" * 10_000: kind ^ (np.arange(60) % 9 == 0), "b": np.arange(60) % 3}
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST, "--report", str(tmp_path / "a.html")]) == 0
    said = "note: pictures show boxes for characters that no known font has (tables are not affected): install a font"
    assert capsys.readouterr().err.count(said) == 1
    page = (tmp_path / "a.html").read_text(encoding="utf8")
    assert page.count("<img") == 2 and page.count("Note: pictures show boxes") == 1 and "Glyph" not in page


REFUSED = {
    "a name that is not there": (["--columns", "mood", "nope"], "no column nope; found id, mood"),
    "ids asked for": (
        ["--columns", "mood", "id"],
        "these columns cannot be used: id (probably ids or free text: 400 distinct values in 400 cells",
    ),
    "a rank of none": (["--rank", "0"], "--rank 0: the number of latent classes must be a positive integer"),
    "one interval": (["--bins", "1"], "--bins 1: give a whole number of at least 2"),
    "one table drawn": (["--draws", "1"], "--draws 1: give a whole number of at least 2"),
    "pooled from nothing": (
        ["--pooled", "a.csv"],
        "--pooled needs the number of tables to draw, for example --draws 20",
    ),
    "no number of rows": (["--sample", "x", "drawn.csv"], "--sample x drawn.csv: give the number of rows"),
    "no rows": (["--sample", "000", "drawn.csv"], "--sample 000 drawn.csv: give the number of rows"),
    "more rows than can be counted": (["--sample", str(10**12), "drawn.csv"], "a whole number from 1 to 2147483647"),
    "no such method": (["--method", "EM"], "no method 'EM': choose one of CNMF-SPA"),
    "an output there already": (["-o", "old.csv"], "old.csv already exists: name another output"),
}


@each("case", REFUSED)
def test_refused_before_any_work(folder, capsys, case):
    options, said = REFUSED[case]
    (folder / "old.csv").write_text("kept")
    assert main(["joint", "cases.csv", *options]) == 1
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".lock") == ["cases.csv", "old.csv"]


MESSY = {
    "one name twice": ("a,b,a\n1,2,3\n", "more than one column is called a: rename all but one"),
    "columns never seen together": ("a,b\n" + "x,\n,y\n" * 20, "groups: 2, never observed together: a; b"),
    "nothing but gaps": (
        "a,b\n?,NA\n,\n?,\n",
        "no column can be used: a (all cells are empty), b (all cells are empty)",
    ),
    "header only": ("a,b\n", "no cases: the table has a header but no rows"),
    "rows that are too long": (
        "a,b\n1,2\n1,2,3\n",
        "in row 3 (3 cells) (counting the header line)",
    ),
}


@pytest.mark.parametrize("case", MESSY)
def test_messy_tables_are_refused_in_words(tmp_path, capsys, case):
    text, said = MESSY[case]
    (tmp_path / "a.csv").write_text(text)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST]) == 1
    assert said in capsys.readouterr().err


def test_empty_rows_keep_their_place_and_stay_empty(tmp_path, capsys):
    rows = ["x,1", "", ",", *["x,1", "y,2"] * 20, ",2", ","]
    (tmp_path / "a.csv").write_text("a,b\n" + "\n".join(rows) + "\n\n\n")
    out, cells = tmp_path / "out.csv", tmp_path / "cells.csv"
    assert main(["joint", str(tmp_path / "a.csv"), *FAST, "-o", str(out), "--filled", str(cells)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("45 rows, 2 columns, 7 gaps\n")
    assert "note: 3 rows without a value stay empty: rows 3, 4, 46\n" in said.err
    full = out.read_text().splitlines()[1:]
    assert full == ["x,1", ",", ",", *["x,1", "y,2"] * 20, "y,2", ","]
    assert cells.read_text().splitlines()[1].startswith("45,a,y,")


OWN = """
import numpy as np
import cofactor as cf

def halves(table):
    return cf.pmf.METHODS["RAND-EM"](2, random_state=0).fit(table)

def wrong_sizes(table):
    return cf.pmf.METHODS["RAND-EM"](2, random_state=0).fit(table.take_variables([0, 1])).model_

def nothing(table):
    return np.zeros(3)
"""


@pytest.mark.slow
def test_a_method_of_one_s_own_fills_gaps_and_is_judged_on_hidden_cells(folder, capsys):
    (folder / "my.py").write_text(OWN)
    said = {}
    for method in (FAST, ("--method", "my.py:halves")):
        more = ("-o", "full.csv", "--filled", "cells.csv", "--report", "p.html", "--draws", "2", "--force", "-v")
        assert main(["joint", "cases.csv", *method, *more]) == 0
        said[method[1]] = capsys.readouterr().out.splitlines()
    own, kit = said["my.py:halves"], said["RAND-EM"]
    assert any("my.py:halves: a user-defined method" in line for line in own)
    judged = [[line for line in lines if line.startswith("held-out cells")] for lines in (own, kit)]
    assert judged[0] == judged[1] and len(judged[0]) == 1
    refused = {
        ("my.py:nothing",): "must return a cofactor.LatentClassModel",
        ("my.py:wrong_sizes",): "values, but the columns have",
        ("my.py:halves", "--rank", "3"): "put options after its name, as in NAME(alpha=2)",
    }
    for method, told in refused.items():
        assert main(["joint", "cases.csv", "--method", *method, "-o", "no.csv"]) == 1
        assert told in capsys.readouterr().err and not (folder / "no.csv").exists()
