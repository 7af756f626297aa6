"""Peak memory of one call, in a fresh process.

The child reads its own VmHWM, the highest resident size since the last reset. `getrusage` cannot be used, because a new
process inherits its value and would report the peak of a large parent, such as a notebook. Memory that is allocated but
never touched does not count. Linux only.

This file is also the child: it runs as a script and imports NumPy and whatever the call needs.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

PROC_STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
ARRAY = "array in a file"


def measure_peak(
    call: str, warm: dict[str, Any], folder: str | Path | None = None, **arguments: Any
) -> dict[str, float] | None:
    """Run a call in a new interpreter, first with `warm`, then with `arguments`, and measure its memory.

    Parameters
    ----------
    call : str
        "module:function".
    warm, arguments
        Keyword arguments: JSON values, or arrays, which are passed in files and read as part of the call. The warm-up
        keeps imports, the loading of compiled code and BLAS buffers out of the measurement.
    folder : path, optional
        A folder to add to the module search path.

    Returns
    -------
    `seconds`, `base_mb` (resident before the call) and `peak_mb` (highest resident size of the process during the call;
    1 MB is a million bytes); None if /proc does not have them. A call that fails raises
    subprocess.CalledProcessError and reports why on standard error.
    """
    if not CLEAR_REFS.exists():
        return None
    with TemporaryDirectory() as files:
        stored = {"warm": _stored(warm, Path(files, "warm")), "arguments": _stored(arguments, Path(files, "arguments"))}
        job = {"call": call, "folder": str(folder or "")} | stored
        command = [sys.executable, "-P", __file__]  # -P: what lies beside this file must not pass for other packages
        answer = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True)
    answer.check_returncode()
    figures: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def resident(key: str, status: Path = PROC_STATUS) -> float:
    """Return a memory size of this process, or of the one with the given status file, from /proc in MB."""
    line = next(line for line in status.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024 / 1e6


def _stored(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Write arrays to files, and name the file in the place of each."""
    folder.mkdir()
    stored = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value, allow_pickle=False)
            stored[name] = {ARRAY: str(folder / f"{name}.npy")}
    return stored


def _loaded(arguments: dict[str, Any]) -> dict[str, Any]:
    files = {name: value[ARRAY] for name, value in arguments.items() if isinstance(value, dict) and ARRAY in value}
    return arguments | {name: np.load(file, allow_pickle=False) for name, file in files.items()}


def _child() -> None:
    """Do the job on standard input, print the figures as JSON."""
    job = json.load(sys.stdin)
    if job["folder"]:
        sys.path.insert(0, job["folder"])
    module, name = job["call"].split(":")
    function = getattr(importlib.import_module(module), name)
    function(**_loaded(job["warm"]))
    CLEAR_REFS.write_text("5")  # VmHWM := VmRSS
    base, start = resident("VmRSS"), time.perf_counter()
    function(**_loaded(job["arguments"]))
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "base_mb": base, "peak_mb": resident("VmHWM")}))


if __name__ == "__main__":
    _child()
