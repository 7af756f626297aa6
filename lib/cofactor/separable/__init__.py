"""Separable matrices: a few columns of which all others are mixtures."""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports
from cofactor.core.spa import spa
from cofactor.registry import Methods
from cofactor.separable.base import AnchorFit
from cofactor.separable.bootstrap import AnchorBootstrap, bootstrap
from cofactor.separable.communities import Communities, communities
from cofactor.separable.diagnose import diagnose
from cofactor.separable.frank_wolfe import FrankWolfeResult, MeritFit, merit
from cofactor.separable.graphs import geo_nmf, spoc
from cofactor.separable.memory import predicted_bytes
from cofactor.separable.methods import MERIT, MERIT0, SPA, SPOC, GeoNMF, ProjectedSPA
from cofactor.separable.metrics import (
    clustering_accuracy,
    coherence,
    document_accuracy,
    sim_count,
    spearman_rank_correlation,
)
from cofactor.separable.recovery import mrsa, rae
from cofactor.separable.selection import lone_columns, suggest_n_anchors
from cofactor.separable.topic_estimators import Topics
from cofactor.separable.topics import topic_model
from cofactor.separable.words import TopicModel

if TYPE_CHECKING:
    from cofactor.baselines.separable.fast_gradient import FastGradient, fast_gradient
    from cofactor.baselines.separable.greedy import XRAY, FastAnchor, fast_anchor, xray
    from cofactor.baselines.separable.lda import LDA, lda_topics

METHODS = Methods("separable")

__all__ = [
    "LDA",
    "MERIT",
    "MERIT0",
    "METHODS",
    "SPA",
    "SPOC",
    "XRAY",
    "AnchorBootstrap",
    "AnchorFit",
    "Communities",
    "FastAnchor",
    "FastGradient",
    "FrankWolfeResult",
    "GeoNMF",
    "MeritFit",
    "ProjectedSPA",
    "TopicModel",
    "Topics",
    "bootstrap",
    "clustering_accuracy",
    "coherence",
    "communities",
    "diagnose",
    "document_accuracy",
    "fast_anchor",
    "fast_gradient",
    "geo_nmf",
    "lda_topics",
    "lone_columns",
    "merit",
    "mrsa",
    "predicted_bytes",
    "rae",
    "sim_count",
    "spa",
    "spearman_rank_correlation",
    "spoc",
    "suggest_n_anchors",
    "topic_model",
    "xray",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # rivals are imported at first use: the line does not know them
    __getattr__ = lazy_exports(__name__)[0]
