"""Tables III and IV: networks of co-authors, and memberships.

Source: Nguyen, Fu and Wu, IEEE TSP 2022.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.data import GraphDataset, load, load_mag
from cofactor.separable import Communities, FastGradient, communities, spearman_rank_correlation
from cofactor.separable.communities import energetic_rows
from cofactor.separable.graphs import leading_eigenvectors
from cofactor.separable.methods import AnchorMethod
from evaluation.experiment import Measurement, measure, measure_each
from evaluation.released.separable import community_merit

Objective = Literal["full", "half"]
Find = Callable[[GraphDataset, int], Communities]

ENERGY = 0.99  # of all nodes, that those used have
MAG_FOLDER = "COFACTOR_MAG"  # names a folder with the two MAG networks, which are not downloaded here
MAG = {  # the files of Table IV: their git blob ids, which hold their bytes to those of the authors
    "MAG1_adjacency.txt": "b1f49affed06a945e9310d9f0b4af0b0e1bf1a93",
    "MAG1_community.txt": "5ba4d39df63348bfc0d2b1d8d3c35e0158da3e87",
    "MAG2_adjacency.txt": "b441d1fb35bc6e37b0c9eefa23637f47496f2845",
    "MAG2_community.txt": "8bc70c78f19741965f51bbdeddcaa08c843b6ecd",
}
AT = (
    "https://raw.githubusercontent.com/XiaoFuLab/Frank-Wolfe-based-method-for-SD-MMV/"
    "f2612ec5e56d142313c2cb7142496e5e2a6343aa/exp_real/community_detection/data/coauthorship/"
)


def graph_of(setting: str) -> GraphDataset:
    """Load a network; those of MAG from the user's own files, where these are the authors'."""
    if not setting.startswith("mag"):
        return load(setting)
    folder, names = os.environ.get(MAG_FOLDER), [name for name in MAG if name.startswith(setting.upper())]
    if folder is None:
        raise CofactorError(
            f"public, not downloaded here: put {AT}{names[0]} and {names[1]} from there into a folder, "
            f"and set {MAG_FOLDER} to it"
        )
    graph = load_mag(folder, "MAG1" if setting == "mag1" else "MAG2")
    if other := [name for name in names if blob_id(Path(folder, name)) != MAG[name]]:
        raise CofactorError(f"{' and '.join(other)} in {folder}: not the bytes of {AT}; get them anew")
    return graph


def blob_id(path: Path) -> str:
    """Return the name that git gives to a file's bytes."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def by(method: str | AnchorMethod, graph: GraphDataset, seed: int) -> Communities:
    """Find communities by a method's name, which stands for its defaults, or by an estimator."""
    return communities(graph.adjacency, graph.memberships.shape[1], method=method, random_state=seed)


OWN = "MERIT (own defaults)"
FIXED: dict[str, Find] = {
    "MERIT": partial(by, community_merit()),
    "MERIT(0)": partial(by, community_merit(lam=0.0)),
    OWN: partial(by, "MERIT"),
    "SPOC": partial(by, "SPOC"),
    "SPA": partial(by, "SPA"),
}
DRAWN: dict[str, Find] = {"GeoNMF": partial(by, "GeoNMF")}


def memberships(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One network; what draws nothing at random is run once."""
    seed = int(rng.integers(2**31))
    finders = {**DRAWN, **(FIXED if trial == 0 else {})}
    try:
        graph = graph_of(setting)
    except CofactorError as absent:
        return [Measurement(name, "", None, error=str(absent)) for name in finders]
    return measure_each(finders, lambda find: _correlation(graph, find, seed))


WEIGHTS = (None, 1e-3, 1e-2)  # of FastGradient's penalty: its own, and two of their size on these networks
BEST = "FastGradient (best of three weights)"
SEARCH = 1  # the trial in which all of them are tried; the quick profile ends before it


def dense(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """FastGradient on one network, and once by the best of several weights, as the paper says."""
    seed = int(rng.integers(2**31))
    try:
        graph = graph_of(setting)
    except CofactorError as absent:
        return [Measurement("FastGradient", "", None, error=str(absent))]
    finders = [partial(by, FastGradient(nu=nu, random_state=seed)) for nu in WEIGHTS]
    rows = measure("FastGradient", partial(_correlation, graph, finders[0], seed))
    if trial == SEARCH:
        rows += measure(BEST, partial(_best, graph, finders, seed))
    return rows


def _best(graph: GraphDataset, finders: Sequence[Find], seed: int) -> dict[str, float]:
    """Choose by the truth."""
    return max((_correlation(graph, find, seed) for find in finders), key=lambda found: found["src"])


def _correlation(graph: GraphDataset, find: Find, seed: int) -> dict[str, float]:
    found = find(graph, seed)
    return {"src": spearman_rank_correlation(graph.memberships, found.memberships), "nodes": found.kept.size}


# ---- Table III: nodes and communities ----

SETS = ("dblp1", "dblp2", "dblp3", "dblp4", "dblp5", "mag1", "mag2")


def counts(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Count what Table IV uses of every network."""
    return measure_each({name: name for name in SETS}, lambda name: _counted(graph_of(name)))


def _counted(graph: GraphDataset) -> dict[str, float]:
    K = graph.memberships.shape[1]
    V = leading_eigenvectors(graph.adjacency, K, "LM")[1]
    energy = np.cumsum(-np.sort(-np.einsum("nk,nk->n", V, V)))
    fewest = 1 + np.searchsorted(energy, ENERGY * energy[-1], side="right")
    return {"nodes": energetic_rows(V, ENERGY).size, "nodes, ties left out": fewest, "communities": K}


# ---- the range behind the points ----

LAMBDAS = (0.0, 1e-6, 1e-4, 1e-2, 0.1, 1.0)
GAPS = (0.1, 0.25, 0.5, 1.0, 2.0)


def spread(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Run MERIT over penalties, stopping gaps and both objectives: the lowest and the highest correlation."""
    return measure("MERIT", partial(_range, load(setting)))


def _range(graph: GraphDataset) -> dict[str, float]:
    found = list(_correlations(graph))
    return {"lowest": min(found), "highest": max(found), "as printed": next(_correlations(graph, (1e-6,), (0.5,)))}


def _correlations(
    graph: GraphDataset, lambdas: tuple[float, ...] = LAMBDAS, gaps: tuple[float, ...] = GAPS
) -> Iterator[float]:
    for objective, lam, gap in product(get_args(Objective), lambdas, gaps):
        finder = community_merit(lam=lam, gap_abs=gap, objective=objective)
        try:
            found = communities(graph.adjacency, graph.memberships.shape[1], method=finder)
        except CofactorError:  # anchors that depend on each other give no memberships, so no correlation
            continue
        yield spearman_rank_correlation(graph.memberships, found.memberships)
