"""Pytest plugin: notebooks compare numbers with a tolerance, and no notebook passes unchecked.

Stored and new output are equal when their text is, or when only decimal numbers differ and each pair is close.
Integers stay exact. The tags `nbval-rtol=1e-3` and `nbval-atol=1e-9` of a cell change its tolerance.
"""

import math
import re

import pytest

RTOL, ATOL = 1e-6, 1e-12
DECIMAL = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")


class Approx(str):
    """A string that equals another when the words match and the decimals are close."""

    rtol, atol = RTOL, ATOL

    def __eq__(self, other):
        return str.__eq__(self, other) is True or (isinstance(other, str) and self._close(other))

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def _close(self, other):
        mine, others = DECIMAL.findall(self), DECIMAL.findall(other)
        return _words(self) == _words(other) and all(
            math.isclose(float(a), float(b), rel_tol=self.rtol, abs_tol=self.atol)
            for a, b in zip(mine, others, strict=True)
        )


def _words(text):
    """What is left of a text without its decimals and the width of its columns."""
    return DECIMAL.sub("#", text).split()


def approx(text, tags=()):
    """`text` with the tolerance that the tags of its cell ask for."""
    result = Approx(text)
    for tag in tags:
        if tag.startswith(("nbval-rtol=", "nbval-atol=")):
            name, value = tag.removeprefix("nbval-").split("=", 1)
            setattr(result, name, float(value))
    return result


def pytest_configure(config):
    """Let the comparison of nbval see tolerant strings: it only asks whether `stored != new`."""
    if not config.getoption("nbval", False):
        return
    from nbval.plugin import IPyNbCell

    exact = IPyNbCell.sanitize
    if getattr(exact, "tolerant", False):
        return

    def sanitize(self, text):
        text = exact(self, text)
        return approx(text, self.cell.metadata.get("tags", [])) if isinstance(text, str) else text

    sanitize.tolerant = True
    IPyNbCell.sanitize = sanitize


def pytest_collection_modifyitems(items):
    """Refuse notebooks with cells that were never run: nbval would pass them without comparing anything."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell and cell.source.strip() and cell.execution_count is None and not item.options["skip"]:
            raise pytest.UsageError(f"{item.nodeid}: never run, nothing to compare with; python3 kit.py notebooks")
