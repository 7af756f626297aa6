"""Rules for every test: what needs data that are not here is skipped, and said aloud; nothing hangs for ever.

Tests run in several processes, file by file. What takes minutes begins first, so that no process is left with it at
the end, and the tests of the book stay together, so that the book is built once.
"""

import ipaddress
import os
import re
import socket
import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["tests.nbval_tolerance"]

PUBLIC_DATA = "public-data"  # tag of notebook cells whose outputs depend on crowds that are downloaded
ROOT = Path(__file__).parent
HERE = ("", "localhost", "localhost.localdomain")
FIRST = ["tests/browser", "tests/book", "tests/test_reproducible.py"]  # the longest
TOGETHER = "tests/book"
TIMEOUT = 600  # seconds; the cells of notebooks have their own, a timeout from outside would break all later cells


class Network(BaseException):
    """A test reached for the network; no handler of ordinary errors must hide that."""


def _here(host):
    """Whether a host is this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return name is None or name in HERE or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _guarded(reach, host_of):
    def guarded(*args, **kwargs):
        host = host_of(args)
        if not _here(host):
            raise Network(f"a test reached for {host}: tests must run without a network")
        return reach(*args, **kwargs)

    return guarded


def pytest_sessionstart():
    """Let no test reach further than this machine."""
    for name in ("connect", "connect_ex"):
        reach = getattr(socket.socket, name)
        setattr(socket.socket, name, _guarded(reach, lambda args: args[1][0] if isinstance(args[1], tuple) else None))
    socket.getaddrinfo = _guarded(socket.getaddrinfo, lambda args: args[0])


def pytest_report_header():
    """Name the code of BLAS that runs, and on how many threads: the last digits of numbers depend on it."""
    import numpy  # noqa: F401 - brings its BLAS
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    kernels = {f"{pool.get('architecture', pool['internal_api'])}, threads: {pool['num_threads']}" for pool in pools}
    return f"BLAS kernel: {'; '.join(sorted(kernels))}"


def _mirror_missing():
    mirror = os.environ.get("COFACTOR_MIRROR", "")
    return not (mirror and Path(mirror).is_dir())


def _tags(item):
    """Tags of a notebook cell, none of any other test."""
    return item.cell.metadata.get("tags", []) if hasattr(item, "cell") else []


@pytest.hookimpl(optionalhook=True)  # who runs a notebook as a test needs no pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Give out files, and the book as one."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return TOGETHER if nodeid.startswith(f"{TOGETHER}/") else super()._split_scope(nodeid)

    return Scheduler(config, log)


def _when(item):
    """Place of a test in the order: the longest first, the others as they were."""
    return next((place for place, path in enumerate(FIRST) if item.nodeid.startswith(path)), len(FIRST))


def pytest_collection_modifyitems(config, items):
    """Without the mirror, skip what needs it and compare no cell about it; limit the time of all but cells."""
    items.sort(key=_when)
    limited = config.pluginmanager.hasplugin("timeout")
    skip = pytest.mark.skip(reason="COFACTOR_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("needs_mirror") and _mirror_missing():
            item.add_marker(skip)
        if PUBLIC_DATA in _tags(item) and _mirror_missing():
            item.options["check"] = False  # it runs, with the crowds that are here: other outputs than those stored
        if limited and not hasattr(item, "cell") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TIMEOUT))


def _sets_away():
    """Names of the data sets that are not bundled: every file of one role, at least, has an address."""
    registry = tomllib.loads((ROOT / "datasets" / "registry.toml").read_text(encoding="utf8"))
    local = {
        name: {file["role"] for file in entry["files"] if "url" not in file or "recipe" in entry}
        for name, entry in registry.items()
    }
    return {name for name, entry in registry.items() if {file["role"] for file in entry["files"]} - local[name]}


def _sets_of(reports):
    """Data sets that skipped tests name, in their parameters or else in their file."""
    found, away = set(), _sets_away()
    for report in reports:
        path, _, parameters = report.nodeid.partition("[")
        named = away & set(re.findall(r"\w+", parameters))
        text = (ROOT / path.split("::")[0]).read_text(encoding="utf8")
        found |= named or {name for name in away if f'"{name}"' in text}
    return sorted(found)


def pytest_terminal_summary(terminalreporter):
    """Say loudly how many data tests did not run, which sets they read, and how to have these."""
    skipped = terminalreporter.stats.get("skipped", [])  # among them modules, which have no keywords
    skipped = [report for report in skipped if "needs_mirror" in getattr(report, "keywords", ())]
    if skipped:
        terminalreporter.section("DATA TESTS SKIPPED", sep="!", red=True, bold=True)
        advice = "`cofactor datasets fetch` brings them; then set COFACTOR_MIRROR to the folder that holds the files"
        sets = ", ".join(_sets_of(skipped)) or "made on first use"
        said = f"{len(skipped)} tests did NOT run, for want of data that are not bundled ({sets}): {advice}"
        terminalreporter.write_line(said, red=True, bold=True)
