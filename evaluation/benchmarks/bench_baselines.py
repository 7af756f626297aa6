"""Every baseline of the paper's Tables 4 and 5 on its four data sets, beside the times printed there.

CPU seconds, BLAS on one thread: from labels in memory to one class per task. A method that takes longer than PATIENCE
runs once; all others as in `runner.py`. Where the paper prints no time (a method for two classes on four, one that
asked for too much memory), nothing is measured; where it prints one for KOS on four classes, ours is the ordinal KOS.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

import pandas as pd
from runner import Bench, Reference
from threadpoolctl import threadpool_limits

import cofactor as cf
from cofactor.crowd.base import error_rate
from cofactor.crowd.labels import CrowdLabels
from cofactor.data.published import published
from evaluation.crowd.methods import AS_RELEASED, method_named, without_prior

TABLES = {"crowd_table4": "Table 4", "crowd_table5": "Table 5"}  # of Ibrahim and Fu, ICML 2021
OURS = "SymNMF"  # in the name of what the paper proposes, see bench_crowd.py
BUSIEST = 52  # of the Dog set, the paper keeps the workers who gave most labels
PATIENCE = 10.0


def published_times() -> pd.DataFrame:
    """Times of the baselines as the paper prints them: columns setting, method, value, table."""
    frame = pd.concat([published(name).assign(table=table) for name, table in TABLES.items()])
    frame = frame[(frame["metric"] == "seconds") & frame["value"].notna()]
    return frame[~frame["method"].str.contains(OURS) & frame["method"].isin([*cf.crowd.METHODS, *AS_RELEASED])]


def bench_data(bench: Bench, name: str, times: pd.DataFrame) -> None:
    """Measure all baselines on one data set; where it cannot be had, none, loudly."""
    try:
        dataset = cf.load(name)
    except cf.DatasetUnavailableError as reason:
        print(f"!!! SKIPPED {name}: {reason}", file=sys.stderr, flush=True)
        return
    labels = dataset.labels.busiest_workers(BUSIEST) if name == "dog" else dataset.labels
    for row in times.itertuples():
        ordinal = row.method == "KOS" and labels.n_classes > 2
        method = "KOS(ordinal)" if ordinal else row.method
        paper, error = Reference(row.value, f"the paper ({row.table})"), partial(error_rate, truth=dataset.truth)
        bench.measure((name, labels.n_labels), method, partial(aggregate, method, labels), error, paper)


def aggregate(method: str, labels: CrowdLabels) -> object:
    """From labels to the probability of every class for every task."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.DataWarning)  # two workers of TREC share no task with anybody
        warnings.simplefilter("ignore", cf.ConvergenceWarning)  # ten iterations of CNMF are a choice
        fitted = without_prior(method_named(method, random_state=0)).fit(labels)  # as in the paper
        return fitted.predict_proba(labels)


def main() -> None:
    """Run everything on every data set."""
    bench = Bench("baselines", clock=time.process_time, patience=PATIENCE)
    with threadpool_limits(1):
        for name, times in published_times().groupby("setting", sort=False):
            if name == "bluebird" or not bench.tiny:
                bench_data(bench, str(name), times)
        bench.finish()


if __name__ == "__main__":
    main()
