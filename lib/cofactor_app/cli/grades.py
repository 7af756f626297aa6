"""Grades on the command line: the order that was declared, and what is said of labels read as grades."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from typing import Any

import numpy as np

import cofactor as cf
from cofactor.core.types import Floats, Ints
from cofactor.crowd.agreement import krippendorff_alpha
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import vote_shares
from cofactor.crowd.order import in_order, suggested_order
from cofactor_app.cli.methods import DEFAULT

METHOD = "WorkerTypes"  # the one that reads grades


def check(arguments: argparse.Namespace) -> None:
    """Refuse an order where it does not apply."""
    if arguments.order is None:
        return
    if arguments.method not in (DEFAULT, METHOD):
        raise cf.CofactorError(f"--order is for {METHOD}: leave --method {arguments.method} out")


def settings(arguments: argparse.Namespace, labels: cf.CrowdLabels) -> dict[str, Any]:
    """Return the method's settings for labels in the declared order; none without one."""
    if arguments.order is None:
        return {}
    return {"order": labels.classes}


def in_declared_order(text: str, labels: cf.CrowdLabels, truth: Ints | None) -> tuple[cf.CrowdLabels, Ints | None]:
    """Return labels, and truth codes of a data set, with classes in the order of a comma-separated text."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    known = {str(name): name for name in labels.classes}
    whole = all(isinstance(name, int | np.integer) for name in labels.classes)
    order = [
        known[name] if name in known else int(name) if whole and name.lstrip("-").isdigit() else name for name in names
    ]
    graded = in_order(labels, order)
    if truth is None:
        return graded, None
    place = np.array([graded.classes.index(name) for name in labels.classes] + [-1])
    return graded, np.where(truth < 0, -1, place[truth])


def graded(method: Aggregator) -> bool:
    """Tell whether a method reads classes as grades."""
    return getattr(method, "grades_", None) is not None


def answered(method: Aggregator, posterior: Floats) -> Floats:
    """Return the posterior; of grades, whose answer may not be the most probable one, one at the answer."""
    return np.eye(posterior.shape[1])[method.answers(posterior)] if graded(method) else posterior


def lines(method: Aggregator, labels: cf.CrowdLabels) -> Iterator[str]:
    """Yield how grades were read; without an order, whether classes look like grades."""
    if not graded(method):
        order = None if getattr(method, "order", None) else suggested_order(labels)
        if order:
            yield suggestion(order)
        return
    alphas = (f"{level} {krippendorff_alpha(labels, level):.2f}" for level in ("ordinal", "interval"))
    yield f"agreement of grades (Krippendorff's alpha): {', '.join(alphas)}"
    yield "answer: the median grade, which is fewest steps off"


def suggestion(order: list[Any]) -> str:
    """Return a note on classes that look like grades."""
    named = ",".join(map(str, order))
    found = "classes may be grades: in this order workers agree better by squared steps than in nine of ten others"
    return f'{found}; if they are, declare it: --order "{named}"'


def steps_off(name: str, method: Aggregator, posterior: Floats, labels: cf.CrowdLabels, truth: Ints) -> Iterator[str]:
    """Yield how many steps answers are off, beside the median and the rounded mean of a task's labels."""
    known = (truth >= 0) & (truth < labels.n_classes)
    if not graded(method) or not known.any():
        return
    shares, K = vote_shares(labels), labels.n_classes
    median = np.sum(np.cumsum(shares, axis=1) < 0.5, axis=1)
    answers = {"median label": median, "rounded mean": np.rint(shares @ np.arange(K)), name: method.answers(posterior)}
    off = (f"{who} {np.abs(answer - truth)[known].mean():.3f}" for who, answer in answers.items())
    yield f"steps off on the {known.sum()} tasks with known truth: {', '.join(off)}"
