"""The small computations behind panels and figures, one module per notebook.

Each simulates, runs the library, and keeps what a picture and a sentence need.
"""

from cofactor.teaching.demos.identifiability import Recovery, recovery
from cofactor.teaching.demos.theory import (
    IMPUTATIONS,
    Comparison,
    Completion,
    ImputationErrors,
    Rounds,
    Scattering,
    bird_crowd,
    bird_watchers,
    compare,
    complete,
    em_rounds,
    hide_pairs,
    imputation_errors,
    mixed_crowd,
    principal_root,
    scattering,
    small_crowd,
    without_pairs,
)

__all__ = [
    "IMPUTATIONS",
    "Comparison",
    "Completion",
    "ImputationErrors",
    "Recovery",
    "Rounds",
    "Scattering",
    "bird_crowd",
    "bird_watchers",
    "compare",
    "complete",
    "em_rounds",
    "hide_pairs",
    "imputation_errors",
    "mixed_crowd",
    "principal_root",
    "recovery",
    "scattering",
    "small_crowd",
    "without_pairs",
]
