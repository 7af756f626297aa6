"""Figures of reports show what they showed; a fingerprint distinguishes one figure from another."""

import os

import pytest

from cofactor_app.plots.style import new_picture, say
from tests.each import each
from tests.fingerprint import fingerprint
from tests.nbval_tolerance import approx, changed_lines
from tests.plots.drawn import PAGES, STORED, text_of


@pytest.mark.slow
@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of matplotlib draw a little differently")
@each("name", PAGES)
def test_figures_of_a_page_show_what_they_showed(name):
    stored = (STORED / f"{name}.txt").read_text(encoding="utf8")
    found = changed_lines(stored, text_of(name))
    assert not found, "\n".join([f"where this is meant: python -m tests.plots.drawn {name}", *found])


def figure():
    """Draw a figure with an artist of every kind."""
    fig = new_picture()
    left, right = fig.subplots(1, 2)
    left.plot([0, 1, 2], [0, 3, 1], label="first")
    left.plot([0, 1, 2], [1, 0, 2], "--", label="second")
    left.scatter([0, 1, 2], [2, 2, 1], s=30, c=[1, 2, 3])
    left.errorbar([0.5], [1.5], [0.3])
    left.bar([0, 1], [1, 2], hatch="//")
    left.fill_between([0, 1], [0, 0], [1, 1], alpha=0.3)
    left.set(xlabel="step", ylabel="error", title="a race")
    left.text(0.5, 1, "here")
    left.legend()
    right.imshow([[0.0, 0.5], [0.7, 1.0]], vmin=0, vmax=1)
    say(fig, "First falls by 3")
    return fig


CHANGES = {  # of the left and the right axes
    "a point moved": lambda left, right: left.lines[0].set_ydata([0, 3, 1.04]),
    "two points swapped": lambda left, right: left.lines[0].set_ydata([3, 0, 1]),
    "a point less": lambda left, right: left.lines[0].set_data([0, 1], [0, 3]),
    "a line less": lambda left, right: left.lines[1].remove(),
    "a line hidden": lambda left, right: left.lines[1].set_visible(False),
    "colour": lambda left, right: left.lines[0].set_color("#123456"),
    "marker": lambda left, right: left.lines[0].set_marker("2"),
    "style": lambda left, right: left.lines[1].set_linestyle((0, (3, 7))),
    "width": lambda left, right: left.lines[0].set_linewidth(3.3),
    "alpha": lambda left, right: left.lines[0].set_alpha(0.42),
    "name": lambda left, right: left.lines[0].set_label("another"),
    "title": lambda left, right: left.set_title("a walk"),
    "finding": lambda left, right: left.get_figure().suptitle("First falls by 4"),
    "label": lambda left, right: left.set_ylabel("loss"),
    "limits": lambda left, right: left.set_xlim(-0.5, 2.5),
    "scale": lambda left, right: left.set_yscale("symlog", linthresh=1e-3),
    "grid": lambda left, right: left.grid(True),
    "ticks": lambda left, right: left.set_xticks([]),
    "axes off": lambda left, right: left.set_axis_off(),
    "an axes less": lambda left, right: right.remove(),
    "no legend": lambda left, right: left.get_legend().remove(),
    "legend's words": lambda left, right: left.get_legend().get_texts()[0].set_text("else"),
    "image transposed": lambda left, right: right.images[0].set_data(right.images[0].get_array().T),
    "image's limits": lambda left, right: right.images[0].set_clim(None, 1.02),
    "image's colours": lambda left, right: right.images[0].set_cmap("magma"),
    "place of a cloud": lambda left, right: left.collections[0].set_offsets([[0, 2], [1.1, 2], [2, 1]]),
    "size of a cloud": lambda left, right: left.collections[0].set_sizes([9]),
    "colours of a cloud": lambda left, right: left.collections[0].set_array([1, 3, 2]),
    "no error bar": lambda left, right: left.collections[1].remove(),
    "no area": lambda left, right: left.collections[-1].remove(),
    "a bar longer": lambda left, right: left.patches[1].set_height(2.05),
    "no hatch": lambda left, right: left.patches[0].set_hatch(""),
    "words": lambda left, right: left.texts[0].set_text("there"),
    "words elsewhere": lambda left, right: left.texts[0].set_x(0.6),
    "words in red": lambda left, right: left.texts[0].set_color("red"),
}


@pytest.fixture(scope="module")
def unchanged():
    return approx(fingerprint(figure()))


def test_what_is_drawn_twice_has_one_fingerprint(unchanged):
    assert unchanged == fingerprint(figure())


@pytest.mark.slow
@each("what", CHANGES)
def test_a_change_of_a_figure_changes_its_fingerprint(what, unchanged):
    changed = figure()
    CHANGES[what](*changed.axes[:2])
    assert unchanged != fingerprint(changed)
