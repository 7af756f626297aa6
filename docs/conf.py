"""Sphinx settings of the book. `docs/build.py` lays out the sources; nothing here reads the network."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for docs.docstrings

from docutils import nodes

import cofactor
from docs.docstrings import skip_member, to_rst

project = "cofactor"
author = "cofactor contributors"
version = release = cofactor.__version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_ivar = True
exclude_patterns = ["README.md"]  # the first page includes parts of it
exclude_patterns += ["learner"]  # copies to download
UNUSED = ("tex-*", "mml-*", "node-main.js", "latest.js", "input/mml*", "output/svg*", "sre", "ui")
exclude_patterns += [f"mathjax/{name}" for name in UNUSED]  # bundles, other formats, speech and menu
templates_path = [str(Path(__file__).parent / "_templates")]  # autosummary would look beside the sources
default_role = "code"  # docstrings mark code with single backticks
highlight_language = "none"  # blocks of docstrings are formulas; examples begin with >>> and are coloured all the same
show_warning_types = True
suppress_warnings = ["ref.python"]  # a word in the type of a parameter that two classes have as a property
keep_warnings = False

# notebooks: what is stored is what is shown
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}  # by default from the network; panels show their picture instead
nb_code_prompt_show = "Show the solution"
nb_code_prompt_hide = "Hide the solution"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# mathematics: MathJax from a package, copied into the book; a page loads the parts that it needs, not a bundle
MATHJAX = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static"
mathjax_path = "mathjax/startup.js"
mathjax3_config = {
    "loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]},
    "chtml": {"displayAlign": "left", "displayIndent": "1em"},
}

# docstrings: see docs/docstrings.py
autodoc_typehints = "none"  # shapes and ranges stand in the text; expanded types of arrays fill half a page
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # names of methods by themselves, which fit beside the text

html_theme = "sphinx_book_theme"
html_title = "cofactor"
html_static_path = ["_static", str(MATHJAX)]
html_css_files = ["book.css"]
html_js_files = ["panels.js", "sort.js"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
}


def keep_formulas(app, doctree, docname):
    """Leave displayed formulas as they are: Sphinx would put those with line breaks in `split`: no tags."""
    for formula in doctree.findall(nodes.math_block):
        if not formula.get("no-wrap"):
            formula[:] = [nodes.Text(f"\\[{formula.astext()}\\]")]
            formula["no-wrap"] = True


def setup(app):
    """Register the changes to what Sphinx reads."""
    app.connect("doctree-resolved", keep_formulas)
    app.connect("autodoc-process-docstring", to_rst, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_member)
