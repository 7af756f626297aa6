"""Hidden structure from pairwise evidence.

Four problems, one idea: evidence about pairs is cheap to estimate and easy to add up, and a factorisation with an
identifiability guarantee turns it back into the structure behind it.

>>> import cofactor as cf
>>> bluebird = cf.load("bluebird")
>>> method = cf.crowd.METHODS["RobSymNMF-EM"]().fit(bluebird.labels)
>>> round(100 * cf.crowd.error_rate(method.predict(bluebird.labels), bluebird.truth), 2)
10.19
"""

from cofactor import comparisons, crowd, data, pmf, separable, simulate
from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import (
    CofactorError,
    ConvergenceWarning,
    DatasetUnavailableError,
    DataWarning,
    NotIdentifiableError,
)
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.labels import CrowdLabels
from cofactor.data import datasets, load

__version__ = "0.1.0"

__all__ = [
    "CategoricalTable",
    "CofactorError",
    "Comparisons",
    "ConvergenceWarning",
    "CrowdLabels",
    "DataWarning",
    "DatasetUnavailableError",
    "LatentClassModel",
    "NotIdentifiableError",
    "comparisons",
    "crowd",
    "data",
    "datasets",
    "load",
    "pairwise_moments",
    "pmf",
    "separable",
    "simulate",
]
