"""The built book: nothing from the network, nothing missing, formulas set, in a real browser too."""

import importlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import nbformat
import pytest

from docs import api, notebooks
from tools import learner

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
OTHERS = [
    "index.html",
    "docs/symbols.html",
    "docs/fidelity.html",
    "datasets/index.html",
    "api/index.html",
    "api/crowd/cofactor.crowd.WorkerTypes.html",
]
CSS_LOAD = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
ELSEWHERE = re.compile(r"(https?:)?//")
LIGHT = 1_600_000  # bytes that a page loads before somebody touches it; MathJax takes more than half of them

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # the first test waits for the build


class Loads(HTMLParser):
    """Collect what a browser loads by itself for a page, and where its links go."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.linked = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag in {"script", "img", "iframe", "source", "video", "audio", "embed", "input"}:
            self.loaded += [named.get("src"), *re.split(r"\s*,\s*|\s+", named.get("srcset") or "")]
        elif tag == "link":
            self.loaded.append(named.get("href") if named.get("rel") not in {"next", "prev", "canonical"} else None)
        elif tag == "object":
            self.loaded.append(named.get("data"))
        elif tag == "a":
            self.linked.append(named.get("href"))
        self.loaded += [url for pair in CSS_LOAD.findall(named.get("style") or "") for url in pair]


def html_pages(site):
    return [path for path in site.rglob("*.html") if "_static" not in (path.relative_to(site).parts)]


def test_no_page_loads_anything_from_elsewhere(site):
    found = {}
    for path in html_pages(site):
        text = path.read_text(encoding="utf8")
        styles = [
            url for pair in CSS_LOAD.findall("".join(re.findall(r"<style.*?</style>", text, re.S))) for url in pair
        ]
        loads = [url for url in [*Loads(text).loaded, *styles] if url and ELSEWHERE.match(url)]
        if loads or re.search(r"import\s+\w*.*from\s+['\"]https?:", text):
            found[path.name] = loads
    assert not found


def test_no_style_sheet_that_pages_use_loads_anything_from_elsewhere(site):
    used = {
        (path.parent / urlsplit(url).path).resolve()
        for path in html_pages(site)
        for url in Loads(path.read_text(encoding="utf8")).loaded
        if url and urlsplit(url).path.endswith(".css")
    }
    urls = [u for path in used for pair in CSS_LOAD.findall(path.read_text(encoding="utf8")) for u in pair]
    assert len(used) > 3 and urls
    assert not [url for url in urls if ELSEWHERE.match(url)]


def test_everything_that_pages_load_or_link_is_there(site):
    missing = set()
    for path in html_pages(site):
        page = Loads(path.read_text(encoding="utf8"))
        for url in filter(None, [*page.loaded, *page.linked]):
            parts = urlsplit(url)
            if not parts.scheme and parts.path and not (path.parent / unquote(parts.path)).exists():
                missing.add(f"{path.name}: {url}")
    assert not missing


def test_every_public_name_is_in_the_index_of_objects(site):
    reader = importlib.import_module("sphinx.util.inventory").InventoryFile
    inventory = reader.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for kind, objects in inventory.data.items() if kind.startswith("py:") for name in objects}
    assert set(api.homes_of_things().values()) <= known
    constants = {f"{package}.METHODS" for package in ("cofactor.crowd", "cofactor.pmf", "cofactor.separable")}
    assert constants <= known


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_results_below_predictions_and_rubrics_are_folded(site, page):
    staged = nbformat.reads(notebooks.staged((ROOT / page).with_suffix(".ipynb")), as_version=4)
    built = (site / page).read_text(encoding="utf8")
    results = sum("hide-output" in cell.metadata.get("tags", []) for cell in staged.cells)
    assert len(re.findall(r'<details class="[^"]*\bhide below-input"', built)) == results >= 3
    rubrics = sum("rubric" in cell.metadata.get("tags", []) for cell in staged.cells)
    assert len(re.findall(r"<details>\s*<summary>\s*Rubric", built)) == rubrics
    assert not re.search(r"<details[^>]*\bopen\b", built)


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_notebooks_have_their_pictures_and_fold_their_solutions(site, page):
    stored = (ROOT / page).with_suffix(".ipynb").read_text(encoding="utf8")
    outputs = [output for cell in json.loads(stored)["cells"] for output in cell.get("outputs", [])]
    built = (site / page).read_text(encoding="utf8")
    assert len(re.findall(r'<details class="[^"]*\bhide above-input"', built)) == stored.count('"source_hidden": true')
    assert len(re.findall(r'<img [^>]*src="\.\./_images/', built)) == sum(
        "image/png" in output.get("data", {}) for output in outputs
    )


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_every_notebook_offers_its_learners_copy(site, page):
    links = [url for url in Loads((site / page).read_text(encoding="utf8")).linked if url and "_downloads" in url]
    name = Path(page).with_suffix(".ipynb").name
    assert [url.rpartition("/")[2] for url in links] == [name]
    assert (site / page).parent.joinpath(links[0]).read_text(encoding="utf8") == learner.copies()[name]


@pytest.mark.browser
@pytest.mark.parametrize("page", [*NOTEBOOKS, *OTHERS])
def test_pages_open_in_a_browser_without_network_or_errors_and_their_panels_move(site, chromium, page, tmp_path):
    tab, told, seen = chromium.new_page(viewport={"width": 1300, "height": 900}), [], set()
    tab.set_default_timeout(120_000)
    tab.on("request", lambda request: seen.add(request.url))
    tab.on("requestfailed", lambda request: told.append(f"failed: {request.url}"))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    tab.goto((site / page).as_uri())
    tab.evaluate("async () => { if (window.MathJax) { await MathJax.startup.promise; } }")
    formulas, wrong = (tab.locator(name).count() for name in ("mjx-container", "mjx-merror"))
    tab.screenshot(path=tmp_path / "page.png")
    text = (site / page).read_text(encoding="utf8")
    assert not told and not wrong and weight(seen) < LIGHT
    assert formulas >= text.count('class="math notranslate') and (formulas or "mathjax/startup.js" not in text)
    if page in NOTEBOOKS:
        every_panel_gives_another_picture(tab, page)
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate(HIDDEN) == [0, 0]
    tab.close()
    assert not told and all(map(local, seen))


HIDDEN = """async () => {
    if (window.MathJax) { await MathJax.startup.promise; }
    const page = document.documentElement, left = element => element.getBoundingClientRect().left;
    const formulas = [...document.querySelectorAll("div.math mjx-math")];
    const begun = formulas.filter(formula => left(formula) < left(formula.closest("div.math")) - 1);
    return [page.scrollWidth - page.clientWidth, begun.length];
}"""


def weight(urls):
    """Add up the bytes of files; what a page has in its own text counts with the page."""
    return sum(Path(url2pathname(urlsplit(url).path)).stat().st_size for url in urls if url.startswith("file:"))


ICON = """() => {
    const drawn = getComputedStyle(document.querySelector("i.fa-solid"), "::before");
    const loaded = [...document.fonts].filter(font => font.status === "loaded").map(font => font.family);
    return drawn.content !== "none" && loaded.some(family => drawn.fontFamily.includes(family.replaceAll('"', "")));
}"""


@pytest.mark.browser
def test_a_click_on_a_heading_sorts_and_another_turns_the_order_round(site, chromium):
    tab = chromium.new_page(viewport={"width": 1300, "height": 900})
    tab.goto((site / "docs" / "real_data.html").as_uri(), timeout=120_000)
    table = tab.locator(".sortable table").first
    column = "table => [...table.tBodies[0].rows].map(row => row.lastElementChild.textContent.trim())"
    before = table.evaluate(column)
    found = []
    for _ in range(2):
        table.get_by_role("button", name="CPU s").click()
        found.append([float(text) for text in table.evaluate(column)])
    assert found == [sorted(map(float, before), reverse=True), sorted(map(float, before))]
    table.get_by_role("button", name="method").press("Enter")
    names = table.evaluate("table => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim())")
    assert names == sorted(names, key=lambda name: re.sub(r"\W", "", name).casefold()) and len(names) > 30
    assert table.locator("th[aria-sort]").count() == 1
    tab.close()


@pytest.mark.browser
def test_icons_are_letters_of_a_font_and_the_search_finds_without_its_index_on_every_page(site, chromium):
    tab = chromium.new_page(viewport={"width": 1300, "height": 900})
    tab.goto((site / NOTEBOOKS[0]).as_uri(), timeout=120_000)
    tab.evaluate("document.fonts.ready")
    assert tab.evaluate(ICON)
    tab.keyboard.press("Control+k")
    tab.locator("#pst-search-dialog input[name=q]").fill("anchors")
    tab.keyboard.press("Enter")
    tab.locator("#search-results li").first.wait_for()
    assert tab.url.partition("?")[0] == (site / "search.html").as_uri()
    tab.close()


SHOWN = "figure => figure.querySelector('img').src + figure.querySelector('figcaption').textContent"
SEEN = """async figure => {
    const image = figure.querySelector("img"), caption = figure.querySelector("figcaption");
    if (!image.hidden) { await image.decode(); }
    return [image.hidden ? "" : image.src, caption.textContent, image.alt];
}"""


def every_panel_gives_another_picture(tab, page):
    """By its first control; test_panels moves two of a kind, and test_live every one of a figure."""
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    figures = tab.locator("figure.panel").all()
    stored = (ROOT / page).with_suffix(".ipynb").read_text(encoding="utf8")
    assert len(figures) == stored.count(f'"{notebooks.PANEL}') > 0
    for figure in figures:
        assert_moves(tab, figure, figure.locator(".panel-controls :is(input, select)").first)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false; })")


def assert_moves(tab, figure, control):
    """Move a control to its other value and back: another picture, then the sentence of the beginning."""
    still = [figure.locator("figcaption").inner_text(), figure.locator("img").get_attribute("alt")]
    there = moved(tab, figure, control)
    assert there[0].endswith(".webp") or there[1].startswith("Not possible"), there
    back = moved(tab, figure, control)
    assert back[1:] == still and back[0] != there[0]


def moved(tab, figure, control):
    """Move a control of two values to the other; what the figure shows then."""
    shown = figure.evaluate(SHOWN)
    if control.evaluate("one => one.tagName") == "SELECT":
        control.select_option(index=1 - control.evaluate("one => one.selectedIndex"))
    else:
        control.press("End" if control.input_value() == "0" else "Home")
    tab.wait_for_function(f"([figure, shown]) => ({SHOWN})(figure) !== shown", arg=[figure.element_handle(), shown])
    return figure.evaluate(SEEN)


WIDE = re.compile('<table|<div class="math')


@pytest.mark.browser
def test_a_telephone_shows_pages_in_their_width_and_formulas_from_their_beginning(site, chromium):
    """Pages not opened above: all with a table or a formula; of the others, which share a template, one in ten."""
    paths = {path.relative_to(site).as_posix(): path.read_text(encoding="utf8") for path in html_pages(site)}
    looked = {page for n, page in enumerate(sorted(paths)) if n % 10 == 0 or WIDE.search(paths[page])}
    tab, hidden = chromium.new_page(viewport={"width": 400, "height": 800}), {}
    tab.set_default_timeout(120_000)
    for page in looked - {*NOTEBOOKS, *OTHERS}:
        tab.goto((site / page).as_uri())
        hidden[page] = tab.evaluate(HIDDEN)
    tab.close()
    assert len(hidden) > 30 and not {page: seen for page, seen in hidden.items() if seen != [0, 0]}


def local(url):
    return url.startswith(("file:", "data:", "blob:"))
