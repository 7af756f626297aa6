"""What notebook 01 shows: the model of a crowd, its co-occurrences, and how a factorisation recovers it."""

from course.crowds import HoledCrowd, hide_pairs, small_crowd
from course.matrices import draw_blocks, draw_cooccurrence
from course.nb01.panels import corner_live, crowd_panel, draw_starts, em_live, missing_block_panel, turn_panel
from course.nb01.pictures import draw_conditions
from course.schematics import draw_latent_class
from course.simplex import draw_rotation, draw_simplex
