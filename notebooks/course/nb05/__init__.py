"""What notebook 05 shows: how Frank-Wolfe moves, which rows of C it fills, and how much memory that takes."""

from course.nb05.panels import draw_points, memory_live, selection_panel, triangle, walk_live
from course.nb05.pictures import (
    draw_coefficients,
    draw_gap,
    draw_scores,
    draw_success,
)
