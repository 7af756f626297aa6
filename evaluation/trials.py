"""Raw trials: as a table, and kept in compact form for the book and the claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import whole_file
from evaluation.experiment import Measurement, Task
from evaluation.runner import Outcome

KEPT = Path(__file__).with_name("reproduced")
NAMES = ("setting", "method", "metric", "error")  # columns of texts, kept as codes


def measurements(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """One row per measurement: setting, trial, method, metric, value, seconds, error, note."""
    rows = [
        {
            "setting": outcome.task.setting,
            "trial": outcome.task.trial,
            "method": found.method,
            "metric": found.metric,
            "value": np.nan if found.value is None else found.value,
            "seconds": found.seconds,
            "error": found.error,
            "note": found.note,
        }
        for outcome in outcomes
        for found in outcome.measurements
    ]
    columns = ["setting", "trial", "method", "metric", "value", "seconds", "error", "note"]
    return pd.DataFrame(rows, columns=columns)


def write_trials(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write every measurement to a compressed .npz: values in full, texts as codes beside a list of them."""
    found = measurements(outcomes)
    arrays: dict[str, Any] = {
        "trial": found["trial"].to_numpy(dtype=np.uint16),
        "value": found["value"].to_numpy(dtype=np.float64),
        "seconds": found["seconds"].to_numpy(dtype=np.float32),
    }
    for name in NAMES:
        codes, texts = pd.factorize(found[name])
        arrays |= {name: codes.astype(np.uint16), f"{name}s": np.array(texts, dtype=str)}
    with whole_file(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)


def raw_trials(name: str, folder: Path = KEPT) -> pd.DataFrame:
    """Read the trials of a kept experiment, so that a difference of two methods can be tested.

    Parameters
    ----------
    name : str
        Such as "practice-separable".
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
    >>> trials = raw_trials("practice-separable").query("setting == 'tdt2,K=5' and metric == 'accuracy'")
    >>> accuracy = trials.pivot(index="trial", columns="method", values="value")
    >>> accuracy["SPA"].sub(accuracy["MERIT"]).count()
    np.int64(20)
    """
    path = folder / f"{name}.npz"
    if not path.exists():
        there = listing([path.stem for path in sorted(folder.glob("*.npz"))]) or "none"
        raise CofactorError(f"no trials of {name!r} were kept; there are those of: {there}")
    with np.load(path) as kept:
        columns = {column: kept[f"{column}s"][kept[column]] for column in NAMES}
        columns |= {column: kept[column] for column in ("trial", "value", "seconds")}
    return pd.DataFrame(columns)[["setting", "trial", "method", "metric", "value", "seconds", "error"]]


def kept_outcomes(name: str, folder: Path = KEPT) -> list[Outcome]:
    """Return the trials of a kept experiment as that of which its table and picture are made."""
    columns = ["method", "metric", "value", "seconds", "error"]
    grouped: Iterable[tuple[Any, pd.DataFrame]] = raw_trials(name, folder).groupby(["setting", "trial"], sort=False)
    return [
        Outcome(Task(name, *key), "", 0.0, tuple(starmap(Measurement, rows[columns].to_numpy())))
        for key, rows in grouped
    ]
