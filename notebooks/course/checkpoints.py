"""The numbers that a notebook's text tells, held beside those that were found."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cofactor.core.errors import CofactorError


def checkpoint(marks: Mapping[str, tuple[float, float, float]]) -> None:
    """Print a table of numbers found beside numbers told, and say which differ by more than they may.

    A mark is (found, told, within) by its name; it is met where |found - told| <= within, never by a number that is
    not finite. `within` is how far other machines and libraries may move the number; zero for counts.

    Raises
    ------
    CofactorError
        There is no mark, or a tolerance is negative or not a number.

    Examples
    --------
    >>> checkpoint({"tasks": (108, 108, 0), "share wrong": (0.2407, 0.24, 0.01)})
    tasks          108       108 ± 0     ok
    share wrong  0.241      0.24 ± 0.01  ok
    2 of 2 as told
    """
    loose = [name for name, (_, _, within) in marks.items() if not within >= 0]
    if not marks or loose:
        raise CofactorError(f"a checkpoint needs marks with tolerances of zero or more; look at {loose or 'no mark'}")
    rows = [
        (name, _written(found, within), f"{told:g}", f"{within:g}") for name, (found, told, within) in marks.items()
    ]
    met = [abs(found - told) <= within for found, told, within in marks.values()]
    wide = [max(len(row[column]) for row in rows) for column in range(4)]
    for (name, found, told, within), right in zip(rows, met, strict=True):
        numbers = f"{found:>{wide[1] + 2}}  {told:>{wide[2] + 4}} ± {within:<{wide[3]}}"
        print(f"{name:<{wide[0]}}{numbers}  {'ok' if right else 'LOOK AGAIN'}")
    print(f"{sum(met)} of {len(met)} as told" + ("" if all(met) else ": what differs here, or is the text wrong?"))


def _written(found: float, within: float) -> str:
    """The number found, with a digit more than its tolerance has; counts without."""
    if float(found).is_integer() and float(within).is_integer():
        return f"{found:.0f}"
    digits = 3 if within == 0 else max(1, 1 - math.floor(math.log10(within)))
    return f"{found:.{digits}f}"
