"""The page that `cofactor aggregate --report` writes: what was found about one crowd, and how sure one may be."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

from cofactor.core.diagnosis import Diagnosis
from cofactor.core.tables import Ints
from cofactor.crowd.base import Aggregator, Floats, worker_accuracy
from cofactor.crowd.labels import CrowdLabels
from cofactor.pages.render import as_source, render
from cofactor.teaching.figures.crowd import draw_confusions, draw_uncertainty, draw_worker_accuracy

MOST_ROWS = 20  # of a table


def crowd_page(
    source: str, name: str, method: Aggregator, labels: CrowdLabels, facts: Sequence[str], diagnosis: Diagnosis
) -> str:
    """Return the page for a fitted method.

    Parameters
    ----------
    source, name : str
        Where the labels come from, and the method's name.
    method : Aggregator
        Fitted on `labels`.
    labels : CrowdLabels
    facts : list of str
        Lines to open with, as printed on the command line.
    diagnosis : Diagnosis

    Cost: that of the posterior, and about a second for the pictures.
    """
    posterior, model = method.predict_proba(labels), method.model_
    counts = np.bincount(method.predict(labels), minlength=labels.n_classes)
    pictures = {
        "How often each worker is right": draw_worker_accuracy(model, labels),
        "What workers say of each class": draw_confusions(model, labels.workers, classes=labels.classes),
        "How sure the labels are": draw_uncertainty(posterior),
    }
    return render(
        "crowd",
        source=source,
        method=name,
        facts=facts,
        diagnosis=diagnosis,
        classes=list(zip(labels.classes, model.prior, counts, strict=True)),
        pictures=[(title, as_source(picture)) for title, picture in pictures.items()],
        workers=_workers(method, labels),
        doubtful=_doubtful(posterior, labels),
        written=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _workers(method: Aggregator, labels: CrowdLabels) -> list[dict[str, Any]]:
    """Busiest workers first: labels given, estimated accuracy, the most frequent confusion."""
    given, accuracy = labels.table.entries_per_variable, worker_accuracy(method.model_)
    busiest = np.argsort(-given, kind="stable")[:MOST_ROWS]
    return [
        {
            "worker": labels.workers[m],
            "labels": int(given[m]),
            "accuracy": accuracy[m],
            "confusion": _worst(method.model_.conditionals[m], method.model_.prior, labels.classes),
        }
        for m in busiest
    ]


def _worst(A: Floats, prior: Floats, classes: Sequence[Any]) -> str:
    """Name the most frequent wrong answer."""
    joint = A * prior
    np.fill_diagonal(joint, 0.0)
    said, true = np.unravel_index(np.argmax(joint), joint.shape)
    return (
        f"says {classes[int(said)]} for {classes[int(true)]}: {A[said, true]:.0%} of the time"
        if joint.max() > 0
        else "none"
    )


def _doubtful(posterior: Floats, labels: CrowdLabels) -> list[dict[str, Any]]:
    """Tasks to look at again: lowest probability of the label first."""
    best: Ints = posterior.argmax(axis=1)
    sure = posterior.max(axis=1)
    rows = np.argsort(sure, kind="stable")[:MOST_ROWS]
    given = labels.table.entries_per_row
    return [
        {
            "task": labels.tasks[n],
            "label": labels.classes[best[n]],
            "probability": sure[n],
            "labels": int(given[n]),
            "second": labels.classes[int(np.argsort(-posterior[n], kind="stable")[1])],
        }
        for n in rows
    ]
