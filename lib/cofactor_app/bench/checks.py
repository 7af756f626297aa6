"""Checks of the rules that every method must follow, on small data: for authors of methods."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import Outside
from cofactor.crowd.labels import CrowdLabels
from cofactor.registry import listed, loaded
from cofactor_app.bench.answers import FIRST, Question, answer_by, built_in

Check = Callable[[Any, Any, Any], str]  # of method, data and its answer to these: what is wrong, or nothing

# these words tell an error from a refusal
REFUSED = ("the method stops", "must answer", "must return", "must take", "answers with")
CLOSE_PROBABILITY, CLOSE_CHANCE = 1e-6, 1e-4
N_ANCHORS, USERS, ITEMS = 4, 12, 6


@dataclass(frozen=True)
class Example:
    """Small data of a problem, how a method is called on them, and how two answers are compared."""

    drawn: Callable[[], Any]
    answer: Callable[[Any, Any], Any]
    differ: Callable[[Any, Any, str], str]
    checks: Mapping[str, Check]


def check_method(method: Any, problem: str | None = None) -> list[str]:
    """Check that a method behaves as every method of cofactor does.

    Parameters
    ----------
    method : function, class or object, or str
        As for `cofactor bench`: it takes labels, a table, X and the number of anchors, or comparisons. A str is
        `FILE.py:NAME`, or the name of a built-in method. A class is instantiated without arguments.
    problem : {"crowd", "pmf", "separable", "comparisons"}, optional
        Default: from the name of its first argument (labels, table, X, comparisons); otherwise crowd.

    Returns the names of the checks that the method passed. For all problems: its answer has the right shape; it does
    not change its input; a second run gives the same answer; it does not use the global random numbers of NumPy and
    Python; a copied or pickled object gives the same answer. For each problem: changes that do not matter leave the
    answer the same (other ids, another order of rows, workers, columns, items or classes, another scale), and it gives
    an answer for little data (one label per task; a task, worker, row, column, user or item without data; a single
    class or outcome). A method may refuse such data with a `CofactorError`, but must not raise any other error.

    Raises `CofactorError`, with one sentence for every failed check.

    Cost: about twenty fits on at most 80 rows.

    Examples
    --------
    >>> check_method(lambda labels: labels.votes + 0.1)[:2]  # probabilities, up to their sums
    ['shape', 'input']
    >>> check_method(lambda comparisons: np.zeros(comparisons.n_items))[:2]  # scores
    ['shape', 'ids']
    """
    problem = problem or _problem_of(method)
    if problem not in EXAMPLES:
        raise CofactorError(f"problem={problem!r}: choose one of {', '.join(EXAMPLES)}")
    one, made = EXAMPLES[problem], _made(method, problem)
    data = one.drawn()
    plain = one.answer(made, data)
    checks = dict(one.checks) | {name: partial(check, one) for name, check in ALL.items()}
    failed = {}
    for name, check in checks.items():
        try:
            found = check(made, data, plain)
        except CofactorError as error:
            found = str(error)
        if found:
            failed[name] = found
    if failed:
        raise CofactorError("\n".join(f"{name}: {found}" for name, found in failed.items()))
    return ["shape", *checks]


def _problem_of(method: Any) -> str:
    if isinstance(method, str) and ":" not in method:
        return next((problem for problem in EXAMPLES if method in listed(problem)), "crowd")
    thing = loaded(method) if isinstance(method, str) else method
    thing = getattr(thing, "fit", thing)
    try:
        names = [name for name in inspect.signature(thing).parameters if name != "self"]
    except (TypeError, ValueError):
        return "crowd"
    return FIRST.get(names[0], "crowd") if names else "crowd"


def _made(method: Any, problem: str) -> Any:
    if isinstance(method, str) and ":" not in method:
        known = listed(problem)
        if method not in known:
            raise CofactorError(f"no {problem} method {method!r}: choose one of {listing(known, 50)}")
        return known[method].make() if problem == "crowd" else built_in(method, problem, N_ANCHORS)
    made = method() if isinstance(method, type | partial) else loaded(method) if isinstance(method, str) else method
    if not (callable(made) or hasattr(made, "fit")):
        raise CofactorError(
            f"{type(made).__name__} is not a method: give a function, or an object with fit and predict_proba"
        )
    return made


# ---- checks of all problems ----


def _again(example: Example, method: Any, data: Any, plain: Any) -> str:
    fix = "a second run on the same data gives a different answer; use numpy.random.default_rng(0)"
    return example.differ(plain, example.answer(method, data), fix)


def _seed(example: Example, method: Any, data: Any, plain: Any) -> str:
    def states() -> tuple[Any, Any]:
        return str(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002

    kept = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(271)  # noqa: NPY002
    random.seed(271)
    try:
        before = states()
        example.answer(method, data)
        used = states() != before
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    return "it uses the global random number generator; use numpy.random.default_rng(0) instead" if used else ""


def _copied(example: Example, method: Any, data: Any, plain: Any) -> str:
    return example.differ(plain, example.answer(copy.deepcopy(method), data), "a copy of it gives a different answer")


def _pickled(example: Example, method: Any, data: Any, plain: Any) -> str:
    if not hasattr(method, "fit"):
        return ""  # functions are found by their names in another process
    try:
        again = pickle.loads(pickle.dumps(method))
    except Exception as error:
        how = "define its class at the top level of a module, without functions or open files as attributes"
        return f"it cannot be pickled ({type(error).__name__}: {error}): {how}"
    return example.differ(plain, example.answer(again, data), "after pickling, it gives a different answer")


ALL = {"same again": _again, "seed": _seed, "copy": _copied, "pickle": _pickled}


# ---- checks of one problem ----


def _law(ask: Any, differ: Any, what: str, change: Callable[[Any], Any], undo: Callable[[Any], Any]) -> Check:
    """Return the check that a change of the data, undone in the answer, changes nothing."""
    return lambda method, data, plain: str(differ(plain, undo(ask(method, change(data))), what))


def _accepts(ask: Any, change: Callable[[Any], Any]) -> Check:
    """Return the check that a method answers or refuses such data, and does not stop."""

    def check(method: Any, data: Any, plain: Any) -> str:
        try:
            ask(method, change(data))
        except CofactorError as error:
            if any(words in str(error) for words in REFUSED):
                return str(error)
        return ""

    return check


def _kept(ask: Any, state: Callable[[Any], Any], what: str) -> Check:
    """Return the check that the data are after an answer what they were before."""

    def check(method: Any, data: Any, plain: Any) -> str:
        given = copy.deepcopy(data)
        ask(method, given)
        return "" if state(given) == state(data) else f"it modifies its input ({what}): work on a copy"

    return check


def _asked(method: Any, question: Question) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return answer_by(method, question)


def _diagonal(codes: Any) -> Any:
    """Keep one cell a row, in each column in turn: the first code of the row, or 0."""
    first = np.maximum(codes[np.arange(len(codes)), (codes >= 0).argmax(axis=1)], 0)
    single, place = np.full_like(codes, -1), (np.arange(len(codes)), np.arange(len(codes)) % codes.shape[1])
    single[place] = first
    return single


def _without(where: Any) -> Callable[[Any], Any]:
    def change(codes: Any) -> Any:
        codes[where] = -1
        return codes

    return change


OTHER_CODES = np.array([2, 0, 1, -1])  # three codes in another order; the last for what is missing
BACK = np.argsort(OTHER_CODES[:3])


# ---- labels ----


def crowd_labels() -> CrowdLabels:
    """Return labels by 8 workers of most of 60 tasks with three classes, about three of four of them right."""
    rng = np.random.default_rng(1)
    truth, drawn = rng.integers(3, size=(60, 1)), rng.integers(3, size=(60, 8))
    codes = np.where(rng.random((60, 8)) < 0.6, truth, drawn)
    return labels_of(np.where(rng.random((60, 8)) < 0.7, codes, -1), ["a", "b", "c"])


def labels_of(codes: ArrayLike, classes: list[Any], tasks: str = "", workers: str = "") -> CrowdLabels:
    """Return labels from codes, -1 where missing; tasks and workers are named by numbers or by format strings."""
    table = CategoricalTable(codes, [len(classes)] * np.shape(codes)[1])
    task_ids = [tasks.format(n) if tasks else n for n in range(table.n_rows)]
    worker_ids = [workers.format(m) if workers else m for m in range(table.n_variables)]
    return CrowdLabels(table, task_ids, worker_ids, classes)


def probabilities(method: Any, labels: CrowdLabels) -> Floats:
    """Return the (N, K) probabilities of a method."""
    with warnings.catch_warnings(action="ignore"):
        return Outside(method).fit(labels).predict_proba(labels)


def probabilities_differ(one: Floats, other: Floats, what: str) -> str:
    """Say how many tasks get a different class, ties aside, and how much probabilities change."""
    if one.shape == other.shape and np.allclose(one, other, atol=CLOSE_PROBABILITY):
        return ""
    clear = np.sort(one, axis=1)[:, -2:] @ [-1, 1] > CLOSE_PROBABILITY
    moved = int((clear & (one.argmax(axis=1) != other.argmax(axis=1))).sum())
    most = float(np.abs(one - other).max())
    return f"{what}: {moved} of {len(one)} tasks get a different class, and probabilities change by up to {most:.2g}"


def _crowd() -> Example:
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(8)
    law = partial(_law, probabilities, probabilities_differ)

    def accepts(change: Callable[[Any], Any]) -> Check:
        return _accepts(probabilities, lambda labels: labels_of(change(labels.table.codes.copy()), labels.classes))

    checks = {
        "input": _kept(probabilities, lambda labels: (labels.table.codes.tolist(), labels.classes), "labels"),
        "ids": law(
            "the answer depends on the names of tasks and workers",
            lambda labels: labels_of(labels.table.codes, labels.classes, "t{:03}", "w{}"),
            lambda found: found,
        ),
        "order": law(
            "the answer depends on the order of tasks and workers",
            lambda labels: labels_of(labels.table.codes[rows][:, columns], labels.classes),
            lambda found: found[np.argsort(rows)],
        ),
        "classes": law(
            "the answer depends on the order of the classes",
            lambda labels: labels_of(OTHER_CODES[labels.table.codes], labels.classes),
            lambda found: found[:, OTHER_CODES[:3]],
        ),
        "one label a task": accepts(_diagonal),
        "a task without labels": accepts(_without(0)),
        "a worker without labels": accepts(_without((slice(None), 0))),
        "one class only": accepts(lambda codes: np.minimum(codes, 0)),
        "two tasks": accepts(lambda codes: codes[:2]),
    }
    return Example(crowd_labels, probabilities, probabilities_differ, checks)


# ---- tables ----


def table() -> CategoricalTable:
    """Return 80 rows of five columns with three values, from two latent classes; a tenth of the cells is missing."""
    rng = np.random.default_rng(13)  # no column has two values that are as frequent
    hidden = rng.integers(2, size=(80, 1))
    common = np.where(hidden == 1, [0, 1, 2, 0, 1], [2, 0, 1, 1, 2])
    codes = np.where(rng.random((80, 5)) < 0.75, common, rng.integers(3, size=(80, 5)))
    return _table(np.where(rng.random((80, 5)) < 0.9, codes, -1))


def _table(codes: Any) -> CategoricalTable:
    return CategoricalTable(codes, [3] * codes.shape[1])


def filled(method: Any, data: CategoricalTable) -> Ints:
    """Return the codes of the table with its missing cells filled by the method."""
    codes, cells = np.array(data.codes), np.argwhere(data.codes < 0)
    codes[tuple(cells.T)] = _asked(method, Question("pmf", data, cells))
    return codes


def cells_differ(one: Ints, other: Ints, what: str) -> str:
    """Say how many cells are filled differently."""
    moved = int((one != other).sum())
    return f"{what}: {moved} cells are filled differently" if moved else ""


def _pmf() -> Example:
    rows, columns = np.random.default_rng(0).permutation(80), np.array([3, 0, 4, 1, 2])
    law = partial(_law, filled, cells_differ)

    def accepts(change: Callable[[Any], Any]) -> Check:
        return _accepts(filled, lambda data: _table(change(np.array(data.codes))))

    checks = {
        "input": _kept(filled, lambda data: data.codes.tolist(), "table"),
        "order": law(
            "the answer depends on the order of the rows",
            lambda data: _table(data.codes[rows]),
            lambda found: found[np.argsort(rows)],
        ),
        "columns": law(
            "the answer depends on the order of the columns",
            lambda data: _table(data.codes[:, columns]),
            lambda found: found[:, np.argsort(columns)],
        ),
        "values": law(
            "the answer depends on the order of the values",
            lambda data: _table(OTHER_CODES[data.codes]),
            lambda found: BACK[found],
        ),
        "one cell a row": accepts(_diagonal),
        "a row without cells": accepts(_without(0)),
        "a column without cells": accepts(_without((slice(None), 0))),
        "one value only": accepts(lambda codes: np.minimum(codes, 0)),
        "two rows": accepts(lambda codes: codes[:2]),
    }
    return Example(table, filled, cells_differ, checks)


# ---- points ----


def points() -> Floats:
    """Return 30 points of 12 numbers, mixtures of four of them with little noise."""
    rng = np.random.default_rng(0)
    weights = np.column_stack([np.eye(N_ANCHORS), rng.dirichlet(np.full(N_ANCHORS, 0.8), 26).T])
    X = rng.random((12, N_ANCHORS)) @ weights + 1e-4 * rng.random((12, 30))
    return np.ascontiguousarray(X[:, rng.permutation(30)])


def anchors(method: Any, X: Floats, n_anchors: int = N_ANCHORS) -> Ints:
    """Return the sorted columns that the method chooses as anchors."""
    return np.sort(_asked(method, Question("separable", X.copy(), n_anchors)))


def anchors_differ(one: Ints, other: Ints, what: str) -> str:
    """Say how many anchors are different."""
    moved = len(set(one.tolist()) - set(other.tolist()))
    return f"{what}: {moved} of {len(one)} anchors are different" if moved else ""


def _separable() -> Example:
    columns, rows = (np.random.default_rng(1).permutation(n) for n in (30, 12))
    law = partial(_law, anchors, anchors_differ)

    def accepts(change: Callable[[Any], Any], n_anchors: int = N_ANCHORS) -> Check:
        return _accepts(lambda method, X: anchors(method, X, n_anchors), change)

    def ask_as_given(method: Any, X: Floats) -> Any:
        return _asked(method, Question("separable", X, N_ANCHORS))

    checks = {
        "input": _kept(ask_as_given, lambda X: X.tolist(), "matrix"),
        "order": law(
            "the answer depends on the order of the points",
            lambda X: np.ascontiguousarray(X[:, columns]),
            lambda found: columns[found],
        ),
        "rows": law(
            "the answer depends on the order of the rows",
            lambda X: np.ascontiguousarray(X[rows]),
            lambda found: found,
        ),
        "scale": law("the answer depends on the unit of the numbers", lambda X: 1024 * X, lambda found: found),
        "equal points": accepts(lambda X: np.hstack([X, X])),
        "a point of zeros": accepts(lambda X: np.hstack([X, np.zeros((len(X), 1))])),
        "one anchor": accepts(lambda X: X, 1),
        "all points are one": accepts(lambda X: np.repeat(X[:, :1], 6, axis=1)),
        "as many anchors as points": accepts(lambda X: X[:, :N_ANCHORS]),
    }
    return Example(points, anchors, anchors_differ, checks)


# ---- comparisons ----


def comparisons() -> Comparisons:
    """Return 360 comparisons by twelve users of six items, each better than the next; a tenth are ties."""
    rng = np.random.default_rng(0)
    user, left = rng.integers(USERS, size=360), rng.integers(ITEMS, size=360)
    right = (left + rng.integers(1, ITEMS, 360)) % ITEMS
    won = (rng.random(360) < 1 / (1 + np.exp(0.6 * (left - right)))).astype(float)
    return _compared(user, left, right, np.where(rng.random(360) < 0.1, 0.5, won))


def _compared(user: Any, left: Any, right: Any, outcome: Any) -> Comparisons:
    return Comparisons(user, left, right, outcome, USERS, ITEMS)


def win_probabilities(method: Any, data: Comparisons) -> Floats:
    """Return the (users, items, items) win probabilities of the left item; 0.5 for an item with itself."""
    left, right = np.nonzero(~np.eye(ITEMS, dtype=bool))
    asked = np.column_stack([np.repeat(np.arange(USERS), len(left)), np.tile([left, right], USERS).T])
    found = np.full((USERS, ITEMS, ITEMS), 0.5)
    found[tuple(asked.T)] = _asked(method, Question("comparisons", data, asked))
    return found


def win_probabilities_differ(one: Floats, other: Floats, what: str) -> str:
    """Say how much probabilities change."""
    most = float(np.abs(one - other).max())
    return f"{what}: probabilities change by up to {most:.2g}" if most > CLOSE_CHANCE else ""


def _comparisons() -> Example:
    rng = np.random.default_rng(1)
    user, item, order = rng.permutation(USERS), rng.permutation(ITEMS), np.random.default_rng(2).permutation(360)
    law, accepts = partial(_law, win_probabilities, win_probabilities_differ), partial(_accepts, win_probabilities)
    checks = {
        "ids": law(
            "the answer depends on the numbering of users and items",
            lambda data: _compared(user[data.user], item[data.left], item[data.right], data.outcome),
            lambda found: found[np.ix_(user, item, item)],
        ),
        "order": law(
            "the answer depends on the order of the comparisons", lambda data: data.take(order), lambda found: found
        ),
        "sides": law(
            "the answer depends on which item is on the left",
            lambda data: _compared(data.user, data.right, data.left, 1 - data.outcome),
            lambda found: found,
        ),
        "one comparison a user": accepts(lambda data: data.take(np.unique(data.user, return_index=True)[1])),
        "a user without comparisons": accepts(lambda data: data.take(data.user > 0)),
        "an item without comparisons": accepts(lambda data: data.take((data.left > 0) & (data.right > 0))),
        "one user only": accepts(lambda data: data.take(data.user == 0)),
        "one outcome only": accepts(lambda data: _compared(data.user, data.left, data.right, np.ones(len(data)))),
        "ties only": accepts(lambda data: _compared(data.user, data.left, data.right, np.full(len(data), 0.5))),
    }
    return Example(comparisons, win_probabilities, win_probabilities_differ, checks)


EXAMPLES = {"crowd": _crowd(), "pmf": _pmf(), "separable": _separable(), "comparisons": _comparisons()}
