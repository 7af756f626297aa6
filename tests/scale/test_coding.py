"""Ids of tasks: whole numbers are taken for numbers only where each is written plainly."""

import pyarrow as pa
import pytest

from cofactor_app.scale.coding import LARGEST, NotWhole, whole_numbers
from tests.each import each

EDGES = [0, 9, 10, 99, 100, LARGEST - 1, -1, -9, -10, -99, -100, 1 - LARGEST]


@each("ids", [[], EDGES, *([edge] for edge in EDGES)])
def test_plain_whole_numbers_are_numbers(ids):
    assert whole_numbers(pa.array(map(str, ids), pa.string())).to_pylist() == ids


@pytest.mark.parametrize("odd", ["007", "+7", "-0", "-07", "00", "7.0", "", "x", None, str(LARGEST), str(-LARGEST)])
def test_one_that_is_not_makes_all_text(odd):
    with pytest.raises(NotWhole):
        whole_numbers(pa.array([*map(str, EDGES), odd], pa.string()))


def test_blanks_around_do_not_count():
    assert whole_numbers(pa.array([" 12", "3 ", "-4"])).to_pylist() == [12, 3, -4]
    with pytest.raises(NotWhole):
        whole_numbers(pa.array([" 012"]))
