"""What notebook 10 shows: the way from a messy file to an answer with its uncertainty, and how much data it takes."""

from cofactor_app.plots.crowd import draw_intervals, draw_plan
from course.matrices import draw_cooccurrence
from course.nb10.files import clean_labels, example_file
from course.nb10.panels import enough_live, two_live
