"""Marks for slides: headings begin them, and solutions and rubrics are left out.

usage: python -m nbconvert --to slides --SlidesExporter.preprocessors=tools.slides.Headings NOTEBOOK
"""

import re

from nbconvert.preprocessors import Preprocessor

LEFT_OUT = {"solution", "rubric"}  # tags
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
BELOW = ("### ", "**Predict", "**Exercise", "**Open question")


class Headings(Preprocessor):
    """Let headings of level one and two begin a slide, those of level three, predictions and exercises one below."""

    def preprocess(self, notebook, resources):
        """Mark the cells of a notebook."""
        notebook.cells = [cell for cell in notebook.cells if not LEFT_OUT & set(cell.metadata.get("tags", []))]
        for cell in notebook.cells:
            cell.metadata["slideshow"] = {"slide_type": slide_type(cell)}
            if cell.cell_type == "markdown":
                cell.source = re.sub(
                    r"<details>.*?</details>", "", cell.source, flags=re.DOTALL
                )  # the class finds them
        return notebook, resources


def slide_type(cell):
    """Return what a cell begins: a slide, one below, or nothing."""
    if cell.cell_type != "markdown":
        return "-"
    return "slide" if re.match("##? ", cell.source) else "subslide" if cell.source.startswith(BELOW) else "-"
