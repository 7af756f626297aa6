"""What notebook 07 and its lab show: methods on public crowds, people who mislead, and what a prior is good for."""

from cofactor_app.plots.crowd import draw_confusions
from course.crowds import without_prior
from course.nb07.panels import belief_live, mislead, mislead_live
from course.nb07.pictures import (
    draw_beside_published,
    draw_time_and_error,
    draw_who_labelled,
    public_crowds,
    run_method,
)
from course.nb07.priors import draw_evidence, thin_crowd
