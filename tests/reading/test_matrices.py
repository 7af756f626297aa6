"""Matrices from files: what names rows and points, a first line that is data, what is refused in words."""

import codecs
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.reading.matrices import matrix_of, read_matrix

NUMBERS = [f"0.{n},{n % 3}.5,{n % 4},{n % 5}" for n in (7, 1, 4, 9, 11, 2)]  # rows under the header a,b,c,d


@pytest.mark.parametrize(
    ("header", "rows", "shape", "names", "notes"),
    [
        ("id,a,b,c,d", [f"{n},{row}" for n, row in zip((3, 5, 1, 0, 2, 4), NUMBERS, strict=True)], (6, 4), "351024", 1),
        (
            "index,a,b,c,d",
            [f"{n},{row}" for n, row in zip((0, 1, 2, 0, 1, 2), NUMBERS, strict=True)],
            (6, 4),
            "012012",
            1,
        ),
        (",a,b,c,d", [f"{n},{row}" for n, row in zip((0, 1, 2, 0, 1, 2), NUMBERS, strict=True)], (6, 4), "012012", 1),
        (",id,a,b,c,d", [f"{n},{9 - n},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "987654", 2),
        ("id,name,a,b,c,d", [f"{n},{'xyzuvw'[n]},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "xyzuvw", 1),
        ("name,a,b,c,d", [f"{n}{'b' * (n == 2)},{row}" for n, row in enumerate(NUMBERS)], (6, 4), "012b345", 0),
        ("a,b,c,d,id", [f"{row},{n}" for n, row in enumerate(NUMBERS)], (6, 5), None, 1),
        ("0.3,0.1,0.2,0.4", NUMBERS, (7, 4), None, 0),
        ("400,410,420,430", NUMBERS, (6, 4), None, 0),
    ],
)
def test_columns_that_count_or_name_rows_are_no_data_and_said(tmp_path, header, rows, shape, names, notes, recwarn):
    (tmp_path / "x.csv").write_text("\n".join([header, *rows]) + "\n")
    matrix, found, _ = read_matrix(tmp_path / "x.csv")
    assert matrix.shape == shape and (found is None if names is None else "".join(found) == names)
    said = [str(one.message) for one in recwarn]
    assert len(said) == notes and all(re.search("if it numbers|not used as data", one) for one in said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*NUMBERS, "1+2j,1,1,1"], "cells that are not numbers in row 8 .*, columns a: fill"),
        ([*NUMBERS, "x,y,1,1"], "cells that are not numbers in row 8 .*, columns a, b: fill"),
        ([*NUMBERS, ",1,1,1"], "gaps in row 8 .*, columns a: fill"),
        ([*NUMBERS, "NA,1,1,1"], "gaps in row 8 .*, columns a: fill"),
        ([f"true,{row.partition(',')[2]}" for row in NUMBERS], "columns a hold only text"),
        ([*NUMBERS[:2], *["50%,20%,1%,3%"] * 4], "are not numbers in rows 4, 5, 6 and 7"),
    ],
)
def test_some_cells_of_a_first_column_that_are_no_numbers_do_not_make_it_names(tmp_path, rows, said):
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    with pytest.raises(CofactorError, match=said):
        read_matrix(tmp_path / "x.csv")


def test_decimal_commas_in_matrix_market_are_refused_with_their_line(tmp_path):
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n% a, b\n2 2 2\n1 1 1\n2 2 2,5\n")
    with pytest.raises(
        CofactorError, match=r"x\.mtx: line 5 contains a comma, after which SciPy reads nothing: write decimals"
    ):
        read_matrix(tmp_path / "x.mtx")


def test_a_matrix_is_the_same_from_every_form(tmp_path):
    X = np.random.default_rng(0).random((6, 9)).round(4)
    frame = pd.DataFrame(X, columns=[f"p{n}" for n in range(9)], index=[f"band {m}" for m in range(6)])
    frame.to_csv(tmp_path / "a.csv", index_label="band")
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    np.savez(tmp_path / "a.npz", X=X)
    np.savez(tmp_path / "two.npz", A=X, B=np.eye(3))
    names = np.array([*"abc"], dtype=object)
    np.savez(tmp_path / "named.npz", X=X, names=names, words=names.astype(str), first=X[0], size=len(X))
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_matrix(X))
    scipy_io.mmwrite(tmp_path / "a.mtx", sparse.coo_matrix(X))
    (tmp_path / "bom.mtx").write_bytes(codecs.BOM_UTF8 + (tmp_path / "a.mtx").read_bytes())
    np.save(tmp_path / "a.npy", X)
    scipy_io.savemat(tmp_path / "a.mat", {"Y": X, "nRow": 3, "wavelengths": np.arange(6), "about": {"camera": "x"}})
    scipy_io.savemat(tmp_path / "two.mat", {"A": X, "B": np.eye(3)})
    np.savetxt(tmp_path / "plain.csv", X, delimiter=",", fmt="%.4f")
    every = (
        "a.csv",
        "a.parquet",
        "a.npz",
        "two.npz:A",
        "named.npz",
        "sparse.npz",
        "a.mtx",
        "bom.mtx",
        "a.npy",
        "a.mat",
        "two.mat:A",
    )
    for name in every:
        found = read_matrix(tmp_path / name)[0]
        assert np.allclose(found.toarray() if sparse.issparse(found) else found, X), name
    assert read_matrix(tmp_path / "a.csv")[1:] == (list(frame.index), list(frame.columns))
    assert matrix_of(frame)[1:] == (list(frame.index), list(frame.columns))


def test_a_first_line_of_numbers_is_data_unless_it_alone_rises_or_falls(tmp_path):
    rows = [[5, 1, 4], [2, 9, 3], [7, 7, 7]]
    for first, others, is_data in (
        ([3, 1, 2], rows, True),
        ([1, 1, 1], rows, True),  # names would be there twice
        ([400, 410, 420], rows, False),
        ([420, 410, 400], rows, False),
        ([400, 410, 420], [*rows, [1, 2, 3]], True),  # as another row does
    ):
        lines = [first, *others]
        (tmp_path / "x.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
        matrix, _, columns = read_matrix(tmp_path / "x.csv")
        assert matrix.tolist() == (lines if is_data else others), first
        assert columns == (["0", "1", "2"] if is_data else list(map(str, first)))


def test_a_first_line_of_numbers_and_gaps_is_data_unless_it_can_be_a_header(tmp_path):
    rows = "0.5,0.9,0.3,0.8\n0.7,0.7,0.1,0.2\n0.2,0.4,0.3,0.5\n"
    for first in (",0.4,0.2,0.6", "0.3,,0.2,0.6", ",400,410,420", ",7,3,5", ",x,y,z"):
        (tmp_path / "x.csv").write_text(f"{first}\n{rows}")
        if "0." in first:
            with pytest.raises(CofactorError, match="gaps in line 1, "):
                read_matrix(tmp_path / "x.csv")
        else:
            assert len(read_matrix(tmp_path / "x.csv")[0]) == 3, first


def test_numbers_with_blanks_between_are_as_many_columns(tmp_path):
    X = np.random.default_rng(0).random((4, 5))
    for form, first in (("%.18e", X), ("%8.4f", X.round(4))):
        np.savetxt(tmp_path / "x.txt", X, fmt=form)
        assert np.allclose(read_matrix(tmp_path / "x.txt")[0], first, rtol=1e-15, atol=0)
    (tmp_path / "x.txt").write_text("a b c\n.5 .1 .4\n.2 .9 .3\n")
    matrix, _, columns = read_matrix(tmp_path / "x.txt")
    assert matrix.tolist() == [[0.5, 0.1, 0.4], [0.2, 0.9, 0.3]] and columns == ["a", "b", "c"]
    (tmp_path / "x.txt").write_text(".5 .1 .4\n.2 .9\n.2 .9 .3\n")
    with pytest.raises(CofactorError, match="3 cells per row are expected, as in the first line; see line 2"):
        read_matrix(tmp_path / "x.txt")


def test_points_between_thousands_are_read_by_the_other_columns_or_doubted(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b;c\n5.969;1,5;7\n858;2,5;8\n1.001;3,5;9\n")
    with pytest.warns(DataWarning) as told:
        assert read_matrix(path)[0].tolist() == [[5969, 1.5, 7], [858, 2.5, 8], [1001, 3.5, 9]]
    said = [str(one.message).split("numbers ")[1] for one in told]
    assert said == ["with '.' between thousands: a", "with a decimal comma: b"]
    path.write_text("a;b;c\n5.969;1;7\n858;2;8\n1.001;3;9\n")
    with pytest.warns(DataWarning, match="a: numbers such as '5.969' are read as decimals, but may be thousands"):
        assert read_matrix(path)[0].tolist() == [[5.969, 1, 7], [858, 2, 8], [1.001, 3, 9]]


def test_gaps_are_refused_kept_as_whole_lines_or_kept(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n3,,4\n1,,5\n2,,x\n")
    with pytest.raises(CofactorError, match=r"gaps in rows 2, 3 and 4 .*, columns b: fill"):
        read_matrix(path)
    with pytest.raises(CofactorError, match=r"not numbers in row 4 .*, columns c: fill"):
        read_matrix(path, gaps="whole")
    with pytest.warns(match="left out 1 cell .empty or not a number. in row 4"):
        assert np.isnan(read_matrix(path, gaps="keep")[0]).tolist() == [[0, 1, 0], [0, 1, 0], [0, 1, 1]]
    path.write_text("a,b,c,d\n3,NA,4,5\nNA,NA,NA,NA\n2,NA,6,7\n")
    for gaps in ("whole", "keep"):
        assert np.isnan(read_matrix(path, gaps=gaps)[0]).tolist() == [[0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]]


def test_whole_numbers_in_unequal_steps_in_a_first_column_are_never_a_point_in_silence(tmp_path):
    out, kept = "numbers or names the rows, so it is not used as data", "distinct numbers, used as data: remove it"
    for name in ("", "id", "Nr", "sample", "Time (s)", "a", "counts"):
        for numbers in ([1, 2, 4, 9, 11], [30, 20, 12, 5, 1]):
            rows = "".join(f"{n},{n % 3},{n % 4},{n % 5}\n" for n in numbers)
            (tmp_path / "x.csv").write_text(f"{name},b,c,d\n{rows}")
            with pytest.warns(match=kept if name in ("a", "counts") else out):
                read_matrix(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("a,b,c\n" + "".join(f"{n},{n % 3},{n % 4}\n" for n in (1, 2, 4, 4, 9, 11)))
    read_matrix(tmp_path / "x.csv")


WRONG = {  # name of the file, what it holds, what is said
    "a gap": ("a.csv", "a,b\n1,2\n3,\n", "gaps in row 3 (counting the header line), columns b"),
    "text among numbers": ("a.csv", "a,b\n1,2\n3,x\n", "not numbers in row 3 (counting the header line), columns b"),
    "a column of text": ("a.csv", "a,b,c\n1,2,x\n3,5,y\n", "columns c hold only text: remove them"),
    "infinity": ("a.csv", "a,b\n1,inf\n3,4\n", "not numbers in row 2 (counting the header line), columns b"),
    "no archive": ("a.npz", b"nope", "cannot be read as a matrix"),
    "two arrays": ("a.npz", {"a": np.eye(2), "b": np.eye(2)}, "holds 2 matrices (a, b): choose one, as in"),
    "another of two": ("a.npz:c", {"a": np.eye(2), "b": np.eye(2)}, "holds no matrix c: choose one of a, b"),
    "objects": ("a.npz", {"a": np.array([[1, "x"]], dtype=object)}, "cannot be read as a matrix"),
    "a vector": ("a.npz", {"a": np.ones(3)}, "or an image (rows x columns x bands), got float64 of shape (3,)"),
    "vectors": ("a.npz", {"a": np.ones(3), "b": 2.0}, "holds no matrix: a, b are single rows, columns or numbers"),
    "a new .mat": (
        "a.mat", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x00" * 384 + b"\x89HDF", "with save(..., '-v7')"
    ),
    "a picture": ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(99), "is a picture: pass a table, or the pixels"),
    "a photograph": ("a.jpg", b"\xff\xd8\xff\xe0" + bytes(99), "is a picture: pass a table, or the pixels"),
    "nothing": ("a.csv", "", "is empty: expected a header row and one row per band"),
    "one line": ("a.csv", "1,2,3\n", "no bands: the only line of the table is read as its header"),
    "a header": ("a.csv", "a,b,3\n", "no bands: the table has a header but no rows"),
    "fractions as places": (
        "a.npz",
        {"format": np.array(b"csc"), "data": np.ones(3), "indices": np.array([0, 1, 1.5]), "indptr": np.arange(4),
         "shape": np.array([3, 3])},
        "indices must hold whole numbers",
    ),
    "places outside": (
        "a.npz",
        {"format": np.array(b"csc"), "data": np.ones(3), "indices": np.array([0, 1, 9]), "indptr": np.arange(4),
         "shape": np.array([3, 3])},
        "entries outside the matrix",
    ),
    "a claim": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 1000000000000000 1\n1 1 1\n",
        "declares a 3 x 1000000000000000 matrix with 1 entries",
    ),
}  # fmt: skip


def test_what_holds_no_matrix_is_refused_in_words(tmp_path):
    for case, (name, content, said) in WRONG.items():
        path = tmp_path / name.partition(":")[0]
        if isinstance(content, dict):
            np.savez(path, **content)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(CofactorError, match=re.escape(said)):
            read_matrix(tmp_path / name)
            pytest.fail(case)
    scipy_io.savemat(tmp_path / "none.mat", {"a": np.ones((1, 3)), "b": 2.0})
    scipy_io.savemat(tmp_path / "cell.mat", {"a": np.array([np.eye(2), np.eye(3)], dtype=object)})
    np.savez_compressed(tmp_path / "bomb.npz", np.zeros((2000, 2000)))
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("a.txt", "hello")
    for name, said in {
        "none.mat": "holds no matrix: a, b are single rows, columns or numbers",
        "cell.mat": "holds no array of numbers: save the matrix by itself, not in a cell or a struct",
        "bomb.npz": "more than 200 times its size",
        "other.npz": "holds no array: save it with numpy.savez",
        "three.mat:A": "no such file: ",
    }.items():
        with pytest.raises(CofactorError, match=re.escape(said)):
            read_matrix(tmp_path / name)


def test_a_frame_has_columns_of_numbers(tmp_path):
    frame = pd.DataFrame({"name": ["x", "y"], "a": [1.0, np.nan], "b": [3, 4]})
    matrix, rows, columns = matrix_of(frame)
    assert rows == ["x", "y"] and columns == ["a", "b"] and np.isnan(matrix[1, 0])
    with pytest.raises(CofactorError, match="columns b hold cells that are not numbers"):
        matrix_of(frame.assign(b=["1", "many"]))


def test_a_matrix_market_file_that_was_cut_off_is_read_or_refused(tmp_path):
    """SciPy alone reads beyond the end of a last line without its line break."""
    head = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 1\n"
    for last, said in {
        "2 4 2 ": "",
        "2 4 2\r": "",
        "2 4 2Na": "line 4 contains something other than numbers",
        "2 4 1.5.5": "line 4",
    }.items():
        (tmp_path / "m.mtx").write_text(head + last, newline="")
        if said:
            with pytest.raises(CofactorError, match=said):
                read_matrix(tmp_path / "m.mtx")
        else:
            assert read_matrix(tmp_path / "m.mtx")[0].sum() == 3


def test_a_last_row_or_column_of_sums_is_named(tmp_path):
    X = np.random.default_rng(0).random((6, 5)).round(3)
    table = pd.DataFrame(X, index=[*"abcdef"], columns=[*"pqrst"])
    below, beside = pd.concat([table, table.sum().to_frame("All").T]), table.assign(All=table.sum(axis=1))
    holes = table.mask(np.eye(6, 5) > 0)
    for frame, said in (
        (below, "the last row ('All') holds the sums of the rows above it: remove it"),
        (pd.concat([holes, holes.sum().to_frame("All").T]), "the last row ('All') holds the sums of the rows above it"),
        (beside, "the last column ('All') holds the sums of the columns before it: remove it"),
    ):
        with pytest.warns(DataWarning, match=re.escape(said)):
            assert matrix_of(frame)[0].shape == frame.shape
    below.to_csv(tmp_path / "x.csv")
    with pytest.warns(DataWarning, match="the last row .'All'. holds the sums"):
        read_matrix(tmp_path / "x.csv")
    matrix_of(below * 1.01 + 0.1)  # no sums
    matrix_of(pd.concat([table[:3], table[:3].sum().to_frame("All").T]))  # too few rows to tell
    matrix_of(pd.concat([table, -table, 0 * table[:1]]))  # nor do rows that cancel out


def test_numbers_of_frames_are_read_as_those_of_files():
    frame = pd.DataFrame({"a": ["1,5", "2,5", np.nan], "b": ["1.234,0", "858", "2"], "c": [1.0, 2.0, 3.0]})
    with pytest.warns(DataWarning, match="numbers with a decimal comma"):
        assert np.nansum(matrix_of(frame)[0]) == 4 + 2094 + 6
