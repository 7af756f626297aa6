"""Notebooks open in a real JupyterLab; their panels redraw figure and caption, by keys alone where asked.

All cells of all notebooks run in another test, which compares their results with those stored (nbval). Here JupyterLab
shows the stored results, and runs only the cells that panels need; of the first notebook, all.
"""

import ast
import re
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from docs.panels import CALL
from tools import learner, tasks

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REDRAW_SECONDS = 60
DRAGS = 400  # milliseconds between two looks at a figure that is dragged
MOST_TABS = 12  # until the next control has the focus

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
SHOWN = ("00", "02", "06")  # with every kind of control: tests of live figures move all of them, without JupyterLab
PANEL = "from course import nb01\nnb01.missing_block_panel()"  # sliders of both kinds, and a list

FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    const label = one.labels?.[0] ?? document.getElementById(one.getAttribute('aria-labelledby'));
    const name = one.getAttribute('aria-label') ?? label?.textContent ?? '';
    const seen = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || one.matches(':focus-visible');
    return {tag: one.tagName, name, seen, slider: one.getAttribute('role') === 'slider'};
}"""


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.name[:2] in SHOWN], ids=lambda path: path.name)
def test_notebook_is_shown_and_its_controls_redraw(open_notebook, artefacts, path):
    sources = [cell.source if cell.cell_type == "code" else "" for cell in nbformat.read(path, as_version=4).cells]
    notebook = open_notebook(path.name)
    assert notebook.run(needed_by_panels(sources)) == []
    panels = notebook.panels().all()
    assert len(panels) == sum(map(bool, map(CALL.search, sources))) > 0
    for number, panel in enumerate(panels):
        control_redraws(panel)
        panel.scroll_into_view_if_needed()
        if number == 0:
            follows_the_mouse(panel)
        panel.screenshot(path=artefacts / f"{path.stem}-panel-{number}.png")
    notebook.screenshot(artefacts / f"{path.stem}.png")
    assert notebook.page.errors == []


def needed_by_panels(sources):
    """Numbers of the cells that show a panel, and of those before them that bind the names these use."""
    numbers, wanted = [], set()
    for number, source in reversed(list(enumerate(sources))):
        used, bound = names(source)
        if CALL.search(source) or bound & wanted:
            numbers.insert(0, number)
            wanted |= used
    return numbers


def names(source):
    """All names in a code, and those that it binds; too many of either only run a cell more."""
    parts = list(ast.walk(ast.parse(source)))
    used = {part.id for part in parts if isinstance(part, ast.Name)}
    bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    bound |= {part.name for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)}
    imported = [part for part in parts if isinstance(part, ast.alias)]
    return used, bound | {(part.asname or part.name).partition(".")[0] for part in imported}


def test_a_learner_finds_no_results_and_answers_an_exercise(open_notebook, artefacts):
    source = nbformat.read(NOTEBOOKS[0], as_version=4)
    copy = learner.learner_copy(source)
    exercise = next(piece for piece in tasks.pieces(source, str) if isinstance(piece, tasks.Task))
    stub = [cell.source for cell in copy.cells].index(exercise.cell.source)
    notebook = open_notebook(NOTEBOOKS[0].name, "learner")
    notebook.cell(0).wait_for()
    assert notebook.page.locator(".jp-Notebook .jp-OutputArea-child").count() == 0
    assert notebook.page.locator(".jp-Notebook").get_by_text("Your guess:").count() >= 1
    assert notebook.run_all() == []
    said = notebook.cell(stub).locator(".jp-OutputArea-output")
    assert re.match(r"not (yet|answered yet): ", said.inner_text())
    notebook.answer(stub, exercise.solution.source)
    said.get_by_text("correct: ").wait_for()
    notebook.screenshot(artefacts / f"{NOTEBOOKS[0].stem}-learner-answered.png")
    assert notebook.page.errors == []


def control_redraws(panel):
    """Move each slider by a step, back from its end if need be: another picture must come."""
    before = shown(panel)
    for handle in panel.locator(".noUi-handle").all():
        at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        handle.focus()
        handle.press("ArrowLeft" if at_end else "ArrowRight")
    changes(panel, before)


def shown(panel):
    """The picture and the caption of a panel, and the words for those who do not see the picture."""
    image = panel.locator("img").first
    words = image.get_attribute("alt") or image.get_attribute("title") or ""
    return image.get_attribute("src"), panel.locator(".cofactor-readout").first.inner_text(), words


def changes(panel, before):
    """Wait until the picture is new (of a small step its sentence may stay); a message would print both pictures."""
    deadline = time.monotonic() + REDRAW_SECONDS
    while shown(panel)[0] == before[0]:
        assert time.monotonic() < deadline, f"a control moved, and the picture stayed, with the caption {before[1]}"
        panel.page.wait_for_timeout(100)
    assert all(part.strip() for part in shown(panel)), "a picture without a caption, or without alternative text"


def follows_the_mouse(panel):
    """Drag the first slider of a live figure: it must be drawn on the way."""
    box, mouse, seen = panel.locator(".noUi-base").first.bounding_box(), panel.page.mouse, set()
    handle = panel.locator(".noUi-handle").first.bounding_box()
    mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    mouse.down()
    for share in (0.2, 0.35, 0.5, 0.65, 0.8):
        mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2, steps=4)
        panel.page.wait_for_timeout(DRAGS)
        seen.add(shown(panel)[:2])
    assert len(seen) > 2, "the picture stands while the mouse moves"
    mouse.up()


def test_a_panel_is_driven_by_keys_alone(open_notebook, lab):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    written = new_notebook(cells=[new_code_cell(PANEL)], metadata=kernel)
    nbformat.write(written, Path(lab["root_dir"]) / "notebooks" / "panel.ipynb")
    notebook = open_notebook("panel.ipynb")
    assert notebook.run_all() == []
    panel = notebook.panels().first
    names = [name for name in panel.locator(".widget-label").all_inner_texts() if name.strip()]
    panel.locator("input, select, .noUi-handle").first.focus()
    for key in ("Tab", "Shift+Tab"):  # reached by keys, as a reader would: only then does a browser show the focus
        panel.page.keyboard.press(key)
    reached = []
    for _ in range(MOST_TABS):
        focus = panel.page.evaluate(FOCUSED)
        if focus["slider"] or focus["tag"] == "SELECT":
            reached.append(focus)
            before = shown(panel)
            panel.page.keyboard.press("ArrowRight" if focus["slider"] else "End")  # JupyterLab takes arrows from lists
            changes(panel, before)
        panel.page.keyboard.press("Tab")
    assert len(reached) == len(names), (reached, names)
    assert all(focus["seen"] for focus in reached), reached
