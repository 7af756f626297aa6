"""The small suite: what is in it, and the durations by which it is chosen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import suites
from tests.each import each

ROOT = Path(__file__).resolve().parents[1]


def test_what_takes_longer_is_out_and_what_is_new_is_in():
    items = ["a.py::quick", "a.py::slow", "a.py::new", "a.py::some[0]", "a.py::some[1]", "a.py::all[0]", "a.py::all[1]"]
    slow = {"a.py::slow": 1.1, "a.py::some[1]": 3.0, "a.py::all": 9.0, "a.py::all[1]": 0.2}
    assert suites.chosen(items, slow) == {"a.py::quick", "a.py::new", "a.py::some[0]", "a.py::all[1]"}


def test_of_one_function_five_evenly_spread_items_are_in():
    items = [f"a.py::f[{number}]" for number in range(21)]
    assert suites.chosen(items, {}) == {f"a.py::f[{number}]" for number in (0, 5, 10, 15, 20)}
    assert suites.chosen(items, {"a.py::f[20]": 2.0}) >= {"a.py::f[0]", "a.py::f[19]"}
    assert suites.chosen(items[:5], {}) == set(items[:5])


def test_a_function_whose_items_are_all_slow_has_its_quickest_in_if_that_is_hardly_slower():
    items = ["a.py::f[0]", "a.py::f[1]", "a.py::g", "a.py::h"]
    slow = {"a.py::f[0]": 0.9, "a.py::f[1]": 0.35, "a.py::g": 0.4, "a.py::h": 0.5}
    assert suites.chosen(items, slow) == {"a.py::f[1]", "a.py::g"}


def test_durations_are_kept_of_what_is_slow_and_of_what_did_not_run(tmp_path):
    path = tmp_path / "durations.tsv"
    path.write_text("7.0\ta.py::gone\n4.0\tb.py::kept[x]\n")
    measured = {"a.py::gone": 0.2, "a.py::one[x]": 2.0, "a.py::one[y]": 0.1, "a.py::all[x]": 2.0, "a.py::all[y]": 3.04}
    suites.write(measured, path)
    assert path.read_text() == "3.0\ta.py::all\n2.0\ta.py::one[x]\n4.0\tb.py::kept[x]\n"
    assert suites.read(path) == {"a.py::all": 3.0, "a.py::one[x]": 2.0, "b.py::kept[x]": 4.0}
    suites.write({"a.py::all[x]": 2.0, "a.py::all[y]": 0.44}, path)  # the quickest is in: its name is needed
    assert suites.chosen(["a.py::all[x]", "a.py::all[y]"], suites.read(path)) == {"a.py::all[y]"}


def test_every_duration_is_that_of_a_test_that_there_is():
    for name in suites.read():
        path, _, function = suites.function_of(name).partition("::")
        assert re.search(rf"\b{function.split('::')[-1].split('.')[-1]}\b", (ROOT / path).read_text("utf8")), name


TOY = """
import subprocess, sys
import pytest

def work(seconds):
    subprocess.run([sys.executable, "-c", f"import time\\nwhile time.process_time() < {seconds}: pass"], check=True)

@pytest.fixture(scope="module")
def shared():
    work(0.5)

def test_first(shared): pass
def test_second(shared): pass
@pytest.mark.parametrize("number", range(9))
def test_quick(number): pass
def test_skipped(): pytest.skip("no data")
"""


@pytest.mark.parametrize("processes", [0, 2])
def test_items_are_measured_with_their_children_and_what_they_share_and_then_left_out(tmp_path, processes):
    """A fixture of half a second, in another process: both tests that use it take as long, the limit being .3 s."""
    (tmp_path / "test_toy.py").write_text(TOY)
    (tmp_path / "limits.py").write_text(
        f"from pathlib import Path\nfrom tests import suites\nsuites.SECONDS = suites.ONE = 0.3\n"
        f"suites.FILE = Path({str(tmp_path / 'durations.tsv')!r})\nsuites.FILE.touch()\n"
        "suites.read.__defaults__ = (suites.FILE,)\nsuites.write.__defaults__ = (suites.FILE,)\n"
    )
    plugins = ["-p", "limits", "-p", "tests.suites", "-p", "no:cacheprovider", "-p", "no:nbval", "-n", str(processes)]
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(tmp_path), *plugins, "test_toy.py"]
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    def run(option):
        return subprocess.run([*command, option], cwd=tmp_path, env=found, capture_output=True, text=True).stdout

    assert "11 passed, 1 skipped" in run("--durations-file")
    names = [row.split("\t")[1] for row in (tmp_path / "durations.tsv").read_text().splitlines()]
    assert names == ["test_toy.py::test_first", "test_toy.py::test_second"]
    told = run("--small")
    assert "suite: small" in told and "5 passed, 1 skipped" in told and (not processes or "6 items" in told)


@each("option, said", [("--small", "suite: small"), ("-q", "suite: all")])
def test_the_header_says_which_suite(option, said):
    class Config:
        def getoption(self, name):
            return name == option

    assert suites.pytest_report_header(Config()).startswith(said)
