"""Panels that move in the book: their values and pictures, and the script by itself; test_pages.py has their pages."""

import io
import json
import re
import shutil
from math import prod
from pathlib import Path

import nbformat
import pytest
from PIL import Image, ImageChops, ImageStat

from cofactor.core.errors import CofactorError
from cofactor_app.plots.style import alt_text, to_png
from course.nb05 import walk_live
from course.nb06 import ridge_live
from docs import notebooks, panels

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "_static" / "panels.js"
STORED = sorted((ROOT / "notebooks").glob("*.ipynb"))
WALK = "nb05.walk_live"


def cells_with_panels(path):
    cells = nbformat.read(path, as_version=4).cells
    shown = [[output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])] for cell in cells]
    pairs = zip(cells, shown, strict=True)
    return [cell.source for cell, texts in pairs if any(text.startswith(notebooks.PANEL) for text in texts)]


# ---- values and pictures ----


def test_every_panel_of_every_notebook_has_its_values():
    found = {path.name[:2]: [panels.called(source) for source in cells_with_panels(path)] for path in STORED}
    assert len(found) == 12 and all(found.values())
    assert {name for names in found.values() for name in names} == set(panels.grids())


def test_values_are_those_of_the_controls_and_few_are_one_other_of_the_first():
    panel = walk_live()
    values = panels.meant(WALK, panel, panels.grids()[WALK], few=False)
    assert list(values) == list(panel.controls) and len(values["n_iter"]) > 2
    assert len(panels.places(panel, values, few=False)) == prod(map(len, values.values())) <= panels.MOST
    two = panels.meant(WALK, panel, panels.grids()[WALK], few=True)
    assert all(len(some) == 2 and panel.params[key] in some for key, some in two.items())
    assert panels.places(panel, two, few=True) == [(0, 1, 0), (1, 1, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"noise": [0.0, 0.9]}, "noise"),
        ({"noise": [0.1, 0.2]}, "among them '0.00'"),
        ({"noise": [0.0]}, "two values"),
        ({"n_iter": list(range(1, 61))}, "combinations; leave out"),
        ({"more": [1, 2]}, "name its controls, which are n_iter, target, noise"),
    ],
)
def test_wrong_values_are_refused(wrong, told):
    with pytest.raises(CofactorError, match=re.escape(told)):
        panels.meant(WALK, walk_live(), panels.grids()[WALK] | wrong, few=False)


@pytest.mark.slow
def test_values_of_choices_are_named_as_the_control_shows_them():
    panel, written = ridge_live(), panels.grids()["nb06.ridge_live"]
    assert panels.meant("nb06.ridge_live", panel, written, few=False)["shown"] == [False, True]
    with pytest.raises(CofactorError, match="other choices"):
        panels.meant("nb06.ridge_live", panel, written | {"shown": ["hidden", "seen"]}, few=False)


@pytest.mark.slow
def test_what_is_kept_is_what_the_panel_shows_and_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "grids", lambda: {WALK: {"n_iter": [1, 20], "target": [5, 3], "noise": [0.0, 0.1]}})
    (tmp_path / f"{WALK}-of-old-code").mkdir()
    folder = panels.computed(tmp_path)[WALK]
    states = states_of(folder)
    assert len(states) == 8 and list(tmp_path.glob("nb*")) == [folder]
    panel = walk_live()
    panel.controls["n_iter"].value, panel.controls["noise"].value = 20, 0.1
    sentence, words, picture = states["1,0,1"]
    assert sentence == panel.text and words == alt_text(panel.figure).removeprefix("Figure: ")
    png = io.BytesIO(to_png(panel.figure))
    kept, live = (Image.open(source).convert("RGB") for source in (folder / picture, png))
    assert kept.size == live.size and max(ImageStat.Stat(ImageChops.difference(kept, live)).mean) < 0.5  # of 255
    monkeypatch.setattr(panels, "compute", None)
    assert panels.computed(tmp_path) == {WALK: folder}


@pytest.mark.slow
def test_other_code_values_or_versions_are_computed_anew(monkeypatch):
    written = panels.grids()[WALK]
    before = panels.mark(WALK, written, few=False)
    assert panels.mark(WALK, written, few=False) == before
    others = [panels.mark(WALK, written, few=True), panels.mark(WALK, written | {"noise": [0.0, 0.2]}, few=False)]
    library, version = (panels, "library", lambda: "code"), (panels.metadata, "version", lambda one: f"another {one}")
    for where, name, other in (library, version):
        with monkeypatch.context() as changed:
            changed.setattr(where, name, other)
            others.append(panels.mark(WALK, written, few=False))
    assert before not in others and len(set(others)) == 4


def states_of(folder):
    text = (folder / "states.js").read_text(encoding="utf8")
    return json.loads(text.removeprefix(f'cofactorPanel("{WALK}", ').removesuffix(");\n"))


# ---- the script by itself ----

BOX = """<figure id="f" class="panel"><img src="still.png" alt="still"><figcaption>stands still</figcaption></figure>
<div class="panel-controls" data-panel="toy" data-figure="f" data-sentence="It is &lt;a&gt;." hidden>
<label><span>how many</span><input type="range" min="0" max="2" value="0" data-labels='["1", "10", "∞"]'>
<output>1</output></label><label><span>way</span><select><option selected>up</option><option>down</option></select>
</label></div><script src="_static/panels.js"></script>"""
STATES = {"0,0": ["It is <a>.", "an a", "0.webp"], "1,0": ["It is <b>.", "a b", "1.webp"], "2,0": ["No.", "", ""]}


@pytest.fixture
def toy(tmp_path, chromium):
    """Open a page with one box beside a folder of states; with what it requested and what went wrong."""
    for folder in ("_static", "panels/toy"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "_static")
    for number, width in enumerate((30, 40)):
        Image.new("RGB", (width, 10)).save(tmp_path / "panels" / "toy" / f"{number}.webp", "webp")
    Image.new("RGB", (20, 10)).save(tmp_path / "still.png")
    (tmp_path / "panels" / "toy" / "states.js").write_text(f'cofactorPanel("toy", {json.dumps(STATES)});')
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset='utf8'>{BOX}", encoding="utf8")
    page = chromium.new_page()
    page.told = []
    page.on("request", lambda request: page.told.append(request.url.rpartition("/")[2]))
    page.on("pageerror", lambda error: page.told.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    yield page
    page.close()


@pytest.mark.slow
@pytest.mark.browser
def test_the_script_swaps_picture_sentence_and_words_by_keyboard(toy):
    assert toy.locator("figcaption").inner_text() == "It is <a>."  # and no longer that it stands still
    assert toy.locator("figure .panel-controls").is_visible() and "states.js" not in toy.told
    slider, image = toy.get_by_label("how many"), toy.locator("img")
    assert slider.get_attribute("aria-valuetext") == "1"
    slider.press("ArrowRight")
    toy.wait_for_function("document.querySelector('img').naturalWidth === 40")
    assert toy.locator("figcaption").inner_text() == "It is <b>." and image.get_attribute("alt") == "a b"
    assert toy.locator("output").inner_text() == slider.get_attribute("aria-valuetext") == "10"
    slider.press("ArrowLeft")
    toy.wait_for_function("document.querySelector('img').naturalWidth === 30")
    assert toy.told[-3:] == ["states.js", "1.webp", "0.webp"] and len(toy.told) == 6


@pytest.mark.slow
@pytest.mark.browser
def test_the_script_says_refusals_and_what_was_not_computed(toy):
    toy.get_by_label("how many").press("End")
    toy.wait_for_function("document.querySelector('figcaption').textContent === 'No.'")
    assert not toy.locator("img").is_visible()
    toy.get_by_label("way").select_option("down")
    assert toy.locator("figcaption").inner_text() == "Not computed for this copy of the book."
    toy.get_by_label("way").select_option("up")
    toy.get_by_label("how many").press("Home")
    assert toy.locator("figcaption").inner_text() == "It is <a>."
    toy.locator("img").wait_for(state="visible")


@pytest.mark.slow
@pytest.mark.browser
def test_without_the_script_the_stored_picture_stands(toy):
    context = toy.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(toy.url)
    assert page.locator("img").is_visible() and page.locator("figcaption").inner_text() == "stands still"
    assert not page.locator(".panel-controls").is_visible()
    context.close()


HINT = "getComputedStyle(document.querySelector('.panel-controls'), '::after').content"


@pytest.mark.slow
@pytest.mark.browser
def test_a_telephone_is_told_that_the_picture_goes_on(toy):
    toy.add_style_tag(path=SCRIPT.with_name("book.css"))
    for width, told in ((400, True), (1280, False)):
        toy.set_viewport_size({"width": width, "height": 800})
        assert ("push it sideways" in toy.evaluate(HINT)) is told
    toy.set_viewport_size({"width": 400, "height": 800})
    toy.get_by_label("how many").press("End")  # a state without a picture
    toy.wait_for_function("document.querySelector('figcaption').textContent === 'No.'")
    assert toy.evaluate(HINT) == "none"


def test_the_script_is_short_and_reaches_for_nothing():
    text = SCRIPT.read_text(encoding="utf8")
    assert len(text.splitlines()) < 150 and max(map(len, text.splitlines())) <= 120
    assert not re.search(r"https?:|fetch\(|XMLHttp|import\(|eval\(|innerHTML", text)
