"""HTML pages that need no other file: results beside published numbers, and the report on one crowd."""

from importlib import import_module

from cofactor.verbs.result import Result


def page_of(result: Result) -> str:
    """Return the page of what a verb found."""
    return str(import_module(f"cofactor_app.pages.{result.page}").page(result))
