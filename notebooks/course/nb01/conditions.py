"""Random co-labelling graphs and clouds of rows, of three kinds each, from which conditions are read off.

kind   a graph of annotators                 a cloud of rows of H
1      has several groups                    leaves part of the disc outside its hull
2      is one group without an odd cycle     covers the disc, without a row in any corner
3      is one group with an odd cycle        has a row in every corner
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from cofactor.core.types import Floats, Ints
from course.simplex import TOUCH, hull_margin

N_ANNOTATORS, N_ROWS = 6, 14
Graph = NDArray[np.bool_]  # (6, 6), symmetric: who shares tasks with whom
SHAPES = (  # of two groups, six links each: two triangles; a square with a diagonal, and a pair
    ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)),
    ((0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (4, 5)),
)


def pictures(seed: int) -> dict[str, Any]:
    """Draw four graphs (4, 6, 6) and four clouds (4, 14, 3); every kind occurs."""
    rng = np.random.default_rng(seed)
    first, second = (rng.permutation(np.append([1, 2, 3], rng.integers(1, 4))) for _ in range(2))
    graphs = np.stack([graph(kind, rng) for kind in first])
    return {"graphs": graphs, "clouds": np.stack([cloud(kind, rng) for kind in second])}


def graph(kind: int, rng: np.random.Generator) -> Graph:
    """Draw a graph of this kind with six annotators and six links, so that the number of links reveals nothing."""
    links: tuple[tuple[int, int], ...]
    if kind == 1:
        links = SHAPES[rng.integers(len(SHAPES))]
    else:  # a chain, in which even and odd numbers are the teams, and one link more
        apart = (3, 5) if kind == 2 else (2, 4)
        more = [(a, a + gap) for gap in apart for a in range(N_ANNOTATORS - gap)]
        links = (*((a, a + 1) for a in range(N_ANNOTATORS - 1)), more[rng.integers(len(more))])
    order, found = rng.permutation(N_ANNOTATORS), np.zeros((N_ANNOTATORS,) * 2, dtype=bool)
    a, b = order[np.transpose(links)]
    found[a, b] = found[b, a] = True
    return found


def cloud(kind: int, rng: np.random.Generator) -> Floats:
    """Draw rows that sum to one, (14, 3), of a kind that is clear to the eye."""
    sides = np.array([p * a + q * (1 - a) for p in np.eye(3) for q in np.eye(3) if p @ q == 0
                      for a in rng.uniform(0.74, 0.86, 1)])  # fmt: skip
    if kind == 1:
        outer = np.delete(sides, [0, 1], axis=0) if rng.random() < 0.5 else np.eye(3)[1:]
    else:
        outer = sides if kind == 2 else np.vstack([np.eye(3), sides[:3]])
    inner = 0.3 * rng.dirichlet(np.ones(3), N_ROWS - len(outer)) + 0.7 / 3
    turned = np.vstack([outer, inner])[:, rng.permutation(3)]
    return np.asarray(rng.permutation(turned))


def kind_of_graph(links: Graph) -> int:
    """Return the kind of a graph; a group has an odd cycle if its bipartite double cover is connected."""
    if connected_components(links)[0] > 1:
        return 1
    return 3 if connected_components(np.kron([[0, 1], [1, 0]], links))[0] == 1 else 2


def kind_of_cloud(rows: Floats) -> int:
    """Return the kind of a cloud."""
    if rows.max(axis=0).min() > 1 - TOUCH:
        return 3
    return 2 if hull_margin(rows) >= -TOUCH else 1


def kinds(graphs: Graph, clouds: Floats) -> Ints:
    """Return the kinds of all pictures, the graphs first."""
    return np.array([*map(kind_of_graph, graphs), *map(kind_of_cloud, clouds)])
