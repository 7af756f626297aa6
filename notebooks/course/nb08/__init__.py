"""What notebook 08 shows: how pairs of variables tell the joint distribution of all, and when they do not."""

from course.nb08.panels import anchors, joint_panel
from course.nb08.pictures import (
    draw_anchors,
    draw_coins,
    draw_columns,
    draw_errors,
    draw_likelihoods,
    draw_ratings,
    draw_starvation,
)
