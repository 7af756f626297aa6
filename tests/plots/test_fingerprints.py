"""Figures of pages show what they showed; a fingerprint tells one figure from another."""

import os
import pickle
from functools import cache

import pytest

from cofactor_app.plots.style import new_picture
from tests.course.test_pictures import PICTURES
from tests.fingerprint import fingerprint
from tests.nbval_tolerance import approx, changed_lines
from tests.plots.changes import CHANGES
from tests.plots.drawn import DRAWN, STORED, text_of

pytestmark = pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support will be:DeprecationWarning")  # 3.13
SAMPLE = ("plan", "intervals", "methods", "cooccurrence", "words", "confusions")
CAUGHT = 0.95


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of matplotlib draw a little differently")
@pytest.mark.parametrize("name", DRAWN)
def test_figure_shows_what_it_showed(name):
    stored = (STORED / f"{name}.txt").read_text(encoding="utf8")
    found = changed_lines(stored, text_of(name))
    assert not found, "\n".join([f"where this is meant: python -m tests.plots.drawn {name}", *found])


def test_every_stored_fingerprint_is_compared():
    assert {path.stem for path in STORED.glob("*.txt")} == set(DRAWN)


@cache
def kept(name):
    figure = PICTURES[name]()
    return pickle.dumps(figure), approx(fingerprint(figure))


@pytest.mark.parametrize("name", SAMPLE)
def test_a_copy_has_the_same_fingerprint(name):
    stored, told = kept(name)
    assert fingerprint(pickle.loads(stored)) == str(told)


def seen(name):
    """Of every change that can be made of a figure, whether its fingerprint tells it."""
    stored, told = kept(name)
    found, figure = {}, None
    for what, change in CHANGES.items():
        figure = figure or pickle.loads(stored)  # the last one where that had nothing to change
        if change(figure) is not False:
            found[what], figure = told != fingerprint(figure), None
    return found


@pytest.mark.slow
def test_changes_of_figures_are_caught():
    tried = {(name, what): caught for name in SAMPLE for what, caught in seen(name).items()}
    missed = [pair for pair, caught in tried.items() if not caught]
    assert len(tried) > 100 and {what for _, what in tried} == set(CHANGES)
    assert len(missed) <= (1 - CAUGHT) * len(tried), missed


@pytest.mark.slow
def test_a_cloud_of_points_is_told_by_place_size_and_colour():
    def cloud(x=1.0, **style):
        fig = new_picture(laid_out=False)
        ax = fig.add_axes((0, 0, 1, 1))
        ax.scatter([0, x, 2], [0, 3, 1], **style)
        return approx(fingerprint(fig))

    assert cloud() == cloud(x=1.0001)
    assert len({cloud(), cloud(x=1.1), cloud(s=9), cloud(color="red"), cloud(c=[1, 2, 3]), cloud(c=[1, 3, 2])}) == 6
