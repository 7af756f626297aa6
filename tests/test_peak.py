"""Peak memory of a call: its own, arrays included, and not that of who asks."""

import subprocess

import numpy as np
import pytest

from cofactor_app import peak
from cofactor_app.peak import CLEAR_REFS, measure_peak

linux = pytest.mark.skipif(not CLEAR_REFS.exists(), reason="only Linux tells the peak")


@pytest.mark.slow
@linux
def test_peak_is_that_of_the_call_and_not_of_the_parent():
    ballast = np.ones(50_000_000)  # 400 MB in this process
    figures = measure_peak("numpy:ones", warm={"shape": 10}, shape=25_000_000)
    assert figures["peak_mb"] - figures["base_mb"] == pytest.approx(200, abs=10)
    assert figures["base_mb"] < 2e-6 * ballast.size


@pytest.mark.slow
@linux
def test_arrays_are_read_as_part_of_the_call():
    some = np.ones(5_000_000)
    figures = measure_peak("numpy:copy", warm={"a": some[:10]}, a=some)
    assert figures["peak_mb"] - figures["base_mb"] == pytest.approx(80, abs=5)


@pytest.mark.slow
@linux
def test_what_the_warm_up_takes_does_not_count():
    figures = measure_peak("numpy:ones", warm={"shape": 25_000_000}, shape=10)
    assert figures["peak_mb"] - figures["base_mb"] < 5


@linux
def test_modules_of_a_folder_are_found_and_those_beside_the_child_are_not(tmp_path):
    (tmp_path / "mine.py").write_text("def call(seconds):\n    import time\n    time.sleep(seconds)\n")
    figures = measure_peak("mine:call", warm={"seconds": 0}, folder=tmp_path, seconds=0.3)
    assert figures["seconds"] >= 0.3
    with pytest.raises(subprocess.CalledProcessError):
        measure_peak("least_squares:simplex_least_squares", warm={})


@linux
def test_peak_of_a_failing_call_is_an_error():
    with pytest.raises(subprocess.CalledProcessError):
        measure_peak("numpy:ones", warm={"shape": -1}, shape=1)


def test_sizes_are_read_in_millions_of_bytes(tmp_path):
    (tmp_path / "status").write_text("VmPeak:\t    9000 kB\nVmHWM:\t    2000 kB\n")
    assert peak.resident("VmHWM", tmp_path / "status") == 2.048


def test_nothing_is_run_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(peak, "CLEAR_REFS", tmp_path / "none")
    assert measure_peak("no:such", warm={}) is None
