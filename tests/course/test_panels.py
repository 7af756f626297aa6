"""Panels without a browser and without a kernel."""

import base64
import html
import re
import warnings
from functools import cache
from importlib import import_module

import ipywidgets as w
import pytest

from cofactor.core.errors import CofactorError, DataWarning
from cofactor_app.plots.style import new_picture, say
from course.desk import NOTEBOOKS
from course.panel import BUSY, Panel, label, slider

PANELS = {
    name: panel
    for notebook in NOTEBOOKS
    for name, panel in vars(import_module(f"course.{notebook}")).items()
    if name.endswith("_panel")
}
MOVES = {  # one other value of every control
    "missing_block_panel": {"share": 0.5, "n_tasks": 300, "imputation": "robust"},
    "turn_panel": {"turn": 20, "specialist_error": 0.4, "n_workers": 5, "seed": 3},
    "crowd_panel": {"n_tasks": 300, "labels_per_task": 8, "method": "MV-EM"},
    "sample_panel": {"share": 0.5, "outlying": 0.3, "n_classes": 2},
    "race_panel": {"density": 0.3, "psi": 0.5, "snr_db": 30.0},
    "film_panel": {"after": 7, "density": 0.3},
    "thinning_panel": {"per_task": 5, "crowd": "digits", "method": "MV-EM"},
    "selection_panel": {"n_points": 100, "n_anchors": 10, "snr_db": 8.0, "lam": 2.0, "mu": 1.0},
    "identifiability_panel": {"specialist_error": 0.3, "share": 0.5},
}


def test_every_panel_has_its_moves():
    assert set(PANELS) == set(MOVES)


def picture(number):
    fig = new_picture(2, 1)
    say(fig, f"number {number}")
    return fig


def toy(compute=lambda number: number, draw=picture):
    return Panel(
        {"number": w.IntSlider(1, description="how many", continuous_update=False)},
        compute,
        draw,
        lambda n: f"It is <{n}>.",
    )


@cache
def panel_of(name):
    """A panel that stays as it starts."""
    return PANELS[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_every_control_redraws_and_the_caption_names_its_value_and_the_same_values_give_the_same_bytes(name):
    panel, start = PANELS[name](), panel_of(name)
    assert set(panel.params) == set(MOVES[name])
    for control, value in MOVES[name].items():
        assert panel.png == start.png and panel.text == start.text
        widget, old = panel.controls[control], panel.controls[control].value
        widget.value = value
        assert panel.params[control] == value
        assert panel.png.startswith(b"\x89PNG") and (panel.png, panel.text) != (start.png, start.text)
        shown = widget.label if hasattr(widget, "label") else format(value, widget.readout_format)
        assert f"{widget.description} = {shown}" in panel.caption
        widget.value = old
    assert panel.png == start.png and panel.text == start.text


@pytest.mark.parametrize(("step", "shown"), [(0.5, "5.0"), (0.05, "5.00")])
def test_a_slider_shows_as_many_decimals_as_a_step_has(step, shown):
    assert label(slider(w.FloatSlider, 5.0, 0.5, 20.0, step, "error (%)"), 5.0) == shown


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_sliders_wait_for_their_release(name):
    for control in panel_of(name).controls.values():
        assert isinstance(control, w.Dropdown) or control.continuous_update is False


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_every_control_starts_with_something_chosen(name):
    for widget in panel_of(name).controls.values():
        assert getattr(widget, "label", "a number")
        assert getattr(widget, "index", 0) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_the_caption_begins_with_the_sentence(name):
    panel = panel_of(name)
    assert panel.caption.startswith(panel.text) and html.escape(panel.text) in panel.view.value
    assert "Shown for:" not in panel.view.value  # the controls stand above


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_a_stored_panel_shows_figure_and_sentence(name):
    panel = panel_of(name)
    bundle, metadata = panel._repr_mimebundle_(include=None, exclude=None)
    assert metadata["image/png"]["alt"] in html.unescape(panel.view.value)
    assert base64.b64decode(bundle["image/png"]) == panel.png
    assert bundle["text/plain"] == f"[interactive panel] {panel.caption}"
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_the_result_is_a_figure_with_caption_and_alternative_text():
    panel = toy()
    assert panel.view.value.startswith("<figure") and panel.view.value.endswith("</figure>")
    caption = re.search(r'<figcaption class="cofactor-readout" aria-live="polite">(.*?)</figcaption>', panel.view.value)
    assert caption.group(1) == "It is &lt;1&gt;."
    alt, source = re.search(r'<img alt="(.*?)".*? src="data:image/png;base64,(.*?)"', panel.view.value).groups()
    assert alt == "Figure: number 1" and base64.b64decode(source) == panel.png


def test_the_outcome_is_computed_once_per_change():
    calls = []
    panel = toy(lambda number: calls.append(number) or number)
    panel.controls["number"].value = 5
    panel.controls["number"].value = 5
    assert calls == [1, 5] and panel.outcome == 5


def test_a_sign_stands_while_a_panel_computes():
    signs = []

    def compute(number):
        if number == 2:
            raise CofactorError("no two")
        signs.append(panel.sign.value if number > 1 else "")
        return number

    panel = toy(compute)
    for value in (3, 2, 4):
        panel.controls["number"].value = value
        assert panel.sign.value == ""
    assert signs == ["", BUSY, BUSY] and panel.sign in panel.box.children


def test_what_the_kit_refuses_is_said_and_forgotten():
    def compute(number):
        if number == 2:
            raise CofactorError("two is <too many>")
        return number

    panel = toy(compute)
    panel.controls["number"].value = 2
    assert panel.text == "Not possible with these values: two is <too many>" and panel.png == b""
    assert 'role="alert"' in panel.view.value and "&lt;too many&gt;" in panel.view.value
    assert all("image/png" not in part for part in panel._repr_mimebundle_())
    panel.controls["number"].value = 3
    assert panel.text == "It is <3>." and "alert" not in panel.view.value


def test_a_panel_tells_what_it_would_show_for_other_values_and_stays_as_it_is():
    def compute(number):
        if number == 2:
            raise CofactorError("no two")
        return number

    panel = toy(compute)
    before = panel.png, panel.text, panel.view.value, panel.params
    shown = panel.at(number=7)
    assert (shown.outcome, shown.text, shown.figure.get_suptitle()) == (7, "It is <7>.", "number 7")
    assert panel.at(number=2) == (None, None, "Not possible with these values: no two")
    assert (panel.png, panel.text, panel.view.value, panel.params) == before and panel.outcome == 1


def test_other_errors_are_not_swallowed():
    panel = toy(lambda number: 1 / (number - 2))
    with pytest.raises(ZeroDivisionError):
        panel.controls["number"].value = 2


def test_warnings_of_the_kit_are_read_out_and_others_go_on():
    def compute(number):
        warnings.warn("thin data", DataWarning, stacklevel=1)
        warnings.warn("thin data", DataWarning, stacklevel=1)
        if number == 2:
            warnings.warn("old function", FutureWarning, stacklevel=1)
        return number

    panel = toy(compute)
    assert panel.text == "It is <1>. Note: thin data."
    with pytest.warns(FutureWarning, match="old function"):
        panel.controls["number"].value = 2
