"""Views of co-occurrences: holes are told from zeros, numbers in titles are those of the matrices."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import Cooccurrences
from course.crowds import mixed_crowd
from course.matrices import draw_blocks, draw_cooccurrence, relative_error

MODEL = mixed_crowd(4, 2, seed=3)
OBSERVED = np.ones((4, 4), dtype=bool)
OBSERVED[0, 1] = OBSERVED[1, 0] = OBSERVED[2, 3] = OBSERVED[3, 2] = False
BLOCKS = Cooccurrences.from_model(MODEL, OBSERVED)


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


def hatched(ax):
    """(M, M) mask of the blocks under hatches."""
    (mesh,) = ax.collections
    assert mesh.get_hatch()
    return ~np.ma.getmaskarray(mesh.get_array())


def test_cooccurrences_are_drawn_as_they_are_with_holes_hatched():
    ax = draw_cooccurrence(BLOCKS).axes[0]
    assert np.allclose(ax.images[0].get_array(), BLOCKS.dense())
    assert np.array_equal(hatched(ax), ~OBSERVED | np.eye(4, dtype=bool))


def test_a_zero_inside_an_observed_block_is_no_hole():
    sure = LatentClassModel([0.5, 0.5], [np.eye(2)] * 3)
    fig = draw_cooccurrence(Cooccurrences.from_model(sure))
    assert np.array_equal(hatched(fig.axes[0]), np.eye(3, dtype=bool))


def test_the_title_counts_the_holes():
    assert title(draw_cooccurrence(BLOCKS)).startswith("33\xa0% of annotator pairs share no task")


def test_a_block_beside_its_estimate_and_error():
    true, estimate = MODEL.pairwise(0, 1), MODEL.pairwise(0, 2)
    fig = draw_blocks(true, estimate, "Pair 0, 1")
    for ax, drawn in zip(fig.axes, (true, estimate, estimate - true), strict=True):
        assert np.allclose(ax.images[0].get_array(), drawn)
    assert title(fig).startswith(f"Pair 0, 1: the estimate is {100 * relative_error(true, estimate):.1f}\xa0% off")
    reach = fig.axes[2].images[0].get_clim()
    assert np.isclose(reach[0], -reach[1])  # no error is the neutral colour
    with pytest.raises(CofactorError, match="one shape"):
        draw_blocks(true, estimate[:1])
