"""What notebook 07 shows: methods on public crowds, thinned crowds, and what a prior is good for."""

from cofactor_app.plots.crowd import draw_confusions, draw_uncertainty
from course.crowds import without_prior
from course.nb07.panels import keep_labels, thinning_panel
from course.nb07.pictures import (
    draw_beside_published,
    draw_curves,
    draw_time_and_error,
    draw_who_labelled,
    public_crowds,
    run_method,
)
from course.nb07.priors import draw_belief, draw_evidence, thin_crowd
from course.votes import draw_votes
