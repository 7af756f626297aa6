"""How an iteration went: the objective after every step, why it stopped, and whether it converged."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_whole, is_number
from cofactor.core.errors import CofactorError, ConvergenceWarning

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """Outcome of an iterative method.

    Attributes
    ----------
    objective : (n_iter,) array
        The method's objective after each iteration.
    n_iter : int
    converged : bool
    reason : str
        Why the iteration stopped, in words.
    """

    objective: NDArray[np.float64]
    n_iter: int
    converged: bool
    reason: str


def progress(steps: Iterable[T], name: str, verbose: bool, total: int | None = None, done: int = 0) -> Iterable[T]:
    """Count steps by a bar, where asked for: on a terminal only, and wiped away at the end."""
    if not (verbose and sys.stderr and sys.stderr.isatty()):
        return steps
    from tqdm import tqdm  # here: takes a tenth of a second

    shown: Iterable[T] = tqdm(steps, name, total, initial=done, leave=False)
    return shown


class History:
    """The loop of an iterative method: counts, records, shows progress, decides when to stop.

    Iterate over it and `record` one objective per step; the loop ends when `tol` is met or after
    `max_iter` steps. `result()` then says how it went, with a `ConvergenceWarning` if it did not converge.

    Parameters
    ----------
    name : str
        What is iterating; shown on the progress bar and in the warning.
    max_iter : int
    tol : float
        Stop when the recorded change is at most this. By default the change is that of the objective,
        relative to its size.
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
        """Note the objective of the step just made; `change` replaces its relative change in the stopping rule."""
        if change is None and self.objective:
            previous = self.objective[-1]
            change = abs(objective - previous) / max(abs(previous), abs(objective), np.finfo(float).tiny)
        self.objective.append(objective)
        self.converged = change is not None and change <= self.tol

    def result(self) -> Result:
        """Return the Result; warn with a ConvergenceWarning where the limit of steps came before convergence."""
        n_iter = len(self.objective)
        if self.converged:
            reason = f"change at most {self.tol:g} after {n_iter} iterations"
        else:
            reason = f"iteration limit {self.max_iter} reached before the change fell to {self.tol:g}"
            warnings.warn(f"{self.name}: {reason}", ConvergenceWarning, stacklevel=3)
        return Result(np.array(self.objective), n_iter, self.converged, reason)
