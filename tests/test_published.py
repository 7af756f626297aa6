"""Published numbers: every file parses, every key is there once, and what was looked up in the paper is on file."""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from cofactor.crowd import METHODS

FOLDER = Path(__file__).parents[1] / "datasets" / "published"
FILES = sorted(FOLDER.glob("crowd_table*.csv"))
HEADER = ["setting", "method", "metric", "value", "spread", "unit", "note"]
UNIT = {"error": "%", "mse": "1", "seconds": "s"}
ELSEWHERE = {  # methods of the paper that the kit has under no name, or not yet
    *("MultiSPA", "CNMF", "TensorADMM", "Spectral-D&S", "KOS", "EigenRatio", "GhoshSVD", "MinimaxEntropy"),
    *("PG-TAC", "CRIAV", "CrowdLayer", "DL-MV"),
}
SIZE = {1: (14, 4), 2: (16, 4), 3: (14, 4), 4: (18, 4), 5: (18, 4), 6: (2, 3), 7: (7, 4), 9: (6, 2)}  # rows, columns


@cache
def rows(number):
    with open(FOLDER / f"crowd_table{number}.csv", encoding="utf8", newline="") as file:
        reader = csv.DictReader(file)
        found = list(reader)
    assert reader.fieldnames == HEADER
    return found


def value(number, setting, method, metric):
    (found,) = (
        row for row in rows(number) if (row["setting"], row["method"], row["metric"]) == (setting, method, metric)
    )
    return found["value"]


def test_every_table_with_numbers_is_there():
    assert {int(re.search(r"\d+", path.stem).group()) for path in FILES} == set(SIZE)


@pytest.mark.parametrize("number", SIZE)
def test_one_row_for_each_cell_of_the_table(number):
    methods, columns = SIZE[number]
    keys = [(row["setting"], row["method"], row["metric"]) for row in rows(number)]
    assert len(keys) == len(set(keys)) == methods * columns
    assert len({method for _, method, _ in keys}) == methods


@pytest.mark.parametrize("number", SIZE)
def test_numbers_are_numbers_in_their_unit(number):
    for row in rows(number):
        assert row["unit"] == UNIT[row["metric"]]
        assert (row["note"] == "N/A") == (row["value"] == "")
        if row["value"]:
            assert 0 < float(row["value"]) < (100 if row["unit"] == "%" else 1 if row["metric"] == "mse" else 1000)
        assert not row["spread"] or float(row["spread"]) > 0


@pytest.mark.parametrize("number", SIZE)
def test_methods_have_the_names_of_the_kit(number):
    assert {row["method"] for row in rows(number)} <= set(METHODS) | ELSEWHERE


@pytest.mark.parametrize(
    ("number", "setting", "method", "metric", "printed"),
    [
        (1, "p=(0.5,0.7)", "DesSymNMF-EM", "error", "31.40"),
        (1, "all", "KOS", "seconds", "12.798"),
        (2, "p=0.3", "MV-EM", "error", "44.54"),
        (2, "p=(0.3,0.5)", "MV-EM", "error", "26.20"),
        (3, "miss=70", "RobSymNMF", "error", "24.01"),
        (3, "miss=30", "MajorityVote", "error", "42.40"),
        (4, "bluebird", "MajorityVote", "error", "21.29"),
        (4, "dog", "KOS", "error", "31.84"),
        (4, "dog", "GhoshSVD", "error", ""),
        (4, "dog", "TensorADMM", "seconds", "613.93"),
        (5, "rte", "RobSymNMF-EM", "error", "7.12"),
        (5, "rte", "SymNMF(no imputation)", "error", "48.75"),
        (5, "trec", "RobSymNMF(w=1)", "error", "33.23"),
        (5, "trec", "DesSymNMF-EM", "error", "29.36"),
        (5, "trec", "RobSymNMF", "seconds", "64.99"),
        (6, "missing=70%", "RobSymNMF", "mse", "4.10e-3"),
        (6, "missing=30%", "DesSymNMF", "mse", "3.05e-4"),
        (7, "N=10000", "MV-EM", "mse", "0.1051"),
        (7, "N=1000", "MultiSPA", "mse", "0.2248"),
        (9, "labelme", "DesSymNMF-EM", "error", "22.20"),
        (9, "labelme", "CrowdLayer", "error", "20.90"),
    ],
)
def test_is_what_the_paper_prints(number, setting, method, metric, printed):
    assert value(number, setting, method, metric) == printed
