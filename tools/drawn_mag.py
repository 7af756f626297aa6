"""Run methods of Table IV on a drawn network of the size of MAG1 or MAG2: that they would run, in what time and memory.

usage: python -m tools.drawn_mag MAG1     (or MAG2; on Linux, which tells the peak of memory)

The files of MAG1 and MAG2 are not downloaded here (`datasets/cards/mag.md`). What is drawn has their nodes, their
communities of about these sizes, their share of nodes in more than one community, and about their number of edges. The
energy rule keeps few nodes of MAG1 and MAG2; so a quarter of all edges are drawn within one group of active nodes per
community, and the groups are so large that the rule keeps about as many nodes as the paper tells. The network is
written in the format of the files, and read as they would be. Correlations on it say nothing of MAG1 and MAG2.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from cofactor.data import load_mag
from cofactor.separable import spearman_rank_correlation
from cofactor_app.peak import CLEAR_REFS, resident
from evaluation.separable.communities import DRAWN, FIXED

AMONG_ACTIVE, WITHIN = 0.25, 0.9  # shares: of edges among active nodes; of the others, within a community
METHODS = ("SPOC", "GeoNMF", "MERIT")


class Size(NamedTuple):
    """Of a network: nodes, mean degree, nodes in several communities, share of every community, active nodes."""

    nodes: int
    degree: float
    mixed: int
    shares: tuple[float, ...]
    active: int


SIZES = {
    "MAG1": Size(142_788, 12.4, 7_161, (0.397, 0.029, 0.574), 1_485),
    "MAG2": Size(108_064, 16.0, 4_127, (0.645, 0.297, 0.058), 5_155),
}
SMALL = Size(600, 12.0, 30, (0.4, 0.2, 0.4), 150)  # run first, to compile what is compiled


def draw(size, rng):
    """Return the ends of all edges, and how far every node belongs to each community."""
    K = len(size.shares)
    theta = np.eye(K)[rng.choice(K, size.nodes, p=size.shares)]
    mixed = rng.choice(size.nodes, size.mixed, replace=False)
    theta[mixed] = rng.dirichlet(np.ones(K), size.mixed)
    active = np.zeros_like(theta)
    for k, members in enumerate(np.array_split(np.arange(size.active), K)):
        chosen = rng.choice(np.flatnonzero(theta[:, k]), len(members), replace=False)
        active[chosen] = theta[chosen]
    n_edges = round(size.nodes * size.degree / 2)
    few = add_pairs(np.empty(0, dtype=np.int64), round(AMONG_ACTIVE * n_edges), active, active.sum(axis=0), 1.0, rng)
    return np.divmod(add_pairs(few, n_edges, theta, size.shares, WITHIN, rng), size.nodes), theta


def add_pairs(codes, total, weights, shares, within, rng):
    """Draw pairs of different nodes, numbers i N + j with i < j, until there are `total`, each once.

    The ends are of one community, or with probability 1 - `within` of any two, and are drawn by their `weights` there.
    """
    (N, K), shares = weights.shape, np.asarray(shares) / np.sum(shares)
    reach = weights.cumsum(axis=0)
    while len(codes) < total:
        n = total - len(codes) + 100
        one, other = rng.choice(K, n, p=shares), rng.choice(K, n, p=shares)
        of = np.array([one, np.where(rng.random(n) < within, one, other)])
        ends = np.empty_like(of)
        for k in range(K):
            drawn = rng.random(np.count_nonzero(of == k)) * reach[-1, k]
            ends[of == k] = np.searchsorted(reach[:, k], drawn, side="right")
        low, high = np.sort(ends, axis=0)
        codes = np.concatenate([codes, rng.permutation(np.setdiff1d((low * N + high)[low < high], codes))])
    return codes[:total]


def write(folder, name, ends, theta):
    """Write the two files of a network, numbers from 1; memberships with six decimals, as theirs."""
    np.savetxt(folder / f"{name}_adjacency.txt", np.transpose(ends) + 1, fmt="%d", delimiter="\t")
    node, community = np.nonzero(theta)
    rows = np.column_stack([node + 1, community + 1, theta[node, community]])
    np.savetxt(folder / f"{name}_community.txt", rows, fmt=["%d", "%d", "%.6f"])


def measured(what, job):
    """Return the result of a job; print its seconds, and the memory that it took beside what was there before."""
    CLEAR_REFS.write_text("5")  # the peak begins anew from what is resident
    before, began = resident("VmRSS"), time.perf_counter()
    result = job()
    seconds = time.perf_counter() - began
    print(f"{what}: {seconds:.1f} s, {resident('VmHWM') - before:.0f} MB", flush=True)
    return result


def run(name, size):
    """Draw a network, read it, and run the methods of Table IV."""
    with TemporaryDirectory() as folder:
        write(Path(folder), name, *draw(size, np.random.default_rng(0)))
        graph = measured("read", lambda: load_mag(folder, name))
    print(f"{graph.adjacency.shape[0]} nodes, {graph.adjacency.nnz // 2} edges")
    for method in METHODS:
        found = measured(method, lambda method=method: (FIXED | DRAWN)[method](graph, 0))
        correlation = spearman_rank_correlation(graph.memberships, found.memberships)
        print(f"{method}: {found.kept.size} nodes kept, rank correlation {correlation:.4f}", flush=True)


if __name__ == "__main__":
    run("small", SMALL)
    run(sys.argv[1], SIZES[sys.argv[1]])
