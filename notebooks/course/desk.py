"""The desk, where the exercises of all notebooks are handed out and judged by name.

>>> data = given("accuracy")
>>> check("accuracy", data["prior"] @ data["A"].diagonal())
correct: each class counts as often as it occurs, so a worker is judged on the actual
mix of tasks
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

from cofactor.core.errors import CofactorError, listing
from course import seeds
from course.grading import Exercise, FunctionExercise, Given

NOTEBOOKS = tuple(path.parent.name for path in sorted(Path(__file__).parent.glob("nb*/exercises.py")))
LETTERS = 88  # in a line: JupyterLab breaks longer ones within a word

handed_in: dict[str, object] = {}  # the answer last handed in, by the name of its exercise
hints_read: dict[str, set[int]] = {}  # numbers of the hints asked for, by the name of the exercise
shown: set[str] = set()  # names of the exercises whose solution was asked for


@cache
def exercises_of(notebook: str) -> dict[str, Exercise]:
    """Return the `EXERCISES` of a notebook's package, such as "nb04"; this imports the package."""
    found: dict[str, Exercise] = import_module(f"course.{notebook}.exercises").EXERCISES
    return found


def exercises() -> dict[str, Exercise]:
    """Return the exercises of all notebooks by name."""
    return {name: exercise for notebook in NOTEBOOKS for name, exercise in exercises_of(notebook).items()}


def find(name: object) -> Exercise:
    """Return an exercise by name; an unknown name raises a CofactorError that lists the known ones.

    The open notebook is searched first, so that the packages of the others need not be imported.
    """
    for notebook in sorted(NOTEBOOKS, key=lambda notebook: f"course.{notebook}" not in sys.modules):
        if isinstance(name, str) and name in exercises_of(notebook):
            return exercises_of(notebook)[name]
    raise CofactorError(f"unknown exercise {name!r}; the exercises are {listing(exercises())}")


def given(name: str) -> Given:
    """Return the data of an exercise by name; they are the same in every session.

    Raises
    ------
    CofactorError
        There is no such exercise; the message lists them.
    """
    return find(name).given()


def seed(name: str) -> str:
    """Set the seed of the capstone and of the data of exercises to a name; return the seed now in use.

    The placeholder "your name" leaves the seed unchanged. In a learner's folder, the seed is stored for all notebooks.

    Raises
    ------
    CofactorError
        The name is not a string, or it is empty.
    """
    seeds.choose(name)
    return seeds.current()


def check(name: str, answer: object) -> None:
    """Print one sentence: "correct: ..." or what is wrong.

    Answers rounded to four digits are right. Typical wrong answers are recognised.
    """
    try:
        verdict = find(name).judge(answer)
    except CofactorError as unknown:
        tell(str(unknown))
        return
    handed_in[name] = answer
    tell(verdict.words if verdict.recognised else f'{verdict.words}. Stuck? hint("{name}")')


def reveal(name: str, answer: object) -> None:
    """Print what `check` would print for a solution; it does not count as the learner's answer."""
    tell(find(name).judge(answer).words)


def usable(name: str) -> Callable[..., Any]:
    """Return the function that the learner handed in if it is right, otherwise the solution, for the cells below.

    Raises
    ------
    CofactorError
        There is no such exercise, or its answer is not a function.
    """
    exercise, function = find(name), handed_in.get(name)
    if not isinstance(exercise, FunctionExercise):
        raise CofactorError(f"the answer of exercise {name!r} is not a function")
    if callable(function) and exercise.judge(function).right:
        return function
    tell(f'Until you solve the exercise "{name}", the cells below use a function of cofactor instead of yours.')
    return exercise.right()


def passed(name: str) -> bool:
    """Whether the last answer to `check` was right; False if there is none.

    Raises
    ------
    CofactorError
        There is no such exercise.
    """
    return find(name).judge(handed_in.get(name)).right


def hint(name: str, number: int = 1) -> None:
    """Print a hint; higher numbers reveal more, and the number after the last hint prints the solution."""
    try:
        hints = find(name).hints
    except CofactorError as unknown:
        tell(str(unknown))
        return
    read, last = hints_read.setdefault(name, set()), len(hints)
    if number in range(1, last + 1):
        read.add(number)
        tell(f"hint {number} of {last}: {hints[number - 1]}")
        if number == last:
            tell(
                f'Still stuck? hint("{name}", {last + 1}) shows a solution. The exercise then does not count as solved.'
            )
    elif number == last + 1 and len(read) == last:
        shown.add(name)
        print(solution(name))
    else:
        tell(f"exercise {name!r} has hints 1 to {last}; after you have read them all, hint {last + 1} shows a solution")


def solution(name: str) -> str:
    """Return the code of a solution from the notebook of the exercise.

    Raises
    ------
    CofactorError
        The notebooks are not next to this package, or none contains the solution.
    """
    beside = Path(__file__).parents[1]
    for path in sorted([*beside.glob("[0-9]*.ipynb"), *beside.glob("labs/*.ipynb")]):
        for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
            code = "".join(cell["source"])
            if "solution" in cell["metadata"].get("tags", ()) and f'reveal("{name}"' in code.replace("(\n    ", "("):
                return code
    raise CofactorError(f"no notebook next to {Path(__file__).parent} contains a solution of {name!r}")


def tell(sentence: object) -> None:
    """Print a sentence or an error message in lines that JupyterLab does not break within a word."""
    for line in str(sentence).splitlines():
        print(fill(line, LETTERS, break_long_words=False, break_on_hyphens=False))
