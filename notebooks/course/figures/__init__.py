"""What is not yet in its notebook's package."""
# ruff: noqa
from cofactor.plots.crowd import *
from cofactor.plots.planning import *
from cofactor.plots.simplex import *
from course.expected import draw_expected
from course.matrices import *
from course.figures.comparisons import *
from course.figures.joint_pmf import *
from course.figures.prior import *
from course.figures.real_crowd import *
from course.figures.topics_communities import *
from course.figures.your_data import *
