"""Files that were made to do harm, or came to harm, are refused before anything is done with them."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pytest

from cofactor.core import files
from cofactor.core.errors import CofactorError
from cofactor.core.files import load_arrays, unpacked
from cofactor.core.frames import read_frame
from cofactor.core.moments import PairwiseMoments, broken_moments, pairwise_moments
from cofactor.core.tables import CategoricalTable

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def arrays():
    return pairwise_moments(CategoricalTable([[0, 1, 1], [1, 1, 0], [0, 0, -1]])).arrays()


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"labels.csv.{suffix}"
    path.write_bytes(PACKERS[suffix](b"0,0,0\n" * 100_000))
    assert len(unpacked(path)) == 600_000  # small enough all the same
    monkeypatch.setattr(files, "LARGE", 1000)
    with pytest.raises(CofactorError, match=r"labels\.csv\.\w+ unpacks to more than \d+ bytes"):
        unpacked(path)


def test_an_archive_of_two_files_names_them(tmp_path):
    path = tmp_path / "labels.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "task")
        archive.writestr("b.csv", "task")
    with pytest.raises(CofactorError, match=r"holds 2 files \(a\.csv, b\.csv\)"):
        unpacked(path)


def test_thousands_of_columns_are_no_work(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("task,worker,label" + "," * 3000 + "\na,b,c\n")
    assert read_frame(path, ["task", "label"]).to_numpy().tolist() == [["a", "c"]]


def test_arrays_are_not_unpickled_nor_unpacked(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array([1, "b"], dtype=object))
    with pytest.raises(CofactorError, match=r"a\.npz is no file of numbers: .*allow_pickle=False"):
        load_arrays(path, ["a"], "file of numbers")
    np.savez_compressed(path, a=np.zeros(9))
    with pytest.raises(CofactorError, match="are compressed"):
        load_arrays(path, ["a"], "file of numbers")


def test_sound_moments_have_no_problem(arrays):
    assert broken_moments(arrays) == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"columns": lambda a: a + 100}, "pairs that are none"),  # beyond the table: compiled code would follow
        ({"columns": lambda a: np.zeros_like(a)}, "pairs that are none"),
        ({"starts": lambda a: a[:-1]}, "rows do not fit"),
        ({"starts": lambda a: a[::-1]}, "rows do not fit"),
        ({"counts": lambda a: a.astype(np.int64) - 9}, "counts must be 0"),
        ({"counts": lambda a: a[:-1]}, "rows do not fit"),
        ({"counts": lambda a: a * 0.5}, "whole numbers"),
        ({"singles": lambda a: a[:, None]}, "other dimensions"),
        ({"sizes": lambda a: a + 1}, "alphabets"),
        ({"n_rows": lambda a: a[None]}, "other dimensions"),
    ],
)
def test_broken_moments_are_told(arrays, change, problem):
    changed = arrays | {name: how(arrays[name]) for name, how in change.items()}
    assert problem in broken_moments(changed)


def test_moments_written_with_other_whole_numbers_are_the_same(arrays):
    wide = {name: array.astype(np.uint64) for name, array in arrays.items()}
    assert broken_moments(wide) == ""
    again, first = PairwiseMoments.from_arrays([wide]), PairwiseMoments.from_arrays([arrays])
    assert np.array_equal(again.n_joint.toarray(), first.n_joint.toarray())


def test_an_archive_of_other_things_than_arrays_is_refused(tmp_path):
    path = tmp_path / "moments.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sizes", b"no array")
    with pytest.raises(CofactorError, match=r"moments\.npz is no file of moments: not all .* are arrays"):
        load_arrays(path, ["sizes"], "file of moments")
