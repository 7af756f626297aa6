"""Graphs with known mixed memberships, and the text files that hold them.

file                   a line is                                 numbers
NAME_adjacency.txt     two nodes that an edge joins              from 1; every edge once, in one direction
NAME_community.txt     a node, a community, the share of it      from 1; the shares of a node sum to one
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Floats
from cofactor.data import registry
from cofactor.data.readers import check_lines, lines_of, quoted

EDGE = re.compile(r"[1-9]\d{0,8}[ \t]+[1-9]\d{0,8}[ \t]*\r?", re.ASCII)
SHARE = re.compile(r"[1-9]\d{0,8}[ \t]+[1-9]\d{0,8}[ \t]+(?:0?\.\d+|[01](?:\.\d*)?)[ \t]*\r?", re.ASCII)
TO_ONE = 1e-4  # six decimals and a handful of communities: shares sum to one within a few millionths
COAUTHORS = "https://www.cs.utexas.edu/~xmao/coauthorship.html"


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """An undirected graph, and how far every node belongs to every community.

    Attributes
    ----------
    name, title : str
    adjacency : (N, N) sparse array
        Symmetric, 1 where an edge joins two nodes, diagonal 0. Nodes are numbered as in the source, from zero.
    memberships : (N, K) array
        Nonnegative, rows sum to one but for the rounding of the source (six decimals).
    citation, licence : str
    """

    name: str
    title: str
    adjacency: sparse.csr_array = field(repr=False)
    memberships: Floats = field(repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)

    def __repr__(self) -> str:
        nodes, communities = self.memberships.shape
        return f"GraphDataset({self.name!r}, {nodes} nodes, {self.adjacency.nnz // 2} edges, {communities} communities)"


def load_mag(folder: str | Path, name: Literal["MAG1", "MAG2"] = "MAG1") -> GraphDataset:
    r"""Load a co-authorship network of the Microsoft Academic Graph from a folder with its two files.

    Parameters
    ----------
    folder : path
        Holds `MAG1_adjacency.txt` and `MAG1_community.txt` (or those of MAG2).
    name : {"MAG1", "MAG2"}
        Any other name is read in the same way: NAME_adjacency.txt, NAME_community.txt.

    Raises
    ------
    CofactorError
        The files are not there, or hold what `read_graph` refuses.

    Cost
    ----
    O(edges) time and memory, about 200 bytes an edge while it reads.

    Source
    ------
    Mao, Sarkar and Chakrabarti, ICML 2017. The files are too large to come with the kit: they are on the page of the
    authors and in exp_real/community_detection/data/coauthorship of XiaoFuLab/Frank-Wolfe-based-method-for-SD-MMV.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "MAG1_adjacency.txt").write_text("2\t1\n3\t2\n")
    ...     _ = Path(folder, "MAG1_community.txt").write_text("1 1 1.0\n2 1 0.25\n2 2 0.75\n3 2 1.0\n")
    ...     graph = load_mag(folder)
    >>> graph
    GraphDataset('mag1', 3 nodes, 2 edges, 2 communities)
    >>> graph.memberships[1].tolist()
    [0.25, 0.75]
    """
    folder = Path(folder).expanduser()
    paths = [folder / f"{name}_{part}.txt" for part in ("adjacency", "community")]
    absent = [path.name for path in paths if not path.is_file()]
    if absent:
        raise CofactorError(f"{folder} holds no {' and no '.join(absent)}: get them from {COAUTHORS}")
    citation = registry.find("dblp1").citation.partition(";")[0]  # the same authors made both
    return GraphDataset(name.lower(), f"{name} in {folder}", *read_graph(*paths), citation)


def read_graph(edges: Path, memberships: Path) -> tuple[sparse.csr_array, Floats]:
    """Read adjacency matrix and memberships.

    Raises a CofactorError, which names the first ten lines or nodes, where a file cannot be read or holds other lines;
    an edge joins a node to itself or stands twice (in whichever direction); a share stands twice; shares of a node do
    not sum to one; the files are about different nodes.
    """
    adjacency, shares = _adjacency(edges), _memberships(memberships)
    n_nodes = adjacency.shape[0]
    if len(shares) != n_nodes:
        found = f"{memberships} has memberships of {len(shares)} nodes, {edges} has {n_nodes} nodes"
        raise CofactorError(f"{found}: take two files that belong together")
    return adjacency, shares


def _adjacency(path: Path) -> sparse.csr_array:
    lines = _lines(path, EDGE, "two nodes, whole numbers from 1,")
    ends = np.loadtxt(lines, dtype=np.int64, ndmin=2) - 1
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if loops.size:
        raise CofactorError(f"{path}: a node joined to itself in {_named(lines, loops)}: drop these lines")
    _refuse_repeated(path, lines, np.sort(ends, axis=1), "an edge joins two nodes once, in one direction")
    i, j = ends.T
    n_nodes = int(ends.max()) + 1
    upper = sparse.coo_array((np.ones(len(ends)), (i, j)), shape=(n_nodes, n_nodes))
    return sparse.csr_array(upper + upper.T)


def _memberships(path: Path) -> Floats:
    lines = _lines(path, SHARE, "node, community (whole numbers from 1) and share (0 to 1)")
    columns = np.loadtxt(lines, dtype=np.float64, ndmin=2)
    ends = columns[:, :2].astype(np.int64) - 1
    _refuse_repeated(path, lines, ends, "a node has one share of a community")
    shares = np.zeros(ends.max(axis=0) + 1)
    shares[tuple(ends.T)] = columns[:, 2]
    wrong = np.flatnonzero(np.abs(shares.sum(axis=1) - 1) > TO_ONE)
    if wrong.size:
        as_written = listing((wrong + 1).tolist())
        raise CofactorError(f"{path}: shares do not sum to one for nodes {as_written}: divide them by their sum")
    return shares


def _refuse_repeated(path: Path, lines: list[str], keys: NDArray[np.int64], rule: str) -> None:
    _, first = np.unique(keys, axis=0, return_index=True)
    again = np.setdiff1d(np.arange(len(keys)), first)
    if again.size:
        raise CofactorError(f"{path}: {rule}; not so with {_named(lines, again)}: drop these lines")


def _lines(path: Path, well_formed: re.Pattern[str], expected: str) -> list[str]:
    lines = lines_of(path)
    check_lines(path, lines, well_formed, f"{expected} separated by a blank")
    return lines


def _named(lines: list[str], chosen: Iterable[int]) -> str:
    return quoted((n + 1, lines[n]) for n in chosen)
