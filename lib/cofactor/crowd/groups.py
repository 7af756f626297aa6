"""The closest group of a crowd: workers who agree with one another more than with the others.

Groups are those that average linkage makes of the workers' agreement, of two workers or more and at most half of them.
The closest is the one whose mean agreement inside is most above that with the others:

    a_uv = (equal labels of u and v + C m) / (common tasks + C),   C = 5,   m the mean agreement of all pairs

They may be the experts among others who guess, or judges who share their errors: the labels cannot tell.

Source: average linkage is that of Sokal and Michener (1958); the choice among its groups is this kit's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

LEAST_CROWD = 4  # with fewer, a group of two is half of the crowd or more
MOST_CROWD = 100  # with more, pairs seldom share enough tasks, and one group decides little
USUAL_TASKS = 5.0  # C: common tasks imagined for every pair, with the mean agreement


def closest_group(table: CategoricalTable) -> Ints:
    """Return the workers of the group whose agreement inside is most above that with the others.

    Of equally close groups the first that linkage makes counts. Empty where fewer than 4 or more than 100 workers gave
    labels.

    Parameters
    ----------
    table : CategoricalTable
        Tasks by workers, copies merged.

    Cost: O(labels M + M^3).

    >>> honest, other = np.arange(40) % 2, np.arange(40) % 3 == 0
    >>> closest_group(CategoricalTable(np.stack([honest, other, other, honest[::-1]], axis=1))).tolist()
    [1, 2]
    """
    active = np.flatnonzero(table.entries_per_variable)
    if not LEAST_CROWD <= len(active) <= MOST_CROWD:
        return active[:0]
    a = pairwise_agreement(table)[np.ix_(active, active)]
    found = [(_gap(a, group), group) for group in linked_groups(a) if len(group) <= len(active) / 2]
    if not found:
        return active[:0]
    best = max(gap for gap, _ in found)
    group = next(group for gap, group in found if gap >= best - 1e-9)  # ties of rounding go to the first
    return np.sort(active[group])


def pairwise_agreement(table: CategoricalTable) -> Floats:
    """Return a_uv, the (M, M) share of equal labels of two workers, drawn to the mean of all pairs by C tasks."""
    said, K = table.indicator.astype(np.float64), int(table.sizes.max())  # as many labels for every worker
    by_label = [said[:, label::K] for label in range(K)]
    gave = sum(by_label)
    common = (gave.T @ gave).toarray()
    equal = sum((part.T @ part).toarray() for part in by_label)
    off = ~np.eye(table.n_variables, dtype=bool)
    mean = equal[off].sum() / max(common[off].sum(), 1.0)
    return np.asarray((equal + USUAL_TASKS * mean) / (common + USUAL_TASKS))


def linked_groups(a: Floats) -> Iterator[list[int]]:
    """Yield every group that average linkage makes of (M, M) similarities, the closest first."""
    left, groups = a.copy(), {m: [m] for m in range(len(a))}
    np.fill_diagonal(left, -np.inf)
    while len(groups) > 1:
        u, v = sorted(divmod(int(left.argmax()), len(left)))
        n_u, n_v = len(groups[u]), len(groups[v])
        left[u] = left[:, u] = (n_u * left[u] + n_v * left[v]) / (n_u + n_v)
        left[u, u] = left[v] = left[:, v] = -np.inf
        groups[u] = groups[u] + groups.pop(v)
        yield groups[u]


def _gap(a: Floats, group: list[int]) -> float:
    """Mean agreement inside of the group, less that of its members with the others."""
    inside = np.zeros(len(a), dtype=bool)
    inside[group] = True
    n = len(group)
    own = (a[np.ix_(inside, inside)].sum() - a[group, group].sum()) / (n * (n - 1))
    return float(own - a[np.ix_(inside, ~inside)].mean())
