"""Graphs: edges and memberships are those published, whatever else a file holds is one error that says where."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.data import TopicsDataset, load_mag
from cofactor.data.registry import entries
from cofactor.data.separable import read_documents, read_graph, topic_trials
from tests.each import each

EDGES = ["2\t1", "3\t1", "4\t3"]
SHARES = ["1 1 1", "2 1 0.333333", "2 2 0.666667", "3 2 1.000000", "4 1 .5", "4 2 0.5"]


def write(folder, edges=EDGES, shares=SHARES, end="\n"):
    paths = folder / "G_adjacency.txt", folder / "G_community.txt"
    for path, lines in zip(paths, (edges, shares), strict=True):
        path.write_bytes((end.join(lines) + end).encode())
    return paths


@pytest.mark.slow
@pytest.mark.needs_mirror
@each("name", [f"dblp{i}" for i in range(1, 6)])
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
        ("1\t2", r"once, in one direction; see line 4: '1\\t2'"),
        ("2\t1", r"once, in one direction; see line 4: '2\\t1'"),
        ("1.5\t2", r"whole numbers from 1, .* see line 4: '1.5\\t2'"),
        ("0\t2", "see line 4"),
        ("-1\t2", "see line 4"),
        ("a\tb", "see line 4"),
        ("1\t2\t1", "see line 4"),
        ("", "see line 4"),
        ("2\t3\r\x0b", "see line 4"),
        ("9" * 30 + "\t1", "see line 4"),
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
        ([*SHARES, "1 1 1"], "one membership per community; see line 7: '1 1 1'"),
        ([*SHARES, "1 2 -0.1"], "see line 7"),
        ([*SHARES, "1 2 2"], "see line 7"),
        ([*SHARES, "1 2 nan"], "see line 7"),
        ([*SHARES, "1 2"], "see line 7"),
        ([*SHARES, "1 2 1.0\r\x0b"], "see line 7"),
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
    with pytest.raises(CofactorError, match=r"does not contain MAG2_adjacency\.txt or MAG2_community\.txt: download"):
        load_mag(tmp_path, "MAG2")
    write(tmp_path)
    for part in ("adjacency", "community"):
        (tmp_path / f"G_{part}.txt").rename(tmp_path / f"MAG2_{part}.txt")
    graph = load_mag(tmp_path, "MAG2")
    assert repr(graph) == "GraphDataset('mag2', 4 nodes, 3 edges, 2 communities)" and "Mao" in graph.citation


# ---- documents ----


SETS = ["tdt2", "reuters21578"]


def expected(name):
    return Path(os.environ["COFACTOR_MIRROR"]).parent / "expected" / name


def small():
    counts = sparse.csr_array([[1, 0, 2, 0, 1], [1, 0, 0, 0, 3], [0, 0, 5, 1, 1], [0, 0, 0, 1, 0]])
    return TopicsDataset("made", "Four documents", counts, np.array([0, 0, 1, 2]), {2: [[0, 1], [2, 1]], 11: [[0]]})


@pytest.mark.needs_mirror
@each("name", SETS)
def test_counts_and_classes_are_exactly_the_expected_ones(name):
    data, parts = cf.load(name), np.load(expected(f"{name}.npz"))
    counts = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    assert (data.counts != counts).nnz == 0 and np.array_equal(data.truth, parts["labels"])
    entry = entries()[name]
    assert data.counts.shape == (entry.n_documents, entry.n_words) and len(np.unique(data.truth)) == entry.n_classes


@pytest.mark.needs_mirror
@each("name", SETS)
def test_trials_are_the_published_ones(name):
    published = json.loads(expected(f"{name}_class_subsets.json").read_text(encoding="utf8"))
    assert topic_trials(name) == {int(n_classes): trials for n_classes, trials in published.items()}


def test_a_trial_of_few_classes_drops_words_of_one_document():
    data = small()
    first = data.trial(2, 0)
    assert first.counts.toarray().tolist() == [[1, 2, 1], [1, 0, 3], [0, 5, 1]] and first.truth.tolist() == [0, 0, 1]
    assert data.trial(2, 1).counts.toarray().tolist() == [[1], [1]]
    assert data.trial(11, 0).counts.toarray().tolist() == [[1, 2, 1], [1, 0, 3]]


def test_what_there_is_not_is_named():
    with pytest.raises(CofactorError, match="no documents of classes 3, 7:"):
        small().only([0, 3, 7])
    with pytest.raises(CofactorError, match="no word is in 4 documents"):
        small().only([0, 1], min_documents=4)
    for trial in ((2, 2), (2, -1), (3, 0)):
        with pytest.raises(
            CofactorError, match=f"no trial {trial[1]} of {trial[0]} classes: there are 0 to 49 of 2, 11"
        ):
            small().trial(*trial)


SIGNALLING = np.array(0x7FF0000008000000).view(np.float64)[()]  # a NaN that arithmetic warns of


@each(
    "content, message",
    [
        ({"fea": np.ones((2, 3)), "gnd": [1, 1]}, r"expected \(3, 2\) counts"),
        ({"fea": np.ones((3, 2)), "gnd": [1, 1]}, r"expected \(3, 2\) counts"),
        ({"fea": np.ones((3, 2))}, "cannot be read as MATLAB arrays fea, gnd"),
        ({"fea": [[1, 1], [0, 0.5], [1, 1]], "gnd": [1, 2, 1]}, "see rows 1"),
        ({"fea": [[1, 1], [0, -1], [1, np.nan]], "gnd": [1, 2, 1]}, "see rows 1, 2"),
        ({"fea": np.ones((3, 2)), "gnd": [1, 0, 3]}, "see rows 1, 2"),
        ({"fea": np.ones((3, 2)), "gnd": [1, SIGNALLING, 1]}, "see rows 1"),
        ({"fea": [[1, 1], [SIGNALLING, 1], [1, 1]], "gnd": [1, 2, 1]}, "see rows 1"),
        ({"fea": np.ones((3, 2)) * 1j, "gnd": [1, 2, 1]}, "cannot be read as MATLAB arrays fea, gnd: complex numbers"),
    ],
)
def test_other_matrices_are_refused(tmp_path, content, message):
    path = tmp_path / "set.mat"
    savemat(path, content)
    with pytest.raises(CofactorError, match=message) as caught:
        read_documents(path, (3, 2), 2)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no matrix", bytes(200)])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "set.mat"
    path.write_bytes(content)
    with pytest.raises(CofactorError, match=r"set\.mat cannot be read"):
        read_documents(path, (3, 2), 2)


def test_an_unknown_type_of_numbers_is_refused_before_it_is_followed(tmp_path):
    """SciPy looks up the type of the numbers unchecked: zero in its place ends the process."""
    path = tmp_path / "set.mat"
    savemat(path, {"fea": np.ones((3, 2)), "gnd": np.ones((3, 1))})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"fea\x00\x09\x00\x00\x00", b"fea\x00\x00\x00\x00\x00", 1))
    assert path.read_bytes() != raw
    with pytest.raises(CofactorError, match=r"types .* instead of flags, shape, name and numbers"):
        read_documents(path, (3, 2), 2)
