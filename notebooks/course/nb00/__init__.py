"""What notebook 00 shows: one crowd, from its labels to how certain each answer is."""

from cofactor_app.plots.crowd import draw_confusions, draw_uncertainty
from course.nb00.draws import labels_of
from course.nb00.panels import majority_live
from course.nb00.pictures import draw_overview
from course.nb07.panels import thinning_panel
from course.schematics import draw_kit
from course.votes import draw_methods
