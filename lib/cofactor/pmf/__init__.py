"""The joint distribution of many discrete variables from their pairwise marginals, and what it is compared with."""

from collections.abc import Callable
from functools import partial

from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.cnmf_spa import cnmf_spa
from cofactor.pmf.estimators import CNMFOPT, CNMFSPA, Constant, Independence, RandomEM
from cofactor.pmf.metrics import mre, mse

METHODS: dict[str, Callable[..., JointPMFEstimator]] = {
    "CNMF-SPA": CNMFSPA,
    "CNMF-SPA-EM": partial(CNMFSPA, em=True),
    "CNMF-OPT": CNMFOPT,
    "CNMF-EM": partial(CNMFOPT, em=True),
    "RAND-EM": RandomEM,
    "Independence": Independence,
    "Constant": Constant,
}

__all__ = [
    "CNMFOPT",
    "CNMFSPA",
    "METHODS",
    "Constant",
    "Independence",
    "JointPMFEstimator",
    "RandomEM",
    "cnmf_spa",
    "mre",
    "mse",
]
