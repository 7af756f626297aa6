"""Methods as their authors released or printed them, which serve the papers' rows alone.

One module a line (`crowd.py`, `pmf.py`, `separable.py`, `comparisons.py`, or a file per family), each an estimator of
the same protocol as the library's. `RELEASED` finds every one of them by line and name.
"""

from cofactor.core.estimator import Estimator

RELEASED: dict[str, dict[str, type[Estimator]]] = {
    "crowd": {},
    "pmf": {},
    "separable": {},
    "comparisons": {},
}

__all__ = ["RELEASED"]
