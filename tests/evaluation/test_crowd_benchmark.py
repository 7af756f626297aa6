"""The benchmark of crowds measures every method on the same tasks, and its tables count what they say."""

import sys

import numpy as np
import pytest

import cofactor as cf
from cofactor.crowd import METHODS, error_rate
from cofactor.data.registry import entries
from evaluation import EXPERIMENTS
from evaluation.crowd import benchmark
from evaluation.crowd.benchmark import (
    AT_ONCE,
    CROWD_KIT,
    DEFAULT,
    LATER,
    TOO_LONG,
    VOTE,
    WITHOUT_PRIOR,
)
from evaluation.experiment import Measurement, Task
from evaluation.released import RELEASED
from evaluation.runner import Outcome
from evaluation.summary import as_text, summarise

BENCHMARK = EXPERIMENTS["crowd-benchmark"]
SETTINGS, METRICS, WITH_TRUTH = BENCHMARK.settings, BENCHMARK.metrics, BENCHMARK.granularity


def outcome(setting, found):
    """Outcome of {method: {metric: value}}; of {method: text}, a refusal."""
    rows = [
        Measurement(name, metric, value, 0.5)
        for name, values in found.items()
        if not isinstance(values, str)
        for metric, value in values.items()
    ]
    rows += [Measurement(name, "", None, 0.5, text) for name, text in found.items() if isinstance(text, str)]
    return Outcome(Task("crowd-benchmark", setting, 0), "", 1.0, tuple(rows))


def values(accuracy, more, high, sure=0.0, wrong=None, cpu=0.1):
    found = {"accuracy": accuracy, "more than the vote": more, "more, at least": 2 * more - high, "more, at most": high}
    found |= {"log-loss": 0.5, "Brier": 0.2, "ECE": 0.1, "sure": sure, "CPU": cpu}
    return found if wrong is None else found | {"sure and wrong": wrong}


@pytest.fixture
def two_sets():
    """Summary of two sets: a method that loses on one, significantly, and one that refuses there."""
    first = {DEFAULT: values(90.0, 2.0, 5.0, 50, 10.0), VOTE: values(88.0, 0.0, 0.0), "Wawa": values(89.0, 1.0, 2.0)}
    second = {DEFAULT: values(70.0, -4.0, -1.0, 150, 2.0), VOTE: values(74.0, 0.0, 0.0), "Wawa": "not for this data"}
    return summarise(BENCHMARK, [outcome("rte", first), outcome("web", second)])


# ---- declaration ----


def test_sets_are_those_registered():
    known = entries()
    assert set(SETTINGS) == set(WITH_TRUTH) and len(SETTINGS) == 17
    for name, title in SETTINGS.items():
        entry = known[name]
        assert f"(N={entry.n_tasks:,}, M={entry.n_workers}, K={entry.n_classes})" in title
        assert WITH_TRUTH[name] <= entry.n_tasks


@pytest.mark.needs_mirror
def test_numbers_of_tasks_with_truth_are_right():
    assert {name: int(np.sum(cf.load(name).truth >= 0)) for name in SETTINGS} == WITH_TRUTH


def test_every_method_runs_once_and_is_known():
    names = [*AT_ONCE, *LATER]
    assert len(names) == len(set(names)) and names[:2] == [DEFAULT, VOTE]
    ours = {name.removesuffix(WITHOUT_PRIOR) for name in names if not name.endswith(CROWD_KIT)}
    assert ours <= set(METHODS) | set(RELEASED["crowd"])
    assert set(TOO_LONG) <= set(names) and {name for sets in TOO_LONG.values() for name in sets} <= set(SETTINGS)


# ---- one set ----


@pytest.fixture(scope="module")
def bluebird():
    return {(m.method, m.metric): m for m in BENCHMARK.run("bluebird", 0, np.random.default_rng(0))}


def test_every_quick_method_has_every_number(bluebird):
    rare = {"sure and wrong"}  # where no task is sure
    for name in AT_ONCE:
        if name.endswith(CROWD_KIT):
            continue  # may not be installed
        missing = [metric for metric in METRICS if (name, metric) not in bluebird and metric not in rare]
        assert missing == [], name


def test_numbers_are_those_of_the_library(bluebird):
    found = cf.load("bluebird")
    for name in (DEFAULT, VOTE, "MV-EM"):
        p = METHODS[name]().fit(found.labels).predict_proba(found.labels)
        error = 100 * error_rate(p, found.truth)
        assert bluebird[name, "accuracy"].value == pytest.approx(100 - error)
        more = bluebird[name, "accuracy"].value - bluebird[VOTE, "accuracy"].value
        assert bluebird[name, "more than the vote"].value == pytest.approx(more)
        assert bluebird[name, "more, at least"].value <= more + 1e-9 <= bluebird[name, "more, at most"].value + 2e-9
    plain = METHODS["MV-EM"](pseudo_counts=(0, 0)).fit(found.labels).predict_proba(found.labels)
    error = 100 * error_rate(plain, found.truth)
    assert bluebird["MV-EM" + WITHOUT_PRIOR, "accuracy"].value == pytest.approx(100 - error)
    assert bluebird["MV-EM" + WITHOUT_PRIOR, "log-loss"].value > bluebird["MV-EM", "log-loss"].value


def test_seconds_are_of_the_processor_and_of_nothing_compiled(bluebird):
    assert all(0 < bluebird[name, "CPU"].value < 5 for name in (DEFAULT, VOTE, "MACE"))


def test_methods_for_two_classes_say_so(monkeypatch):
    four = cf.CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 1, 2, 2, 1, 0])
    with pytest.raises(cf.CofactorError, match="for two classes only"):
        benchmark.two_classes("KOS", four, 0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, by crowd-kit
def test_crowd_kit_gives_probabilities_of_all_tasks_in_their_order():
    pytest.importorskip("crowdkit")
    found = cf.load("bluebird")
    p = benchmark.crowd_kit("DawidSkene", found.labels, 0)
    assert p.shape == (108, 2) and np.allclose(p.sum(axis=1), 1)
    ours = METHODS["MV-EM"](pseudo_counts=(0, 0)).fit(found.labels).predict_proba(found.labels)
    assert np.mean(p.argmax(axis=1) == ours.argmax(axis=1)) > 0.95
    codes = benchmark.crowd_kit("MMSR", found.labels, 0)  # which has no probabilities
    assert codes.shape == (108,) and set(codes.tolist()) <= {0, 1}


def test_what_stops_crowd_kit_is_told_in_its_words(monkeypatch):
    classification = pytest.importorskip("crowdkit.aggregation").classification

    class Broken:
        def fit_predict_proba(self, frame):
            raise ValueError("skill is missing")

    class Old:
        def fit_predict_proba(self, frame):
            raise AttributeError("'Old' object has no attribute '__sklearn_tags__'")

    for kind, words in ((Broken, "crowd-kit stops here: skill is missing"), (Old, r"crowd-kit \(.*\) cannot run it")):
        monkeypatch.setattr(classification, "Wawa", kind)
        with pytest.raises(cf.CofactorError, match=words):
            benchmark.crowd_kit("Wawa", cf.load("bluebird").labels, 0)


def test_without_crowd_kit_its_rows_say_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "crowdkit", None)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(cf.CofactorError, match="crowd-kit is not installed"):
        benchmark.crowd_kit("Wawa", cf.load("bluebird").labels, 0)


def test_what_takes_too_long_is_left_out_with_a_word(monkeypatch):
    monkeypatch.setattr(benchmark, "ROUNDS", ({VOTE: AT_ONCE[VOTE], "Wawa": AT_ONCE["Wawa"]},))
    monkeypatch.setattr(benchmark, "TOO_LONG", {"Wawa": ("bluebird",)})
    rows = benchmark.benchmark("bluebird", 0, np.random.default_rng(0))
    (left_out,) = [row for row in rows if row.method == "Wawa"]
    assert left_out.value is None and "more than a minute" in left_out.error
    assert sum(row.method == VOTE for row in rows) == len(METRICS) - 1


# ---- tables ----


def test_overview_counts_losses_and_leaves_out_means_that_do_not_compare(two_sets):
    table = benchmark.overview(BENCHMARK, two_sets).set_index("method")
    default = table.loc[DEFAULT]
    assert (default["sets"], default["accuracy"], default["more than the vote"]) == (2, 80.0, -1.0)
    assert (default["below"], default["significantly"]) == (1, 1)
    assert default["sure and wrong"] == pytest.approx((50 * 10 + 150 * 2) / 200)
    assert default["CPU"] == pytest.approx(0.2)
    assert (table.loc[VOTE, "below"], table.loc[VOTE, "significantly"]) == (0, 0)
    assert np.isnan(table.loc["Wawa", "accuracy"]) and table.loc["Wawa", "more than the vote"] == 1.0
    assert list(table.index) == [VOTE, DEFAULT, "Wawa"]  # by accuracy, then those without all sets


def test_by_set_names_the_best_of_the_others(two_sets):
    table = benchmark.by_set(BENCHMARK, two_sets)
    assert list(table.index) == ["rte", "web"]
    assert table.loc["rte", ["vote", "default", "best", "method"]].tolist() == [88.0, 90.0, 89.0, "Wawa"]
    assert table.loc["web", ["best", "method", "at least", "at most"]].tolist() == [74.0, VOTE, -7.0, -1.0]
    assert table.loc["web", "EBCC"] == pytest.approx(76.8564)


def test_text_ends_with_both_tables(two_sets):
    text = as_text(BENCHMARK, two_sets)
    assert text.index(benchmark.OVERVIEW_HEADING) < text.index(benchmark.SETS_HEADING)
    assert f"{DEFAULT} (default)" in text and "-4.00 (-7.00 to -1.00)" in text and "1 / 1" in text
    assert "Wawa (web): not for this data" in text
    (line,) = [line for line in text.splitlines() if line.split()[:2] == [VOTE, "0"] and "0.500" in line][:1]
    assert line.split()[-3:] == ["1", "500", "ms"]  # many numbers of one method stand in one line


def test_without_results_there_is_no_digest():
    assert benchmark.digest(BENCHMARK, summarise(BENCHMARK, [])) == {}
