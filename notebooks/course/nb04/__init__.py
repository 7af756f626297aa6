"""What notebook 04 shows: how SymNMF turns, how fast it arrives, and where it gets stuck."""

from course.nb04.panels import (
    draw_film,
    draw_race,
    draw_starts,
    film,
    film_panel,
    many_starts,
    race,
    race_panel,
    starts_panel,
)
from course.nb04.pictures import CLAMP, PLAIN, ZERO, draw_linear_rate, draw_operators, draw_rates
from course.rates import linear_rate
