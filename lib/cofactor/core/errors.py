"""The errors and warnings of the package, and the format of rows and counts in their messages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

SHOWN = 10  # offending rows or ids named in a message; the rest is counted


class CofactorError(ValueError):
    """Invalid input or state; the message says what is wrong and what to do."""


class NotIdentifiableError(CofactorError):
    """The data do not determine the model, however well it is fitted."""


class DatasetUnavailableError(CofactorError):
    """A data set is neither bundled nor cached, and cannot be downloaded."""


class ConvergenceWarning(UserWarning):
    """An iterative method stopped at its iteration limit; its result is still returned."""


class DataWarning(UserWarning):
    """The data are usable, but part of them was left out or is too weak to rely on."""


def amount(count: float, noun: str) -> str:
    """Return a count with its noun, singular for one.

    >>> amount(1, "task"), amount(4212, "label"), amount(0, "class")
    ('1 task', '4,212 labels', '0 classes')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,.15g} {noun}{ending}"


def listing(values: Iterable[object], n_all: int = 0) -> str:
    r"""Return the first ten values and the total number: ``"3, 7, 9"`` or ``"0, 1, ..., 9, ... (24 in all)"``.

    `n_all` is the total number if `values` contains only the first ones. Line breaks are shown as in code.

    >>> listing([3, 7]), listing(["a\r\nb"])
    ('3, 7', 'a\\r\\nb')
    >>> listing(range(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (12 in all)'
    """
    left = iter(values)
    first = list(islice(left, SHOWN))
    shown = ", ".join(str(one).replace("\n", "\\n").replace("\r", "\\r") for one in first)
    n_found = len(first) + sum(1 for _ in left)
    n_all = max(n_all, n_found)
    return f"{shown}, ... ({n_all} in all)" if n_all > len(first) else shown
