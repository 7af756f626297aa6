"""The wheel and the source distribution: what they hold, how large they are; the README runs from the wheel."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.test_readme import PYTHON
from tests.test_repo import ROOT

pytestmark = pytest.mark.slow
MOST = 1_200_000  # bytes of the wheel
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.2, of Debian 12, has none


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both; the wheel and the source distribution."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def test_the_wheel_is_small_and_holds_the_library_and_the_data_only(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()
    assert built[0].stat().st_size < MOST
    assert {name.split("/")[0].split("-")[0] for name in names} == {"cofactor", "cofactor_app"}
    assert "cofactor/_datasets/registry.toml" in names and "cofactor/py.typed" in names


def test_the_source_distribution_builds_the_same_wheel_and_holds_no_test(built, tmp_path):
    with tarfile.open(built[1]) as source:
        source.extractall(tmp_path, **SAFELY)
    (unpacked,) = tmp_path.iterdir()
    assert not list(unpacked.rglob("test_*.py"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built[0]) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_readme_runs_from_the_wheel_alone(built, tmp_path):
    """Its packages are those that are installed here; the code is that of the wheel."""
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path / "installed")
    code = f"{PYTHON[0]}\nprint(cf.__file__)"
    found = {name: value for name, value in os.environ.items() if not name.startswith("COFACTOR")}
    found |= {"PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "installed") in done.stdout and "probability" in done.stdout
