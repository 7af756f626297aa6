"""Every row of the fidelity table names a function that exists and tests that exist."""

import importlib
import re
from pathlib import Path

from evaluation.fidelity import fidelity
from tests.each import each

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
