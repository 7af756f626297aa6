"""The joint distribution of many discrete variables from their pairwise marginals, and what it is compared with."""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.bootstrap import PMFBootstrap, bootstrap
from cofactor.pmf.classifier import CLASSIFIERS, JointPMFClassifier
from cofactor.pmf.cnmf import cnmf_spa
from cofactor.pmf.diagnose import diagnose
from cofactor.pmf.estimators import CNMFEM, CNMFOPT, CNMFSPA, CNMFSPAEM, RANDEM, Constant, Independence, from_marginals
from cofactor.pmf.metrics import mre, mse
from cofactor.pmf.ratings import BMF, RECOMMENDERS, GlobalAverage, ItemAverage, JointPMFRecommender, UserAverage
from cofactor.registry import Methods

if TYPE_CHECKING:
    from cofactor.rivals.pmf import CTD, MLEAD, MLEADEM

METHODS = Methods("pmf")

__all__ = [
    "BMF",
    "CLASSIFIERS",
    "CNMFEM",
    "CNMFOPT",
    "CNMFSPA",
    "CNMFSPAEM",
    "CTD",
    "METHODS",
    "MLEAD",
    "MLEADEM",
    "RANDEM",
    "RECOMMENDERS",
    "Constant",
    "GlobalAverage",
    "Independence",
    "ItemAverage",
    "JointPMFClassifier",
    "JointPMFEstimator",
    "JointPMFRecommender",
    "PMFBootstrap",
    "UserAverage",
    "bootstrap",
    "cnmf_spa",
    "diagnose",
    "from_marginals",
    "mre",
    "mse",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # rivals are imported at first use: the package does not know them
    __getattr__ = lazy_exports(__name__)[0]
