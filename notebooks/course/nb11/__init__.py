"""What notebook 11 shows: a crowd drawn from the learner's seed, a shop of checked labels, and the truth at the end."""

from course.nb11.crowd import Shop, draw_crowd, group_of, three_readings, truth_of
from course.nb11.panels import budget_live
from course.nb11.pictures import draw_agreement, draw_delivery
