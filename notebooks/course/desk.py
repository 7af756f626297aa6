"""The desk where the exercises of all notebooks are handed out and judged, by their names.

>>> data = given("accuracy")
>>> check("accuracy", data["prior"] @ data["A"].diagonal())
correct: each class counts as often as it occurs, so a worker is judged by the tasks
there are
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill

from cofactor.core.errors import CofactorError, listing
from course.grading import Exercise, Given, grade

LETTERS = 88  # in a line: JupyterLab breaks longer ones within a word


@cache
def exercises() -> dict[str, Exercise]:
    """Collect the `EXERCISES` of every nbNN/exercises.py, by their names; notebooks are imported at the first call."""
    found: dict[str, Exercise] = {}
    here = Path(__file__).parent
    for path in [*sorted(here.glob("exercises/[!_o]*.py")), *sorted(here.glob("nb*/exercises.py"))]:
        found |= import_module(f"course.{path.parent.name}.{path.stem}").EXERCISES
    return found


def find(name: object) -> Exercise:
    """Return an exercise, or raise a CofactorError that lists all there are."""
    if not isinstance(name, str) or name not in exercises():
        raise CofactorError(f"no exercise {name!r}; there are {listing(exercises())}")
    return exercises()[name]


def given(name: str) -> Given:
    """Return the data of an exercise, by name; the same in every session.

    Raises
    ------
    CofactorError
        There is no such exercise; the message lists them.
    """
    return find(name).given()


def check(name: str, answer: object) -> None:
    """Print one sentence: "correct: ..." or what to look at again.

    Answers rounded to three decimals are right. Of wrong answers, the typical ones are recognised.
    """
    try:
        _print(grade(find(name), answer))
    except CofactorError as unknown:
        _print(str(unknown))


def hint(name: str, number: int = 1) -> None:
    """Print a hint; the higher its number, the more it gives away."""
    try:
        hints = find(name).hints
    except CofactorError as unknown:
        _print(str(unknown))
        return
    if number in range(1, len(hints) + 1):
        _print(f"hint {number} of {len(hints)}: {hints[number - 1]}")
    else:
        print(f"there are hints 1 to {len(hints)} for {name!r}")


def _print(sentence: str) -> None:
    print(fill(sentence, LETTERS, break_long_words=False, break_on_hyphens=False))
