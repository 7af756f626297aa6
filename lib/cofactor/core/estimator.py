"""The base class of all methods: scikit-learn's parameters and tags, reports of iterations, checks before a fit.

Methods do not derive from scikit-learn's base class, which takes more than a second to import, but follow its protocol:
all of them can be cloned, pickled and displayed in a pipeline. `JointPMFClassifier` and `Topics` take matrices with one
sample per row, and pass scikit-learn's own checks; tests/test_sklearn.py lists what cannot apply to the others, and
why.
"""

from __future__ import annotations

import html
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_whole, is_number
from cofactor.core.errors import CofactorError, ConvergenceWarning, listing

# ---- parameters and tags ----


class NotFittedError(CofactorError, AttributeError):
    """The method is not fitted yet. If scikit-learn is loaded, this is also an instance of its NotFittedError."""

    def __new__(cls, *args: Any) -> NotFittedError:
        """Create an error that is also scikit-learn's, if that is loaded."""
        return super().__new__(_both() if "sklearn.exceptions" in sys.modules else cls, *args)

    def __reduce__(self) -> tuple[Callable[..., NotFittedError], tuple[Any, ...]]:
        return NotFittedError, self.args


@cache
def _both() -> type[NotFittedError]:
    """Return a class of errors that are also those of scikit-learn, which its tools expect."""
    from sklearn import exceptions

    return type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {})


def _defaults(kind: Any) -> dict[str, Any]:
    """Return the parameters of a constructor, and what each is by default."""
    found = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in found if one.kind != one.VAR_KEYWORD}


class Estimator:
    """Base class of the methods in the METHODS tables.

    The constructor only stores its arguments. `fit` checks them and the data, and stores its results in attributes that
    end with an underscore.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments by name; `deep` has no effect, since none of them is an estimator."""
        return {name: getattr(self, name) for name in sorted(_defaults(type(self)))}

    def set_params(self, **parameters: Any) -> Any:
        """Set arguments of the constructor; returns self. Raises a CofactorError for an unknown name."""
        known = self.get_params()
        if strange := [name for name in parameters if name not in known]:
            name = type(self).__name__
            raise CofactorError(f"{name} has no parameter {listing(strange)}; it has {', '.join(known)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: whether there is a `transform`, and whether fits are random."""
        from sklearn import utils  # here, and wherever it serves: slow to import

        return utils.Tags(
            estimator_type="transformer" if hasattr(self, "transform") else None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags() if hasattr(self, "transform") else None,
            non_deterministic=getattr(self, "random_state", 0) is None,
        )

    def __repr__(self) -> str:
        """Show the arguments that differ from their defaults."""
        given = self.get_params().items()
        chosen = [f"{name}={value!r}" for name, value in given if repr(value) != repr(_defaults(type(self))[name])]
        return f"{type(self).__name__}({', '.join(chosen)})"

    def _check_fitted(self) -> None:
        """Raise a NotFittedError before the first `fit` that came to its end, and so stored how it went."""
        if not hasattr(self, "result_"):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call {name}(...).fit(data) first")


def clone(method: Any) -> Any:
    """Return an unfitted method with the same parameters, as scikit-learn's `clone` does."""
    parameters = method.get_params(deep=False)
    return type(method)(**{name: deepcopy(value) for name, value in parameters.items()})


# ---- how an iteration went: the objective after every step, why it stopped, whether it converged ----


T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """The outcome of an iterative method.

    Attributes
    ----------
    objective : (n_iter,) array
        The method's objective after each iteration.
    n_iter : int
    converged : bool
    reason : str
        Why the iteration stopped.
    """

    objective: NDArray[np.float64]
    n_iter: int
    converged: bool
    reason: str


def progress(steps: Iterable[T], name: str, verbose: bool, total: int | None = None, done: int = 0) -> Iterable[T]:
    """Iterate over steps with a progress bar, if `verbose` and on a terminal; it is removed at the end."""
    if not (verbose and sys.stderr and sys.stderr.isatty()):
        return steps
    from tqdm import tqdm  # here: takes a tenth of a second

    shown: Iterable[T] = tqdm(steps, name, total, initial=done, leave=False)
    return shown


class History:
    """The loop of an iterative method: counts and records steps, shows progress, decides when to stop.

    Iterate over it and `record` one objective per step; the loop ends when `tol` is met or after
    `max_iter` steps. `result()` then returns the report, with a `ConvergenceWarning` if it did not converge.

    Parameters
    ----------
    name : str
        Name of the method, shown in the progress bar and in the warning.
    max_iter : int
    tol : float
        Stop when the recorded change is at most this. By default this is the relative change of the
        objective.
    verbose : bool
        Show a progress bar (on a terminal only).

    Examples
    --------
    >>> history, x = History("halving", max_iter=100, tol=1e-3), 1.0
    >>> for _ in history:
    ...     x = 1 + (x - 1) / 2 + 0.25
    ...     history.record(x)
    >>> history.result().converged
    True
    """

    def __init__(self, name: str, max_iter: int, tol: float, verbose: bool = False) -> None:
        check_whole(0, max_iter=max_iter)
        if not is_number(tol) or np.isnan(tol):
            raise CofactorError(f"tol={tol!r}: give a number")
        self.name, self.max_iter, self.tol, self.verbose = name, max_iter, tol, verbose
        self.objective: list[float] = []
        self.converged = False

    def __iter__(self) -> Iterator[int]:
        for step in progress(range(self.max_iter), self.name, self.verbose):
            yield step
            if self.converged:
                return

    def record(self, objective: float, change: float | None = None) -> None:
        """Record the objective of the last step; `change` replaces its relative change in the stopping rule."""
        if change is None and self.objective:
            previous = self.objective[-1]
            change = abs(objective - previous) / max(abs(previous), abs(objective), np.finfo(float).tiny)
        self.objective.append(objective)
        self.converged = change is not None and change <= self.tol

    def result(self) -> Result:
        """Return the Result, with a ConvergenceWarning if the iteration limit was reached before convergence."""
        n_iter = len(self.objective)
        if self.converged:
            reason = f"change at most {self.tol:g} after {n_iter} iterations"
        else:
            reason = f"iteration limit {self.max_iter} reached before the change fell to {self.tol:g}"
        found = Result(np.array(self.objective), n_iter, self.converged, reason)
        warn_of_limit(self.name, found)
        return found


def warn_of_limit(name: str, result: Result) -> None:
    """Warn of an iteration that stopped before convergence, at the line that called its method."""
    if not result.converged:
        told = f"{name}: {result.reason}; increase max_iter or tol, where they can be set"
        warnings.warn(told, ConvergenceWarning, stacklevel=4)


# ---- a report on data before a fit: checks with status, measured value and advice ----


Status = Literal["pass", "warn", "fail"]
MARKS = {"pass": "ok  ", "warn": "WARN", "fail": "FAIL"}


@dataclass(frozen=True)
class Check:
    """One check of a report: its name, its status (pass, warn, fail), the measured value, and advice."""

    name: str
    status: Status
    value: str
    advice: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A list of checks and a verdict; render it with `to_text` or `to_html`, or export it with `to_dict`."""

    title: str
    checks: tuple[Check, ...]
    verdict: str

    @property
    def status(self) -> Status:
        """The worst status of all checks."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    def __getitem__(self, name: str) -> Check:
        """Return the check of this name."""
        return {check.name: check for check in self.checks}[name]

    def to_text(self) -> str:
        """Return text with one line per check, followed by its advice, and the verdict."""
        width = max(len(check.name) for check in self.checks)
        lines = [self.title]
        for check in self.checks:
            lines.append(f"  {MARKS[check.status]}  {check.name:<{width}}  {check.value}")
            if check.advice:
                lines.append(f"        {'':<{width}}  -> {check.advice}")
        return "\n".join([*lines, f"verdict: {self.verdict}"])

    __str__ = __repr__ = to_text

    def to_html(self) -> str:
        """Return an HTML table with the status, name, measured value and advice of each check."""
        cells = [(MARKS[c.status].strip(), c.name, c.value, c.advice) for c in self.checks]
        left = 'style="text-align:left"'
        rows = "".join(f"<tr>{''.join(f'<td {left}>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        head = "".join(f"<th {left}>{name}</th>" for name in ("", "check", "measured", "what to do"))
        return (
            f"<table><caption {left}>{html.escape(self.title)}</caption><tr>{head}</tr>{rows}</table>"
            f"<p>Verdict: {html.escape(self.verdict)}</p>"
        )

    _repr_html_ = to_html

    def to_dict(self) -> dict[str, Any]:
        """Return title, verdict, status and checks as a dictionary of plain values."""
        return {**asdict(self), "status": self.status}
