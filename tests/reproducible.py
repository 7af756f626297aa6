"""Write what every method and one experiment of each line find, and with which BLAS, as JSON.

usage: python -m tests.reproducible JOBS

With more jobs than one: only what takes a number of jobs.

`tests/test_reproducible.py` runs this in fresh processes that differ in what must not matter.
"""

import json
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from cofactor import comparisons, crowd, pmf, separable, simulate
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from evaluation import EXPERIMENTS
from evaluation.released import RELEASED
from evaluation.trials import run

GRAPHS = {"SPOC", "GeoNMF"}  # these need an adjacency matrix
PLAN = {  # experiment: settings, trials
    "crowd-table4": (["bluebird"], 2),
    "crowd-table6": (["missing=70%"], 2),
    "pmf-table1": (["S=1e4"], 2),
    "separable-figure4a": (["SNR=6", "SNR=10"], 2),
    "comparisons-starts": (["unit,m/dof=1.5", "unit,m/dof=2"], 2),
}


def main(jobs):
    """Write one list of numbers for everything that was found, by its name."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # small problems, few rounds: only sameness is looked at
    warnings.simplefilter("ignore", DataWarning)
    alone = [*crowd_methods(), *pmf_methods(), *separable_methods(), *comparison_methods()] if jobs == 1 else []
    parts = [*alone, *parallel_parts(jobs)]
    found = {name: np.concatenate([np.ravel(part) for part in values]).tolist() for name, values in parts}
    for name, (settings, trials) in PLAN.items():
        found |= experiment(name, settings, trials, jobs)
    kernels = sorted({pool.get("architecture", "") for pool in threadpool_info() if pool["user_api"] == "blas"})
    json.dump({"kernels": kernels, "found": found}, sys.stdout)


def crowd_methods():
    """Labels, what speaks for them, and the model behind them."""
    for k in (2, 3):
        model = simulate.dawid_skene_model(n_workers=12, n_classes=k, skill=0.5, random_state=k)
        labels = simulate.crowd(model, n_tasks=300, label_rate=0.6, random_state=k).labels
        released = {f"{name} (released)": make for name, make in RELEASED["crowd"].items()}
        for name, make in {**released, **crowd.METHODS}.items():
            try:
                method = make(random_state=0).fit(labels)
            except CofactorError:  # some are for two classes only
                continue
            model = [method.model_.stacked] if hasattr(method, "model_") else []
            yield f"crowd {name}, {k} classes", [method.predict(labels), method.predict_proba(labels), *model]


def pmf_methods():
    """Prior and conditionals."""
    model = simulate.joint_model(n_variables=5, alphabet=4, rank=3, random_state=0)
    table = simulate.joint_table(model, n_rows=2000, observed=0.7, random_state=0)
    for name, make in pmf.METHODS.items():
        method = with_what_it_takes(make, rank=3, random_state=0).fit(table)
        yield f"pmf {name}", [method.model_.prior, method.model_.stacked]


def separable_methods():
    """Anchors and scores."""
    X = simulate.dirichlet_mixtures(n_rows=60, n_points=500, n_anchors=8, snr_db=20, random_state=0).X
    graph = np.maximum(X.T @ X, 0)
    np.fill_diagonal(graph, 0)
    for name, method in separable.METHODS.items():
        if name != "LDA":  # an optional package
            fit = method(8, random_state=0).fit(graph if name in GRAPHS else X)
            yield f"separable {name}", [fit.anchors_, fit.scores_]


def comparison_methods():
    """Utilities."""
    U, V = simulate.comparison_factors(40, 30, 2, random_state=0)
    drawn = simulate.draw_comparisons(U, V, 4000, random_state=0)
    for name, make in comparisons.METHODS.items():
        method = with_what_it_takes(make, rank=2, random_state=0).fit(drawn)
        yield f"comparisons {name}", [method.user_factors_ @ method.item_factors_.T, method.item_bias_]


def with_what_it_takes(make, **parameters):
    """Make a method with those of the parameters that it has."""
    return make(**{name: value for name, value in parameters.items() if name in make().get_params()})


def parallel_parts(jobs):
    """Results of what takes a number of jobs."""
    model = simulate.dawid_skene_model(n_workers=8, n_classes=3, skill=0.5, random_state=1)
    labels = simulate.crowd(model, n_tasks=200, random_state=1).labels
    drawn = crowd.bootstrap(crowd.MVEM(), labels, n_draws=8, random_state=0, n_jobs=jobs)
    yield "bootstrap", [drawn.intervals()[["low", "high"]]]
    codes = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 300, random_state=0).codes
    learner = pmf.JointPMFClassifier(n_starts=4, n_jobs=jobs, random_state=0).fit(codes[:, 1:], codes[:, 0])
    yield "classifier", [learner.predict_proba(codes[:50, 1:])]
    X = simulate.dirichlet_mixtures(50, 1500, 10, random_state=0).X
    yield "merit", [separable.merit(X, 10, n_jobs=jobs).scores]


def experiment(name, settings, trials, jobs):
    """Every measurement of an experiment but how long it took."""
    few = replace(EXPERIMENTS[name], settings={key: EXPERIMENTS[name].settings[key] for key in settings})
    with tempfile.TemporaryDirectory() as folder:
        found = run(few, Path(folder), trials, jobs)
    rows = found[found["metric"] != "seconds"].itertuples()
    return {f"{name} {row.setting} {row.trial} {row.method}, {row.metric}": [row.value] for row in rows}


if __name__ == "__main__":
    main(int(sys.argv[1]))
