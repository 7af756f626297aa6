"""Methods as their authors released or printed them, which serve the papers' rows alone.

One module a line (`crowd.py`, `pmf.py`, `separable.py`, `comparisons.py`, or a file per family), each an estimator of
the same protocol as the library's. `RELEASED` finds every one of them by line and name. `METHODS` has every method that
the papers' tables name: the library's, then those; "NAME (paper protocol)" is what was released in another way than the
library has it. Classifiers of the joint-PMF line are scikit-learn's: functions of alphabets and a seed.
"""

from collections.abc import Callable, Mapping
from typing import Any

import cofactor as cf
from cofactor.core.estimator import Estimator
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.released.comparisons import COMPARISONS
from evaluation.released.crowd import CROWD
from evaluation.released.pmf import CLASSIFIERS, PMF
from evaluation.released.separable import SEPARABLE

RELEASED: dict[str, Mapping[str, Callable[..., Estimator]]] = {
    "crowd": CROWD,
    "pmf": PMF,
    "separable": SEPARABLE,
    "comparisons": COMPARISONS,
}
OTHERS = {**cf.pmf.RECOMMENDERS, "MovieAverage": cf.pmf.RECOMMENDERS["ItemAverage"], **CLASSIFIERS}
OWN: dict[str, Mapping[str, Callable[..., Any]]] = {
    "crowd": cf.crowd.METHODS,
    "pmf": {**cf.pmf.METHODS, **OTHERS},
    "separable": cf.separable.METHODS,
    "comparisons": cf.comparisons.METHODS,
}
METHODS: dict[str, Mapping[str, Callable[..., Any]]] = {
    line: {
        **released,
        **OWN[line],
        **{name + PAPER_PROTOCOL: method for name, method in released.items() if name in OWN[line]},
    }
    for line, released in RELEASED.items()
}

__all__ = ["METHODS", "RELEASED"]
