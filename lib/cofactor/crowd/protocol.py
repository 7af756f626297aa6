"""What a method of labels must keep to, tried on small crowds: for whoever writes one."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.outside import Outside, loaded
from cofactor.registry import Methods

METHODS = Methods("crowd")
CLOSE = 1e-6


def check_method(method: Any) -> list[str]:
    """Try whether a method of labels keeps to what every method of this kit does.

    Parameters
    ----------
    method : function of `CrowdLabels`, class or object with `fit` and `predict_proba`, or str
        As `cofactor.crowd.Outside` takes it, or a name of `METHODS`. A class is made without arguments.

    Returns the names of the checks that it passed. They are: it answers in the shape (tasks, classes); it leaves its
    input as it is; a second run with the same labels gives the same; other ids of tasks and workers, another order of
    the rows of labels, and another order of the classes give the same labels; and it answers where a task has one
    label, a task or a worker has none, every worker says the same class, or there are two tasks only. A method may
    refuse such labels with a `CofactorError`, but not stop with any other error. A copy of an object answers as it
    does.

    Raises `CofactorError`, with one sentence for every check that failed.

    Cost: some twenty fits on at most 60 tasks.

    Examples
    --------
    >>> check_method(lambda labels: labels.votes + 0.1)[:2]  # probabilities but for their sums
    ['shape', 'input']
    """
    if isinstance(method, str) and ":" not in method:
        if method not in METHODS:
            raise CofactorError(f"no method {method!r}; there are {listing(METHODS, 50)}")
        method = METHODS[method]
    made = method() if isinstance(method, type | partial) else loaded(method) if isinstance(method, str) else method
    if not (callable(made) or hasattr(made, "fit")):
        raise CofactorError(f"{type(made).__name__} is no method: give a function, or what has fit and predict_proba")
    labels = _drawn()
    plain = _answer(made, labels)
    failed = {}
    for name, check in CHECKS.items():
        try:
            said = check(made, labels, plain)
        except CofactorError as error:
            said = str(error)
        if said:
            failed[name] = said
    if failed:
        raise CofactorError("\n".join(f"{name}: {said}" for name, said in failed.items()))
    return ["shape", *CHECKS]


def _answer(method: Any, labels: CrowdLabels) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Outside(method).fit(labels).predict_proba(labels)


def _drawn() -> CrowdLabels:
    """60 tasks of three classes; 8 workers label most of them, three of four rightly."""
    rng = np.random.default_rng(1)
    truth, said = rng.integers(3, size=(60, 1)), rng.integers(3, size=(60, 8))
    codes = np.where(rng.random((60, 8)) < 0.6, truth, said)
    return _labels(np.where(rng.random((60, 8)) < 0.7, codes, -1), ["a", "b", "c"])


def _labels(codes: ArrayLike, classes: list[Any], tasks: Any = None, workers: Any = None) -> CrowdLabels:
    table = CategoricalTable(codes, [len(classes)] * np.shape(codes)[1])
    tasks = list(range(table.n_rows)) if tasks is None else tasks
    return CrowdLabels(table, tasks, list(range(table.n_variables)) if workers is None else workers, classes)


def _differ(one: Floats, other: Floats, what: str) -> str:
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
    _answer(method, given)
    changed = not np.array_equal(given.table.codes, before) or given.classes != labels.classes
    return "it changes the labels that it is given: work on a copy" if changed else ""


def _again(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    fix = "a second run on the same labels gives another answer; draw from numpy.random.default_rng(0)"
    return _differ(plain, _answer(method, labels), fix)


def _ids(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    tasks, workers = [f"t{n:03}" for n in range(labels.n_tasks)], [f"w{m}" for m in range(labels.n_workers)]
    other = _labels(labels.table.codes, labels.classes, tasks, workers)
    return _differ(plain, _answer(method, other), "the names of tasks and workers matter")


def _order(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(labels.n_tasks), rng.permutation(labels.n_workers)
    other = _answer(method, _labels(labels.table.codes[rows][:, columns], labels.classes))
    return _differ(plain[rows], other, "the order of tasks and workers matters")


def _classes(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    new = np.array([2, 0, 1, -1])  # the last for what is missing
    other = _answer(method, _labels(new[labels.table.codes], labels.classes))
    return _differ(plain, other[:, new[:3]], "the order of the classes matters")


def _accepts(change: Callable[[Any], Any]) -> Callable[[Any, CrowdLabels, Floats], str]:
    def check(method: Any, labels: CrowdLabels, plain: Floats) -> str:
        try:
            _answer(method, _labels(change(labels.table.codes.copy()), labels.classes))
        except CofactorError as error:
            if "the method stops" in str(error) or "must answer" in str(error) or "answers with" in str(error):
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


def _copied(method: Any, labels: CrowdLabels, plain: Floats) -> str:
    return _differ(plain, _answer(copy.deepcopy(method), labels), "a copy of it answers otherwise")


CHECKS: dict[str, Callable[[Any, CrowdLabels, Floats], str]] = {
    "input": _input,
    "same again": _again,
    "ids": _ids,
    "order": _order,
    "classes": _classes,
    "one label a task": _accepts(_first_label),
    "a task without labels": _accepts(_without(0)),
    "a worker without labels": _accepts(_without(1)),
    "one class only": _accepts(lambda codes: np.minimum(codes, 0)),
    "two tasks": _accepts(lambda codes: codes[:2]),
    "copy": _copied,
}
