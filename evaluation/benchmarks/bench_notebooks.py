"""How long each notebook takes from top to bottom, and how much memory its kernel needs.

Every notebook runs once in a fresh kernel, as for a reader who chooses "Run All Cells"; nothing is stored in it.
"""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from runner import NAN, Bench

from cofactor_app.peak import PROC_STATUS, resident

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
CELL_TIMEOUT = 300


def measure(notebook: nbformat.NotebookNode, folder: Path) -> tuple[float, float]:
    """Run all cells; wall-clock seconds with the start of the kernel, and the kernel's peak in MB (NaN: not told)."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=CELL_TIMEOUT, kernel_name="python3", resources=resources)
    peaks = []
    client.on_cell_executed = lambda **_: peaks.append(peak_of(client.km.provisioner.pid))
    client.widget_registry = {}  # as in tools/refresh_notebooks.py
    start = time.perf_counter()
    client.execute()
    return time.perf_counter() - start, peaks[-1]


def peak_of(process: int) -> float:
    """Highest resident size of a process so far, in MB."""
    return resident("VmHWM", Path(f"/proc/{process}/status")) if PROC_STATUS.exists() else NAN


def main() -> None:
    """Measure every notebook; tiny: one of a single cell."""
    bench = Bench("notebooks")
    if bench.tiny:
        one = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = bytearray(200_000_000)")])
        found = {"tiny": (one, Path.cwd())}
    else:
        found = {path.stem: (nbformat.read(path, as_version=4), path.parent) for path in NOTEBOOKS}
    for name, (notebook, folder) in found.items():
        seconds, peak = measure(notebook, folder)
        bench.add((name, NAN), "all cells", [seconds], memory=(peak, NAN))
    bench.finish()


if __name__ == "__main__":
    main()
