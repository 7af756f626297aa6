"""An environment of what environment.yml names, all that users of conda and Binder have, runs a notebook as a test."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.test_repo import ROOT, conda_environment, pins

NOTEBOOK = "notebooks/00_start_here.ipynb"
OTHERS = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "VIRTUAL_ENV")  # of the environment that runs this test
PIP = ("pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1")
UV = Path(sys.executable).with_name("uv")  # finds the same packages in a tenth of the time


def run(python, *arguments):
    here = {name: value for name, value in os.environ.items() if name not in OTHERS and "XDIST" not in name}
    command = [python, "-m", *arguments]
    if arguments[0] == "pip" and UV.exists():
        command = [UV, "pip", "install", "--quiet", "--python", python, *arguments[len(PIP) :]]
    return subprocess.run(command, cwd=ROOT, env=here | {"PIP_USER": "0"}, capture_output=True, text=True)


@pytest.fixture
def python(tmp_path):
    """Make an environment of the names of environment.yml in their pinned versions, and of the project alone."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pinned = tmp_path / "pins.txt"  # without hashes: pip is to find for itself what the names need
    pinned.write_text("".join(f"{name}{version}\n" for name, version in pins().items()), encoding="utf8")
    if run(python, *PIP, "-c", str(pinned), "hatchling").returncode:
        pytest.skip("the package index cannot be reached")
    names, _ = conda_environment()
    names = [f"{name}{version}" for name, version in names.items() if name not in ("python", "pip")]
    for what in (["-c", str(pinned), *names], ["--no-deps", "--no-build-isolation", "-e", "."]):
        made = run(python, *PIP, *what)
        assert made.returncode == 0, made.stderr
    return python


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_promised_packages_run_a_notebook_as_a_test(python):
    assert "No module named xdist" in run(python, "xdist").stderr  # else it would not be what a user has
    tested = run(python, "pytest", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", NOTEBOOK)
    assert tested.returncode == 0 and " passed" in tested.stdout, tested.stdout + tested.stderr
