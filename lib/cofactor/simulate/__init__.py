"""Synthetic problems with known truth: one generator per experiment.

Every generator takes a `random_state`, and returns data together with the truth from which they were drawn.
"""

from cofactor.simulate.comparisons import comparison_factors, draw_comparisons, tennis_seasons, two_way_comparisons
from cofactor.simulate.crowds import (
    Crowd,
    Generator,
    crowd,
    dawid_skene_model,
    drifting_crowd,
    large_crowd,
    symnmf_problem,
)
from cofactor.simulate.joint import joint_model, joint_table
from cofactor.simulate.mixtures import Mixture, dirichlet_mixtures, midpoint_mixtures

__all__ = [
    "Crowd",
    "Generator",
    "Mixture",
    "comparison_factors",
    "crowd",
    "dawid_skene_model",
    "dirichlet_mixtures",
    "draw_comparisons",
    "drifting_crowd",
    "joint_model",
    "joint_table",
    "large_crowd",
    "midpoint_mixtures",
    "symnmf_problem",
    "tennis_seasons",
    "two_way_comparisons",
]
