"""What a method of any line must keep to, tried on small data: for whoever writes one."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.crowd.outside import loaded
from cofactor.protocol import labels, others
from cofactor.protocol.answers import FIRST, of_kit
from cofactor.registry import listed

Check = Callable[[Any, Any, Any], str]  # of method, data and its answer to these: what is wrong, or nothing


@dataclass(frozen=True)
class Line:
    """Small data of a line, how a method is asked about them, and how two answers are told apart."""

    drawn: Callable[[], Any]
    answer: Callable[[Any, Any], Any]
    differ: Callable[[Any, Any, str], str]
    checks: Mapping[str, Check]


LINES = {
    "crowd": Line(labels.drawn, labels.answer, labels.differ, labels.CHECKS),
    "pmf": Line(others.table, others.filled, others.cells_differ, others.TABLES),
    "separable": Line(others.points, others.anchors, others.anchors_differ, others.POINTS),
    "comparisons": Line(others.comparisons, others.chances, others.chances_differ, others.CHOICES),
}


def check_method(method: Any, line: str | None = None) -> list[str]:
    """Try whether a method keeps to what every method of this kit does.

    Parameters
    ----------
    method : function, class or object, or str
        As `cofactor bench` takes it: of labels, of a table, of X and the number of anchors, or of comparisons. A str is
        `FILE.py:NAME`, or a name of this kit. A class is made without arguments.
    line : {"crowd", "pmf", "separable", "comparisons"}, optional
        Default: told by the name of its first argument (labels, table, X, comparisons); else crowd.

    Returns the names of the checks that it passed. Of all lines: it answers in the right shape; it leaves its input as
    it is; a second run gives the same; it leaves the global random numbers of NumPy and Python alone; a copy of an
    object, and one that was pickled, answer as it does. Of each line: what changes nothing in the data changes nothing
    in the answer (other ids, another order of rows, workers, columns, items or classes, another scale), and it answers
    where there is little (one label a task, a task, worker, row, column, user or item without data, one class or
    outcome only). A method may refuse such data with a `CofactorError`, but not stop with any other error.

    Raises `CofactorError`, with one sentence for every check that failed.

    Cost: some twenty fits on at most 80 rows.

    Examples
    --------
    >>> check_method(lambda labels: labels.votes + 0.1)[:2]  # probabilities but for their sums
    ['shape', 'input']
    >>> check_method(lambda comparisons: np.zeros(comparisons.n_items))[:2]  # scores
    ['shape', 'ids']
    """
    line = line or _line_of(method)
    if line not in LINES:
        raise CofactorError(f"line={line!r}: one of {', '.join(LINES)}")
    one, made = LINES[line], _made(method, line)
    data = one.drawn()
    plain = one.answer(made, data)
    checks = dict(one.checks) | {name: partial(check, one) for name, check in ALL.items()}
    failed = {}
    for name, check in checks.items():
        try:
            said = check(made, data, plain)
        except CofactorError as error:
            said = str(error)
        if said:
            failed[name] = said
    if failed:
        raise CofactorError("\n".join(f"{name}: {said}" for name, said in failed.items()))
    return ["shape", *checks]


def _line_of(method: Any) -> str:
    if isinstance(method, str) and ":" not in method:
        return next((line for line in LINES if method in listed(line)), "crowd")
    thing = loaded(method) if isinstance(method, str) else method
    thing = getattr(thing, "fit", thing)
    try:
        names = [name for name in inspect.signature(thing).parameters if name != "self"]
    except (TypeError, ValueError):
        return "crowd"
    return FIRST.get(names[0], "crowd") if names else "crowd"


def _made(method: Any, line: str) -> Any:
    if isinstance(method, str) and ":" not in method:
        known = listed(line)
        if method not in known:
            raise CofactorError(f"no method {method!r} of line {line}; there are {listing(known, 50)}")
        return known[method].make() if line == "crowd" else of_kit(method, line, others.K)
    made = method() if isinstance(method, type | partial) else loaded(method) if isinstance(method, str) else method
    if not (callable(made) or hasattr(made, "fit")):
        raise CofactorError(f"{type(made).__name__} is no method: give a function, or what has fit and predict_proba")
    return made


# ---- of all lines ----


def _again(line: Line, method: Any, data: Any, plain: Any) -> str:
    fix = "a second run on the same data gives another answer; draw from numpy.random.default_rng(0)"
    return line.differ(plain, line.answer(method, data), fix)


def _seed(line: Line, method: Any, data: Any, plain: Any) -> str:
    def states() -> tuple[Any, Any]:
        return str(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002

    kept = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(271)  # noqa: NPY002
    random.seed(271)
    try:
        before = states()
        line.answer(method, data)
        used = states() != before
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    return "it uses the random numbers that all programs share: draw from numpy.random.default_rng(0)" if used else ""


def _copied(line: Line, method: Any, data: Any, plain: Any) -> str:
    return line.differ(plain, line.answer(copy.deepcopy(method), data), "a copy of it answers otherwise")


def _pickled(line: Line, method: Any, data: Any, plain: Any) -> str:
    if not hasattr(method, "fit"):
        return ""  # functions are found by their names in another process
    try:
        again = pickle.loads(pickle.dumps(method))
    except Exception as error:
        how = "define its class at the top of a module, and keep no function or open file in it"
        return f"it cannot be sent to another process ({type(error).__name__}: {error}): {how}"
    return line.differ(plain, line.answer(again, data), "one that was sent to another process answers otherwise")


ALL = {"same again": _again, "seed": _seed, "copy": _copied, "pickle": _pickled}
