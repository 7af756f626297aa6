"""The desk where exercises are handed out and judged, by their names."""

from __future__ import annotations

from textwrap import fill

from cofactor.core.errors import CofactorError, listing
from course.exercises import (
    comparisons,
    convergence,
    frank_wolfe,
    identifiability,
    imputation,
    joint_pmf,
    real_crowd,
    start,
    theory,
    topics_communities,
    your_data,
)
from course.grading import Exercise, Given, grade

LETTERS = 88  # in a line: JupyterLab breaks longer ones within a word

EXERCISES: dict[str, Exercise] = {  # one module per notebook
    **theory.EXERCISES,
    **start.EXERCISES,
    **identifiability.EXERCISES,
    **imputation.EXERCISES,
    **convergence.EXERCISES,
    **frank_wolfe.EXERCISES,
    **comparisons.EXERCISES,
    **real_crowd.EXERCISES,
    **joint_pmf.EXERCISES,
    **topics_communities.EXERCISES,
    **your_data.EXERCISES,
}


def given(name: str) -> Given:
    """Return the data of an exercise, by name; the same in every session.

    Raises
    ------
    CofactorError
        There is no such exercise; the message lists them.
    """
    if not _known(name):
        raise CofactorError(_unknown(name))
    return EXERCISES[name].given()


def check(name: str, answer: object) -> None:
    """Print one sentence: "correct: ..." or what to look at again.

    Answers rounded to three decimals are right. Of wrong answers, the typical ones are recognised.
    """
    _print(grade(EXERCISES[name], answer) if _known(name) else _unknown(name))


def hint(name: str, number: int = 1) -> None:
    """Print a hint; the higher its number, the more it gives away."""
    if not _known(name):
        _print(_unknown(name))
        return
    hints = EXERCISES[name].hints
    if number in range(1, len(hints) + 1):
        _print(f"hint {number} of {len(hints)}: {hints[number - 1]}")
    else:
        print(f"there are hints 1 to {len(hints)} for {name!r}")


def _print(sentence: str) -> None:
    print(fill(sentence, LETTERS, break_long_words=False, break_on_hyphens=False))


def _known(name: object) -> bool:
    return isinstance(name, str) and name in EXERCISES


def _unknown(name: object) -> str:
    return f"no exercise {name!r}; there are {listing(EXERCISES)}"
