"""The command line: what it writes, what it refuses, what it prints where."""

import errno
import os
import re
import subprocess
import sys
from importlib import import_module
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.core.errors import DataWarning
from cofactor.verbs.aggregate import DEFAULT
from cofactor.verbs.consensus import NOTHING_KNOWN
from cofactor_app.cli import in_options, main
from cofactor_app.cli.parser import parser
from tests.each import each


@pytest.fixture
def labels_csv(tmp_path):
    """Labels of a small simulated crowd with text ids."""
    crowd = cf.simulate.crowd(cf.simulate.dawid_skene_model(6, 2, skill=0.6, random_state=1), 80, 0.8, random_state=1)
    frame = crowd.labels.to_frame()
    frame["task"], frame["label"] = "t" + frame["task"].astype(str), np.where(frame["label"] == 0, "no", "yes")
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_first_screen_has_the_answer_and_nothing_else(tmp_path, capsys):
    out = tmp_path / "labels.csv"
    assert run("aggregate", "bluebird", "-o", out) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        "108 tasks, 39 workers, 2 classes, 4,212 labels\n"
        "class   model    vote\n"
        "0          65      76\n"
        "1          43      32\n"
        "error: 12.0 %, majority vote 24.1 % (108 tasks with known truth)\n"
        "uncertain (p < .9): 39 tasks; against the vote: 13 tasks, 11 of them by two votes or more (column overruled)\n"
        f"wrote {out} (108 tasks)\n"
    )
    assert captured.err == ""
    assert run("aggregate", "bluebird", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert run("aggregate", "bluebird", "-v", "--method", "MultiStart-EM") == 0
    assert "\nMultiStart-EM, best start" in capsys.readouterr().out


def test_of_many_classes_the_largest_are_shown(tmp_path, capsys):
    rows = "".join(f"t{n},w{m},c{n % 7 if n < 21 else 0}\n" for n in range(24) for m in range(3))
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n" + rows)
    said = written(capsys, path).out.splitlines()
    assert [line.split() for line in said[2:4]] == [["c0", "6", "6"], ["c1", "3", "3"]]
    assert said[7] == "... and 2 more classes (6 tasks)" and said[8].startswith("expected error: ")


def test_tables_are_written_before_anything_is_printed(labels_csv, tmp_path, monkeypatch):
    out, printed = tmp_path / "labels.csv.gz", []
    monkeypatch.setattr("builtins.print", lambda *_, **__: printed.append(out.exists()))
    assert run("aggregate", labels_csv, "-o", out) == 0
    assert printed and all(printed)


def test_the_default_method_is_the_one_of_the_help(labels_csv, capsys):
    assert f"\n{DEFAULT}: " in written(capsys, labels_csv, "-v").out
    with pytest.raises(SystemExit):
        run("aggregate", "--help")
    said = capsys.readouterr().out
    assert f"(default: {DEFAULT})" in " ".join(said.split()) and len(said.splitlines()) <= 66


def test_an_existing_output_is_kept_unless_forced(labels_csv, tmp_path, capsys):
    out = tmp_path / "consensus.csv"
    out.write_text("precious")
    assert run("aggregate", labels_csv, "-o", out) == 1
    assert out.read_text() == "precious"
    assert "--force" in capsys.readouterr().err
    assert run("aggregate", labels_csv, "-o", out, "--force") == 0
    assert out.read_text().startswith("task,label")


def test_column_names_and_conflicts_are_options(labels_csv, tmp_path, capsys):
    frame = pd.read_csv(labels_csv).rename(columns={"task": "item", "worker": "who"})
    clash = frame.iloc[[0]].assign(label="yes" if frame["label"][0] == "no" else "no")
    pd.concat([frame, clash]).to_csv(labels_csv, index=False)
    assert run("diagnose", labels_csv) == 1
    assert "no column task, worker" in capsys.readouterr().err
    columns = ("--task", "item", "--worker", "who")
    assert run("diagnose", labels_csv, *columns) == 1
    assert "conflicting labels" in capsys.readouterr().err
    assert run("diagnose", labels_csv, *columns, "--conflicts", "first") == 0


def test_truth_from_a_file(labels_csv, tmp_path, capsys):
    labels = cf.CrowdLabels.from_csv(labels_csv)
    predicted = cf.crowd.METHODS["MV-EM"]().fit(labels).predict(labels)
    truth = pd.DataFrame({"task": labels.tasks, "truth": [labels.classes[k] for k in predicted]})
    path = tmp_path / "truth.csv"
    truth.iloc[:10].to_csv(path, index=False)
    assert run("aggregate", labels_csv, "--method", "MV-EM", "--truth", path) == 0
    assert "(10 tasks with known truth)" in capsys.readouterr().out


def test_datasets_lists_what_there_is(capsys):
    assert run("datasets") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in cf.datasets()["name"])
    assert max(map(len, printed.splitlines())) <= 80 and "datasets list NAME" in printed
    assert run("datasets", "list", "bluebird", "votes") == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["labels", "4212"] in printed and ["rows", "435"] in printed and len(printed) < 25


def test_of_few_workers_half_stand_at_each_end(tmp_path, capsys):
    rows = "".join(f"{t},w{w},{t % 2}\n" for t in range(20) for w in range(3))
    (tmp_path / "labels.csv").write_text("task,worker,label\n" + rows)
    assert run("aggregate", tmp_path / "labels.csv", "--method", "MV-EM", "-v") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "reliable workers" in line]
    assert len(lines) == 2 and [line.count("(20 labels)") for line in lines] == [2, 2]


WRONG_USAGE = [
    (["diagnose"], "required: LABELS"),
    (["topics", "counts.csv"], "required: --anchors"),
    (["rank", "food", "--outpt=x"], "arguments: --outpt=x; did you mean --output? See cofactor rank --help"),
    (["rank", "food", "--zzz"], "arguments: --zzz; see cofactor rank --help"),
]


@pytest.mark.parametrize(("words", "said"), WRONG_USAGE)
def test_wrong_usage_is_said_of_the_command_at_hand(words, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(*words)
    assert stopped.value.code == 2 and said in capsys.readouterr().err


def test_labels_in_several_files_are_those_of_one_file(labels_csv, tmp_path, capsys):
    rows = labels_csv.read_text().splitlines(keepends=True)
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("".join(rows[:150]))
    new.write_text("".join([rows[0], *rows[150:]]))
    for folder, files in (("one", [labels_csv]), ("two", [old, new])):
        (tmp_path / folder).mkdir()
        tables = ("-o", tmp_path / folder / "labels.csv", "--workers", tmp_path / folder / "workers.csv")
        assert "80 tasks" in written(capsys, *files, *tables).out
    for name in ("labels.csv", "workers.csv"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_one_column_for_two_roles_is_refused(labels_csv, capsys):
    assert run("aggregate", labels_csv, "--task", "worker") == 1
    told = "error: --task worker, --worker worker, --label label: the same column is named twice"
    assert capsys.readouterr().err.startswith(told)


def test_an_input_is_never_the_output(labels_csv, tmp_path, capsys):
    before = labels_csv.read_text()
    assert run("aggregate", labels_csv, "-o", labels_csv, "--force") == 1
    assert run("aggregate", labels_csv, "-o", tmp_path, "--force") == 1
    assert labels_csv.read_text() == before and tmp_path.is_dir()
    said = capsys.readouterr().err
    assert f"{labels_csv} is one of the inputs: name another" in said and f"{tmp_path} is a folder: name" in said
    assert run("aggregate", labels_csv, "-o", "/dev/null", "--force") == 1
    assert "/dev/null is not a regular file" in capsys.readouterr().err


def test_a_report_is_no_table(labels_csv, tmp_path, capsys):
    for name in ("r.csv", "r.CSV", "r.pdf"):
        assert run("aggregate", labels_csv, "--report", tmp_path / name) == 1
        assert f"{name}: reports are web pages: name a file that ends in .html" in capsys.readouterr().err
        assert not (tmp_path / name).exists()


def test_nearly_right_names_of_data_sets_get_a_hint(capsys):
    assert run("aggregate", "bluebrid") == 1
    assert run("datasets", "list", "bluebrid") == 1
    assert capsys.readouterr().err.count("bluebird") >= 2


@pytest.mark.slow
def test_a_plan_asks_for_no_more_than_there_are_workers():
    task, worker = np.divmod(np.arange(40 * 20), 20)
    many = cf.CrowdLabels.from_arrays(task, worker, (task + (worker == task % 20)) % 2)
    found = cf.plan(many, 0.3, methods=["MajorityVote"], n_trials=2, random_state=0)
    assert found.amounts[-1] == found.present == 20 and len(found.amounts) <= 16


# ---- gold tasks, tables, warnings ----


def written(capsys, *arguments):
    """Run `aggregate`, and return what it printed."""
    assert run("aggregate", *arguments) == 0
    return capsys.readouterr()


@pytest.mark.slow
def test_gold_tasks_are_used_in_the_fit_and_not_judged(labels_csv, tmp_path, capsys):
    labels = cf.CrowdLabels.from_csv(labels_csv)
    codes = np.where(np.arange(labels.n_tasks) < 20, labels.votes.argmin(axis=1), -1)
    gold, path = tmp_path / "gold.csv", tmp_path / "consensus.csv"
    rows = [(labels.tasks[n], labels.classes[codes[n]]) for n in range(20)]
    pd.DataFrame([*rows, ("nobody's", "yes")], columns=["task", "truth"]).to_csv(gold, index=False)
    said = written(capsys, labels_csv, "--gold", gold, "--truth", gold, "-o", path, "-v")
    assert "ignored 1 task without labels" in said.err
    assert "gold tasks used in the fit: 20" in said.out and "known truth" not in said.out
    assert "gold contradicts the vote on 17 of 20 tasks: are its classes swapped?" in said.err
    with pytest.warns(DataWarning, match="contradicts the vote"):
        method = cf.crowd.METHODS[DEFAULT](random_state=0).fit(labels, gold=codes)
    table = pd.read_csv(path)
    assert list(table["label"]) == [labels.classes[k] for k in method.predict(labels)]
    assert list(table["label"][:20]) == [labels.classes[k] for k in codes[:20]]
    pd.DataFrame([(labels.tasks[0], "perhaps"), (labels.tasks[1], "no")], columns=["task", "truth"]).to_csv(
        gold, index=False
    )
    said = written(capsys, labels_csv, "--gold", gold, "-v")
    assert "ignored 1 gold task whose class no worker chose" in said.err
    assert "used in the fit: 1" in said.out
    assert run("aggregate", labels_csv, "--gold", gold, "--method", "KOS") == 1
    assert "cannot use gold tasks" in capsys.readouterr().err


def test_tables_of_workers_confusions_and_probabilities(labels_csv, tmp_path, capsys):
    names = {name: tmp_path / f"{name}.csv" for name in ("workers", "confusion")}
    options = [part for name, path in names.items() for part in (f"--{name}", path)]
    wide = tmp_path / "wide.jsonl"
    said = written(capsys, labels_csv, "--method", "MV-EM", *options, "-o", wide, "--wide")
    labels = cf.CrowdLabels.from_csv(labels_csv)
    method = cf.crowd.METHODS["MV-EM"]().fit(labels)
    posterior, predicted = method.predict_proba(labels), method.predict(labels)
    workers = pd.read_csv(names["workers"])
    assert list(workers["worker"]) == labels.workers and workers["n_labels"].sum() == labels.n_labels
    assert np.allclose(workers["accuracy"], cf.crowd.worker_accuracy(method.model_), atol=1e-6)
    lines = pd.read_json(wide, lines=True)
    assert lines["task"].tolist() == labels.tasks
    assert np.allclose(lines[["probability no", "probability yes"]], posterior, atol=1e-6)
    entries = pd.read_csv(names["confusion"]).set_index(["worker", "true", "said"])["probability"]
    of_first = [[entries[labels.workers[0], true, said] for true in labels.classes] for said in labels.classes]
    assert np.allclose(of_first, method.model_.conditionals[0], atol=1e-6)
    behind = labels.votes.max(axis=1) - labels.votes[np.arange(80), predicted]
    assert behind.any() and lines["overruled"].tolist() == behind.tolist()
    n = np.sum(behind > 0)
    assert f"against the vote: {n} {'tasks' if n != 1 else 'task'}" in said.out


def test_a_class_called_task_has_a_column_of_its_own(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,w,task\nb,w,1\nb,v,1\n")
    said = written(capsys, path, "--method", "MajorityVote", "--wide", "-o", "-")
    assert said.out.splitlines()[0].endswith("overruled,probability class 0: 1,probability class 1: task")


def crowd_with_one_loud_class(tmp_path):
    """Two classes; the vote is right on 40 tasks, and a truth file says so."""
    rows = [(f"t{n}", f"w{m}", "a" if n % 2 else "b") for n in range(40) for m in range(3)]
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(labels, index=False)
    pd.DataFrame({"task": [f"t{n}" for n in range(40)], "truth": ["a" if n % 2 else "b" for n in range(40)]}).to_csv(
        truth, index=False
    )
    return labels, truth


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "warned"), [(6, True), (5, False)])
def test_a_method_that_loses_to_the_vote_says_so(wrong, warned, tmp_path, monkeypatch, capsys):
    path, truth = crowd_with_one_loud_class(tmp_path)
    original = cf.crowd.MajorityVote.predict_proba

    def worse(self, labels):
        posterior = original(self, labels)
        posterior[:wrong] = 1 - posterior[:wrong]
        return posterior

    monkeypatch.setattr(cf.crowd.MajorityVote, "predict_proba", worse)
    report = tmp_path / "report.html"
    found = written(capsys, path, "--method", "MajorityVote", "--truth", truth, "--report", report)
    lost = "warning: MajorityVote is worse than the majority vote here (p = 0.03)"
    assert (lost in found.err) == warned
    assert ("is worse than the majority vote here" in report.read_text()) == warned
    assert f"overrules a unanimous vote on {wrong} tasks ({100 * wrong / 40:.1f} %)" in found.err
    assert f"against the vote: {wrong} tasks, {wrong} of them by two votes or more" in found.out


def test_types_of_workers_are_told_with_their_names():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(200, 1))
    honest = np.where(rng.random((200, 5)) < 0.75, truth, 1 - truth)
    codes = np.hstack([honest, honest[:, :1], np.zeros((200, 1), dtype=int)])
    task, worker = np.indices(codes.shape).reshape(2, -1)
    labels = cf.CrowdLabels.from_arrays(task, worker, codes.ravel())
    method = cf.crowd.WorkerTypes().fit(labels)
    with pytest.warns(DataWarning, match=r"labels \(14%\) depend on whether .* cofactor next FILE --checks 10"):
        found = cf.aggregate(labels)
    assert {
        "workers with no information beside the others: 1 of 7 (14.3 % of the labels): 6",
        f"disputed (the label differs from the vote of informative workers): {method.disagreement(labels).sum()} tasks",
    } <= set(found.details)
    assert "duplicate workers (same labels, same mistakes) count as one: 0 = 5" in found.notes
    alone = cf.CrowdLabels.from_arrays([0, 1, 2], [0, 0, 1], [0, 1, 1])
    assert NOTHING_KNOWN in cf.aggregate(alone).notes


def test_tasks_to_check_become_gold_when_their_truth_is_filled_in(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["next", "bluebird", "--checks", "6", "-o", "six.csv"]) == 0
    six = pd.read_csv("six.csv", dtype=str)
    assert list(six)[:2] == ["task", "truth"] and six["truth"].isna().all()
    assert main(["aggregate", "bluebird", "--gold", "six.csv"]) == 1
    assert "missing truth in rows 2, 3, 4, 5, 6 and 7" in capsys.readouterr().err
    six.assign(truth=six["vote"]).to_csv("six.csv", index=False)
    assert main(["aggregate", "bluebird", "--gold", "six.csv", "-o", "labels.csv"]) == 0
    found = pd.read_csv("labels.csv", dtype=str).set_index("task")["label"]
    assert found[six["task"]].tolist() == six["vote"].tolist()


# ---- the parser, and its words ----


def test_version_and_help_import_neither_numpy_nor_the_library():
    code = "import sys\nfrom cofactor_app.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    code += "print(sorted({'numpy', 'pandas', 'cofactor.crowd'} & sys.modules.keys()))"
    for words in (["--version"], ["--help"], ["aggregate", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupt_while_modules_are_imported_prints_no_traceback(monkeypatch, capsys):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("cofactor_app.cli.import_module", interrupted)
    assert run("diagnose", "bluebird") == 130
    assert capsys.readouterr().err == "interrupted\n"


@each(
    "error, told",
    [
        (MemoryError("Unable to allocate 8 GiB"), r"not enough memory \(Unable to allocate 8 GiB\): use less data"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory .*: use less data"),
        (OSError("Could not find/load shared object file 'libllvmlite.so'"), "memory is short or the file is damaged"),
        (
            ImportError("libopenblas.so: failed to map segment from shared object"),
            "memory is short or the file is damaged",
        ),
        (OSError(errno.EIO, "Input/output error"), r"reading or printing failed \(Input/output error\): "),
    ],
)
def test_what_the_system_refuses_is_one_sentence_without_names_of_libraries(monkeypatch, capsys, error, told):
    monkeypatch.setattr("cofactor_app.cli.import_module", mock.Mock(side_effect=error))
    assert main(["datasets"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(f"error: .*{told}", line) and ".so" not in line


def test_a_mistake_of_an_import_is_not_hidden(monkeypatch):
    monkeypatch.setattr("cofactor_app.cli.import_module", mock.Mock(side_effect=ImportError("no name x")))
    with pytest.raises(ImportError):
        main(["datasets"])


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed")
def test_a_folder_that_is_gone_is_said(monkeypatch, capsys, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["aggregate", "bluebird", "--method", "MajorityVote", "-o", "consensus.csv"]) == 1
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert line == "error: the working directory no longer exists: change to another one, and run the command again"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("n_jobs=0: at least one process", "--jobs 0: at least one process"),
        ("keep one with conflicts='first' or 'last'", "keep one with --conflicts first or last"),
        ("for example encoding='latin-1'", "for example --encoding latin-1"),
        ("sep=';;': must be one ASCII character", "--sep ';;': must be one ASCII character"),
        ("such as task='a b', or rename", "such as --task 'a b', or rename"),
        ("mask=3 and n_workers=4 stay", "mask=3 and n_workers=4 stay"),
    ],
)
def test_messages_name_options(message, said):
    assert in_options(message) == said


def test_every_command_names_a_function_that_is_there():
    chosen = [action for action in parser()._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    for command in chosen[0].choices.values():
        module, function = command.get_default("run").split(".")
        assert callable(getattr(import_module(f"cofactor_app.cli.{module}"), function))
