"""Preferences of every user, learned from a few comparisons each, and rankings of items for all users together."""

from typing import TYPE_CHECKING

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.diagnose import ComparisonBootstrap, bootstrap, diagnose
from cofactor.comparisons.estimators import ComparisonMF
from cofactor.comparisons.metrics import (
    comparisons_needed,
    expected_error,
    feature_error,
    mean_information,
    ndcg,
    pair_accuracy,
    utility_error,
)
from cofactor.comparisons.objective import LINKS, Link, Objective, degrees_of_freedom
from cofactor.comparisons.ranking import Ranking, rank
from cofactor.comparisons.solvers import (
    barzilai_borwein,
    eased_start,
    gradient_descent,
    lbfgs,
    random_start,
    spectral_start,
)
from cofactor.core.lazy import lazy_exports
from cofactor.registry import Methods

if TYPE_CHECKING:
    from cofactor.rivals.comparisons import BPR, AltSVM, BradleyTerry, NuclearNormMLE, WinRate

METHODS = Methods("comparisons")

__all__ = [
    "BPR",
    "LINKS",
    "METHODS",
    "AltSVM",
    "BradleyTerry",
    "ComparisonBootstrap",
    "ComparisonMF",
    "Comparisons",
    "Link",
    "NuclearNormMLE",
    "Objective",
    "PreferenceModel",
    "Ranking",
    "WinRate",
    "barzilai_borwein",
    "bootstrap",
    "comparisons_needed",
    "degrees_of_freedom",
    "diagnose",
    "eased_start",
    "expected_error",
    "feature_error",
    "gradient_descent",
    "lbfgs",
    "mean_information",
    "ndcg",
    "pair_accuracy",
    "random_start",
    "rank",
    "spectral_start",
    "utility_error",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # rivals are imported at first use: the package does not know them
    __getattr__ = lazy_exports(__name__)[0]
