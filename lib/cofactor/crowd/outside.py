"""A method from outside: a function of labels or of a DataFrame, or a class with `fit` and `predict_proba`."""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.result import Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels

FRAME_NAMES = ("data", "df", "frame")  # of the first parameter of a method that wants a DataFrame
FORMS = "give FILE.py:NAME or PACKAGE.MODULE:NAME, with options as NAME(alpha=2)"
DONE = Result(np.zeros(0), 0, True, "a method from outside, which does not say how it ended")


@dataclass(eq=False, repr=False)
class Outside(TaskScorer):
    """A method that is not one of cofactor's classes, with everything that an `Aggregator` has.

    Parameters
    ----------
    method : callable, object or str
        A function of `CrowdLabels`; an object with `fit(labels)` and `predict_proba(labels)`; or where to find one, as
        `FILE.py:NAME`, `PACKAGE.MODULE:NAME`, with options as `FILE.py:NAME(alpha=2)`. It answers with (N, K)
        probabilities or scores, not negative, or with N class codes. Where its first parameter is called data, df or
        frame, or is annotated as a DataFrame, it gets one with the columns task, worker, label, and may answer with a
        Series (class by task) or a DataFrame (tasks by classes): so the classes of crowd-kit run as they are,
        `crowdkit.aggregation:DawidSkene`. An object is copied, so that every fit is anew.
    random_state, verbose
        See `Aggregator`; they are not passed on.

    Attributes after `fit`
    ----------------------
    posterior_ : (N, K) array
        What the method said, rows scaled to sum to one; where it says nothing of a task, all classes alike.
    model_ : LatentClassModel
        The Dawid-Skene model in which these count as soft classes: from it come accuracies of workers.

    Raises `CofactorError` where the method fails (the last line of its traceback is named) or answers in another shape.

    Examples
    --------
    >>> def first_class(labels):
    ...     return np.zeros(labels.n_tasks, dtype=int)
    >>> labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 0, 1])
    >>> Outside(first_class).fit(labels).predict(labels).tolist()
    [0, 0]
    """

    method: Any = None
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        method = loaded(self.method) if isinstance(self.method, str) else self.method
        return probabilities(answer_of(method, labels), labels), DONE


def answer_of(method: Any, given: Any) -> Any:
    """Return what a function, or a fresh copy of an object with `fit` and `predict_proba`, says of what it is given."""
    try:
        if isinstance(given, CrowdLabels) and takes_frame(method):
            return _answer_of_frame(copy.deepcopy(method), given.to_frame())
        if hasattr(method, "fit"):
            fitted = copy.deepcopy(method)
            fitted = fitted.fit(given) or fitted
            return fitted.predict_proba(given) if hasattr(fitted, "predict_proba") else fitted.predict(given)
        return method(given)
    except CofactorError:
        raise
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise CofactorError(f"the method stops in {Path(at.filename).name}, line {at.lineno}: {said}") from error


def takes_frame(method: Any) -> bool:
    """Return whether a method wants a DataFrame, by the name or the annotation of its first parameter."""
    try:
        parameters = inspect.signature(getattr(method, "fit", method)).parameters
    except (TypeError, ValueError):  # of compiled code
        return False
    first = next(iter(parameters.values()), None)
    return first is not None and (first.name in FRAME_NAMES or "DataFrame" in str(first.annotation))


def _answer_of_frame(method: Any, frame: pd.DataFrame) -> Any:
    """Return what a method says of a table of labels; of several ways to ask, the one with probabilities."""
    for name in ("fit_predict_proba", "fit_predict"):
        if hasattr(method, name):
            return getattr(method, name)(frame)
    if not hasattr(method, "fit"):
        return method(frame)
    fitted = method.fit(frame) or method
    return fitted.predict_proba(frame) if hasattr(fitted, "predict_proba") else fitted.predict(frame)


def by_ids(answer: pd.Series | pd.DataFrame, labels: CrowdLabels) -> Floats:
    """Return (N, K) scores from an answer by the ids of tasks: a class each, or a column a class; raises on others."""
    if isinstance(answer, pd.DataFrame):
        if strange := [name for name in answer.columns if name not in labels.classes]:
            raise CofactorError(f"the method answers with columns that are no classes: {listing(map(repr, strange))}")
        return answer.reindex(index=labels.tasks, columns=labels.classes).fillna(0.0).to_numpy(dtype=np.float64)
    code = {name: k for k, name in enumerate(labels.classes)}
    said = answer.reindex(labels.tasks)
    if strange := [name for name in said.dropna().unique() if name not in code]:
        raise CofactorError(f"the method answers with classes that are none: {listing(map(repr, strange))}")
    found = np.zeros((labels.n_tasks, labels.n_classes))
    known = said.notna().to_numpy()
    found[known, [code[name] for name in said[known]]] = 1.0
    return found


def probabilities(answer: Any, labels: CrowdLabels) -> Floats:
    """Return (N, K) probabilities from such scores, or from N class codes; refuse what is neither."""
    N, K = labels.n_tasks, labels.n_classes
    if isinstance(answer, pd.Series | pd.DataFrame):
        answer = by_ids(answer, labels)
    try:
        found = np.asarray(answer)
    except ValueError:
        found = np.empty(0)
    if found.shape == (N,) and found.dtype.kind in "iu":
        if found.size and not (found.min() >= 0 and found.max() < K):
            said = f"{found.min()} to {found.max()}"
            raise CofactorError(f"the method must answer with class codes from 0 to {K - 1}, not {said}")
        return np.eye(K)[found]
    if found.shape != (N, K) or found.dtype.kind not in "fiub":
        kind = f"shape {found.shape} of {found.dtype}"
        raise CofactorError(f"the method must answer with ({N}, {K}) probabilities or {N} class codes, not {kind}")
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1) | (found < 0).any(axis=1))
    if bad.size:
        raise CofactorError(f"the method answers with NaN or below zero for tasks {listing(bad.tolist())}")
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), 1 / K)


# ---- where it is ----


def is_outside(name: str) -> bool:
    """Whether a name of a method says where to find it, rather than naming a built-in one."""
    return ":" in name


def loaded(where: str) -> Any:
    """Return the method that `where` names: a function, or an object with its options set."""
    home, name, options = parts_of(where)
    module = module_of(home)
    if not hasattr(module, name):
        public = [key for key, thing in vars(module).items() if callable(thing) and not key.startswith("_")]
        raise CofactorError(f"{home} has no {name}; it has {listing(public) or 'nothing to call'}")
    thing: Callable[..., Any] = getattr(module, name)
    try:
        if inspect.isclass(thing):
            return thing(**options)
        inspect.signature(thing).bind_partial(**options)
    except TypeError as error:
        raise CofactorError(f"{where}: {error}") from None
    return partial(thing, **options) if options else thing


def parts_of(where: str) -> tuple[str, str, dict[str, Any]]:
    """Return file or module, name and options of `FILE.py:NAME(option=1)`; options are literals.

    >>> parts_of("mine.py:Vote(rounds=3)")
    ('mine.py', 'Vote', {'rounds': 3})
    """
    text, _, options = where.partition("(")
    home, _, name = text.rpartition(":")
    if not home or not name.isidentifier() or (options and not options.endswith(")")):
        raise CofactorError(f"{where!r} names no method: {FORMS}")
    try:
        call = ast.parse(f"_({options or ')'}", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        return home, name, {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise CofactorError(f"{where!r}: options are written as NAME(alpha=2, beta='x')") from None


def source_of(where: str) -> str:
    """Return a hash of the file that holds the method, by which a changed one is seen; of packages, their version."""
    home = parts_of(where)[0]
    path = Path(home)
    if path.suffix != ".py":
        path = Path(str(getattr(module_of(home), "__file__", home)))
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else home


def module_of(home: str) -> ModuleType:
    """Import a file that ends in .py, or a module by its name; what goes wrong in it is one CofactorError."""
    path = Path(home).expanduser()
    if path.suffix == ".py":
        if not path.is_file():
            raise CofactorError(f"no file {home}: {FORMS}")
        spec = importlib.util.spec_from_file_location(f"outside_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module.__name__] = module  # by this name its objects are pickled
        with_own_folder = str(path.resolve().parent)
        if with_own_folder not in sys.path:
            sys.path.insert(0, with_own_folder)
        run: Callable[[], Any] = partial(spec.loader.exec_module, module)
    else:
        module, run = ModuleType(home), partial(importlib.import_module, home)
    try:
        return run() or module
    except Exception as error:
        raise CofactorError(f"{home} cannot be imported: {type(error).__name__}: {error}") from error
