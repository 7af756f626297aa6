"""What notebook 07 shows: methods on public crowds, which are thinned and misled, and what a prior is good for."""

from cofactor.plots.crowd import draw_confusions, draw_uncertainty, draw_votes
from course.crowds import without_prior
from course.nb07.panels import keep_labels, thinning_panel
from course.nb07.pictures import (
    disagreement,
    draw_beside_published,
    draw_curves,
    draw_time_and_error,
    draw_who_labelled,
    mislead,
    public_crowds,
    run_method,
    try_methods,
)
from course.nb07.priors import draw_belief, draw_evidence, evidence_bound, kinds_gain, thin_crowd
