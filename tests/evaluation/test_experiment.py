"""What is declared above a function, and what trials share."""

import re
from types import ModuleType

import numpy as np
import pytest

from cofactor import CofactorError
from evaluation import EXPERIMENTS
from evaluation.declaration import experiment, experiments_of
from evaluation.experiment import Measurement, beyond, measure_each
from evaluation.origin import bare
from tests.each import each

ONE = {
    "settings": {"small": "small set", "large": "large set"},
    "given": {"small": {"n": 1}, "large": {"n": 2}},
    "metrics": {"error": "%"},
    "source": "A paper",
    "trials": 5,
    "quick": 2,
}
WORDS = {"drawn": "ten draws", "what": "rows"}
NOTES = {("", ("A", "B")): "on all {what}", ("large", ""): "too large"}
PROTOCOL = """
    Of {drawn}
    of {what}.
"""


def declared(**functions):
    """Read what these functions are declared to be, as those of a file."""
    module = ModuleType("toy")
    for name, function in functions.items():
        function.__module__ = "toy"
        setattr(module, name, function)
    return experiments_of(module, "toy")


def one_and_two():
    @experiment("one", title="One", words=WORDS, protocol=PROTOCOL, notes=NOTES, **ONE)
    @experiment("two", like="one", words={"drawn": "two draws"}, settings=["small"], given={}, notes={("", "B"): "why"})
    def run(*arguments):
        """Measure."""
        return [Measurement("A", "error", arguments[0][arguments[-3]]["n"] if len(arguments) == 4 else 0.0)]

    return declared(run=run)


def test_fields_are_those_of_the_declaration():
    one = one_and_two()["one"]
    assert (one.name, one.title, one.line, one.trials, one.settings["large"]) == ("one", "One", "toy", 5, "large set")
    assert one.protocol == "Of ten draws of rows."
    assert one.notes == {("", "A"): "on all rows", ("", "B"): "on all rows", ("large", ""): "too large"}


def test_what_is_like_another_says_only_what_is_not():
    found = one_and_two()
    two = found["two"]
    assert list(found) == ["one", "two"]  # from top to bottom
    assert (two.title, two.trials, two.protocol) == ("One", 5, "Of two draws of rows.")
    assert two.notes == {("", "A"): "on all rows", ("", "B"): "why"} and two.settings == {"small": "small"}


def test_numbers_of_the_settings_come_first():
    one, two = one_and_two().values()
    rng = np.random.default_rng(0)
    assert [one.run(setting, 0, rng)[0].value for setting in one.settings] == [1, 2]
    assert two.run("small", 0, rng)[0].value == 0.0


def test_the_docstring_is_title_and_protocol_of_what_says_none():
    @experiment(settings=["small"], metrics={"error": "%"}, published={("small", "A", "error"): "1.0"})
    def drawn(setting, trial, rng):
        """Draw rows.

        Twice,
        and again.
        """
        return {"A": {"error": 1.0}}

    one = declared(drawn=drawn)["drawn"]
    assert (one.title, one.protocol) == ("Draw rows.", "Twice, and again.")
    assert (one.source, one.trials, one.quick) == ("Beyond the papers", 10, 10)
    assert one.printed == {("small", "A", "error"): "1.0"} and not one.published
    assert drawn("small", 0, None) == {"A": {"error": 1.0}}  # as it was


@each("wrong, said", [
    ({"like": "three"}, "is like three, which its file does not have"),
    ({"given": {"smal": {"n": 1}, "large": {}}}, "do not both name smal, small"),
    ({"protocol": "Of {undrawn}.", "words": WORDS}, "no word undrawn"),
    ({"trials": 0}, "one trial at least"),
    ({"repeats": 2}, "no experiment has repeats"),
])  # fmt: skip
def test_what_is_wrong_in_a_declaration_is_one_sentence(wrong, said):
    @experiment("one", **(ONE | wrong))
    def run(given, setting, trial, rng):
        return {}

    with pytest.raises(CofactorError, match=f"experiment one: .*{re.escape(said)}"):
        declared(run=run)


def test_names_of_a_declaration_are_code_and_the_rest_is_words():
    code = '@experiment("one", title="One", trials=5)\ndef run(setting, trial, rng):\n    return level(setting, f=1)\n'
    assert bare(code) == bare(code.replace('title="One", trials=5', 'title="Another"'))
    for old, new in {'"one"': '"two"', "f=1": "f=2", "@experiment": "@other"}.items():
        assert bare(code) != bare(code.replace(old, new)), new


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


def test_of_which_tables_no_text_tells_the_number_of_trials():
    untold = {name for name, each_one in EXPERIMENTS.items() if not each_one.told}
    assert untold == {
        *("crowd-table3", "crowd-table4", "crowd-table5", "crowd-table7", "crowd-table7-released", "crowd-text"),
        *("pmf-figure1", "separable-table4", "separable-table4-fastgradient"),
        *("comparisons-figure1", "comparisons-figure1-amounts", "comparisons-text"),
    }
