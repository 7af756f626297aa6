"""Panels: controls beside a figure and a sentence that says what the figure shows; one module per notebook."""

from cofactor.teaching.controls.comparisons import descent_panel
from cofactor.teaching.controls.convergence import film_panel, race_panel, starts_panel
from cofactor.teaching.controls.frank_wolfe import selection_panel, walk_panel
from cofactor.teaching.controls.identifiability import certificate_panel, identifiability_panel
from cofactor.teaching.controls.imputation import holes_panel, needed_panel, sample_panel
from cofactor.teaching.controls.joint_pmf import joint_panel
from cofactor.teaching.controls.panel import Panel
from cofactor.teaching.controls.real_crowd import thinning_panel
from cofactor.teaching.controls.theory import crowd_panel, em_panel, missing_block_panel, scattering_panel
from cofactor.teaching.controls.topics_communities import friends_panel, library_panel
from cofactor.teaching.controls.your_data import plan_panel

__all__ = [
    "Panel",
    "certificate_panel",
    "crowd_panel",
    "descent_panel",
    "em_panel",
    "film_panel",
    "friends_panel",
    "holes_panel",
    "identifiability_panel",
    "joint_panel",
    "library_panel",
    "missing_block_panel",
    "needed_panel",
    "plan_panel",
    "race_panel",
    "sample_panel",
    "scattering_panel",
    "selection_panel",
    "starts_panel",
    "thinning_panel",
    "walk_panel",
]
