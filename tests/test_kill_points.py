"""A command that is killed between two file operations leaves the old or the new; two at once do no harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
def test_a_killed_command_and_two_at_once_leave_the_old_or_the_new(tmp_path):
    command = [sys.executable, "-m", "tests.kill_points", str(tmp_path)]
    answer = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=500)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == []
