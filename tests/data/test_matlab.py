"""MATLAB files are read in either order of bytes; what a file promises and does not hold is refused."""

import struct

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from cofactor.core.errors import CofactorError
from cofactor.data.matlab import load_matlab
from tests.each import each

NUMBERS = np.array([1.5, -2.0])


def element(kind, content, order="<"):
    """An element of a file: its tag, and its content filled up to 8 bytes."""
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def small(kind, content, order="<"):
    """An element of at most 4 bytes, which stands in the tag itself."""
    return struct.pack(f"{order}I", len(content) << 16 | kind) + content.ljust(4, b"\0")


def vector(order="<", name=b"x", numbers=None):
    """The matrix of NUMBERS, as MATLAB itself writes it: a short name in its tag."""
    flags = element(6, struct.pack(f"{order}II", 6, 0), order)
    shape = element(5, struct.pack(f"{order}ii", 1, 2), order)
    called = small(1, name, order) if len(name) <= 4 else element(1, name, order)
    numbers = numbers or element(9, NUMBERS.astype(f"{order}f8").tobytes(), order)
    return element(14, flags + shape + called + numbers, order)


def file_of(tmp_path, raw, order="<"):
    version = struct.pack(f"{order}H", 0x0100) + {"<": b"IM", ">": b"MI"}[order]
    (tmp_path / "x.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + version + raw)
    return tmp_path / "x.mat"


@pytest.mark.parametrize("options", [{"format": "4"}, {}, {"do_compression": True}], ids=repr)
def test_what_scipy_writes_is_read(tmp_path, options):
    arrays = {"a": np.arange(5.0), "of_a_longer_name": np.arange(6).reshape(2, 3), "s": np.eye(3), "t": np.ones((1, 3))}
    arrays["t"] = arrays["t"].astype(np.uint8 if options else np.float64)
    savemat(tmp_path / "x.mat", arrays | {"s": sparse.csc_array(arrays["s"])}, **options)
    found = load_matlab(tmp_path / "x.mat", list(arrays))
    found["s"] = found["s"].toarray()
    for name, written in arrays.items():
        np.testing.assert_array_equal(np.ravel(found[name]), np.ravel(written))
    assert list(load_matlab(tmp_path / "x.mat")) == list(arrays)


@pytest.mark.parametrize("order", ["<", ">"])
@each("name", [b"x", b"four", b"fives", b"of_a_longer_name"])
def test_short_and_long_names_are_read_in_either_order_of_bytes(tmp_path, order, name):
    path = file_of(tmp_path, vector(order, b"a") + vector(order, name) + vector(order, b"z"), order)
    for read in load_matlab(path, ["a", name.decode(), "z"]).values():
        assert read.tolist() == [NUMBERS.tolist()]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (vector()[:-1], "an element of 64 bytes ends early"),
        (vector(numbers=struct.pack("<II", 9, 17) + NUMBERS.tobytes()), "an element of 17 bytes ends early"),
        (vector(numbers=struct.pack("<I", 5 << 16 | 1) + b"abcde"), "an element of 5 bytes ends early"),
        (element(9, NUMBERS.tobytes()), "type 9 instead of an array"),
        (vector(numbers=element(8, NUMBERS.tobytes())), "elements of types 6, 5, 1, 8 instead of"),
        (vector()[:5], "unpack"),
    ],
    ids=range(6),
)
def test_what_a_file_promises_and_does_not_hold_is_refused(tmp_path, raw, message):
    with pytest.raises(CofactorError, match=message):
        load_matlab(file_of(tmp_path, raw), ["x"])


def test_structs_and_cells_beside_numbers_are_left_out_unread(tmp_path):
    others = {"s": {"a": 1.0, "b": "x"}, "c": np.array([1, "x"], dtype=object)}
    for packed in (False, True):
        savemat(tmp_path / "a.mat", {"Y": np.eye(3), **others, "z": np.arange(2.0)}, do_compression=packed)
        found = load_matlab(tmp_path / "a.mat")
        assert list(found) == ["Y", "z"] and np.array_equal(found["Y"], np.eye(3))
        with pytest.raises(CofactorError, match="s is missing, or not a numeric array"):
            load_matlab(tmp_path / "a.mat", ["s"])
