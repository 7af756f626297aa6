"""Compiled loops read and write no index out of bounds: Numba checks none unless it is asked to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REACH_COMPILED = ["core/test_em.py", "core/test_moments.py", "separable/test_least_squares.py", "pmf/test_cnmf.py"]
REACH_COMPILED += ["crowd/test_worker_types.py", "separable/test_edges.py"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_tests_that_reach_compiled_code_pass_with_every_index_checked(tmp_path):
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}  # compiled apart
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-n", "0"]
    command += ["-m", "not slow"]  # which reach no other loops
    paths = [str(ROOT / "tests" / name) for name in REACH_COMPILED]
    done = subprocess.run([*command, *paths], cwd=ROOT, env=checked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
