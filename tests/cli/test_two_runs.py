"""A command whose output another run is writing ends at once, says whose run that is, and touches nothing."""

import os
import threading

import pytest

from cofactor.core.files import locked
from cofactor_app.cli import main
from evaluation import cli as experiments
from tests.evaluation.toy import toy

LABELS = "task,worker,label\na,x,0\na,y,1\nb,x,1\nb,y,1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "labels.csv").write_text(LABELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiments, "find_experiment", {"toy": toy()}.__getitem__)
    return tmp_path


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "words",
    [
        ["aggregate", "labels.csv", "-o", "out"],
        ["aggregate", "labels.csv", "-o", "other.csv", "--workers", "out"],
        ["aggregate", "labels.csv", "--report", "out"],
        ["next", "labels.csv", "-o", "out"],
        ["rank", "votes.csv", "-o", "out"],
        ["rank", "votes.csv", "--report", "out"],
        ["joint", "table.csv", "--filled", "out"],
        ["joint", "table.csv", "--sample", "9", "out"],
        ["anchors", "points.csv", "--weights", "out"],
        ["topics", "counts.csv", "-o", "out", "--anchors", "2"],
        ["reproduce", "toy", "--results", ""],
        ["report", "-o", "out"],
    ],
    ids=lambda words: " ".join(words[::2]),
)
def test_the_other_run_is_named(folder, words, force, capsys):
    name = "toy.jsonl" if words[0] == "reproduce" else "out"
    ready, done = threading.Event(), threading.Event()

    def other():
        with locked(folder / name):
            ready.set()
            done.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert ready.wait(60)
    try:
        before = sorted(path.name for path in folder.iterdir())
        assert main([word or str(folder) for word in words] + (force if words[0] != "reproduce" else [])) == 1
    finally:
        done.set()
        thread.join()
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"error: {folder / name} is being written by process {os.getpid()} on ")
    assert said.endswith("wait until that has ended, or name another output")
    assert before == sorted([*(path.name for path in folder.iterdir()), f".{name}.lock"])
