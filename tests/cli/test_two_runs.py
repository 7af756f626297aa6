"""A command whose output another run is writing ends at once, names that run, and touches nothing."""

import os
import threading

import pytest

from cofactor.core.files import locked
from cofactor_app.cli import main
from evaluation import cli as experiments
from tests.each import each
from tests.evaluation.toy import toy

LABELS = "task,worker,label\na,x,0\na,y,1\nb,x,1\nb,y,1\n"
COMMANDS = (
    "aggregate labels.csv -o out --force",
    "aggregate labels.csv -o other.csv --workers out",
    "aggregate labels.csv --report out",
    "next labels.csv -o out",
    "rank votes.csv --report out",
    "joint table.csv --sample 9 out",
    "anchors points.csv --weights out",
    "topics counts.csv -o out --anchors 2",
    "reproduce toy --results .",
    "report -o out",
)


@pytest.mark.slow
@each("command", COMMANDS)
def test_the_other_run_is_named(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "labels.csv").write_text(LABELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiments, "find_experiment", {"toy": toy()}.__getitem__)
    name = "toy.jsonl" if command.startswith("reproduce") else "out"
    ready, done = threading.Event(), threading.Event()

    def other():
        with locked(tmp_path / name):
            ready.set()
            done.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert ready.wait(60)
    try:
        assert main(command.split()) == 1
    finally:
        done.set()
        thread.join()
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("error: ") and f"{name} is being written by process {os.getpid()} on " in said
    assert said.endswith("wait until it has finished, or name another output")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
