"""Judge an answer: right, a recognised mistake, a violated property, or else its worst entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.types import Floats
from course import seeds

Given = dict[str, Any]

TOLERANCE = 2e-3  # of the largest entry of an answer
NEARLY = 5  # an answer within so many tolerances is probably right, but rounded
UNANSWERED = "not answered yet: replace the placeholder with your answer"


class Law(NamedTuple):
    """A property of every right answer: the message if it is violated, and a test whether an array has it."""

    broken: str
    holds: Callable[[Floats], bool]


def _ones(sums: Floats) -> bool:
    return bool(np.allclose(sums, 1.0, rtol=0, atol=TOLERANCE))


NONNEGATIVE = Law("some entries are negative", lambda a: bool((a >= -1e-9).all()))
SUMS_TO_ONE = Law("the entries do not sum to one", lambda a: _ones(a.sum()))
COLUMNS_SUM_TO_ONE = Law("the columns do not sum to one", lambda a: _ones(a.sum(axis=0)))
ROWS_SUM_TO_ONE = Law("the rows do not sum to one", lambda a: _ones(a.sum(axis=1)))
ORTHOGONAL = Law(
    "this is not orthogonal: its transpose times itself is not the identity",
    lambda a: bool(np.allclose(a.T @ a, np.eye(a.shape[1]), rtol=0, atol=2 * TOLERANCE)),
)


class Part(NamedTuple):
    """One array of an answer: its name, its value, and typical wrong values, keyed by the message for each.

    `unit` says what the numbers are, `laws` which properties a right answer has. `tolerance` is a fraction of the
    largest entry; it is wider if more than one definition of the answer is right.
    """

    name: str
    answer: ArrayLike
    mistakes: Mapping[str, ArrayLike]
    unit: str = ""
    laws: Sequence[Law] = ()
    tolerance: float = TOLERANCE


class Verdict(NamedTuple):
    """Whether an answer is right, one sentence about it, and whether a wrong answer was recognised."""

    right: bool
    words: str
    recognised: bool = True


class Trial(NamedTuple):
    """A call of a learner's function: a name for the data, the arguments, the right parts, and the result."""

    where: str
    case: Given
    parts: list[Part]
    found: list[Floats]


_drawn: dict[tuple[int, int], Given] = {}  # data of this session, by the number of their random generator


class Exercise(ABC):
    """An exercise: its data (the same every time), its solution, hints in order, and praise for the right answer."""

    hints: tuple[str, ...]
    praise: str

    @abstractmethod
    def given(self) -> Given:
        """Return the data by name."""

    @abstractmethod
    def solve(self, *args: Any, **given: Any) -> list[Part]:
        """Return the parts of the answer; the data are passed by name."""

    def own(self, number: int, make: Callable[[np.random.Generator], Given]) -> Given:
        """Draw data, from the learner's name, on which the answer and all typical mistakes differ."""
        key = number, seeds.own(number)
        if key not in _drawn:
            _drawn[key] = seeds.drawn(number, make, lambda given: told_apart(self.solve(**given)))
        return deepcopy(_drawn[key])

    @property
    def parts(self) -> list[Part]:
        """The parts of the right answer."""
        return self.solve(**self.given())

    def judge(self, answer: object) -> Verdict:
        """Judge an answer; this never raises, whatever is handed in."""
        if answer is None or answer is Ellipsis:
            return Verdict(False, UNANSWERED)
        parts = self.parts
        found, trouble = fitted(parts, answer)
        if trouble:
            return Verdict(False, f"not yet: {trouble}")
        for part, value in zip(parts, found, strict=True):
            if not same(value, part):
                known = _mistake(part, value)
                label = f"{part.name}: " if len(found) > 1 else ""
                wrong = known or _broken(part, value) or _worst(part, value)
                return Verdict(False, f"{label}not yet: {wrong}", bool(known))
        return Verdict(True, f"correct: {self.praise}")


class FunctionExercise(Exercise):
    """An exercise whose answer is a function; it is tested on the example and on data that the learner has not seen.

    `given` returns the arguments of the function by name, in order. `solve` returns what the function must return for
    such arguments; its parts need no mistakes. `wrong` holds typical wrong functions, keyed by the message for each;
    they are recognised by their results.
    """

    wrong: ClassVar[Mapping[str, Callable[..., Any]]]

    @abstractmethod
    def cases(self) -> list[Given]:
        """Return arguments that the learner has not seen: other shapes, and special cases."""

    def right(self) -> Callable[..., Any]:
        """Return a right function with the arguments and results of the learner's."""
        names = list(self.given())

        def function(*arguments: Any) -> Any:
            answers = [part.answer for part in self.solve(**dict(zip(names, arguments, strict=True)))]
            return answers[0] if len(answers) == 1 else tuple(answers)

        return function

    def arranged(self, parts: list[Part], result: list[Floats]) -> list[Floats]:
        """Return a result in the order of the solution, if the order is free."""
        return result

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        """Yield a message for each violated property, in addition to the laws of the parts."""
        yield from ()

    def judge(self, answer: object) -> Verdict:
        """Judge a function by its results; this never raises, whatever the function does."""
        tried = self.tried(answer)
        if isinstance(tried, Verdict):
            return tried
        failed = [one for one in tried if not all(map(same, self.arranged(*one[2:]), one[2]))]
        if not failed:
            return Verdict(True, f"correct: {self.praise}")
        for says, wrong in self.wrong.items():
            if all(_as(wrong, case, parts, found) for _, case, parts, found in tried):
                return Verdict(False, f"not yet: {says}")
        return Verdict(False, f"not yet: {self._lack(*failed[0])}", recognised=False)

    def tried(self, answer: object) -> list[Trial] | Verdict:
        """Call a function on the example and all cases; return a verdict if it is no function, or fails on one."""
        if answer is None or answer is Ellipsis:
            return Verdict(False, UNANSWERED)
        if not callable(answer):
            return Verdict(False, "not yet: hand in the function itself, by its name and without parentheses")
        tried = []
        for number, case in enumerate([self.given(), *self.cases()]):
            where, parts = _where(number, case), self.solve(**case)
            found, trouble = called(answer, case, parts, where)
            if trouble:
                return Verdict(False, trouble)
            tried.append(Trial(where, case, parts, found))
        return tried

    def _lack(self, where: str, case: Given, parts: list[Part], found: list[Floats]) -> str:
        """Return what is wrong with a result: a violated property, or its worst entry."""
        for part, value in zip(parts, found, strict=True):
            if broken := _broken(part, value):
                return f"{where}, {part.name}: {broken}"
        for says in self.properties(case, found):
            return f"{where}, {says}"
        part, value = next((p, v) for p, v in zip(parts, found, strict=True) if not same(v, p))
        return f"{where}, {part.name}: {_common(part, value) or _worst(part, value)}"


def called(function: Callable[..., Any], case: Given, parts: Sequence[Part], where: str) -> tuple[list[Floats], str]:
    """Call a learner's function; return its results as arrays, or what is wrong with them. This never raises."""
    arguments = deepcopy(case)
    try:
        with np.errstate(all="ignore"):
            result = function(*arguments.values())
    except Exception as error:  # a learner's function may raise anything, and a learner needs a sentence
        takes = ", ".join(case)
        why = f"{type(error).__name__}: {error}"
        return [], f"not yet: {where}, your function raises {why} (its arguments are {takes})"
    if result is None or result is Ellipsis:
        return [], "not answered yet: your function returns nothing"
    changed = [name for name, value in case.items() if not _unchanged(value, arguments[name])]
    if changed:
        return [], f"not yet: your function changes its argument {changed[0]}; work on a copy"
    found, trouble = fitted(parts, result)
    return found, trouble and f"not yet: {where}, {trouble}"


def fitted(parts: Sequence[Part], answer: object) -> tuple[list[Floats], str]:
    """Return an answer as one array per part, in the shapes of the parts, or what is wrong with its form."""
    values = _split(parts, answer)
    if values is None:
        names = ", ".join(part.name for part in parts)
        return [], f"hand in {len(parts)} arrays or numbers in this order: ({names})"
    found = []
    for part, value in zip(parts, values, strict=True):
        array, expected = _numbers(value), np.asarray(part.answer, dtype=np.float64)
        label = f"{part.name}: " if len(parts) > 1 else ""
        if array is None:
            return [], f"{label}this is not an array of numbers; expected {shape_in_words(expected)}"
        if array.squeeze().shape != expected.squeeze().shape:
            return [], f"{label}expected {shape_in_words(expected)}, got {shape_in_words(array)}"
        if not np.isfinite(array).all():
            return (
                [],
                f"{label}some entries are NaN or infinite; check for division by zero or the logarithm of zero",
            )
        found.append(array.reshape(expected.shape))
    return found, ""


def shape_in_words(array: Floats) -> str:
    """Describe the shape of an array for a learner."""
    return "a single number" if array.ndim == 0 else f"an array of shape {array.shape}"


def same(found: Floats, part: Part, answer: ArrayLike | None = None) -> bool:
    """Whether an array equals a part's answer (or another array), up to the part's tolerance."""
    expected = np.asarray(part.answer if answer is None else answer, dtype=np.float64)
    return found.shape == expected.shape and _distance(found, expected) <= part.tolerance


def told_apart(parts: Sequence[Part]) -> bool:
    """Whether the answer and all typical mistakes of every part differ by more than rounding."""
    for part in parts:
        wide = part._replace(tolerance=max(NEARLY * TOLERANCE, 1.5 * part.tolerance))
        values = [np.asarray(value, dtype=np.float64) for value in (part.answer, *part.mistakes.values())]
        if any(same(one, wide, other) for i, one in enumerate(values) for other in values[:i]):
            return False
    return True


def _distance(found: Floats, expected: Floats) -> float:
    """Return the largest difference, as a fraction of the largest expected entry."""
    scale = float(np.abs(expected).max(initial=0.0)) or 1.0
    return float(np.abs(found - expected).max(initial=0.0)) / scale


def _split(parts: Sequence[Part], answer: Any) -> list[object] | None:
    """Return the parts of an answer in order; None if their number is wrong."""
    if len(parts) == 1:
        return [answer[0]] if isinstance(answer, tuple) and len(answer) == 1 else [answer]
    if isinstance(answer, Mapping):
        names = [part.name for part in parts]
        answer = [answer[name] for name in names] if set(names) <= set(answer) else answer.values()
    if isinstance(answer, str | bytes | set | frozenset) or not isinstance(answer, Iterable):
        return None
    try:
        values = list(answer.to_numpy() if hasattr(answer, "to_numpy") else answer)
    except Exception:  # a stranger's object may raise anything
        return None
    return values if len(values) == len(parts) else None


def _numbers(value: Any) -> Floats | None:
    try:
        if isinstance(value, Mapping):
            value = value.values()
        if isinstance(value, Iterator) or type(value).__name__ in ("dict_values", "dict_keys"):
            value = list(value)
        if np.iscomplexobj(value):
            return None
        return np.asarray(value, dtype=np.float64)
    except Exception:  # a stranger's object may raise anything when asked for numbers, and a learner needs a sentence
        return None


def _mistake(part: Part, found: Floats) -> str:
    """Return the message for the typical mistake that an array equals; empty if there is none."""
    for says, wrong in part.mistakes.items():
        if same(found, part, wrong):
            return says
    return _common(part, found)


def _common(part: Part, found: Floats) -> str:
    """Return the message for a mistake that is possible in any answer; empty if there is none."""
    expected = np.asarray(part.answer, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(expected)
    known = {
        "this is in per cent; give fractions between 0 and 1": 100 * expected,
        "the sign is wrong": -expected,
        "this is transposed: rows and columns are swapped": expected.T,
    }
    if np.isfinite(log).all():
        known["these are logarithms of the answer; take exp of them"] = log
    for says, wrong in known.items():
        if same(found, part, wrong):
            return says
    if _reordered(part, found):
        return "these are the right numbers, but in a different order"
    if _distance(found, expected) <= NEARLY * part.tolerance or _rounded(found, expected):
        return "nearly right, but these numbers seem to be rounded; hand in all digits"
    return ""


def _rounded(found: Floats, expected: Floats) -> bool:
    """Whether an array is another with fewer decimals."""
    return bool(found.any()) and any(np.allclose(found, expected.round(digits), rtol=0, atol=1e-9) for digits in (1, 2))


def _reordered(part: Part, found: Floats) -> bool:
    """Whether an array has the numbers of the answer in a different order; False if some of these are equal."""
    right, ours = (np.sort(np.ravel(np.asarray(a, dtype=np.float64))) for a in (part.answer, found))
    apart = np.diff(right).min(initial=np.inf)
    return len(right) > 1 and apart > NEARLY * part.tolerance * np.abs(right).max() and same(ours, part, right)


def _broken(part: Part, found: Floats) -> str:
    """Return the message for the first property that an array violates; empty if there is none."""
    return next((law.broken for law in part.laws if not law.holds(found)), "")


def _worst(part: Part, found: Floats) -> str:
    """Say which entry is furthest from right, and whether it is too large or too small; not by how much."""
    expected = np.asarray(part.answer, dtype=np.float64)
    at = np.unravel_index(np.abs(found - expected).argmax(), expected.shape)
    side = "large" if found[at] > expected[at] else "small"
    if expected.ndim == 0:
        return f"{found[at]:.3g} is too {side}"
    place = ", ".join(map(str, map(int, at)))
    return f"entry [{place}] is furthest off: {found[at]:.3g} is too {side}"


def _where(number: int, case: Given) -> str:
    """Name the data on which a function was tried, with the shapes of its arguments."""
    if number == 0:
        return "on the example"
    sizes = [f"{name} {' × '.join(map(str, np.shape(value)))}" for name, value in case.items() if np.ndim(value)]
    return f"on data you have not seen ({', '.join(sizes) or f'set {number}'})"


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray):
        return before.shape == after.shape and bool(np.array_equal(before, after, equal_nan=before.dtype.kind == "f"))
    return bool(np.all(before == after)) if np.ndim(before) == 0 else _alike(before, after)


def _alike(before: Iterable[Any], after: Iterable[Any]) -> bool:
    one, other = list(before), list(after)
    return len(one) == len(other) and all(_unchanged(a, b) for a, b in zip(one, other, strict=True))


def _as(wrong: Callable[..., Any], case: Given, parts: list[Part], found: list[Floats]) -> bool:
    """Whether a wrong function returns these results."""
    with np.errstate(all="ignore"):
        values, trouble = fitted(parts, wrong(*deepcopy(case).values()))
    return not trouble and all(same(a, part, b) for a, part, b in zip(found, parts, values, strict=True))
