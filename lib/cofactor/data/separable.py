"""Data sets for separable problems: word counts of documents, texts, spectra of mixtures, mixed-membership graphs.

Graphs come as two text files:

    file                   a line is                                 numbers
    NAME_adjacency.txt     two nodes that an edge joins              from 1; every edge once, in one direction
    NAME_community.txt     a node, a community, its membership       from 1; the memberships of a node sum to one
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Floats, Ints
from cofactor.data import registry
from cofactor.data.matlab import load_matlab
from cofactor.data.readers import check_lines, lines_of, quoted

RARE = {True: 2, False: 1}  # documents that a word must be in, by whether a trial has at most FEW classes
FEW = 10
EDGE = re.compile(r"[1-9]\d{0,8}[ \t]+[1-9]\d{0,8}[ \t]*\r?", re.ASCII)
SHARE = re.compile(r"[1-9]\d{0,8}[ \t]+[1-9]\d{0,8}[ \t]+(?:0?\.\d+|[01](?:\.\d*)?)[ \t]*\r?", re.ASCII)
TO_ONE = 1e-4  # six decimals and a handful of communities: shares sum to one within a few millionths
COAUTHORS = "https://www.cs.utexas.edu/~xmao/coauthorship.html"


# ---- documents, with the trials that were published with them ----


@dataclass(frozen=True, eq=False)
class TopicsDataset:
    """Word counts of documents with one topic each.

    Attributes
    ----------
    name, title : str
    counts : (D, N) sparse array
        How often each word occurs in each document. The source does not say which word a column is.
    truth : (D,) class codes
        The topic of each document, from zero.
    trials : dict, number of classes to list of 50 lists of class codes
        The random choices of classes published with the data; all published results are means over them.
    citation, licence : str
    """

    name: str
    title: str
    counts: sparse.csr_array = field(repr=False)
    truth: Ints = field(repr=False)
    trials: dict[int, list[list[int]]] = field(default_factory=dict, repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)

    def __repr__(self) -> str:
        documents, words = self.counts.shape
        return f"TopicsDataset({self.name!r}, {documents} documents, {words} words, {self.truth.max() + 1} topics)"

    def only(self, classes: ArrayLike, min_documents: int = 1) -> TopicsDataset:
        """Keep the documents of these classes, and the words that occur in at least `min_documents` of them.

        Classes keep their codes; `trials` is left out. Raises a CofactorError if a class has no documents (it is
        named), or no word is left.

        >>> counts = sparse.csr_array([[2, 1, 0], [0, 3, 0], [0, 0, 4]])
        >>> some = TopicsDataset("made", "Three documents", counts, np.array([0, 0, 1])).only([0], min_documents=2)
        >>> some, some.counts.toarray().tolist()
        (TopicsDataset('made', 2 documents, 1 words, 1 topics), [[1], [3]])
        """
        wanted = np.unique(np.asarray(classes))
        absent = np.setdiff1d(wanted, self.truth)
        if absent.size:
            known = np.unique(self.truth)
            none, there = listing(absent.tolist()), listing(known.tolist())
            raise CofactorError(f"no documents of classes {none}: choose among classes {there}")
        documents = np.flatnonzero(np.isin(self.truth, wanted))
        counts = self.counts[documents]
        words = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= min_documents)
        if not words.size:
            raise CofactorError(f"no word is in {min_documents} documents of these classes: lower min_documents")
        return replace(self, counts=counts[:, words], truth=self.truth[documents], trials={})

    def trial(self, n_classes: int, number: int) -> TopicsDataset:
        """Return a published trial: all documents of its classes, without the words that it leaves out.

        A word must be in two documents, or in one if the trial has more than ten classes: this rule gives the published
        lists of words in all 1200 trials. Raises a CofactorError if there is no such trial.
        """
        trials = self.trials.get(n_classes, [])
        if not 0 <= number < len(trials):
            known = ", ".join(map(str, self.trials))
            raise CofactorError(f"no trial {number} of {n_classes} classes: there are 0 to 49 of {known} classes")
        return self.only(trials[number], RARE[n_classes <= FEW])


def topic_trials(name: str) -> dict[int, list[list[int]]]:
    """Return the trials of a data set in datasets/topic_trials.json, by number of classes; {} for an unknown set.

    They are the random choices of classes that Cai, Mei, Han and Zhai published with the counts, numbered from zero.

    >>> {name: sum(map(len, topic_trials(name).values())) for name in ("tdt2", "reuters21578")}
    {'tdt2': 600, 'reuters21578': 600}
    """
    known = json.loads((registry.DATASETS_DIR / "topic_trials.json").read_text(encoding="utf8"))
    return {int(n_classes): trials for n_classes, trials in known.get(name, {}).items()}


def read_documents(path: Path, shape: tuple[int, int], n_classes: int) -> tuple[sparse.csr_array, Ints]:
    """Read word counts (`fea`) and classes (`gnd`, from 1) from a MATLAB file.

    Raises a CofactorError if it cannot be read, or does not contain whole counts of this shape and one class per row.
    """
    fea, gnd = load_matlab(path, ["fea", "gnd"]).values()
    try:
        counts = sparse.csr_array(fea, dtype=np.float64)
        classes = numbers(gnd, "gnd").ravel()
    except (ValueError, TypeError) as error:
        raise CofactorError(f"{path}: fea and gnd must be matrices of numbers: {error}") from None
    if counts.shape != shape or classes.shape != shape[:1]:
        found = f"{counts.shape} and {classes.size}"
        raise CofactorError(f"{path}: expected {shape} counts and {shape[0]} classes, got {found}")
    with np.errstate(invalid="ignore"):  # some NaN signal wherever they are looked at
        bad = _rows_not(counts.data >= 0, counts) | _rows_not(counts.data == np.floor(counts.data), counts)
        bad |= ~np.isin(classes, np.arange(1, n_classes + 1))
    if bad.any():
        found = listing(np.flatnonzero(bad).tolist())
        raise CofactorError(f"{path}: counts must be whole, classes 1 to {n_classes}; see rows {found}")
    return counts, classes.astype(np.int64) - 1


def _rows_not(good: NDArray[np.bool_], counts: sparse.csr_array) -> NDArray[np.bool_]:
    return np.isin(np.arange(counts.shape[0]), counts.tocoo().coords[0][~good])


# ---- the two simulated sets that are bundled: spectra with their materials, texts with their word lists ----


@dataclass(frozen=True, eq=False)
class SpectraDataset:
    """Spectra of pixels that are mixtures of a few materials.

    Attributes
    ----------
    name, title : str
    X : (M, N) array
        One pixel per column.
    wavelengths : (M,) array, in nm
    points : list of N names
    W : (M, K) array
        The spectra of the materials, without noise.
    materials : list of K names
    citation, licence : str
    """

    name: str
    title: str
    X: Floats = field(repr=False)
    wavelengths: Floats = field(repr=False)
    points: list[str] = field(repr=False)
    W: Floats = field(repr=False)
    materials: list[str]
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)


@dataclass(frozen=True, eq=False)
class TextsDataset:
    """Short texts whose words come mostly from one of a few lists.

    Attributes
    ----------
    name, title : str
    texts : list of D strings
    documents : list of D names
    truth : (D,) class codes
        The list that most words of a text come from.
    classes : list of names of the lists
    citation, licence : str
    """

    name: str
    title: str
    texts: list[str] = field(repr=False)
    documents: list[str] = field(repr=False)
    truth: Ints = field(repr=False)
    classes: list[str] = field(repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)


def read_spectra(path: Path) -> tuple[NDArray[np.float64], list[str], Floats]:
    """Read the first column (wavelengths), the names of the other columns, and their (M, N) numbers."""
    header, *rows = csv.reader(lines_of(path))
    try:
        numbers = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise CofactorError(f"{path}: expected numbers: {error}") from None
    return numbers[:, 0], header[1:], numbers[:, 1:]


def read_texts(path: Path, lists: Path, classes: list[str]) -> tuple[list[str], list[str], Ints]:
    """Read texts, their names, and the code of the list of each text."""
    texts, known = (list(csv.reader(lines_of(one)))[1:] for one in (path, lists))
    if [row[0] for row in texts] != [row[0] for row in known] or not {row[1] for row in known} <= set(classes):
        raise CofactorError(f"{lists}: expected a row for each text of {path.name}, and the lists {', '.join(classes)}")
    truth = np.array([classes.index(row[1]) for row in known], dtype=np.int64)
    return [row[1] for row in texts], [row[0] for row in texts], truth


# ---- graphs ----


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """An undirected graph, and the membership of each node in each community.

    Attributes
    ----------
    name, title : str
    adjacency : (N, N) sparse array
        Symmetric, 1 if an edge joins two nodes, diagonal 0. Nodes are numbered from zero, as in the source.
    memberships : (N, K) array
        Nonnegative; rows sum to one up to the rounding of the source (six decimals).
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
        The files are missing, or `read_graph` refuses their contents.

    Cost
    ----
    O(edges) time and memory, about 200 bytes per edge while reading.

    Source
    ------
    Mao, Sarkar and Chakrabarti, ICML 2017. The files are too large to be part of cofactor: they are on the authors'
    page and in exp_real/community_detection/data/coauthorship of XiaoFuLab/Frank-Wolfe-based-method-for-SD-MMV.

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
        raise CofactorError(f"{folder} does not contain {' or '.join(absent)}: download from {COAUTHORS}")
    citation = registry.find("dblp1").citation.partition(";")[0]  # the same authors made both
    return GraphDataset(name.lower(), f"{name} in {folder}", *read_graph(*paths), citation)


def read_graph(edges: Path, memberships: Path) -> tuple[sparse.csr_array, Floats]:
    """Read the adjacency matrix and the memberships of a graph.

    Raises a CofactorError, which lists the first ten lines or nodes, if a file cannot be read or has malformed lines;
    an edge joins a node to itself or is repeated (in either direction); a membership is repeated; the memberships of a
    node do not sum to one; or the files have different nodes.
    """
    adjacency, shares = _adjacency(edges), _memberships(memberships)
    n_nodes = adjacency.shape[0]
    if len(shares) != n_nodes:
        found = f"{memberships} has memberships of {len(shares)} nodes, {edges} has {n_nodes} nodes"
        raise CofactorError(f"{found}: use two files that belong together")
    return adjacency, shares


def _adjacency(path: Path) -> sparse.csr_array:
    lines = _graph_lines(path, EDGE, "two nodes, whole numbers from 1,")
    ends = np.loadtxt(lines, dtype=np.int64, ndmin=2) - 1
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if loops.size:
        raise CofactorError(f"{path}: a node is joined to itself in {_named(lines, loops)}: drop these lines")
    _refuse_repeated(path, lines, np.sort(ends, axis=1), "every edge must be listed once, in one direction")
    i, j = ends.T
    n_nodes = int(ends.max()) + 1
    upper = sparse.coo_array((np.ones(len(ends)), (i, j)), shape=(n_nodes, n_nodes))
    return sparse.csr_array(upper + upper.T)


def _memberships(path: Path) -> Floats:
    lines = _graph_lines(path, SHARE, "node, community (whole numbers from 1) and membership (0 to 1)")
    columns = np.loadtxt(lines, dtype=np.float64, ndmin=2)
    ends = columns[:, :2].astype(np.int64) - 1
    _refuse_repeated(path, lines, ends, "a node must have one membership per community")
    shares = np.zeros(ends.max(axis=0) + 1)
    shares[tuple(ends.T)] = columns[:, 2]
    wrong = np.flatnonzero(np.abs(shares.sum(axis=1) - 1) > TO_ONE)
    if wrong.size:
        as_written = listing((wrong + 1).tolist())
        raise CofactorError(f"{path}: memberships do not sum to one for nodes {as_written}: divide them by their sum")
    return shares


def _refuse_repeated(path: Path, lines: list[str], keys: NDArray[np.int64], rule: str) -> None:
    _, first = np.unique(keys, axis=0, return_index=True)
    again = np.setdiff1d(np.arange(len(keys)), first)
    if again.size:
        raise CofactorError(f"{path}: {rule}; see {_named(lines, again)}: drop these lines")


def _graph_lines(path: Path, well_formed: re.Pattern[str], expected: str) -> list[str]:
    lines = lines_of(path)
    check_lines(path, lines, well_formed, f"{expected} separated by a blank")
    return lines


def _named(lines: list[str], chosen: Iterable[int]) -> str:
    return quoted((n + 1, lines[n]) for n in chosen)
