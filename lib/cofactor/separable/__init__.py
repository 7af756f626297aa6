"""Separable matrices: a few columns of which all others are mixtures."""

from collections.abc import Callable
from functools import partial

from cofactor.core.spa import spa
from cofactor.separable.base import AnchorFit, spa_fit
from cofactor.separable.descent import FrankWolfeResult
from cofactor.separable.frank_wolfe import MeritFit, merit
from cofactor.separable.recovery import mrsa, rae
from cofactor.separable.selection import suggest_n_anchors

METHODS: dict[str, Callable[..., AnchorFit]] = {
    "SPA": spa_fit,
    "MERIT": merit,
    "MERIT(0)": partial(merit, lam=0.0),
}

__all__ = [
    "METHODS",
    "AnchorFit",
    "FrankWolfeResult",
    "MeritFit",
    "merit",
    "mrsa",
    "rae",
    "spa",
    "suggest_n_anchors",
]
