"""The input and the answer of a method for each problem, and how the answer is scored, for any method.

Answers for crowd labels are handled in `cofactor.crowd.aggregators`, those of the other three problems here. They
consist of units that are right or wrong: hidden cells of a table, hidden comparisons, or anchors.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.aggregators import DONE, answer_of
from cofactor.pmf.base import Data, JointPMFEstimator
from cofactor.pmf.frames import coded
from cofactor.registry import is_outside, listed, loaded, parts_of
from cofactor.separable.columns import AnchorFit, anchors_by_scores
from cofactor.separable.methods import AnchorMethod

ANSWERS = MappingProxyType(  # by problem, the trivial answer and the default of cofactor
    {
        "crowd": ("MajorityVote", "WorkerTypes"),
        "pmf": ("Independence", "CNMF-EM"),
        "separable": ("SPA", "MERIT"),
        "comparisons": ("WinRate", "ComparisonMF"),
    }
)
FEW = 60  # rows, columns or comparisons on which a method runs first, so that nothing is compiled while it is timed
FIRST = MappingProxyType({"labels": "crowd", "table": "pmf", "X": "separable", "comparisons": "comparisons"})


@dataclass(frozen=True)
class Question:
    """The input of a method: its problem, the data, and the question, without the truth.

    `asked` has the (n, 2) rows and columns of hidden cells, the number of anchors, or (n, 3) users and pairs of items.
    """

    problem: str
    given: Any
    asked: Any


def answer_on(name: str, question: Question) -> Any:
    """Return codes of hidden cells, indices of anchors, or probabilities that the left item wins.

    Raises `CofactorError` if the method fails, or its answer has a wrong shape.
    """
    return answer_by(_method(name, question), question)


def answer_by(method: Any, question: Question) -> Any:
    """Return the answer of a method object, like `answer_on`."""
    return _ASK[question.problem](method, question)


def _method(name: str, question: Question) -> Any:
    return loaded(name) if is_outside(name) else built_in(name, question.problem, question.asked)


def built_in(name: str, problem: str, n_anchors: int = 0) -> Any:
    """Return a built-in method that is not fitted."""
    make = listed(problem)[name].make
    if problem != "separable":
        return make(random_state=0)
    if "n_anchors" not in inspect.signature(make).parameters:
        raise CofactorError(f"{name} finds topics of words, not columns of X")
    return make(random_state=0, n_anchors=n_anchors)


def fitted(method: Any, *given: Any) -> Any:
    """Return the value of a function, or a fitted copy of an object."""
    if not hasattr(method, "fit"):
        return method(*given)
    fresh = copy.deepcopy(method)
    if len(given) > 1 and hasattr(fresh, "n_anchors"):
        fresh.n_anchors = given[1]
    takes = len(inspect.signature(fresh.fit).parameters)
    return fresh.fit(*given[: 1 if hasattr(fresh, "n_anchors") else min(takes, len(given))]) or fresh


def _cells(method: Any, question: Question) -> Ints:
    def run(table: CategoricalTable) -> Any:
        found = fitted(method, table)
        model = getattr(found, "model_", found)
        if not hasattr(model, "predict_map"):
            return found
        return np.column_stack([model.predict_map(table, n) for n in range(table.n_variables)])

    found, shape = np.asarray(answer_of(run, question.given)), question.given.codes.shape
    if found.shape != shape or found.dtype.kind not in "iu":
        said = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must return a model or a table of {shape} codes, not {said}")
    return found[tuple(question.asked.T)]


def _anchors(method: Any, question: Question) -> Ints:
    def run(X: Floats) -> Any:
        found = fitted(method, X, question.asked)
        return getattr(found, "anchors_", getattr(found, "anchors", found))

    found, (K, N) = np.asarray(answer_of(run, question.given)), (question.asked, question.given.shape[1])
    if found.shape != (K,) or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= N:
        said = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must return {K} indices from 0 to {N - 1}, not {said}")
    if (again := K - len(np.unique(found))) > 0:
        raise CofactorError(f"the method must return {K} different columns, but {again} of them are repeated")
    return found


def _chances(method: Any, question: Question) -> Floats:
    return chances_of(learnt(method, question.given), question.asked)


def learnt(method: Any, comparisons: Comparisons) -> Any:
    """Return the fit of a method to comparisons: an object with `predict_proba`, or (n,) scores of the items.

    Raises `CofactorError` if the method fails, or returns something else.
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
        raise CofactorError(f"the method must return {n} finite scores or an object with predict_proba, not {what}")
    return scores.astype(np.float64)


def _check_arguments(predict_proba: Callable[..., Any]) -> None:
    """Raise `CofactorError` if a function cannot be called with three arguments: users, left and right items."""
    try:
        inspect.signature(predict_proba).bind(None, None, None)
    except TypeError:
        raise CofactorError(
            "predict_proba must take three arrays of numbers, (user, left, right), and return the probabilities that "
            "left wins: give it these three arguments"
        ) from None
    except ValueError:  # compiled code does not tell its arguments
        return


def chances_of(found: Any, asked: Ints) -> Floats:
    """Return the (n,) probabilities that left wins for (n, 3) users and pairs; scores are utilities in log-odds."""
    if isinstance(found, np.ndarray):
        return np.asarray(special.expit(found[asked[:, 1]] - found[asked[:, 2]]))
    p, n = np.asarray(answer_of(lambda pairs: found.predict_proba(*pairs.T), asked)), len(asked)
    if p.shape != (n,) or p.dtype.kind != "f" or not ((p >= 0) & (p <= 1)).all():
        said = f"shape {p.shape} of {p.dtype}"
        raise CofactorError(f"predict_proba must return {n} probabilities from 0 to 1, not {said}")
    return p


_ASK: Mapping[str, Callable[[Any, Question], Any]] = MappingProxyType(
    {"pmf": _cells, "separable": _anchors, "comparisons": _chances}
)


# ---- which problem a method solves, and what of its answer is right ----


def problem_of(method: str) -> str:
    """Return the problem of a method, from the name of its first argument in its file; by default crowd."""
    if not is_outside(method):
        return next((problem for problem in ANSWERS if method in listed(problem)), "crowd")
    home, name, _ = parts_of(method)
    path = Path(home).expanduser()
    if path.suffix != ".py" or not path.is_file():
        return "crowd"
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "crowd"  # the run says what is wrong with the file
    things = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return FIRST.get(_first_argument(things.get(name), things), "crowd")


def _first_argument(thing: ast.stmt | None, things: Mapping[str, ast.stmt]) -> str:
    """Return the name of the first argument of a function, or of the `fit` of a class or of what it is made from."""
    if isinstance(thing, ast.ClassDef):
        fits = [node for node in thing.body if isinstance(node, ast.FunctionDef) and node.name == "fit"]
        above = [things.get(base.id) for base in thing.bases if isinstance(base, ast.Name) and base.id != thing.name]
        return next(filter(None, (_first_argument(one, things) for one in (*fits, *above))), "")
    names = [one.arg for one in thing.args.args if one.arg != "self"] if isinstance(thing, ast.FunctionDef) else []
    return names[0] if names else ""


def small(question: Question) -> Question:
    """Return the first rows or columns of a problem, for a trial run of a method."""
    given, asked = question.given, question.asked
    if question.problem == "pmf":
        rows = np.arange(min(len(given.codes), FEW))
        return replace(question, given=given.take_rows(rows), asked=asked[asked[:, 0] < len(rows)])
    if question.problem == "separable":
        return replace(question, given=given[:, :FEW], asked=min(asked, 3))
    return replace(question, given=given.take(np.arange(min(len(given), FEW))), asked=asked[:FEW])


def scores_of(problem: str, answer: Any, truth: Ints) -> tuple[Floats, Ints]:
    """Return an answer as (n, classes) scores of its units, and the (n,) true classes."""
    if problem == "comparisons":
        return np.column_stack([1 - answer, answer]), truth
    right = np.isin(truth, answer) if problem == "separable" else answer == truth
    return np.eye(2)[right.astype(int)], np.ones(len(truth), dtype=np.int64)


# ---- as a built-in method: what `--method FILE.py:NAME` makes ----


@dataclass(eq=False, repr=False, kw_only=True)
class OwnAnchors(AnchorMethod):
    """Anchors from the user's own method: `name` says where it is, see `cofactor.crowd.Outside`.

    The method gets X, (M, N), and K, and returns K different column indices, or an object with them as `anchors_`.
    Scores are the squared lengths of anchors orthogonal to the span of those before, as in `SPA`.

    Raises `CofactorError` if the method fails, or returns something else.
    """

    name: str

    def _find(self, X: Floats) -> AnchorFit:
        kept, K = self._chosen(X)
        anchors = kept[answer_on(self.name, Question("separable", X[:, kept], K))]
        lengths = np.diagonal(np.linalg.qr(X[:, anchors], mode="r")) ** 2
        return anchors_by_scores(anchors[: lengths.size], lengths, X.shape[1], anchors)


@dataclass(eq=False, repr=False, kw_only=True)
class OwnJoint(JointPMFEstimator):
    """A joint distribution from the user's own method: `name` says where it is.

    The method gets a `CategoricalTable` without empty rows, and returns a `LatentClassModel` of its columns, or an
    object with one as `model_`, which then fills gaps, draws rows and predicts held-out cells. Rank and smoothing are
    left to the method: they are neither chosen nor averaged.

    Raises `CofactorError` if the method fails, or returns something else.
    """

    name: str
    result_: Result = field(init=False)

    def fit(self, table: Data) -> Self:
        """Fit the method to the non-empty rows; returns self."""
        known, self.columns_ = coded(table)
        rows, _ = self._check(known)
        method = loaded(self.name)
        found = answer_of(partial(fitted, method), rows)
        self.model_ = _sound(getattr(found, "model_", found), rows)
        self.rank_, self.pseudo_count_ = self.model_.n_classes, 0.0
        self.n_empty_rows_, self.result_ = known.n_rows - rows.n_rows, DONE
        self.validation_, self.members_ = [], []
        return self


def _sound(model: Any, table: CategoricalTable) -> LatentClassModel:
    if not isinstance(model, LatentClassModel):
        wanted = "a cofactor.LatentClassModel, or an object with one as model_"
        raise CofactorError(f"the method must return {wanted}, not {type(model).__name__}")
    if not np.array_equal(model.sizes, table.sizes):
        said = f"{list(map(int, model.sizes))} values, but the columns have {list(map(int, table.sizes))}"
        raise CofactorError(f"the variables of the method's model have {said}")
    return model
