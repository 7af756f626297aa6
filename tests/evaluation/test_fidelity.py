"""Every row of the fidelity table names a function that exists and tests that exist."""

import importlib
import re
from pathlib import Path

import pytest

from cofactor.core.errors import CofactorError
from evaluation.fidelity import deviations, fidelity
from tests.each import each
from tools import undo_deviations

ROOT = Path(__file__).parents[2]
ROWS = fidelity().to_dict("records")


def resolve(path):
    """Import the longest module of a dotted path, then follow attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


@each("row", ROWS)
def test_function_and_tests_exist(row):
    assert callable(resolve(row["function"])), row["function"]
    for test in row["test"].split("; "):
        path, _, name = test.partition("::")
        source = (ROOT / path).read_text(encoding="utf8")
        assert re.search(rf"^(async )?def {re.escape(name)}\(", source, flags=re.MULTILINE), test


def test_every_row_is_complete():
    for row in ROWS:
        assert row["line"] and row["equation"] and row["function"] and row["test"]
        assert row["deviation"], f"say 'none' where there is none: {row['equation']}"


def test_no_row_twice():
    keys = [(row["equation"], row["function"]) for row in ROWS]
    assert len(keys) == len(set(keys))


# ---- deviations that one change undoes ----

DEVIATIONS = deviations().to_dict("records")


def test_every_deviation_stands_in_the_code_and_its_test_in_the_table():
    held = {test for row in ROWS for test in row["test"].split("; ")}
    assert len(DEVIATIONS) >= 19 and len({row["deviation"] for row in DEVIATIONS}) == len(DEVIATIONS)
    for row in DEVIATIONS:
        source = (ROOT / row["file"]).read_text(encoding="utf8")
        assert row["here"] in source and row["here"] != row["undone"] and row["test"] in held, row["deviation"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_deviation_is_noticed_and_a_change_of_nothing_is_not():
    nothing = DEVIATIONS[0] | {"deviation": "none", "undone": DEVIATIONS[0]["here"]}
    assert undo_deviations.survivors([*DEVIATIONS, nothing]) == [nothing]


@pytest.mark.slow
def test_a_test_that_fails_before_anything_is_undone_is_an_error():
    with pytest.raises(CofactorError, match="before anything is undone"):
        undo_deviations.survivors([DEVIATIONS[0] | {"test": "tests/evaluation/test_fidelity.py::test_of_nothing"}])
