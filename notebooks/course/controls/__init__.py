"""Panels: controls beside a figure and a sentence that says what the figure shows; one module per notebook."""

from course.controls.comparisons import descent_panel
from course.controls.convergence import film_panel, race_panel, starts_panel
from course.controls.frank_wolfe import selection_panel, walk_panel
from course.controls.identifiability import certificate_panel, identifiability_panel
from course.controls.imputation import holes_panel, needed_panel, sample_panel
from course.controls.joint_pmf import joint_panel
from course.panel import Panel
from course.controls.real_crowd import thinning_panel
from course.controls.theory import crowd_panel, em_panel, missing_block_panel, scattering_panel
from course.controls.topics_communities import friends_panel, library_panel
from course.controls.your_data import plan_panel

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
