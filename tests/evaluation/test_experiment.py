"""What is declared above a function, and what one trial measures."""

import csv
import re
from types import ModuleType

import numpy as np
import pytest

import evaluation.experiment
from cofactor import CofactorError
from cofactor.data.published import published
from evaluation import EXPERIMENTS, raw_trials
from evaluation.experiment import Measurement, experiment, experiments_of, measure, measure_each, one_trial
from tests.each import each
from tests.evaluation.toy import toy

ONE = {
    "settings": {"small": "small set", "large": "large set"},
    "given": {"small": {"n": 1}, "large": {"n": 2}},
    "metrics": {"error": "%"},
    "trials": 5,
}
SAID = """experiment,kind,setting,method,metric,text
one; two,note,,A; B,,on all rows
one,protocol,,,,Of ten draws.
two,note,large,A,,too large
two,apart,,,error,another error
"""


def declared(**functions):
    """Read what these functions are declared to be, as those of a file."""
    module = ModuleType("toy")
    for name, function in functions.items():
        function.__module__ = "toy"
        setattr(module, name, function)
    return {one.name: one for one in experiments_of(module, "crowd")}


def test_a_declaration_says_what_it_does_not_share_with_the_one_it_is_like():
    @experiment("one", title="One", **ONE)
    @experiment("two", like="one", settings=["small"], given={})
    def run(*arguments):
        """Measure."""
        return [Measurement("A", "error", arguments[0][arguments[-3]]["n"] if len(arguments) == 4 else 0.0)]

    one, two = declared(run=run).values()  # from top to bottom
    assert (one.name, one.title, one.line, one.trials, one.settings["large"]) == ("one", "One", "crowd", 5, "large set")
    assert (two.title, two.trials, two.settings) == ("One", 5, {"small": "small"})
    assert [one_trial(one, setting, 0)[0].value for setting in one.settings] == [1, 2]  # numbers of settings come first
    assert one_trial(two, "small", 0)[0].value == 0.0


def test_what_is_said_of_an_experiment_stands_in_a_table(tmp_path, monkeypatch):
    (tmp_path / "notes.csv").write_text(SAID, encoding="utf8")
    monkeypatch.setattr(evaluation.experiment, "NOTES", tmp_path / "notes.csv")
    evaluation.experiment._notes.cache_clear()

    @experiment("one", **ONE)
    @experiment("two", like="one")
    def run(given, setting, trial, rng):
        """Measure.

        Once.
        """

    one, two = declared(run=run).values()
    evaluation.experiment._notes.cache_clear()
    assert (one.protocol, two.protocol) == ("Of ten draws.", "Once.")
    assert one.note("small", "B") == two.note("small", "A") == "on all rows" and one.note("large", "C") == ""
    assert two.note("large", "A") == "too large" and not one.apart
    assert two.incomparable("small", "A", "error") == "another error" and not two.incomparable("small", "A", "mse")


@pytest.mark.slow
def test_every_note_is_of_settings_methods_and_metrics_that_there_are():
    with evaluation.experiment.NOTES.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name in row["experiment"].split("; "):
            one, kept = EXPERIMENTS[name], raw_trials(name)
            printed = published(one.published)
            methods = {*kept["method"], *printed["method"], *one.methods}
            assert set(row["setting"].split("; ")) <= {"", *one.settings}, row
            assert set(row["method"].split("; ")) - {""} <= methods, row
            assert row["metric"] in ("", *one.metrics) and row["kind"] in ("note", "apart", "protocol"), row


def test_the_docstring_is_title_and_protocol_of_what_says_none():
    @experiment(settings=["small"], metrics={"error": "%"})
    def drawn(setting, trial, rng):
        """Draw rows.

        Twice,
        and again.
        """
        return {"A": {"error": 1.0}, "B": lambda: {"error": rng.random()}, "C": lambda: {"error": 1 / 0}}

    one = declared(drawn=drawn)["drawn"]
    assert (one.title, one.protocol, one.source, one.trials) == (
        "Draw rows.", "Twice, and again.", "Beyond the papers", 10,
    )  # fmt: skip
    found = one_trial(one, "small", 0)
    assert [(m.method, m.error) for m in found] == [("A", ""), ("B", ""), ("C", "ZeroDivisionError: division by zero")]
    assert 0 < found[1].value < 1 and drawn("small", 0, None)["A"] == {"error": 1.0}  # the function is as it was


@each("wrong, said", [
    ({"trials": 0}, "one trial are required"),
    ({"metrics": {}}, "one metric"),
    ({"repeats": 2}, "unknown arguments repeats"),
])  # fmt: skip
def test_what_is_wrong_in_a_declaration_is_one_sentence(wrong, said):
    @experiment("one", **(ONE | wrong))
    def run(given, setting, trial, rng):
        return {}

    with pytest.raises(CofactorError, match=f"experiment one: .*{re.escape(said)}"):
        declared(run=run)


def test_numbers_depend_on_the_trial_alone_and_not_on_which_methods_run():
    found = {m.method: m.value for m in one_trial(toy(), "small", 3)}
    assert found == {m.method: m.value for m in one_trial(toy(), "small", 3)}
    assert found["Sum"] != one_trial(toy(), "small", 4)[0].value != one_trial(toy(), "large", 4)[0].value
    (alone,) = one_trial(toy(), "small", 3, frozenset({"Largest"}))
    assert (alone.method, alone.value) == ("Largest", found["Largest"])


def test_a_method_that_fails_leaves_the_others_and_its_reason():
    found = measure_each({"a": 4.0, "b": 0.0}, lambda value: {"inverse": 1 / value})
    assert [(row.method, row.value) for row in found] == [("a", 0.25), ("b", None)]
    assert found[1].error == "ZeroDivisionError: float division by zero"

    def refuses():
        raise CofactorError("too few")

    assert measure("B", refuses)[0].error == "too few"


def test_every_declared_experiment_is_complete():
    for name, one in EXPERIMENTS.items():
        assert name == one.name and one.title and one.source and one.protocol, name
        assert not one.control or one.control["experiment"] in EXPERIMENTS
        assert set(one.granularity) <= {*one.settings, "bluebird", "dog", "rte", "trec"}, name
        assert all(np.isfinite(list(spreads.values())).all() for spreads in one.repeated.values())
