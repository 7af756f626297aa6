"""What notebook 06 shows: utilities from comparisons, the landscape of their loss, and descents on it."""

from course.nb06.panels import descent_panel
from course.nb06.pictures import (
    draw_accuracies,
    draw_choices,
    draw_descents,
    draw_maps,
    draw_plane,
    draw_spectrum,
    draw_too_few,
    draw_utilities,
)
