"""Readers: what is well formed is read exactly, everything else is one error that says where."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.data.readers import read_codes, read_features, read_labels, read_table, read_truth
from cofactor.data.registry import NUMBER
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


@pytest.mark.slow
@given(rows=codes, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_reads_back_what_was_written_from_one(folder, rows, end, last):
    text = end.join("\t".join(str(code + 1) for code in row) for row in rows) + end * last
    assert np.array_equal(read_codes(write(folder, text), "tsv", LIMITS), rows)


@pytest.mark.slow
@given(rows=codes, packed=st.booleans())
def test_reads_back_csv_from_zero(folder, rows, packed):
    text = "task,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows)
    content, name = (gzip.compress(text.encode()), "a.csv.gz") if packed else (text, "a.csv")
    assert np.array_equal(read_codes(write(folder, content, name), "csv", LIMITS), rows)


@pytest.mark.slow
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


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n"])
def test_empty_file(tmp_path, content):
    with pytest.raises(CofactorError, match="line 1: the file ends here"):
        read_codes(write(tmp_path, content), "tsv", LIMITS)


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


def test_bytes_that_are_not_text_are_named_by_line(tmp_path):
    with pytest.raises(CofactorError, match=r"set\.txt, line 2: not text \(byte 0xff\)"):
        read_codes(write(tmp_path, b"1\t1\t1\n1\t\xff\t1\n"), "tsv", LIMITS)


def test_truth_repeated_rows_count_once_and_unknown_tasks_are_minus_one(tmp_path):
    path = write(tmp_path, "3\t2\n1\t1\n3\t2\n")
    assert read_truth(path, "tsv", 4, 2).tolist() == [0, -1, 1, -1]


def test_truth_that_contradicts_itself_names_the_tasks_as_written(tmp_path):
    path = write(tmp_path, "3\t2\n1\t1\n3\t1\n2\t1\n1\t2\n1\t1\n")
    with pytest.raises(CofactorError, match="more than one true class for tasks 1, 3:"):
        read_truth(path, "tsv", 4, 2)


# ---- tables of columns, and the formats of LabelMe ----


COLUMNS = {"size": ["low", "mid", "high"], "weight": NUMBER, "class": ["no", "yes"]}


cells = st.tuples(
    st.sampled_from(["low", "mid", "high", "?"]),
    st.sampled_from(["0", "2.5", "10", "?"]),
    st.sampled_from(["no", "yes"]),
)


@given(rows=st.lists(cells, min_size=1), blank=st.sampled_from(["", " "]), end=st.sampled_from(["\n", "\r\n"]))
def test_reads_back_what_was_written(folder, rows, blank, end):
    text = end.join(f",{blank}".join(row) for row in rows) + end
    columns = read_table(write(folder, text), "commas", COLUMNS, "class")
    for n, column in enumerate(columns):
        assert [[*column.values, "?"][code] for code in column.codes] == [row[n] for row in rows]


def test_codes_follow_the_registered_order_and_the_size_of_numbers(tmp_path):
    path = write(tmp_path, "high 10 yes\nlow 2.5 no\nmid 9 no\n")
    size, weight, target = read_table(path, "blanks", COLUMNS, "class")
    assert size.codes.tolist() == [2, 0, 1]
    assert (weight.codes.tolist(), weight.values) == ([2, 0, 1], ["2.5", "9", "10"])
    assert target.codes.tolist() == [1, 0, 0]


def test_a_header_must_name_the_columns(tmp_path):
    size, weight, target = read_table(write(tmp_path, "size,weight,class\nmid,10,?\n"), "csv", COLUMNS, "class")
    assert (size.codes.tolist(), weight.values, target.codes.tolist()) == ([1], ["10"], [-1])
    with pytest.raises(
        CofactorError, match="line 1: expected the columns size, weight, class; got size, class, weight"
    ):
        read_table(write(tmp_path, "size,class,weight\nmid,no,10\n"), "csv", COLUMNS, "class")


def test_codes_are_positions_in_the_registered_order(tmp_path):
    columns = {"vote": ["n", "y"], "class": ["whig", "tory"]}
    vote, target = read_table(write(tmp_path, "2,1\n0,0\n1,1\n"), "codes", columns, "class")
    assert (vote.codes.tolist(), vote.values) == ([-1, 0, 1], ["n", "y"])
    assert target.codes.tolist() == [1, 0, 1]
    with pytest.raises(CofactorError, match="expected positions 0 to 2; see line 2: '3'"):
        read_table(write(tmp_path, "0,0\n3,0\n"), "codes", columns, "class")


def test_positions_are_those_of_the_sorted_values(tmp_path):
    columns = {"a1": ["x", "o", "b"], "class": ["win", "loss", "draw"]}
    field, target = read_table(write(tmp_path, "a1\ttarget\n0\t2\n2\t0\n"), "pmlb", columns, "class")
    assert [field.values[code] for code in field.codes] == ["b", "x"]
    assert [target.values[code] for code in target.codes] == ["win", "draw"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("low,1", "expected 3 values"),
        ("low,1,no,no", "expected 3 values"),
        ("huge,1,no", "expected values of column 'size'"),
        ("low,one,no", "expected values of column 'weight'"),
        ("low,1.2.3,no", "expected values of column 'weight'"),
        ("low,,no", "expected values of column 'weight'"),
        ("low,1,maybe", "expected values of column 'class'"),
    ],
)
def test_names_file_line_and_what_stands_there_tabular(tmp_path, line, message):
    path = write(tmp_path, f"low,1,no\n{line}\nhigh,2,yes\n")
    with pytest.raises(CofactorError, match=message) as caught:
        read_table(path, "commas", COLUMNS, "class")
    assert str(path) in str(caught.value)
    assert "line 2:" in str(caught.value) and "line 1:" not in str(caught.value) and "line 3:" not in str(caught.value)


def test_other_header_and_positions_out_of_range(tmp_path):
    columns = {"a1": ["x", "o"], "class": ["win", "loss"]}
    with pytest.raises(CofactorError, match="line 1: expected the columns a1, target; got a1, class"):
        read_table(write(tmp_path, "a1\tclass\n0\t1\n"), "pmlb", columns, "class")
    with pytest.raises(CofactorError, match="expected positions 0 to 1; see line 3: '2'"):
        read_table(write(tmp_path, "a1\ttarget\n0\t1\n2\t1\n"), "pmlb", columns, "class")


# ---- the formats of LabelMe ----


@given(codes=st.lists(st.tuples(*[st.integers(-1, 2)] * 4), min_size=1, max_size=6))
def test_matrix_of_labels(folder, codes):
    path = write(folder, "\n".join(" ".join(map(str, row)) for row in codes) + "\n")
    dense = np.full((len(codes), 4), -1)
    task, worker, label = read_labels(path, "matrix", len(codes), 4, 3).T
    dense[task, worker] = label
    assert np.array_equal(dense, codes)


@pytest.mark.parametrize("line", ["0 1", "0 1 2 3", "0 3 1", "0 x 1", "0 -2 1", "0  1 1"])
def test_matrix_names_the_line(tmp_path, line):
    path = write(tmp_path, f"0 1 -1\n{line}\n2 2 2\n")
    with pytest.raises(CofactorError, match=r"expected 3 codes below 3 per line; see line 2: "):
        read_labels(path, "matrix", 3, 3, 3)


def test_one_class_a_line(tmp_path):
    assert read_truth(write(tmp_path, "2\n0\n1\n"), "classes", 3, 3).tolist() == [2, 0, 1]
    with pytest.raises(CofactorError, match="expected one line for each of the 4 tasks, got 3 lines"):
        read_truth(write(tmp_path, "2\n0\n1\n"), "classes", 4, 3)
    with pytest.raises(CofactorError, match="line 2: '-1'"):
        read_truth(write(tmp_path, "2\n-1\n1\n"), "classes", 3, 3)


def test_features_are_two_dimensional_finite_float32(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.ones((3, 2), dtype=np.float32))
    assert read_features(path).shape == (3, 2)
    for wrong in (np.ones(3, dtype=np.float32), np.ones((3, 2))):
        np.save(path, wrong)
        with pytest.raises(CofactorError, match="two-dimensional array of float32"):
            read_features(path)
    np.save(path, np.array([[0, 1], [np.nan, 1]], dtype=np.float32))
    with pytest.raises(CofactorError, match="NaN or infinity in rows 1"):
        read_features(path)
    for content in (b"", b"PK\x03\x04", b"<html>", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(CofactorError, match="cannot be read as a NumPy array"):
            read_features(path)
