"""`cf.aggregate`: every way in gives the same tables, the command's are the verb's, every task has its row."""

import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core import tables
from cofactor.verbs.aggregate import groups_of
from cofactor_app.cli import main


class Arrow:
    """A table of another library, which speaks Arrow alone."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow as pa

        return pa.Table.from_pandas(self.frame, preserve_index=False).__arrow_c_stream__(requested_schema)


@pytest.fixture
def labels():
    return cf.load("bluebird").labels


def quietly(*arguments, **options):
    with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
        return cf.aggregate(*arguments, **options)


def test_every_way_in_gives_the_same_tables(labels, tmp_path):
    frame = labels.to_frame()
    frame.to_csv(tmp_path / "labels.csv", index=False)
    frame.iloc[:900].to_csv(tmp_path / "old.csv", index=False)
    frame.iloc[900:].to_csv(tmp_path / "new.csv", index=False)
    expected = cf.aggregate(labels, method="MV-EM").labels
    assert list(expected) == ["task", "label", "probability", "n_labels", "disputed", "overruled"]
    columns = tuple(frame[name].to_numpy() for name in ("task", "worker", "label"))
    ways = {
        "name": "bluebird",
        "data set": cf.load("bluebird"),
        "file": tmp_path / "labels.csv",
        "files": [tmp_path / "old.csv", str(tmp_path / "new.csv")],
        "frame": frame,
        "arrow": Arrow(frame),
        "three arrays": columns,
        "one array": np.stack(columns, axis=1),
        "rows": frame.to_numpy().tolist(),
        "renamed": frame.rename(columns={"worker": "annotator"}),
    }
    for way, source in ways.items():
        pd.testing.assert_frame_equal(quietly(source, method="MV-EM").labels, expected, check_dtype=False, obj=way)
    named = frame.set_axis(["which", "who", "said"], axis=1)
    found = cf.aggregate(named, task="which", worker="who", label="said", method=cf.crowd.METHODS["MV-EM"]())
    pd.testing.assert_frame_equal(found.labels, expected)


def test_a_database_is_a_source_in_python_too(labels, tmp_path):
    import sqlite3

    with closing(sqlite3.connect(tmp_path / "labels.db")) as base:  # left open, it is a warning from Python 3.13 on
        labels.to_frame().to_sql("answers", base, index=False)
        base.commit()
    found = cf.aggregate(
        database=f"sqlite:///{tmp_path / 'labels.db'}", query="SELECT task, worker, label FROM answers", method="MV-EM"
    )
    pd.testing.assert_frame_equal(found.labels, cf.aggregate(labels, method="MV-EM").labels, check_dtype=False)


@pytest.mark.slow
def test_the_command_writes_what_the_verb_returns(labels, tmp_path):
    path = tmp_path / "labels.csv"
    labels.to_frame().to_csv(path, index=False)
    group = pd.DataFrame({"worker": range(6), "group": list("aabbbc")})
    group.to_csv(tmp_path / "group.csv", index=False)
    for options, words in (({}, ()), ({"group": group}, ("--group", str(tmp_path / "group.csv")))):
        files = {name: tmp_path / f"{name}{len(words)}.csv" for name in ("output", "workers", "confusion")}
        named = [part for name, file in files.items() for part in (f"--{name}", str(file))]
        assert main(["aggregate", str(path), "--wide", "-q", *words, *named]) == 0
        found = quietly(path, **options)
        for name, table in (("output", found.wide), ("workers", found.workers), ("confusion", found.confusion)):
            written = pd.read_csv(files[name], keep_default_na=False, na_values={"low": "", "high": ""})
            pd.testing.assert_frame_equal(written, table.round(6), check_dtype=False, atol=2e-6, obj=name)
        assert ("groups" in found.readings.names) == bool(options)


def test_workers_without_a_group_are_no_family(labels, tmp_path):
    frame = pd.DataFrame({"worker": range(5), "group": ["a", "a", None, None, None]})
    frame.to_csv(tmp_path / "group.csv", index=False)
    assert groups_of(frame, labels) == groups_of(tmp_path / "group.csv", labels) == {0: "a", 1: "a"}


def test_every_task_of_the_input_has_its_row_by_id_or_is_named(tmp_path):
    rows = [
        ("t10", "a", "x"),
        ("t9", "a", "y"),
        ("t9", "b", "y"),
        ("t2", "a", "skip"),
        ("t10", "b", "x"),
        ("t1", "b", ""),
    ]
    path = tmp_path / "labels.csv"
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(path, index=False)
    with pytest.raises(cf.CofactorError, match="missing label in row 7"):
        quietly(path, ignore=["skip"])
    found = quietly(path, ignore=["skip"], skip_bad=True)
    assert found.labels["task"].tolist() == ["t10", "t9"]
    assert "left out 1 task without labels: t2" in found.notes
    assert "left out 1 task without labels: t1" in found.notes
    assert any("left out 1 label with an empty cell: row 7" in note for note in found.notes)
    found = quietly(path, ignore=["skip"], skip_bad=True, classes=["x", "z"])
    assert found.labels["task"].tolist() == ["t10"]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"]).replace("", None)
    pd.testing.assert_frame_equal(quietly(frame, ignore="skip", skip_bad=True, classes="z, x").labels, found.labels)
    with pytest.raises(cf.CofactorError, match=r"missing label in data row 5 .*set skip_bad"):
        quietly(frame)
    misspelt = quietly(path, ignore=["skp"], skip_bad=True).notes
    assert any("ignored labels that do not occur: 'skp'" in note for note in misspelt)
    numbers = pd.DataFrame({"task": [10, 9, 2, 10], "worker": list("abab"), "label": [1, 0, 1, 1]})
    assert quietly(numbers).labels["task"].tolist() == [2, 9, 10]


def test_columns_of_other_names_are_found_in_tables_of_tasks_too(labels, tmp_path):
    long = labels.to_frame().rename(columns={"task": "post"})
    wide = long.pivot_table(index="post", columns="worker", values="label", aggfunc="first")
    expected = quietly(long, task="post").labels
    pd.testing.assert_frame_equal(quietly(wide, task="post").labels, expected, check_dtype=False)
    truth = expected[["task", "label"]].set_axis(["post", "truth"], axis=1)
    truth.to_csv(tmp_path / "truth.csv", index=False)
    for known in (tmp_path / "truth.csv", truth):
        for role in ("truth", "gold"):
            found = quietly(long, task="post", **{role: known})
            assert (found.truth if role == "truth" else np.array(list(found.method.gold_))).size == labels.n_tasks
    with pytest.raises(cf.CofactorError, match=r"truth.csv: no columns task and truth .*; found post, truth"):
        quietly(labels, truth=tmp_path / "truth.csv")
    with pytest.raises(cf.CofactorError, match=r"no column pst; .* did you mean post\?"):
        quietly(long, task="pst")


@pytest.mark.slow
def test_gold_truth_and_order_are_taken_in_every_form(labels, tmp_path):
    data = cf.load("bluebird")
    truth = pd.DataFrame({"task": labels.tasks, "truth": data.truth})
    truth.to_csv(tmp_path / "truth.csv", index=False)
    forms = (tmp_path / "truth.csv", truth, dict(truth.itertuples(index=False)), data.truth)
    for form in forms:
        assert cf.aggregate(labels, truth=form).summary[4].startswith("error: 12.0 %, majority vote 24.1 % (108 tasks")
    few = np.where(np.arange(108) < 6, data.truth, -1)
    for form in (truth[:6], dict(truth[:6].itertuples(index=False)), few):
        found = cf.aggregate("bluebird", gold=form)
        assert len(found.method.gold_) == 6 and "(102 tasks with known truth)" in found.summary[4]
        assert any(line.startswith("reading chosen with 6 gold tasks") for line in found.details)
    frame = labels.to_frame().assign(label=lambda df: df["label"] + df["worker"] % 2)
    text, words = (quietly(frame, order=order) for order in ("2, 0,1", [2, 0, 1]))
    assert text.crowd.classes == [2, 0, 1] and text.labels.equals(words.labels) and {"low", "high"} <= set(text.labels)


def test_notes_and_warnings_are_those_of_the_command(tmp_path, capsys):
    crowd = cf.simulate.crowd(cf.simulate.dawid_skene_model(9, 2, skill=0.5, random_state=1), 300, random_state=1)
    frame = crowd.labels.to_frame()
    frame = pd.concat([frame, *(frame[frame.worker == 0].assign(worker=w) for w in (9, 10)), frame[:1]])
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    truth = tmp_path / "truth.csv"
    pd.DataFrame({"task": range(300), "truth": 1 - crowd.labels.votes.argmin(axis=1)}).to_csv(truth, index=False)
    with pytest.warns(cf.DataWarning) as told:
        found = cf.aggregate(path, truth=truth)
    assert main(["aggregate", str(path), "--truth", str(truth)]) == 0
    captured = capsys.readouterr()
    said = [line.partition(": ")[2] for line in captured.err.splitlines()]
    assert (
        said == found.notes
        and len(said) > 1
        and said[-1].startswith("duplicate workers (same labels, same mistakes) count as one")
    )
    assert {str(one.message) for one in told} <= set(found.notes)
    assert captured.out.splitlines() == found.summary == repr(found).splitlines()
    assert main(["aggregate", str(path), "--strict"]) == 1
    assert "error: --strict: " in capsys.readouterr().err


@pytest.mark.slow
def test_two_workers_and_workers_of_one_class_are_told_of():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    said = {f"h{m}": np.where(rng.random(40) < 0.1, 1 - truth, truth) for m in range(3)}
    constant = {f"s{m}": np.zeros(40, dtype=int) for m in range(4)}
    for of, note in (
        ({name: said[name] for name in ("h0", "h1")}, "with two workers, the labels cannot show which of them is"),
        (said | constant, "4 workers always gave the same class: s0, s1, s2, s3; without them, the vote changes on"),
        (said | {"s0": constant["s0"]}, ""),  # three of four work
        (said | {f"s{m}": np.r_[np.zeros(3, dtype=int), np.full(37, -1)] for m in range(9)}, ""),  # few labels each
    ):
        rows = [(f"t{n:02d}", worker, y) for worker, ys in of.items() for n, y in enumerate(ys) if y >= 0]
        with warnings.catch_warnings(action="ignore"):
            notes = cf.aggregate(pd.DataFrame(rows, columns=["task", "worker", "label"]), draws=0).notes
        assert any(one.startswith(note) for one in notes) if note else not any("always gave" in one for one in notes)


@pytest.mark.slow
def test_a_report_is_a_page_and_is_not_overwritten_unasked(labels, tmp_path):
    found = cf.aggregate(labels, draws=0)
    found.report(tmp_path / "page.html")
    assert found.summary[-1] in (tmp_path / "page.html").read_text().replace("&lt;", "<")
    with pytest.raises(cf.CofactorError, match="force=True"):
        found.report(tmp_path / "page.html")
    assert "<pre>108 tasks" in found._repr_html_() and len(found.workers) == 39


def test_what_cannot_be_used_is_said():
    frame = cf.load("bluebird").labels.to_frame()
    for refused, arguments, options in (
        ("no method 'Best': choose FILE.py:NAME, or one of WorkerTypes", (frame,), {"method": "Best"}),
        ("label", (pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}),), {}),
        ("give the labels either as files", (), {}),
        ("give its address as database", (frame,), {"query": "SELECT 1"}),
        ("expected crowd labels, got ndarray of shape", (np.zeros((3, 2)),), {}),
        ("cannot use task='a': data sets and CrowdLabels have no", (cf.load("bluebird").labels,), {"task": "a"}),
        ("group names workers without labels: 'zoe'", (frame,), {"group": {"zoe": "a", 1: "a"}}),
        ("without labels: 'x3', 'x1', 'x2'", (frame,), {"group": dict.fromkeys(["x3", "x1", "x2"], "a")}),
        ("group can only be used with WorkerTypes", (frame,), {"group": {1: "a"}, "method": "MajorityVote"}),
        ("columns worker and group", (frame,), {"group": frame}),
        ("columns task and truth", (frame,), {"truth": frame[["task"]]}),
        ("with spark, only WorkerTypes can be fitted", (frame,), {"spark": "local[2]"}),
        ("with spark, only WorkerTypes can be fitted", ("a.csv",), {"spark": "local[2]", "method": "MV-EM"}),
        *((f"spark does not support {option}: prepare the file", ("a.csv",), {"spark": "local[2]", option: value})
          for option, value in ON_NO_CLUSTER.items()),
    ):  # fmt: skip
        with pytest.raises(cf.CofactorError, match=refused):
            quietly(*arguments, **options)


ON_NO_CLUSTER = {"order": "1,2", "group": "g.csv", "conflicts": "last", "classes": ["x"], "ignore": ["unsure"]}
ON_NO_CLUSTER |= {"spelling": "all", "skip_bad": True, "sep": ";"}


def test_an_array_says_how_it_was_read():
    with pytest.warns(cf.DataWarning, match="are read as task, worker and label; pass a table of tasks by workers"):
        found = cf.aggregate(np.array([[0, 1, 1], [0, 0, -1], [1, 1, 1]]), draws=0)
    assert any("three columns" in note for note in found.notes)


def test_readings_of_several_answers_are_of_the_most_frequent_one():
    rng = np.random.default_rng(0)
    task, worker = (code.ravel() for code in np.meshgrid(np.arange(60), np.arange(6), indexing="ij"))
    label = np.where(rng.random(len(task)) < 0.8, task % 2, 1 - task % 2)
    again = rng.random(len(task)) < 0.3
    rows = [np.r_[task, task[again]], np.r_[worker, worker[again]], np.r_[label, 1 - label[again]]]
    found = cf.aggregate(pd.DataFrame(dict(zip(("task", "worker", "label"), rows, strict=True))), conflicts="all")
    ours = found.method.predict_proba(found.crowd.whole)
    assert np.array_equal(found.readings.posterior("model"), ours) and not np.allclose(found.posterior, ours)


def test_lowered_probabilities_are_explained_by_what_lowered_them():
    labels = cf.load("bluebird").labels
    for method, why in (
        (cf.crowd.WorkerTypes(), "tasks of a class seem to differ in difficulty"),
        (cf.crowd.WorkerTypes(design_effect=2.0), "as requested"),
        (cf.crowd.WorkerTypes(design_effect=0.0), ""),
    ):
        lines = [line for line in cf.aggregate(labels, method=method, draws=0).details if "were lowered" in line]
        assert len(lines) == bool(why) and all(why in line for line in lines), why


def test_refits_are_refused_by_the_name_they_were_given_before_anything_is_fitted():
    for draws in (-5, 1, 2.5, "many"):
        with pytest.raises(cf.CofactorError, match=f"draws={draws!r}: give a whole number of at least 2"):
            cf.aggregate("bluebird", draws=draws)


def test_large_tables_are_counted_part_by_part(monkeypatch):
    data = cf.load("bluebird").labels
    whole = quietly(cf.CrowdLabels.from_frame(data.to_frame()), draws=0)
    monkeypatch.setattr(tables, "AT_ONCE", 100)  # labels; a million otherwise
    parts = quietly(cf.CrowdLabels.from_frame(data.to_frame()), draws=0)
    pd.testing.assert_frame_equal(parts.wide, whole.wide)
    pd.testing.assert_frame_equal(parts.workers, whole.workers)
    assert parts.notes == whole.notes and parts.details == whole.details
