"""The pictures of the notebooks: pure functions from library objects to a figure."""

from cofactor.teaching.figures.comparisons import (
    draw_accuracies,
    draw_choices,
    draw_descents,
    draw_maps,
    draw_plane,
    draw_pursuit,
    draw_spectrum,
    draw_too_few,
    draw_utilities,
)
from cofactor.teaching.figures.convergence import (
    draw_film,
    draw_linear_rate,
    draw_operators,
    draw_race,
    draw_rates,
    draw_starts,
)
from cofactor.teaching.figures.crowd import (
    draw_confusions,
    draw_methods,
    draw_uncertainty,
    draw_votes,
    draw_worker_accuracy,
)
from cofactor.teaching.figures.frank_wolfe import (
    draw_coefficients,
    draw_gap,
    draw_memory,
    draw_scores,
    draw_selection,
    draw_success,
    draw_thin,
    draw_walk,
)
from cofactor.teaching.figures.identifiability import draw_dual, draw_margins, draw_recovery
from cofactor.teaching.figures.imputation import draw_items_needed, draw_sample_errors
from cofactor.teaching.figures.joint_pmf import (
    draw_anchors,
    draw_coins,
    draw_columns,
    draw_errors,
    draw_growth,
    draw_likelihoods,
    draw_ratings,
    draw_recovered,
    draw_starvation,
)
from cofactor.teaching.figures.matrices import draw_blocks, draw_completion, draw_cooccurrence, draw_imputation_error
from cofactor.teaching.figures.overview import draw_overview
from cofactor.teaching.figures.panels import draw_crowd, draw_rounds
from cofactor.teaching.figures.planning import draw_intervals, draw_plan
from cofactor.teaching.figures.real_crowd import (
    draw_beside_published,
    draw_curves,
    draw_thinned,
    draw_time_and_error,
    draw_who_labelled,
)
from cofactor.teaching.figures.schematics import draw_kit, draw_latent_class
from cofactor.teaching.figures.simplex import draw_convergence, draw_rotation, draw_simplex

__all__ = [
    "draw_accuracies",
    "draw_anchors",
    "draw_beside_published",
    "draw_blocks",
    "draw_choices",
    "draw_coefficients",
    "draw_coins",
    "draw_columns",
    "draw_completion",
    "draw_confusions",
    "draw_convergence",
    "draw_cooccurrence",
    "draw_crowd",
    "draw_curves",
    "draw_descents",
    "draw_dual",
    "draw_errors",
    "draw_film",
    "draw_gap",
    "draw_growth",
    "draw_imputation_error",
    "draw_intervals",
    "draw_items_needed",
    "draw_kit",
    "draw_latent_class",
    "draw_likelihoods",
    "draw_linear_rate",
    "draw_maps",
    "draw_margins",
    "draw_memory",
    "draw_methods",
    "draw_operators",
    "draw_overview",
    "draw_plan",
    "draw_plane",
    "draw_pursuit",
    "draw_race",
    "draw_rates",
    "draw_ratings",
    "draw_recovered",
    "draw_recovery",
    "draw_rotation",
    "draw_rounds",
    "draw_sample_errors",
    "draw_scores",
    "draw_selection",
    "draw_simplex",
    "draw_spectrum",
    "draw_starts",
    "draw_starvation",
    "draw_success",
    "draw_thin",
    "draw_thinned",
    "draw_time_and_error",
    "draw_too_few",
    "draw_uncertainty",
    "draw_utilities",
    "draw_votes",
    "draw_walk",
    "draw_who_labelled",
    "draw_worker_accuracy",
]
