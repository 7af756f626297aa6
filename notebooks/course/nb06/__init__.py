"""What notebook 06 and its lab show: utilities from comparisons, the landscape of the loss, a recommender."""

from course.nb06.panels import amount_live, hide_recipes, ridge_live, share_right, taste_live, valley_live
from course.nb06.pictures import draw_choices, draw_descents, draw_maps, draw_spectrum, draw_too_few
