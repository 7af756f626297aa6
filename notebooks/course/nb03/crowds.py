"""Six random crowds of six annotators: for some, more labels help both imputations; for others, one or neither."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.crowds import Mask

N_ANNOTATORS = 6
TAIL = ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5))  # a triangle and a tail
TEAMS = (*((a, a + 1) for a in range(5)), (0, 3))  # even and odd numbers
GROUPS = ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5))
FULL = tuple((a, b) for b in range(N_ANNOTATORS) for a in range(b) if (a, b) not in ((0, 1), (2, 3)))  # two holes


def made_crowds(seed: int) -> dict[str, Any]:
    """Return who shares tasks with whom, `seen` (6, 6, 6), and which blocks are `garbage` (6, 6, 6), in drawn order."""
    rng = np.random.default_rng(seed)
    spoilt = (0, int(rng.integers(2, N_ANNOTATORS)))  # a single block of annotator 0; and all of theirs
    alone = tuple(pair for pair in FULL if 0 in pair)
    kinds = (FULL, ()), (TAIL, ()), (TEAMS, ()), (GROUPS, ()), (FULL, (spoilt,)), (FULL, alone)
    crowds = [_renamed(rng.permutation(N_ANNOTATORS), *kind) for kind in kinds]
    order = rng.permutation(len(crowds))
    return {"seen": np.stack([crowds[k][0] for k in order]), "garbage": np.stack([crowds[k][1] for k in order])}


def _renamed(names: Any, *pairs: tuple[tuple[int, int], ...]) -> list[Mask]:
    """Return the masks of lists of pairs after the annotators are renumbered."""
    masks = [np.zeros((N_ANNOTATORS, N_ANNOTATORS), dtype=bool) for _ in pairs]
    for mask, chosen in zip(masks, pairs, strict=True):
        for a, b in chosen:
            mask[names[a], names[b]] = mask[names[b], names[a]] = True
    return masks


def links_every_hole(seen: Mask) -> bool:
    """Whether every unobserved pair is linked by three observed pairs."""
    holes = np.argwhere(~seen & ~np.eye(len(seen), dtype=bool))
    return all((seen & np.outer(seen[n], seen[m])).any() for m, n in holes)


def one_group_with_odd_cycle(seen: Mask) -> bool:
    """Whether any two annotators are joined by a walk of 2 M - 2 pairs."""
    return bool((np.linalg.matrix_power(seen.astype(float), 2 * len(seen) - 2) > 0).all())
