"""`cofactor joint`: what is printed, what is written, what is refused."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.cli import joint, main
from cofactor_app.cli.joint_lines import judged
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


def test_gaps_are_filled_nearly_as_the_truth_was_and_nothing_else_is_changed(folder, truth, capsys):
    assert main(["joint", "cases.csv", *FAST, "-o", "full.csv", "--filled", "cells.csv"]) == 0
    said = capsys.readouterr().out
    given, full = (pd.read_csv(name, dtype=str, keep_default_na=False) for name in ("cases.csv", "full.csv"))
    gap = given.isin(["", "?", "NA"])
    assert full.columns.tolist() == given.columns.tolist() and (full == given).where(~gap, True).all(axis=None)
    assert (full["mood"] == truth["mood"])[gap["mood"]].mean() > 0.85
    assert set(full["mood"]) == {"glad", "sad"} and "left out: id: 400 values in 400 cells: ids or free text" in said
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
    said = capsys.readouterr().out
    assert (
        """counts as an answer: "Don't  know": 3 in coin (rows 5, 6, 7); name the words that are gaps by --gaps"""
        in said
    )
    assert "counts as an answer: '-99': 7 in kids (rows 2, 3," in said and said.count("counts as an answer") == 2
    assert f"left out: born: {n} dates: give a number in their place, such as the year" in said
    assert main(["joint", "cases.csv", *FAST, "--gaps", "-99, don't  know, Don't  know"]) == 0
    said = capsys.readouterr().out
    assert "counts as an answer" not in said and "counts as a gap: '-99': 7 in kids" in said


def test_numbers_without_end_are_named_with_their_rows(folder, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table["pay"] = [f"{n / 7:.3f}" for n in range(400)]
    table.loc[[3, 5, 9], "pay"] = ["inf", "1e400", "inf"]
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST]) == 0
    told, said = "numbers, and text among them: 'inf' (rows 5, 11), '1e400' (row 7)", capsys.readouterr().out
    assert f"left out: pay: {told}" in said and "none is taken for a number: 'inf' (rows 5, 11), '1e400'" in said
    table[["coin", "pay"]].to_csv("two.csv", index=False)
    assert main(["joint", "two.csv", *FAST]) == 1
    assert (
        f"coin is the only column that can be used, of two or more: left out: pay ({told})" in capsys.readouterr().err
    )


def test_the_user_says_which_words_are_gaps(folder, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table.loc[:9, "coin"] = "None"
    table.loc[:4, "age"] = "unknown"
    table["pay"] = np.where(np.arange(400) < 12, "None", 3000 + np.arange(400)).astype(str)
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST, "-o", "full.csv"]) == 0
    said, full = capsys.readouterr().out, pd.read_csv("full.csv", dtype=str, keep_default_na=False)
    assert (
        "counts as an answer: 'None': 10 in coin (rows 2, 3, 4," in said
        and "counts as a gap: 'None': 12 in pay" in said
    )
    assert (
        "age: numbers, and text among them, so that none is taken for a number: 'unknown' (rows 2, 3, 4, 5, 6)" in said
    )
    assert "400 rows, 5 columns" in said and "left out: age" not in said  # its values are categories
    assert (full["coin"][:10] == "None").all() and full["pay"][:12].astype(int).between(3000, 3400).all()
    given = [*FAST, "--gaps", "None, unknown, ?, NA, nowhere", "-o", "full.csv", "--force"]
    assert main(["joint", "cases.csv", *given]) == 0
    said, full = capsys.readouterr(), pd.read_csv("full.csv", dtype=str, keep_default_na=False)
    assert "answer" not in said.out and "among them" not in said.out
    assert "no cell reads 'nowhere', named by --gaps" in said.err
    assert set(full["coin"]) == {"heads", "tails"} and full["age"].str.isdecimal().all()
    assert main(["joint", "cases.csv", *FAST, "--gaps", "", "--columns", "mood", "hat"]) == 0
    assert "counts as a gap: '" not in capsys.readouterr().out


def test_draws_are_one_file_and_pooled_estimates_another(folder, truth, capsys):
    words = ["--draws", "3", "-o", "all.csv", "--pooled", "shares.csv", "--not-asked", "hat if mood=sad"]
    assert main(["joint", "cases.csv", *FAST, *words, "--sample", "50", "new.csv", "--filled", "cells.csv"]) == 0
    said, drawn = capsys.readouterr().out, pd.read_csv("all.csv")
    empty = pd.read_csv("cases.csv")["hat"].replace("?", np.nan).isna()
    assert drawn["draw"].tolist() == np.repeat([1, 2, 3], 400).tolist()
    for _, table in drawn.groupby("draw"):
        table = table.reset_index()
        assert (table["hat"].isna() == (empty & (table["mood"] == "sad"))).all() and table["age"].notna().all()
    found = pd.read_csv("shares.csv").set_index(["column", "value"])
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()
    assert found.loc[("coin", "heads"), "missing"] == 0 and "coin" not in said.split("pooled over 3 draws")[1]
    age = found.loc[("age", np.nan)] if ("age", np.nan) in found.index else found.loc["age"].iloc[0]
    assert age["low"] < truth["age"].astype(int).mean() < age["high"]
    new, filled = pd.read_csv("new.csv"), pd.read_csv("cells.csv")
    assert (new["hat"].isna() == (new["mood"] == "sad")).all() and "not asked: hat: " in said
    assert 0 < (filled["column"] == "hat").sum() < empty.sum()


def test_hidden_cells_are_compared_with_each_column_alone(folder, capsys):
    assert main(["joint", "cases.csv", *FAST]) == 0
    said = capsys.readouterr().out
    loss, alone = map(
        float, re.search(r"log-loss  ([\d.]+), from each column alone \(independence\) ([\d.]+)", said).groups()
    )
    wrong, majority = map(float, re.search(r"wrong     ([\d.]+)%, the most frequent .* ([\d.]+)%", said).groups())
    assert loss < alone - 0.2 and wrong < majority - 10
    ours, median = map(float, re.search(r"  age  ([\d.]+), the median of the column ([\d.]+)\n", said).groups())
    assert ours < 0.6 < median < 1
    assert main(["joint", "cases.csv", "--columns", "coin", "mood", "--method", "Independence"]) == 0
    said = capsys.readouterr().out
    wrong, majority = re.search(r"wrong     ([\d.]+%), the most frequent value of each column ([\d.]+%)", said).groups()
    assert "no better than each column alone" in said and wrong == majority


def test_every_rank_that_is_kept_has_its_criteria(folder, capsys):
    assert main(["joint", "cases.csv", *FAST, "--columns", "mood", "hat", "coin"]) == 0
    found = re.search(r"  2 hidden classes: 7 free parameters, AIC ([\d.]+), BIC ([\d.]+)", capsys.readouterr().out)
    aic, bic = map(float, found.groups())
    assert bic - aic == pytest.approx(7 * (np.log(400) - 2), abs=0.2)


def test_weights_of_rows_are_named_or_noted_and_are_no_column_of_the_model(folder, truth, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table.insert(1, "wgt", np.where(truth["coin"] == "heads", "3.5", "0.5"))
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST]) == 0
    assert "WARNING: wgt: is called as weights of rows are, and counts as a column" in capsys.readouterr().out
    words = ["--weight", "wgt", "--draws", "2", "--pooled", "p.csv", "--sample", "2000", "new.csv", "-o", "full.csv"]
    assert main(["joint", "cases.csv", *FAST, *words]) == 0
    said, found = capsys.readouterr().out, pd.read_csv("p.csv").set_index(["column", "value"])
    assert "weights of rows: wgt, divided by their mean; for means, the 400 rows are worth 2" in said
    n_heads = (truth["coin"] == "heads").sum()
    heads = 3.5 * n_heads / (3.5 * n_heads + 0.5 * (400 - n_heads))
    assert found.loc[("coin", "heads"), "estimate"] == pytest.approx(heads, abs=1e-5) and "wgt" not in found.index
    new, full = pd.read_csv("new.csv"), pd.read_csv("full.csv")
    assert (new["coin"] == "heads").mean() == pytest.approx(heads, abs=0.03) and "wgt" not in new.columns
    assert full.columns.tolist() == ["draw", *table.columns] and "WARNING: wgt" not in said
    table.loc[3:4, "wgt"] = ["", "-1"]
    table.to_csv("cases.csv", index=False)
    refused = {
        (): "--weight wgt: weights are numbers of at least 0; not so in rows 5 (''), 6 ('-1')",
        ("--target", "mood"): "--weight wgt: goes with neither --target nor",
        ("--columns", "mood", "wgt"): "--weight wgt: goes with neither --target nor",
    }
    for more, said in refused.items():
        assert main(["joint", "cases.csv", *FAST, "--weight", "wgt", *more]) == 1
        assert said in capsys.readouterr().err
    assert main(["joint", "cases.csv", "--weight", "nope"]) == 1 and "no column nope;" in capsys.readouterr().err


def test_forbidden_pairs_are_nowhere_in_what_is_written(folder, truth, capsys):
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    both = (table["mood"] == "sad") & (table["hat"] == "red")
    table.loc[both, "hat"] = ""
    table.to_csv("cases.csv", index=False)
    words = ["--forbid", "mood=sad & hat=red", "--forbid", "coin=tails & mood=glad", "--target", "mood"]
    files = ["-o", "full.csv", "--filled", "cells.csv", "--sample", "5000", "new.csv", "--report", "p.html"]
    table.loc[(table["coin"] == "tails") & (table["mood"] == "glad"), "coin"] = "?"
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST, *words, *files]) == 1
    assert "forbidden pairs leave no value for a gap of rows 56, 62, 86, 177, " in capsys.readouterr().err
    table.loc[(table["coin"] == "tails") & (table["hat"] == "red"), "coin"] = "?"
    table.to_csv("cases.csv", index=False)
    assert main(["joint", "cases.csv", *FAST, *words, *files]) == 0
    said = capsys.readouterr().out
    assert re.search(r"forbidden: mood=sad & hat=red: had the probability 0\.\d+, and has none now", said)
    assert main(["joint", "cases.csv", *FAST, *words[:4], "--draws", "3", "-o", "all.csv"]) == 0
    for name in ("full.csv", "new.csv", "all.csv"):
        found = pd.read_csv(name, dtype=str)
        assert found[["mood", "hat", "coin"]].notna().all(axis=None)
        assert not ((found["mood"] == "sad") & (found["hat"] == "red")).any()
        assert not ((found["mood"] == "glad") & (found["coin"] == "tails")).any()
    assert pd.read_csv("cells.csv")["probability"].between(0, 1).all()


def test_a_kept_fit_fills_new_rows_and_nothing_is_fitted(folder, truth, capsys):
    assert main(["joint", "cases.csv", *FAST, "--keep-model", "model.npz", "-o", "full.csv"]) == 0
    assert "wrote model.npz: the fit and the coding of its 4 columns, for `cofactor joint --model`" in (
        capsys.readouterr().out
    )
    table = pd.read_csv("cases.csv", dtype=str, keep_default_na=False)
    table.assign(more="x")[["hat", "more", "age", "mood", "coin"]].head(200).to_csv("new.csv", index=False)
    words = ["joint", "new.csv", "--model", "model.npz", "-o", "new_full.csv", "--sample", "500", "s.csv"]
    assert main([*words, "--filled", "cells.csv", "--not-asked", "hat if mood=sad"]) == 0
    said, full, found = capsys.readouterr().out, *(pd.read_csv(f, dtype=str) for f in ("full.csv", "new_full.csv"))
    asked = found["hat"].notna()
    assert (found["hat"] == full["hat"].head(200))[asked].all() and 0 < (~asked).sum() < 40
    assert (found[["age", "mood"]] == full[["age", "mood"]].head(200)).all(axis=None) and (found["more"] == "x").all()
    assert "new.csv: 200 rows, 4 columns, " in said and "left out: more: the model has no such column" in said
    assert "model.npz: 2 hidden classes, as fitted" in said and "hidden cells" not in said
    drawn = pd.read_csv("s.csv")
    assert ((drawn["mood"] == "glad") == (drawn["hat"] == "red")).mean() > 0.85
    table.loc[3, "hat"] = "green"
    table.to_csv("new.csv", index=False)
    refused = {
        (): "hat holds values never seen before: rows 5 ('green') (the first line is row 1); mend them",
        ("--rank", "3", "--draws", "4"): "--rank, --draws: with --model nothing is fitted; leave that out",
        ("--spelling", "all"): "--spelling: with --model nothing is fitted",
        ("--method", "RAND-EM", "--bins", "9"): "--bins, --method: with --model nothing is fitted",
        ("--model", "cases.csv"): "cases.csv is no kept joint distribution",
    }
    for more, said in refused.items():
        assert main(["joint", "new.csv", "--model", "model.npz", *more]) == 1
        assert said in capsys.readouterr().err


def test_a_target_is_predicted_beside_logistic_regression_naive_bayes_and_the_majority(folder, truth, capsys):
    words = ["joint", "cases.csv", *FAST, "--target", "mood", "--filled", "cells.csv"]
    assert main(words) == 0
    found = dict(
        re.findall(
            r"^  (joint \+ logistic|logistic|naive Bayes|majority) +wrong ([\d.]+)%", capsys.readouterr().out, re.M
        )
    )
    assert float(found["joint + logistic"]) < 15 and float(found["majority"]) > 35 and float(found["naive Bayes"]) < 15


def test_a_target_needs_another_column(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("mood\n" + "glad\nsad\n" * 20)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST, "--target", "mood"]) == 1
    assert "--target mood: there is no other column to predict it from" in capsys.readouterr().err


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
        assert line.removeprefix("WARNING: ").startswith("wrote") or line.split(": ")[-1].strip() in page
    assert page.count("<img") == 2 and all(name in page for name in ("mood", "hat", "age", "coin"))
    assert "built-in" not in page


def test_many_columns_are_told_to_take_long_before_they_do(tmp_path, capsys, monkeypatch):
    assert joint.MANY == 100
    monkeypatch.setattr(joint, "MANY", 4)
    columns = {f"q{n}": ["yes", "no", "no", "yes"] for n in range(4)}
    pd.DataFrame(columns).to_csv(tmp_path / "wide.csv", index=False)
    assert main(["joint", str(tmp_path / "wide.csv"), "--method", "RAND-EM"]) == 0
    assert "4 columns: choosing the number of hidden classes takes up to 60 fits" in capsys.readouterr().err
    pd.DataFrame(columns).iloc[:, 1:].to_csv(tmp_path / "narrow.csv", index=False)
    for words in (["narrow.csv", "--method", "RAND-EM"], ["wide.csv", *FAST]):
        assert main(["joint", str(tmp_path / words[0]), *words[1:]]) == 0
        assert "fits" not in capsys.readouterr().err


def test_letters_without_a_font_and_endless_names_leave_pictures_and_one_note(tmp_path, capsys):
    kind = np.random.default_rng(0).integers(0, 2, 60)
    columns = {"\U00012000 \U00012001": kind, "x" * 10_000: kind ^ (np.arange(60) % 9 == 0), "b": np.arange(60) % 3}
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST, "--report", str(tmp_path / "a.html")]) == 0
    (note,) = capsys.readouterr().err.splitlines()
    assert note.startswith(
        "note: pictures show boxes for letters that no known font has, tables are right: install a font"
    )
    page = (tmp_path / "a.html").read_text(encoding="utf8")
    assert page.count("<img") == 2 and page.count("Note: pictures show boxes") == 1 and "Glyph" not in page


@pytest.mark.parametrize(("gain", "said"), [(2.5, ""), (1.5, ": no better than each column alone")])
def test_a_gain_of_two_standard_errors_is_one(gain, said):
    assert judged(SimpleNamespace(row=range(40), gain=lambda: (gain, 1.0))) == said


REFUSED = {
    "a name that is not there": (["--columns", "mood", "nope"], "no column nope; found id, mood"),
    "ids asked for": (["--columns", "mood", "id"], "columns that cannot be used: id (400 values in 400 cells"),
    "ids as the target": (["--target", "id"], "--target id: cannot be used (400 values in 400 cells"),
    "numbers as the target": (["--target", "age"], "--target age: holds many numbers"),
    "a rank of none": (["--rank", "0"], "--rank 0: give a whole number of at least 1"),
    "one interval": (["--bins", "1"], "--bins 1: give a whole number of at least 2"),
    "no processes": (["--jobs", "0"], "--jobs 0: give a whole number of at least 1"),
    "one table drawn": (["--draws", "1"], "--draws 1: give a whole number of at least 2"),
    "pooled from nothing": (["--pooled", "a.csv"], "--pooled needs --draws"),
    "a rule in other words": (["--not-asked", "hat where sad"], "--not-asked 'hat where sad': say which column if"),
    "a pair in other words": (["--forbid", "sad red"], "--forbid 'sad red': say which two values cannot stand"),
    "a pair that is there": (["--forbid", "mood=sad & hat=red"], "--forbid 'mood=sad & hat=red': stands in rows "),
    "no number of rows": (["--sample", "x", "drawn.csv"], "--sample x drawn.csv: first the number of rows"),
    "no rows": (["--sample", "000", "drawn.csv"], "--sample 000 drawn.csv: first the number of rows"),
    "more rows than can be counted": (["--sample", str(10**12), "drawn.csv"], "a whole number from 1 to 2147483647"),
    "an output that is the input": (["-o", "cases.csv", "--force"], "is no ordinary file, or one of the inputs"),
    "two outputs in one file": (["-o", "a.csv", "--filled", "a.csv"], "two tables cannot be written to one file"),
    "a kept fit there already": (["--keep-model", "old.csv"], "old.csv exists: name another output"),
    "an output there already": (["-o", "old.csv"], "old.csv exists: name another output"),
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
    "nothing but gaps": ("a,b\n?,NA\n,\n?,\n", "no column is left: a (no cell has a value), b (no cell has a value)"),
    "header only": ("a,b\n", "no cases: the table has a header but no rows"),
    "rows that are too long": ("a,b\n1,2\n1,2,3\n", "in row 3 (3 cells) (the first line is row 1)"),
}


@pytest.mark.parametrize("case", MESSY)
def test_messy_tables_are_refused_in_words(tmp_path, capsys, case):
    text, said = MESSY[case]
    (tmp_path / "a.csv").write_text(text)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST]) == 1
    assert said in capsys.readouterr().err


def test_empty_rows_are_told(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b\nx,1\n\n,\n" + "x,1\ny,2\n" * 20)
    assert main(["joint", str(tmp_path / "a.csv"), *FAST]) == 0
    assert "rows left out, empty or the header again, also of what is written: 2" in capsys.readouterr().out


def test_many_numbers_are_cut_and_frequent_ones_stay_alone():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random(500) < 0.6, 0, rng.integers(1, 1000, 500))
    data = CategoricalFrame.from_frame(pd.DataFrame({"gain": numbers.astype(str)}))
    shown = [data.shown(0, code) for code in range(len(data.observed[0]))]
    assert shown[0] == "0" and 7 <= len(shown) <= 9
    counts = np.bincount(data.table.codes[:, 0])
    assert counts[0] == (numbers == 0).sum() and counts[1:].max() < 1.5 * counts[1:].min()
    assert sum(counts) == 500


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


def test_a_method_of_one_s_own_fills_gaps_and_is_judged_on_hidden_cells(folder, capsys):
    (folder / "my.py").write_text(OWN)
    said = {}
    for method in (FAST, ("--method", "my.py:halves")):
        more = ("-o", "full.csv", "--filled", "cells.csv", "--report", "p.html", "--draws", "2", "--force")
        assert main(["joint", "cases.csv", *method, *more]) == 0
        said[method[1]] = capsys.readouterr().out.splitlines()
    own, kit = said["my.py:halves"], said["RAND-EM"]
    assert any("my.py:halves: hidden classes 2; a method from outside" in line for line in own)
    judged = [[line for line in lines if line.startswith(("  log-loss", "  gain"))] for lines in (own, kit)]
    assert judged[0] == judged[1] and len(judged[0]) == 2
    pd.read_csv("cases.csv", dtype=str).assign(wgt=1.5).to_csv("cases.csv", index=False)
    refused = {
        ("my.py:nothing",): "must answer with a cofactor.LatentClassModel",
        ("my.py:wrong_sizes",): "values, and the columns have",
        ("my.py:halves", "--rank", "3"): "follow its name, in brackets",
        ("my.py:halves", "--weight", "wgt"): "a method of your own takes no weights of rows",
    }
    for method, told in refused.items():
        assert main(["joint", "cases.csv", "--method", *method, "-o", "no.csv"]) == 1
        assert told in capsys.readouterr().err and not (folder / "no.csv").exists()
