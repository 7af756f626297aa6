"""Pictures of notebook 09: words and nodes in the plane of their corners, documents by class, paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import normalize

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.data import GraphDataset
from cofactor.plots.style import (
    CLASS_COLOURS,
    FAINT,
    GREY,
    HALO,
    INK,
    SEQUENTIAL,
    WIDTH,
    bare,
    heat,
    new_picture,
    percent,
    say,
    styled,
)
from course.demos.topics_communities import (
    Befriended,
    Contest,
    Shelved,
    corner_weights,
    in_plane,
    share_inside,
)

MARKERS = ("o", "s", "^", "v", "P", "X")
RINGS = (("D", "-"), ("o", "--"), ("s", ":"))  # a method's corners, and the triangle between them
MOST_NAMES = 40  # words that are written beside their points
NEAR = 0.1  # weight that others must have in a word for it to stand clear of its corner
CROWD = 2000  # points from which on they are drawn small and pale


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
    many = places.shape[1] > CROWD
    for k in np.unique(groups):
        colour = GREY if main is None else CLASS_COLOURS[k % len(CLASS_COLOURS)]
        size, alpha = (2.5, 0.35) if many else (5.0, 0.75)
        label = kind if main is None else f"{kind} {k + 1}"
        marker = MARKERS[k % len(MARKERS)]
        ax.plot(*places[:, groups == k], marker, color=colour, mec="none", ms=size, alpha=alpha)
        ax.plot([], [], marker, color=colour, mec="none", ms=5, label=label)


@styled
def draw_two_clouds(
    X: ArrayLike, anchors: ArrayLike, nodes: ArrayLike, pure: ArrayLike, memberships: ArrayLike
) -> Figure:
    """Draw words of documents beside nodes of a graph, each in the plane of three corners."""
    fig = new_picture(WIDTH, 3.4)
    left, right = fig.subplots(1, 2)
    fill_points(left, fill_corners(left, X, {"MERIT": anchors}))
    left.set_title(f"{np.shape(X)[1]:,} words of news", color=INK)
    fill_points(right, fill_corners(right, nodes, {"MERIT": pure}), np.argmax(memberships, axis=1), "field")
    right.set_title(f"{np.shape(nodes)[1]:,} authors of papers", color=INK)
    inside = f"{percent(share_inside(X, anchors))} of the words, {percent(share_inside(nodes, pure))} of the authors"
    say(fig, f"Three of them are corners of all others: {inside} lie in the triangle")
    return fig


@styled
def draw_words(X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> Figure:
    """Draw words by name in the plane of three corners, the corners that methods took marked."""
    fig = new_picture(WIDTH, 4.2)
    fill_words(fig.subplots(), X, words, corners)
    anchors, names = np.asarray(next(iter(corners.values()))), np.asarray(words)
    named = ", ".join(names[anchors])
    share = percent(share_inside(X, anchors))
    say(fig, f"Corners: {named}. {share} of {len(names)} words lie between them")
    return fig


def fill_words(ax: Axes, X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> None:
    """Draw words into axes; names where there are few."""
    places = fill_corners(ax, X, corners)
    fill_points(ax, places)
    names = np.asarray(words)
    for i in _named(X, np.asarray(next(iter(corners.values())))) if len(names) <= MOST_NAMES else ():
        ax.annotate(names[i], tuple(places[:, i]), (5, 4), textcoords="offset points", fontsize=8, color=INK,
                    path_effects=HALO)  # fmt: skip
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    ax.set_xlabel("plane of three words")


def _named(X: ArrayLike, anchors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Words that have room for a name: the anchors, and those that are not crowded around one."""
    crowded = corner_weights(X, anchors).max(axis=1) > 1 - NEAR
    return np.union1d(np.flatnonzero(~crowded), anchors)


@styled
def draw_nodes(
    graph: GraphDataset, X: ArrayLike, corners: Mapping[str, ArrayLike], shown: ArrayLike | None = None
) -> Figure:
    """Draw rows of eigenvectors in the plane of three nodes, coloured by their main community.

    `shown` are the nodes to draw; all by default. The cross is the origin, where a node without edges would be.
    """
    fig = new_picture(WIDTH, 4.0)
    fill_nodes(fig.subplots(), graph, X, corners, shown)
    share = percent(share_inside(X, next(iter(corners.values()))))
    say(fig, f"{np.shape(X)[1]:,} nodes of {graph.name}: {share} lie in the triangle of {next(iter(corners))}")
    return fig


def fill_nodes(
    ax: Axes, graph: GraphDataset, X: ArrayLike, corners: Mapping[str, ArrayLike], shown: ArrayLike | None = None
) -> None:
    """Draw nodes into axes."""
    origin = np.asarray(X, dtype=np.float64)
    places = fill_corners(ax, np.column_stack([origin, np.zeros(len(origin))]), corners)
    drawn = np.arange(places.shape[1] - 1) if shown is None else np.asarray(shown)
    fill_points(ax, places[:, drawn], graph.memberships[drawn].argmax(axis=1), "community")
    ax.plot(*places[:, -1], "+", color=INK, ms=13, mew=2, label="origin", zorder=5)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    ax.set_xlabel("plane of three nodes")


@styled
def draw_documents(weights: ArrayLike, truth: ArrayLike) -> Figure:
    """Draw how the documents of each class are spread over topics, classes in the order of their main topic."""
    shares = normalize(np.asarray(weights, dtype=np.float64), norm="l1")
    classes = np.unique(np.asarray(truth))
    table = np.array([shares[np.asarray(truth) == c].mean(axis=0) for c in classes])
    order = np.argsort(table.argmax(axis=1), kind="stable")
    fig = new_picture(WIDTH, 1.3 + 0.55 * len(classes))
    ax = fig.subplots()
    heat(ax, table[order], number=lambda value: f"{value:.2f}")
    sizes = [np.sum(np.asarray(truth) == c) for c in classes[order]]
    names = [f"class {c} ({size} documents)" for c, size in zip(classes[order], sizes, strict=True)]
    topics = [f"topic {k + 1}" for k in range(table.shape[1])]
    ax.set(yticks=range(len(classes)), yticklabels=names, xticks=range(len(topics)), xticklabels=topics)
    ax.set_xlabel("mean share of the topic in a document")
    told = ", ".join(percent(value) for value in table[order].max(axis=1))
    say(fig, f"Share of the main topic, class by class: {told}")
    return fig


@styled
def draw_contest(results: Contest, first: str, second: str) -> Figure:
    """Draw the accuracy of two methods on every trial, against each other: on the diagonal they are the same."""
    x, y = 100 * results.accuracy[first], 100 * results.accuracy[second]
    fig = new_picture(4.8, 4.2)
    ax = fig.subplots()
    ax.axline((50, 50), slope=1, color=FAINT, lw=1)
    ax.plot(x, y, "o", color=CLASS_COLOURS[0], ms=6, alpha=0.6, mec="white", mew=0.5)
    ax.set(xlabel=f"documents right, {first} (%)", ylabel=f"documents right, {second} (%)", aspect="equal")
    mean, error = results.difference(first, second)
    equal = int(np.sum(np.abs(x - y) < 1e-9))
    told = f"{100 * mean:+.1f} ± {100 * error:.1f} points".replace("-", "−")
    say(fig, f"{second} minus {first} on {len(x)} trials: {told}; the same on {equal}")
    return fig


@styled
def draw_range(found: Mapping[float, ArrayLike], gaps: Sequence[float], others: Mapping[str, float]) -> Figure:
    """Draw the rank correlation of one method against the gap at which it stops; lines are other methods."""
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    for (lam, values), colour, marker in zip(found.items(), CLASS_COLOURS, MARKERS, strict=False):
        ax.semilogx(gaps, np.asarray(values), marker=marker, color=colour, label=f"MERIT, λ = {lam:g}")
    for name, value in others.items():
        ax.axhline(value, color=FAINT, lw=1, ls="--")
        ax.annotate(name, (1, value), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                    va="center", fontsize=8.5, color=INK)  # fmt: skip
    ax.set(xlabel="gap at which it stops", ylabel="rank correlation (SRC)", xticks=gaps)
    ax.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(found))
    values = np.concatenate([np.asarray(v) for v in found.values()])
    say(fig, f"One method, {values.size} settings: SRC from {values.min():.3f} to {values.max():.3f}")
    return fig


@styled
def draw_shelved(outcome: Shelved) -> Figure:
    """Draw the words of a drawn library with the corners taken."""
    fig = new_picture(WIDTH, 4.2)
    fill_words(fig.subplots(), outcome.X, outcome.words, {"the method": outcome.corners})
    taken = ", ".join(outcome.words[outcome.corners])
    say(fig, f"Corners: {taken}. The topics are {percent(outcome.error)} off")
    return fig


@styled
def draw_befriended(outcome: Befriended) -> Figure:
    """Draw a graph as its adjacency matrix, nodes by main community, beside its nodes in the plane of the corners."""
    fig = new_picture(WIDTH, 3.2)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.35])
    left.imshow(outcome.graph.adjacency.toarray(), cmap=SEQUENTIAL, interpolation="antialiased")
    bare(left)
    left.set(xlabel="node", ylabel="node")
    fill_nodes(right, outcome.graph, outcome.X, {"the method": outcome.found.pure})
    say(fig, f"{outcome.graph.adjacency.nnz // 2:,} edges of {len(outcome.graph.memberships)} nodes; "
             f"rank correlation of memberships {outcome.src:.2f}")  # fmt: skip
    return fig
