"""What notebook 08 and its lab show: how pairs tell the joint distribution of all variables, and when not."""

from course.nb08.panels import anchors, member_live, slice_live
from course.nb08.pictures import (
    draw_anchors,
    draw_coins,
    draw_columns,
    draw_errors,
    draw_likelihoods,
    draw_ratings,
    draw_starvation,
)
