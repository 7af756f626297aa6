"""What every user would choose, from a few comparisons of each; and the rankings that this is compared with."""

from typing import TYPE_CHECKING

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.bootstrap import ComparisonBootstrap, bootstrap
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.diagnose import diagnose
from cofactor.comparisons.estimators import ComparisonMF
from cofactor.comparisons.formulas import comparisons_needed, degrees_of_freedom, expected_error, mean_information
from cofactor.comparisons.links import LINKS, Link
from cofactor.comparisons.loss import Objective
from cofactor.comparisons.metrics import feature_error, ndcg, pair_accuracy, utility_error
from cofactor.comparisons.places import Ranking
from cofactor.comparisons.ranking import rank
from cofactor.comparisons.solvers import barzilai_borwein, eased_start, gradient_descent, lbfgs
from cofactor.comparisons.spectral import random_start, spectral_start
from cofactor.core.lazy import lazy_exports
from cofactor.registry import Methods

if TYPE_CHECKING:
    from cofactor.baselines.comparisons.altsvm import AltSVM
    from cofactor.baselines.comparisons.bpr import BPR
    from cofactor.baselines.comparisons.nuclear import NuclearNormMLE
    from cofactor.baselines.comparisons.ranking import BradleyTerry, WinRate

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


if not TYPE_CHECKING:  # rivals are imported at first use: the line does not know them
    __getattr__ = lazy_exports(__name__)[0]
