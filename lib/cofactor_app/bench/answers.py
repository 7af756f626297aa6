"""What a method of each problem gets and what it may answer, wherever it comes from.

The answer of a method of labels is in `cofactor.crowd.aggregators`, that of the other three problems here.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import answer_of
from cofactor.registry import is_outside, listed, loaded

FIRST = MappingProxyType({"labels": "crowd", "table": "pmf", "X": "separable", "comparisons": "comparisons"})


@dataclass(frozen=True)
class Problem:
    """What a method gets: its problem, the data, and what it is asked, without the truth.

    Asked is the (n, 2) rows and columns of hidden cells, the number of anchors, or (n, 3) users and two items.
    """

    line: str
    given: Any
    asked: Any


def answer_on(name: str, problem: Problem) -> Any:
    """Return codes of hidden cells, indices of anchors, or probabilities that the left item wins.

    Raises `CofactorError` where the method fails, or answers in another shape.
    """
    return answer_by(_method(name, problem), problem)


def answer_by(method: Any, problem: Problem) -> Any:
    """Return what a method that is at hand answers, as `answer_on`."""
    return _ASK[problem.line](method, problem)


def _method(name: str, problem: Problem) -> Any:
    return loaded(name) if is_outside(name) else of_kit(name, problem.line, problem.asked)


def of_kit(name: str, line: str, n_anchors: int = 0) -> Any:
    """Return a built-in method, not fitted."""
    make = listed(line)[name].make
    if line != "separable":
        return make(random_state=0)
    if "n_anchors" not in inspect.signature(make).parameters:
        raise CofactorError(f"{name} finds topics of words, and no columns of X")
    return make(random_state=0, n_anchors=n_anchors)


def fitted(method: Any, *given: Any) -> Any:
    """Return what a function says, or a fresh copy of an object, fitted."""
    if not hasattr(method, "fit"):
        return method(*given)
    fresh = copy.deepcopy(method)
    if len(given) > 1 and hasattr(fresh, "n_anchors"):
        fresh.n_anchors = given[1]
    takes = len(inspect.signature(fresh.fit).parameters)
    return fresh.fit(*given[: 1 if hasattr(fresh, "n_anchors") else min(takes, len(given))]) or fresh


def _cells(method: Any, problem: Problem) -> Ints:
    def run(table: CategoricalTable) -> Any:
        found = fitted(method, table)
        model = getattr(found, "model_", found)
        if not hasattr(model, "predict_map"):
            return found
        return np.column_stack([model.predict_map(table, n) for n in range(table.n_variables)])

    found, shape = np.asarray(answer_of(run, problem.given)), problem.given.codes.shape
    if found.shape != shape or found.dtype.kind not in "iu":
        said = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must answer with a model or a table of {shape} codes, not {said}")
    return found[tuple(problem.asked.T)]


def _anchors(method: Any, problem: Problem) -> Ints:
    def run(X: Floats) -> Any:
        found = fitted(method, X, problem.asked)
        return getattr(found, "anchors_", getattr(found, "anchors", found))

    found, (K, N) = np.asarray(answer_of(run, problem.given)), (problem.asked, problem.given.shape[1])
    if found.shape != (K,) or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= N:
        said = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must answer with {K} indices from 0 to {N - 1}, not {said}")
    if (again := K - len(np.unique(found))) > 0:
        raise CofactorError(f"the method must answer with {K} different columns; {again} of its answers are repeated")
    return found


def _chances(method: Any, problem: Problem) -> Floats:
    return chances_of(learnt(method, problem.given), problem.asked)


def learnt(method: Any, comparisons: Comparisons) -> Any:
    """Return what a method makes of comparisons: something with `predict_proba`, or (n,) scores of the items.

    Raises `CofactorError` where it fails, or makes something else.
    """
    found = answer_of(partial(fitted, method), comparisons)
    if hasattr(found, "predict_proba"):
        _check_arguments(found.predict_proba)
        return found
    try:
        scores, n = np.asarray(found), comparisons.n_items
    except ValueError:
        scores = np.empty(0)
    if scores.shape != (n,) or scores.dtype.kind not in "fiub" or not np.isfinite(scores).all():
        what = f"shape {scores.shape} of {scores.dtype}" if scores.dtype.kind in "fiub" else type(found).__name__
        raise CofactorError(f"the method must answer with {n} finite scores or with predict_proba, not {what}")
    return scores.astype(np.float64)


def _check_arguments(predict_proba: Callable[..., Any]) -> None:
    """Raise `CofactorError` where a function cannot be called with users and two items each."""
    try:
        inspect.signature(predict_proba).bind(None, None, None)
    except TypeError:
        raise CofactorError(
            "predict_proba is called with three arrays of numbers, (user, left, right), and answers with the chances "
            "that left wins: give it these three arguments"
        ) from None
    except ValueError:  # compiled code does not tell its arguments
        return


def chances_of(found: Any, asked: Ints) -> Floats:
    """Return the (n,) chances that left wins, of (n, 3) users and pairs; scores are log-odds: exp(u) for each item."""
    if isinstance(found, np.ndarray):
        return np.asarray(special.expit(found[asked[:, 1]] - found[asked[:, 2]]))
    p, n = np.asarray(answer_of(lambda pairs: found.predict_proba(*pairs.T), asked)), len(asked)
    if p.shape != (n,) or p.dtype.kind != "f" or not ((p >= 0) & (p <= 1)).all():
        said = f"shape {p.shape} of {p.dtype}"
        raise CofactorError(f"predict_proba must answer with {n} probabilities from 0 to 1, not {said}")
    return p


_ASK: Mapping[str, Callable[[Any, Problem], Any]] = MappingProxyType(
    {"pmf": _cells, "separable": _anchors, "comparisons": _chances}
)
