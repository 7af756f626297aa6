"""A small experiment for the tests of the harness: it can be slow, fail, and count how often it ran."""

import os
import time
from pathlib import Path

from cofactor import CofactorError
from evaluation.experiment import Experiment, measure

LOG = "COFACTOR_TOY_LOG"  # folder where every finished call leaves one line
PAUSE = "COFACTOR_TOY_PAUSE"  # seconds a call takes


def trial(setting, number, rng):
    time.sleep(float(os.environ.get(PAUSE, 0)))
    if setting == "broken" and number == 1:
        raise RuntimeError("this trial breaks")
    drawn = rng.normal(size=3)
    found = measure("Sum", lambda: {"error": drawn.sum()}) + measure("Largest", lambda: {"error": drawn.max()})
    if log := os.environ.get(LOG):
        with Path(log).open("a") as file:
            file.write(f"{setting}/{number}\n")
    return [*found, *measure("Never", refuse)]


def refuse():
    raise CofactorError("not for this data")


def toy(settings=("small", "large"), trials=5, **fields):
    names = {setting: f"{setting} set" for setting in settings}
    defaults = {"title": "Toy", "source": "nowhere", "quick": 2, "line": "toy", "metrics": {"error": "%"}}
    return Experiment(name="toy", settings=names, run=trial, trials=trials, **(defaults | fields))
