"""Figures 4b, 6 and 7: peak memory, each run in a process of its own.

Source: Nguyen, Fu and Wu, IEEE TSP 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.data import load
from cofactor.separable import predicted_bytes
from cofactor.separable.graphs import energetic_rows, leading_eigenvectors
from cofactor.separable.methods import require_memory
from cofactor.separable.topics import WordPairs
from cofactor.simulate import dirichlet_mixtures
from cofactor_app.peak import measure_peak
from evaluation.experiment import Measurement, experiment, measure
from evaluation.released.separable import STEPS
from evaluation.separable.topics import documents

Points = Callable[[str, np.random.Generator], tuple[Floats, int]]

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "MERIT": ("cofactor.separable:merit", {"n_iter": STEPS, "n_jobs": 1}),
    "MERIT(0)": ("cofactor.separable:merit", {"n_iter": STEPS, "n_jobs": 1, "lam": 0.0}),
    "FastGradient": ("cofactor.separable:fast_gradient", {"max_iter": 2}),  # its peak is there from the first step on
}
LARGEST = {"FastGradient": 25_000}  # points; beyond, only the prediction: 20 N^2 bytes, 12.5 GB


def peaks(points: Points, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Run every method on the same points in a fresh process each; its peak, less what was there before the call."""
    X, K = points(setting, rng)
    rows: list[Measurement] = []
    for name, (call, options) in CALLS.items():
        rows += measure(name, partial(_predicted, name, X, K, options))
        if X.shape[1] <= LARGEST.get(name, X.shape[1]):
            rows += measure(name, partial(_peak, call, X, K, options))
    return rows


def _predicted(name: str, X: Floats, K: int, options: Mapping[str, Any]) -> dict[str, float]:
    steps = options.get("n_iter", options.get("max_iter"))
    return {"predicted": predicted_bytes(name, X.shape[0], X.shape[1], K, steps) / 1e6}


def _peak(call: str, X: Floats, K: int, options: Mapping[str, Any]) -> dict[str, float]:
    if call.endswith(":fast_gradient"):
        require_memory("FastGradient", X.shape[0], X.shape[1], K, options["max_iter"])  # the child's reason is not told
    warm = {"X": X[:, : 4 * K], "n_anchors": K, **options}
    found = measure_peak(call, warm, X=X, n_anchors=K, **options)
    if found is None:
        raise CofactorError("peak memory can be measured only on Linux")
    return {"peak": found["peak_mb"] - found["base_mb"]}


def mixtures(setting: str, rng: np.random.Generator) -> tuple[Floats, int]:
    """Draw mixtures of 40 columns at 10 dB, as many as the setting says ("N=1,000")."""
    n_points = int(setting.removeprefix("N=").replace(",", ""))
    return dirichlet_mixtures(50, n_points, 40, 10.0, rng).X, 40


def words(setting: str, rng: np.random.Generator) -> tuple[Floats, int]:
    """Return the points of Table II's first trial ("tdt2,K=3"): one per word, in 2K dimensions."""
    name, number = setting.split(",K=")
    counts = documents(name).trial(int(number), 0).counts.astype(np.float64)
    return WordPairs(counts).reduced(2 * int(number)), int(number)


def nodes(setting: str, rng: np.random.Generator) -> tuple[Floats, int]:
    """Return the points of Table IV: one per node with much energy, in K dimensions."""
    graph = load(setting, "graph")
    K = graph.memberships.shape[1]
    _, V = leading_eigenvectors(graph.adjacency, K, "LM")
    return V[energetic_rows(V, 0.99)].T, K


@experiment(
    "separable-figure4b",
    title="Figure 4b: peak memory, drawn mixtures",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 4b",
    settings={
        "N=1,000": "1,000 points",
        "N=2,000": "2,000 points",
        "N=4,000": "4,000 points",
        "N=10,000": "10,000 points",
        "N=20,000": "20,000 points",
    },
    metrics={"peak": "MB", "predicted": "MB"},
    trials=1,
    plot="sweep",
    published="separable_figure4b",
)
def of_mixtures(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure every method on drawn mixtures."""
    return peaks(mixtures, setting, trial, rng)


@experiment(
    "separable-figure6",
    like="separable-figure4b",
    title="Figure 6a: peak memory, words of TDT2",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 6a",
    settings={"tdt2,K=3": "3 topics", "tdt2,K=5": "5 topics", "tdt2,K=10": "10 topics"},
    published="separable_figure6",
)
@experiment(
    "separable-figure6-reuters",
    like="separable-figure6",
    title="Figure 6b: peak memory, words of Reuters-21578",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 6b",
    settings={
        "reuters,K=3": "3 topics",
        "reuters,K=5": "5 topics",
        "reuters,K=8": "8 topics",
        "reuters,K=10": "10 topics",
    },
    published="",
)
def of_words(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure every method on words."""
    return peaks(words, setting, trial, rng)


@experiment(
    "separable-figure7",
    like="separable-figure4b",
    title="Figure 7: peak memory, nodes of DBLP",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 7",
    settings={"dblp1": "DBLP1", "dblp2": "DBLP2", "dblp3": "DBLP3", "dblp4": "DBLP4", "dblp5": "DBLP5"},
    published="separable_figure7",
    plot="levels",
)
def of_nodes(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure every method on nodes."""
    return peaks(nodes, setting, trial, rng)
