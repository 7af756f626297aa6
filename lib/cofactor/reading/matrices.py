"""Read matrices: sparse or dense files of NumPy, SciPy and MATLAB, Matrix Market, or tables of numbers."""

from __future__ import annotations

import codecs
import io
import re
import warnings
import zipfile
from collections import Counter
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.cells import NO_VALUE, are_unclear, located, plain_columns
from cofactor.core.checks import sound_places
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.files import LARGE, RATIO, unpacked
from cofactor.core.lazy import pd, scipy_io
from cofactor.core.types import Floats
from cofactor.data.matlab import load_matlab
from cofactor.reading.tables import read_frame, refuse_twice
from cofactor.reading.text import HEADER, TWICE
from cofactor.reading.totals import sums

Names = list[str] | None
ARRAYS = (".npz", ".npy", ".mat", ".mtx", ".mtx.gz")
SEVERAL = (".npz", ".mat")  # of these, one file may hold several matrices
NO_MATRIX = "single rows, columns or numbers"
COUNTS = ("", "index", "idx", "row", "id", "key", "no", "no.", "nr", "number", "line", "record", "sample")
INDEX = (
    *COUNTS,
    *("band", "bands", "channel", "wavelength", "wavelengths", "wavenumber", "wl", "nm", "um"),
    *("time", "date", "year", "month", "day", "frame", "position", "depth", "frequency", "energy", "m/z", "mz"),
)
DOUBLE = 8  # bytes
PLACES = ("indices", "indptr", "row", "col", "offsets")  # of a sparse matrix in an .npz; SciPy cuts fractions off


def is_array_file(path: str | PathLike[str]) -> bool:
    """Whether a file holds a matrix without names, judging by its extension."""
    return _parted(path)[0].lower().endswith(ARRAYS)


def _parted(path: str | PathLike[str]) -> tuple[str, str]:
    """Split FILE.mat:NAME or FILE.npz:NAME into the file and the name of one of its matrices."""
    file, _, name = str(path).rpartition(":")
    asked = file.lower().endswith(SEVERAL) and not Path(path).exists()
    return (file, name) if asked else (str(path), "")


def read_matrix(
    path: str | PathLike[str],
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    gaps: Literal["refuse", "whole", "keep"] = "refuse",
) -> tuple[Any, Names, Names]:
    """Read a matrix, dense or sparse, and the names of its rows and columns, None if it has none.

    Parameters
    ----------
    path : path, or "-" for standard input
        .npz of `scipy.sparse.save_npz` or `numpy.savez`; .npy; .mat of MATLAB (up to v7); .mtx (Matrix Market), also
        .mtx.gz; any other file is a table with a header, as for `read_frame`. If a file holds several matrices, choose
        one as FILE.mat:NAME. A first column that is not numeric names the rows, and so does one of row numbers,
        wavelengths or the like, with a `DataWarning`. An array of three dimensions is an image (rows x columns x
        bands), returned as it is, with the names of its bands, if any, as the column names.
    encoding, sep : as for `read_frame`
    gaps : {"refuse", "whole", "keep"}
        For cells of a text table that are empty or not numbers: refuse them; make them NaN if their whole row or
        column is empty; or make all of them NaN, with a `DataWarning` that counts them.

    The first line of a text file is data if it holds only numbers, unless it is the only line whose numbers rise or
    fall from left to right.

    Raises a CofactorError if the file cannot be read, or cells are not numbers (their rows are listed). Nothing is
    unpickled. Cost: O(size of the file) memory.
    """
    if not is_array_file(path):
        return _read_numbers(path, encoding, sep, gaps)
    file, name = _parted(path)
    if not Path(file).exists():
        raise CofactorError(f"no such file: {file}")
    matrix: Any
    try:
        matrix = _READERS[file.lower().removesuffix(".gz").rpartition(".")[2]](file, name)
    except CofactorError:
        raise
    except Exception as error:  # whatever the bytes lead NumPy and SciPy to
        reason = " ".join(str(error).split()).rstrip(".")
        raise CofactorError(f"{path} cannot be read as a matrix: {reason}; save it again") from None
    if matrix.ndim not in (2, 3) or not all(matrix.shape) or matrix.dtype.kind not in "buif":
        what = "a matrix of numbers, or an image (rows x columns x bands)"
        raise CofactorError(f"{path}: expected {what}, got {matrix.dtype} of shape {matrix.shape}")
    if sparse.issparse(matrix):
        _check_shape(matrix, Path(file))
        sound_places(matrix, str(path))
    return (matrix.tocsc() if sparse.issparse(matrix) else matrix), None, None


def _check_shape(matrix: Any, path: Path) -> None:
    """Refuse a sparse matrix with far more rows and columns than its file can fill: even empty ones take memory."""
    size = DOUBLE * sum(matrix.shape)
    if size > max(LARGE, RATIO * path.stat().st_size):
        shape = " x ".join(map(str, matrix.shape))
        raise CofactorError(
            f"{path} declares a {shape} matrix with {matrix.nnz} entries: remove empty rows and columns"
        )


def _read_npz(path: str, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        size, packed = (
            sum(getattr(one, what) for one in archive.infolist()) for what in ("file_size", "compress_size")
        )
    if size > max(LARGE, RATIO * packed):
        raise CofactorError(f"{path} unpacks to {size} bytes, more than {RATIO} times its size: decompress it yourself")
    with np.load(path, allow_pickle=False) as file:
        if "format" in file.files:
            broken = [name for name in PLACES if name in file.files and file[name].dtype.kind not in "iu"]
            if broken:
                raise CofactorError(f"{path}: {listing(broken)} must hold whole numbers: save it with scipy.sparse")
            return sparse.load_npz(path)
        if not file.files:
            raise CofactorError(f"{path} holds no matrix")
        choice = file.files
        if not name and len(choice) > 1 and not (choice := [key for key in choice if _may_be_matrix(file, key)]):
            raise CofactorError(f"{path} holds no matrix: {listing(file.files)} are {NO_MATRIX}")
        found = file[_one_of(choice, name, path)]
    if not isinstance(found, np.ndarray):
        raise CofactorError(f"{path} holds no array: save it with numpy.savez")
    return found


def _may_be_matrix(arrays: Any, name: str) -> bool:
    """Return whether an array is one of numbers that is no single row, column or number."""
    try:
        found = arrays[name]
    except ValueError:  # objects, which are not unpickled
        return False
    return isinstance(found, np.ndarray) and found.dtype.kind in "buif" and min(found.shape, default=0) > 1 < found.ndim


def _read_mtx(path: str, _: str) -> Any:
    text = unpacked(path).removeprefix(codecs.BOM_UTF8)  # which some editors put first
    if comma := re.search(rb"^[^%\n][^,\n]*,", text, re.MULTILINE):
        line = text.count(b"\n", 0, comma.start()) + 1
        raise CofactorError(
            f"{path}: line {line} contains a comma, after which SciPy reads nothing: write decimals with a point"
        )
    if odd := re.search(rb"^[^%\n][^\n]*?(\d[^\s\d.eE+-]|\.\d*\.)", text, re.MULTILINE):
        line = text.count(b"\n", 0, odd.start()) + 1
        raise CofactorError(f"{path}: line {line} contains something other than numbers: save the file again")
    return scipy_io.mmread(io.BytesIO(text.rstrip() + b"\n"), spmatrix=False)  # SciPy reads beyond a last line's end


def _read_npy(path: str, _: str) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)  # a file that lies about its size is refused


def _one_of(names: list[str], asked: str, path: str) -> str:
    """Return the name of the requested matrix, or of the only one."""
    if asked and asked not in names:
        raise CofactorError(f"{path} holds no matrix {asked}: choose one of {listing(names)}")
    if len(names) > 1 and not asked:
        raise CofactorError(
            f"{path} holds {len(names)} matrices ({listing(names)}): choose one, as in {path}:{names[0]}"
        )
    return asked or names[0]


def _read_mat(path: str, name: str) -> Any:
    arrays = load_matlab(Path(path))
    if not arrays:
        raise CofactorError(f"{path} holds no array of numbers: save the matrix by itself, not in a cell or a struct")
    found = [key for key, one in arrays.items() if sparse.issparse(one) or min(getattr(one, "shape", (0,))) > 1]
    if not found:
        raise CofactorError(f"{path} holds no matrix: {listing(arrays)} are {NO_MATRIX}")
    return arrays[_one_of(found, name, path)]


_READERS = {"npz": _read_npz, "npy": _read_npy, "mat": _read_mat, "mtx": _read_mtx}


def _is_index(name: str, cells: pd.Series[float], path: str) -> bool:
    """Whether a first column numbers the rows or says where they were measured: it rises or falls steadily.

    Whole numbers under the name of an index are one in any order, as in rows that were shuffled. Those that rise or
    fall in unequal steps, under another name, may be data: they are kept, and that is said.
    """
    values = cells.to_numpy(dtype=np.float64)
    known, whole = _bare(name), bool((values == np.rint(values)).all())
    if len(values) > 2 and known in COUNTS and whole and (values >= 0).all():
        return not known or known == "index" or cells.is_unique
    steps = np.diff(values)
    if len(steps) < 2 or not (np.isfinite(steps).all() and ((steps > 0).all() or (steps < 0).all())):
        return False
    even = bool(np.ptp(steps) <= 1e-6 * np.abs(steps).max())
    if known in INDEX or known.startswith("wavelength") or even:
        return True
    if whole:
        told = f"the first column ({name}, {values[0]:.0f} to {values[-1]:.0f}) holds distinct numbers, used as data"
        warnings.warn(f"{path}: {told}: remove it if it numbers or names the rows", DataWarning, stacklevel=3)
    return False


def _bare(name: str) -> str:
    """Return the name of a column in lower case without its unit; "" for one that pandas named by position."""
    bare = name.strip().casefold().partition("(")[0].strip()
    return "" if bare.startswith("unnamed") else bare


def _names_rows(cells: pd.Series[Any]) -> bool:
    """Whether a first column that is not all numbers names the rows: gaps or a few texts are not enough.

    Where most cells are numbers, it does if these are whole and none repeats (101, 102, 103b).
    """
    numbers = pd.to_numeric(cells, errors="coerce")
    texts = cells[numbers.isna() & ~(cells.isna() | cells.isin(NO_VALUE))]
    if texts.empty or texts.str.casefold().isin(["true", "false"]).all():
        return False
    known = numbers.dropna()
    return 2 * len(known) < len(cells) or bool(known.is_unique and (known % 1 == 0).all())


def _with_first_row(frame: pd.DataFrame) -> pd.DataFrame:
    """Make the first line of a text table a row if it holds only numbers, in no order of their own."""
    first = list(frame.attrs.get(HEADER) or ())
    values = pd.to_numeric(pd.Series(first, dtype=object), errors="coerce")
    blank = np.array([cell in NO_VALUE for cell in first], dtype=bool)
    rest = values[~blank].to_numpy(dtype=np.float64)
    pandas_has_it = blank[:1].all() and blank.sum() == 1 and (rest % 1 == 0).all() and len({*rest}) == len(rest)
    if not len(rest) or np.isnan(rest).any() or (blank.any() and (_rises_or_falls(rest) or pandas_has_it)):
        refuse_twice(frame.attrs.get(TWICE, ()))
        return frame
    ordered = [_rises_or_falls(row) for row in [values.to_numpy(dtype=np.float64), *_numbers(frame).to_numpy()]]
    if ordered[0] and not any(ordered[1:]):
        refuse_twice(frame.attrs[TWICE])
        return frame
    rows = np.vstack([np.array(first, dtype=object), frame.to_numpy(dtype=object)])
    index = pd.Index([frame.index[0] - 1, *frame.index], name="line")  # there is no header that a row counts
    return pd.DataFrame(rows, index=index, columns=list(map(str, range(len(first)))))


def _split_at_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Split the only column of a table into numbers separated by blanks, as `numpy.savetxt` writes them."""
    if frame.shape[1] != 1 or HEADER not in frame.attrs:
        return frame
    lines = [str(line).split() for line in (frame.attrs[HEADER][0], *frame.iloc[:, 0])]
    width = len(lines[0])
    numbers = pd.to_numeric(pd.Series([cell for line in lines[1:] for cell in line], dtype=object), errors="coerce")
    if width < 2 or numbers.isna().any():
        return frame
    if (others := np.array([len(line) != width for line in lines[1:]], dtype=bool)).any():
        where = located(frame.rename_axis("line"), others)
        raise CofactorError(f"{width} cells per row are expected, as in the first line; see {where}")
    table = pd.DataFrame(lines[1:], index=frame.index, columns=lines[0])
    table.attrs |= {HEADER: lines[0], TWICE: [name for name, n in Counter(lines[0]).items() if n > 1]}
    return table


def _rises_or_falls(row: Floats) -> bool:
    steps = np.diff(row)
    return bool(len(steps) and ((steps > 0).all() or (steps < 0).all()))


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(pd.to_numeric, errors="coerce").astype(np.float64)


def _without_names(frame: pd.DataFrame, path: str) -> tuple[pd.DataFrame, Names]:
    """Remove first columns that number or name the rows, with a note if they are numbers; also return the names."""
    rows: Names = None
    while frame.shape[1] > 1:
        first = frame.iloc[:, 0]
        numbers, called = pd.to_numeric(first, errors="coerce"), str(first.name)
        if numbers.isna().any():
            return (frame.iloc[:, 1:], first.fillna("").tolist()) if _names_rows(first) else (frame, rows)
        if frame.shape[1] < 3 or not _is_index(called, numbers, path):
            break
        rows, frame = first.tolist(), frame.iloc[:, 1:]
        called = called if _bare(called) else "unnamed"
        told = f"the first column ({called}, {rows[0]} to {rows[-1]}) numbers or names the rows"
        warnings.warn(f"{path}: {told}, so it is not used as data", DataWarning, stacklevel=3)
    for name in frame.columns[1:]:
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if _bare(str(name)) in COUNTS and len(frame) > 2 and numbers.is_unique and (numbers % 1 == 0).all():
            told = f"column {name} holds distinct whole numbers, used as data"
            warnings.warn(f"{path}: {told}: remove it if it numbers or names the rows", DataWarning, stacklevel=3)
    return frame, rows


def _plain(frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Convert numbers of a table to plain form, and note how they were written."""
    cells = [frame.iloc[:, n] for n in range(frame.shape[1])]
    texts = [one for one in cells if not pd.api.types.is_numeric_dtype(one)]
    if not texts or (np.isfinite(_numbers(frame).to_numpy()).all() and not any(map(are_unclear, texts))):
        return frame
    found = plain_columns(cells)
    for how in dict.fromkeys(how for _, how in found if how):
        columns = listing(str(name) for name, (_, told) in zip(frame.columns, found, strict=True) if told == how)
        warnings.warn(f"{path}: numbers {how}: {columns}", DataWarning, stacklevel=2)
    return pd.concat([column for column, _ in found], axis=1)


def _read_numbers(path: str | PathLike[str], encoding: str, sep: str | None, allowed: str) -> tuple[Any, Names, Names]:
    table = _split_at_blanks(read_frame(path, None, encoding, sep, "band", repeated=True))
    frame = _plain(_with_first_row(table), str(path))
    frame, rows = _without_names(frame, str(path))
    numbers, columns = _numbers(frame), [str(name) for name in frame.columns]
    gaps: NDArray[np.bool_] = (frame.isna() | frame.isin(NO_VALUE)).to_numpy()
    bad = np.asarray(~np.isfinite(numbers.to_numpy()))
    if allowed != "refuse":
        whole = gaps & (gaps.all(axis=0) | gaps.all(axis=1, keepdims=True))
        gaps, bad = gaps & ~whole, bad & ~whole
    if allowed == "keep" and bad.any():
        told = f"{amount(bad.sum(), 'cell')} (empty or not a number) in {located(frame, bad.any(axis=1))}"
        warnings.warn(f"{path}: left out {told}", DataWarning, stacklevel=3)
        gaps, bad = np.zeros_like(gaps), np.zeros_like(bad)
    if texts := [name for n, name in enumerate(columns) if bad[:, n].all() and not gaps[:, n].any()]:
        advice = "remove them, or put the one that names the rows first"
        raise CofactorError(f"{path}: columns {listing(texts)} hold only text: {advice}")
    bad = gaps if gaps.any() else bad
    if bad.any():
        where, what = bad.any(axis=1), "gaps" if gaps.any() else "cells that are not numbers"
        named = listing(columns[n] for n in np.flatnonzero(bad.any(axis=0)))
        raise CofactorError(f"{path}: {what} in {located(frame, where)}, columns {named}: fill or drop them")
    found = numbers.where(np.isfinite(numbers)).to_numpy()
    for message in sums(found, rows, columns):
        warnings.warn(f"{path}: {message}", DataWarning, stacklevel=3)
    return found, rows, columns


def matrix_of(frame: pd.DataFrame, name: str = "the table") -> tuple[Any, Names, Names]:
    """Convert a DataFrame to what `read_matrix` returns; an index other than 0, 1, ... names the rows.

    Gaps become NaN. Raises a CofactorError that lists columns of text, except a first one that names the rows.
    """
    refuse_twice([str(one) for one in frame.columns[frame.columns.duplicated()].unique()])
    if mixed := [str(one) for one in frame if pd.api.types.is_complex_dtype(frame[one])]:
        raise CofactorError(f"{name}: columns {listing(mixed)} hold complex numbers: pass their absolute values")
    left, rows = _without_names(_plain(frame, name), name)
    if rows is None and not isinstance(left.index, pd.RangeIndex):
        rows = left.index.tolist()
    numbers = _numbers(left)
    if texts := [str(one) for one in left if numbers[one].isna().ne(left[one].isna()).any()]:
        raise CofactorError(f"{name}: columns {listing(texts)} hold cells that are not numbers: remove them")
    columns = [str(one) for one in left.columns]
    for message in sums(numbers.to_numpy(), rows, columns):
        warnings.warn(f"{name}: {message}", DataWarning, stacklevel=2)
    return numbers.to_numpy(), rows, columns
