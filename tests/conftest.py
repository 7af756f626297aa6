"""What tests of several rooms share: one Chromium, and the two ways of summing up small tables."""

import shutil

import pytest
from hypothesis import settings

from cofactor.core import em, moments
from cofactor.crowd import copies

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
CHROMIUM += ["--disable-component-update", "--no-first-run", "--force-color-profile=srgb"]

settings.register_profile("untimed", settings.default, deadline=None)  # the time of an example tells of the machine
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def chromium():
    """Yield the system's Chromium, driven by Playwright; skip where either is missing."""
    api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["whole arrays", "compiled"])
def both_ways(request):
    """Let small tables go through whole arrays, as they do, and once more through the compiled loops of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (em, moments, copies) if request.param == "compiled" else ():
            patch.setattr(module, "WORTH_COMPILING", 0)
        yield
