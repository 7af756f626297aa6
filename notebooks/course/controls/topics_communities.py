"""The panels of notebook 09: a library of known topics, and a graph of known communities."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import percent
from course.panel import Panel, choice
from course.demos.topics_communities import LENGTH, Befriended, Shelved, befriend, share_inside, shelve
from course.figures.topics_communities import draw_befriended, draw_shelved

DOCUMENTS = (30, 100, 400, 1000, 3000)
LENGTHS = (10, 20, LENGTH, 200)
MIXING = (0.05, 0.2, 0.5, 1.0, 3.0)
LEAKS = (0.0, 0.1, 0.2, 0.4, 0.6)
WORD_METHODS = ("SPA", "MERIT", "MERIT(0)", "XRAY", "FastAnchor")
NODES = (100, 200, 400, 800)
ACTIVITY = (0.0, 0.4, 0.8, 1.2)
NODE_METHODS = ("SPA", "MERIT", "MERIT(0)", "SPOC", "GeoNMF")


def library_panel(seed: int = 0) -> Panel:
    """Choose documents, their length and mixing, how much of a topic leaks to all words; see corners and topics."""

    def compute(n_documents: int, length: int, mixing: float, leak: float, method: str) -> Shelved:
        return shelve(n_documents, length, mixing, leak, method, seed)

    controls = {
        "n_documents": choice(w.SelectionSlider, DOCUMENTS, 400, "documents"),
        "length": choice(w.SelectionSlider, LENGTHS, LENGTH, "words of a document"),
        "mixing": choice(w.SelectionSlider, MIXING, 0.2, "mixing of documents"),
        "leak": choice(w.SelectionSlider, LEAKS, 0.0, "leak to all words"),
        "method": choice(w.Dropdown, WORD_METHODS, "SPA", "method"),
    }
    return Panel(controls, compute, draw_shelved, describe_shelved)


def describe_shelved(outcome: Shelved) -> str:
    """Say which words were taken, how far topics are off, and how many words lie between the corners."""
    taken = ", ".join(outcome.words[outcome.corners])
    inside = percent(share_inside(outcome.X, outcome.corners))
    size = f"{outcome.library.counts.shape[0]} documents with {int(outcome.library.counts.sum()):,} words"
    return f"{size}: anchors {taken}; {inside} of the words between them. Topics {percent(outcome.error, 1)} off."


def friends_panel(seed: int = 0) -> Panel:
    """Choose nodes, mixing, spread of activity; see the graph, its nodes in the plane, pure nodes, and SRC."""

    def compute(n_nodes: int, mixing: float, activity: float, method: str) -> Befriended:
        return befriend(n_nodes, mixing, activity, method, seed)

    controls = {
        "n_nodes": choice(w.SelectionSlider, NODES, 400, "nodes"),
        "mixing": choice(w.SelectionSlider, MIXING, 0.2, "mixing of communities"),
        "activity": choice(w.SelectionSlider, ACTIVITY, 0.0, "spread of activity"),
        "method": choice(w.Dropdown, NODE_METHODS, "SPA", "method"),
    }
    return Panel(controls, compute, draw_befriended, describe_befriended)


def describe_befriended(outcome: Befriended) -> str:
    """Say how pure the pure nodes are, and how well memberships are ranked."""
    pure = outcome.graph.memberships[outcome.found.pure]
    own = ", ".join(percent(share) for share in pure.max(axis=1))
    distinct = len(set(pure.argmax(axis=1).tolist()))
    nodes = f"The nodes taken for pure belong to their main community by {own}; these are {distinct} of 3 communities"
    return f"{nodes}. Rank correlation of memberships (SRC): {outcome.src:.3f}."
