"""The commands update and next: new labels onto a fit that aggregate kept, and which labels to ask for."""

import numpy as np
import pandas as pd
import pytest

from cofactor.crowd import CrowdLabels
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.cli import main
from cofactor_app.growing import CrowdFit
from cofactor_app.planning import next_tasks


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """Return labels; most lie in old.csv of the working directory, the others in new.csv."""
    monkeypatch.chdir(tmp_path)
    frame = crowd(dawid_skene_model(9, 2, skill=0.6, random_state=0), 90, 0.6, random_state=0).labels.to_frame()
    frame["label"] = frame["label"].map({0: "ant", 1: "bee"})
    new = (frame["task"] >= 80) | (frame["worker"] == 8)
    frame[~new].to_csv("old.csv", index=False)
    frame[new].to_csv("new.csv", index=False)
    return frame


def run(*words):
    assert main(list(words)) == 0


def refused(capsys, *words):
    assert main(list(words)) == 1
    return capsys.readouterr().err


def test_old_and_new_labels_make_the_consensus_of_all(frame, capsys):
    run("aggregate", "old.csv", "--model", "model.npz")
    run("update", "model.npz", "new.csv", "-o", "consensus.csv")
    printed = capsys.readouterr().out
    old, new = pd.read_csv("old.csv"), pd.read_csv("new.csv")
    n_tasks, n_workers = frame["task"].nunique() - old["task"].nunique(), 9 - old["worker"].nunique()
    assert f"new.csv: {len(new)} new labels, {n_tasks} new tasks, {n_workers} new workers" in printed
    assert "of 80 old tasks have another label now" in printed
    written = pd.read_csv("consensus.csv")
    fit = CrowdFit.load("model.npz")
    assert fit.labels.n_labels == len(frame)
    assert written["task"].tolist() == fit.labels.tasks
    assert sorted(written["task"]) == sorted(frame["task"].unique())
    np.testing.assert_allclose(written["probability"], fit.method.predict_proba(fit.labels).max(axis=1), atol=1e-6)


def test_the_same_file_again_changes_nothing(frame, tmp_path, capsys):
    run("aggregate", "old.csv", "--model", "model.npz")
    run("update", "model.npz", "new.csv")
    before = (tmp_path / "model.npz").read_bytes()
    run("update", "model.npz", "new.csv")
    said = capsys.readouterr()
    assert "new.csv: 0 new labels" in said.out and "labels were given again" in said.err
    assert (tmp_path / "model.npz").read_bytes() == before


def test_many_new_labels_call_for_a_new_choice(frame, capsys):
    frame[:60].to_csv("few.csv", index=False)
    run("aggregate", "few.csv", "--model", "model.npz")
    run("update", "model.npz", "old.csv")
    assert "were chosen from the first 60 labels" in capsys.readouterr().out
    run("aggregate", "old.csv", "--model", "other.npz")
    run("update", "other.npz", "new.csv")
    assert "was chosen from" not in capsys.readouterr().out


def test_what_is_refused_leaves_the_model_as_it_was(frame, tmp_path, capsys):
    run("aggregate", "old.csv", "--model", "model.npz", "-o", "consensus.csv")
    before = (tmp_path / "model.npz").read_bytes()
    assert "consensus.csv exists" in refused(capsys, "update", "model.npz", "new.csv", "-o", "consensus.csv")
    assert "one of the inputs" in refused(capsys, "update", "model.npz", "model.npz", "--force")
    assert "old.csv is no kept fit: it is no .npz file" in refused(capsys, "update", "old.csv", "new.csv")
    assert "no such file" in refused(capsys, "update", "none.npz", "new.csv")
    (tmp_path / "cow.csv").write_text("task,worker,label\n1,0,ant\n2,0,cow\n")
    assert "rows 3 ('cow') (the first line is row 1)" in refused(capsys, "update", "model.npz", "cow.csv")
    frame[:1].assign(label="bee" if frame["label"][0] == "ant" else "ant").to_csv("clash.csv", index=False)
    assert "keep one with --conflicts first or last" in refused(capsys, "update", "model.npz", "clash.csv")
    assert (tmp_path / "model.npz").read_bytes() == before
    run("update", "model.npz", "clash.csv", "--conflicts", "last")


def test_only_the_default_in_memory_is_kept_and_nothing_is_overwritten_unasked(frame, capsys):
    run("aggregate", "old.csv", "--model", "model.npz")
    assert "model.npz exists" in refused(capsys, "aggregate", "old.csv", "--model", "model.npz")
    assert "leave --method" in refused(capsys, "aggregate", "old.csv", "--method", "MV-EM", "--model", "other.npz")


def test_next_writes_the_tasks_to_ask_for(frame, capsys):
    run("next", "old.csv", "--budget", "7", "-o", "tasks.csv")
    found = next_tasks(CrowdLabels.from_csv("old.csv"), 7)
    pd.testing.assert_frame_equal(pd.read_csv("tasks.csv"), found.table, check_dtype=False)
    assert str(found) in capsys.readouterr().out
    assert "tasks.csv exists" in refused(capsys, "next", "old.csv", "-o", "tasks.csv")
    run("next", "old.csv", "--budget", "7", "-o", "-")
    printed = capsys.readouterr()
    assert printed.out == found.table.to_csv(index=False) and str(found) in printed.err


def test_next_stops_and_still_writes_a_table(frame, capsys):
    run("next", "old.csv", "--error", "0.6", "-o", "tasks.csv")
    assert "so stop here" in capsys.readouterr().out
    table = pd.read_csv("tasks.csv")
    assert table.empty and list(table.columns) == ["task", "ask", "who", "n_labels", "label", "probability", "gain"]
    assert "--budget 0: give a whole number" in refused(capsys, "next", "old.csv", "--budget", "0")
    assert "--error 2.0: ask for an error between 0 and 1" in refused(capsys, "next", "old.csv", "--error", "2")
