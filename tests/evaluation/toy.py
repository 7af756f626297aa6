"""A small experiment for the tests of the harness: it can fail, and its numbers are drawn."""

import numpy as np
import pandas as pd

from cofactor import CofactorError
from evaluation.experiment import Experiment, measure, one_trial

FACTS = pd.DataFrame(
    [
        ("small", "Sum", "error", 10.0, np.nan),
        ("small", "Largest", "error", 10.0, 3.0),
        ("all", "Sum", "seconds", 7.0, np.nan),
        ("large", "Elsewhere", "error", 1.0, np.nan),
        ("large", "Sum", "error", np.nan, np.nan),
    ],
    columns=["setting", "method", "metric", "value", "spread"],
).assign(rounding=0.05)


def trial(setting, number, rng):
    if setting == "broken" and number == 1:
        raise RuntimeError("this trial breaks")
    drawn = rng.normal(size=3)
    found = measure("Sum", lambda: {"error": drawn.sum()}) + measure("Largest", lambda: {"error": drawn.max()})
    return [*found, *measure("Never", refuse)]


def refuse():
    raise CofactorError("not for this data")


def toy(settings=("small", "large"), trials=5, **fields):
    names = {setting: f"{setting} set" for setting in settings}
    defaults = {"title": "Toy", "source": "nowhere", "line": "crowd", "metrics": {"error": "%"}, "run": trial}
    return Experiment(name="toy", settings=names, trials=trials, **(defaults | fields))


def trials_of(setting="small", metric="error", **values):
    """Trials as they are read: method -> values over trials."""
    rows = [
        (setting, number, name, metric, value, number, "")
        for name, found in values.items()
        for number, value in enumerate(found)
    ]
    return pd.DataFrame(rows, columns=["setting", "trial", "method", "metric", "value", "seconds", "error"])


def as_trials(experiment, *keys):
    """Run trials (setting, number) of an experiment as the harness does; they are as those that are read."""
    rows = [
        (setting, number, m.method, m.metric, np.nan if m.value is None else m.value, m.seconds, m.error)
        for setting, number in keys
        for m in one_trial(experiment, setting, number)
    ]
    return pd.DataFrame(rows, columns=["setting", "trial", "method", "metric", "value", "seconds", "error"])
