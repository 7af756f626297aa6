"""Build the book: lay out its sources, most of them made from what the project already has, and run Sphinx.

usage: python3 kit.py book

The live figures of the notebooks move without a kernel: each is drawn over a grid of its controls (panels.toml). What
was drawn stays in book/panels for the next build.

The sources keep the layout of the project, so that links between notebooks, pages and cards work in both.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from cofactor.core.errors import CofactorError
from docs import api, notebooks, panels, tables, weight
from tools import learner

ROOT = Path(__file__).resolve().parents[1]
DOCS, BOOK = ROOT / "docs", ROOT / "book"
CARDS = "% cards of the notebooks"  # in index.md
TABLES = re.compile(r"(<!-- [a-z ]+ begin -->\n\n)(.*?)(\n\n<!-- [a-z ]+ end -->)", re.S)  # that a reader can sort


def main(arguments):
    """Make the book, say where it is."""
    if arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    for part in ("sources", "doctrees", "_build"):
        shutil.rmtree(BOOK / part, ignore_errors=True)
    try:
        code = make(BOOK, panels.computed(BOOK / "panels"))
    except CofactorError as error:
        print(error, file=sys.stderr)
        return 1
    if code == 0:
        print(f"The book: {BOOK / '_build' / 'index.html'}")
    return code


def make(folder, live=()):
    """Lay out the sources, build the pages with warnings as errors, add panels; the exit code of Sphinx.

    `live` has the folders of the panels that move, by their names.
    """
    sources, site = folder / "sources", folder / "_build"
    lay_out(sources, live)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", DOCS]
    command += ["-d", folder / "doctrees", sources, site]  # what Sphinx keeps for itself is no part of the site
    code = subprocess.run([str(part) for part in command], cwd=ROOT).returncode
    if code == 0:
        weight.lighten(site)
        for name in live:
            shutil.copytree(live[name], site / "panels" / name, ignore=shutil.ignore_patterns("*.html"))
    return code


def lay_out(folder, live=()):
    """Fill a new folder with the sources of the book."""
    for path, text in pages(live).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf8")
    for picture in (ROOT / "notebooks").glob("*.png"):
        shutil.copy(picture, folder / "notebooks")


def pages(live=()):
    """Return all sources by their path: written by hand, taken over, and made here."""
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf8") for path in taken_over()}
    stored = sorted((ROOT / "notebooks").glob("*.ipynb"))
    texts |= {path.relative_to(ROOT): notebooks.staged(path, live) for path in stored}
    texts |= {
        path.relative_to(ROOT): notebooks.staged(path) for path in sorted((ROOT / "notebooks" / "labs").glob("*.ipynb"))
    }
    texts |= {Path("api") / f"{name}.rst": text for name, text in api.pages().items()}
    texts |= {Path("learner") / name: text for name, text in learner.copies().items()}
    texts[Path("index.md")] = texts.pop(Path("docs/index.md")).replace(CARDS, notebooks.cards(stored))
    real_data = Path("docs/real_data.md")
    texts[real_data] = TABLES.sub(r"\1::::{container} sortable\n\n\2\n\n::::\3", texts[real_data])
    made = {"docs/fidelity.md": tables.fidelity_page(), "datasets/index.md": tables.data_page()}
    return texts | {Path(path): text for path, text in made.items()}


def taken_over():
    """Return the Markdown files that are pages as they are."""
    names = ("README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
    others = [ROOT / name for name in names]
    return [*sorted(DOCS.glob("*.md")), *others, *tables.cards()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
