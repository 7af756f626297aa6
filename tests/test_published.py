"""Published numbers: every file parses, every key is there once, and methods are found by their names."""

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import cofactor as cf
from cofactor.data.registry import entries
from evaluation.methods import METHODS
from evaluation.released import RELEASED
from evaluation.released.pmf import CLASSIFIERS
from tests.each import each

FOLDER = Path(__file__).parents[1] / "datasets" / "published"
HEADER = ["setting", "method", "metric", "value", "spread", "unit", "note"]
UNIT = {"error": "%", "accuracy": "%", "seconds": "s"} | dict.fromkeys(["mse", "mre", "rmse", "mae"], "1")
COUNTS = {"rows": 20_000, "variables": 50, "classes": 10, "values (rounded)": 50}  # of a data set
SEPARABLE_UNITS = dict.fromkeys(["success", "mrsa", "rae", "coherence", "sim_count", "src"], "1")
NETWORK = {"nodes": 10_000, "communities": 10}
TEXT = {"missing": 100, "missing, imputed": 100, "peak": 20_001, "mu": 2, "kappa": 2}  # of what only the text states
UNIT |= dict.fromkeys([*COUNTS, *NETWORK, "mu", "kappa"], "1") | SEPARABLE_UNITS
UNIT |= {"missing": "%", "missing, imputed": "%", "peak": "MB"}
MOST = {"error": 100, "accuracy": 100, "seconds": 13_000, "mse": 1, "mre": 1, "rmse": 4, "mae": 4} | COUNTS
MOST |= NETWORK | TEXT | {"success": 1.01, "mrsa": 100, "rae": 1, "sim_count": 300, "src": 1, "coherence": 0}
LEAST = {"coherence": -1000, "success": -0.01, "missing, imputed": -0.01}
CROWD = {1: (14, 4), 2: (16, 4), 3: (14, 4), 4: (18, 4), 5: (18, 4), 6: (2, 3), 7: (7, 4), 9: (6, 2)}  # rows, columns
PMF = {
    1: (6, 8),
    2: (6, 8),
    3: (6, 4),
    4: (5, 4),
    5: (5, 4),
    6: (6, 2),
    7: (4, 4),
    8: (9, 2),
    9: (9, 2),
    10: (9, 2),
    11: (8, 2),
}
SEPARABLE = {1: (3, 4 * 3), 2: (7, 16 * 3), 3: (7, 2), 4: (5, 7)}  # methods, columns and metrics
STATED = {  # in the text: methods, settings and metrics
    ("separable", "figure2"): (2, 1),
    ("separable", "figure4b"): (2, 1),
    ("separable", "figure6"): (3, 1),
    ("separable", "figure7"): (3, 1),
    ("crowd", "text"): (1, 10 * 2),
    ("comparisons", "text"): (1, 2 * 2),
}
SIZE = {("crowd", n): size for n, size in CROWD.items()} | {("pmf", n): size for n, size in PMF.items()}
SIZE |= {("separable", n): size for n, size in SEPARABLE.items()} | STATED
NO_METHODS = {("pmf", 7): entries(), ("separable", 3): [*entries(), "mag1", "mag2"], ("comparisons", "text"): ["truth"]}
RATINGS = [("pmf", 12), ("pmf", 13), ("pmf", 14)]  # the averages have no running time
TABLES = [*SIZE, *RATINGS]


@cache
def rows(line, number):
    table = number if isinstance(number, str) else f"table{number}"
    with open(FOLDER / f"{line}_{table}.csv", encoding="utf8", newline="") as file:
        reader = csv.DictReader(file)
        found = list(reader)
    assert reader.fieldnames == HEADER
    return found


def test_every_table_with_numbers_is_there():
    name = re.compile(r"([a-z]+)_(?:table(\d+)|(figure\d+b?|text))")
    names = [name.fullmatch(path.stem).groups() for path in FOLDER.glob("*.csv")]
    assert {(line, int(number) if number else other) for line, number, other in names} == set(TABLES)


@each("line, number", SIZE)
def test_one_row_for_each_cell_of_the_table(line, number):
    methods, columns = SIZE[line, number]
    keys = [(row["setting"], row["method"], row["metric"]) for row in rows(line, number)]
    assert len(keys) == len(set(keys)) == methods * columns
    assert len({method for _, method, _ in keys}) == methods


@pytest.mark.parametrize(("line", "number"), RATINGS)
def test_ratings_have_two_errors_for_eight_methods_and_a_time_for_five(line, number):
    keys = [(row["method"], row["metric"]) for row in rows(line, number)]
    assert len(keys) == len(set(keys))
    assert Counter(metric for _, metric in keys) == {"rmse": 8, "mae": 8, "seconds": 5}


@each("line, number", TABLES)
def test_numbers_are_numbers_in_their_unit(line, number):
    for row in rows(line, number):
        assert row["unit"] == UNIT[row["metric"]]
        assert (row["note"] == "N/A") == (row["value"] == "")
        if row["value"]:
            assert LEAST.get(row["metric"], 0) < float(row["value"]) < MOST[row["metric"]]
        assert not row["spread"] or float(row["spread"]) > 0


def constructed(line, name):
    """What stands under a name: a class or a classifier of scikit-learn, made with its defaults."""
    method = METHODS[line][name]
    return method(np.array([2, 3]), 0) if method in CLASSIFIERS.values() else method()


@each("line, number", TABLES)
def test_every_method_of_a_table_is_found_by_its_name(line, number):
    named = {row["method"] for row in rows(line, number)}
    if (line, number) in NO_METHODS:
        assert named <= set(NO_METHODS[line, number])
        return
    assert named <= set(METHODS[line])
    assert all(hasattr(constructed(line, name), "fit") for name in named)


@pytest.mark.parametrize("line", METHODS)
def test_what_was_released_in_another_way_stands_beside_the_library_s(line):
    own = getattr(cf, line).METHODS
    for name, method in RELEASED[line].items():
        assert method in METHODS[line].values()
        assert name not in own or METHODS[line][name] is own[name]
