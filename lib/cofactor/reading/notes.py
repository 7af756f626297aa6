"""Notes on suspicious labels: names that are unlikely to be classes or ids, and isolated workers and rows.

Each function gives sentences for notes and changes no label. All of them work on distinct names or on codes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import listing
from cofactor.core.lazy import csgraph, pd
from cofactor.reading.tables import Coded

MANY = 10  # different labels; more of them, of which most occur once or twice, are hardly classes
SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d+")  # as a spreadsheet shows long numbers
FRACTION = re.compile(r"[+-]?\d+[.,]\d+")
NUMBER_FORM = re.compile(r"[+-]?\d+([.,]\d+)?")
FEW = 0.1  # of the rows
SCHEME = re.compile(r"^https?://(www\.)?", re.IGNORECASE)
MANY_TASKS, MOST_SHARED = 10, 0.5  # labels of one worker that nobody shares; labels that share their task
CONFIDENCES = ("confidence", "certainty", "conf", "score", "weight")  # columns that are not read


def odd_labels(labels: Sequence[str], n_labels: int) -> Iterator[str]:
    """Yield notes on distinct labels that do not look like classes; `n_labels` is the number of all labels.

    >>> next(odd_labels(["2.0", "1.5"], 60))
    "labels such as '1.5' are decimal numbers, each counted as a class: round them, or declare an order (--order)"
    """
    if several := [name for name in labels if "|" in name and {part.strip() for part in name.split("|")} <= {*labels}]:
        yield (
            f"labels such as {several[0]!r} hold several answers, and each combination counts as a class: "
            "make a table for each answer, with the labels yes and no"
        )
    if coded := [name for name in labels if name[:1] + name[-1:] in ("{}", "[]") and len(name) > 1]:
        yield f"labels such as {coded[0][:40]!r} are JSON, each counted as a class: extract one value from each"
    fractions = [name for name in labels if FRACTION.fullmatch(name) and name.rstrip("0")[-1] not in ".,"]
    if fractions and all(map(NUMBER_FORM.fullmatch, labels)):
        few = "round them, or declare an order (--order)"
        yield f"labels such as {fractions[0]!r} are decimal numbers, each counted as a class: {few}"
    elif len(labels) > MANY and 2 * len(labels) > n_labels:
        yield (
            f"{len(labels)} distinct labels among {n_labels}, such as {max(labels, key=len)[:40]!r}, each count as a "
            "class: if they are free text, sort them into classes first"
        )
    yield from _compound(labels)


def _compound(labels: Sequence[str]) -> Iterator[str]:
    """Yield a note if all labels are paths, or orderings of the same items."""
    for mark in (">", "<", ","):
        orders = [[part.strip() for part in name.split(mark)] for name in labels]
        if len(labels) > 1 and len(orders[0]) > 2 and all(sorted(one) == sorted(orders[0]) for one in orders):
            ranked = "the package choix can rank them"
            yield f"labels such as {labels[0]!r} are orderings of the same {len(orders[0])} items: {ranked}"
            return
    for mark in ("/", ">", "::"):
        paths = [name for name in labels if mark in name.strip(mark)]
        above = Counter(name.split(mark)[0] for name in labels)
        whole = {*labels} - {*paths} <= {name.split(mark)[0] for name in paths}
        if len(paths) > 1 and whole and max(above.values()) > 1:
            upper = f"to use only the top level, keep the part before {mark!r}"
            yield f"labels such as {paths[0]!r} are paths, each counted as a class: {upper}"
            return


def cut_ids(names: Sequence[str], what: str) -> Iterator[str]:
    """Yield a note if ids look like long numbers that a spreadsheet has rounded."""
    cut = [name for name in names if "E+" in name and SHORTENED.fullmatch(name)]
    if cut:
        yield (
            f"{what} such as {cut[0]!r} are numbers that a spreadsheet has rounded, so different ids may have become "
            "equal: export the ids as text"
        )


def same_address(names: Sequence[str]) -> list[list[str]]:
    """Return groups of ids that are one address written differently: a trailing /, %20 for a blank, http or https.

    >>> same_address(["a.org/x", "a.org/x/", "a.org/y z", "a.org/y%20z", "b"])
    [['a.org/x', 'a.org/x/'], ['a.org/y z', 'a.org/y%20z']]
    >>> same_address(["http://www.a.org", "https://a.org", "https://b.org"])
    [['http://www.a.org', 'https://a.org']]
    """
    if not any(name[-1:] == "/" or "%" in name or "://" in name for name in names):
        return []
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        address = (unquote(name) if "%" in name else name).rstrip("/")
        groups[SCHEME.sub("", address) if "://" in address else address].append(name)
    return [group for group in groups.values() if len(group) > 1]


def unread(columns: Sequence[str], used: Sequence[str]) -> Iterator[str]:
    """Yield a note if a column says how certain the answers are, since such columns are not used."""
    found = [name for name in columns if str(name).strip().casefold() in CONFIDENCES and name not in used]
    if found:
        yield f"column {found[0]} is not used: the accuracy of workers is estimated from the labels alone"


# ---- structure ----


def unshared(task: Coded, worker: Coded, label: Coded) -> NDArray[np.bool_]:
    """Return a mask of the rows that share neither task nor worker nor class with others; none if they are many.

    More than a tenth of all rows are many: then little repeats anyway. A row that repeats another one is not counted.
    O(labels) time.
    """
    alone = np.ones(len(task.codes), dtype=bool)
    for one, others in ((label, (worker, task)), (worker, (label, task)), (task, (label, worker))):
        first = np.zeros(len(one.values), dtype=np.int64)
        first[one.codes] = np.arange(len(one.codes))  # a row of each value
        for other in others:
            differs = other.codes != other.codes[first][one.codes]
            alone &= np.bincount(one.codes, differs, len(one.values))[one.codes] == 0
        if not alone.any():
            return alone
    pairs = task.codes.astype(np.int64) * len(worker.values) + worker.codes
    return alone & (len(np.unique(pairs[alone])) <= FEW * len(np.unique(pairs)))


def structure(task: Coded, worker: Coded, label: Coded) -> Iterator[str]:
    """Yield notes on values that are equal as text, and workers who share no task or class. O(labels) time."""
    for column, what in ((task, "tasks"), (worker, "workers"), (label, "classes")):
        yield from equal_as_text(column.values, what)
    yield from _alone_with_their_tasks(task, worker)
    yield from _alone_with_their_words(worker, label)


def equal_as_text(values: Sequence[Any], what: str) -> Iterator[str]:
    """Yield a note on different values with the same text, such as 1 and "1"."""
    if len(set(map(type, values))) < 2:
        return
    same: defaultdict[str, list[Any]] = defaultdict(list)
    for value in values:
        same[str(value)].append(value)
    twice = [" and ".join(map(repr, group)) for group in same.values() if len(group) > 1]
    if twice:
        yield f"{what} contain different values with the same text ({listing(twice)}): make all of them text, or none"


def _alone_with_their_tasks(task: Coded, worker: Coded) -> Iterator[str]:
    """Yield a note on workers none of whose several tasks anybody else labelled, if most tasks have several labels."""
    several = task.counts[task.codes] > 1
    n = len(worker.values)
    met, given = (np.bincount(worker.codes, amount, n) for amount in (several, None))
    alone = np.flatnonzero((met == 0) & (given >= MANY_TASKS))
    if alone.size and several.mean() > MOST_SHARED:
        named = listing(f"{worker.values[m]} ({given[m]:.0f} tasks)" for m in alone)
        asked = "do these write the same tasks in another way?"
        yield f"workers none of whose tasks anybody else labelled: {named}; {asked}"


def _alone_with_their_words(worker: Coded, label: Coded) -> Iterator[str]:
    """Yield a note on workers who share no class with anyone, if others share theirs."""
    n_workers, n_classes = len(worker.values), len(label.values)
    pair: NDArray[Any] = worker.codes.astype(np.int32 if n_workers * n_classes < np.iinfo(np.int32).max else np.int64)
    pair *= n_classes
    pair += label.codes
    m, k = np.divmod(pd.unique(pair), n_classes)
    used = sparse.coo_array((np.ones(len(m), dtype=bool), (m, k)), shape=(n_workers, n_classes)).tocsr()
    graph = sparse.block_array([[None, used], [used.T, None]], format="csr")
    n_parts, part = csgraph.connected_components(graph, directed=False)
    workers = np.bincount(part[:n_workers], minlength=n_parts)
    if workers.max() < 2:
        return
    words = np.bincount(part[n_workers:], minlength=n_parts)
    alone = np.flatnonzero((workers == 1)[part[:n_workers]] & (words > 1)[part[:n_workers]])
    names = np.array([*label.values, None], dtype=object)[:-1]
    own = (
        f"{worker.values[m]} (only {listing(map(repr, names[used.indices[used.indptr[m] : used.indptr[m + 1]]]))})"
        for m in alone
    )
    if alone.size:
        asked = "are these other spellings of the same classes?"
        yield f"workers whose classes no other worker uses: {listing(own)}; {asked}"
