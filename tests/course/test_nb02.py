"""What notebook 02 draws and computes: the dual slice, error against margin, the panel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.scattering import scattering_certificate, slice_vertices
from cofactor.plots.simplex import CENTRE, CORNERS, to_plane
from course.nb02 import panels
from course.nb02.pictures import OUTER, draw_dual, draw_margins, slice_in_frame

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


@pytest.mark.parametrize(
    ("H", "said"),
    [
        (HEXAGON, "Condition 1 holds, condition 2 fails"), (np.eye(3), "by a margin of 0.293"),
        (np.eye(3) + 1, "norm 3.317"), ([[1, 0, 0], [1, 2, 1]], "unbounded"),
    ],
)  # fmt: skip
def test_the_title_of_the_dual_is_the_verdict(H, said):
    assert said in title(draw_dual(H))


def test_the_dual_is_for_three_classes():
    with pytest.raises(CofactorError, match="three classes"):
        draw_dual(np.eye(4))


def test_margins_are_drawn_where_they_are():
    margins, errors, misfits = np.array([-0.5, -0.1, 0.2]), np.array([0.02, 1e-3, 1e-19]), np.full(3, 1e-20)
    fig = draw_margins(margins, errors, misfits)
    lines = {line.get_label(): np.column_stack(line.get_data()) for line in fig.axes[0].lines}
    assert np.allclose(lines["error of the model, condition 1 fails"], [[-0.5, 0.02], [-0.1, 1e-3]])
    assert lines["error of the model, certified"].tolist() == [[0.2, 1e-16]]
    assert title(fig) == (
        "Largest misfit of 3 crowds: below 1e−12; largest error where certified: below 1e−12, elsewhere 0.02"
    )
    with pytest.raises(CofactorError, match="belong together"):
        draw_margins(margins, errors, [0.0])


@pytest.mark.parametrize("n_specialists", [0, 1, 2])
def test_without_a_specialist_for_every_class_two_right_labels_of_three_are_the_limit(n_specialists):
    poor, fair = (panels.made_crowd(accuracy, n_specialists, 0.0, 0.0, 10) for accuracy in (0.66, 0.67))
    assert scattering_certificate(poor).condition1 == "fails" and scattering_certificate(fair).holds
    sums = fair.reshape(10, 3, 3).sum(axis=1)
    assert np.allclose(sums, 1 / np.sqrt(3))  # confusion matrices with equal priors


def test_specialists_of_all_classes_need_no_accuracy_and_no_slip():
    separable = scattering_certificate(panels.made_crowd(0.4, 3, 0.0, 0.5, 10))
    assert separable.holds and separable.distances.max() < 1e-9
    assert scattering_certificate(panels.made_crowd(0.9, 3, 0.01, 0.0, 10)).condition1 == "fails"


def test_who_only_guesses_leaves_the_slice_unbounded():
    panel = panels.certificate_panel()
    panel.controls["spam"].value = 1.0
    assert "T is unbounded" in panel.text and "unbounded" in title(panels.draw_certificate(panel.outcome))


def test_the_certificate_is_told_in_picture_and_sentence():
    panel = panels.certificate_panel()
    for accuracy, verdict, told in ((0.6, "fails", "may fit as well"), (0.8, "holds", "is unique")):
        panel.controls["accuracy"].value = accuracy
        (ax,) = panels.draw_certificate(panel.outcome).axes
        assert told in panel.text and f"Condition 1 {verdict}" in panel.text
        assert any(f"1, hull covers disc: {verdict}" in text.get_text() for text in ax.texts)


def test_recovery_is_exact_with_a_certificate_and_fits_without():
    exact, wrong = panels.recovery(0.0, 0.4, 3, seed=1), panels.recovery(0.4, 0.4, 3, seed=1)
    assert exact.certificate.holds and exact.error < 1e-12 and exact.imputation_error < 1e-12
    assert np.abs(exact.estimate.stacked - exact.truth.stacked).max() < 1e-6  # classes in the same order
    assert wrong.certificate.condition1 == "fails" and wrong.misfit < 1e-12 and wrong.error > 1e-3
    assert np.isclose(wrong.error, wrong.truth.mse(wrong.estimate)) and wrong.n_hidden == round(0.4 * 66)


def test_what_no_method_can_recover_is_refused():
    with pytest.raises(NotIdentifiableError):
        panels.recovery(0.0, 0.95, 3)


def test_the_panel_tells_the_truth_and_draws_both_kinds():
    panel = panels.identifiability_panel(seed=1)
    assert panel.text.startswith("20 of 66 pairs were hidden and imputed exactly. Condition 1 holds (margin 0.2929).")
    panel.controls["specialist_error"].value = 0.4
    expected = panels.recovery(0.4, 0.3, 3, seed=1)
    assert "Condition 1 fails" in panel.text and f"{expected.error:.4g}" in panel.text
    assert "not certified" in title(panels.draw_recovery(expected))
    panel.controls["n_classes"].value = 5
    ax = panels.draw_recovery(panel.outcome).axes[0]
    assert np.allclose([patch.get_width() for patch in ax.patches], panel.outcome.certificate.distances)
