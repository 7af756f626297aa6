"""What notebook 03 shows: how the error of imputed blocks falls with the number of labels."""

from course.crowds import draw_completion
from course.matrices import draw_cooccurrence
from course.nb03.panels import link_live, rate_live, sample_panel
from course.nb03.pictures import draw_sample_errors, holes, sample_errors
