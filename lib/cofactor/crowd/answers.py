"""Answers that are no single label: several of one worker to one task, several classes at once, or none at all.

A worker who is asked m times, such as a language model, has one opinion with a spread: each answer counts 1/m. In the
vote these are parts of a vote. In Dawid-Skene and its relatives they are exponents,

    Pr(answers of w to task i | class c) = prod over answers l of A_w[l, c]^(1/m),

so that five equal answers count as one, and answers that differ speak for either class with less than one label.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import located, nested_cells, one_way
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import skeleton
from cofactor.core.spelling import by_value, says_nothing
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

PLUS, MINUS = "+", "-"


def answered(frame: pd.DataFrame, label: str, ignore: Sequence[Any] = ()) -> pd.DataFrame:
    """Return the rows whose label is none of `ignore`; warn of labels that look like no answer."""
    if isinstance(ignore, str):
        ignore = [ignore]
    plain = by_value(frame[label], lambda one: one.map(one_way))
    out = plain.isin([one_way(word) for word in ignore])
    if out.all():
        raise CofactorError(f"no labels: all are {listing(map(repr, ignore))}, which count as no answer")
    left = frame[~out] if out.any() else frame
    if (may_be := by_value(left[label], lambda one: one.map(says_nothing)).astype(bool)).any():
        counts = {str(word): n for word, n in left[label][may_be].value_counts().items()}
        if message := unsure(counts | ({PLUS: 1} if (plain == PLUS).any() else {})):
            warnings.warn(message, DataWarning, stacklevel=4)
    return left


def unsure(counts: Mapping[str, int]) -> str:
    """Say which classes look as if nothing was answered, and how many labels each has; "" for none.

    Beside a class "+", "-" is an answer. The word "none" is not in the list: it is a class of many questions, such as
    which symptom is seen, or how hostile a text is (none, mild, severe).
    """
    sign = MINUS if PLUS in counts else None
    alike = sorted(name for name in counts if says_nothing(name) and skeleton(name) != sign)
    if not alike:
        return ""
    told = listing(f"{name!r} ({counts[name]})" for name in alike)
    return (
        f"labels that look like no answer count as a class: {told}; "
        f"if they are none, leave them out with ignore (--ignore {alike[0]!r})"
    )


def check_single(column: pd.Series[Any]) -> None:
    """Refuse several classes in one cell, and say what to do; their rows are named."""
    several = nested_cells(column)
    if several.any():
        raise CofactorError(
            f"several classes at once in {located(column, several)}: ask one question per label, as a table for each "
            "class with the labels yes and no"
        )


def shares_of_answers(task: Ints, worker: Ints, label: Ints) -> tuple[tuple[Ints, Ints, Ints], Floats]:
    """Return task, worker and label of all different answers, and the share of each among those of its worker there."""
    different, times = np.unique(np.stack([task, worker, label]), axis=1, return_counts=True)
    _, opinion = np.unique(different[:2], axis=1, return_inverse=True)
    shares = times / np.bincount(opinion.ravel(), times)[opinion.ravel()]
    return (different[0], different[1], different[2]), shares


def most_frequent(table: CategoricalTable) -> tuple[Ints, Ints, Ints]:
    """Return row, variable and value of the answer of most share, one for each variable of a row."""
    order = np.lexsort((-table.indicator.data, table.variables, table.rows))
    rows, variables = table.rows[order], table.variables[order]
    first = np.append(True, (np.diff(rows) != 0) | (np.diff(variables) != 0)) if len(rows) else np.zeros(0, bool)
    return rows[first], variables[first], table.values[order][first]
