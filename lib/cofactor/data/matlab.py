"""Read numeric arrays from MATLAB files without trusting their contents.

SciPy's compiled reader does not check the type codes of a file (version 5), and a wrong one crashes the process, so
they are checked first.

    element of a file   tag of two numbers (type, bytes), content, filled up to 8 bytes
    type 15             elements, compressed
    type 14             a matrix: elements of flags, shape, name, and numbers
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import LARGE, RATIO
from cofactor.core.lazy import scipy_io

HEADER, TAG = 128, 8
MATRIX, COMPRESSED, FLAGS = 14, 15, 6
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13)  # types of numbers: 1 to 8 bytes, whole or not
TEXT = 16
NOT_NUMBERS = (1, 2, 3, 16, 17)  # classes of arrays: cells, structs, objects, functions
ORDERS = {b"IM": "<", b"MI": ">"}  # of bytes; other files are of version 4, which SciPy reads in Python


def load_matlab(path: Path, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Read arrays by name (None: all numeric ones); raises a CofactorError if the file cannot be read.

    Structs, cells, objects and functions are skipped.
    """
    try:
        raw = path.read_bytes()
        if raw.startswith((b"MATLAB 7.3", b"\x89HDF")):
            raise NotImplementedError
        if raw[126:HEADER] in ORDERS:
            raw = raw[:HEADER] + _sound(raw[HEADER:], ORDERS[raw[126:HEADER]])
        content = scipy_io.loadmat(io.BytesIO(raw), variable_names=names and list(names), spmatrix=False)
        if absent := [name for name in names or () if name not in content]:
            raise ValueError(f"{listing(absent)} is missing, or not a numeric array")
        arrays = {name: content[name] for name in names or content if not name.startswith("__")}
        if any(map(np.iscomplexobj, arrays.values())):
            raise TypeError("complex numbers")
        return arrays
    except NotImplementedError:
        raise CofactorError(f"{path} is in MATLAB's v7.3 format: save it in MATLAB with save(..., '-v7')") from None
    except Exception as error:  # scipy raises whatever the bytes lead it to
        raise CofactorError(f"{path} cannot be read as MATLAB arrays {listing(names or [])}: {error}") from None


def _sound(raw: bytes, order: str) -> bytes:
    """Return the checked arrays of numbers and text; other arrays are left out."""
    kept, place = b"", 0
    for kind, content in _elements(raw, order, padded=False):
        place, start = place + TAG + len(content), place
        if kind == COMPRESSED:
            limit = max(LARGE, RATIO * len(content))
            unpacked = zlib.decompressobj().decompress(content, limit)
            if len(unpacked) == limit:
                raise ValueError(f"an array unpacks to more than {limit} bytes")
            kept += raw[start:place] if _sound(unpacked, order) else b""
        elif kind != MATRIX:
            raise ValueError(f"type {kind} instead of an array")
        elif not _holds_others(content, order):
            _check_matrix([part for part, _ in _elements(content, order, padded=True)])
            kept += raw[start:place]
    return kept


def _holds_others(content: bytes, order: str) -> bool:
    """Whether an array contains arrays or code, judging by the class in the first byte of its flags."""
    kind, flags = next(_elements(content, order, padded=True), (0, b""))
    return kind == FLAGS and len(flags) == TAG and struct.unpack_from(f"{order}I", flags)[0] & 0xFF in NOT_NUMBERS


def _check_matrix(kinds: list[int]) -> None:
    if kinds[:2] != [6, 5] or kinds[2:3] not in ([1], [TEXT]) or not set(kinds[3:]) <= {*NUMBERS, TEXT}:
        raise ValueError(f"elements of types {listing(kinds)} instead of flags, shape, name and numbers")


def _elements(raw: bytes, order: str, padded: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the type and content of consecutive elements; small ones are stored in the tag itself."""
    place = 0
    while place < len(raw):
        kind, size = struct.unpack_from(f"{order}II", raw, place)
        small = kind >> 16
        content = raw[place + 4 : place + 4 + small] if small else raw[place + TAG : place + TAG + size]
        if len(content) < (small or size) or small > 4:
            raise ValueError(f"an element of {small or size} bytes ends early")
        yield kind & 0xFFFF if small else kind, content
        place += TAG if small else TAG + (-(-size // 8) * 8 if padded else size)
