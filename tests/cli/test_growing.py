"""The commands update and next: new labels onto a fit that aggregate kept, and which labels to ask for."""

import numpy as np
import pandas as pd
import pytest

from cofactor.crowd import CrowdLabels
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.cli import engines, main
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


def test_from_shards_the_fit_is_a_folder_and_an_update_is_that_in_memory(frame, tmp_path, capsys):
    pytest.importorskip("duckdb")
    run("aggregate", "old.csv", "--model", "model.npz")
    run("aggregate", "old.csv", "--engine", "shards", "--model", "kept", "-o", "first.csv")
    old = pd.read_csv("old.csv")
    assert f"wrote kept: the fit and its {len(old)} labels, in shards, for `cofactor update`" in capsys.readouterr().out
    said, tables = {}, []
    for model in ("model.npz", "kept"):
        run("update", model, "new.csv", "-o", "consensus.csv", "--force")
        said[model] = [
            line
            for line in capsys.readouterr().out.splitlines()
            if line.startswith(("new.csv", "all:")) or "old" in line
        ]
        tables.append(pd.read_csv("consensus.csv").sort_values("task", ignore_index=True))
    pd.testing.assert_frame_equal(*tables, rtol=0, atol=2e-6)
    assert said["kept"] == said["model.npz"] and "of 80 old tasks have another label now" in said["kept"][2]
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    run("update", "kept", "new.csv", "-o", "again.csv")
    printed = capsys.readouterr()
    assert "new.csv: 0 new labels" in printed.out and "labels were given again" in printed.err
    assert "wrote kept" not in printed.out
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "consensus.csv").read_bytes()
    run("aggregate", "kept", "--model", "anew", "-o", "all.csv")
    frame[:60].to_csv("few.csv", index=False)
    run("aggregate", "few.csv", "--engine", "shards", "--model", "few")
    run("update", "few", "old.csv")
    assert "were chosen from the first 60 labels" in capsys.readouterr().out


def test_what_is_refused_leaves_a_folder_as_it_was(frame, tmp_path, capsys, monkeypatch):
    pytest.importorskip("duckdb")
    run("aggregate", "old.csv", "--engine", "shards", "--model", "kept")
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    (tmp_path / "cow.csv").write_text("task,worker,label\n1,0,ant\n2,0,cow\n")
    assert "rows 3 ('cow') (the first line is row 1)" in refused(capsys, "update", "kept", "cow.csv")
    frame[:1].assign(label="bee" if frame["label"][0] == "ant" else "ant").to_csv("clash.csv", index=False)
    assert "keep one with --conflicts first or last" in refused(capsys, "update", "kept", "clash.csv")
    frame.to_csv("consensus.csv")
    assert "consensus.csv exists" in refused(capsys, "update", "kept", "new.csv", "-o", "consensus.csv")
    shards = ("aggregate", "old.csv", "--engine", "shards", "--model")
    assert "kept exists: name another output" in refused(capsys, *shards, "kept")
    (tmp_path / "other").mkdir()
    assert "other is a folder with other things than a kept fit" in refused(capsys, *shards, "other", "--force")
    assert "consensus.csv is a file, and a fit from" in refused(capsys, *shards, "consensus.csv", "--force")
    assert "model.npz is one file, of a fit in memory (from shards" in refused(capsys, *shards, "model.npz")
    assert "model.npz is one file, of a fit in memory" in refused(capsys, "aggregate", "kept", "--model", "model.npz")
    assert "kept is one of the inputs" in refused(capsys, "aggregate", "kept", "--model", "kept", "--force")
    assert "are kept in one file" in refused(capsys, "aggregate", "old.csv", "--model", "kept", "--force")
    assert "holds no shards" in refused(capsys, "update", "other", "new.csv")
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e3)
    assert "too much at once: add them in parts" in refused(capsys, "update", "kept", "new.csv")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before


def test_a_record_of_a_kept_folder_and_of_its_update_can_be_repeated(frame, tmp_path, capsys):
    pytest.importorskip("duckdb")
    run("aggregate", "old.csv", "--engine", "shards", "--model", "kept", "-o", "a.csv", "--record", "a.json")
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    run("again", "a.json")
    assert "the same bytes come out: kept, a.csv" in capsys.readouterr().out.replace("a.csv, kept", "kept, a.csv")
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before
    run("aggregate", "old.csv", "--engine", "shards", "--model", "kept", "--force", "--record", "b.json")
    run("again", "b.json")
    run("update", "kept", "new.csv", "-o", "c.csv", "--record", "c.json")
    run("again", "c.json")
    printed = capsys.readouterr().out
    assert "the same bytes come out: c.csv" in printed and "changed since: input kept" in printed


def test_of_labels_in_a_database_is_said_what_to_do(frame, capsys):
    advice = "labels in a database need none: insert new ones into their table, and run `cofactor aggregate --database`"
    assert advice in refused(capsys, "aggregate", "--database", "duckdb:///labels.db", "--model", "model.npz")
    assert advice in refused(capsys, "update", "duckdb:///labels.db", "new.csv")
    assert "there is no folder" in refused(capsys, "update", "folder/model.npz", "new.csv")


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
