"""The two simulated sets that are bundled: spectra with their materials, and texts with their word lists."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints
from cofactor.data.readers import lines_of


@dataclass(frozen=True, eq=False)
class SpectraDataset:
    """Spectra of pixels that are mixtures of a few materials.

    Attributes
    ----------
    name, title : str
    X : (M, N) array
        A pixel a column.
    wavelengths : (M,) array, in nm
    points : list of N names
    W : (M, K) array
        The materials, without noise.
    materials : list of K names
    citation, licence : str
    """

    name: str
    title: str
    X: Floats = field(repr=False)
    wavelengths: Floats = field(repr=False)
    points: list[str] = field(repr=False)
    W: Floats = field(repr=False)
    materials: list[str]
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)


@dataclass(frozen=True, eq=False)
class TextsDataset:
    """Short texts, each drawn mostly from one of a few lists of words.

    Attributes
    ----------
    name, title : str
    texts : list of D strings
    documents : list of D names
    truth : (D,) class codes
        The list that most words of a text come from.
    classes : list of names of the lists
    citation, licence : str
    """

    name: str
    title: str
    texts: list[str] = field(repr=False)
    documents: list[str] = field(repr=False)
    truth: Ints = field(repr=False)
    classes: list[str] = field(repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)


def read_spectra(path: Path) -> tuple[NDArray[np.float64], list[str], Floats]:
    """Return the first column (wavelengths), the names of the others, and their numbers, (M, N)."""
    header, *rows = csv.reader(lines_of(path))
    try:
        numbers = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise CofactorError(f"{path}: expected numbers: {error}") from None
    return numbers[:, 0], header[1:], numbers[:, 1:]


def read_texts(path: Path, lists: Path, classes: list[str]) -> tuple[list[str], list[str], Ints]:
    """Return texts, their names, and the code of the list of each."""
    texts, known = (list(csv.reader(lines_of(one)))[1:] for one in (path, lists))
    if [row[0] for row in texts] != [row[0] for row in known] or not {row[1] for row in known} <= set(classes):
        raise CofactorError(f"{lists}: expected a row for each text of {path.name}, and lists {', '.join(classes)}")
    truth = np.array([classes.index(row[1]) for row in known], dtype=np.int64)
    return [row[1] for row in texts], [row[0] for row in texts], truth
