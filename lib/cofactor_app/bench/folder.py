"""Data sets in a folder for the bench: a TOML file for each, next to its files, or a file of labels and one of truth.

::

    name = "kitchen"  # kitchen.toml
    problem = "crowd"
    family = "cooking"  # sets that share tasks, workers or items form a family
    licence = "CC-BY-4.0"
    source = "https://example.org/kitchen"

    [files]
    labels = "labels.csv"  # task, worker, label
    truth = "truth.csv"  # task, truth

`ROLES` lists the files of the other problems. For a table and for comparisons, no truth is needed: a fifth is hidden.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.pmf.frames import CategoricalFrame
from cofactor.reading.matrices import read_matrix
from cofactor.reading.tables import read_frame
from cofactor.reading.truth import TruthWarning, read_truth
from cofactor.reading.votes import reading
from cofactor_app.bench.answers import Question
from cofactor_app.bench.sets import KnownSet, comparisons_of, hidden_cells_of

FIELDS = ("name", "problem", "family", "licence", "source", "files")
ROLES = MappingProxyType(
    {
        "crowd": {"labels": "task, worker, label", "truth": "task, truth"},
        "pmf": {"table": "a header and one row per case"},
        "separable": {"points": "a matrix, one point per column", "anchors": "anchor: names of columns, or numbers"},
        "comparisons": {"comparisons": "winner, loser, or any form that `cofactor rank` reads"},
    }
)
LABEL_FILES = (".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl")
PLAIN_FAMILY = "your folder"  # of labels and truth without a TOML file
Found = tuple[Any, Ints]


@dataclass(frozen=True)
class FolderSet:
    """A data set in a folder, not yet read."""

    name: str
    problem: str
    family: str
    files: Mapping[str, Path]

    def read(self) -> Found:
        """Return the input of a method and the truth; raise a `CofactorError` if the files are wrong."""
        with warnings.catch_warnings(action="ignore", category=DataWarning):
            warnings.simplefilter("always", TruthWarning)  # fewer tasks are scored, or some are errors of every method
            return _READERS[self.problem](**self.files)


def sets_of(folder: Path, problem: str) -> list[KnownSet]:
    """Return the sets of a problem in a folder.

    Raises `CofactorError` if there is none, a TOML file is wrong, or two sets have the same name.
    """
    found = [declared(path) for path in _declarations(folder)]
    found += _plain(folder, found)
    names = [one.name for one in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise CofactorError(f"{folder}: two sets have the name {listing(twice)}; rename one of them")
    if not (mine := [one for one in found if one.problem == problem]):
        has = f"it has {listing(f'{one.name} ({one.problem})' for one in found)}" if found else _what(problem)
        raise CofactorError(f"{folder} has no {problem} set: {has}")
    return [KnownSet(one.name, one.family, one.read) for one in mine]


def _what(problem: str) -> str:
    plain = ", or NAME.csv (task, worker, label) and NAME_truth.csv (task, truth)" if problem == "crowd" else ""
    return f"it needs NAME.toml{plain}; see docs/bench.md"


def _declarations(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise CofactorError(f"folder {folder} does not exist")
    return sorted(folder.glob("*.toml"))


def _plain(folder: Path, declared_sets: Sequence[FolderSet]) -> list[FolderSet]:
    """Return labels that lie beside their truth, and that no TOML file declares."""
    used = {path for one in declared_sets for path in one.files.values()}
    pairs = [
        (path, truth, path.name[: -len(ending)])
        for ending in LABEL_FILES
        for path in sorted(folder.glob(f"*{ending}"))
        if path not in used and (truth := path.with_name(f"{path.name[: -len(ending)]}_truth{ending}")).is_file()
    ]
    return [FolderSet(name, "crowd", PLAIN_FAMILY, {"labels": path, "truth": truth}) for path, truth, name in pairs]


# ---- the TOML file ----


def declared(path: Path) -> FolderSet:
    """Return the set that a TOML file declares; raise a `CofactorError` that lists all its mistakes."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise CofactorError(f"{path.name} is not valid TOML: {error}") from None
    if wrong := list(_wrong(said, path.parent)):
        raise CofactorError(f"{path.name}: {'; '.join(wrong)}")
    files = {role: path.parent / name for role, name in said["files"].items()}
    return FolderSet(said["name"], said["problem"], said["family"], files)


def _wrong(said: Mapping[str, Any], folder: Path) -> Iterator[str]:
    if missing := [name for name in FIELDS if said.get(name) in (None, "", {})]:
        yield f"missing {listing(missing)}"
    if strange := sorted(set(said) - set(FIELDS)):
        yield f"unknown fields {listing(strange)}; the fields are {', '.join(FIELDS)}"
    if odd := [name for name in FIELDS[:-1] if not isinstance(said.get(name, ""), str)]:
        yield f"{listing(odd)} must be text"
    files, problem = said.get("files") or {}, str(said.get("problem") or "")
    if problem and problem not in ROLES:
        yield f"problem {problem!r} is not one of {', '.join(ROLES)}"
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        yield "[files] must have a file name for each role"
        return
    if problem in ROLES and files:
        if lacking := [f"{role} ({what})" for role, what in ROLES[problem].items() if role not in files]:
            yield f"[files] has no {listing(lacking)}"
        if more := sorted(set(files) - set(ROLES[problem])):
            yield f"[files] has {listing(more)}, which {problem} does not use"
    if gone := [name for name in files.values() if not (folder / name).is_file()]:
        yield f"no such file: {listing(gone)}"
    if out := [name for name in files.values() if not (folder / name).resolve().is_relative_to(folder.resolve())]:
        yield f"outside the folder, where a method could open it: {listing(out)}"


# ---- what a folder holds, looked at before a run ----


def checked(folder: Path) -> Iterator[tuple[bool, str]]:
    """Yield for every set of a folder whether it can be used, and a line about its contents or its mistakes.

    Cost: every file is read.
    """
    names, sound, paths = list[str](), list[FolderSet](), _declarations(folder)
    for path in paths:
        try:
            sound.append(declared(path))
        except CofactorError as error:
            yield False, str(error)
    if not (found := [*sound, *_plain(folder, sound)]) and not paths:
        yield False, f"{folder} has no set: {_what('crowd')}"
    for one in found:
        wrong, has = _looked_at(one)
        if one.name in names:
            wrong.append("another set has the same name")
        names.append(one.name)
        yield not wrong, f"{one.name}: {'; '.join(wrong)}" if wrong else f"{one.name}: {one.problem}, {has}"


def _looked_at(one: FolderSet) -> tuple[list[str], str]:
    """Return what is wrong with the files of a set, and what it has."""
    with warnings.catch_warnings(record=True, action="always", category=DataWarning) as noted:
        try:
            given, truth = _READERS[one.problem](**one.files)
        except CofactorError as error:
            return [" ".join(str(error).split())], ""
    wrong = [str(note.message) for note in noted if issubclass(note.category, TruthWarning)]
    known = truth[truth >= 0]
    if one.problem == "crowd" and len(np.unique(known)) < 2:
        wrong.append("the truth has only one class, so methods cannot be compared")
    return wrong, f"{given}, truth of {len(known)}" if one.problem == "crowd" else f"{_size(given)}, {len(truth)} asked"


def _size(question: Question) -> str:
    if question.problem == "comparisons":
        return str(question.given)
    rows, columns = question.given.codes.shape if question.problem == "pmf" else question.given.shape
    return f"{rows} rows, {columns} columns"


# ---- files ----


def _labels(labels: Path, truth: Path) -> Found:
    read = CrowdLabels.from_file(labels, conflicts="last")
    return read, read_truth(truth, read)


def _table(table: Path) -> Found:
    found = CategoricalFrame.from_frame(read_frame(table, None, row="case"))
    if found.table.n_variables < 2:
        raise CofactorError(f"{table}: {found.names[0]} is the only usable column; a method needs two")
    return hidden_cells_of(found.table, np.random.default_rng(0))


def _points(points: Path, anchors: Path) -> Found:
    X, _, names = read_matrix(points)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if X.ndim != 2:
        raise CofactorError(f"{points} is an image: give a matrix with one point per column")
    said = read_frame(anchors, ("anchor",), row="anchor")["anchor"].tolist()
    known = {name: place for place, name in enumerate(names or map(str, range(X.shape[1])))}
    if strange := [name for name in said if name not in known]:
        raise CofactorError(f"{anchors}: {listing(strange)} are not columns of {points.name}")
    found = np.array([known[name] for name in dict.fromkeys(said)], dtype=np.int64)
    order = np.random.default_rng(0).permutation(X.shape[1])  # so that no method learns from the order
    return Question("separable", np.ascontiguousarray(X[:, order]), len(found)), np.argsort(order)[found]


def _comparisons(comparisons: Path) -> Found:
    named = dict.fromkeys(("winner", "loser", "user", "tie", "outcome", "weight"))
    return comparisons_of(reading(comparisons, named).comparisons, np.random.default_rng(0))


_READERS: Mapping[str, Callable[..., Found]] = MappingProxyType(
    {"crowd": _labels, "pmf": _table, "separable": _points, "comparisons": _comparisons}
)
