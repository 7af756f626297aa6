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
from cofactor.crowd.ordinal import Grading
from cofactor_app.cli.methods import DEFAULT

METHOD = "WorkerTypes"  # the one that reads grades
READ_AS = {
    "class": "every task has a grade, and workers err",
    "mean": "every task has a score, the crowd's mean freed from each worker's offset",
}
ANSWERS = {"steps": "the median grade, fewest steps off (--loss errors: the most probable one)"}
ANSWERS["errors"] = "the most probable grade, fewest errors (--loss steps: the median)"
ROUNDED = "the most probable grade of the score"


def check(arguments: argparse.Namespace) -> None:
    """Refuse options of grades where they do not apply."""
    if arguments.order is None:
        if arguments.reading != "auto" or arguments.loss != "steps":
            raise cf.CofactorError("--reading and --loss are for grades: name their order, --order 'low,medium,high'")
        return
    if arguments.method not in (DEFAULT, METHOD):
        raise cf.CofactorError(f"--order is for {METHOD}: leave --method {arguments.method} out")


def settings(arguments: argparse.Namespace, labels: cf.CrowdLabels) -> dict[str, Any]:
    """Return the method's settings for labels in the declared order; none without one."""
    if arguments.order is None:
        return {}
    return {"order": labels.classes, "reading": arguments.reading, "loss": arguments.loss}


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


def grading_of(method: Aggregator) -> Grading | None:
    """Return how a method reads grades; None where it does not."""
    found: Grading | None = getattr(method, "grading_", None)
    return found


def answered(method: Aggregator, posterior: Floats) -> Floats:
    """Return the posterior; of grades, whose answer may not be the most probable one, one at the answer."""
    return posterior if grading_of(method) is None else np.eye(posterior.shape[1])[method.answers(posterior)]


def lines(method: Aggregator, labels: cf.CrowdLabels) -> Iterator[str]:
    """Yield how grades were read; without an order, whether classes look like grades."""
    found = grading_of(method)
    if found is None:
        order = None if getattr(method, "order", None) else suggested_order(labels)
        if order:
            yield suggestion(order)
        return
    alphas = (f"{level} {krippendorff_alpha(labels, level):.2f}" for level in ("ordinal", "interval"))
    yield f"agreement of grades (Krippendorff's alpha): {', '.join(alphas)}"
    other = "class" if found.reading == "mean" else "mean"
    yield f"grades read so: {READ_AS[found.reading]}; chosen {found.chosen_by} (--reading {other} for the other one)"
    if found.held_out is not None:
        yield f"labels held out: z = {found.held_out.z:.1f} for the mean, which is read above 2"
    if np.isfinite(found.gold_t):
        yield f"gold tasks: t = {found.gold_t:.1f} for the mean, which they choose from 1.5 on, the classes below -1.5"
    yield f"answer: {ROUNDED if found.reading == 'mean' else ANSWERS[found.loss]}"


def suggestion(order: list[Any]) -> str:
    """Return a note on classes that look like grades."""
    named = ",".join(map(str, order))
    found = "classes may be grades: in this order workers agree better by squared steps than in nine of ten others"
    return f'{found}; if they are, declare it: --order "{named}"'


def steps_off(name: str, method: Aggregator, posterior: Floats, labels: cf.CrowdLabels, truth: Ints) -> Iterator[str]:
    """Yield how many steps answers are off, beside the median and the rounded mean of a task's labels."""
    known = (truth >= 0) & (truth < labels.n_classes)
    if grading_of(method) is None or not known.any():
        return
    shares, K = vote_shares(labels), labels.n_classes
    median = np.sum(np.cumsum(shares, axis=1) < 0.5, axis=1)
    answers = {"median label": median, "rounded mean": np.rint(shares @ np.arange(K)), name: method.answers(posterior)}
    off = (f"{who} {np.abs(answer - truth)[known].mean():.3f}" for who, answer in answers.items())
    yield f"steps off on the {known.sum()} tasks with known truth: {', '.join(off)}"
