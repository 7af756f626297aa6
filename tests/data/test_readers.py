"""Readers: what is well formed is read exactly, everything else is one error that says where."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.data.readers import read_codes, read_labels, read_truth
from tests.each import each

LIMITS = {"task": 9, "worker": 9, "label": 3}


def write(folder, content, name="set.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return one folder for all examples of a property."""
    return tmp_path_factory.mktemp("readers")


codes = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 2)), min_size=1)


@given(rows=codes, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_reads_back_what_was_written_from_one(folder, rows, end, last):
    text = end.join("\t".join(str(code + 1) for code in row) for row in rows) + end * last
    assert np.array_equal(read_codes(write(folder, text), "tsv", LIMITS), rows)


@given(rows=codes, packed=st.booleans())
def test_reads_back_csv_from_zero(folder, rows, packed):
    text = "task,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows)
    content, name = (gzip.compress(text.encode()), "a.csv.gz") if packed else (text, "a.csv")
    assert np.array_equal(read_codes(write(folder, content, name), "csv", LIMITS), rows)


@given(content=st.one_of(st.binary(max_size=60), st.text("0123456789\t\r\n,- .e", max_size=60)))
@pytest.mark.parametrize(("reader", "name"), [("tsv", "x.txt"), ("csv", "x.csv"), ("csv", "x.csv.gz"), ("items", "x")])
def test_whatever_a_file_holds_only_cofactor_errors_escape(folder, content, reader, name):
    path = write(folder, content, name)
    try:
        found = read_codes(path, reader, LIMITS)
    except CofactorError as error:
        assert str(path) in str(error)
    else:
        assert len(found) and (found >= 0).all() and (found < list(LIMITS.values())).all()


@given(tail=st.binary(max_size=60))
def test_packed_garbage_is_a_cofactor_error(folder, tail):
    packed = gzip.compress(b"task,worker,label\n0,0,0\n")
    with pytest.raises(CofactorError, match="cut"):
        read_codes(write(folder, packed[: len(packed) // 2] + tail, "cut.csv.gz"), "csv", LIMITS)


@each(
    "line, quoted",
    [
        ("1\t2", r"1\t2"),
        ("1\t2\t3\t4", r"1\t2\t3\t4"),
        ("1 2 3", "1 2 3"),
        ("1\tx\t1", r"1\tx\t1"),
        ("1\t1.5\t1", r"1\t1.5\t1"),
        ("0\t1\t1", r"0\t1\t1"),
        ("1\t-1\t1", r"1\t-1\t1"),
        ("1\t\t1", r"1\t\t1"),
        ("", ""),
        ("1\t1\t٣", r"1\t1\t٣"),
        ("9" * 25 + "\t1\t1", "9" * 25 + r"\t1\t1"),
        ("1\t1\t4", r"1\t1\t4"),
        ("10\t1\t1", r"10\t1\t1"),
    ],
)
def test_names_file_line_and_what_stands_there(tmp_path, line, quoted):
    path = write(tmp_path, f"1\t1\t1\n{line}\n2\t2\t2\n")
    with pytest.raises(CofactorError) as caught:
        read_codes(path, "tsv", LIMITS)
    assert str(path) in str(caught.value)
    assert f"line 2: '{quoted}'" in str(caught.value)
    assert "line 1:" not in str(caught.value) and "line 3:" not in str(caught.value)


def test_counts_the_header_as_a_line(tmp_path):
    path = write(tmp_path, "task,worker,label\n0,0,0\n0,1,3\n")
    with pytest.raises(CofactorError, match="line 3: '0,1,3'"):
        read_codes(path, "csv", LIMITS)


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n"])
def test_empty_file(tmp_path, content):
    with pytest.raises(CofactorError, match="line 1: the file ends here"):
        read_codes(write(tmp_path, content), "tsv", LIMITS)


def test_header_without_rows(tmp_path):
    with pytest.raises(CofactorError, match="line 2: the file ends here"):
        read_codes(write(tmp_path, "task,worker,label\n"), "csv", LIMITS)


def test_other_header(tmp_path):
    with pytest.raises(CofactorError, match=r"line 1: expected the header .*'task,label'"):
        read_codes(write(tmp_path, "task,label\n0,0\n"), "csv", LIMITS)


def test_each_format_calls_tasks_its_own_way(tmp_path):
    tasks, items = (write(tmp_path, f"{name},worker,label\n3,1,2\n", name) for name in ("task", "item"))
    assert read_codes(items, "items", LIMITS).tolist() == read_codes(tasks, "csv", LIMITS).tolist() == [[3, 1, 2]]
    for path, reader in ((items, "csv"), (tasks, "items")):
        with pytest.raises(CofactorError, match=r"line 1: expected the header"):
            read_codes(path, reader, LIMITS)


@given(rows=codes)
def test_of_labels_given_again_the_last_counts(folder, rows):
    text = "item,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows)
    last = {(t, w): k for t, w, k in rows}
    found = read_labels(write(folder, text), "items", 9, 9, 3)
    assert len(found) == len(last) and {(t, w): k for t, w, k in found.tolist()} == last


def test_labels_stay_in_the_order_of_the_file(tmp_path):
    path = write(tmp_path, "item,worker,label\n5,1,0\n2,1,1\n5,1,2\n0,3,1\n")
    assert read_labels(path, "items", 9, 9, 3).tolist() == [[2, 1, 1], [5, 1, 2], [0, 3, 1]]


def test_bytes_that_are_not_text_are_named_by_line(tmp_path):
    with pytest.raises(CofactorError, match=r"set\.txt, line 2: not text \(byte 0xff\)"):
        read_codes(write(tmp_path, b"1\t1\t1\n1\t\xff\t1\n"), "tsv", LIMITS)


def test_missing_file(tmp_path):
    with pytest.raises(CofactorError, match=r"gone\.txt cannot be read"):
        read_codes(tmp_path / "gone.txt", "tsv", LIMITS)


def test_truth_repeated_rows_count_once_and_unknown_tasks_are_minus_one(tmp_path):
    path = write(tmp_path, "3\t2\n1\t1\n3\t2\n")
    assert read_truth(path, "tsv", 4, 2).tolist() == [0, -1, 1, -1]


def test_truth_that_contradicts_itself_names_the_tasks_as_written(tmp_path):
    path = write(tmp_path, "3\t2\n1\t1\n3\t1\n2\t1\n1\t2\n1\t1\n")
    with pytest.raises(CofactorError, match="more than one true class for tasks 1, 3:"):
        read_truth(path, "tsv", 4, 2)
