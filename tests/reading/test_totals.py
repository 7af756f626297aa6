"""Rows that are no cases are told from cases, also in tables with many gaps."""

import numpy as np
import pandas as pd

from cofactor.reading.totals import added_up, footnotes, nearly_added_up, totals

PAY = [*range(1003, 1803, 20)]
ROWS = [("fm"[n % 2], ["yes", "no"][n % 3 % 2], str(pay)) for n, pay in enumerate(PAY)]
TWICE = [*ROWS, ("part 1", None, "55720"), *ROWS]


def table(*rows):
    return pd.DataFrame(rows, columns=["sex", "vote", "pay"], dtype=object)


def cells(rng, n_rows, gaps, *columns):
    """A table of ids and other columns, with gaps in these."""
    found = pd.DataFrame([draw(rng, n_rows) for draw in columns], dtype=object).T.astype(str)
    found = found.mask(rng.random(found.shape) < gaps)
    found.insert(0, "id", [f"p{n}" for n in range(n_rows)])
    return found


def test_a_last_row_of_at_least_half_the_sum_looks_like_a_total():
    amounts = pd.DataFrame({"city": list("ababab"), "n": ["5", "3", "4", None, "6", "2"]})
    assert totals(amounts) == ""
    assert "row 6 looks like a total (n is 20, the rows above add up to 20)" in totals(
        pd.concat([amounts, pd.DataFrame([["Sum", "20"]], columns=["city", "n"])], ignore_index=True)
    )


def test_a_last_row_near_a_total_is_no_case_where_the_others_repeat():
    said = {40: "'all' is at least half of the sum of the rows above"}
    for rows, found in (
        ([*ROWS, ("all", None, "60000")], said),
        ([*ROWS, ("all", "yes", "60000")], {}),  # two texts
        ([*ROWS, ("f", None, "60000")], {}),
        ([*ROWS, ("all", None, "20000")], {}),  # less than half
        ([(f"p{n}", *row[1:]) for n, row in enumerate(ROWS)] + [("all", None, "60000")], {}),  # ids: perhaps a case
    ):
        assert nearly_added_up(table(*rows)) == found, rows[-1]


def test_sums_and_means_of_other_rows_are_found_wherever_they_stand():
    above = "'all' adds up the rows above"
    for rows, found in (
        ([*ROWS, ("all", None, "55720")], {40: above}),
        ([*ROWS, (None, "all", "55720.0")], {40: above}),
        ([("all", None, "55720"), *ROWS], {0: "'all' adds up the rows below"}),
        ([*ROWS, ("mean", None, "1393.00"), ("all", None, "55720")], {40: "'mean' averages the rows above", 41: above}),
        ([*ROWS, ("all", None, "55720"), ("mean", None, "1393.00")], {40: above, 41: "'mean' averages the rows above"}),
        ([*TWICE, ("all", None, "111440")], {40: "'part 1' adds up the rows above", 81: above}),
        (
            [*TWICE, ("part 2", None, "55720"), ("all", None, "111440")],
            {
                40: "'part 1' adds up the rows above",
                81: "'part 2' adds up the rows directly above",
                82: above,
            },
        ),
        ([*ROWS, ("all", "yes", "55720")], {}),  # two texts
        ([*ROWS, ("f", None, "55720")], {}),  # a text that occurs elsewhere
        ([*ROWS, (None, None, "55720")], {}),
        ([*ROWS, ("all", None, "55721")], {}),
        ([*ROWS, ("mean", None, "1393")], {}),  # as a case may be
        ([*ROWS[:4], ("all", None, "4132")], {}),
        ([("f", "no", "-3000"), *ROWS, ("all", None, "52720")], {}),
    ):
        assert added_up(table(*rows)) == found, rows[-2:]
    huge = [(sex, None, "1e308") for sex, _, _ in ROWS]
    assert added_up(table(*huge, ("all", None, "1.7e308"))) == {}
    named = pd.DataFrame({"town": [f"t{n}" for n in range(40)], "a": PAY, "b": PAY[::-1]}).astype(str)
    for b, found in (("55720", {40: above}), ("55719", {})):
        assert added_up(pd.concat([named, pd.DataFrame([["all", "55720", b]], columns=[*named])])) == found


def test_cases_are_neither_sums_nor_means_nor_footnotes():
    kinds = (
        (0.3, lambda rng, n: rng.choice([*"xyz"], n), lambda rng, n: rng.integers(18, 80, n)),
        (0.3, *[lambda rng, n: np.exp(rng.normal(0, 2, n)).astype(int)] * 3),
        (0.0, *[lambda rng, n: rng.poisson(0.5, n)] * 2),
        (0.6, *[lambda rng, n: rng.integers(1, 6, n)] * 5),
    )
    for seed in range(8):
        for gaps, *columns in kinds:
            frame = cells(np.random.default_rng(seed), 60, gaps, *columns)
            assert added_up(frame) == {} and footnotes(frame) == "", frame
    assert added_up(pd.DataFrame()) == {} and footnotes(pd.DataFrame()) == ""


def test_last_rows_of_a_single_odd_cell_are_named_as_footnotes():
    ids = [(f"p{n}", *row[1:]) for n, row in enumerate(ROWS)]
    for rows, named in (
        ([*ROWS, ("* preliminary", None, None)], "row 40 ('* preliminary')"),
        ([*ids, ("* preliminary", None, None)], "row 40 ('* preliminary')"),
        (
            [*ROWS, (None, None, None), ("Source: X", None, None), ("* Y", None, None)],
            "row 41 ('Source: X'), row 42 ('* Y')",
        ),
        ([*ROWS, ("f", None, None)], ""),
        ([*ROWS, (None, None, "7")], ""),
        ([*ids, ("p40", None, None)], ""),  # the next id, not yet with answers
        ([*ROWS, ("x", None, None), *ROWS, ("* preliminary", None, None)], ""),
        ([*ROWS, *[("f", None, "9"), ("m", "no", None)] * 40, ("* preliminary", None, None)], ""),  # many gaps
    ):
        said = footnotes(table(*rows))
        assert f": {named}: remove" in said if named else said == "", rows[-1]
    assert footnotes(table(*ROWS, ("* preliminary", None, None))[["sex", "pay"]]) == ""
