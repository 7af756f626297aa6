"""Where experiments of one's own are: in files; they are run, kept and drawn as the papers' are.

`cofactor reproduce my_experiment.py` runs what `evaluation.declaration.experiment` declares there. What a file imports
from others beside it is not looked at: results are computed again where this file or the library changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.crowd.outside import module_of
from evaluation.declaration import experiments_of
from evaluation.experiment import Experiment, Measurement
from evaluation.record import read_records


@dataclass(frozen=True)
class InFile:
    """A function of a file as an experiment's `run`: another process reads the file itself."""

    path: str
    name: str

    def __call__(self, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
        """Run one trial."""
        module = _module(self.path, Path(self.path).stat().st_mtime_ns)
        return experiments_of(module)[self.name].run(setting, trial, rng)


@cache
def _module(path: str, changed: int) -> ModuleType:
    """Return the module of a file, run once in a process until the file is changed: it may read much at its top."""
    return module_of(path)


def is_own(name: str) -> bool:
    """Whether a name of an experiment says in which file it is."""
    return name.partition(":")[0].endswith(".py")


def experiments_in(where: str, taken: Iterable[str] = ()) -> list[Experiment]:
    """Return the experiments of `FILE.py`, or the one of `FILE.py:NAME`.

    Raises a CofactorError where the file is missing or fails, has no such experiment, or one with a `taken` name.
    """
    home, _, name = where.partition(":")
    path = str(Path(home).expanduser().resolve())
    if not Path(path).is_file():
        raise CofactorError(f"no file {home}: give FILE.py, or FILE.py:NAME for one of its experiments")
    found = experiments_of(module_of(path))
    if not found:
        raise CofactorError(f"{home} has no experiment: put @experiment of evaluation.declaration above a function")
    if name and name not in found:
        raise CofactorError(f"{home} has no experiment {name}; it has {listing(found)}")
    if both := set(found) & set(taken):
        raise CofactorError(f"{home}: {listing(sorted(both))} is an experiment of the papers: take another name")
    return [
        replace(one, run=InFile(path, one.name), file=path) for one in found.values() if one.name == name or not name
    ]


def refuse_other_file(own: Experiment, folder: Path) -> None:
    """Raise a CofactorError where a folder has results of an experiment of this name from another file."""
    other = _file_of(folder / own.name)
    if other and other != own.file:
        said = f"{folder / own.name} holds results of {own.name} in {other}"
        raise CofactorError(f"{said}: rename the function, or give another folder with --results")


def kept_in(folder: Path) -> tuple[list[Experiment], list[str]]:
    """Return the own experiments whose results a folder holds, and the names of those whose file lacks them now."""
    found: list[Experiment] = []
    gone: list[str] = []
    for record in sorted(folder.glob("*/run.json")):
        if path := _file_of(record.parent):
            try:
                found += experiments_in(f"{path}:{record.parent.name}")
            except CofactorError:
                gone.append(f"{record.parent.name} ({path})")
    return found, gone


def _file_of(folder: Path) -> str:
    """Return the file whose experiment last left results in a folder; empty for one of the papers, or none."""
    path = folder / "run.json"
    runs = read_records(path) if path.exists() else []
    return str(runs[-1].get("file", "")) if runs else ""
