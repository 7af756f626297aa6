"""Peak memory of one call, in a fresh process.

The child reads its own VmHWM, the highest resident size since it was last reset. What `getrusage` reports is
inherited when a process starts another, and would show the peak of a large parent instead. Linux only.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure_peak(call: str, warm: dict[str, Any], **arguments: Any) -> dict[str, float] | None:
    """Run `call` ("module:function" of this folder) in a new interpreter, first with `warm`, then with `arguments`.

    The warm-up takes imports, loading of compiled code and BLAS buffers out of `seconds`. Returns `seconds`,
    `base_mb` (resident before the call) and `peak_mb` (highest resident size of the whole process during it), or None
    where /proc does not tell.
    """
    if not CLEAR_REFS.exists():
        return None
    job = json.dumps({"call": call, "warm": warm, "arguments": arguments})
    answer = subprocess.run([sys.executable, __file__], cwd=HERE, input=job, stdout=subprocess.PIPE, text=True)
    answer.check_returncode()
    figures: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def child() -> None:
    """Do the job on standard input, print the figures as JSON."""
    job = json.load(sys.stdin)
    module, name = job["call"].split(":")
    function = getattr(importlib.import_module(module), name)
    function(**job["warm"])
    CLEAR_REFS.write_text("5")  # VmHWM := VmRSS
    base, start = resident("VmRSS"), time.perf_counter()
    function(**job["arguments"])
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "base_mb": base, "peak_mb": resident("VmHWM")}))


def resident(key: str, status: Path = STATUS) -> float:
    """Read a size of this process (or of the one whose status file is given) from /proc, in MB."""
    line = next(line for line in status.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    child()
