"""Separable matrices: a few columns of which all others are mixtures."""

from collections.abc import Callable
from functools import partial

from cofactor.core.spa import spa
from cofactor.separable.base import AnchorFit, spa_fit
from cofactor.separable.communities import Communities, communities
from cofactor.separable.descent import FrankWolfeResult
from cofactor.separable.diagnose import diagnose
from cofactor.separable.fast_gradient import fast_gradient
from cofactor.separable.frank_wolfe import MeritFit, merit
from cofactor.separable.graphs import geo_nmf, spoc
from cofactor.separable.greedy import fast_anchor, xray
from cofactor.separable.lda import lda_topics
from cofactor.separable.memory import predicted_bytes
from cofactor.separable.metrics import (
    clustering_accuracy,
    coherence,
    document_accuracy,
    sim_count,
    spearman_rank_correlation,
)
from cofactor.separable.recovery import mrsa, rae
from cofactor.separable.selection import suggest_n_anchors
from cofactor.separable.topics import TopicModel, topic_model

METHODS: dict[str, Callable[..., AnchorFit]] = {
    "SPA": spa_fit,
    "MERIT": merit,
    "MERIT(0)": partial(merit, lam=0.0),
    "FastGradient": fast_gradient,
    "XRAY": xray,
    "FastAnchor": fast_anchor,
    "SPOC": spoc,  # these two take the adjacency matrix of a graph
    "GeoNMF": geo_nmf,
}

__all__ = [
    "METHODS",
    "AnchorFit",
    "Communities",
    "FrankWolfeResult",
    "MeritFit",
    "TopicModel",
    "clustering_accuracy",
    "coherence",
    "communities",
    "diagnose",
    "document_accuracy",
    "fast_anchor",
    "fast_gradient",
    "geo_nmf",
    "lda_topics",
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
