"""Pictures of what is expected: the answer as it is, one panel for each of its parts."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor.plots.style import alt_text
from course import draw_expected
from course.desk import exercises

EXERCISES = exercises()


def drawn(ax):
    """What a panel shows, as numbers: a heat map, upright bars or one bar that lies."""
    if ax.images:
        return np.asarray(ax.images[0].get_array())
    return [bar.get_height() for bar in ax.patches] if ax.get_ylabel() else ax.patches[0].get_width()


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_shows_every_part_of_the_answer(name):
    fig = draw_expected(name)
    panels = [ax for ax in fig.axes if ax.get_label() != "<colorbar>"]
    assert len(panels) == len(EXERCISES[name].parts)
    for ax, part in zip(panels, EXERCISES[name].parts, strict=True):
        answer = np.asarray(part.answer, dtype=float)
        assert np.allclose(drawn(ax), answer)
        assert part.name in alt_text(fig)


def test_negative_entries_have_another_colour_than_positive_ones():
    image = draw_expected("rotation").axes[0].images[0]
    assert image.norm.vmin == -image.norm.vmax
    assert draw_expected("penalty").axes[0].images[0].norm.vmin == 0


def test_unknown_exercises_are_answered_with_the_known_ones():
    with pytest.raises(CofactorError, match="no exercise 'posteriour'; there are accuracy"):
        draw_expected("posteriour")
