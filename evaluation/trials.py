"""Trials: run, kept, and compared with what the code of today gives.

A run writes one line of JSON to FOLDER/NAME.jsonl for each trial that is finished, so that a killed run loses only
trials under way. What is kept for good stands in `reproduced`: NAME.npz has all trials, and NAME.json the commit, the
hash of the code and the versions that made them. Tables, pictures and pages are made from these.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import json
import multiprocessing
import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info

import cofactor
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import progress
from cofactor.core.files import from_json, locked, make_folder, whole_file
from evaluation.experiment import Experiment, one_trial

HERE = Path(__file__).parent
KEPT = HERE / "reproduced"
COLUMNS = ["setting", "trial", "method", "metric", "value", "seconds", "error"]
TEXTS = ("setting", "method", "metric", "error")  # columns that are kept as codes
TRIAL = ["setting", "trial"]
WATCH = 2.0  # seconds between two looks at whether the parent process is alive
NUMBER = ["setting", "trial", "method", "metric"]
LINES = ("crowd", "pmf", "separable", "comparisons")
VERSIONS = ("numpy", "scipy", "scikit-learn", "numba")

# ---- running ----


def run(
    experiment: Experiment, folder: Path, trials: int | None = None, jobs: int = 1, verbose: bool = False
) -> pd.DataFrame:
    """Run what is missing of an experiment, and return all of its trials.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Of results: NAME.jsonl. Trials that other code made are run again.
    trials : int, optional
        Of every setting; default: those of the paper.
    jobs : int
        Processes; -1 for one per core.
    verbose : bool
        Show a progress bar on a terminal.

    Returns
    -------
    DataFrame as of `raw_trials`, first trials first

    Raises
    ------
    CofactorError
        No trials asked for, the folder cannot be written, another run writes to it, or trials failed: they are named.
    """
    count = experiment.trials if trials is None else trials
    if count < 1 or jobs == 0:
        raise CofactorError(f"trials={count}, jobs={jobs}: ask for at least one of each (jobs=-1: one per core)")
    make_folder(folder)
    path, code = folder / f"{experiment.name}.jsonl", code_hash()
    with locked(path):
        done = {(line["setting"], line["trial"]): line for line in _lines(path) if line["code"] == code}
        text = "".join(json.dumps(line) + "\n" for line in done.values())
        if path.exists() and path.read_bytes() != text.encode():  # half a line, or what other code made
            with whole_file(path) as part:
                part.write_text(text, encoding="utf8")
        tasks = [(setting, trial) for trial in range(count) for setting in experiment.settings]
        missing = [task for task in tasks if task not in done]
        with parallel_config(backend="loky", n_jobs=jobs, initializer=end_with, initargs=(os.getpid(),)):
            parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        found = parallel(delayed(_line)(experiment, *task, code) for task in missing)
        failed = []
        with path.open("a", encoding="utf8") as file:
            for line in progress(found, experiment.name, verbose, len(missing)) if missing else ():
                if line["failed"]:
                    failed.append(f"{line['setting']} trial {line['trial']}: {line['failed']}")
                    continue
                file.write(json.dumps(line) + "\n")
                file.flush()
    if failed:
        raise CofactorError(f"{len(failed)} of {len(tasks)} trials failed: {'; '.join(failed)}")
    return read(path)


def end_with(parent: int) -> None:
    """End this process soon after its parent did, even if that was killed and could not stop its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _line(experiment: Experiment, setting: str, trial: int, code: str) -> dict[str, Any]:
    """Run one trial; what it writes, or of what it failed."""
    try:
        rows = [[m.method, m.metric, m.value, m.seconds, m.error] for m in one_trial(experiment, setting, trial)]
        return {"setting": setting, "trial": trial, "code": code, "failed": "", "rows": rows}
    except Exception as error:  # of a whole trial: told with its name
        return {"setting": setting, "trial": trial, "failed": f"{type(error).__name__}: {error}"}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read finished trials; the last line may be half of one, of a killed run."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for at, text in enumerate(lines, 1):
        try:
            line = from_json(text)
            if not _is_trial(line):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            if at < len(lines):
                raise CofactorError(f"{path}, line {at}: not a trial of this program; move the file away") from None
        else:
            yield line


def _is_trial(line: Any) -> bool:
    """Whether a line has setting, trial, code and rows of (method, metric, value, seconds, error)."""
    number = int | float | None
    rows = (zip(row, (str, str, number, int | float, str), strict=True) for row in line["rows"])
    known = [(line["setting"], str), (line["trial"], int), (line["code"], str), *(cell for row in rows for cell in row)]
    return all(isinstance(value, kind) for value, kind in known) and 0 <= line["trial"] < 2**16


def read(path: Path) -> pd.DataFrame:
    """Read the trials of a run, as of `raw_trials`; the last of each counts."""
    lines = {(line["setting"], line["trial"]): line for line in _lines(path)}
    rows = [(*key, *row) for key, line in lines.items() for row in line["rows"]]
    columns = ["setting", "trial", "method", "metric", "value", "seconds", "error"]
    return (
        pd.DataFrame(rows, columns=columns).astype({"value": float, "trial": int}).sort_values("trial", kind="stable")
    )


@cache
def code_hash(library: Path = Path(str(cofactor.__file__)).parent, evaluation: Path = HERE) -> str:
    """Hash the code of the library and of the experiments, without comments, docstrings and what is only said."""
    digest = hashlib.sha256()
    homes = [library, *(evaluation / line for line in (*LINES, "released"))]
    for path in sorted(path for home in homes for path in home.rglob("*.py")):
        digest.update(f"{path.name}\0{bare(path.read_text(encoding='utf8'))}\0".encode())
    return digest.hexdigest()[:16]


def bare(source: str) -> str:
    """Return the syntax tree of a source as text: no comments, docstrings, line numbers.

    Of the declaration of an experiment only `given` stays, which decides numbers.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "experiment":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg == "given"]
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


# ---- kept ----


def raw_trials(name: str, folder: Path = KEPT) -> pd.DataFrame:
    """Read the trials of a kept experiment, so that a difference of two methods can be tested.

    Parameters
    ----------
    name : str
        Such as "crowd-table4".
    folder : Path
        Where `NAME.npz` lies.

    Returns
    -------
    DataFrame with the columns
        setting, trial, method, metric : one row each
        value : float64, as measured; NaN where the method gave none
        seconds : float32, of the method's whole run
        error : str, why there is no value

    Raises
    ------
    CofactorError
        No trials of this experiment were kept; the message names those that were.

    Examples
    --------
    >>> from evaluation import raw_trials
    >>> trials = raw_trials("separable-lambda").query("setting == '80x200,K=70,SNR=8' and metric == 'mrsa'")
    >>> mrsa = trials.pivot(index="trial", columns="method", values="value")
    >>> mrsa["SPA"].sub(mrsa["MERIT"]).count()
    np.int64(50)
    """
    path = folder / f"{name}.npz"
    if not path.exists():
        there = listing([path.stem for path in sorted(folder.glob("*.npz"))]) or "none"
        raise CofactorError(f"no trials of {name!r} were kept; there are those of: {there}")
    with np.load(path) as kept:
        columns = {column: kept[f"{column}s"][kept[column]] for column in TEXTS}
        columns |= {column: kept[column] for column in ("trial", "value", "seconds")}
    return pd.DataFrame(columns)[COLUMNS]


def keep(name: str, trials: pd.DataFrame, facts: Mapping[str, Any], folder: Path = KEPT) -> None:
    """Keep trials, and what made them: values in full, texts as codes beside a list of them."""
    arrays: dict[str, Any] = {
        "trial": trials["trial"].to_numpy(np.uint16),
        "value": trials["value"].to_numpy(np.float64),
        "seconds": trials["seconds"].to_numpy(np.float32),
    }
    for column in TEXTS:
        codes, texts = pd.factorize(trials[column])
        arrays |= {column: codes.astype(np.uint16), f"{column}s": np.array(texts, dtype=str)}
    with whole_file(folder / f"{name}.npz") as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    with whole_file(folder / f"{name}.json") as part:
        part.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf8")


def facts_of(name: str, folder: Path = KEPT) -> dict[str, Any]:
    """Read what made the kept trials of an experiment."""
    facts: dict[str, Any] = from_json((folder / f"{name}.json").read_text(encoding="utf8"))
    return facts


def made_by() -> dict[str, str]:
    """Describe the code and the machine of this process."""
    return {
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(),
        "code": code_hash(),
        "cpu": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in VERSIONS},
        "blas": blas(),
    }


def commit() -> str:
    """Return the short hash of the commit, "-dirty" where code differs from it; "uncommitted" outside of a clone."""

    def git(*arguments: str) -> str:
        answer = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True)
        return answer.stdout.strip() if answer.returncode == 0 else ""

    head = git("rev-parse", "--short", "HEAD")
    return f"{head}{'-dirty' * bool(git('status', '--porcelain', '--', ':/*.py'))}" if head else "uncommitted"


def blas() -> str:
    """Name the BLAS that NumPy was built with, and its kernel: the code for a family of processors."""
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    pools = {pool.get("architecture", "unknown") for pool in threadpool_info() if pool["user_api"] == "blas"}
    return f"{built['name']} {built['version']} ({', '.join(sorted(pools))})"


# ---- kept results against the code of today ----

KERNEL = "Haswell"  # of the kept results; processors with AVX2 can run it
CLOSE = 1e-3  # relative: what is compiled for the processor at hand may add in another order
OTHER_VERSIONS = 1e-2  # or another kernel: a start of many, or one item of hundreds, goes another way
COMPILED = ("CrowdLayer", "DL-MV")  # by torch, whose sums hang on the processor
RESOURCES = ("seconds", "CPU", "peak")  # of a machine, not of the code: only that they are there is compared
HUGE = 1e12  # a quotient by rounding, or infinite: no number to hold
SET_UP = 1.0  # seconds of data and of what is compiled that a further trial is taken to cost
Plan = dict[tuple[str, int], frozenset[str]]


def cheapest(kept: pd.DataFrame, of: Sequence[str] = ("method", "metric")) -> Plan:
    """Choose trials greedily, by seconds for a number that no other holds yet: which methods are run in which.

    `of` says what is held once: every metric of every method, or every "method".
    """
    took = kept.drop_duplicates([*TRIAL, "method", "seconds"]).groupby([*TRIAL, "method"])["seconds"].sum().to_dict()
    finite = kept[kept["value"].abs() < HUGE]
    there = {key: set(rows[[*of]].itertuples(index=False, name=None)) for key, rows in finite.groupby(TRIAL)}
    left: set[tuple[str, ...]] = set().union(*there.values())
    plan: Plan = {}

    def price(key: Any) -> float:
        return (SET_UP + sum(took[*key, method] for method in {new[0] for new in there[key]})) / len(there[key])

    while left:
        there = {key: new for key, numbers in there.items() if (new := numbers & left)}
        best: Any = min(there, key=price)
        plan[best[0], int(best[1])] = frozenset(new[0] for new in there[best])
        left -= there[best]
    return plan


def compared(experiment: Experiment, kept: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Run trials again, of these methods; return kept and found numbers, a row each, NaN where one is missing.

    Methods that miss a package are left out.
    """
    tables = []
    for (setting, trial), methods in plan.items():
        rows = one_trial(experiment, setting, trial, methods)
        missing = {row.method for row in rows if "pip install" in row.error}
        now = {(m.method, m.metric): np.nan if m.value is None else m.value for m in rows}
        before = kept[(kept["setting"] == setting) & (kept["trial"] == trial) & kept["method"].isin(methods)]
        known = before.set_index(["method", "metric"])["value"].to_dict()
        both = pd.DataFrame({"kept": pd.Series(known, dtype=float), "found": pd.Series(now, dtype=float)})
        both = both.rename_axis(["method", "metric"]).reset_index().assign(setting=setting, trial=trial)
        both["absent"] = [(key in known) != (key in now) for key in zip(both["method"], both["metric"], strict=True)]
        tables.append(both[~both["method"].isin(missing)])
    return pd.concat(tables, ignore_index=True)


def unlike(experiment: Experiment, both: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose two numbers differ by more than versions and kernels of BLAS make."""
    made = facts_of(experiment.name)
    here = {name: metadata.version(name) for name in ("numpy", "scipy")} | {"blas": blas().split(",")[0]}
    close = CLOSE if all(made[name].split(",")[0] == here[name] for name in here) else OTHER_VERSIONS
    free = both["metric"].isin(RESOURCES) | ~(both["kept"].abs() < HUGE) & both["kept"].notna()
    near = np.where(both["method"].str.startswith(COMPILED), OTHER_VERSIONS, close) * both["kept"].abs()
    same = both["kept"].sub(both["found"]).abs().le(near + 1e-9) | both["kept"].isna() & both["found"].isna()
    return both[both["absent"] | ~(same | free)]


@contextmanager
def kept_kernel() -> Iterator[Callable[..., Any]]:
    """Run functions in a process with the BLAS kernel of the kept results, where this processor has it.

    Kernels round otherwise. The sign of a singular vector, a near tie, or an optimum among many hangs on that.
    """
    cpu, before = Path("/proc/cpuinfo"), os.environ.get("OPENBLAS_CORETYPE")
    if cpu.exists() and "avx2" in cpu.read_text():
        os.environ["OPENBLAS_CORETYPE"] = KERNEL
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            yield lambda *call: pool.submit(*call).result()
    finally:
        os.environ.pop("OPENBLAS_CORETYPE")
        if before is not None:
            os.environ["OPENBLAS_CORETYPE"] = before


def again(experiment: Experiment, method: str, jobs: int = 1) -> tuple[pd.DataFrame, int]:
    """Run one method again in every kept trial that has it; return all trials, and how many numbers moved."""
    kept = raw_trials(experiment.name)
    mine = kept["method"] == method
    tasks, only = list(kept.loc[mine, TRIAL].drop_duplicates().itertuples(index=False, name=None)), frozenset([method])
    found = Parallel(jobs)(delayed(one_trial)(experiment, setting, int(trial), only) for setting, trial in tasks)
    rows = [
        (setting, trial, m.method, m.metric, m.value, m.seconds, m.error)
        for (setting, trial), measured in zip(tasks, found, strict=True)
        for m in measured
    ]
    new = pd.DataFrame(rows, columns=COLUMNS).astype({"value": float})
    both = kept[mine].merge(new, on=NUMBER, how="outer", suffixes=("", " now"))
    moved = ~np.isclose(both["value"], both["value now"], rtol=1e-9, equal_nan=True)
    first = kept.index[mine][0]  # new rows stand where the old ones began: the order of methods stays
    whole = [kept[~mine & (kept.index < first)], new, kept[~mine & (kept.index > first)]]
    return pd.concat(whole, ignore_index=True), int(moved[~both["metric"].isin(RESOURCES)].sum())
