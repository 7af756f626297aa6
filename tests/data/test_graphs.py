"""Graphs: edges and memberships are those published, whatever else a file holds is one error that says where."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.data import load_mag
from cofactor.data.registry import entries
from cofactor.data.separable import read_graph
from tests.each import each

EDGES = ["2\t1", "3\t1", "4\t3"]
SHARES = ["1 1 1", "2 1 0.333333", "2 2 0.666667", "3 2 1.000000", "4 1 .5", "4 2 0.5"]


def write(folder, edges=EDGES, shares=SHARES, end="\n"):
    paths = folder / "G_adjacency.txt", folder / "G_community.txt"
    for path, lines in zip(paths, (edges, shares), strict=True):
        path.write_bytes((end.join(lines) + end).encode())
    return paths


@pytest.mark.needs_mirror
@pytest.mark.parametrize("name", [f"dblp{i}" for i in range(1, 6)])
def test_edges_and_memberships_are_exactly_the_expected_ones(name):
    graph, entry = cf.load(name), entries()[name]
    expected = np.load(Path(os.environ["COFACTOR_MIRROR"]).parent / "expected" / f"{name}.npz")
    i, j = graph.adjacency.nonzero()
    found = np.stack([i, j], axis=1)[i < j]
    order = np.lexsort(expected["edges"].T[::-1])
    assert np.array_equal(found[np.lexsort(found.T[::-1])], expected["edges"][order])
    assert (graph.adjacency != graph.adjacency.T).nnz == 0 and np.all(graph.adjacency.data == 1)
    shares = np.zeros((expected["n_nodes"], expected["n_communities"]))
    shares[expected["node"], expected["community"]] = expected["weight"] / 1e6
    assert np.allclose(graph.memberships, shares, rtol=0, atol=1e-12)
    assert (*graph.memberships.shape, graph.adjacency.nnz // 2) == (entry.n_nodes, entry.n_communities, entry.n_edges)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_what_was_written(tmp_path, end):
    adjacency, shares = read_graph(*write(tmp_path, end=end))
    assert adjacency.toarray().tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]
    assert shares.tolist() == [[1, 0], [0.333333, 0.666667], [0, 1], [0.5, 0.5]]


@each(
    "line, message",
    [
        ("2\t2", r"joined to itself in line 4: '2\\t2'"),
        ("1\t2", r"once, in one direction; not so with line 4: '1\\t2'"),
        ("2\t1", r"once, in one direction; not so with line 4: '2\\t1'"),
        ("1.5\t2", r"whole numbers from 1, .* not so in line 4: '1.5\\t2'"),
        ("0\t2", "not so in line 4"),
        ("-1\t2", "not so in line 4"),
        ("a\tb", "not so in line 4"),
        ("1\t2\t1", "not so in line 4"),
        ("", "not so in line 4"),
        ("2\t3\r\x0b", "not so in line 4"),
        ("9" * 30 + "\t1", "not so in line 4"),
        ("5\t1", "has memberships of 4 nodes, .* has 5 nodes"),
    ],
)
def test_edges_that_are_none_are_named(tmp_path, line, message):
    with pytest.raises(CofactorError, match=message) as caught:
        read_graph(*write(tmp_path, edges=[*EDGES, line, "2\t3"]))
    assert "G_adjacency.txt" in str(caught.value)


@each(
    "shares, message",
    [
        ([*SHARES, "1 2 0.1"], "do not sum to one for nodes 1:"),
        (SHARES[1:], "do not sum to one for nodes 1:"),
        ([*SHARES[:3], "3 2 0.9", "4 1 .6", "4 2 0.5"], "do not sum to one for nodes 3, 4:"),
        ([*SHARES, "1 1 1"], "one share of a community; not so with line 7: '1 1 1'"),
        ([*SHARES, "1 2 -0.1"], "not so in line 7"),
        ([*SHARES, "1 2 2"], "not so in line 7"),
        ([*SHARES, "1 2 nan"], "not so in line 7"),
        ([*SHARES, "1 2"], "not so in line 7"),
        ([*SHARES, "1 2 1.0\r\x0b"], "not so in line 7"),
        ([*SHARES, "5 1 1.0"], "has memberships of 5 nodes, .* has 4 nodes"),
    ],
)
def test_memberships_that_are_none_are_named(tmp_path, shares, message):
    with pytest.raises(CofactorError, match=message) as caught:
        read_graph(*write(tmp_path, shares=shares))
    assert "G_community.txt" in str(caught.value)


@given(content=st.one_of(st.binary(max_size=60), st.text("0123456789\t\r\n .-e", max_size=60)))
def test_whatever_a_file_holds_only_cofactor_errors_escape(tmp_path_factory, content):
    edges, shares = write(tmp_path_factory.mktemp("graph"))
    edges.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        adjacency, _ = read_graph(edges, shares)
    except CofactorError as error:
        assert str(edges) in str(error)
    else:
        assert adjacency.shape == (4, 4) and adjacency.diagonal().sum() == 0


def test_mag_is_read_from_a_folder(tmp_path):
    with pytest.raises(CofactorError, match=r"holds no MAG2_adjacency\.txt and no MAG2_community\.txt: get them from"):
        load_mag(tmp_path, "MAG2")
    write(tmp_path)
    for part in ("adjacency", "community"):
        (tmp_path / f"G_{part}.txt").rename(tmp_path / f"MAG2_{part}.txt")
    graph = load_mag(tmp_path, "MAG2")
    assert repr(graph) == "GraphDataset('mag2', 4 nodes, 3 edges, 2 communities)" and "Mao" in graph.citation


def test_a_set_of_another_kind_is_refused():
    with pytest.raises(CofactorError, match="'tdt2' is a set of documents, a graph is needed: there are dblp1, dblp2"):
        cf.data.load("tdt2", "graph")
