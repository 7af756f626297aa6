"""Right answers are accepted, typical wrong ones recognised, and nothing that a learner types makes a traceback."""

import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError
from course import check, desk, given, hint, passed
from course.desk import LETTERS, NOTEBOOKS, exercises, exercises_of
from course.grading import TOLERANCE, FunctionExercise, same
from tests.each import each

EXERCISES = exercises()
NAMES = sorted(EXERCISES)
FUNCTIONS = [name for name in NAMES if isinstance(EXERCISES[name], FunctionExercise)]
NUMBERS = [name for name in NAMES if name not in FUNCTIONS]


def right(name):
    answers = [np.asarray(part.answer) for part in EXERCISES[name].parts]
    return answers[0] if len(answers) == 1 else tuple(answers)


def solved(name):
    """The function that a function exercise asks for."""
    return EXERCISES[name].right()


def with_part(name, position, value):
    answer = right(name)
    return value if position is None else tuple(value if i == position else part for i, part in enumerate(answer))


def parts(name):
    """Each part with its place in the answer; None where it is the whole answer."""
    single = len(EXERCISES[name].parts) == 1
    return [(None if single else i, part) for i, part in enumerate(EXERCISES[name].parts)]


def words(name, answer):
    return EXERCISES[name].judge(answer).words


def told(capsys):
    """What was printed, put back into one line; the lines printed are short, and none breaks a word."""
    printed = capsys.readouterr().out
    assert all(len(line) <= LETTERS for line in printed.splitlines())
    return " ".join(printed.split())


def test_every_notebook_has_exercises_of_its_own_names():
    assert NOTEBOOKS
    assert sum(len(exercises_of(notebook)) for notebook in NOTEBOOKS) == len(EXERCISES)


def significant(array, digits):
    return np.array([float(f"{x:.{digits}g}") for x in np.ravel(array)]).reshape(np.shape(array))


@pytest.mark.slow
@each("name", NUMBERS)
def test_four_digits_will_do(name, capsys):
    rounded = [significant(part.answer, 4) for part in EXERCISES[name].parts]
    check(name, rounded[0] if len(rounded) == 1 else tuple(rounded))
    assert told(capsys) == f"correct: {EXERCISES[name].praise}"


@each("name", FUNCTIONS)
def test_the_function_asked_for_is_right_and_the_one_that_returns_nothing_unanswered(name):
    assert EXERCISES[name].judge(solved(name)).right
    assert words(name, lambda *_: None) == "not answered yet: your function returns nothing"


@each("name", FUNCTIONS)
def test_what_is_tried_differs_from_the_example(name):
    exercise = EXERCISES[name]
    assert 2 <= len(exercise.cases()) <= 6 and len(exercise.wrong) >= 2
    assert all(list(case) == list(exercise.given()) for case in exercise.cases())
    remembered = solved(name)(*exercise.given().values())
    assert not exercise.judge(lambda *_: remembered).right


@each("name", FUNCTIONS)
def test_every_typical_wrong_function_gets_its_own_words(name):
    exercise = EXERCISES[name]
    for says, wrong in exercise.wrong.items():
        assert exercise.judge(wrong).words == f"not yet: {says}"


@each("name", FUNCTIONS)
def test_laws_hold_of_right_results(name):
    exercise = EXERCISES[name]
    for case in [exercise.given(), *exercise.cases()]:
        found = [np.asarray(part.answer, dtype=float) for part in exercise.solve(**case)]
        assert all(
            law.holds(value) for part, value in zip(exercise.solve(**case), found, strict=True) for law in part.laws
        )
        assert not list(exercise.properties(case, found))


@pytest.mark.slow
@each("name", NUMBERS)
def test_laws_hold_of_right_answers(name):
    assert all(law.holds(np.asarray(part.answer, dtype=float)) for _, part in parts(name) for law in part.laws)


@pytest.mark.slow
@each("name", NAMES)
def test_the_data_are_the_same_every_time_and_fresh(name):
    first, second = given(name), given(name)
    assert first.keys() == second.keys()
    for key in first:
        assert np.array_equal(first[key], second[key])
    for value in second.values():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value[:] = 0
    assert all(np.array_equal(first[key], given(name)[key]) for key in first)


@pytest.mark.slow
@each("name", NUMBERS)
def test_every_typical_mistake_gets_its_own_words(name):
    for position, part in parts(name):
        assert len(part.mistakes) >= 2
        for says, wrong in part.mistakes.items():
            assert words(name, with_part(name, position, wrong)).endswith(f"not yet: {says}")


@pytest.mark.slow
@each("name", NUMBERS)
def test_mistakes_differ_from_the_answer_and_from_each_other(name):
    for _, part in parts(name):
        values = [np.asarray(value, dtype=float) for value in (part.answer, *part.mistakes.values())]
        wide = part._replace(tolerance=max(4 * TOLERANCE, 1.5 * part.tolerance))
        for i, one in enumerate(values):
            for other in values[:i]:
                assert one.shape == other.shape and not same(one, wide, other)


@pytest.mark.slow
@each("name", NUMBERS)
def test_common_mistakes_are_recognised(name):
    for position, part in parts(name):
        expected = np.asarray(part.answer, dtype=float)
        scale = np.abs(expected).max()
        if not part.mistakes.keys() & {"this is in per cent; give fractions between 0 and 1"}:
            said = words(name, with_part(name, position, 100 * expected))
            assert "per cent" in said or said.split("not yet: ")[1] in part.mistakes
        assert "nearly" in words(name, with_part(name, position, expected + 3 * part.tolerance * scale * top(expected)))


def top(array):
    """One at the largest entry, zero elsewhere."""
    return (np.abs(array) == np.abs(array).max()).astype(float)


def test_the_worst_entry_is_named_and_its_side_but_not_its_value():
    expected = right("posterior")
    most = int(expected.argmax())
    moved = 0.15 * expected[most] * np.where(np.arange(3) == most, -2, 1)  # the sum stays one
    said = words("posterior", expected + moved)
    assert f"entry [{most}] is furthest off" in said and "too small" in said and f"{expected[most]:.3g}" not in said
    assert "is too large" in words("accuracy", right("accuracy") + 0.07)


@pytest.mark.slow
@each(
    "garbage, name",
    product(
        [
            None,
            ...,
            "no idea",
            b"0",
            [],
            {},
            set(),
            object(),
            [[1], [1, 2]],
            np.zeros((0, 3)),
            np.full((3, 3), np.nan),
            np.inf,
            1j,
            np.ones((3, 3), dtype=complex),
            np.zeros((2, 2, 2, 2)),
            pd.Series(["a", "b"]),
            len,
            float,
            True,
            (1, 2, 3),
            ("A", None),
            {"A": 1},
            "0.5",
            -1e300,
            iter([]),
            lambda: None,
            lambda *_: 1j,
            lambda *_: object(),
        ],
        NAMES,
    ),
)
def test_garbage_gets_a_friendly_sentence(name, garbage, capsys):
    check(name, garbage)
    said = told(capsys)
    assert said.startswith("not ") or ": not yet" in said
    assert not passed(name)


class Stubborn:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("never")


def test_objects_that_refuse_to_be_numbers_are_no_numbers():
    assert "not an array of numbers" in words("accuracy", Stubborn())


def test_complex_numbers_are_refused_even_where_numpy_only_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "not an array of numbers" in words("posterior", right("posterior") + 0j)
    assert not caught


def test_nan_is_named():
    assert "NaN" in words("posterior", right("posterior") * [1, np.nan, 1])


def test_unanswered_is_told_from_wrong():
    assert words("accuracy", ...) == "not answered yet: replace the placeholder with your answer"


def test_shapes_are_told():
    assert "expected a single number, got an array of shape (3,)" in words("accuracy", np.ones(3))
    assert "expected an array of shape (3,), got a single number" in words("posterior", 1)
    assert "expected an array of shape (3, 3), got" in words("imputation", right("imputation").ravel())
    assert "(A_m, lambda)" in words("read_off", np.eye(3))
    assert words("read_off", (right("read_off")[0], np.ones(4))).startswith("not yet: lambda: expected")


@pytest.mark.parametrize(
    "form", [tuple, list, np.array, np.stack, iter, lambda parts: dict(zip("ab", parts, strict=True)), pd.Series],
    ids=["tuple", "list", "array", "stack", "iterator", "dict", "series"],
)  # fmt: skip
def test_parts_come_in_any_sequence(form):
    lists, dense = right("bytes")
    assert EXERCISES["bytes"].judge(form([lists, dense])).right


def test_parts_may_come_by_their_names_in_any_order():
    A, weights = right("read_off")
    assert EXERCISES["read_off"].judge({"lambda": weights, "A_m": A}).right


@pytest.mark.parametrize("form", [list, tuple, pd.Series, lambda p: p[:, None], lambda p: p[None], iter, np.float32])
def test_a_vector_comes_in_any_sequence(form):
    assert EXERCISES["posterior"].judge(form(right("posterior"))).right


def test_a_table_is_a_matrix():
    assert EXERCISES["co-occurrence"].judge(pd.DataFrame(right("co-occurrence"))).right


@pytest.mark.slow
@each("name", NAMES)
def test_hints_come_in_order_and_after_all_of_them_a_solution(name, capsys):
    desk.hints_read.clear()
    hints = EXERCISES[name].hints
    beyond = len(hints) + 1
    for number, text in enumerate(hints, start=1):
        for other in (0, "next", beyond):
            hint(name, other)
        assert told(capsys).count(f"exercise {name!r} has hints 1 to {len(hints)}; after you have read them") == 3
        hint(name, number)
        said = told(capsys)
        assert said.startswith(" ".join(f"hint {number} of {len(hints)}: {text}".split()))
        assert (f'Still stuck? hint("{name}", {beyond})' in said) == (number == len(hints))
    hint(name, beyond)
    code = capsys.readouterr().out
    assert code.startswith("# Solution: click to open") and f'"{name}"' in code
    desk.shown.discard(name)


def test_whoever_is_stuck_is_told_a_call_that_works(capsys):
    check("accuracy", 0.123)
    said = told(capsys)
    assert said.endswith('Stuck? hint("accuracy")')
    exec("from course import hint\n" + said.rpartition("Stuck? ")[2])
    assert told(capsys).startswith("hint 1 of")


def test_what_was_handed_in_last_counts():
    desk.handed_in.clear()
    assert not passed("accuracy")
    check("accuracy", right("accuracy"))
    assert passed("accuracy")
    check("accuracy", 0)
    assert not passed("accuracy")
    with pytest.raises(CofactorError, match="unknown exercise"):
        passed("acuracy")


def test_unknown_exercises_are_answered_with_the_known_ones(capsys):
    check("posteriour", 1)
    hint("posteriour")
    said = told(capsys)
    assert said.count("unknown exercise 'posteriour'; the exercises are faults, vote") == 2
    with pytest.raises(CofactorError, match="unknown exercise 'posteriour'"):
        given("posteriour")
    check(["posterior"], 1)
    assert "unknown exercise" in capsys.readouterr().out


@pytest.mark.slow
def test_a_copy_of_a_notebook_in_another_folder_finds_its_exercises_and_loads_its_own_notebook_alone(tmp_path):
    code = """
from course import check, given, nb04
check("speed", given("speed")["first"])
import sys
print(sorted(name for name in sys.modules if name.startswith("course.nb") and name.count(".") == 1))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("not yet: hand in 2 arrays") and done.stdout.splitlines()[-1] == "['course.nb04']"
