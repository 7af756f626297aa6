"""``cofactor check``: is this machine ready."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from cofactor.core.diagnosis import Check, Diagnosis
from cofactor.core.errors import CofactorError
from cofactor.data import datasets

OLDEST_PYTHON = (3, 11)
SET_UP = "run `python3 kit.py lab`, which sets all of it up"
ROOM = 1e9  # bytes that data sets and results may take
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def check_environment() -> None:
    """Print one line if Python and every package that the kit needs are there and recent enough.

    Else a CofactorError names what is missing or too old, and how to mend it.
    """
    problems = [check.value for check in environment().checks if check.status == "fail"]
    if problems:
        raise CofactorError(f"{'; '.join(problems)}: {SET_UP}")
    print(f"ready: Python and {len(_needed())} packages are recent enough")


def check(arguments: argparse.Namespace) -> None:
    """Print how this machine stands, or folders of shards; one that is not as it should be is an error."""
    if arguments.shards:
        _check_shards(arguments.shards)
        return
    found = environment()
    print(found)
    if found.status == "fail":
        raise CofactorError("this machine is not ready: see above")


def _check_shards(folders: Sequence[Path]) -> None:
    from cofactor_app.scale.shards import LabelShards

    for folder in folders:
        shards = LabelShards.open(folder)
        shards.verify()
        print(f"{folder}: {len(shards.paths)} shards, each as it was written")


def environment() -> Diagnosis:
    """Look at Python, packages, cores, disk, data sets and browser; nothing is changed and nothing downloaded."""
    checks = (_python(), _packages(), _cores(), _disk(), _data(), _browser())
    failed = [check.name for check in checks if check.status == "fail"]
    verdict = f"not ready: see {', '.join(failed)}" if failed else "ready"
    return Diagnosis("this machine", checks, verdict)


def _python() -> Check:
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Check("Python", "fail", f"Python {version} is older than 3.11", "install a newer Python")
    return Check("Python", "pass", f"{version}, {platform.system()} {platform.machine()}")


def _packages() -> Check:
    try:
        needed = _needed()
    except metadata.PackageNotFoundError:  # by PYTHONPATH, say
        return Check("packages", "fail", "cofactor is found, but was never installed", SET_UP)
    problems = [problem for requirement in needed if (problem := _problem(requirement))]
    if problems:
        return Check("packages", "fail", "; ".join(problems), SET_UP)
    return Check("packages", "pass", f"{len(needed)} needed, all recent enough")


def _needed() -> list[Requirement]:
    """Return what the installed kit asks for, by name."""
    listed = [Requirement(line) for line in metadata.requires("cofactor") or []]
    return sorted((requirement for requirement in listed if requirement.marker is None), key=lambda r: r.name)


def _problem(requirement: Requirement) -> str:
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is missing"
    return "" if requirement.specifier.contains(found, prereleases=True) else f"{requirement.name} {found} is too old"


def _cores() -> Check:
    cores = os.cpu_count() or 1
    busy = os.getloadavg()[0] / cores if hasattr(os, "getloadavg") else 0.0
    if busy > 1:
        return Check("processor", "warn", f"{cores} cores, {busy:.1f} tasks waiting for each", "times will be too long")
    return Check("processor", "pass", f"{cores} cores")


def _disk() -> Check:
    free = shutil.disk_usage(os.curdir).free
    if free < ROOM:
        return Check("disk", "warn", f"{free / 1e9:.1f} GB free", f"make room: {ROOM / 1e9:.0f} GB is comfortable")
    return Check("disk", "pass", f"{free / 1e9:.0f} GB free")


def _data() -> Check:
    listed = datasets()
    here = int(listed["offline"].sum())
    if here < len(listed):
        advice = "`cofactor datasets fetch` downloads the rest; the notebooks run without"
        return Check("data sets", "pass", f"{here} of {len(listed)} are here", advice)
    return Check("data sets", "pass", f"all {here} are here")


def _browser() -> Check:
    found = next(filter(shutil.which, BROWSERS), "none: the browser tests are skipped, all else runs")
    return Check("browser for tests", "pass", found)
