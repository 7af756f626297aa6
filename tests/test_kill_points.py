"""A command that is killed between two file operations leaves the old or the new."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

if not hasattr(os, "fork"):
    pytest.skip("processes cannot be copied here", allow_module_level=True)

ROOT = Path(__file__).parents[1]
# of operations, else the trap fails
FEWEST = {"aggregate": 30, "reproduce": 6, "report": 5}
AGAIN = {f"{command} again": fewest for command, fewest in FEWEST.items()}
LINES = {"next": 10, "rank": 20, "joint": 10, "anchors": 10, "topics": 10}


def outcomes(program, *words):
    """The lines that one of the programs beside this file prints."""
    command = [sys.executable, "-m", f"tests.{program}", *map(str, words)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1000)
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.mark.slow
def test_a_killed_command_leaves_the_old_or_the_new(tmp_path):
    fewest = FEWEST | AGAIN | LINES
    found = outcomes("kill_points", tmp_path, *fewest)  # by one process: its start takes as long as a case
    assert {one["case"]: one["wrong"] for one in found} == {case: [] for case in fewest}
    assert [one["case"] for one in found if one["operations"] < fewest[one["case"]]] == []


@pytest.mark.slow
def test_faults_at_random_times_leave_the_old_or_the_new(tmp_path):
    found = outcomes("kill_times", tmp_path, 2)
    assert {one["case"]: one["wrong"] for one in found if one["wrong"]} == {} and len(found) == 5
    assert sum(one["ends"].get("killed: -14", 0) for one in found) > 0  # else they ended before


@pytest.mark.slow
def test_processes_of_a_command_that_is_killed_end_and_what_it_finished_stays(tmp_path):
    found = outcomes("kill_parents", tmp_path, 2)
    assert {one["case"]: one["wrong"] for one in found if one["wrong"]} == {} and len(found) == 1
    assert sum(one["ends"].get("-9", 0) for one in found) > 0  # else they ended before


@pytest.mark.slow
def test_two_at_once_do_not_harm_each_other(tmp_path):
    found = outcomes("two_at_once", tmp_path, 1)
    assert [one["case"] for one in found if one["wrong"]] == [] and len(found) == 12
    assert sum(one["ends"].get("same 1", 0) for one in found) > 0  # else they never met
