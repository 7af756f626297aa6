"""What a time depends on besides the code: machine, versions, date, commit. No host names, no paths."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

PROJECT = Path(__file__).resolve().parents[1]
CPUINFO = Path("/proc/cpuinfo")
PACKAGES = ("cofactor", "numpy", "scipy", "scikit-learn", "numba", "torch", "crowd-kit")


def facts() -> dict[str, str]:
    """Describe machine and software, one word or phrase per column of the results."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "blas": blas(),
    }


def where() -> dict[str, str]:
    """Return when and where something is made; the commit is that of the code which this process began with."""
    return {"date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"), **_place()}


@cache
def _place() -> dict[str, str]:
    return {name: text for name, text in facts().items() if name in ("commit", "cpu", "cores", "os", "blas")}


def load() -> float:
    """Return the load of the last minute: above one, something else was running too."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else float("nan")


def commit() -> str:
    """Return the short hash of the commit, "-dirty" where code differs from it, "uncommitted" outside a clone."""
    head = git("rev-parse", "--short", "HEAD")
    changed = git("status", "--porcelain", "--", ":/*.py")  # the results themselves change in every run
    if not head:
        return "uncommitted"
    return f"{head}-dirty" if changed else head


def git(*arguments: str) -> str:
    """Return what git says about the project; nothing where there is no git, no clone or no commit."""
    if not (PROJECT / "kit.py").exists():  # installed: a clone around it would be somebody else's
        return ""
    try:
        answer = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def cpu_model() -> str:
    """Name the processor."""
    if CPUINFO.exists():
        for line in CPUINFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def version(package: str) -> str:
    """Return the installed version, or "absent"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def blas() -> str:
    """Name the BLAS that NumPy was built with, its kernel (the code for a family of processors), and its threads."""
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    kernels = ", ".join(sorted({pool["architecture"] for pool in pools if "architecture" in pool})) or "kernel unknown"
    threads = max((pool["num_threads"] for pool in pools), default=1)
    return f"{built['name']} {built['version']} ({kernels}), {threads} threads"
