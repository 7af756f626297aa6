"""Views of co-occurrences: holes are told from zeros, numbers in titles are those of the matrices."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor.crowd import Cooccurrences
from course import demos
from course.figures.matrices import (
    draw_blocks,
    draw_completion,
    draw_cooccurrence,
    draw_imputation_error,
    relative_error,
)

MODEL = demos.mixed_crowd(4, 2, seed=3)
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


@pytest.mark.parametrize("empty", [0.0, np.nan])
def test_a_matrix_with_empty_blocks_looks_the_same(empty):
    X = np.where(BLOCKS.dense() == 0, empty, BLOCKS.dense())
    fig = draw_cooccurrence(X, n_classes=2)
    assert np.array_equal(hatched(fig.axes[0]), hatched(draw_cooccurrence(BLOCKS).axes[0]))
    assert title(fig).startswith("33\xa0% of annotator pairs share no task")


def test_a_zero_inside_an_observed_block_is_no_hole():
    X = np.kron(~np.eye(3, dtype=bool), [[0.5, 0.0], [0.0, 0.5]])
    assert np.array_equal(hatched(draw_cooccurrence(X, 2).axes[0]), np.eye(3, dtype=bool))


@pytest.mark.parametrize(("shape", "n_classes"), [((6, 6), None), ((6, 6), 4), ((6, 4), 2), ((6,), 2), ((6, 6), 0)])
def test_a_matrix_without_its_number_of_classes_is_refused(shape, n_classes):
    with pytest.raises(CofactorError, match="n_classes"):
        draw_cooccurrence(np.ones(shape), n_classes)


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


def test_completion_hatches_what_stays_empty():
    crowd = demos.small_crowd(5, 2, 200, seed=1)
    hidden = np.ones((5, 5), dtype=bool)
    hidden[[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]] = False  # a triangle, and two annotators who met nobody
    fig = draw_completion(demos.complete(crowd, hidden, "designated"))
    assert np.array_equal(hatched(fig.axes[0]), hidden)
    alone = np.arange(5) > 2
    assert np.array_equal(hatched(fig.axes[1]), alone[:, None] | alone)


def test_completion_shows_the_size_of_the_error():
    completion = demos.complete(demos.small_crowd(5, 2, 200, seed=1), demos.hide_pairs(5, 0.2), "robust")
    fig = draw_completion(completion)
    assert np.allclose(fig.axes[1].images[0].get_array(), completion.estimate)
    assert np.allclose(fig.axes[2].images[0].get_array(), np.abs(completion.estimate - completion.truth))
    assert title(fig) == completion.finding


def test_imputation_errors_are_means_within_their_range():
    values = np.array([[0.1, 0.4], [0.3, 0.8]])
    errors = demos.ImputationErrors(np.array([0.2, 0.6]), {"designated": values, "robust": values / 2})
    fig = draw_imputation_error(errors)
    designated, robust = fig.axes[0].lines
    assert np.allclose(designated.get_data(), [[20, 60], [20, 60]])
    assert np.allclose(robust.get_ydata(), [10, 30])
    assert designated.get_linestyle() != robust.get_linestyle() and designated.get_marker() != robust.get_marker()
    band = fig.axes[0].collections[0].get_paths()[0].vertices
    assert {(20, 10), (20, 30), (60, 40), (60, 80)} <= {(round(x), round(y)) for x, y in band}
    assert title(fig) == "At 60\xa0% missing pairs, robust imputation is 30\xa0% off, designated 60\xa0%"
