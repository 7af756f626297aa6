"""Labels that may not be what they are taken for: each different label is a class, whatever it looks like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

MANY = 10  # different labels; more of them, of which most occur once or twice, are hardly classes
SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d+")  # as a spreadsheet shows long numbers
FRACTION = re.compile(r"[+-]?\d+[.,]\d+")
NUMBER_FORM = re.compile(r"[+-]?\d+([.,]\d+)?")
CONFIDENCES = ("confidence", "certainty", "conf", "score", "weight")  # columns that are not read


def odd_labels(labels: Sequence[str], n_labels: int) -> Iterator[str]:
    """Say what different labels look like that is no class, and what helps; `n_labels` are there in all.

    >>> next(odd_labels(["2.0", "1.5"], 60))
    "labels such as '1.5' are numbers with fractions; each is a class of its own: round them, or declare their order"
    """
    if several := [name for name in labels if "|" in name and {part.strip() for part in name.split("|")} <= {*labels}]:
        yield (
            f"labels such as {several[0]!r} hold several answers and count as a class of their own: "
            "ask one question per answer, with labels yes and no"
        )
    if coded := [name for name in labels if name[:1] + name[-1:] in ("{}", "[]") and len(name) > 1]:
        yield f"labels such as {coded[0][:40]!r} are JSON, and count as they are written: take one value out of each"
    fractions = [name for name in labels if FRACTION.fullmatch(name) and name.rstrip("0")[-1] not in ".,"]
    if fractions and all(map(NUMBER_FORM.fullmatch, labels)):
        few = "round them, or declare their order"
        yield f"labels such as {fractions[0]!r} are numbers with fractions; each is a class of its own: {few}"
    elif len(labels) > MANY and 2 * len(labels) > n_labels:
        yield (
            f"{len(labels)} different labels in {n_labels}, such as {max(labels, key=len)[:40]!r}: each is a class of "
            "its own; free text, or the answers of an open question, need to be sorted into classes first"
        )
    yield from _compound(labels)


def _compound(labels: Sequence[str]) -> Iterator[str]:
    """Say where all labels are paths, or orders of the same things."""
    for mark in (">", "<", ","):
        orders = [[part.strip() for part in name.split(mark)] for name in labels]
        if len(labels) > 1 and len(orders[0]) > 2 and all(sorted(one) == sorted(orders[0]) for one in orders):
            ranked = "give the places in columns of their own to `cofactor rank --places`"
            yield f"labels such as {labels[0]!r} are orders of the same {len(orders[0])} things: {ranked}"
            return
    for mark in ("/", ">", "::"):
        paths = [name for name in labels if mark in name.strip(mark)]
        above = Counter(name.split(mark)[0] for name in labels)
        whole = {*labels} - {*paths} <= {name.split(mark)[0] for name in paths}
        if len(paths) > 1 and whole and max(above.values()) > 1:
            upper = f"for the upper level alone, keep what stands before {mark!r}"
            yield f"labels such as {paths[0]!r} are paths; each whole path is a class of its own: {upper}"
            return


def cut_ids(names: Sequence[str], what: str) -> Iterator[str]:
    """Say where ids look like long numbers of which a spreadsheet has kept the first digits."""
    cut = [name for name in names if SHORTENED.fullmatch(name)]
    if cut:
        yield (
            f"{what} such as {cut[0]!r} are numbers whose last digits a spreadsheet has cut, so that different ones "
            "may have become one: export the ids as text"
        )


def unread(columns: Sequence[str], used: Sequence[str]) -> Iterator[str]:
    """Name columns that say how sure an answer is, since nothing here uses them."""
    found = [name for name in columns if str(name).strip().casefold() in CONFIDENCES and name not in used]
    if found:
        yield f"column {found[0]} is not used: how good a worker is, is learned from the labels themselves"
