"""What tests of the bench share: methods that run in this process, and defaults that are quick."""

from concurrent.futures import Future
from types import MappingProxyType

import pytest
import scipy.stats  # noqa: F401 - for intervals: else the first test of all would pay for it

from cofactor_app.bench import answers, run, table
from cofactor_app.cli import bench as command

QUICK = {"pmf": ("Independence", "Constant"), "separable": ("SPA", "FastAnchor"), "comparisons": ("WinRate", "BPR")}
QUICK = MappingProxyType(answers.ANSWERS | QUICK)


class Here:
    """In place of a pool of one process: a call runs at once in this one, which needs no imports and is not sealed."""

    def __init__(self, *_):
        self.ended = False

    def submit(self, call, *arguments):
        found = Future()
        try:
            found.set_result(call(*arguments))
        except Exception as error:
            found.set_exception(error)
        return found

    def shutdown(self, **_):
        self.ended = True


@pytest.fixture
def here(monkeypatch):
    """Run methods in this process."""
    monkeypatch.setattr(run, "ProcessPoolExecutor", Here)


@pytest.fixture
def quick(here, monkeypatch):
    """Run methods in this process, beside a default that takes some milliseconds on every problem."""
    for module in (run, table, command):
        monkeypatch.setattr(module, "ANSWERS", QUICK)
