"""How long commands take until they answer, beside what the imports of numpy and pandas take in the same run.

CPU seconds of new processes, Python's own start included: a busy machine makes all of them longer, but hardly changes
their ratios. Byte code and compiled code are there, as from the second call on, and are kept even where the environment
says that byte code is not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from runner import NAN, Bench, Reference

MAIN = "from cofactor_app.cli import main; main({})"
IMPORTS = ("numpy", "pandas")
STARTS = {
    "--version": MAIN.format(["--version"]),
    "import, load bluebird": "import cofactor as cf; cf.load('bluebird')",
    "aggregate bluebird": MAIN.format(["aggregate", "bluebird"]),
    "diagnose bluebird": MAIN.format(["diagnose", "bluebird"]),
}


def children() -> float:
    """CPU seconds, user and system, of the processes that have ended so far."""
    times = os.times()
    if os.name == "nt":  # keeps no account of children
        return time.perf_counter()
    return times.children_user + times.children_system


def start(code: str) -> None:
    """Run some code in a new process."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=env)


def main() -> None:
    """Measure two imports, then what users wait for, each beside both."""
    bench = Bench("startup", clock=children)
    references = []
    for name in IMPORTS:
        bench.measure((name, NAN), "import", lambda code=f"import {name}": start(code))
        references.append(Reference(bench.rows[-1].seconds_median, f"import {name}"))
    for stage, code in STARTS.items():
        _, seconds = bench.time(lambda code=code: start(code))
        for reference in references:
            bench.add(("cofactor", NAN), stage, seconds, reference=reference)
    bench.finish()


if __name__ == "__main__":
    main()
