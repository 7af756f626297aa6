"""What notebook 05 shows: how Frank-Wolfe walks, which rows of C it fills, and what that takes in memory."""

from course.nb05.panels import draw_points, draw_walk, selection_panel, triangle, walk, walk_panel
from course.nb05.pictures import (
    draw_cloud,
    draw_coefficients,
    draw_gap,
    draw_memory,
    draw_scores,
    draw_success,
    measure_memory,
)
