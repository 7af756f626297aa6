"""What notebook 04 shows: how SymNMF turns, how fast it converges, and where it gets stuck."""

from course.nb04.panels import film_panel, race_panel, turn_live, walk_live
from course.nb04.pictures import draw_operators, draw_race, draw_starts, draw_turn
