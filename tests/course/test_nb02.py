"""What notebook 02 draws and computes: the dual slice, error against margin, the panel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cofactor.core.errors import NotIdentifiableError
from cofactor.core.scattering import scattering_certificate, slice_vertices
from cofactor_app.plots.simplex import CENTRE, CORNERS, to_plane
from course.desk import exercises_of
from course.nb02 import panels
from course.nb02.pictures import OUTER, draw_dual, slice_in_frame

HEXAGON = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


@given(seed=st.integers(0, 10_000))
def test_in_the_plane_norm_one_is_the_circle_through_the_corners(seed):
    x = np.random.default_rng(seed).standard_normal(3)
    x = x + (1 - x.sum()) / 3
    assert np.isclose(np.linalg.norm(x @ CORNERS - CENTRE) ** 2 - OUTER**2, x @ x - 1)


@pytest.mark.parametrize("H", [HEXAGON, np.where(HEXAGON == 2, 3, HEXAGON), np.eye(3)])
def test_the_drawn_slice_has_the_corners_of_the_certificate(H):
    drawn, exact = slice_in_frame(to_plane(H)), slice_vertices(H) @ CORNERS
    apart = np.linalg.norm(drawn[:, None] - exact, axis=2)
    assert apart.min(axis=1).max() < 1e-9 and apart.min(axis=0).max() < 1e-9


def test_an_unbounded_slice_is_cut_at_the_frame():
    corners = slice_in_frame(to_plane([[1, 0, 0], [0, 1, 0], [2, 1, 1]]))
    assert np.abs(corners - CENTRE).max() < 1.12 and len(corners) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("H", "said"),
    [
        (HEXAGON, "Condition 1 holds, condition 2 fails"), (np.eye(3), "by a margin of 0.293"),
        (np.eye(3) + 1, "norm 3.317"), ([[1, 0, 0], [1, 2, 1]], "unbounded"),
    ],
)  # fmt: skip
def test_the_title_of_the_dual_is_the_verdict(H, said):
    assert said in title(draw_dual(H))


def margin(*crowd):
    return scattering_certificate(panels.made_crowd(*crowd)).margin


@pytest.mark.parametrize("n_specialists", [0, 1, 2])
def test_what_counts_is_how_lopsided_the_rows_are_not_how_many_labels_are_right(n_specialists):
    for poor, fair in ((0.66, 0.67), (0.34, 0.33)):
        assert margin(poor, n_specialists, 0.0, 0.0) < 0 < margin(fair, 0, 0.0, 0.0)
    assert np.isclose(margin(0.3, 0, 0.0, 0.0), margin(0.7, 0, 0.0, 0.0))
    sums = panels.made_crowd(0.7, n_specialists, 0.1, 0.2).reshape(10, 3, 3).sum(axis=1)
    assert np.allclose(sums, 1 / np.sqrt(3))  # confusion matrices with equal priors


@pytest.mark.parametrize(("right", "told"), [(0.9, -0.121), (0.99, -0.010)])
def test_errors_spread_evenly_are_not_certified_however_few(right, told):
    assert np.isclose(margin(1.0, 0, 1.5 * (1 - right), 0.0), told, atol=0.001)


def test_specialists_of_all_classes_need_no_accuracy_and_no_slip():
    separable = scattering_certificate(panels.made_crowd(0.4, 3, 0.0, 0.5))
    assert separable.holds and separable.distances.max() < 1e-9
    assert margin(0.9, 3, 0.01, 0.0) < 0


def test_who_only_guesses_leaves_the_slice_unbounded():
    live = panels.certificate_live()
    live.controls["spam"].value = 1.0
    assert "T is unbounded" in live.text
    for accuracy in (0.0, 1.0):  # no extreme stops it
        live.controls["accuracy"].value = accuracy
        assert "Condition 1" in live.text


def test_the_hexagon_is_where_the_certificate_turns():
    live = panels.certificate_live()
    for accuracy, unique in ((0.66, False), (0.68, True), (0.34, False), (0.32, True)):
        live.controls["accuracy"].value = accuracy
        assert ("the factor is unique" in live.text) == unique


def test_the_certificate_is_told_in_picture_and_sentence():
    live = panels.certificate_live()
    live.controls["shown"].value = True
    T = live.moving[7]
    for accuracy, spread, verdict, told in (
        (0.6, 0, "fails", "60% are"),
        (0.8, 0, "holds", "80% are"),
        (1, 0.15, "fails", "90% are"),
    ):
        live.controls["accuracy"].value, live.controls["spread"].value = accuracy, spread
        assert f"Condition 1 {verdict}" in live.text and f"Of all labels, {told} right" in live.text
        farthest = np.linalg.norm(T.get_xy() - CENTRE, axis=1).max()
        assert T.get_visible() and (farthest < OUTER + 1e-9) == (verdict == "holds")


def test_recovery_is_exact_with_a_certificate_and_fits_without():
    exact, wrong = panels.recovery(0.0, 0.4, seed=1), panels.recovery(0.4, 0.4, seed=1)
    assert exact.certificate.holds and exact.error < 1e-12 and exact.imputation_error < 1e-12
    assert np.abs(exact.estimate.stacked - exact.truth.stacked).max() < 1e-6  # classes in the same order
    assert wrong.certificate.condition1 == "fails" and wrong.misfit < 1e-12 and wrong.error > 1e-3
    assert np.isclose(wrong.error, wrong.truth.mse(wrong.estimate)) and wrong.n_hidden == round(0.4 * 66)


def test_what_no_method_can_recover_is_refused():
    with pytest.raises(NotIdentifiableError):
        panels.recovery(0.0, 0.95)


@pytest.mark.slow
def test_the_panel_tells_the_truth_and_moves_from_where_it_starts():
    panel = panels.identifiability_panel(seed=1)
    assert "20 of 66 pairs were hidden and imputed exactly. Condition 1 fails" in panel.text
    assert panel.outcome.error > 1e-6  # at zero, moving the share of pairs would change nothing
    panel.controls["specialist_error"].value = 0.0
    assert "Condition 1 holds (margin 0.2929)" in panel.text and "unique" in title(panels.draw_recovery(panel.outcome))
    panel.controls["specialist_error"].value = 0.4
    expected = panels.recovery(0.4, 0.3, seed=1)
    assert "Condition 1 fails" in panel.text and f"{expected.error:.4g}" in panel.text
    ax = panels.draw_recovery(expected).axes[1]
    assert np.allclose(
        ax.lines[1].get_xydata(), np.column_stack([expected.truth.stacked[:, 0], expected.estimate.stacked[:, 0]])
    )


def test_one_set_of_specialists_is_enough_for_all_rows_and_for_no_split():
    blocks, splits = exercises_of("nb02")["split"].given().values()
    assert splits.shape == (31, 6) and len({frozenset([(*row,), (*~row,)]) for row in splits}) == 31
    assert splits.sum(axis=1).min() > 0 and splits.sum(axis=1).max() < 6
    worse = [min(certificate_of(blocks[one]).margin, certificate_of(blocks[~one]).margin) for one in splits]
    assert certificate_of(blocks).holds and max(worse) < 0
    assert np.isclose(certificate_of(blocks).margin, 0.293, atol=5e-4) and np.isclose(max(worse), -0.262, atol=5e-4)
    specialists = certificate_of(blocks[:3])
    assert specialists.holds and not certificate_of(blocks[3:]).holds and not specialists.distances.any()


def certificate_of(blocks):
    return scattering_certificate(blocks.reshape(-1, 3))


def test_a_factor_that_fools_the_certificate_has_a_second_factor_and_is_certified_at_the_level():
    exercise = exercises_of("nb02")["fool"]
    small = Rotation.from_rotvec([1e-3] * 3).as_matrix()  # about (1, 1, 1)
    for case in [exercise.given(), *exercise.cases()]:
        H = exercise.right()(*case.values())
        rows = H / H.sum(axis=1, keepdims=True)
        assert (H @ small).min() > 0 and not np.allclose(H @ small, H, rtol=0, atol=1e-4)
        assert not scattering_certificate(H).holds
        assert scattering_certificate(np.where(rows < case["level"], 0, rows)).holds
