"""The panels of notebook 09: a library of known topics, and a graph of known communities.

symbol   meaning                                                        shape
theta    memberships of nodes in communities                            (N, K)
X        points, one per word or node                                   (M, N)
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.transforms import BboxBase
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Indices
from cofactor.data import GraphDataset
from cofactor.separable import communities, spearman_rank_correlation, topic_model
from cofactor.separable.graphs import leading_eigenvectors
from cofactor_app.plots.style import (
    CLASS_COLOURS,
    GREY,
    HALO,
    INK,
    SEQUENTIAL,
    WIDTH,
    bare,
    new_picture,
    percent,
    say,
    styled,
)
from course.library import LENGTH, library, topic_error, word_points
from course.panel import Panel, choice

WITHIN, ACROSS = 90.0, 6.0  # neighbours of a node if all others are in its community, if all are in another
INSIDE = 0.02  # a weight above minus this is inside the triangle
MARKERS = ("o", "s", "^", "v", "P", "X")
RINGS = (("D", "-"), ("o", "--"), ("s", ":"))  # a method's corners, and the triangle between them
MOST_NAMES = 40  # words that are written beside their points
NEAR = 0.1  # weight that others must have in a word for it to stand clear of its corner
CROWD = 2000  # points from which on they are drawn small and pale
MIXING = (0.05, 0.2, 0.5, 1.0, 3.0)
MIXED = 0.2  # where nothing else is said: most nodes and documents are of one kind

Shelved = namedtuple("Shelved", "library model words X corners error")  # words that are kept, their points, 3 anchors
Befriended = namedtuple("Befriended", "graph X found src")


# ---- the plane of three points ----


def in_plane(X: ArrayLike, anchors: ArrayLike) -> Floats:
    """Project columns of X to the plane through three of them: (2, N), distances kept.

    The first of the three is the origin, the second lies to its right, the third above.
    """
    X, anchors = np.asarray(X, dtype=np.float64), _three(anchors)
    first, *others = X[:, anchors].T
    Q = np.linalg.qr(np.column_stack([other - first for other in others]))[0]
    places = Q.T @ (X - first[:, None])
    signs = [places[0, anchors[1]], places[1, anchors[2]]]
    return np.asarray(places * np.where(np.signbit(signs), -1.0, 1.0)[:, None])


def corner_weights(X: ArrayLike, anchors: ArrayLike) -> Floats:
    """Write columns of X as mixtures of three of them, weights summing to one but of any sign: (N, 3)."""
    places = np.vstack([in_plane(X, anchors), np.ones(np.shape(X)[1])])
    return np.asarray(np.linalg.solve(places[:, _three(anchors)], places).T)


def share_inside(X: ArrayLike, anchors: ArrayLike) -> float:
    """Share of the columns that lie in the triangle of three of them, seen in its plane."""
    return float(np.mean((corner_weights(X, anchors) > -INSIDE).all(axis=1)))


def _three(anchors: ArrayLike) -> Indices:
    indices = np.asarray(anchors, dtype=np.intp)
    if indices.shape != (3,):
        raise CofactorError(f"a triangle has three corners: give three anchors, not {indices.size}")
    return indices


def fill_corners(ax: Axes, X: ArrayLike, corners: Mapping[str, ArrayLike]) -> Floats:
    """Draw the corners that methods took, in the plane of the first method's; return the places of all points."""
    if not corners:
        raise CofactorError("no corners to draw: give at least one method with its three anchors")
    places = in_plane(X, next(iter(corners.values())))
    for (marker, line), (method, anchors) in zip(RINGS, corners.items(), strict=False):
        taken = places[:, np.asarray(anchors)].T
        ax.add_patch(Polygon(taken, closed=True, fill=False, ec=INK, lw=1.1, ls=line, zorder=3))
        size = 9 if marker == "D" else 12
        ax.plot(*taken.T, marker, ms=size, mfc="none", mec=INK, mew=1.5, label=f"taken by {method}", zorder=4)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.margins(0.08)
    ax.spines[:].set_visible(False)
    return places


def fill_points(ax: Axes, places: Floats, main: ArrayLike | None = None, kind: str = "word") -> None:
    """Draw points, those of each main class with a colour and a marker of their own."""
    groups = np.zeros(places.shape[1], dtype=int) if main is None else np.asarray(main)
    size, alpha = (2.5, 0.35) if places.shape[1] > CROWD else (5.0, 0.75)
    for k in np.unique(groups):
        colour = GREY if main is None else CLASS_COLOURS[k % len(CLASS_COLOURS)]
        label = kind if main is None else f"{kind} {k + 1}"
        marker = MARKERS[k % len(MARKERS)]
        ax.plot(*places[:, groups == k], marker, color=colour, mec="none", ms=size, alpha=alpha)
        ax.plot([], [], marker, color=colour, mec="none", ms=5, label=label)


# ---- a library ----


def shelve(n_documents: int, length: float, mixing: float, leak: float, method: str, seed: int = 0) -> Shelved:
    """Draw a library and find its topics."""
    drawn = library(n_documents, length, mixing, leak, seed)
    model = topic_model(drawn.counts, 3, method=method)
    kept = np.setdiff1d(np.arange(len(drawn.words)), model.dropped)
    corners, error = np.searchsorted(kept, model.anchors), topic_error(drawn.topics, model.topics)
    return Shelved(drawn, model, drawn.words[kept], word_points(drawn.counts, 3), corners, error)


@styled
def draw_words(X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> Figure:
    """Draw words by name in the plane of three corners, the corners that methods took marked."""
    fig = new_picture(WIDTH, 4.2)
    _fill_words(fig.subplots(), X, words, corners)
    anchors, names = np.asarray(next(iter(corners.values()))), np.asarray(words)
    share = percent(share_inside(X, anchors))
    say(fig, f"Corners: {', '.join(names[anchors])}. {share} of {len(names)} words lie between them")
    return fig


def draw_shelved(outcome: Shelved) -> Figure:
    """Draw the words of a drawn library with the corners taken."""
    return draw_words(outcome.X, outcome.words, {"the method": outcome.corners})


def _fill_words(ax: Axes, X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> None:
    """Draw words into axes; where they are few, the anchors have names, and those not crowded around one."""
    places = fill_corners(ax, X, corners)
    fill_points(ax, places)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    ax.set_xlabel("plane of three words")
    names, anchors = np.asarray(words), np.asarray(next(iter(corners.values())))
    if len(names) <= MOST_NAMES:
        clear = np.flatnonzero(corner_weights(X, anchors).max(axis=1) <= 1 - NEAR)
        chosen = [*dict.fromkeys(anchors.tolist()), *np.setdiff1d(clear, anchors).tolist()]
        _write_names(ax, names[chosen], places[:, chosen])


def _write_names(ax: Axes, names: ArrayLike, places: Floats) -> None:
    """Write names beside their points, to the right or else to the left; those that would touch others are left out."""
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "color": INK, "path_effects": HALO}
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # before, axes have no place
    taken: list[BboxBase] = []
    for name, point in zip(np.asarray(names), places.T, strict=True):
        for side, away in (("left", 5), ("right", -5)):
            text = ax.annotate(name, tuple(point), (away, 4), ha=side, **look)
            space = text.get_window_extent()
            if not space.count_overlaps(taken):
                taken.append(space.padded(1))
                break
            text.remove()


def library_panel(seed: int = 0) -> Panel:
    """Choose documents, their length and mixing, how much of a topic leaks to all words; see corners and topics."""
    methods = ("SPA", "MERIT", "MERIT(0)", "XRAY", "FastAnchor")
    controls = {
        "n_documents": choice(w.SelectionSlider, (30, 100, 400, 1000, 3000), 400, "documents"),
        "length": choice(w.SelectionSlider, (10, 20, LENGTH, 200), LENGTH, "words of a document"),
        "mixing": choice(w.SelectionSlider, MIXING, MIXED, "mixing of documents"),
        "leak": choice(w.SelectionSlider, (0.0, 0.1, 0.2, 0.4, 0.6), 0.0, "leak to all words"),
        "method": choice(w.Dropdown, methods, "SPA", "method"),
    }
    return Panel(controls, partial(shelve, seed=seed), draw_shelved, _describe_library)


def _describe_library(outcome: Shelved) -> str:
    taken = ", ".join(outcome.words[outcome.corners])
    inside = percent(share_inside(outcome.X, outcome.corners))
    counts = outcome.library.counts
    size = f"{counts.shape[0]} documents with {int(counts.sum()):,} words"
    return f"{size}: anchors {taken}; {inside} of the words between them. Topics {percent(outcome.error, 1)} off."


# ---- a graph ----


def draw_friends(
    n_nodes: int = 400, n_communities: int = 3, mixing: float = MIXED, activity: float = 0.0, seed: int = 0
) -> GraphDataset:
    """Draw a graph of mixed memberships: nodes i and j are joined with probability a_i a_j theta_i' B theta_j.

    Nodes stand in the order of their main community. `mixing` is the parameter of the Dirichlet distribution of the
    memberships: small for nodes of one community; `activity` is the standard deviation of log a_i.
    """
    if not mixing > 0 or not activity >= 0:
        raise CofactorError(f"mixing={mixing} must be above zero, activity={activity} at least zero")
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_communities, mixing), n_nodes)
    theta = theta[np.lexsort((-theta.max(axis=1), theta.argmax(axis=1)))]
    B = (ACROSS + (WITHIN - ACROSS) * np.eye(n_communities)) / n_nodes
    a = np.exp(activity * rng.standard_normal(n_nodes) - activity**2 / 2)
    chance = np.minimum((theta @ B @ theta.T) * np.outer(a, a), 1.0)
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    adjacency = sparse.csr_array((upper | upper.T).astype(np.float64))
    return GraphDataset("a made-up graph", "A graph of known memberships", adjacency, theta)


def node_points(adjacency: sparse.csr_array, n_communities: int) -> Floats:
    """Return the rows of the leading eigenvectors as `communities` takes them, one point per node: (K, N)."""
    return np.asarray(leading_eigenvectors(adjacency, n_communities, "LM")[1].T)


def befriend(n_nodes: int, mixing: float, activity: float, method: str, seed: int = 0) -> Befriended:
    """Draw a graph and find its communities; `src` is the rank correlation of true and found memberships."""
    graph = draw_friends(n_nodes, 3, mixing, activity, seed)
    found = communities(graph.adjacency, 3, method=method, random_state=seed)
    src = spearman_rank_correlation(graph.memberships, found.memberships)
    return Befriended(graph, node_points(graph.adjacency, 3), found, src)


@styled
def draw_befriended(outcome: Befriended) -> Figure:
    """Draw a graph as its adjacency matrix, nodes by main community, beside its nodes in the plane of the corners."""
    fig = new_picture(WIDTH, 3.2)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.35])
    graph = outcome.graph
    left.imshow(graph.adjacency.toarray(), cmap=SEQUENTIAL, interpolation="antialiased")
    bare(left)
    left.set(xlabel="node", ylabel="node")
    fill_nodes(right, graph, outcome.X, {"the method": outcome.found.pure})
    size = f"{graph.adjacency.nnz // 2:,} edges of {len(graph.memberships)} nodes"
    say(fig, f"{size}; rank correlation of memberships {outcome.src:.2f}")
    return fig


def fill_nodes(
    ax: Axes, graph: GraphDataset, X: ArrayLike, corners: Mapping[str, ArrayLike], shown: ArrayLike | None = None
) -> None:
    """Draw nodes into axes, all by default; the cross is the origin, where a node without edges would be."""
    points = np.asarray(X, dtype=np.float64)
    places = fill_corners(ax, np.column_stack([points, np.zeros(len(points))]), corners)
    drawn = np.arange(points.shape[1]) if shown is None else np.asarray(shown)
    fill_points(ax, places[:, drawn], graph.memberships[drawn].argmax(axis=1), "community")
    ax.plot(*places[:, -1], "+", color=INK, ms=13, mew=2, label="origin", zorder=5)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    ax.set_xlabel("plane of three nodes")


def friends_panel(seed: int = 0) -> Panel:
    """Choose nodes, mixing, spread of activity; see the graph, its nodes in the plane, pure nodes, and SRC."""
    controls = {
        "n_nodes": choice(w.SelectionSlider, (100, 200, 400, 800), 400, "nodes"),
        "mixing": choice(w.SelectionSlider, MIXING, MIXED, "mixing of communities"),
        "activity": choice(w.SelectionSlider, (0.0, 0.4, 0.8, 1.2), 0.0, "spread of activity"),
        "method": choice(w.Dropdown, ("SPA", "MERIT", "MERIT(0)", "SPOC", "GeoNMF"), "SPA", "method"),
    }
    return Panel(controls, partial(befriend, seed=seed), draw_befriended, _describe_friends)


def _describe_friends(outcome: Befriended) -> str:
    pure = outcome.graph.memberships[outcome.found.pure]
    own = ", ".join(percent(share) for share in pure.max(axis=1))
    distinct = len(set(pure.argmax(axis=1).tolist()))
    nodes = f"The nodes taken for pure belong to their main community by {own}; these are {distinct} of 3 communities"
    return f"{nodes}. Rank correlation of memberships (SRC): {outcome.src:.3f}."
