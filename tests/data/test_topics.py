"""Sets of documents: counts, classes and trials are those published, whatever else is one error that says where."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.data import TopicsDataset
from cofactor.data.registry import entries
from cofactor.data.separable import read_documents, topic_trials
from tests.each import each

SETS = ["tdt2", "reuters21578"]


def expected(name):
    return Path(os.environ["COFACTOR_MIRROR"]).parent / "expected" / name


def small():
    counts = sparse.csr_array([[1, 0, 2, 0, 1], [1, 0, 0, 0, 3], [0, 0, 5, 1, 1], [0, 0, 0, 1, 0]])
    return TopicsDataset("made", "Four documents", counts, np.array([0, 0, 1, 2]), {2: [[0, 1], [2, 1]], 11: [[0]]})


@pytest.mark.needs_mirror
@pytest.mark.parametrize("name", SETS)
def test_counts_and_classes_are_exactly_the_expected_ones(name):
    data, parts = cf.load(name), np.load(expected(f"{name}.npz"))
    counts = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    assert (data.counts != counts).nnz == 0 and np.array_equal(data.truth, parts["labels"])
    entry = entries()[name]
    assert data.counts.shape == (entry.n_documents, entry.n_words) and len(np.unique(data.truth)) == entry.n_classes


@pytest.mark.needs_mirror
@pytest.mark.parametrize("name", SETS)
def test_trials_are_the_published_ones(name):
    published = json.loads(expected(f"{name}_class_subsets.json").read_text(encoding="utf8"))
    assert topic_trials(name) == {int(n_classes): trials for n_classes, trials in published.items()}


@pytest.mark.needs_mirror
def test_a_published_trial_has_the_words_and_documents_of_the_paper():
    trial = cf.load("tdt2").trial(3, 0)
    assert np.unique(trial.truth).tolist() == sorted(topic_trials("tdt2")[3][0])
    assert np.bincount(trial.counts.indices).min() >= 2  # no word in one document only
    assert cf.load("reuters21578").trial(15, 49).counts.sum(axis=0).min() > 0


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
        with pytest.raises(CofactorError, match=f"no trial {trial[1]} of {trial[0]} classes: classes 2, 11"):
            small().trial(*trial)


def test_a_set_of_another_kind_is_refused():
    with pytest.raises(CofactorError, match="'votes' is a table, a set of documents is needed: there are tdt2"):
        cf.data.load("votes", "topics")


SIGNALLING = np.array(0x7FF0000008000000).view(np.float64)[()]  # a NaN that arithmetic warns of


@each(
    "content, message",
    [
        ({"fea": np.ones((2, 3)), "gnd": [1, 1]}, r"expected \(3, 2\) counts"),
        ({"fea": np.ones((3, 2)), "gnd": [1, 1]}, r"expected \(3, 2\) counts"),
        ({"fea": np.ones((3, 2))}, "cannot be read as MATLAB arrays fea, gnd"),
        ({"fea": [[1, 1], [0, 0.5], [1, 1]], "gnd": [1, 2, 1]}, "not so in rows 1"),
        ({"fea": [[1, 1], [0, -1], [1, np.nan]], "gnd": [1, 2, 1]}, "not so in rows 1, 2"),
        ({"fea": np.ones((3, 2)), "gnd": [1, 0, 3]}, "not so in rows 1, 2"),
        ({"fea": np.ones((3, 2)), "gnd": [1, SIGNALLING, 1]}, "not so in rows 1"),
        ({"fea": [[1, 1], [SIGNALLING, 1], [1, 1]], "gnd": [1, 2, 1]}, "not so in rows 1"),
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
    with pytest.raises(CofactorError, match=r"types .* in place of flags, shape, name and numbers"):
        read_documents(path, (3, 2), 2)
