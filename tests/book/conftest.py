"""One build of the book for all tests of its pages."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the book, panels with few values; the folder of its pages. Skipped without the extra `book`."""
    for module in ("sphinx", "myst_nb", "sphinx_book_theme"):
        pytest.importorskip(module)
    from docs import build, panels

    folder = tmp_path_factory.mktemp("book")
    live = panels.computed(folder / "panels", few=True)
    assert build.make(folder, live) == 0, "warnings are errors: see above"
    return folder / "_build"
