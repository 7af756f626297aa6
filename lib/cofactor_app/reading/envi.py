"""Images in files of ENVI: a header (.hdr) and beside it the numbers, read by the package `spectral`.

The package is needed only where this is called: ``pip install cofactor[images]``.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.types import Floats

HEADER = ".hdr"
NUMBERS = (".img", ".bsq", ".bil", ".bip")  # endings of the numbers, whose header is beside them


def load_envi(path: Path) -> tuple[Floats, list[str] | None]:
    """Read an image, rows x columns x bands, and the names of its bands: wavelengths, else names, else None.

    Parameters
    ----------
    path : Path
        The header, or the numbers with their header beside them (scene.hdr or scene.img.hdr of scene.img).

    A factor of the header that scales numbers is divided out. Bands that it marks as bad are left out, and pixels with
    the value that it keeps for missing ones in any band are zero in all; a `DataWarning` tells both. Raises a
    `CofactorError` where the package is not installed, there is no header, the file is shorter than the header says, or
    there is no image in it.

    Cost: O(rows columns bands) memory.
    """
    try:
        envi = import_module("spectral.io.envi")
    except ImportError as error:
        raise CofactorError(
            f"files of ENVI need the package spectral ({error}): pip install 'cofactor[images]'"
        ) from None
    with warnings.catch_warnings(action="ignore"):  # of names in capitals
        opened = envi.open(str(_header(path)), None if path.suffix.lower() == HEADER else str(path))
    if not hasattr(opened, "open_memmap"):
        raise CofactorError(f"{path} is a library of spectra: an image of rows x columns x bands is needed")
    numbers = opened.open_memmap(interleave="bip")
    if numbers is None:
        raise CofactorError(f"{path}: {opened.filename} holds fewer numbers than the header says")
    if numbers.dtype.kind not in "uif":
        raise CofactorError(f"{path} holds numbers of type {numbers.dtype}: real ones are needed")
    scale = float(opened.scale_factor)
    if not 0 < scale < np.inf:
        raise CofactorError(f"{path}: the header says to divide by {scale:g}: a positive number is needed")
    cube = numbers / np.float64(scale)
    cube[_missing(path, numbers, opened.metadata)] = 0.0
    return _good(path, cube, opened.metadata)


def _header(path: Path) -> Path:
    """Return the header of a file, or what it is itself."""
    beside = [path] if path.suffix.lower() == HEADER else [path.with_suffix(HEADER), Path(f"{path}{HEADER}")]
    found = [one for one in beside if one.is_file()]
    if not found:
        raise CofactorError(f"{path} needs its header beside it: {listing(str(one) for one in beside)}")
    return found[0]


def _missing(path: Path, numbers: Any, header: dict[str, Any]) -> Any:
    """Return which pixels hold the value for missing numbers."""
    value = float(header.get("data ignore value", "nan"))
    missing = (numbers == value).any(axis=2)
    if missing.any():
        told = f"{missing.sum()} pixels hold {value:g}, which the header keeps for missing numbers"
        warnings.warn(f"{path}: {told}: they are taken for zero in all bands", DataWarning, stacklevel=4)
    return missing


def _good(path: Path, cube: Floats, header: dict[str, Any]) -> tuple[Floats, list[str] | None]:
    """Leave out bands that are marked as bad; return the others and their names."""
    n_bands = cube.shape[2]
    given = header.get("wavelength") or header.get("band names") or []
    names = np.array(given if len(given) == n_bands else [], dtype=str)
    marks = header.get("bbl", [])
    good = np.array([float(mark) != 0 for mark in marks] if len(marks) == n_bands else [True] * n_bands)
    if good.all() or not good.any():
        return cube, names.tolist() or None
    told = f"{(~good).sum()} of {n_bands} bands are marked as bad in the header"
    warnings.warn(f"{path}: {told}: left out", DataWarning, stacklevel=4)
    return cube[:, :, good], names[good].tolist() if names.size else None
