"""What notebook 02 shows: when a factor is unique, and what is recovered when it is not."""

from course.crowds import hide_pairs, without_prior
from course.matrices import draw_blocks
from course.nb02.panels import certificate_live, identifiability_panel, made_crowd
from course.nb02.pictures import draw_climbs, draw_dual, draw_margins
