"""The joint distribution of many discrete variables from their pairwise marginals, and what it is compared with."""

from collections.abc import Callable
from functools import partial

from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.baselines.ctd import CTD
from cofactor.pmf.baselines.mle_ad import MLEAD
from cofactor.pmf.bootstrap import PMFBootstrap, bootstrap
from cofactor.pmf.classifier import JointPMFClassifier
from cofactor.pmf.cnmf_spa import cnmf_spa
from cofactor.pmf.diagnose import diagnose
from cofactor.pmf.estimators import CNMFOPT, CNMFSPA, Constant, Independence, RandomEM
from cofactor.pmf.metrics import mre, mse
from cofactor.pmf.planner import plan
from cofactor.pmf.ratings import BiasedMF, GlobalAverage, ItemAverage, JointPMFRecommender, UserAverage

METHODS: dict[str, Callable[..., JointPMFEstimator]] = {
    "CNMF-SPA": CNMFSPA,
    "CNMF-SPA-EM": partial(CNMFSPA, em=True),
    "CNMF-OPT": CNMFOPT,
    "CNMF-EM": partial(CNMFOPT, em=True),
    "RAND-EM": RandomEM,
    "CTD": CTD,
    "MLE-AD": MLEAD,
    "MLE-AD-EM": partial(MLEAD, em=True),
    "Independence": Independence,
    "Constant": Constant,
}

__all__ = [
    "CNMFOPT",
    "CNMFSPA",
    "CTD",
    "METHODS",
    "MLEAD",
    "BiasedMF",
    "Constant",
    "GlobalAverage",
    "Independence",
    "ItemAverage",
    "JointPMFClassifier",
    "JointPMFEstimator",
    "JointPMFRecommender",
    "PMFBootstrap",
    "RandomEM",
    "UserAverage",
    "bootstrap",
    "cnmf_spa",
    "diagnose",
    "mre",
    "mse",
    "plan",
]
