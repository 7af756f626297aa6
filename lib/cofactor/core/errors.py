"""Every error and warning of the package, and how offending rows and counts are written in them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

SHOWN = 10  # offending rows or ids named in a message; the rest is counted


class CofactorError(ValueError):
    """Input or state that cofactor cannot work with; the message says which part and what to do."""


class NotIdentifiableError(CofactorError):
    """The data cannot determine the model, however well it is fitted."""


class DatasetUnavailableError(CofactorError):
    """A data set is neither bundled, nor cached, nor to be had from where it lives."""


class ConvergenceWarning(UserWarning):
    """An iterative method stopped at its iteration limit; its result is still returned."""


class DataWarning(UserWarning):
    """The data was usable, but part of it was set aside or is too weak to trust."""


def amount(count: float, noun: str) -> str:
    """Write a count with its noun, which is singular for one.

    >>> amount(1, "task"), amount(4212, "label"), amount(0, "class")
    ('1 task', '4,212 labels', '0 classes')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,.15g} {noun}{ending}"


def listing(values: Iterable[object], n_all: int = 0) -> str:
    """Name the first ten values and count them all: ``"3, 7, 9"`` or ``"0, 1, ..., 9, ... (24 in all)"``.

    With `n_all`, there are that many, and `values` may be the first of them.

    >>> listing([3, 7])
    '3, 7'
    >>> listing(range(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (12 in all)'
    """
    left = iter(values)
    first = list(islice(left, SHOWN))
    shown, n_found = ", ".join(map(str, first)), len(first) + sum(1 for _ in left)
    n_all = max(n_all, n_found)
    return f"{shown}, ... ({n_all} in all)" if n_all > len(first) else shown
