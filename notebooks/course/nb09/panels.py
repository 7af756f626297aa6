"""The live figures of notebook 09, of topics and of communities; and the plane in which both are drawn.

symbol   meaning                                                        shape
theta    memberships of nodes in communities                            (N, K)
X        points, one per word or node                                   (M, N)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.transforms import BboxBase
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Indices
from cofactor.data import GraphDataset
from cofactor.separable import communities, spearman_rank_correlation, topic_model
from cofactor.separable.graphs import leading_eigenvectors
from cofactor_app.plots.style import (
    BLUE,
    CLASS_COLOURS,
    GREY,
    HALO,
    INK,
    WIDTH,
    new_picture,
    percent,
    say,
    styled,
)
from course.library import LENGTH, library, topic_error
from course.live import Live, drag, reveal, sliding

WITHIN, ACROSS = 90.0, 6.0  # neighbours of a node if all others are in its community, if all are in another
INSIDE = 0.02  # a weight above minus this is inside the triangle
MARKERS = ("o", "s", "^", "v", "P", "X")
RINGS = (("D", "-"), ("o", "--"), ("s", ":"))  # a method's corners, and the triangle between them
MOST_NAMES = 40  # words that are written beside their points
NEAR = 0.1  # weight that others must have in a word for it to stand clear of its corner
CROWD = 2000  # points from which on they are drawn small and pale
MIXING = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
DOCUMENTS = (15, 30, 60, 100, 200, 400)
LEAKS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])  # places of three true corners
SUBJECTS = ("kitchen", "sky", "music")
MIXED = 0.2  # where nothing else is said: most nodes and documents are of one kind


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


def count_inside(X: ArrayLike, anchors: ArrayLike) -> int:
    """Count the columns that lie in the triangle of three of them, seen in its plane."""
    return int((corner_weights(X, anchors) > -INSIDE).all(axis=1).sum())


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


@styled
def draw_words(X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> Figure:
    """Draw words by name in the plane of three corners, the corners that methods took marked."""
    fig = new_picture(WIDTH, 4.2)
    _fill_words(fig.subplots(), X, words, corners)
    anchors, names = np.asarray(next(iter(corners.values()))), np.asarray(words)
    inside = f"{count_inside(X, anchors)} of {len(names)} words"
    say(fig, f"Corners: {', '.join(names[anchors])}. {inside} lie between them")
    return fig


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


# ---- live: where the corners of a cloud are, and where those of the truth ----


@cache
def topic_corners(n_documents: int, leak: float) -> tuple[Floats, Indices, NDArray[np.str_], float]:
    """Words of a library as mixtures of the true topics, which of them SPA takes, their names, and the error."""
    drawn = library(n_documents, LENGTH, MIXED, leak)
    n = drawn.counts.toarray()
    kept = (n > 0).sum(axis=0) < n_documents  # a word of all documents weighs nothing
    n = n[:, kept]
    F = np.where(n > 0, 1 + np.log(np.maximum(n, 1)), 0) * np.log(n_documents / (n > 0).sum(axis=0))
    P, G = F.T @ F, F.T @ drawn.weights  # G: what stands beside the words of each topic
    P, G = P / P.sum(axis=0), G / G.sum(axis=0)
    theta = np.linalg.lstsq(G, P, rcond=None)[0].T
    model = topic_model(drawn.counts, 3, method="SPA")
    names = drawn.words[model.anchors]
    taken = np.array([np.flatnonzero(drawn.words[kept] == name)[0] for name in names])
    return theta / theta.sum(axis=1, keepdims=True), taken, names, topic_error(drawn.topics, model.topics)


@styled
def _draw_triangle(corners: Sequence[str], dots: str, taken: str, title: str) -> Figure:
    """Draw a triangle whose corners are known, with places for dots and for those that a method takes."""
    fig = new_picture(WIDTH, 3.6)
    ax = fig.subplots()
    ax.add_patch(Polygon(TRIANGLE, closed=True, fill=False, ec=GREY, lw=1))
    for name, (x, y), va in zip(corners, TRIANGLE, ("top", "top", "bottom"), strict=True):
        ax.annotate(name, (x, y), (0, -6 if va == "top" else 6), textcoords="offset points", ha="center", va=va)
    ax.plot([], [], "o", color=BLUE, ms=4, alpha=0.6, label=dots)
    ax.plot([], [], "D--", color=INK, mfc="none", ms=9, label=taken)
    ax.set(xlim=(-0.45, 1.45), ylim=(-0.12, 1.0), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_xlabel("each as a mixture of the three")
    ax.legend(loc="center left", bbox_to_anchor=(0.98, 0.5), fontsize=8)
    say(fig, title)
    return fig


def topic_live() -> Live:
    """Let every topic leak to all words, or take documents away; guess how wrong topics are, then see it."""
    fig = _draw_triangle(
        SUBJECTS, "word", "chosen as a corner", "31 words between three topics, which are at the corners"
    )
    dots, corners = fig.axes[0].lines

    def update(leak: float, documents: int, guess: int, shown: bool) -> str:
        theta, taken, names, error = topic_corners(documents, leak)
        places = theta @ TRIANGLE
        dots.set_data(*places.T)
        corners.set_data(*places[[*taken, taken[0]]].T)
        corners.set_visible(shown)
        told = f"corners {', '.join(names)}; {100 * error:.0f} % of the topics are wrong, you guessed {guess} %"
        return f"{documents} documents, leak {leak}: {told if shown else f'your guess is {guess} % wrong'}"

    controls = {
        "leak": sliding(LEAKS, 0.0, "leak to all words"),
        "documents": sliding(DOCUMENTS, 400, "documents"),
        "guess": drag(10, 0, 60, 1, "topics wrong (%)"),
        "shown": reveal("corners"),
    }
    look = "Which words will be chosen as corners, and how wrong will the topics be? Drag your guess, then show."
    return Live(controls, fig, [dots, corners], update, look)


@cache
def community_corners(mixing: float) -> tuple[Floats, Floats, Indices, float]:
    """True and found memberships of 400 people, whom SPA takes for pure, and the rank correlation of memberships."""
    graph = draw_friends(mixing=mixing)
    found = communities(graph.adjacency, 3, method="SPA")
    src = spearman_rank_correlation(graph.memberships, found.memberships)
    return graph.memberships, found.memberships, found.pure, float(src)


def community_live() -> Live:
    """Mix communities until no node is pure; guess the rank correlation of memberships, then see it."""
    fig = _draw_triangle(("", "", ""), "person", "taken for pure", "400 people between three who are taken for pure")
    (dots, corners), ax = fig.axes[0].lines, fig.axes[0]
    looks = zip(MARKERS, CLASS_COLOURS, range(1, 4), strict=False)
    coloured = [ax.plot([], [], look, color=c, ms=4, label=f"truly of {k}")[0] for look, c, k in looks]
    ax.legend(loc="center left", bbox_to_anchor=(0.98, 0.5), fontsize=8)

    def update(mixing: float, guess: float, shown: bool) -> str:
        theta, found, pure, src = community_corners(mixing)
        places, main = found @ TRIANGLE, theta.argmax(axis=1)
        dots.set_data(*places.T)
        corners.set_data(*places[[*pure, pure[0]]].T)
        for k, line in enumerate(coloured):
            line.set_data(*places[main == k].T)
            line.set_visible(shown)
        own = ", ".join(map(percent, theta[pure].max(axis=1)))
        told = f"the three belong to a community by {own}; rank correlation {src:.2f}, you guessed {guess}"
        return f"mixing {mixing}: {told if shown else f'your guess is a rank correlation of {guess}'}"

    controls = {
        "mixing": sliding(MIXING, MIXED, "mixing"),
        "guess": drag(0.9, 0.0, 1.0, 0.05, "rank correlation"),
        "shown": reveal("true communities"),
    }
    look = "Mix the communities. When are the three no longer pure? Drag your guess, then show who belongs to which."
    return Live(controls, fig, [dots, corners, *coloured], update, look)
