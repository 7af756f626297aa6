"""Labels larger than memory on the command line: the three steps, what they refuse, and runs that are killed."""

import io
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor_app.cli import engines, main, sampled
from cofactor_app.cli import known as known_tasks
from cofactor_app.scale import copies
from cofactor_app.scale.shards import LabelShards

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture
def csv(tmp_path):
    """Labels in no order, with text ids."""
    crowd = cf.simulate.large_crowd(cf.simulate.dawid_skene_model(8, 2, skill=0.6, random_state=1), 300, 5, 1.0, 1)
    frame = crowd.labels.to_frame().sample(frac=1, random_state=0)
    frame["task"], frame["label"] = "t" + frame["task"].astype(str), np.where(frame["label"] == 0, "no", "yes")
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def shards(csv, tmp_path):
    folder = tmp_path / "shards"
    assert run("shard", csv, "-o", folder, "--shards", 5) == 0
    return folder


def run(*arguments):
    return main([str(argument) for argument in arguments])


def run_until_killed(patch, *arguments):
    """Run the command in a process in which `patch` sets the trap."""
    code = f"import os, signal, sys\nfrom cofactor_app.cli import main\n{patch}\nmain(sys.argv[1:])"
    words = [sys.executable, "-c", code, *map(str, arguments)]
    assert subprocess.run(words, timeout=300).returncode == -signal.SIGKILL


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_consensus_is_that_of_the_file_as_a_whole(csv, shards, tmp_path, suffix, capsys):
    assert run("moments", *sorted(shards.glob("*.parquet")), "-o", tmp_path / "moments.npz", "--jobs", 2) == 0
    options = ("--moments", tmp_path / "moments.npz", "--method", "RobSymNMF-EM")
    assert run("aggregate", shards, *options, "-o", tmp_path / f"streamed.{suffix}") == 0
    assert "300 tasks, 8 workers, 2 classes" in capsys.readouterr().out
    assert run("aggregate", csv, "--method", "RobSymNMF-EM", "-o", tmp_path / "whole.csv") == 0
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[suffix]
    streamed, whole = read(tmp_path / f"streamed.{suffix}"), pd.read_csv(tmp_path / "whole.csv")
    assert list(streamed["task"]) == list(whole["task"]) and list(streamed["label"]) == list(whole["label"])
    assert np.allclose(streamed["probability"], whole["probability"], atol=2e-6)
    assert list(streamed["n_labels"]) == list(whole["n_labels"])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"labels.csv", "shards", "moments.npz", f"streamed.{suffix}", "whole.csv"}


@pytest.mark.parametrize("method", ["WorkerTypes", "MV-EM", "IBCC"])
def test_shards_without_moments_and_a_file_sorted_on_the_way_give_the_same(csv, shards, tmp_path, method, capsys):
    frame = pd.read_csv(csv)
    frame.to_csv(tmp_path / "labels.tsv", sep="\t", index=False)
    frame.to_parquet(tmp_path / "labels.parquet", index=False)
    before = {path.name for path in tmp_path.iterdir()}
    whole = pd.read_csv(aggregated(csv, "--engine", "memory", "--method", method, "-o", tmp_path / "whole.csv"))
    for source, engine in ((shards, "auto"), (csv, "shards"), (tmp_path / "labels.tsv", "shards"),
                           (tmp_path / "labels.parquet", "shards")):  # fmt: skip
        out = aggregated(source, "--engine", engine, "--method", method, "-o", tmp_path / "out.csv", "--force")
        assert f"300 tasks, 8 workers, 2 classes\n{method}: converged" in capsys.readouterr().out
        found = pd.read_csv(out)
        assert list(found["task"]) == list(whole["task"]) and list(found["label"]) == list(whole["label"])
        assert np.allclose(found["probability"], whole["probability"], atol=2e-6)
        assert {path.name for path in tmp_path.iterdir()} == before | {"whole.csv", "out.csv"}


@pytest.mark.parametrize(
    ("numbers", "method"), [(False, "WorkerTypes"), (False, "MV-EM"), (True, "WorkerTypes"), (True, "MV-EM")]
)
def test_tables_with_a_row_a_task_are_those_of_memory(csv, shards, tmp_path, capsys, numbers, method):
    source, frame = csv, pd.read_csv(csv)
    if numbers:
        source = shards = tmp_path / "numbers.parquet"
        frame.assign(label=frame["label"].eq("yes").astype(int)).to_parquet(source, index=False)
    before = {path.name for path in tmp_path.iterdir()}
    found = {}
    for engine in ("memory", "shards", "folder"):
        given = ("--engine", engine, source) if engine != "folder" else (shards,)
        files = [tmp_path / name for name in ("out.csv", "posterior.csv", "overruled.csv")]
        tables = ("-o", files[0], "--wide", "--sort", "--posterior", files[1], "--overruled", files[2])
        assert run("aggregate", *given, "--method", method, *tables, "--draws", 0, "--force") == 0
        found[engine] = [file.read_bytes() for file in files]
    assert found["memory"] == found["shards"] == found["folder"]
    wide = pd.read_csv(files[0])
    assert wide["probability"].is_monotonic_increasing and not wide["task"].is_monotonic_increasing
    assert f"wrote {files[2]}: {len(pd.read_csv(files[2]))} tasks" in capsys.readouterr().out
    for file in files:
        file.unlink()
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_table_in_order_is_printed(shards, capsys):
    assert run("aggregate", shards, "--method", "MV-EM", "--sort", "-o", "-") == 0
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert printed["probability"].is_monotonic_increasing and len(printed) == 300


@pytest.fixture
def known(tmp_path):
    """Files of known tasks: 40 of gold, 100 of truth, of which 20 are gold."""
    crowd = cf.simulate.large_crowd(cf.simulate.dawid_skene_model(8, 2, skill=0.6, random_state=1), 300, 5, 1.0, 1)
    frame = pd.DataFrame({"task": [f"t{task}" for task in crowd.labels.tasks], "truth": crowd.truth})
    frame["truth"] = frame["truth"].map({0: "no", 1: "yes"})
    frame.iloc[:40].to_csv(tmp_path / "gold.csv", index=False)
    frame.iloc[20:120].to_csv(tmp_path / "truth.csv", index=False)
    return "--gold", tmp_path / "gold.csv", "--truth", tmp_path / "truth.csv"


@pytest.mark.parametrize(("folder", "memory"), [(True, "0"), (True, "1GB"), (False, "1GB")])
def test_gold_tasks_and_truth_are_used_from_shards_as_in_memory(csv, shards, known, tmp_path, capsys, folder, memory):
    whole = pd.read_csv(aggregated(csv, "--engine", "memory", *known, "-o", tmp_path / "whole.csv"))
    said = capsys.readouterr().out.splitlines()
    kept = [line for line in said if line.startswith(("gold tasks used in the fit: 40; ", "error on the 80 tasks"))]
    assert len(kept) == 2
    source, engine = (shards, "auto") if folder else (csv, "shards")
    options = ("--engine", engine, "--memory", memory, *known)
    found = pd.read_csv(aggregated(source, *options, "-o", tmp_path / "out.csv"))
    told = capsys.readouterr().out.splitlines()
    assert set(kept) <= set(told), told
    assert any(line.startswith("reading chosen by 40 gold tasks: model (right") for line in told)
    assert list(found["task"]) == list(whole["task"]) and list(found["label"]) == list(whole["label"])
    assert np.allclose(found["probability"], whole["probability"], atol=2e-6)
    assert list(found["disputed"]) == list(whole["disputed"])


def test_a_sample_is_told():
    assert sampled._of(1) == "all tasks"
    assert [sampled._of(step).split(",")[0] for step in (2, 3)] == ["one task in 2", "one task in 3"]


def test_a_vote_that_has_clearly_more_gold_tasks_right_is_told():
    more = known_tasks.CLEARLY_MORE
    assert known_tasks._better_vote({}) == known_tasks._better_vote({"vote": 29.0 + more, "model": 30.0}) == []
    (told,) = known_tasks._better_vote({"vote": 30.0 + more, "model": 30.0})
    assert told.startswith("the majority vote has more gold tasks right than WorkerTypes")


@pytest.mark.parametrize("method", ["MV-EM", "IBCC", "EBCC", "RobSymNMF-EM"])
def test_gold_tasks_teach_other_methods_from_shards_as_in_memory(csv, shards, known, tmp_path, capsys, method):
    assert run("moments", shards, "-o", tmp_path / "moments.npz") == 0
    options = ("--method", method, *known, "--force", "-o", tmp_path / "out.csv")
    whole = pd.read_csv(aggregated(csv, "--engine", "memory", *options))
    said = capsys.readouterr().out.splitlines()
    kept = [line for line in said if line.startswith(("gold tasks used in the fit: 40", "error on the 80 tasks"))]
    moments = ("--moments", tmp_path / "moments.npz") if method == "RobSymNMF-EM" else ()
    found = pd.read_csv(aggregated(shards, *moments, *options))
    assert len(kept) == 2 and set(kept) <= set(capsys.readouterr().out.splitlines())
    assert found[["task", "label", "n_labels"]].equals(whole[["task", "label", "n_labels"]])
    close = 1e-3 if method == "EBCC" else 2e-6  # its random starts see tasks in another order
    assert np.allclose(found["probability"], whole["probability"], atol=close)
    untold = pd.read_csv(aggregated(shards, *moments, *options[:2], *options[6:]))
    assert not np.allclose(found["probability"], untold["probability"], atol=2e-6)


def test_a_method_without_rounds_cannot_be_taught(shards, known, tmp_path, capsys):
    assert run("moments", shards, "-o", tmp_path / "moments.npz") == 0
    options = ("--moments", tmp_path / "moments.npz", "--method", "RobSymNMF", *known[:2])
    assert run("aggregate", shards, *options) == 1
    assert "RobSymNMF cannot use gold tasks" in capsys.readouterr().err


def test_truth_of_very_many_tasks_is_a_sample_and_gold_of_too_few_or_strange_is_said(
    csv, known, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(known_tasks, "MOST_JUDGED", 40)
    assert run("aggregate", csv, "--engine", "shards", "--method", "MV-EM", *known[2:]) == 0
    said = capsys.readouterr().out
    assert "judged by one in 3 of the 100 tasks" in said and "error on the 34 tasks with known truth" in said
    for text, ends, told in (
        ("t1,maybe\nt2,yes\n", 0, "1 gold tasks of classes that nobody chose are passed over"),
        ("none,yes\n", 1, "none of its tasks has a label (none)"),
        ("t1,yes\nt1,no\n", 1, "gives two truths for tasks t1"),
    ):
        (tmp_path / "few.csv").write_text(f"task,truth\n{text}")
        assert run("aggregate", csv, "--engine", "shards", "--gold", tmp_path / "few.csv") == ends
        assert told in capsys.readouterr().err


def test_the_report_of_shards_is_about_a_sample_of_tasks_and_says_so(csv, tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.html"
    for most, sentence in ((400, "labels.csv (one task in 3)</h1>"), (10_000, "This page shows all tasks")):
        monkeypatch.setattr(sampled, "MOST_SHOWN", most)
        for method in ("WorkerTypes", "MV-EM"):
            assert run("aggregate", csv, "--engine", "shards", "--method", method, "--report", page, "--force") == 0
            text = page.read_text(encoding="utf8")
            assert sentence in text and "the model was fitted to all labels" in text and ".shards" not in text
    told = capsys.readouterr().out
    assert f"wrote {page}" in told and "the page shows one task in 3, and its numbers" in told


def test_labels_too_many_for_memory_are_diagnosed_and_asked_about_by_a_sample(
    csv, shards, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e6)
    said = []
    for most, source in ((10_000, csv), (10_000, shards), (400, csv), (400, shards)):
        monkeypatch.setattr(sampled, "MOST_READ", most)
        for words in (["diagnose", source], ["next", source, "-o", tmp_path / "next.csv", "--force", "--error", 0.1]):
            assert run(*words) == 0
            said.append(capsys.readouterr().out)
        assert len(pd.read_csv(tmp_path / "next.csv"))
    assert "would take 0.0 of 0.0 GB in memory: what follows is about all tasks" in said[0] and "300 tasks" in said[0]
    assert "is a folder of shards: what follows is about one task in 3; numbers of tasks" in said[6]
    assert said[0].split("\n", 1)[1] == said[2].split("\n", 1)[1]
    needed = [int(text.split("expected error is 10.00%: about ")[1].split()[0]) for text in (said[1], said[5])]
    assert needed[1] % 3 == 0 and 0.5 < needed[1] / needed[0] < 2
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e12)
    assert run("diagnose", csv) == 0 and capsys.readouterr().out in said[0]
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e6)
    assert run("diagnose", csv, "--ignore", "maybe") == 1
    assert "a sample of them cannot be read, since --ignore needs all labels in memory" in capsys.readouterr().err


def test_columns_and_separators_are_told_as_in_memory(csv, tmp_path, capsys):
    frame = pd.read_csv(csv)
    frame.set_axis(["Item ID", "Rater", "rating"], axis=1).to_csv(tmp_path / "other.csv", index=False, sep=";")
    frame.rename(columns=str.upper).to_parquet(tmp_path / "upper.parquet", index=False)
    out = {}
    for name in (csv, tmp_path / "other.csv", tmp_path / "upper.parquet"):
        out[name] = pd.read_csv(aggregated(name, "--engine", "shards", "-o", tmp_path / "out.csv", "--force"))
    assert all(found.equals(out[csv]) for found in out.values())
    assert capsys.readouterr().err.count("columns: task from Item ID, worker from Rater, label from rating") == 1
    wide = frame.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    wide.to_csv(tmp_path / "wide.csv")
    assert run("aggregate", tmp_path / "wide.csv", "--engine", "shards") == 1
    assert "what the columns are is told from all labels" in capsys.readouterr().err
    assert run("aggregate", tmp_path / "wide.csv") == 0


def aggregated(source, *options):
    assert run("aggregate", source, *options) == 0
    return options[options.index("-o") + 1]


def test_the_number_of_labels_and_the_memory_choose_the_engine(csv, tmp_path, monkeypatch, capsys):
    on_disk = "they are sorted on disk and fitted piece by piece"
    assert run("aggregate", csv) == 0 and on_disk not in capsys.readouterr().out
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e6)
    assert run("aggregate", csv, "--workers", tmp_path / "workers.csv") == 0
    said = capsys.readouterr().out
    assert (
        "would take 0.0 of 0.0 GB in memory" in said and on_disk in said and len(pd.read_csv(tmp_path / "workers.csv"))
    )
    for options in (
        ("--method", "GLAD"),
        ("--encoding", "latin-1"),
        ("--engine", "memory"),
        ("--ignore", "maybe"),
        ("--conflicts", "all"),
    ):
        assert run("aggregate", csv, *options) == 0
        said = capsys.readouterr().out
        assert on_disk not in said and ("fitted there all the same, since" in said) == ("memory" not in options), (
            options
        )
    _by_number_alone(csv, tmp_path, monkeypatch, capsys)
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e6)
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert run("aggregate", csv) == 0 and "all the same, since DuckDB is missing" in capsys.readouterr().out
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e12)
    monkeypatch.setattr(engines, "MANY", 1000)
    assert run("aggregate", csv) == 0 and "they are fitted there (--engine shards" in capsys.readouterr().out


def _by_number_alone(csv, tmp_path, monkeypatch, capsys):
    """Many labels that fit into memory are sorted on disk, but for options that get more in memory."""
    monkeypatch.setattr(engines, "machine_memory", lambda: 1e12)
    monkeypatch.setattr(engines, "FASTER", 1000)
    lost = "readings are not compared there, and copies are looked for on a sample of two million labels at most"
    there = f"fitted piece by piece; {lost} (--engine memory: here)"
    assert run("aggregate", csv) == 0 and there in capsys.readouterr().out
    assert run("aggregate", csv, "--method", "MV-EM") == 0
    assert "fitted piece by piece (--engine memory: here)" in capsys.readouterr().out
    monkeypatch.setattr(engines, "MANY", 1000)
    assert run("aggregate", csv, "--draws", 0, "--workers", tmp_path / "judged.csv") == 0
    assert "they are fitted there, where workers have intervals and verdicts (--engine" in capsys.readouterr().out
    assert "verdict" in pd.read_csv(tmp_path / "judged.csv")
    monkeypatch.setattr(engines, "FASTER", 1e9)


def test_shards_that_are_asked_for_and_cannot_be_are_refused_with_the_reason(csv, tmp_path, capsys):
    for options, said in (
        (("--sort",), "--wide and --sort say how -o is written: name the file by -o"),
        (("--merge-look-alikes",), "--merge-look-alikes needs all labels in memory"),
        (("--conflicts", "all"), "--conflicts all needs all labels in memory"),
        (("--method", "GLAD"), "needs all labels at once"),
    ):
        assert run("aggregate", csv, "--engine", "shards", *options) == 1, options
        assert said in capsys.readouterr().err
    assert run("aggregate", "bluebird", "--engine", "shards") == 1
    assert "sorted on disk from CSV or TSV files, or from parquet files" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv"}


def test_copies_count_as_one_worker_from_shards_as_in_memory(csv, known, tmp_path, capsys, monkeypatch):
    frame = pd.read_csv(csv)
    pd.concat([frame, frame[frame["worker"] == 3].iloc[::2].assign(worker=12)]).to_csv(csv, index=False)
    tables = {name: tmp_path / f"{name}.csv" for name in ("output", "workers", "confusion")}
    words = [word for name, path in tables.items() for word in (f"--{name}", path)]
    said, found = {}, {}
    for more in ((), ("--gold", tmp_path / "gold.csv")):
        for engine in ("memory", "shards"):
            assert run("aggregate", csv, *more, "--engine", engine, *words, "--draws", 0, "--force") == 0
            said[engine] = [line for line in capsys.readouterr().out.splitlines() if "who count as one" in line]
            found[engine] = {name: pd.read_csv(path) for name, path in tables.items()}
        assert said["shards"] == said["memory"] and said["shards"][0].endswith("the same: 3 = 12")
        pd.testing.assert_frame_equal(found["shards"]["output"], found["memory"]["output"], atol=2e-6)
        pd.testing.assert_frame_equal(found["shards"]["confusion"], found["memory"]["confusion"], atol=2e-6)
        given = [found[engine]["workers"].set_index("worker")["n_labels"].to_dict() for engine in found]
        assert given[0] == given[1] and given[0][12] > 0
    monkeypatch.setattr(copies, "MOST_COMPARED", 400)
    assert run("aggregate", csv, "--engine", "shards") == 0
    assert "copies among workers were looked for on one task in 3" in capsys.readouterr().out


def test_a_run_that_was_killed_while_it_sorted_leaves_nothing_for_the_next(csv, tmp_path):
    out = tmp_path / "out.csv"
    patch = """
from cofactor_app.scale.shards import LabelShards
LabelShards.fit = lambda self, *rest, **more: os.kill(os.getpid(), signal.SIGKILL)
"""
    run_until_killed(patch, "aggregate", csv, "--engine", "shards", "-o", out)
    assert not out.exists() and (tmp_path / ".out.csv.shards").is_dir()
    assert run("aggregate", csv, "--engine", "shards", "-o", out) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "out.csv"}


def test_killed_counting_goes_on_with_the_shards_that_were_not_finished(shards, tmp_path, monkeypatch):
    out = tmp_path / "moments.npz"
    patch = """
from cofactor_app.scale import shards
save, done = shards.save_moments, []
def dies(path, *rest, **more):
    if len(done) == 2:
        path.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(save(path, *rest, **more))
shards.save_moments = dies
"""
    run_until_killed(patch, "moments", shards, "-o", out)
    assert not out.exists()
    read, original = [], LabelShards.read
    monkeypatch.setattr(LabelShards, "read", lambda self, path: read.append(path.name) or original(self, path))
    assert run("moments", shards, "-o", out) == 0
    assert read == ["shard-002.parquet", "shard-003.parquet", "shard-004.parquet"]
    assert run("moments", shards, "-o", tmp_path / "again.npz") == 0
    with np.load(out) as resumed, np.load(tmp_path / "again.npz") as again:
        assert all(np.array_equal(resumed[name], again[name]) for name in again.files)
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "shards", "moments.npz", "again.npz"}


def test_killed_sharding_leaves_no_half_folder_and_can_be_run_again(csv, tmp_path):
    patch = """
from cofactor_app.scale import sharding
check, done = sharding._one_label_each, []
def dies(*arguments):
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(1)
    return check(*arguments)
sharding._one_label_each = dies
"""
    run_until_killed(patch, "shard", csv, "-o", tmp_path / "shards", "--shards", 5)
    assert not (tmp_path / "shards").exists()
    assert run("shard", csv, "-o", tmp_path / "shards", "--shards", 5) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "shards"}


def test_a_folder_of_shards_is_replaced_by_force_only_and_nothing_else_is(csv, shards, tmp_path, capsys):
    assert run("shard", csv, "-o", shards) == 1
    assert "--force" in capsys.readouterr().err
    assert run("shard", csv, "-o", shards, "--force", "--shards", 2) == 0
    assert len(list(shards.glob("*.parquet"))) == 2
    (shards / "notes.txt").write_text("precious")
    assert run("shard", csv, "-o", shards, "--force") == 1
    assert run("shard", csv, "-o", csv, "--force") == 1
    assert capsys.readouterr().err.count("holds other things than shards") == 2
    assert run("shard", csv, "-o", tmp_path / "nowhere" / "shards") == 1
    assert "no folder" in capsys.readouterr().err


def test_labels_that_are_to_be_replaced_by_their_own_shards_stay(shards, capsys):
    assert run("shard", *sorted(shards.glob("*.parquet")), "-o", shards, "--force") == 1
    assert "one of the inputs" in capsys.readouterr().err
    assert len(list(shards.glob("*.parquet"))) == 5


def test_ungrouped_files_are_refused(csv, tmp_path, capsys):
    folder = tmp_path / "raw"
    folder.mkdir()
    pd.read_csv(csv).to_parquet(folder / "labels.parquet")
    assert run("moments", folder, "-o", tmp_path / "moments.npz") == 1
    assert "cofactor shard" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "raw"}


def test_outputs_are_kept_and_options_that_do_not_go_together_refused(csv, shards, tmp_path, capsys):
    out = tmp_path / "moments.npz"
    out.write_text("precious")
    assert run("moments", shards, "-o", out) == 1
    assert out.read_text() == "precious" and "--force" in capsys.readouterr().err
    assert run("aggregate", shards, "--moments", out) == 1
    assert "is no file of moments" in capsys.readouterr().err
    assert run("aggregate", shards, "--method", "RobSymNMF") == 1
    assert "RobSymNMF needs the counts of label pairs: count them with `cofactor moments`" in capsys.readouterr().err
    assert run("moments", shards, "-o", out, "--force") == 0
    assert run("aggregate", shards, "--report", tmp_path / "page.html", "--plan", 0.1) == 1
    assert "(`cofactor plan` takes a file of some tasks): with shards, leave it out" in capsys.readouterr().err
    assert run("aggregate", shards, "--moments", out, "--method", "MultiStart-EM") == 1
    assert "needs all labels at once" in capsys.readouterr().err


def test_without_duckdb_the_way_out_is_named(csv, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert run("shard", csv, "-o", tmp_path / "shards") == 1
    assert "cofactor[scale]" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv"}


def test_check_reads_folders_of_shards_whole(shards, capsys):
    assert run("check", shards) == 0
    assert "5 shards, each as it was written" in capsys.readouterr().out
    path = next(shards.glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-4] + b"none")
    assert run("check", shards) == 1
    assert f"damaged shards: {path}" in capsys.readouterr().err
