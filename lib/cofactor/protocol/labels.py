"""What a method of labels must keep to, tried on small crowds."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.outside import Outside

CLOSE = 1e-6
REFUSED = ("the method stops", "must answer", "answers with")  # by what an error is told from a refusal


def answer(method: Any, labels: CrowdLabels) -> Floats:
    """Return the (N, K) probabilities that a method gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Outside(method).fit(labels).predict_proba(labels)


def drawn() -> CrowdLabels:
    """60 tasks of three classes; 8 workers label most of them, three of four rightly."""
    rng = np.random.default_rng(1)
    truth, said = rng.integers(3, size=(60, 1)), rng.integers(3, size=(60, 8))
    codes = np.where(rng.random((60, 8)) < 0.6, truth, said)
    return _labels(np.where(rng.random((60, 8)) < 0.7, codes, -1), ["a", "b", "c"])


def _labels(codes: ArrayLike, classes: list[Any], tasks: Any = None, workers: Any = None) -> CrowdLabels:
    table = CategoricalTable(codes, [len(classes)] * np.shape(codes)[1])
    tasks = list(range(table.n_rows)) if tasks is None else tasks
    return CrowdLabels(table, tasks, list(range(table.n_variables)) if workers is None else workers, classes)


def differ(one: Floats, other: Floats, what: str) -> str:
    """Say how many tasks have another class, or another probability, for other reasons than ties."""
    if one.shape == other.shape and np.allclose(one, other, atol=CLOSE):
        return ""
    clear = np.sort(one, axis=1)[:, -2:] @ [-1, 1] > CLOSE
    moved = int((clear & (one.argmax(axis=1) != other.argmax(axis=1))).sum())
    most = float(np.abs(one - other).max())
    return f"{what}: {moved} of {len(one)} tasks get another class, and probabilities move by up to {most:.2g}"


def _input(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    before = labels.table.codes.copy()
    given = copy.deepcopy(labels)
    answer(method, given)
    changed = not np.array_equal(given.table.codes, before) or given.classes != labels.classes
    return "it changes the labels that it is given: work on a copy" if changed else ""


def _ids(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    tasks, workers = [f"t{n:03}" for n in range(labels.n_tasks)], [f"w{m}" for m in range(labels.n_workers)]
    other = _labels(labels.table.codes, labels.classes, tasks, workers)
    return differ(plain, answer(method, other), "the names of tasks and workers matter")


def _order(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(labels.n_tasks), rng.permutation(labels.n_workers)
    other = answer(method, _labels(labels.table.codes[rows][:, columns], labels.classes))
    return differ(plain[rows], other, "the order of tasks and workers matters")


def _classes(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    new = np.array([2, 0, 1, -1])  # the last for what is missing
    other = answer(method, _labels(new[labels.table.codes], labels.classes))
    return differ(plain, other[:, new[:3]], "the order of the classes matters")


def _accepts(change: Callable[[Any], Any]) -> Callable[[Any, CrowdLabels, Floats], str]:
    def check(method: Any, labels: CrowdLabels, plain: Floats) -> str:
        try:
            answer(method, _labels(change(labels.table.codes.copy()), labels.classes))
        except CofactorError as error:
            if any(words in str(error) for words in REFUSED):
                return str(error)
        return ""

    return check


def _first_label(codes: Any) -> Any:
    first = codes[np.arange(len(codes)), (codes >= 0).argmax(axis=1)]
    single = np.full_like(codes, -1)
    single[np.arange(len(codes)), np.arange(len(codes)) % codes.shape[1]] = np.maximum(first, 0)
    return single


def _without(axis: int) -> Callable[[Any], Any]:
    def change(codes: Any) -> Any:
        codes[(0, slice(None)) if axis == 0 else (slice(None), 0)] = -1
        return codes

    return change


CHECKS: dict[str, Callable[[Any, CrowdLabels, Floats], str]] = {
    "input": _input,
    "ids": _ids,
    "order": _order,
    "classes": _classes,
    "one label a task": _accepts(_first_label),
    "a task without labels": _accepts(_without(0)),
    "a worker without labels": _accepts(_without(1)),
    "one class only": _accepts(lambda codes: np.minimum(codes, 0)),
    "two tasks": _accepts(lambda codes: codes[:2]),
}
