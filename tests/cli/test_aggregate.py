"""The command line: what it writes, what it refuses, what it prints where."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.cli import main
from cofactor.cli.methods import DEFAULT, OFFERED


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


def test_aggregate_writes_label_probability_and_count_of_every_task(labels_csv, tmp_path):
    out = tmp_path / "consensus.csv"
    assert run("aggregate", labels_csv, "-o", out, "--method", "RobSymNMF-EM") == 0
    written = pd.read_csv(out)
    labels = cf.CrowdLabels.from_csv(labels_csv)
    method = cf.crowd.METHODS["RobSymNMF-EM"]().fit(labels)
    assert list(written.columns) == ["task", "label", "probability", "n_labels"]
    assert list(written["task"]) == labels.tasks
    assert list(written["label"]) == [labels.classes[k] for k in method.predict(labels)]
    assert np.allclose(written["probability"], method.predict_proba(labels).max(axis=1), atol=1e-6)
    assert written["n_labels"].sum() == labels.n_labels


def test_aggregate_runs_on_the_bundled_set_and_knows_its_truth(capsys):
    assert run("aggregate", "bluebird", "--method", "MV-EM") == 0
    printed = capsys.readouterr().out
    assert "108 tasks, 39 workers, 2 classes, 4212 labels" in printed
    assert "majority vote 24.07%" in printed
    assert "missing co-occurrences: 0.0%" in printed


def test_of_several_starts_the_best_is_named(labels_csv, capsys):
    assert run("aggregate", labels_csv, "--method", "MultiStart-EM") == 0
    assert "MultiStart-EM, best start" in capsys.readouterr().out


def test_the_default_method_is_the_one_of_the_help(labels_csv, capsys):
    assert run("aggregate", labels_csv) == 0
    assert f"\n{DEFAULT}: " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run("aggregate", "--help")
    assert f"(default: {DEFAULT})" in capsys.readouterr().out


def test_every_method_that_needs_labels_alone_is_offered():
    assert sorted(OFFERED) == sorted(set(cf.crowd.METHODS) - set(cf.crowd.NEED_FEATURES))


def test_an_existing_output_is_kept_unless_forced(labels_csv, tmp_path, capsys):
    out = tmp_path / "consensus.csv"
    out.write_text("precious")
    assert run("aggregate", labels_csv, "-o", out) == 1
    assert out.read_text() == "precious"
    assert "--force" in capsys.readouterr().err
    assert run("aggregate", labels_csv, "-o", out, "--force") == 0
    assert out.read_text().startswith("task,label")


def test_no_half_file_is_left_where_writing_fails(labels_csv, tmp_path, monkeypatch):
    def fails(frame, file, **_):
        file.write("task,la")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", fails)
    assert run("aggregate", labels_csv, "-o", tmp_path / "consensus.csv") == 130
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_an_output_folder_that_is_not_there_is_an_error_before_the_work(labels_csv, tmp_path, capsys):
    assert run("aggregate", labels_csv, "-o", tmp_path / "nowhere" / "consensus.csv") == 1
    assert "no folder" in capsys.readouterr().err


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
    assert "error on the 10 tasks with known truth" in capsys.readouterr().out
    truth.assign(truth="perhaps").to_csv(path, index=False)
    assert run("aggregate", labels_csv, "--truth", path) == 0
    said = capsys.readouterr()
    assert "nobody chose the true class of 80 tasks (perhaps)" in said.err and "majority vote 100.00%" in said.out
    pd.concat([truth, truth.replace({"yes": "no", "no": "yes"})]).to_csv(path, index=False)
    assert run("aggregate", labels_csv, "--truth", path) == 1
    assert "two truths" in capsys.readouterr().err


def test_errors_are_one_line_on_standard_error(tmp_path, capsys):
    assert run("aggregate", tmp_path / "none.csv") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: no such file") and captured.err.count("\n") == 1


def test_warnings_become_notes(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,x,0\na,y,0\nb,x,1\nb,y,1\nb,y,1\n")
    assert run("aggregate", path, "--method", "MajorityVote") == 0
    assert "note: 1 labels were given again" in capsys.readouterr().err


def test_diagnose_prints_the_report(labels_csv, capsys):
    assert run("diagnose", labels_csv) == 0
    assert capsys.readouterr().out == f"{cf.crowd.diagnose(cf.CrowdLabels.from_csv(labels_csv))}\n"


def test_datasets_lists_what_there_is(capsys):
    assert run("datasets") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in cf.datasets()["name"])
    (line,) = (line for line in printed.splitlines() if "bluebird" in line)
    assert line.split()[:8] == ["bluebird", "crowd", "108", "39", "2", "4212", "-", "-"]  # no rows and columns


def test_in_a_pipe_there_is_no_progress_bar(labels_csv):
    command = [sys.executable, "-m", "cofactor", "aggregate", str(labels_csv)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stderr == "" and DEFAULT in done.stdout


def test_wrong_usage_exits_with_two():
    with pytest.raises(SystemExit) as stopped:
        run("aggregate", "bluebird", "--method", "Guess")
    assert stopped.value.code == 2


def test_an_input_is_never_the_output(labels_csv, tmp_path, capsys):
    before = labels_csv.read_text()
    assert run("aggregate", labels_csv, "-o", labels_csv, "--force") == 1
    assert run("aggregate", labels_csv, "-o", tmp_path, "--force") == 1
    assert labels_csv.read_text() == before and tmp_path.is_dir()
    assert capsys.readouterr().err.count("no ordinary file, or one of the inputs") == 2


def test_nearly_right_names_of_data_sets_get_a_hint(capsys):
    assert run("aggregate", "bluebrid") == 1
    assert run("datasets", "list", "bluebrid") == 1
    assert capsys.readouterr().err.count("bluebird") >= 2


def test_errors_of_the_system_are_one_line(labels_csv, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    assert run("aggregate", labels_csv, "-o", labels_csv.with_name("out.csv")) == 1
    assert capsys.readouterr().err == "error: [Errno 28] No space left on device\n"


def test_plan_prints_labels_needed_and_draws_them(labels_csv, tmp_path, capsys):
    figure = tmp_path / "plan.png"
    truth = tmp_path / "truth.csv"
    labels = cf.CrowdLabels.from_csv(labels_csv)
    votes = labels.votes.argmax(axis=1)
    pd.DataFrame({"task": labels.tasks, "truth": [labels.classes[k] for k in votes]}).to_csv(truth, index=False)
    settings = ("--error", "0.3", "--trials", 3, "--most", 5, "--methods", "MajorityVote", "--truth", truth)
    assert run("plan", labels_csv, *settings, "--figure", figure) == 0
    printed = capsys.readouterr().out
    expected = cf.crowd.plan(labels, 0.3, ["MajorityVote"], range(1, 6), votes, n_trials=3, random_state=0)
    assert str(expected) in printed and f"wrote {figure}" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert run("plan", labels_csv, *settings, "--figure", figure) == 1
    assert "--force" in capsys.readouterr().err


def test_plan_refuses_an_error_that_is_none(labels_csv, capsys):
    assert run("plan", labels_csv, "--error", "5") == 1
    assert "between 0 and 1" in capsys.readouterr().err
