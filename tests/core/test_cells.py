"""Numbers as people write them: what becomes of them, and what stays as it is."""

import numpy as np
import pandas as pd
import pytest

from cofactor.core.cells import located, numbered_rows, plain, plain_columns
from cofactor.core.errors import DataWarning
from cofactor_app.cli import main

READ = {
    "decimal comma": (["0,5", "12,25", "7"], [0.5, 12.25, 7], "with a decimal comma"),
    "both": (["1.234,5", "12.345.678", "3"], [1234.5, 12345678, 3], "comma and with '.' between thousands"),
    "thousands": (["1,234.5", "950", "1,200"], [1234.5, 950, 1200], "with ',' between thousands"),
    "two commas": (["1,234,567", "1,234"], [1234567, 1234], "with ',' between thousands"),
    "small with a comma": (["0,125", "1,250"], [0.125, 1.25], "with a decimal comma"),
    "blanks": (["1\u202f234,5", "1\u00a0000"], [1234.5, 1000], "with a decimal comma and with"),
    "apostrophes": (["1'234.50", "12'000"], [1234.5, 12000], "between thousands"),
    "dollars": (["$1,234.50", "-$7", "3"], [1234.5, -7, 3], "with ',' between thousands and in $"),
    "euros": (["1,50 €", "20,00 €"], [1.5, 20], "with a decimal comma and in €"),
    "per cent": (["12%", "7.5 %"], [12, 7.5], "in %"),
    "minus": (["\u22123,5", "4,0"], [-3.5, 4], "with a decimal comma"),
    "full-width digits": (["\uff11\uff12", "\uff13.\uff15"], [12, 3.5], "digits other than 0 to 9"),
    "Arabic digits": (["\u0661,\u0665", "7,25"], [1.5, 7.25], "a decimal comma and with digits other than 0 to 9"),
    "a true minus": (["\u22123.5", "4.0"], [-3.5, 4], "a minus sign of its own"),
    "blank and point": (["1 234.567", "12"], [1234.567, 12], "with ' ' between thousands"),
    "three decimals of per cent": (["12.345 %", "7.125 %"], [12.345, 7.125], "in %"),
    "three decimals after a minus": (["\u22121.234", "2.345"], [-1.234, 2.345], "a minus sign of its own"),
    "thousands of euros": (["5.969 €", "858 €"], [5969, 858], "with '.' between thousands and in €"),
}  # fmt: skip
LEFT = {
    "plain": ["1.5", "2e-3", "-7"],
    "either": ["1,234", "2,345", "7"],
    "lists": ["1,2", "1,2,3"],
    "words": ["1,5", "much"],
    "two units": ["$1", "2 €"],
    "versions": ["1.2.3", "1.10.0"],
    "dates": ["01.02.2024", "3.4.2024"],
    "codes": ["007", "012,5x"],
    "too seldom": ["$1", "2", "3"],
    "nothing": ["", "NA"],
}


def test_numbers_are_read_as_they_are_meant_and_the_rest_stays():
    for case, (texts, numbers, said) in READ.items():
        found, how = plain(pd.Series([*texts, None, "NA", texts[0]], dtype=object))
        assert pd.to_numeric(found.iloc[:-3]).tolist() == numbers, case
        assert float(found.iloc[-1]) == numbers[0] and found.iloc[-2] == "NA" and pd.isna(found.iloc[-3]), case
        assert said in how, (case, how)
    for case, texts in LEFT.items():
        column = pd.Series(texts, dtype=object)
        found, how = plain(column)
        assert found.tolist() == texts and how == "", case
    for column in (
        pd.Series([1.5, 2]),
        pd.Series([["1,5"], "2,5"], dtype=object),
        pd.Series([("1,5",), 2], dtype=object),
    ):
        assert plain(column)[0] is column and plain(column)[1] == ""
    assert plain(pd.Series(["1,5", "missing"], dtype=object), ("missing",))[0].tolist() == ["1.5", "missing"]


TABLES = {  # an ambiguous column, the other columns of its table, its numbers, and whether these are doubtful
    "decimal commas": (["5.969", "858"], [["1,81", "1,5"], ["x"]], [5969, 858], False),
    "two points": (["5.969", "858"], [["1.234.567", "2"]], [5969, 858], False),
    "decimal points": (["5.969", "858"], [["1.81", "7"]], [5.969, 858], False),
    "both signs": (["5.969", "858"], [["1.81"], ["1,5"]], [5.969, 858], True),
    "no sign": (["5.969", "858"], [["7", "NA"], ["12.345"]], [5.969, 858], True),
    "no hundreds": (["5.969", "85"], [["7"]], [5.969, 85], False),
    "other decimals": (["5.969", "858", "5.97"], [["1,81"]], [5.969, 858, 5.97], False),
    "no groups": (["5.969", "8580"], [["1,81"]], [5.969, 8580], False),
    "a comma beside points": (["5,969", "858"], [["1.81"]], [5969, 858], False),
    "a comma beside commas": ([f"{n},500" for n in range(1, 12)], [["1,81"]], [n + 0.5 for n in range(1, 12)], False),
}


def test_ambiguous_numbers_follow_the_decimal_sign_of_the_other_columns_and_a_doubt_is_raised(recwarn):
    for case, (texts, others, numbers, doubtful) in TABLES.items():
        recwarn.clear()
        columns = [pd.Series(cells, dtype=object, name=f"c{n}") for n, cells in enumerate([texts, *others])]
        (found, _), *rest = plain_columns(columns)
        assert found.astype(float).tolist() == numbers, case
        assert all(one.equals(plain(other)[0]) for (one, _), other in zip(rest, columns[1:], strict=True)), case
        said = [str(one.message) for one in recwarn if one.category is DataWarning]
        what = "c0: numbers such as '5.969' are read as decimals, but may be thousands, because '858' has none"
        assert said == [f"{what}: if they are, write 5969"] * doubtful, case


def test_one_row_is_named_in_the_singular_and_many_by_the_first_ten():
    base = "(counting the header line)"
    assert [numbered_rows(rows) for rows in ([], [8], [8, 12])] == ["", f"row 8 {base}", f"rows 8 and 12 {base}"]
    assert numbered_rows(range(1, 13), "line") == "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... (12 in all)"
    column = pd.Series([None, "x"], pd.Index([2, 3], name="row"))
    assert located(column, column.notna(), ["x"]) == f"row 3 ('x') {base}"
    assert located(column.reset_index(drop=True), column.notna()) == "data row 1 (counting from 0)"


@pytest.fixture
def people(tmp_path):
    """The same table with points, and as a spreadsheet in another country writes it."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 10, 150).round(1), "sex": rng.choice(["m", "f"], 150)})
    table["income"] = (1000 * (table["age"] / 20 + rng.normal(0, 0.3, 150))).round(2)
    table.loc[::9, "income"] = np.nan
    table.to_csv(tmp_path / "plain.csv", index=False)
    table.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    table["income"] = [f"${one:,.2f}" if np.isfinite(one) else "" for one in table["income"]]
    table.to_csv(tmp_path / "dollars.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_a_table_from_another_country_gives_what_the_plain_one_gives(people, capsys):
    filled = []
    for name, said in (("plain", ""), ("comma", "with a decimal comma: age, income"),
                       ("dollars", "with ',' between thousands and in $: income")):  # fmt: skip
        assert main(["joint", str(people / f"{name}.csv"), "--rank", "2", "-o", str(people / f"{name}_out.csv")]) == 0
        told = capsys.readouterr().err
        assert (f"numbers {said}" in told) == bool(said) and "free text" not in told
        filled.append(pd.read_csv(people / f"{name}_out.csv"))
    answers = pd.DataFrame({"which": ["1,2", "2,3", "1", None] * 20, "sex": ["f", "m"] * 40})  # several at once
    answers.to_csv(people / "which.csv", index=False)
    assert main(["joint", str(people / "which.csv"), "--rank", "2", "-o", str(people / "which_out.csv")]) == 0
    assert set(pd.read_csv(people / "which_out.csv", dtype=str)["which"]) == {"1,2", "2,3", "1"}
    pd.testing.assert_frame_equal(filled[0], filled[1])
    pd.testing.assert_frame_equal(filled[0], filled[2])


@pytest.mark.slow
def test_weights_and_matrices_are_read_so_too(tmp_path, capsys):
    rng = np.random.default_rng(0)
    games = pd.DataFrame({"winner": rng.choice(list("abc"), 60), "loser": rng.choice(list("bcd"), 60)})
    games = games[games["winner"] != games["loser"]].assign(weight=lambda f: rng.uniform(0.5, 2, len(f)).round(2))
    points = pd.DataFrame(rng.random((6, 3)) @ rng.dirichlet(np.ones(3), 30).T, columns=[f"p{n}" for n in range(30)])
    found = []
    for decimal, sep in ((".", ","), (",", ";")):
        games.to_csv(tmp_path / "games.csv", index=False, decimal=decimal, sep=sep)
        points.round(4).to_csv(tmp_path / "points.csv", index=False, decimal=decimal, sep=sep)
        out = str(tmp_path / "out.csv")
        assert main(["rank", str(tmp_path / "games.csv"), "--weight", "weight", "-o", out, "--force"]) == 0
        ranks = pd.read_csv(out)
        assert main(["anchors", str(tmp_path / "points.csv"), "-o", out, "--force"]) == 0
        found.append((ranks, pd.read_csv(out)))
        said = capsys.readouterr().err
        assert ("numbers with a decimal comma" in said) == (decimal == ",")
    for one, other in zip(*found, strict=True):
        pd.testing.assert_frame_equal(one, other)
