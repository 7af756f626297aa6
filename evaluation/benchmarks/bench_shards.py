"""Labels that do not fit into memory: shard, count, aggregate, by the command line, in processes of their own.

A simulated crowd of 1,000 annotators and four classes, five labels per task, all annotators equally busy. Ten million
labels; with --huge a hundred million instead (it needs 6 GB of disk in TMPDIR), with --billion ten times as many, which
begin as shards and not as a file (8 GB); the rows of the others stay as they were. Seconds are CPU seconds of the
command and of the processes it starts, start-up and imports (some 3 s) included, or, where it says so, those of the
clock on the wall; peak memory is the highest sum of their resident sizes. What the commands do with one shard is
measured in this process, beside the times per label that were set for a single core, and so is one round over all
shards.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from runner import NAN, Bench, Reference

import cofactor as cf
from cofactor import simulate
from cofactor.core.em import expectation
from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.core.moments import counted_arrays
from cofactor.crowd.base import error_rate
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.moments import CrowdMoments, save_moments
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.shards import LabelShards, write_vocabulary
from cofactor_app.scale.threads import Threads

TASKS_PER_SHARD, LABELS_PER_TASK, N_CLASSES = 200_000, 5, 4
N_SHARDS = {"large": 10, "huge": 100, "billion": 1000}
TICK = 0.05  # seconds between two looks at the memory


def simulate_shards(folder: Path, n_shards: int, tasks_per_shard: int, n_workers: int) -> tuple[int, np.ndarray]:
    """Write a folder of shards, two at a time; the number of labels, and the true classes."""
    folder.mkdir()
    model = simulate.dawid_skene_model(n_workers, N_CLASSES, skill=0.5, random_state=0)
    calls = (delayed(simulate_shard)(folder, model, tasks_per_shard, number) for number in range(n_shards))
    sizes, truth = zip(*Parallel(n_jobs=2)(calls), strict=True)
    write_vocabulary(folder, range(n_workers), range(N_CLASSES))
    return sum(sizes), np.concatenate(truth)


def simulate_shard(folder: Path, model: LatentClassModel, n_tasks: int, number: int) -> tuple[int, np.ndarray]:
    """Write one shard; its number of labels, and the true classes."""
    crowd = simulate.large_crowd(model, n_tasks, LABELS_PER_TASK, activity=0.0, random_state=number)
    table = crowd.labels.table
    columns = {"task": table.rows + number * n_tasks, "worker": table.variables, "label": table.values}
    frame = pd.DataFrame(columns).astype({"worker": np.int32, "label": np.int32})
    frame.to_parquet(folder / f"shard-{number:03}.parquet", index=False)
    return len(frame), crowd.truth.astype(np.int8)


def write_csv(folder: Path, output: Path, n_parts: int = 10) -> None:
    """Write the labels of shards as a CSV file in which tasks are scattered."""
    paths = sorted(folder.glob("*.parquet"))
    for part in range(n_parts):
        frame = pd.concat([pd.read_parquet(path).iloc[part::n_parts] for path in paths])
        frame = frame.sample(frac=1, random_state=part)
        frame.to_csv(output, mode="a", header=part == 0, index=False)


def command(*arguments: object) -> tuple[float, float, float]:
    """Run one command of cofactor; CPU seconds, seconds, and peak memory in MB, of it and all it starts."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words, start = [sys.executable, "-m", "cofactor", *map(str, arguments)], time.perf_counter()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    peak, ended = 0.0, (0, 0, None)
    while not ended[0]:
        peak = max(peak, tree_memory(process.pid))
        time.sleep(TICK)
        ended = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return ended[2].ru_utime + ended[2].ru_stime, time.perf_counter() - start, peak


def tree_memory(pid: int) -> float:
    """Sum the resident sizes of a process and its descendants, in MB; shared pages count in each."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has gone, or there is no /proc
        return 0.0
    return pages * resource.getpagesize() / 1e6 + sum(tree_memory(int(child)) for child in children)


def bench_commands(bench: Bench, data: tuple[str, int], folder: Path, truth: np.ndarray) -> None:
    """Measure the commands one after the other, as a user would run them."""
    moments, consensus = folder.with_name("moments.npz"), folder.with_name("consensus.parquet")

    def measure(stage: str, *arguments: object, error: float = NAN) -> None:
        seconds, wall, peak = command(*arguments)
        if stage.startswith("Rob"):
            frame = pd.read_parquet(consensus, columns=["task", "label"])
            error = error_rate(frame["label"].to_numpy(), truth[frame["task"].to_numpy()])
        bench.add(data, stage, [seconds], error, memory=(peak or NAN, NAN))
        bench.add(data, f"{stage}, on the wall", [wall])

    grouped = folder
    if data[0] != "billion":
        csv, grouped = folder.with_name("labels.csv"), folder.with_name("grouped")
        write_csv(folder, csv)
        measure("shard", "shard", csv, "-o", grouped)
    em = ("aggregate", grouped, "--moments", moments, "--method", "RobSymNMF-EM", "-o", consensus, "--force")
    measure("moments, 2 jobs", "moments", grouped, "-o", moments, "--jobs", 2)
    measure("RobSymNMF-EM, 2 jobs", *em, "--jobs", 2)
    if data[0] == "billion":
        return
    measure("moments", "moments", grouped, "-o", moments, "--force")
    measure("RobSymNMF-EM", *em)


def bench_rounds(bench: Bench, data: tuple[str, int], folder: Path) -> None:
    """Measure one round over all shards, decoded before, by one thread and two: wall seconds."""
    shards = LabelShards.open(folder)
    start = CrowdMoments.of(shards.read(shards.paths[0])).votes.model()
    bench.clock = time.perf_counter

    def measure(stage: str, threads: Threads, reference: Reference | None = None) -> Reference:
        evidence = Evidence(Passes(shards, threads, memory=float("inf")))
        bench.measure(data, f"one round: {stage}, on the wall", lambda: evidence.e_step(start), reference=reference)
        return bench.last(stage)

    measure("2 threads", Threads(2), measure("1 thread", Threads(1)))
    bench.clock = time.process_time


def bench_one_shard(bench: Bench, name: str, folder: Path) -> None:
    """Measure what the commands do with one shard, without their start-up."""
    shards = LabelShards.open(folder)
    labels = shards.read(shards.paths[0])
    model = CrowdMoments.of(labels).votes.model()
    calls = {
        "read": lambda: shards.read(shards.paths[0]),
        "count pairs": lambda: counted_arrays(labels.table),
        "count and keep": lambda: save_moments(folder.with_name("one.npz"), labels),
        "E-step": lambda: expectation(labels.table, model),
        "MAP": lambda: map_class(model.posterior(labels.table), model.prior),
    }
    for what, call in calls.items():
        bench.measure((name, labels.n_labels), f"one shard: {what}", call)


def main() -> None:
    """Run everything on one crowd, or two."""
    words = [word for word in sys.argv[1:] if word.removeprefix("--") not in N_SHARDS]
    bench = Bench("shards", words, clock=time.process_time)
    asked = [name for name in N_SHARDS if f"--{name}" in sys.argv] or ["large"]
    n_shards = {"tiny": 3} if bench.tiny else {name: N_SHARDS[name] for name in asked}
    tasks_per_shard, n_workers = (1000, 30) if bench.tiny else (TASKS_PER_SHARD, 1000)
    for name, number in n_shards.items():
        with tempfile.TemporaryDirectory(prefix="cofactor-shards-") as folder:
            shards = Path(folder) / "shards"
            n_labels, truth = simulate_shards(shards, number, tasks_per_shard, n_workers)
            print(f"{name}: {n_labels} labels, cofactor {cf.__version__}", flush=True)
            if name in ("tiny", "large"):  # the shards of the others are the same
                bench_one_shard(bench, name, shards)
                bench_rounds(bench, (name, n_labels), shards)
            bench_commands(bench, (name, n_labels), shards, truth)
    bench.finish(others=N_SHARDS)


if __name__ == "__main__":
    main()
