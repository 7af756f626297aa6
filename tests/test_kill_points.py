"""A command that is killed at any file operation leaves the old or the new, and so does a loss of power."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
if not hasattr(os, "fork"):
    pytest.skip("processes cannot be copied here", allow_module_level=True)

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.timeout(1200)  # the first test waits for all runs
# operations, else the trap fails
FEWEST = {"shard": 20, "moments": 30, "aggregate": 30, "update": 15, "reproduce": 30, "report": 5}
FEWEST_OF_LINES = {"next": 10, "rank": 20, "joint": 10, "anchors": 10, "topics": 10, "page": 10}


def outcomes(program, *words):
    """The lines that one of the programs beside this file prints."""
    command = [sys.executable, "-m", f"tests.{program}", *map(str, words)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1000)
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What killed and cut runs of every case left, found by one process: its start takes as long as a case."""
    cases = [command + again for command in FEWEST for again in ("", " again")] + list(FEWEST_OF_LINES)
    lines = outcomes("kill_points", tmp_path_factory.mktemp("stopped"), *cases)
    return {(one["case"], one["how"]): one for one in lines}


@pytest.mark.slow
@pytest.mark.parametrize("again", ["", " again"])
@pytest.mark.parametrize("command", FEWEST)
def test_the_old_or_the_new_is_left_at_every_operation(command, again, found):
    killed, cut = (found[command + again, how] for how in ("kill", "cut"))
    assert killed["operations"] == cut["operations"] >= FEWEST[command]
    assert killed["wrong"] == cut["wrong"] == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "cut"])
@pytest.mark.parametrize("command", FEWEST_OF_LINES)
def test_commands_of_all_lines_leave_the_old_or_the_new(command, how, found):
    one = found[command, how]
    assert one["operations"] >= FEWEST_OF_LINES[command] and one["wrong"] == []


@pytest.mark.slow
def test_two_at_once_do_not_harm_each_other(tmp_path):
    found = outcomes("two_at_once", tmp_path, 1)
    assert [one["case"] for one in found if one["wrong"]] == [] and len(found) == 19
    assert sum(one["ends"].get("same 1", 0) for one in found) > 0  # else they never met
