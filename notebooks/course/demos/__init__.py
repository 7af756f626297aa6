"""What is not yet in its notebook's package."""
# ruff: noqa
from course.rates import linear_rate
from course.crowds import without_prior
from course.demos.comparisons import *
from course.demos.joint_pmf import *
from course.demos.prior import *
from course.demos.real_crowd import *
from course.demos.topics_communities import *
from course.demos.your_data import *
