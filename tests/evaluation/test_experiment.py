"""What is declared in files of settings, and what trials share."""

import numpy as np
import pytest

from evaluation import experiment
from evaluation.experiment import Measurement, beyond, declared, measure_each

FILE = """
[texts]
drawn = "{n} draws of {what}"
what = "rows"

[one]
title = "One"
source = "A paper"
trials = 5
quick = 2
metrics = {error = "%"}
fill = {n = "ten"}
protocol = "Of {drawn}."
settings = {small = "small set", large = "large set"}
given = {small = {n = 1}, large = {n = 2}}

[[one.notes]]
methods = ["A", "B"]
text = "on all {what}"

[[one.notes]]
settings = ["large"]
text = "too large"

[two]
like = "one"
title = "Two"
fill = {n = "two"}
settings = {small = "small set"}
given = {}

[[two.notes]]
methods = ["B"]
text = "another reason"
"""


OLD = "given = {small = {n = 1}, large = {n = 2}}\n"


def run(given, setting, trial, rng):
    return [Measurement("A", "error", given[setting]["n"])]


def plain(setting, trial, rng):
    return [Measurement("A", "error", 0.0)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "toy.toml").write_text(FILE)
    monkeypatch.setattr(experiment, "SETTINGS", tmp_path)


def test_fields_are_those_of_the_file(folder):
    one, _ = declared("toy", {"one": run, "two": plain})
    assert (one.name, one.title, one.line, one.trials, one.settings["large"]) == ("one", "One", "toy", 5, "large set")
    assert one.protocol == "Of ten draws of rows."
    assert one.notes == {("", "A"): "on all rows", ("", "B"): "on all rows", ("large", ""): "too large"}


def test_what_is_like_another_says_only_what_is_not(folder):
    _, two = declared("toy", {"one": run, "two": plain})
    assert (two.title, two.trials, two.protocol) == ("Two", 5, "Of two draws of rows.")
    assert two.notes == {("", "A"): "on all rows", ("", "B"): "another reason"}  # it has no large setting


def test_numbers_of_the_settings_come_first(folder):
    one, two = declared("toy", {"one": run, "two": plain})
    rng = np.random.default_rng(0)
    assert [one.run(setting, 0, rng)[0].value for setting in one.settings] == [1, 2]
    assert two.run("small", 0, rng)[0].value == 0.0


def test_a_pattern_makes_a_setting_of_each_value(folder):
    path = experiment.SETTINGS / "toy.toml"
    settings = """settings = {plain = "plain one", "S={n:.0e},K={shape[1]}" = "{n:,} rows, {shape[1]} anchors"}
common = {noise = 0.5}
over = {n = [1000, 20000], shape = [[5, 3], [6, 4]]}
given = {plain = {n = 1}, "S=2e4,K=4" = {noise = 0.25}}
"""
    path.write_text(
        FILE.replace('settings = {small = "small set", large = "large set"}\n', settings, 1).replace(OLD, "", 1)
    )
    one, two = declared("toy", {"one": run, "two": plain})
    assert list(one.settings.values()) == ["plain one", "1,000 rows, 3 anchors", "20,000 rows, 4 anchors"]
    assert one.given == {
        "plain": {"noise": 0.5, "n": 1},
        "S=1e3,K=3": {"noise": 0.5, "n": 1000, "shape": [5, 3]},
        "S=2e4,K=4": {"noise": 0.25, "n": 20000, "shape": [6, 4]},
    }
    assert two.given == {"small": {"noise": 0.5}}  # what all settings have is inherited


@pytest.mark.parametrize(
    ("numbers", "named"),
    [("over = {n = [1, 2], m = [1]}", "shorter"), ("given = {smal = {n = 1}}", r"there are not: \['smal'\]")],
)
def test_numbers_that_belong_to_no_setting_are_an_error(folder, numbers, named):
    path = experiment.SETTINGS / "toy.toml"
    path.write_text(FILE.replace(OLD, f"{numbers}\n", 1))
    with pytest.raises(ValueError, match=named):
        declared("toy", {"one": run, "two": plain})


@pytest.mark.parametrize("runs", [{"one": run}, {"one": run, "two": plain, "three": plain}])
def test_file_and_functions_name_the_same_experiments(folder, runs):
    with pytest.raises(ValueError, match=r"do not both name \['t"):
        declared("toy", runs)


def test_a_word_that_is_not_there_is_an_error(folder):
    path = experiment.SETTINGS / "toy.toml"
    path.write_text(FILE.replace("Of {drawn}", "Of {undrawn}"))
    with pytest.raises(KeyError, match="undrawn"):
        declared("toy", {"one": run, "two": plain})


def test_differences_are_from_the_method_named():
    rows = [Measurement("a", "x", 3.0, 7.0), Measurement("b", "x", 1.0), Measurement("b", "y", 9.0)]
    assert beyond(rows, "x", "b", "more") == [Measurement("a", "more", 2.0, 7.0)]
    assert beyond(rows, "x", "c", "more") == []  # it failed, or was not run


def test_a_method_that_fails_leaves_the_others():
    found = measure_each({"a": 4.0, "b": 0.0}, lambda value: {"inverse": 1 / value})
    assert [(row.method, row.value, row.error) for row in found] == [
        ("a", 0.25, ""),
        ("b", None, "ZeroDivisionError: float division by zero"),
    ]
