"""Published numbers: every file parses, every key is there once, and what was looked up in the paper is on file."""

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


def found(line, number, setting, method, metric):
    (row,) = (
        row for row in rows(line, number) if (row["setting"], row["method"], row["metric"]) == (setting, method, metric)
    )
    return row


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


@each(
    "number, setting, method, metric, printed",
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
        ("text", "rte", "DesSymNMF", "missing", "90.68"),
        ("text", "dog", "DesSymNMF", "missing, imputed", "11.34"),
        ("text", "miss=50", "DesSymNMF", "missing, imputed", "9"),
    ],
)
def test_is_what_the_crowd_paper_prints(number, setting, method, metric, printed):
    assert found("crowd", number, setting, method, metric)["value"] == printed


@each(
    "number, setting, method, metric, printed, spread",
    [
        (1, "S=1e3", "CNMF-OPT", "mse", "0.0519", ""),
        (1, "S=1e6", "MLE-AD-EM", "mre", "0.1593", ""),
        (2, "S=1e4", "CTD", "mse", "0.0266", ""),
        (2, "S=1e5", "CNMF-SPA-EM", "mre", "0.1132", ""),
        (3, "p=.1", "CNMF-SPA", "mse", "0.0370", ""),
        (3, "p=.005", "RAND-EM", "mse", "0.1014", ""),
        (4, "S=1e3", "CNMF-OPT", "mse", "0.0218", ""),
        (4, "S=1e6", "CTD", "mse", "0.0355", ""),
        (5, "S=1e5", "CTD", "mse", "0.0081", ""),
        (6, "N=15,F=10,I=10", "CNMF-OPT", "seconds", "94.931", ""),
        (6, "N=15,F=10,I=10", "MLE-AD-EM", "seconds", "12.949e3", ""),
        (7, "used", "nursery", "variables", "8", ""),
        (8, "votes", "CNMF-OPT", "accuracy", "94.94", "2.13"),
        (8, "votes", "LogReg", "seconds", "0.301", ""),
        (9, "car", "SVM-RBF", "accuracy", "77.13", "4.29"),
        (10, "nursery", "NaiveBayes", "accuracy", "98.03", "0.20"),
        (11, "mushroom", "CNMF-SPA", "accuracy", "91.86", "6.33"),
        (12, "action", "CNMF-SPA-EM", "rmse", "0.7840", "0.0025"),
        (13, "animation", "BMF", "mae", "0.6553", "0.0015"),
        (14, "romance", "UserAverage", "rmse", "1.0195", "0.0007"),
        (14, "romance", "CTD", "seconds", "47.010", ""),
    ],
)
def test_is_what_the_joint_pmf_paper_prints(number, setting, method, metric, printed, spread):
    row = found("pmf", number, setting, method, metric)
    assert (row["value"], row["spread"]) == (printed, spread)


@each(
    "number, setting, method, metric, printed",
    [
        (1, "K=40", "SPA", "success", "0.98"),
        (1, "K=50", "FastGradient", "mrsa", "55.1517"),
        (1, "K=70", "SPA", "success", "0.00"),
        (1, "K=70", "MERIT", "rae", "0.8069"),
        (2, "tdt2,K=3", "SPA", "coherence", "-346.6"),
        (2, "tdt2,K=10", "MERIT", "accuracy", "77"),
        (2, "tdt2,K=8", "FastGradient", "sim_count", "100.58"),
        (2, "reuters,K=3", "SPA", "sim_count", "7.46"),
        (2, "reuters,K=7", "FastAnchor", "coherence", "-757.5"),
        (2, "reuters,K=5", "XRAY", "accuracy", "54"),
        (2, "reuters,K=10", "MERIT(0)", "accuracy", "41"),
        (3, "used", "dblp4", "nodes", "1032"),
        (3, "used", "mag2", "communities", "3"),
        (4, "dblp1", "MERIT", "src", "0.2937"),
        (4, "dblp2", "SPOC", "src", "0.2126"),
        (4, "mag2", "MERIT(0)", "src", "0.1374"),
        ("figure2", "SNR=16", "FastGradient", "success", "1.00"),
        ("figure4b", "N=10,000", "MERIT", "peak", "0.1e3"),
        ("figure6", "tdt2,K=10", "FastGradient", "peak", "20e3"),
        ("figure7", "dblp1", "MERIT(0)", "peak", "0.3e3"),
    ],
)
def test_is_what_the_paper_on_separable_nmf_prints(number, setting, method, metric, printed):
    assert found("separable", number, setting, method, metric)["value"] == printed
