"""Exercises in the shape they had, until each is in its notebook's package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from course import grading
from course.grading import Given

__all__ = ["Exercise", "Given", "Mistake", "Part"]


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer."""

    value: Callable[[Given], ArrayLike]
    says: str


@dataclass(frozen=True)
class Part:
    """One array of an answer."""

    name: str
    answer: Callable[[Given], ArrayLike]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Exercise:
    """An exercise in its old shape."""

    given: Callable[[], Given]
    old: tuple[Part, ...]
    hints: tuple[str, ...]
    praise: str

    @property
    def parts(self) -> list[grading.Part]:
        """Solved."""
        g = self.given()
        return [grading.Part(p.name, p.answer(g), {m.says: m.value(g) for m in p.mistakes}) for p in self.old]
