"""What notebook 10 shows: the path from a messy file to an answer with its uncertainty, and how much data it takes."""

from cofactor_app.plots.planning import draw_intervals, draw_plan
from course.library import topic_error, word_points
from course.matrices import draw_cooccurrence
from course.nb10.files import clean_labels, example_files
from course.nb10.panels import plan_panel
from course.nb10.pictures import draw_path
