"""All methods in the papers' tables, by problem and name: first the library's, then those only for the papers.

What the authors released in another way than the library does it stands beside it as "NAME (paper protocol)".
Classifiers of the joint-PMF line are scikit-learn's: functions of alphabets and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cofactor as cf
from evaluation.crowd.deep import DLMV, CrowdLayer
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.released import RELEASED
from evaluation.released.pmf import CLASSIFIERS

Methods = Mapping[str, Callable[..., Any]]


def _beside(own: Methods, released: Methods) -> Methods:
    return {**released, **own, **{name + PAPER_PROTOCOL: method for name, method in released.items() if name in own}}


OTHERS: dict[str, Callable[..., Any]] = {
    **cf.pmf.RECOMMENDERS,
    "MovieAverage": cf.pmf.RECOMMENDERS["ItemAverage"],
    **CLASSIFIERS,
}
METHODS: dict[str, Methods] = {
    "crowd": _beside({**cf.crowd.METHODS, "CrowdLayer": CrowdLayer, "DL-MV": DLMV}, RELEASED["crowd"]),
    "pmf": _beside({**cf.pmf.METHODS, **OTHERS}, RELEASED["pmf"]),
    "separable": _beside(cf.separable.METHODS, RELEASED["separable"]),
    "comparisons": _beside(cf.comparisons.METHODS, RELEASED["comparisons"]),
}
