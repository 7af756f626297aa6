"""Differences of methods on the same data: in a trial all methods see the same, so that its luck cancels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t as student

from evaluation.experiment import Experiment
from evaluation.summary import EMULATIONS
from evaluation.verdicts import CONFIDENCE

OWN = (
    "WorkerTypes",
    "RobSymNMF-EM",
    "CNMF-SPA-EM",
    "MERIT",
    "ComparisonMF",
)  # compared with all others, where it is there
LEVELS = ("levels", "sweep", "intervals")  # plots whose first metric is a number that methods compete for
COLUMNS = ["setting", "own", "method", "metric", "difference", "low", "high", "trials"]


def paired(experiment: Experiment, trials: pd.DataFrame) -> pd.DataFrame:
    """Compare one method with each other one over the trials in which both have a value of the first metric.

    Parameters
    ----------
    experiment : Experiment
    trials : DataFrame
        Columns setting, trial, method, metric, value, as of `measurements` and `raw_trials`.

    Returns
    -------
    DataFrame with a row per setting and other method that share two trials or more
        own, method : str
            The method of the kit or of the paper, else the first one; and the other.
        difference, low, high : float
            Mean of own - other over shared trials, and the ends of its 95 % interval (Student's).
        trials : int
            How many are shared.
    """
    metric = next(iter(experiment.metrics))
    found = trials[(trials["metric"] == metric) & trials["value"].notna()]
    methods = [name for name in found["method"].unique() if not name.endswith(EMULATIONS)]
    if experiment.plot not in LEVELS or len(methods) < 2:
        return pd.DataFrame(columns=COLUMNS)
    own = next((name for name in OWN if name in methods), methods[0])
    values = found.pivot_table(index=["setting", "trial"], columns="method", values="value")
    rows = [
        {"setting": setting, "own": own, "method": method, "metric": metric, **_mean(shared)}
        for setting in experiment.settings
        for method in methods
        if method != own and len(shared := _shared(values, setting, own, method)) > 1
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _shared(values: pd.DataFrame, setting: str, own: str, method: str) -> np.ndarray:
    here = values[values.index.get_level_values("setting") == setting]
    return (here[own] - here[method]).dropna().to_numpy()


def _mean(differences: np.ndarray) -> dict[str, float]:
    n, mean = len(differences), float(np.mean(differences))
    half = float(student.ppf((1 + CONFIDENCE) / 2, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))
    return {"difference": mean, "low": mean - half, "high": mean + half, "trials": n}


def heading(table: pd.DataFrame) -> str:
    """Say what the differences are."""
    own, metric = table.loc[0, ["own", "metric"]]
    return (
        f"{own} less each other method on the same data: mean difference of {metric} over the trials that both share, "
        "with its 95 % interval; without one where all trials are equal"
    )
