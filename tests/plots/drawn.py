"""Figures of pages, drawn from small fixed data, and their stored fingerprints.

`python -m tests.plots.drawn` stores them anew.
"""

import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest

import cofactor as cf
from cofactor.core.errors import DataWarning
from cofactor_app.pages import render
from cofactor_app.pages.crowd import page
from evaluation import summary
from evaluation.plots import PLOTS, draw
from tests.course.test_pictures import CROWD, PICTURES
from tests.evaluation.toy import FACTS, toy
from tests.fingerprint import fingerprint

STORED = Path(__file__).with_name("fingerprints")
VIEWS = "confusions", "worker_accuracy", "uncertainty", "methods", "votes", "plan", "simplex", "rotation", "convergence"
CORNERS = {f"h{i}{j}": float(i == j) or 0.1 for i in range(3) for j in range(3)} | {"unique": 1.0, "1/r": 0.7}
FIELDS = {  # of a toy experiment that is drawn as a curve, ...
    "curves": {"metrics": {"t=1": "1"}},
    "sweep": {"settings": ("N=1,000", "N=20")},
}
FOUND = {  # method: metric: values of the two settings, in the first trial
    "curves": {"Sum": {"t=1": (3, 4), "t=2": (2, 3.5)}, "Largest": {"t=1": (5, 6), "t=2": (4, 1)}},
    "simplex": {"Sum": {name: (value, value) for name, value in CORNERS.items()}},
}
USUAL = {"Sum": {"error": (9, 11)}, "Largest": {"error": (7, 12)}}


def page_of_labels():
    """Figures of the page of `cofactor aggregate --report`."""
    found = []
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        patch.setattr(render, "to_png", lambda figure, dpi: found.append(figure) or b"")
        for draws in (10, 0):
            page(cf.aggregate(CROWD.labels, method=cf.crowd.MVEM(), draws=draws))
    return found


def of_results(kind):
    """Draw the results of a made experiment of two settings and three trials, as its page and the book do."""
    experiment = toy(plot=kind, **FIELDS.get(kind, {}))
    trials = pd.DataFrame(
        [
            (setting, trial, method, metric, values[place] * (1 + 0.1 * trial), 0.0, "")
            for place, setting in enumerate(experiment.settings)
            for trial in range(3)
            for method, metrics in FOUND.get(kind, USUAL).items()
            for metric, values in metrics.items()
        ],
        columns=["setting", "trial", "method", "metric", "value", "seconds", "error"],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "published", lambda name: FACTS)
        return draw(experiment, trials, summary.summarise(experiment, trials))


DRAWN = {
    **{f"view_{name}": PICTURES[name] for name in VIEWS},
    **{f"results_{kind}": lambda kind=kind: of_results(kind) for kind in PLOTS},
    "page_of_labels": page_of_labels,
}


def text_of(name):
    """Fingerprints of the figures of this name, one after the other."""
    drawn = DRAWN[name]()
    return "\n".join(map(fingerprint, drawn if isinstance(drawn, list) else [drawn])) + "\n"


def store(names):
    """Write the fingerprints of these figures, or of all; files of others that were stored once go."""
    STORED.mkdir(exist_ok=True)
    for path in STORED.glob("*.txt"):
        if path.stem not in DRAWN:
            path.unlink()
    for name in names or DRAWN:
        (STORED / f"{name}.txt").write_text(text_of(name), encoding="utf8", newline="\n")


if __name__ == "__main__":
    store(sys.argv[1:])
