"""The way from crowd labels to consensus, stage by stage, beside crowd-kit and the published times.

TREC (19,033 tasks, 762 annotators, 88,385 labels), and two simulated crowds of 2,000 annotators and a million labels:
`even`, all annotators equally busy, so that most pairs share a task; `skewed`, busy as 1 / rank, as on real platforms.
Of 100,000 workers with two labels each, rounds of the default are timed beside those of IBCC.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from runner import Bench, Reference

import cofactor as cf
from cofactor import simulate
from cofactor.core.em import maximization
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.types import Ints
from cofactor.crowd.aggregators import FACTOR_FLOOR, START_COUNT
from cofactor.crowd.base import error_rate, name_classes, vote_model
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import factors_of_model, robust_imputation
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.symnmf import model_of_factor, symnmf
from cofactor_app.peak import measure_peak
from evaluation.peers.ibcc import IBCC

T = TypeVar("T")

# Ibrahim and Fu, ICML 2021, Table 5; and their released code, run in Octave on a machine like ours
PAPER = {"RobSymNMF": Reference(64.99, "the paper (Table 5)"), "DesSymNMF": Reference(71.31, "the paper (Table 5)")}
OCTAVE = Reference(163.0, "the authors' code in Octave")
ACTIVITY = {"even": 0.0, "skewed": 1.0}
TINY = {"n_workers": 10, "n_tasks": 1000}
WHOLE = {"WorkerTypes": "DawidSkene", "MV-EM": "DawidSkene"}
SOME_ROUNDS, RIGHT = 20, 0.8  # of workers who gave two labels, and the share of right ones
ROUNDS = (1, 4)  # crowd-kit's time per EM round is the slope between these, so that its set-up cancels


@dataclass(frozen=True)
class Crowd:
    """Labels as arrays, as they would come from a file, and the true classes."""

    name: str
    task: Ints
    worker: Ints
    label: Ints
    shape: tuple[int, int, int]  # tasks, workers, classes
    truth: Ints

    @property
    def data(self) -> tuple[str, int]:
        """Name and number of labels."""
        return self.name, len(self.task)

    def read(self) -> CrowdLabels:
        """Check the arrays and make labels of them."""
        N, M, K = self.shape
        return CrowdLabels.from_arrays(self.task, self.worker, self.label, K, N, M, unlabelled="keep")

    def frame(self) -> pd.DataFrame:
        """Return the long table that crowd-kit takes."""
        return pd.DataFrame({"task": self.task, "worker": self.worker, "label": self.label})

    def error(self, predicted: Ints) -> float:
        """Share of wrong class codes, where the truth is known."""
        return error_rate(predicted, self.truth)


# ---- the crowds ----


def crowds(tiny: bool) -> list[Crowd]:
    """Return the crowds to measure on; what cannot be had is left out, loudly."""
    size = TINY if tiny else {"n_workers": 2000, "n_tasks": 200_000}
    names = ["skewed"] if tiny else list(ACTIVITY)
    simulated = [simulated_crowd(name, activity=ACTIVITY[name], **size) for name in names]
    try:
        return [real_crowd("bluebird" if tiny else "trec"), *simulated]
    except cf.DatasetUnavailableError as reason:
        print(f"!!! SKIPPED trec: {reason}", file=sys.stderr, flush=True)
        return simulated


def real_crowd(name: str) -> Crowd:
    """Load a data set."""
    dataset = cf.load(name)
    return crowd_of(name, dataset.labels, dataset.truth)


def simulated_crowd(name: str, n_workers: int, n_tasks: int, activity: float) -> Crowd:
    """Four classes, five labels per task, annotators halfway between random and perfect."""
    model = simulate.dawid_skene_model(n_workers, n_classes=4, skill=0.5, random_state=0)
    made = simulate.large_crowd(model, n_tasks, labels_per_task=5, activity=activity, random_state=1)
    return crowd_of(name, made.labels, made.truth)


def crowd_of(name: str, labels: CrowdLabels, truth: Ints) -> Crowd:
    """Take labels apart again."""
    table = labels.table
    shape = (labels.n_tasks, labels.n_workers, labels.n_classes)
    return Crowd(name, table.rows, table.variables, table.values, shape, truth)


# ---- stages ----


def bench_stages(bench: Bench, crowd: Crowd) -> None:
    """Time RobSymNMF part by part; every part gets what the one before returned."""
    stage = partial(bench.measure, crowd.data)
    labels = stage("read", crowd.read)
    moments = stage("moments", lambda: pairwise_moments(labels.table))
    cooc = stage("co-occurrence blocks", lambda: Cooccurrences.from_moments(moments))
    stage("identifiability checks", lambda: replace(cooc).require_identifiable())  # a copy has nothing cached
    start = stage("start from majority vote", lambda: factors_of_model(vote_model(labels, START_COUNT)))
    U, _ = stage("robust imputation", lambda: robust_imputation(cooc, start))
    H, _, _ = stage("SymNMF", lambda: symnmf(U.reshape(-1, labels.n_classes)))
    stage("naming the classes, MAP", lambda: named_map(H, labels))


def named_map(H: np.ndarray, labels: CrowdLabels) -> Ints:
    """Read the model off the factor, name its classes, label every task."""
    return name_classes(model_of_factor(H, floor=FACTOR_FLOOR), labels).predict(labels.table)


# ---- whole methods ----


def aggregate(crowd: Crowd, method: str) -> Ints:
    """From arrays to one class per task."""
    labels = crowd.read()
    return cf.crowd.METHODS[method]().fit(labels).predict(labels)


def bench_methods(bench: Bench, crowd: Crowd) -> None:
    """Time whole methods, from arrays to consensus."""
    for method in ("RobSymNMF", "DesSymNMF", "MultiStart-EM"):
        predicted, seconds = bench.time(partial(aggregate, crowd, method))
        reference = PAPER.get(method) if crowd.name == "trec" else None
        add = partial(bench.add, crowd.data, f"{method} whole", seconds, crowd.error(predicted))
        add(reference=reference)
        if (crowd.name, method) == ("trec", "RobSymNMF"):
            add(reference=OCTAVE)


def bench_peak(bench: Bench, crowd: Crowd) -> None:
    """Measure the peak memory of whole methods in fresh processes that read the arrays from a file."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.npz", Path(folder) / "large.npz"
        save(simulated_crowd("small", activity=0.0, **TINY), small)
        save(crowd, large)
        for method in ("RobSymNMF", "DesSymNMF"):
            call = partial(measure_peak, "bench_crowd:aggregate_file", folder=Path(__file__).parent, method=method)
            warm = {"path": str(small), "method": method}
            figures = call(warm=warm, path=str(large))
            if figures is None:
                print("!!! SKIPPED peak memory: only Linux tells it", file=sys.stderr)
                return
            memory = (figures["peak_mb"], figures["base_mb"])
            bench.add(crowd.data, f"{method} in a fresh process", [figures["seconds"]], memory=memory)


def save(crowd: Crowd, path: Path) -> None:
    """Write the arrays to a file."""
    np.savez(path, task=crowd.task, worker=crowd.worker, label=crowd.label, shape=crowd.shape, truth=crowd.truth)


def aggregate_file(path: str, method: str) -> None:
    """From a file of arrays to one class per task; runs in the fresh process."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    aggregate(Crowd("file", **{**arrays, "shape": tuple(arrays["shape"].tolist())}), method)


# ---- beside crowd-kit ----


def bench_against_crowdkit(bench: Bench, crowd: Crowd) -> None:
    """Time majority vote and an EM round of both, with the same data, start and number of rounds."""
    theirs = crowdkit_times(bench, crowd)
    vote = partial(aggregate, crowd, "MajorityVote")
    bench.measure(crowd.data, "MajorityVote whole", vote, crowd.error, theirs.get("vote"))
    labels = crowd.read()
    model = vote_model(labels)
    _, seconds = bench.time(lambda: em_round(model, labels))
    for _ in range(ROUNDS[1] - 1):  # the prediction below makes the last E-step
        model = em_round(model, labels)
    error = crowd.error(model.predict(labels.table))
    bench.add(crowd.data, "EM round", seconds, error, reference=theirs.get("round"))


def bench_whole_methods(bench: Bench, crowd: Crowd) -> None:
    """Time whole methods of both on a real crowd: the default here, and those that crowd-kit offers too."""
    if crowd.name in ACTIVITY:
        return
    for method, theirs in WHOLE.items():
        reference = whole_of_crowdkit(bench, crowd, theirs)
        bench.measure(crowd.data, f"{method} whole", partial(aggregate, crowd, method), crowd.error, reference)


def whole_of_crowdkit(bench: Bench, crowd: Crowd, name: str) -> Reference | None:
    """Add the row of one of crowd-kit's methods and return its time; none where it is not installed."""
    try:
        from crowdkit import aggregation
    except ImportError:
        return None
    frame = crowd.frame()
    try:
        run = getattr(aggregation, name)().fit_predict
        error = partial(error_of, crowd)
        bench.measure(crowd.data, f"crowd-kit {name} whole", lambda: run(frame), error)
    except AttributeError as error:  # its Wawa asks scikit-learn for what versions from 1.6 on do not give it
        print(f"!!! SKIPPED crowd-kit {name}: {str(error)[:100]}", file=sys.stderr, flush=True)
        return None
    return bench.last(f"crowd-kit {name}")


def em_round(model: LatentClassModel, labels: CrowdLabels) -> LatentClassModel:
    """One E-step with log-likelihood and one M-step, as in the loop of `cofactor.core.em`."""
    Q, _ = model.explain(labels.table)
    return maximization(labels.table, Q)


def crowdkit_times(bench: Bench, crowd: Crowd) -> dict[str, Reference]:
    """Add crowd-kit's rows and return its times; none, loudly, where it is not installed."""
    try:
        from crowdkit.aggregation import DawidSkene, MajorityVote
    except ImportError:
        print("!!! SKIPPED crowd-kit: not installed, see the extra `bench`", file=sys.stderr, flush=True)
        return {}
    frame = crowd.frame()
    error = partial(error_of, crowd)
    bench.measure(crowd.data, "crowd-kit MajorityVote", lambda: MajorityVote().fit_predict(frame), error)
    vote = bench.last("crowd-kit")
    short, long = (partial(crowdkit_rounds, DawidSkene, n, frame) for n in ROUNDS)
    em, seconds = bench.time_difference(short, long)
    seconds = [span / (ROUNDS[1] - ROUNDS[0]) for span in seconds]
    bench.add(crowd.data, "crowd-kit DawidSkene round", seconds, error(em))
    return {"vote": vote, "round": bench.last("crowd-kit")}


def crowdkit_rounds(method: type[Any], n_rounds: int, frame: pd.DataFrame) -> pd.Series[int]:
    """Run crowd-kit's EM for exactly this many rounds: no tolerance stops it early."""
    return method(n_iter=n_rounds, tol=-np.inf).fit_predict(frame)


def error_of(crowd: Crowd, predicted: pd.Series[int]) -> float:
    """Share of wrong classes in crowd-kit's answer, a series over tasks; a task without labels counts as wrong."""
    return crowd.error(predicted.reindex(range(crowd.shape[0]), fill_value=-1).to_numpy())


# ---- workers who gave hardly a label ----


def bench_many_workers(bench: Bench) -> None:
    """Time rounds of the default on 100,000 workers of two labels each, beside as many rounds of IBCC."""
    n_labels = 1000 if bench.tiny else 200_000
    rng, task = np.random.default_rng(0), np.arange(n_labels) % (n_labels // 5)
    label = np.where(rng.random(n_labels) < RIGHT, task % 2, 1 - task % 2)
    entries = rng.permutation(n_labels // 5)[task], rng.permutation(n_labels) // 2, label
    rounds = {"max_iter": SOME_ROUNDS, "tol": 0.0}
    ibcc, default = IBCC(**rounds), cf.crowd.WorkerTypes(**rounds, design_effect=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few workers met a task twice, and rounds end early
        labels = CrowdLabels.from_arrays(*entries, conflicts="first")
        _, theirs = bench.time(lambda: ibcc.fit(labels))
        _, ours = bench.time(lambda: default.fit(labels))
    reference = Reference(float(np.median(theirs)), f"IBCC, {SOME_ROUNDS} rounds")
    bench.add(("two labels a worker", labels.n_labels), f"WorkerTypes, {SOME_ROUNDS} rounds", ours, reference=reference)


def main() -> None:
    """Run everything on every crowd."""
    bench = Bench("crowd")
    bench_many_workers(bench)
    for crowd in crowds(bench.tiny):
        for part in (bench_stages, bench_methods, bench_peak, bench_against_crowdkit, bench_whole_methods):
            part(bench, crowd)
    bench.finish()


if __name__ == "__main__":
    main()
