"""What a learner has solved, objective by objective."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from cofactor.core.errors import CofactorError
from course import desk
from course.record import HANDED_OUT as HANDED_OUT
from course.record import PROGRESS as PROGRESS
from course.record import SEED, keep, kept


def checkpoint(notebook: str) -> None:
    """Print which exercises of a notebook, such as "nb03", are solved, with how many hints, and which one is next.

    For a lab, such as "lab03", these are the exercises of the lab. An exercise is solved if its last `check` in this
    session was correct. In a learner's folder, the number is kept in `progress.json`; `kit.py lab` prints it.

    Raises
    ------
    CofactorError
        The notebook does not exist.
    """
    package = f"nb{notebook[-2:]}"
    own = import_module(f"course.{package}.exercises") if package in desk.NOTEBOOKS else None
    objectives = own.OBJECTIVES if own and notebook == package else ()
    lab = own.LAB if own and notebook == f"lab{notebook[-2:]}" else ()
    names = [*(name for names in objectives for name in names), *lab]
    if not names:
        raise CofactorError(
            f"unknown notebook {notebook!r}; choose {', '.join(desk.NOTEBOOKS)}, or a lab such as 'lab00'"
        )
    left = [name for name in names if not _solved(name)]
    begin = f'; begin with "{left[0]}"' if len(left) == len(names) else f'; next is "{left[0]}"' if left else ""
    print(f"{len(names) - len(left)} of {len(names)} exercises solved{begin}")
    wide = max(map(len, names))
    place = {name: f"objective {number}: " for number, own in enumerate(objectives, start=1) for name in own}
    for name in names:
        print(f"{place.get(name, '')}{name:<{wide}}  {_state(name)}")
    _keep(notebook, len(names) - len(left), len(names))


def _solved(name: str) -> bool:
    return desk.passed(name) and name not in desk.shown


def _state(name: str) -> str:
    if name in desk.shown:
        return "does not count: its solution was shown"
    if not desk.passed(name):
        return "not solved yet"
    hints = len(desk.hints_read.get(name, ()))
    return f"solved with {hints} hint{'s' * (hints > 1)}" if hints else "solved without a hint"


def _keep(notebook: str, solved: int, of: int) -> None:
    """Store the progress in a learner's folder; in other folders, do nothing. The best result so far counts."""
    best = max(solved, progress(Path.cwd()).get(notebook, (0, 0))[0])
    keep(Path.cwd(), notebook, (best, of))


def progress(folder: Path) -> dict[str, tuple[int, int]]:
    """Return (solved, all) exercises for each notebook whose checkpoint was run in a learner's folder."""
    found = {str(name): entry for name, entry in sorted(kept(folder).items()) if name != SEED}
    try:
        return {name: (int(solved), int(of)) for name, (solved, of) in found.items()}
    except (ValueError, TypeError):
        return {}
