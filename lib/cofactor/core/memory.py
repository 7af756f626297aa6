"""How much memory is free, and the error where a computation would need more."""

from __future__ import annotations

import os
from pathlib import Path

from cofactor.core.errors import CofactorError

MEMINFO = Path("/proc/meminfo")


def available_bytes() -> float:
    """Return the memory that is free or can be freed; infinity where the system does not tell."""
    if MEMINFO.exists():
        line = next(line for line in MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
        return 1024.0 * int(line.split()[1])
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return float("inf")


def require_bytes(needed: float, what: str, advice: str = "ask for less") -> None:
    """Raise a CofactorError where `needed` bytes exceed the free memory; it says how many, and what to do."""
    free = available_bytes()
    if needed > free:
        told = f"{needed / 1e9:.1f} GB ({needed:.0f} bytes)"
        raise CofactorError(f"{what} would take {told}, and {free / 1e9:.1f} GB are free: {advice}")
