"""Pytest plugin: notebooks compare numbers with a tolerance, and no notebook passes unchecked.

Stored and new output are equal when their text is, or when only decimal numbers differ and each pair is close.
Integers stay exact. The tags `nbval-rtol=1e-3` and `nbval-atol=1e-9` of a cell change its tolerance.
Figures are compared by their fingerprints, whose numbers are fractions of the axes: the tolerance is less than a pixel.
"""

import difflib
import math
import re
from pathlib import Path

import pytest

STARTUP = Path(__file__).with_name("kernel_startup.py")
RTOL, ATOL = 1e-6, 1e-12
FINGERPRINT, DRAWN = "fingerprint of a figure", re.compile(r"-?\d+\.\d{4}")
RTOL_DRAWN, ATOL_DRAWN = 2e-4, 1.5e-3
DECIMAL = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")


class Approx(str):
    """A string that equals another when the words match and the decimals are close."""

    rtol, atol = RTOL, ATOL

    def __new__(cls, text, drawn=None):
        """Numbers that are `drawn`, as all of four decimals in a fingerprint are, have the tolerance of pictures."""
        made = super().__new__(cls, text)
        made.drawn = text.startswith(FINGERPRINT) if drawn is None else drawn
        return made

    def __eq__(self, other):
        return str.__eq__(self, other) is True or (isinstance(other, str) and self._close(other))

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def _close(self, other):
        mine, others = DECIMAL.findall(self), DECIMAL.findall(other)
        return _words(self) == _words(other) and all(map(self._near, mine, others))

    def _near(self, a, b):
        drawn = self.drawn and DRAWN.fullmatch(a) and DRAWN.fullmatch(b)
        rtol, atol = (max(self.rtol, RTOL_DRAWN), max(self.atol, ATOL_DRAWN)) if drawn else (self.rtol, self.atol)
        return math.isclose(float(a), float(b), rel_tol=rtol, abs_tol=atol)


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


def moves(stored, new):
    """What keeps two texts from being equal: the pairs of numbers, or whole lines where the words differ."""
    if stored == new:
        return []
    if _words(stored) != _words(new):
        return changed_lines(stored, new)
    pairs = zip(DECIMAL.findall(stored), DECIMAL.findall(new), strict=True)
    return [f"{a} -> {b}" for a, b in pairs if not stored._near(a, b)]


def changed_lines(stored, new):
    """Lines of two texts that differ: as stored with a minus, as drawn now with a plus."""
    old, now = stored.splitlines(), new.splitlines()
    marked = _common(old, now, drawn=stored.startswith(FINGERPRINT))
    kept = difflib.SequenceMatcher(None, *marked, autojunk=False).get_opcodes()
    return [
        line
        for kind, a, b, c, d in kept
        if kind != "equal"
        for line in [*(f"- {line}" for line in old[a:b]), *(f"+ {line}" for line in now[c:d])]
    ]


def _common(old, now, drawn):
    """Lines by number, where lines that are close have one number."""
    marked = [Approx(line, drawn) for line in [*old, *now]]
    found = [marked.index(line) for line in marked]
    return found[: len(old)], found[len(old) :]


def pytest_assertrepr_compare(left, right):
    """Say of two fingerprints only where they differ."""
    if isinstance(left, str) and isinstance(right, str) and left.startswith(FINGERPRINT):
        return ["the figure differs:", *changed_lines(left, right)]
    return None


def pytest_configure(config):
    """Let the comparison of nbval see tolerant strings: it only asks whether `stored != new`; and fingerprints."""
    if not config.getoption("nbval", False):
        return
    from nbval.plugin import IPyNbCell, IPyNbFile

    exact = IPyNbCell.sanitize
    if getattr(exact, "tolerant", False):
        return

    def sanitize(self, text):
        text = exact(self, text)
        return approx(text, self.cell.metadata.get("tags", [])) if isinstance(text, str) else text

    sanitize.tolerant = True
    IPyNbCell.sanitize = sanitize
    start = IPyNbFile.setup

    def setup(self):
        with pytest.MonkeyPatch.context() as patch:  # of the kernel only
            patch.setenv("PYTHONSTARTUP", str(STARTUP))
            start(self)

    IPyNbFile.setup = setup


def pytest_collection_modifyitems(items):
    """Refuse notebooks with cells that were never run: nbval would pass them without comparing anything."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell and cell.source.strip() and cell.execution_count is None and not item.options["skip"]:
            raise pytest.UsageError(f"{item.nodeid}: never run, nothing to compare with; python3 kit.py notebooks")
