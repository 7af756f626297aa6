"""Run notebooks under each kernel of OpenBLAS, and say which stored numbers move and by how much.

usage: python3 kit.py kernels [notebook ...] [--kernels Nehalem ...] [--threads 1 ...]

A kernel is OpenBLAS's code for one family of processors; kernels sum in another order, so the last bits differ. What
nbval would not take as equal is printed: as stored, and as found. A kernel that this processor cannot run is left
out, and so is a name for one that has run: Zen's is Haswell's. Exit 1 when something moved.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat

from tests.nbval_tolerance import approx, moves
from tools.refresh_notebooks import ROOT, UNCHECKED, executed

KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
THREADS = (1, 2)
COMPARED = ("text/plain", "text/html", "text/x-fingerprint")
NEEDS_DATA, MIRROR = "public-data", "COFACTOR_MIRROR"
ASK = """
import numpy, scipy.linalg, threadpoolctl
a = numpy.random.default_rng(0).normal(size=(300, 300))
scipy.linalg.svd(numpy.linalg.inv(a) @ a)  # what the processor cannot run ends the process here
pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(*sorted({pool.get("architecture", "unnamed") for pool in pools}))
"""


def main():
    """Run what is named on the command line, or all notebooks under all kernels; exit 1 when something moved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=sorted((ROOT / "notebooks").glob("*.ipynb")))
    parser.add_argument("--kernels", nargs="+", default=KERNELS, metavar="KERNEL")
    parser.add_argument("--threads", nargs="+", type=int, default=THREADS, metavar="THREADS")
    options = parser.parse_args()
    red = 0
    for kernel in distinct(options.kernels):
        for threads in options.threads:
            choose(kernel, threads)
            for path in options.paths:
                red += report(path.resolve(), f"{kernel}, threads: {threads}")
    return int(red > 0)


def choose(kernel, threads):
    """Let what is started from here run this kernel; leave no other setting of OpenBLAS."""
    for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:
        del os.environ[name]
    os.environ |= {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": str(threads)}


def distinct(kernels):
    """Those of the kernels that run here, each once; say what becomes of the others."""
    ran = {}
    for kernel in kernels:
        choose(kernel, 1)
        answer = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True)
        runs = answer.stdout.strip()
        if answer.returncode:
            print(f"{kernel}: this processor cannot run it", flush=True)
        elif runs in ran:
            print(f"{kernel}: OpenBLAS runs {runs}, as for {ran[runs]}", flush=True)
        else:
            print(f"{kernel}: OpenBLAS runs {runs}", flush=True)
            ran[runs] = kernel
    return list(ran.values())


def report(path, where):
    """Run a notebook and print what moved; how many cells did."""
    start = time.perf_counter()
    stored, new = nbformat.read(path, as_version=4), nbformat.reads(executed(path), as_version=4)
    found = {k: lines for k, pair in enumerate(zip(stored.cells, new.cells, strict=True)) if (lines := moved(*pair))}
    verdict = f"moved: cells {', '.join(map(str, found))}" if found else "green"
    print(f"{path.name} | {where} | {verdict} | {time.perf_counter() - start:.0f} s", flush=True)
    for k, lines in found.items():
        print(*(f"  cell {k}: {line}" for line in lines), sep="\n", flush=True)
    return len(found)


def moved(stored, new):
    """What nbval would not take as equal of the outputs of one cell, as lines."""
    tags = stored.metadata.get("tags", [])
    if UNCHECKED in tags or (NEEDS_DATA in tags and not Path(os.environ.get(MIRROR) or "-").is_dir()):
        return []
    old, now = texts(stored), texts(new)
    if old.keys() != now.keys():
        return [f"outputs {sorted(old)} -> {sorted(now)}"]
    return [line for key in old for line in moves(approx(old[key], tags), approx(now[key], tags))]


def texts(cell):
    """Texts of all outputs of a cell, by kind and number."""
    outputs = list(enumerate(cell.get("outputs", [])))
    streams = {(output.name, k): output.text for k, output in outputs if output.output_type == "stream"}
    data = [(kind, k, value) for k, output in outputs for kind, value in output.get("data", {}).items()]
    return streams | {(kind, k): value for kind, k, value in data if kind in COMPARED}


if __name__ == "__main__":
    sys.exit(main())
