"""Time cofactor and another program in the same run, because ratios carry over to other machines.

    python3 kit.py bench                         all subjects, on an idle machine; writes docs/benchmarks.md, too
    python -m evaluation.benchmarks crowd-kit    one subject; rows of the others are kept (then: -m evaluation pages)
    python -m evaluation.benchmarks show         the kept rows; those of other code say so

A row is a call of cofactor and what it is compared with: another program on the same data, what the call cannot do
without, or the time that a paper prints, of its authors' machine. Times are processor seconds on one thread: the median
of five calls after one that does not count, or of one where a call takes more than `PATIENCE` seconds. `benchmarks.csv`
keeps each row with its commit and with `code_hash`, by which a row of other code is recognised.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import cofactor as cf
from cofactor import simulate
from cofactor.core.files import whole_file
from cofactor.data.published import published
from evaluation.trials import HERE, code_hash, commit

ROWS = HERE / "benchmarks.csv"
REPEATS, PATIENCE = 5, 5.0
ROUNDS = 2, 12  # the time of a round is the slope between these: what a fit does once cancels out
CLASSES, LABELS_A_TASK = 3, 5
NAN = float("nan")
Row = dict[str, Any]


class Unavailable(Exception):
    """A package or a data set that a row needs is missing."""


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> list[float]:
    """Return the seconds of several calls after one that compiles, or of a single call if it takes long."""
    spans: list[float] = []
    while len(spans) < 2 or (len(spans) <= REPEATS and spans[1] <= PATIENCE):
        began = clock()
        call()
        spans.append(clock() - began)
    return spans[1:]


def row(call: str, n: float, spans: list[float], beside: str, others: list[float], peak_mb: float = NAN) -> Row:
    """Make a row of the seconds of several calls for n labels (entries, votes, points), beside those of another."""
    seconds = {"seconds": float(np.median(spans)), "least": min(spans), "most": max(spans)}
    return {"call": call, "n": n, **seconds, "beside": beside, "others": float(np.median(others)), "peak_mb": peak_mb}


def a_round(call: Callable[[int], Any]) -> list[float]:
    """Return the seconds of one round of an iteration."""
    few, many = ROUNDS
    call(few)
    spans = []
    for _ in range(REPEATS):
        began = time.process_time()
        call(few)
        middle = time.process_time()
        call(many)
        spans.append((time.process_time() - 2 * middle + began) / (many - few))
    return spans


def needed(package: str) -> Any:
    """Import a package of the extra `bench`."""
    try:
        return import_module(package)
    except ImportError as error:
        raise Unavailable(f"{package} is not installed: {error}") from None


# ---- subjects: functions of the size (a number of labels; small in tests) that yield rows ----


def start_up(size: int) -> Iterator[Row]:
    """Processor seconds of new processes, beside the import of pandas in as many."""

    def process(code: str) -> Callable[[], object]:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=env)

    def children() -> float:
        return os.times().children_user + os.times().children_system

    others = timed(process("import pandas"), children)
    yield row("import cofactor", NAN, timed(process("import cofactor"), children), "import pandas", others)
    for command in ("--version", "aggregate bluebird", "rank food"):
        code = f"from cofactor_app.cli import main; assert not main({command.split()})"
        yield row(f"cofactor {command}", NAN, timed(process(code), children), "import pandas", others)


WAYS = {  # what is run on a file in a new process, which then prints its processor seconds and its peak
    "aggregate": "from cofactor_app.cli import main; assert not main(['aggregate', {source!r}, '-o', {output!r}])",
    "vote": "import duckdb; duckdb.sql('SET threads = 1'); source, output = {source!r}, {output!r}; "
    "duckdb.sql(f'COPY (SELECT task, mode(label) FROM {{source!r}} GROUP BY task) TO {{output!r}}')",
}
MEASURED = "; import os; from cofactor_app.peak import resident; print(sum(os.times()[:2]), resident('VmHWM'))"


def sizes(size: int) -> Iterator[Row]:
    """The whole command, from parquet to parquet in a new process, beside the majority vote of DuckDB on the file."""
    for n in [10**power for power in range(5, 9) if 10**power <= size] or [size]:
        with TemporaryDirectory() as folder:
            files = {"source": f"{folder}/labels.parquet", "output": f"{folder}/consensus.parquet"}
            written(Path(files["source"]), n)
            found = {}
            for name, code in WAYS.items():
                command = [sys.executable, "-c", code.format(**files) + MEASURED]
                runs = []
                for _ in range(3 if n < 10**7 else 1):
                    runs.append(subprocess.check_output(command, text=True).split()[-2:])
                    Path(files["output"]).unlink()
                found[name] = np.array(runs, dtype=float).T
            (spans, peaks), (votes, _) = found["aggregate"], found["vote"]
            yield row(f"aggregate {n:.0e} labels", n, spans.tolist(), "vote by DuckDB", votes.tolist(), peaks.max())


def written(path: Path, n: int) -> None:
    """Write n simulated labels of 2,000 workers, or of 20,000 from 10^8 labels on, part by part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    workers, part = 20_000 if n >= 10**8 else 2_000, min(n, 10**7)
    model = simulate.dawid_skene_model(workers, CLASSES, skill=0.5, random_state=0)
    writer = None
    for number in range(n // part):
        made = simulate.large_crowd(model, part // LABELS_A_TASK, LABELS_A_TASK, activity=0.5, random_state=number)
        table = made.labels.table
        columns = table.rows + number * (part // LABELS_A_TASK), table.variables, table.values
        block = pa.table([np.asarray(column, dtype=np.int32) for column in columns], ["task", "worker", "label"])
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    assert writer is not None
    writer.close()


def crowd_kit(size: int) -> Iterator[Row]:
    """A round of EM, and whole methods, beside those of crowd-kit on the same labels."""
    kit = needed("crowdkit.aggregation")
    model = simulate.dawid_skene_model(2_000 if size >= 10**5 else 20, 4, skill=0.5, random_state=0)
    drawn = simulate.large_crowd(model, min(size, 10**6) // LABELS_A_TASK, LABELS_A_TASK, activity=0.0, random_state=1)
    real = "trec" if size >= 10**5 else "bluebird"
    for name, labels in {real: loaded(real).labels, "simulated": drawn.labels}.items():
        table = labels.table
        frame, n = pd.DataFrame({"task": table.rows, "worker": table.variables, "label": table.values}), labels.n_labels
        ours = a_round(lambda rounds, labels=labels: cf.crowd.METHODS["MV-EM"](max_iter=rounds, tol=0.0).fit(labels))
        theirs = a_round(lambda rounds, frame=frame: kit.DawidSkene(n_iter=rounds, tol=-np.inf).fit_predict(frame))
        yield row(f"{name}: a round of EM", n, ours, "DawidSkene", theirs)
        for method, other in (("MajorityVote", "MajorityVote"), ("MV-EM", "DawidSkene"), ("WorkerTypes", "DawidSkene")):
            theirs = timed(partial(getattr(kit, other)().fit_predict, frame))
            ours = timed(lambda method=method, labels=labels: cf.crowd.METHODS[method]().fit(labels).predict(labels))
            yield row(f"{name}: {method}", n, ours, other, theirs)


def merit(size: int) -> Iterator[Row]:
    """A step of MERIT beside the product X'R of the same size in double precision, without which it cannot do."""
    for M, N, K in ((50, 10_000, 40), (6, 6_437, 6)) if size >= 10**5 else ((6, 300, 6),):
        X = simulate.dirichlet_mixtures(M, N, K, 10.0, random_state=0).X
        product = timed(lambda X=X, N=N: [X[:, start : start + 1000].T @ X for start in range(0, N, 1000)])
        steps = a_round(lambda count, X=X, K=K: cf.separable.merit(X, K, lam=0.1, n_iter=count, n_jobs=1))
        yield row(f"a step, {M} x {N}", N, steps, "numpy's X'R", product)


def comparisons(size: int) -> Iterator[Row]:
    """Rankings of votes between 200 items beside choix and evalica; a pass over comparisons beside PyTorch."""
    n, m, rng = 200 if size >= 10**5 else 8, min(size, 10**6), np.random.default_rng(0)
    u = rng.standard_normal(n)
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    won = rng.random(m) < 1 / (1 + np.exp(u[right] - u[left]))
    winner, loser = np.where(won, left, right), np.where(won, right, left)
    ours = timed(partial(cf.rank, pd.DataFrame({"winner": winner, "loser": loser})))
    for name, call in {"choix": _choix, "evalica": _evalica}.items():
        try:
            theirs = timed(call(n, winner, loser))
        except Unavailable as reason:
            print(f"!!! {reason}", file=sys.stderr, flush=True)
            continue
        yield row("rank, with intervals", m, ours, f"{name}, without", theirs)
    users, items, rank = (2_000, 3_000, 3) if size >= 10**5 else (50, 40, 3)
    U, V = simulate.comparison_factors(users, items, rank, random_state=0)
    data = simulate.draw_comparisons(U, V, min(size, 10**5), "binary", random_state=1)
    objective = cf.comparisons.Objective(data, rank, balance=0.0, n_threads=1)
    spans = timed(partial(objective, objective.join(1.1 * U, 0.9 * V)))
    theirs = timed(_autograd(data, 1.1 * U, 0.9 * V))
    yield row("loss and gradient", len(data), spans, "PyTorch's autograd", theirs)


def _choix(n: int, winner: Any, loser: Any) -> Callable[[], object]:
    pairs = list(zip(winner.tolist(), loser.tolist(), strict=True))
    return partial(needed("choix").ilsr_pairwise, n, pairs)


def _evalica(n: int, winner: Any, loser: Any) -> Callable[[], object]:
    kit = needed("evalica")
    names = [f"item {k:03d}" for k in range(n)]
    pairs = [names[k] for k in winner], [names[k] for k in loser]
    return partial(kit.bradley_terry, *pairs, [kit.Winner.X] * len(winner), tolerance=1e-9, limit=10_000)


def _autograd(data: Any, U: Any, V: Any) -> Callable[[], object]:
    torch = needed("torch")
    torch.set_num_threads(1)
    u, i, j = (torch.from_numpy(code.astype("int64")) for code in (data.user, data.left, data.right))
    w, A, B = torch.from_numpy(data.outcome), torch.tensor(U, requires_grad=True), torch.tensor(V, requires_grad=True)

    def call() -> object:
        A.grad = B.grad = None
        z = (A[u] * (B[i] - B[j])).sum(dim=1)
        torch.nn.functional.binary_cross_entropy_with_logits(z, w).backward()
        return A.grad

    return call


def authors_joint(size: int) -> Iterator[Row]:
    """Fits at the size of the joint-PMF paper's Table 6 beside the times printed there."""
    variables, values, rank = (15, 10, 10) if size >= 10**5 else (4, 3, 2)
    truth = simulate.joint_model(variables, values, rank, random_state=0)
    table = simulate.joint_table(truth, min(size, 10**5), observed=0.5, random_state=0)
    for method, seconds in printed("pmf_table6", "N=15,F=10,I=10").items():
        if method in ("CNMF-SPA", "CNMF-OPT", "CNMF-SPA-EM", "CTD"):
            fit = partial(cf.pmf.METHODS[method](rank=rank, random_state=0).fit, table)
            yield row(f"{method}, {variables} variables", table.n_entries, timed(fit), "Table 6, joint PMF", [seconds])


def authors_crowd(size: int) -> Iterator[Row]:
    """From labels to classes on the largest set of the crowd paper beside the times printed there."""
    name, where = ("trec", "crowd_table5") if size >= 10**5 else ("bluebird", "crowd_table4")
    labels = loaded(name).labels
    for method, seconds in printed(where, name).items():
        if method in cf.crowd.METHODS and not (method.startswith("MV-") or "SymNMF(" in method):
            make = cf.crowd.METHODS[method]
            spans = timed(lambda make=make: make(random_state=0).fit(labels).predict(labels))
            yield row(f"{method}, {name}", labels.n_labels, spans, f"Table {where[-1]}, crowd", [seconds])


def printed(table: str, setting: str) -> dict[str, float]:
    """Return the seconds that a paper prints, by method."""
    facts = published(table)
    mine = facts[(facts["metric"] == "seconds") & (facts["setting"] == setting) & facts["value"].notna()]
    return dict(zip(mine["method"], mine["value"], strict=True))


def loaded(name: str) -> Any:
    """Load a data set."""
    try:
        return cf.load(name)
    except cf.DatasetUnavailableError as reason:
        raise Unavailable(str(reason)) from None


SUBJECTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "start-up": start_up,
    "size": sizes,
    "crowd-kit": crowd_kit,
    "MERIT": merit,
    "comparisons": comparisons,
    "joint-pmf": authors_joint,
    "crowd": authors_crowd,
}


# ---- rows: measured, kept, shown ----


def measure(subject: str, size: int) -> pd.DataFrame:
    """Measure a subject; packages that are not installed are named on standard error."""
    found = []
    try:
        for one in SUBJECTS[subject](size):
            load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else NAN
            found.append({"subject": subject, **one, "load": load, "commit": commit(), "code": code_hash()})
            print(
                f"{subject}: {one['call']}: {one['seconds']:.3g} s, {one['beside']} {one['others']:.3g} s", flush=True
            )
    except Unavailable as reason:
        print(f"!!! {subject}: {reason}", file=sys.stderr, flush=True)
    return pd.DataFrame(found)


def kept(path: Path = ROWS) -> pd.DataFrame:
    """Read kept rows; a hash that has digits alone is no number."""
    return pd.read_csv(path, dtype={"commit": str, "code": str})


def shown(rows: pd.DataFrame, code: str = "") -> list[dict[str, str]]:
    """Return rows as texts; with the hash of today's code, a row of another says so."""

    def text(value: float, form: str = ".3g") -> str:
        return "" if np.isnan(value) else f"{value:{form}}"

    return [
        {
            "subject": one.subject,
            "call": one.call,
            "seconds": f"{one.seconds:.3g} ({one.least:.3g} to {one.most:.3g})",
            "beside": f"{one.beside} ({one.others:.3g})",
            "times as fast": text(one.others / one.seconds),
            "ns for each": text(1e9 * one.seconds / one.n),
            "peak MB": text(one.peak_mb, ".0f"),
            "load": text(one.load, ".1f"),
            "commit": one.commit + (", measured on older code" if code not in ("", one.code) else ""),
        }
        for one in rows.itertuples()
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure the chosen subjects and store the rows, or show the stored rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)} (default: all), or show")
    parser.add_argument("--size", type=int, default=10**8, help="most labels (default 10^8); few: a trial")
    parser.add_argument("--output", type=Path, default=ROWS, help="the table of rows")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.subjects) - {*SUBJECTS, "show"}:
        parser.error(f"no subject {', '.join(sorted(unknown))}; there are {', '.join(SUBJECTS)}")
    if asked.subjects == ["show"]:
        print(pd.DataFrame(shown(kept(asked.output), code_hash())).to_string(index=False))
        return 0
    for subject in asked.subjects or SUBJECTS:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rounds that end early, and of workers who share no task
            now = measure(subject, asked.size)
        if len(now) and asked.output.exists():
            before = kept(asked.output)
            now = pd.concat([before[before["subject"] != subject], now])
        if len(now):
            with whole_file(asked.output) as part:
                now.to_csv(part, index=False, float_format="%.4g", lineterminator="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
