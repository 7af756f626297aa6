"""The benchmark of crowds measures every method on the same tasks, and its tables count what they say."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.crowd import METHODS, error_rate, sign_test
from cofactor.data.registry import entries
from evaluation import EXPERIMENTS
from evaluation.crowd import benchmark, families, tables
from evaluation.crowd.benchmark import AT_ONCE, CROWD_KIT, LATER, TOO_LONG, WITHOUT_PRIOR
from evaluation.crowd.families import DEVELOPED, FAMILIES, FOLDER, FROM_A_FOLDER, MIRROR, READ_ONCE, crowd_of
from evaluation.crowd.tables import CANDIDATES, DEFAULT, SHOWN, VOTE
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
    found |= {"log-loss": 0.5, "Brier": 0.2, "ECE": 0.1, "sure": sure, "CPU": cpu, "sign test": 0.02}
    return found if wrong is None else found | {"sure and wrong": wrong}


@pytest.fixture
def two_sets():
    """Summary of two sets: a method that loses on one, significantly, and one that refuses there."""
    first = {DEFAULT: values(90.0, 2.0, 5.0, 50, 10.0), VOTE: values(88.0, 0.0, 0.0), "Wawa": values(89.0, 1.0, 2.0)}
    second = {DEFAULT: values(70.0, -4.0, -1.0, 150, 2.0), VOTE: values(74.0, 0.0, 0.0), "Wawa": "not for this data"}
    return summarise(BENCHMARK, [outcome("rte", first), outcome("web", second)])


# ---- declaration ----


def test_seventeen_sets_are_registered_and_twelve_are_not():
    known = entries()
    assert set(SETTINGS) == set(WITH_TRUTH) and len(SETTINGS) == 29
    for name in set(SETTINGS) - set(FROM_A_FOLDER):
        entry, title = known[name], SETTINGS[name]
        assert f"(N={entry.n_tasks:,}, M={entry.n_workers}, K={entry.n_classes})" in title
        assert WITH_TRUTH[name] <= entry.n_tasks
    assert len(FROM_A_FOLDER) == 12 and not set(FROM_A_FOLDER) & set(known)


def test_every_set_has_one_family():
    assert sorted(name for names in FAMILIES.values() for name in names) == sorted(SETTINGS)
    assert (len(DEVELOPED), len(READ_ONCE)) == (13, 6) and {**DEVELOPED, **READ_ONCE} == FAMILIES


@pytest.mark.needs_mirror
def test_numbers_of_tasks_with_truth_are_right():
    registered = set(SETTINGS) - set(FROM_A_FOLDER)
    assert {name: int(np.sum(cf.load(name).truth >= 0)) for name in registered} == {
        name: WITH_TRUTH[name] for name in registered
    }


@pytest.mark.skipif(
    not ((folder := families.folder_of_sets()) and folder.is_dir()),
    reason=f"the twelve sets are not here: {FOLDER} names no folder",
)
def test_sizes_of_the_twelve_are_right():
    for name in FROM_A_FOLDER:
        labels, truth = crowd_of(name)
        assert f"(N={labels.n_tasks:,}, M={labels.n_workers}, K={labels.n_classes})" in SETTINGS[name]
        assert (int(np.sum(truth >= 0)), truth.max() < labels.n_classes) == (WITH_TRUTH[name], True), name


def test_every_method_runs_once_and_is_known():
    names = [*AT_ONCE, *LATER]
    assert len(names) == len(set(names)) and names[:2] == [DEFAULT, VOTE]
    ours = {name.removesuffix(WITHOUT_PRIOR) for name in names if not name.endswith(CROWD_KIT)}
    assert ours <= set(METHODS) | set(RELEASED["crowd"])
    assert set(TOO_LONG) <= set(names) and {name for sets in TOO_LONG.values() for name in sets} <= set(SETTINGS)


# ---- sets that are not registered ----


def test_a_set_is_read_from_the_folder_that_is_named(tmp_path, monkeypatch):
    table = "task,worker,label\n7,a,x\n7,b,y\n8,a,y\n8,b,y\n7,a,y\n9,b,x\n"
    (tmp_path / "fact.csv.gz").write_bytes(gzip.compress(table.encode()))
    (tmp_path / "fact_truth.csv.gz").write_bytes(gzip.compress(b"task,truth\n9,y\n7,y\n"))
    monkeypatch.setenv(FOLDER, str(tmp_path))
    labels, truth = crowd_of("fact")
    assert (labels.tasks, labels.n_labels, truth.tolist()) == ([7, 8, 9], 5, [1, -1, 1])
    rows = {(row.method, row.metric): row.value for row in benchmark.benchmark("fact", 0, np.random.default_rng(0))}
    assert rows[VOTE, "accuracy"] == 50.0  # the last of the labels on task 7 counts


def test_without_the_folder_every_row_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setenv(MIRROR, str(tmp_path / "raw"))
    assert families.folder_of_sets() == tmp_path / "unseen"
    for trial, methods in enumerate((AT_ONCE, LATER)):
        rows = benchmark.benchmark("snow_joy", trial, np.random.default_rng(0))
        assert [row.method for row in rows] == list(methods)
        assert all(row.value is None and f"not on this machine: {FOLDER}" in row.error for row in rows)
    monkeypatch.delenv(MIRROR)
    assert families.folder_of_sets() is None


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


def test_the_sign_test_counts_tasks_on_which_one_is_better():
    truth = np.array([0, 0, 0, 0, 0, 0, -1])
    answer, other = np.array([0, 1, 1, 1, 1, 0, 1]), np.array([1, 0, 0, 0, 0, 0, 0])
    assert sign_test(answer, other, truth) == pytest.approx(2 * (1 + 5) / 2**5)  # 1 better, 4 worse
    assert sign_test(answer, answer, truth) == 1.0


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
    table = tables.overview(BENCHMARK, two_sets).set_index("method")
    default = table.loc[DEFAULT]
    assert (default["sets"], default["accuracy"], default["more than the vote"]) == (2, 80.0, -1.0)
    assert (default["below"], default["significantly"]) == (1, 1)
    assert default["sure and wrong"] == pytest.approx((50 * 10 + 150 * 2) / 200)
    assert default["CPU"] == pytest.approx(0.2)
    assert (table.loc[VOTE, "below"], table.loc[VOTE, "significantly"]) == (0, 0)
    assert np.isnan(table.loc["Wawa", "accuracy"]) and table.loc["Wawa", "more than the vote"] == 1.0
    assert list(table.index) == [VOTE, DEFAULT, "Wawa"]  # by accuracy, then those without all sets


def test_by_set_names_the_best_of_the_others(two_sets):
    table = tables.by_set(BENCHMARK, two_sets)
    assert list(table.index) == ["rte", "web"]
    assert table.loc["rte", ["vote", "default", "best", "method"]].tolist() == [88.0, 90.0, 89.0, "Wawa"]
    assert table.loc["web", ["best", "method", "at least", "at most"]].tolist() == [74.0, VOTE, -7.0, -1.0]
    assert table.loc["web", "EBCC"] == pytest.approx(76.8564)


def test_families_count_alike():
    both = {name: {DEFAULT: values(acc, 1.0, 2.0), VOTE: values(acc - 1, 0.0, 0.0)} for name, acc in
            (("zencrowd_in", 70.0), ("zencrowd_us", 80.0), ("rte", 95.0))}  # fmt: skip
    summary = summarise(BENCHMARK, [outcome(name, found) for name, found in both.items()])
    assert tables.overview(BENCHMARK, summary).set_index("method").loc[DEFAULT, "accuracy"] == (75.0 + 95.0) / 2
    rows = {row["family"]: row[f"{DEFAULT} (default)"] for row in tables.by_family(summary)}
    assert list(rows.items())[:-1] == [
        ("zencrowd (2 sets)", "75.00"),
        ("rte", "95.00"),
        ("mean of 1 families used to choose the default", "75.00"),
        ("mean of 1 families scored once", "95.00"),
        ("mean of 2 families", "85.00"),
    ]


def test_the_first_table_names_the_sets_on_which_the_default_loses(two_sets):
    web, rte, *_, mean, significant = tables.by_family(two_sets)
    assert web[tables.LOSSES] == "web -4.0 (-7.0 to -1.0, p = 0.02)" and rte[tables.LOSSES] == "-"
    assert significant["family"] == "significantly below the vote, of 2 sets"
    assert (significant[f"{DEFAULT} (default)"], significant[VOTE]) == ("1", "0")
    assert web["Wawa"] == mean["Wawa"] == "-"  # no value on web, so that a mean would not compare
    assert [row["family"] for row in (web, rte)] == ["web", "rte"]  # in the order of the families
    assert next(iter(tables.digest(BENCHMARK, two_sets))) == tables.FAMILIES_HEADING


def test_what_is_chosen_for_a_family_is_best_on_the_others():
    found = pd.DataFrame({"A": [9.0, 1.0, 5.0], "B": [4.0, 4.0, 4.0]}, index=["x", "y", "z"])
    chosen = families.chosen_elsewhere(found)
    assert chosen["method"].tolist() == ["B", "A", "A"] and chosen["value"].tolist() == [4.0, 1.0, 5.0]
    assert set(CANDIDATES) <= set(SHOWN) <= {*AT_ONCE, *LATER}


def test_text_ends_with_the_tables(two_sets):
    text = as_text(BENCHMARK, two_sets)
    assert text.index(tables.FAMILIES_HEADING) < text.index(tables.OVERVIEW_HEADING) < text.index(tables.SETS_HEADING)
    assert f"{DEFAULT} (default)" in text and "-4.00 (-7.00 to -1.00)" in text and "1 / 1" in text
    assert "Wawa (web): not for this data" in text
    (line,) = [line for line in text.splitlines() if line.split()[:2] == [VOTE, "0"] and "0.500" in line][:1]
    assert line.split()[-3:] == ["1", "500", "ms"]  # many numbers of one method stand in one line


def test_without_results_there_is_no_digest():
    assert tables.digest(BENCHMARK, summarise(BENCHMARK, [])) == {}
