"""Methods as their authors released or printed them, needed only for the papers' tables.

One module a line (`crowd.py`, `pmf.py`, `separable.py`, `comparisons.py`, or a file per family), each an estimator of
the same protocol as the library's. `RELEASED` finds every one of them by line and name.
"""

from collections.abc import Callable, Mapping

from cofactor.core.estimator import Estimator
from evaluation.released.comparisons import COMPARISONS
from evaluation.released.crowd import CROWD
from evaluation.released.pmf import PMF
from evaluation.released.separable import SEPARABLE

RELEASED: dict[str, Mapping[str, Callable[..., Estimator]]] = {
    "crowd": CROWD,
    "pmf": PMF,
    "separable": SEPARABLE,
    "comparisons": COMPARISONS,
}

__all__ = ["RELEASED"]
