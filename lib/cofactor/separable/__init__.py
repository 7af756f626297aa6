"""Separable matrices: a few columns of which all others are mixtures."""

from collections.abc import Callable

from cofactor.core.spa import spa
from cofactor.separable.base import AnchorFit, spa_fit

METHODS: dict[str, Callable[..., AnchorFit]] = {
    "SPA": spa_fit,
}

__all__ = [
    "METHODS",
    "AnchorFit",
    "spa",
]
