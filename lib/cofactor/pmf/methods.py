"""The methods of the line by name."""

from __future__ import annotations

from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.classifier import JointPMFClassifier
from cofactor.pmf.ratings import (
    BMF,
    GlobalAverage,
    ItemAverage,
    JointPMFRecommender,
    RatingPredictor,
    UserAverage,
)
from cofactor.registry import Methods

METHODS = Methods("pmf")
RECOMMENDERS: dict[str, type[RatingPredictor]] = {
    "GlobalAverage": GlobalAverage,
    "UserAverage": UserAverage,
    "ItemAverage": ItemAverage,
    "BMF": BMF,
    "JointPMF": JointPMFRecommender,
}
CLASSIFIERS = {"JointPMF": JointPMFClassifier}


def name_of(estimator: JointPMFEstimator) -> str:
    """Return the name in METHODS of an estimator; that of its class where its settings make it another method."""
    for name, method in METHODS.items():
        if type(estimator) is method and estimator.em == method().em:
            return name
    return type(estimator).__name__ + "-EM" * estimator.em
