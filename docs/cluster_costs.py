"""The numbers of the page docs/cluster.md: hours on a cluster, and what a sample of pairs costs in errors.

`python -m docs.cluster_costs` writes them into the page. Hours are computed from the seconds per label that
`bench_shards.py` measured, and from the cluster and the labels below; nothing else is typed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import cofactor as cf
from cofactor import simulate
from cofactor.core.em import em, maximization
from cofactor.crowd.base import error_rate
from cofactor.crowd.priors import prior_cells

HERE = Path(__file__).resolve().parent
PAGE = HERE / "cluster.md"
MEASURED = HERE.parent / "evaluation" / "benchmarks" / "results" / "shards.csv"
SAMPLE = HERE / "cluster_sample.csv"
SIMULATED = {"n_workers": 400, "n_classes": 4, "n_tasks": 20_000, "labels_per_task": 5, "skill": 0.2}
TRIALS, BUSIEST = 5, (25, 100)
BYTES_OF_PAIR, BYTES_KEPT, PER_SHARD = 16, 8, 1_000_000


@dataclass(frozen=True)
class Job:
    """Labels, and the machines for them."""

    labels: float = 1e10
    annotators: int = 1000
    classes: int = 4
    per_task: int = 5
    rounds: int = 20
    cores: int = 64
    gigabytes: float = 128  # of all machines together, for decoded shards
    network: float = 1e9  # bytes a second into the machine that adds up


def hours(job: Job, ns: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Yield each step and its hours, from nanoseconds per label of one core."""
    shared = job.labels / job.cores / 3600e9
    kept = min(1.0, job.gigabytes * 1e9 / (BYTES_KEPT * job.labels))
    sums = 8 * job.annotators * job.classes**2 * job.labels / PER_SHARD / job.network / 3600
    yield "shard, on one machine", ns["shard"] * job.labels / 3600e9
    yield "count", ns["one shard: count and keep"] * shared + ns["one shard: read"] * shared
    round_ = ns["one shard: E-step"] + (1 - kept) * ns["one shard: read"]
    yield f"{job.rounds} rounds of EM, {kept:.0%} of the labels in memory", job.rounds * (round_ * shared + sums)
    yield "consensus", (ns["one shard: read"] + ns["one shard: MAP"]) * shared


def measured(data: str = "large") -> dict[str, float]:
    """Return nanoseconds per label by stage."""
    frame = pd.read_csv(MEASURED)
    return dict(frame[frame["data"] == data][["stage", "per_label_ns"]].itertuples(index=False))


def costs_section(job: Job) -> str:
    """Return the table of hours."""
    rows = [*hours(job, measured())]
    rows.append(("all", sum(number for _, number in rows)))
    lines = [f"| {step} | {number:.2g} |" for step, number in rows]
    return "\n".join(["| step | hours |", "| --- | --- |", *lines])


def pairs_section() -> str:
    """Return the table of what the counts of all pairs would take."""
    lines = [f"| {M:,} | {(M * 4) ** 2 * BYTES_OF_PAIR / 2e9:,.3g} |" for M in (1_000, 10_000, 100_000)]
    return "\n".join(["| annotators, of four classes | GB, if every pair of values occurs |", "| --- | --- |", *lines])


def sample_section() -> str:
    """Return the table of errors, mean and standard error over trials."""
    found = pd.read_csv(SAMPLE).groupby("start", sort=False)["error"].agg(["mean", "sem"])
    lines = [f"| {start} | {100 * row['mean']:.2f} ± {100 * row['sem']:.2f} |" for start, row in found.iterrows()]
    return "\n".join(["| start of EM | error % |", "| --- | --- |", *lines])


def simulate_sample() -> pd.DataFrame:
    """Compare starts of EM: from votes, from pairs of the busiest annotators only, from all pairs."""
    rows = []
    for trial in range(TRIALS):
        s = SIMULATED
        model = simulate.dawid_skene_model(s["n_workers"], s["n_classes"], skill=s["skill"], random_state=trial)
        crowd = simulate.large_crowd(model, s["n_tasks"], s["labels_per_task"], random_state=trial)
        votes = cf.crowd.METHODS["MV-EM"]().fit_predict(crowd.labels)
        rows.append(("votes, no pairs", error_rate(votes, crowd.truth)))
        rows += [(f"pairs of the {m} busiest", error_rate(of_busiest(crowd.labels, m), crowd.truth)) for m in BUSIEST]
        everybody = cf.crowd.METHODS["RobSymNMF-EM"](random_state=0).fit_predict(crowd.labels)
        rows.append((f"all pairs of {s['n_workers']}", error_rate(everybody, crowd.truth)))
    return pd.DataFrame(rows, columns=["start", "error"])


def of_busiest(labels: cf.CrowdLabels, m: int) -> np.ndarray:
    """Factorise the pairs of the m busiest annotators; what they say of their tasks starts EM for all annotators."""
    few = labels.busiest_workers(m)
    seen = few.table.entries_per_row > 0
    posterior = cf.crowd.METHODS["RobSymNMF"](random_state=0).fit(few).predict_proba(few)
    start = maximization(labels.table.take_rows(seen), posterior[seen], pseudo_count=0.1)
    prior = prior_cells(cf.crowd.METHODS["RobSymNMF-EM"]().pseudo_counts, labels.n_classes)
    return em(labels.table, start, pseudo_count=np.tile(prior, (labels.n_workers, 1)))[0].predict(labels.table)


def sections() -> dict[str, str]:
    """Return what stands between the marks of the page."""
    return {"costs": costs_section(Job()), "pairs": pairs_section(), "sample": sample_section()}


def renewed(page: str) -> str:
    """Return the page with its tables as they are computed."""
    for name, table in sections().items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        page, found = re.subn(f"{begin}.*?{end}", f"{begin}\n\n{table}\n\n{end}", page, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"the page needs the marks {begin} and {end} exactly once")
    return page


if __name__ == "__main__":
    if not SAMPLE.exists():
        simulate_sample().to_csv(SAMPLE, index=False, float_format="%.6f")
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf8")), encoding="utf8")
