"""Separable matrices, in which all columns are mixtures of a few of them, the anchors."""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports
from cofactor.core.simplex import spa
from cofactor.registry import Methods
from cofactor.separable.columns import AnchorFit, lone_columns, suggest_n_anchors
from cofactor.separable.diagnose import AnchorBootstrap, bootstrap, diagnose
from cofactor.separable.graphs import SPOC, Communities, GeoNMF, communities, geo_nmf, spoc
from cofactor.separable.merit import FrankWolfeResult, MeritFit, merit
from cofactor.separable.methods import MERIT, MERIT0, SPA, ProjectedSPA, predicted_bytes
from cofactor.separable.metrics import (
    clustering_accuracy,
    coherence,
    document_accuracy,
    mrsa,
    rae,
    sim_count,
    spearman_rank_correlation,
)
from cofactor.separable.topics import TopicModel, Topics, topic_model

if TYPE_CHECKING:
    from cofactor.rivals.separable import (
        LDA,
        XRAY,
        FastAnchor,
        FastGradient,
        fast_anchor,
        fast_gradient,
        lda_topics,
        xray,
    )

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
