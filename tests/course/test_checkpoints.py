"""Numbers told are held beside numbers found: what is met, what is not, and how they are written."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from course import checkpoint


def lines(marks, capsys):
    checkpoint(marks)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("found", "within", "met"),
    [
        (0.5, 0.0, True),
        (0.6, 0.1, True),
        (0.61, 0.1, False),
        (0.39, 0.1, False),
        (np.nan, 1, False),
        (np.inf, 1, False),
    ],
)
def test_met_is_what_differs_by_no_more_than_it_may(found, within, met, capsys):
    first, last = lines({"a": (found, 0.5, within)}, capsys)
    assert first.endswith("ok" if met else "LOOK AGAIN")
    assert last.startswith("1 of 1 as told" if met else "0 of 1 as told: ")


def test_all_are_counted_and_stand_in_columns(capsys):
    *rows, last = lines({"a": (1, 1, 0), "longer name": (2.0, 3, 0.5), "c": (0.1, 0.1, 0.01)}, capsys)
    assert last.startswith("2 of 3 as told")
    assert len({row.index("±") for row in rows}) == 1
    assert [row.startswith(name) for row, name in zip(rows, ("a ", "longer name ", "c "), strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("found", "within", "written"),
    [
        (7, 0, "7"), (7.0, 1, "7"), (7.5, 0, "7.500"), (0.24074, 0.01, "0.241"), (0.32571, 0.0005, "0.32571"),
        (200.578, 15, "200.6"), (np.int64(108), 0, "108"), (0.2, 0.5, "0.20"),
    ],
)  # fmt: skip
def test_a_number_has_a_digit_more_than_its_tolerance(found, within, written, capsys):
    assert lines({"a": (found, 1, within)}, capsys)[0].split()[1] == written


@pytest.mark.parametrize("marks", [{}, {"rate": (1, 1, -0.1)}, {"rate": (1, 1, np.nan)}])
def test_marks_without_tolerances_are_refused(marks):
    with pytest.raises(CofactorError, match="rate" if marks else "no mark"):
        checkpoint(marks)
