"""Live figures: what moves is drawn over a background that stays, and costs little."""

import io
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from cofactor.core.errors import CofactorError
from cofactor_app.plots.style import new_picture, say, styled
from course.desk import NOTEBOOKS
from course.live import Live, drag, reveal
from course.panel import named
from tests.each import each
from tests.fingerprint import fingerprint


@styled
def toy():
    fig = new_picture()
    ax = fig.subplots()
    ax.set(xlim=(0, 10), ylim=(-1, 1), xlabel="x", ylabel="y")
    ax.plot(np.linspace(0, 10, 300), np.sin(np.arange(300)), ".")
    (dot,), (line,) = ax.plot([], [], "o", ms=12), ax.plot([0, 10], [0, 1])
    say(fig, "A dot <moves>")

    def update(x, shown):
        if x == 7:
            raise CofactorError("seven is <too many>")
        dot.set_data([x], [0])
        line.set_visible(shown)
        return f"The dot is at <{x}>."

    return Live({"x": drag(1, 0, 10, 1, "place"), "shown": reveal()}, fig, [dot, line], update, "Drag it")


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def away_from_whole(live):
    """How far the frame that follows a save is from the figure saved: of 255, in the mean; 256 colours cost a bit."""
    live._repr_mimebundle_()
    return np.abs(pixels(live.png) - pixels(live.frame())).mean()


def test_a_frame_is_the_figure_drawn_whole():
    live = toy()
    before = live.png
    live.controls["x"].value, live.controls["shown"].value = 6, True
    assert live.text == "The dot is at <6>." and "&lt;6&gt;" in live.view.value
    differs = np.abs(pixels(live.png) - pixels(before)).max(axis=2) > 0
    assert 0 < differs.mean() < 0.03  # the dot and the line, nothing else
    assert away_from_whole(live) < 0.5


def test_controls_answer_while_they_are_dragged_and_draw_the_background_never_again(monkeypatch):
    live = toy()
    assert live.controls["x"].continuous_update
    monkeypatch.setattr(live.figure, "draw", None)
    before = live.png
    live.controls["x"].value = 5
    assert live.png != before


def test_what_the_kit_refuses_is_told_and_the_figure_stays():
    live = toy()
    before = live.png
    live.controls["x"].value = 7
    assert live.png == before and "&lt;too many&gt;" in live.view.value and 'role="alert"' in live.view.value
    live.controls["x"].value = 8
    assert live.text == "The dot is at <8>." and live.png != before


def test_without_a_kernel_the_figure_stands_with_its_sentence():
    live = toy()
    bundle, metadata = live._repr_mimebundle_()
    assert bundle["text/plain"] == "[interactive panel] The dot is at <1>. Shown for: place = 1; answer = hidden."
    assert len(bundle["image/png"]) < 20_000 and "A dot <moves>" in metadata["image/png"]["alt"]


def test_the_fingerprint_follows_what_moves():
    live = toy()
    first = fingerprint(live.draw(live.outcome))
    live.controls["x"].value = 6
    assert fingerprint(live.draw(live.outcome)) != first


@pytest.mark.parametrize(("value", "kind"), [(1, int), (1.5, float)])
def test_a_slider_of_whole_numbers_gives_whole_numbers(value, kind):
    assert isinstance(drag(value, 0, 10, 1, "place").value, kind)


# ---- those of the notebooks ----

LIVES = {
    f"{notebook}.{name}": make
    for notebook in NOTEBOOKS
    for name, make in vars(import_module(f"course.{notebook}")).items()
    if name.endswith("_live")
}


def ends(control):
    """Both ends, and what lies in the middle; two ends can look alike."""
    if hasattr(control, "options"):
        return [value for _, value in named(control)]
    steps = round((control.max - control.min) / control.step)
    return [control.min, control.max, round(control.min + steps // 2 * control.step, 9)]


def seen(live):
    """What the learner sees; a guess moves the sentence alone."""
    return live.png, live.text


def dragged(live, key):
    """All that is seen while a control is dragged to both ends and back."""
    control, start = live.controls[key], seen(live)
    old, frames = control.value, {start}
    for value in ends(control):
        control.value = value
        assert live.text and live.png.startswith(b"\x89PNG"), (key, value)
        frames.add(seen(live))
    control.value = old
    assert seen(live) == start, key
    return frames


@pytest.mark.slow
@each("name", LIVES)
def test_every_control_follows_the_hand_to_both_ends_and_back(name):
    live = LIVES[name]()
    still = [key for key in live.controls if len(dragged(live, key)) == 1]
    assert all(getattr(control, "continuous_update", True) for control in live.controls.values())
    for control in live.controls.values():
        control.value = ends(control)[1]
    for key in still:  # who a member is shows as soon as votes are known
        assert len(dragged(live, key)) > 1, key
    assert away_from_whole(live) < 0.5


def test_every_notebook_has_a_live_figure():
    homes = {make.__module__.split(".")[1] for make in LIVES.values()}
    assert homes >= set(NOTEBOOKS)
