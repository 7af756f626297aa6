"""Pytest plugin: two suites by one rule, and the durations by which it chooses.

`--small` keeps every item that takes at most .3 seconds of processor time, at most five of one function, evenly spread
over its parameters; of a function whose items all take longer, the quickest, if that is at most .4 seconds; and every
cell of a notebook. `tests/durations.tsv` names the items that take longer; one that it
does not name is in. `--durations-file` writes it anew for the items that run, and leaves the others as they are.

Processor time is that of all processes an item starts, whatever else the machine does. An item costs what its shared
fixtures cost, too, whoever of their users came first.
"""

import os
from collections import defaultdict
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SECONDS, MOST, ONE = 0.3, 5, 0.4
FILE = Path(__file__).with_name("durations.tsv")
RULE = (
    f"small: items of at most {SECONDS:g} s of processor time, at most {MOST} of one function, or one of {ONE:g} s; "
    "and all notebooks"
)


# ---- the choice ----


def read(path=FILE):
    """Return the seconds of every item, or function, that is named."""
    rows = path.read_text(encoding="utf8").splitlines()
    return {name: float(seconds) for seconds, name in (row.split("\t", 1) for row in rows)}


def write(measured, path=FILE):
    """Keep what takes longer than that: items, or the function where none of them is in. Others stay as they are."""
    functions = by_function(measured)
    slow = {name: seconds for name, seconds in read(path).items() if function_of(name) not in functions}
    for function, items in functions.items():
        found = {item: measured[item] for item in items if measured[item] > SECONDS}
        none = len(found) == len(items) and round(min(found.values()), 1) > ONE  # is quick enough
        slow |= {function: max(found.values())} if none else found
    rows = [f"{seconds:.1f}\t{name}\n" for name, seconds in sorted(slow.items())]
    path.write_text("".join(rows), encoding="utf8")


def function_of(item):
    """Return the name of an item without its parameters."""
    return item.split("[")[0]


def by_function(items):
    """Return the items of every function."""
    found = defaultdict(list)
    for item in items:
        found[function_of(item)].append(item)
    return found


def spread(items):
    """Return at most five, the first and the last among them, in equal steps."""
    step = max(1.0, (len(items) - 1) / (MOST - 1))
    return [items[round(step * place)] for place in range(min(len(items), MOST))]


def chosen(items, slow):
    """Return the ids of the small suite."""

    def seconds(item):
        return slow.get(item, slow.get(function_of(item), 0.0))

    found = set()
    for mine in by_function(items).values():
        quick = [item for item in mine if seconds(item) <= SECONDS]
        found |= set(spread(quick) or [item for item in [min(mine, key=seconds)] if seconds(item) <= ONE])
    return found


def clock():
    """Return processor seconds of this process and of all it started, living or gone."""
    from psutil import Error, Process

    seconds = sum(os.times()[:4])
    for child in Process().children(recursive=True):
        with suppress(Error):  # gone since it was listed: its parent has its time
            seconds += sum(child.cpu_times()[:4])
    return seconds


# ---- pytest ----


def pytest_addoption(parser):
    """Name the two options."""
    group = parser.getgroup("cofactor")
    group.addoption("--small", action="store_true", help=RULE)
    group.addoption("--durations-file", action="store_true", help=f"write what takes more than {SECONDS:g} s to {FILE}")


def pytest_configure(config):
    """Measure where asked for; where tests run in several processes, each measures, and the first one writes."""
    if config.getoption("--durations-file"):
        config.pluginmanager.register(Durations(config), "durations")


def pytest_report_header(config):
    """Say which suite this is."""
    return f"suite: {RULE}" if config.getoption("--small") else "suite: all: every item of what is named"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what the small suite leaves out."""
    if config.getoption("--small"):
        kept = chosen([item.nodeid for item in items if not hasattr(item, "cell")], read())
        out = [item for item in items if not hasattr(item, "cell") and item.nodeid not in kept]
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if hasattr(item, "cell") or item.nodeid in kept]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids):
    """Say once how many items several processes share; one process says so itself."""
    if node.gateway.id == "gw0":
        node.config.get_terminal_writer().line(f"{len(ids)} items")


class Durations:
    """Processor seconds of items: their own, and those of the fixtures they share."""

    def __init__(self, config):
        self.config, self.fixtures, self.shared, self.taken, self.skipped = config, {}, 0.0, {}, set()

    @contextmanager
    def stopwatch(self):
        """Add the seconds spent inside, without those of shared fixtures there, to a list."""
        took, start, shared = [], clock(), self.shared
        yield took
        took.append(max(0.0, clock() - start - (self.shared - shared)))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Remember what a fixture of several items took."""
        with self.stopwatch() as took:
            result = yield
        if fixturedef.scope != "function":
            self.fixtures[fixturedef] = took[0]
            self.shared += took[0]
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Measure an item, and add what its shared fixtures took, whenever that was."""
        with self.stopwatch() as took:
            result = yield
        if not hasattr(item, "cell"):
            used = [found[-1] for found in item._fixtureinfo.name2fixturedefs.values()]
            self.taken[item.nodeid] = took[0] + sum(self.fixtures.get(one, 0.0) for one in used)
        return result

    def pytest_runtest_logreport(self, report):
        """Remember what did not run."""
        if report.skipped:
            self.skipped.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Take over what another process measured."""
        self.taken |= getattr(node, "workeroutput", {}).get("durations", {})

    def pytest_sessionfinish(self):
        """Write, or hand over to the process that writes."""
        ran = {item: seconds for item, seconds in self.taken.items() if item not in self.skipped}
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["durations"] = ran
        elif ran:
            write(ran)
