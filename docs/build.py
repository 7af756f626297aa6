"""Build the book: lay out its sources, most of them made from what the project already has, and run Sphinx.

usage: python3 kit.py book

The sources keep the layout of the project, so that links between notebooks, pages and cards work in both.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from docs import api, notebooks, results, slides, tables

ROOT = Path(__file__).resolve().parents[1]
DOCS, BOOK = ROOT / "docs", ROOT / "book"


def main():
    """Make the book, say where it is."""
    shutil.rmtree(BOOK, ignore_errors=True)
    code = make(BOOK)
    if code == 0:
        print(f"The book: {BOOK / '_build' / 'index.html'}")
    return code


def make(folder):
    """Lay out the sources, build the pages with warnings as errors, add the slides; the exit code of Sphinx."""
    sources, site = folder / "sources", folder / "_build"
    lay_out(sources)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", DOCS, sources, site]
    code = subprocess.run([str(part) for part in command], cwd=ROOT).returncode
    if code == 0:
        slides.write_slides(ROOT / "notebooks", site / "slides")
    return code


def lay_out(folder):
    """Fill a new folder with the sources of the book."""
    for path, text in pages().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf8")
    for picture in (ROOT / "notebooks").glob("*.png"):
        shutil.copy(picture, folder / "notebooks")
    results.copy_pictures(folder)


def pages():
    """Return all sources by their path: written by hand, taken over, and made here."""
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf8") for path in taken_over()}
    texts |= {path.relative_to(ROOT): notebooks.staged(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    texts |= {Path("api") / f"{name}.rst": text for name, text in api.pages().items()}
    texts[Path("index.md")] = texts.pop(Path("docs/index.md"))
    made = {"docs/fidelity.md": tables.fidelity_page(), "datasets/index.md": tables.data_page()}
    return texts | {Path(path): text for path, text in (made | results.pages()).items()}


def taken_over():
    """Return the Markdown files that are pages as they are."""
    names = ("README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "evaluation/benchmarks/README.md")
    others = [ROOT / name for name in names]
    return [*sorted(DOCS.glob("*.md")), *others, *tables.cards()]


if __name__ == "__main__":
    sys.exit(main())
