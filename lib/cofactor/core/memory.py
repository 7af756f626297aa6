"""How much memory is free, and the error where a computation would need more."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cofactor.core.errors import CofactorError

MEMINFO = Path("/proc/meminfo")
PROCESS = Path("/proc/self/statm")  # its first number: pages of address space
GROUPS = (  # of a container: its limit, and what is in use by the word that begins the line
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.stat"), "anon"),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.stat"), "total_rss"),
)


def available_bytes() -> float:
    """Return the memory that this process may still take; infinity where the system does not tell.

    It is the least of what is free or can be freed, what the limit of a container leaves, and what that of the process
    leaves (`ulimit -v`).
    """
    return max(0.0, min(_free(), *_left_in_groups(), _left_to_process()))


def _free() -> float:
    if MEMINFO.exists():
        line = next(line for line in MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
        return 1024.0 * int(line.split()[1])
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return float("inf")


def _left_in_groups() -> list[float]:
    left = []
    for limit, stat, word in GROUPS:
        with suppress(OSError, ValueError):  # no such group, or one without a limit ("max")
            used = dict(line.split() for line in stat.read_text().splitlines())[word]
            left.append(float(int(limit.read_text()) - int(used)))
    return left


def _left_to_process() -> float:
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return float("inf")
        return float(limit - int(PROCESS.read_text().split()[0]) * resource.getpagesize())
    except (ImportError, OSError):
        return float("inf")


def require_bytes(needed: float, what: str, advice: str = "ask for less") -> None:
    """Raise a CofactorError where `needed` bytes exceed the free memory; it says how many, and what to do."""
    free = available_bytes()
    if needed > free:
        told = f"{needed / 1e9:.1f} GB ({needed:.0f} bytes)"
        raise CofactorError(f"{what} would take {told}, and {free / 1e9:.1f} GB are free: {advice}")
