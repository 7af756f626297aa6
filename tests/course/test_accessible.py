"""No series is known by its colour alone, no words are faint, and every picture says what it shows."""

import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgb
from matplotlib.container import BarContainer
from matplotlib.text import Text

from cofactor.plots.style import CLASS_COLOURS, CLASS_HATCHES, FAINT, INK, alt_text, new_picture, say
from course import controls, demos, figures
from course.figures.identifiability import draw_quality
from tests.course.test_drawings import DRAWINGS

LEAST_CONTRAST = 4.5  # of text against paper: WCAG 2.2, success criterion 1.4.3
ERRORS = {"A": [0.3, 0.2, 0.1], "B": [0.4, 0.1, 0.05], "C": [0.5, 0.4, 0.3]}
RESULTS = {"x": {"A": [0.6, 0.7], "B": [0.5, 0.5]}, "y": {"A": [0.5], "B": [0.8]}}
FRIENDS = demos.draw_friends(100)
MORE = {
    "descents": lambda: figures.draw_descents(ERRORS, rate=0.5),
    "spectrum": lambda: figures.draw_spectrum(ERRORS),
    "accuracies": lambda: figures.draw_accuracies(RESULTS),
    "quality": lambda: draw_quality(demos.quality(0.6, 1, 0.0, 0.2, 10)),
    "dual": lambda: figures.draw_dual(np.eye(3) + 0.2),
    "margins": lambda: figures.draw_margins([-0.2, 0.1], [0.1, 1e-3], [1e-9, 1e-9]),
    "recovery": lambda: figures.draw_recovery(demos.recovery(0.1, 0.3, 4)),
    "scores": lambda: figures.draw_scores(ERRORS, [0, 1]),
    "success": lambda: figures.draw_success([0, 1, 2], ERRORS, "λ", 10),
    "memory": lambda: figures.draw_memory([10, 100, 200], {name: [1e6, 2e6, 3e6] for name in "ABC"}, {}, machine=1e8),
    "rates": lambda: figures.draw_rates([0.3, 0.5], {demos.PLAIN: [0.4, 0.6], demos.ZERO: [0.3, 0.3]}),
    "curves": lambda: figures.draw_curves([2, 5], {"made": {k: [[0.3, 0.1]] * 2 for k in "ABCDE"}}, "labels", "5 do"),
    "words": lambda: figures.draw_words(*library(), {"SPA": [0, 1, 2], "MERIT": [0, 3, 4]}),
    "range": lambda: figures.draw_range({0.1: [0.2, 0.3], 1.0: [0.25, 0.1]}, [0.5, 1], {"other": 0.22}),
}
PANELS = ("descent_panel", "friends_panel", "library_panel")  # whose pictures are not among the others
EVERY = [*DRAWINGS, *MORE, *PANELS]


def library():
    X = np.random.default_rng(0).dirichlet(np.ones(3), 12).T
    return X, np.array([f"word{n}" for n in range(12)])


@cache
def figure(name):
    if name in PANELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            panel = getattr(controls, name)()
        return panel.draw(panel.outcome)
    return ({**DRAWINGS, **MORE})[name]()


def looks(ax):
    """The look of every named series of axes without its colour, and the colour."""
    found = []
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        first = handle[0] if isinstance(handle, tuple) and len(handle) else handle
        if isinstance(handle, BarContainer):
            patch = handle.patches[0]
            found.append((label, ("bar", patch.get_hatch() or ""), patch.get_facecolor()))
        elif hasattr(first, "get_linestyle") and hasattr(first, "get_marker"):
            hollow = not same_color(first.get_markerfacecolor(), first.get_color())
            found.append((label, ("line", first.get_linestyle(), first.get_marker(), hollow), first.get_color()))
    return found


def told_by_colour_alone(ax):
    pairs = combinations(looks(ax), 2)
    return [(a, b) for (a, look, colour), (b, other, paint) in pairs if look == other and not same_color(colour, paint)]


@pytest.mark.parametrize("name", EVERY)
def test_no_two_series_are_told_apart_by_colour_alone(name):
    assert [told_by_colour_alone(ax) for ax in figure(name).axes if told_by_colour_alone(ax)] == []


def test_two_lines_of_one_style_are_found():
    ax = new_picture().subplots()
    ax.plot([0, 1], color="red", label="a")
    ax.plot([1, 0], color="blue", label="b")
    ax.plot([1, 1], "--", color="blue", label="c")
    ax.bar([0], [1], color="red", label="d")
    ax.bar([1], [1], color="blue", label="e")
    assert told_by_colour_alone(ax) == [("a", "b"), ("d", "e")]


def test_classes_have_hatches_of_their_own():
    assert len(set(CLASS_HATCHES)) == len(CLASS_COLOURS) == len(set(CLASS_COLOURS))


def contrast(colour, paper="white"):
    def luminance(one):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(one)]
        return np.dot([0.2126, 0.7152, 0.0722], linear)

    light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_guidelines():
    assert np.isclose(contrast("black"), 21) and np.isclose(contrast("#767676"), 4.54, atol=0.01)
    assert contrast(INK) > 10 and contrast(FAINT) > 3  # lines need three


@pytest.mark.parametrize("name", EVERY)
def test_words_beside_the_picture_are_readable(name):
    fig = figure(name)
    for ax in fig.axes:
        legend = ax.get_legend()
        texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else ())]
        texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
        faint = {text.get_text() for text in texts if contrast(text.get_color()) < LEAST_CONTRAST}
        assert not faint - {""}
    assert not [text for text in fig.findobj(Text) if text.get_text() and same_color(text.get_color(), FAINT)]


@pytest.mark.parametrize("name", EVERY)
def test_alternative_text_names_axes_and_series_and_has_no_typesetting(name):
    fig, said = figure(name), alt_text(figure(name))
    assert said.startswith("Figure: ") and not set("$\\{}\n") & set(said.replace(fig.get_suptitle(), ""))
    plain = said.replace("‖", "||")
    for ax in fig.axes:
        for label in ax.get_legend_handles_labels()[1]:
            assert "$" in label or label.replace("\n", " ").replace("‖", "||") in plain
    assert len(said) > len(fig.get_suptitle()) + 20, "alternative text is the title only"


def test_alternative_text_says_what_is_seen():
    fig = new_picture()
    left, middle, right = fig.subplots(1, 3)
    left.plot([0, 1], label="first")
    left.plot([1, 0], "--", label="second")
    left.set(xlabel="step", ylabel="error $||x||^2$", title="a race")
    middle.imshow(np.eye(3))
    right.barh(["cat", "dog"], [1, 2])
    right.set(xlabel="weight")
    say(fig, "First falls")
    assert alt_text(fig) == (
        "Figure: First falls (a race, error ‖x‖^2 against step: first, second; heat map of 3 × 3; "
        "bars, weight: cat, dog)"
    )
