"""Rules for every test: what needs data that are not here is skipped, and said aloud; nothing hangs for ever."""

import os
from pathlib import Path

import pytest

pytest_plugins = ["tests.nbval_tolerance"]

PUBLIC_DATA = "public-data"  # tag of notebook cells whose outputs depend on crowds that are downloaded
TIMEOUT = 600  # seconds; the cells of notebooks have their own, a timeout from outside would break all later cells


def _mirror_missing():
    mirror = os.environ.get("COFACTOR_MIRROR", "")
    return not (mirror and Path(mirror).is_dir())


def _tags(item):
    """Tags of a notebook cell, none of any other test."""
    return item.cell.metadata.get("tags", []) if hasattr(item, "cell") else []


def pytest_collection_modifyitems(items):
    """Without the mirror, skip what needs it and compare no cell about it; limit the time of all but cells."""
    skip = pytest.mark.skip(reason="COFACTOR_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("needs_mirror") and _mirror_missing():
            item.add_marker(skip)
        if PUBLIC_DATA in _tags(item) and _mirror_missing():
            item.options["check"] = False  # it runs, with the crowds that are here: other outputs than those stored
        if not hasattr(item, "cell") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TIMEOUT))


def pytest_terminal_summary(terminalreporter):
    """Say loudly how many data tests did not run."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if "needs_mirror" in report.keywords]
    if skipped:
        terminalreporter.section("DATA TESTS SKIPPED", sep="!", red=True, bold=True)
        advice = "set COFACTOR_MIRROR to the folder that holds the raw files"
        terminalreporter.write_line(f"{len(skipped)} tests on real data did NOT run: {advice}", red=True, bold=True)
