"""An experiment of one's own: a file with a function that runs one trial; it is run, kept and drawn as the papers' are.

::

    from evaluation.own import experiment


    @experiment(settings=["5 workers", "20 workers"], metrics={"error": "%"})
    def crowd_size(setting, trial, rng):
        return {"vote": {"error": 12.0}, "mine": lambda: {"error": 11.5}}

`cofactor reproduce my_experiment.py` runs it. What a file imports from others beside it is not looked at: results are
computed again where this file or the library changed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.crowd.outside import module_of
from evaluation.experiment import Experiment, Measurement, measure
from evaluation.record import read_records

LINE = "own"  # such an experiment may use any algorithm: the code of all lines decides its numbers
FORM = 'return {"method": {"metric": number}}, or a function without arguments in place of the inner dictionary'
DECLARATION = "__experiment__"  # attribute of a function that is one
Values = Mapping[str, float]
OwnRun = Callable[[str, int, np.random.Generator], Any]


def experiment(
    *,
    settings: Sequence[str] | Mapping[str, str],
    metrics: Mapping[str, str],
    title: str = "",
    trials: int = 10,
    quick: int | None = None,
    published: Mapping[tuple[str, str, str], str | float] | None = None,
    **more: Any,
) -> Callable[[OwnRun], OwnRun]:
    """Declare that a function of (setting, trial, rng) is an experiment; the function itself stays as it is.

    It returns ``{"method": {"metric": number}}``. In place of the inner dictionary there may be a function without
    arguments that returns it: that one is timed, and where it fails, the reason is kept and the others go on. `rng` is
    a generator that depends on experiment, setting and trial alone.

    Parameters
    ----------
    settings : sequence of str, or mapping of str to str
        Names that the function is given; of a mapping its keys, with their headings.
    metrics : mapping of str to str
        Metrics shown in the table, each with its unit: "%", "s", or "1" for none. Less is better, but for accuracy and
        its like (`evaluation.verdicts.MORE`).
    title : str
        Default: the first line of the function's docstring, or its name.
    trials, quick : int
        Of each setting, with ``--full`` and without; `quick` is `trials` where it is not given.
    published : mapping of (setting, method, metric) to number or text, optional
        Numbers to stand beside: a text such as "12.30" says how many digits were printed.
    more
        Further fields of `evaluation.experiment.Experiment`, such as `protocol`, `centre` or `plot`.

    Raises a CofactorError where there is no setting, no metric or no trial, or a field that no experiment has.
    """

    def declare(run: OwnRun) -> OwnRun:
        name = run.__name__
        given: dict[str, Any] = {
            "title": title or (inspect.getdoc(run) or name).splitlines()[0],
            "source": "Beyond the papers",
            "settings": dict(settings) if isinstance(settings, Mapping) else {one: one for one in settings},
            "metrics": dict(metrics),
            "trials": trials,
            "quick": trials if quick is None else quick,
            "printed": dict(published or {}),
        }
        _check(name, given, more)
        setattr(run, DECLARATION, Experiment(name, line=LINE, run=partial(_measured, run), **given | more))
        return run

    return declare


def _check(name: str, given: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    if strange := set(more) - set(Experiment.__dataclass_fields__):
        raise CofactorError(f"experiment {name}: no experiment has {listing(sorted(strange))}")
    if not given["settings"] or not given["metrics"] or min(given["trials"], given["quick"]) < 1:
        raise CofactorError(f"experiment {name}: give one setting, one metric and one trial at least")
    for key in given["printed"]:
        if len(key) != 3 or key[0] not in given["settings"] or key[2] not in given["metrics"]:
            what = "no (setting, method, metric) of it"
            raise CofactorError(f"experiment {name}: published has {key!r}, which is {what}")


def _measured(run: OwnRun, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Run a trial; write what it says as measurements."""
    found = run(setting, trial, rng)
    if not isinstance(found, Mapping) or not found:
        raise CofactorError(f"{run.__name__} returned {type(found).__name__}: {FORM}")
    return [row for method, said in found.items() for row in measure(str(method), partial(_values, said))]


def _values(said: Values | Callable[[], Values]) -> Values:
    found = said() if callable(said) else said
    if not isinstance(found, Mapping) or not all(isinstance(value, Real) for value in found.values()):
        raise CofactorError(f"{FORM}; this is {found!r:.80}")
    return found


# ---- where they are ----


@dataclass(frozen=True)
class InFile:
    """A function of a file as an experiment's `run`: another process reads the file itself."""

    path: str
    name: str

    def __call__(self, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
        """Run one trial."""
        module = _module(self.path, Path(self.path).stat().st_mtime_ns)
        found: Experiment = getattr(getattr(module, self.name), DECLARATION)
        return found.run(setting, trial, rng)


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
    things = vars(module_of(path)).values()
    found = {e.name: e for thing in things if isinstance(e := getattr(thing, DECLARATION, None), Experiment)}
    if not found:
        raise CofactorError(f"{home} has no experiment: put @experiment of evaluation.own above a function")
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
