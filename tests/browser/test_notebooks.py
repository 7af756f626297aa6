"""Every notebook runs in a real JupyterLab, and its sliders redraw."""

import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

REDRAW_SECONDS = 60

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", [path.name for path in NOTEBOOKS])
def test_notebook_runs_and_its_sliders_redraw(open_notebook, name):
    notebook = open_notebook(name)
    assert notebook.run_all() == []
    for panel in notebook.panels().all():
        if panel.locator(".noUi-handle").count():
            slider_redraws(panel)
    assert notebook.page.errors == []


def slider_redraws(panel):
    """Move the first slider by a step, back from its end if need be: another picture must come."""
    handle, image = panel.locator(".noUi-handle").first, panel.locator("img").first
    before = image.get_attribute("src")
    at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
    handle.focus()
    handle.press("ArrowLeft" if at_end else "ArrowRight")
    deadline = time.monotonic() + REDRAW_SECONDS
    while image.get_attribute("src") == before:  # no `expect` here: its message would print both pictures
        assert time.monotonic() < deadline, "the slider moved, the picture stayed"
        panel.page.wait_for_timeout(100)
    assert panel.locator(".cofactor-readout").first.inner_text().strip(), "a picture without a caption"
