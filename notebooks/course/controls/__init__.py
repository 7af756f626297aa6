"""What is not yet in its notebook's package."""
# ruff: noqa
from course.controls.comparisons import *
from course.controls.joint_pmf import *
from course.controls.real_crowd import *
from course.controls.topics_communities import *
from course.controls.your_data import *
