"""HTML pages that need no other file: results beside published numbers, and the report on one crowd."""

from importlib import import_module
from typing import Any


def page_of(result: Any) -> str:
    """Return the page of a `cofactor.verbs.result.Result`."""
    return str(import_module(f"cofactor_app.pages.{result.page}").page(result))
