"""Pictures of notebook 09: words and nodes in a plane, documents, a contest, a range of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sklearn.preprocessing import normalize

from cofactor.data import GraphDataset, TopicsDataset
from cofactor_app.plots.style import CLASS_COLOURS, FAINT, INK, WIDTH, heat, new_picture, percent, say, styled
from course.library import LENGTH, draw_counts
from course.nb09.panels import MARKERS, count_inside, draw_friends, fill_corners, fill_nodes, fill_points
from course.public import load_public


def public_evidence(names: Iterable[str]) -> dict[str, Any]:
    """Load public data sets; in the place of one that cannot be had comes one that is made up, and a line tells so."""
    return load_public(
        names,
        "simulated data of the same kind replace them; the texts below are about the real data",
        lambda name: draw_friends(600, activity=0.5, seed=int(name[-1])) if "dblp" in name else made_up_news(name),
    )


def made_up_news(name: str, n_documents: int = 400, n_words: int = 300, seed: int = 0) -> TopicsDataset:
    """Draw documents of six topics and 300 words without names; trials are the triples of topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), 6).T
    counts, weights = draw_counts(topics, n_documents, LENGTH, 0.1, rng)
    trials = {3: [list(some) for some in combinations(range(6), 3)]}
    return TopicsDataset(name, "Made-up documents", counts, weights.argmax(axis=1), trials)


@styled
def draw_clouds(clouds: ArrayLike, corners: ArrayLike) -> Figure:
    """Draw clouds of columns (clouds, M, N), each in the plane of three of them (clouds, 3)."""
    fig = new_picture(WIDTH, 5.6)
    for number, (ax, X, taken) in enumerate(
        zip(fig.subplots(2, 2).ravel(), np.asarray(clouds), np.asarray(corners), strict=True)
    ):
        fill_points(ax, fill_corners(ax, X, {"SPA": taken}), kind="column")
        ax.set_title(f"cloud {number}", color=INK)
        ax.set_xlabel("plane of three columns")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    say(fig, f"The columns that SPA takes for corners, in {len(np.asarray(clouds))} clouds")
    return fig


@styled
def draw_nodes(
    graph: GraphDataset, X: ArrayLike, corners: Mapping[str, ArrayLike], shown: ArrayLike | None = None
) -> Figure:
    """Draw nodes, or those to be `shown`, in the plane of three of them, coloured by their main community."""
    fig = new_picture(WIDTH, 4.0)
    fill_nodes(fig.subplots(), graph, X, corners, shown)
    method, anchors = next(iter(corners.items()))
    inside = f"{count_inside(X, anchors):,} of {np.shape(X)[1]:,} nodes"
    say(fig, f"{inside} of {graph.name} lie in the triangle of {method}")
    return fig


@styled
def draw_documents(weights: ArrayLike, truth: ArrayLike) -> Figure:
    """Draw how the documents of each class are spread over topics, classes in the order of their main topic."""
    shares, truth = normalize(np.asarray(weights, dtype=np.float64), norm="l1"), np.asarray(truth)
    classes = np.unique(truth)
    table = np.array([shares[truth == c].mean(axis=0) for c in classes])
    order = np.argsort(table.argmax(axis=1), kind="stable")
    fig = new_picture(WIDTH, 1.3 + 0.55 * len(classes))
    ax = fig.subplots()
    heat(ax, table[order], number=lambda value: f"{value:.2f}")
    names = [f"class {c} ({np.sum(truth == c)} documents)" for c in classes[order]]
    topics = [f"topic {k + 1}" for k in range(table.shape[1])]
    ax.set(yticks=range(len(classes)), yticklabels=names, xticks=range(len(topics)), xticklabels=topics)
    ax.set_xlabel("mean share of the topic in a document")
    told = ", ".join(percent(value) for value in table[order].max(axis=1))
    say(fig, f"Share of the main topic, class by class: {told}")
    return fig


# ---- contests ----


@styled
def draw_contest(shares: Mapping[str, ArrayLike]) -> Figure:
    """Draw the shares right of two methods on the same trials against each other: on the diagonal they are the same."""
    (first, x), (second, y) = ((name, 100 * np.asarray(share, dtype=np.float64)) for name, share in shares.items())
    fig = new_picture(4.8, 4.2)
    ax = fig.subplots()
    ax.axline((50, 50), slope=1, color=FAINT, lw=1)
    ax.plot(x, y, "o", color=CLASS_COLOURS[0], ms=6, alpha=0.6, mec="white", mew=0.5)
    ax.set(xlabel=f"documents right, {first} (%)", ylabel=f"documents right, {second} (%)", aspect="equal")
    told = f"{(y - x).mean():+.1f} ± {(y - x).std(ddof=1) / np.sqrt(len(x)):.1f} points".replace("-", "−")
    same = int(np.sum(np.abs(x - y) < 1e-9))
    say(fig, f"{second} minus {first} on {len(x)} trials: {told}; the same on {same}")
    return fig


# ---- where it fails ----


@styled
def draw_range(found: Mapping[float, ArrayLike], gaps: Sequence[float], others: Mapping[str, float]) -> Figure:
    """Draw the rank correlation of one method against the gap at which it stops; lines are other methods."""
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    for (lam, values), colour, marker in zip(found.items(), CLASS_COLOURS, MARKERS, strict=False):
        ax.semilogx(gaps, np.asarray(values), marker=marker, color=colour, label=f"MERIT, λ = {lam:g}")
    beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    for name, value in others.items():
        ax.axhline(value, color=FAINT, lw=1, ls="--")
        ax.annotate(name, (1, value), (3, 0), fontsize=8.5, color=INK, **beside)
    ax.set(xlabel="gap at which it stops", ylabel="rank correlation (SRC)", xticks=gaps)
    ax.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(found))
    values = np.concatenate([np.asarray(v) for v in found.values()])
    say(fig, f"One method, {values.size} settings: SRC from {values.min():.3f} to {values.max():.3f}")
    return fig
