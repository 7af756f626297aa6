"""One Chromium for all tests that look at pages: Playwright runs once in a process."""

import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
CHROMIUM += ["--disable-component-update", "--no-first-run", "--force-color-profile=srgb"]


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
