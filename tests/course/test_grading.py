"""A function that a learner writes is judged by what it returns, on data not seen before."""

import numpy as np
import pytest

from course.grading import ROWS_SUM_TO_ONE, FunctionExercise, Part


class Shares(FunctionExercise):
    """Rows of weights to shares."""

    hints = ("divide",)
    praise = "rows are shares"

    def given(self):
        return {"W": np.array([[1.0, 3.0], [2.0, 2.0]]), "extra": 1.0}

    def cases(self):
        return [{"W": np.arange(1.0, 7.0).reshape(2, 3), "extra": 0.0}, {"W": np.ones((3, 1)), "extra": 2.0}]

    def solve(self, W, extra):
        V = W + extra
        return [Part("shares", V / V.sum(axis=1, keepdims=True), {}, "shares", (ROWS_SUM_TO_ONE,))]

    def properties(self, case, result):
        if result[0].max() > 1:
            yield "a share exceeds one"

    wrong = {"this forgets `extra`": lambda W, extra: W / W.sum(axis=1, keepdims=True)}  # noqa: RUF012


def good(W, extra):
    return ((W.T + extra) / (W + extra).sum(axis=1)).T


def words(function):
    return Shares().judge(function).words


def test_a_right_function_is_right_however_it_is_written():
    assert words(good) == "correct: rows are shares"
    assert words(lambda W, e: [[(w + e) / sum(row + e) for w in row] for row in W]).startswith("correct")
    assert words(lambda a, b: (good(a, b),)).startswith("correct")


def test_the_result_alone_is_not_the_function():
    assert words(good(np.ones((2, 2)), 0)) == ("not yet: hand in the function itself, by its name and without brackets")


def test_a_typical_mistake_is_named():
    assert words(lambda W, e: W / W.sum(axis=1)[:, None]) == "not yet: this forgets `extra`"


def test_a_broken_law_comes_before_entries():
    said = words(lambda W, e: (W + e) / (W + e).sum())
    assert said == "not yet: on the example, shares: the rows do not sum to one"


def test_a_broken_property_is_told_in_its_own_words():
    def spread(W, e):
        V = np.zeros_like(W)
        V[:, 0] = 1.5
        V[:, -1] += -0.5 if W.shape[1] > 1 else 0
        return V

    assert words(spread) == "not yet: on the example, a share exceeds one"


def test_the_worst_entry_is_named():
    def swapped(W, e):
        V = good(W, e)
        V[-1] = V[-1, ::-1]
        return V

    assert words(swapped).startswith("not yet: on data you have not seen (W 2 × 3), shares: entry [1, ")


def test_what_holds_for_the_example_only_is_told_so():
    def by_heart(W, e):
        return good(Shares().given()["W"], 1.0)

    assert words(by_heart) == (
        "not yet: on data you have not seen (W 2 × 3), expected an array of shape (2, 3), got an array of shape (2, 2)"
    )


@pytest.mark.parametrize("returned", [None, ...])
def test_a_stub_is_unanswered(returned):
    assert words(lambda W, e: returned) == "not answered yet: your function returns nothing"


def test_what_a_function_raises_is_told_with_its_arguments():
    said = words(lambda W: W)
    assert "on the example, your function stops with TypeError" in said and "(it is called with W, extra)" in said
    assert "stops with ZeroDivisionError" in words(lambda W, e: 1 / 0)


def test_changing_what_is_given_is_told():
    def careless(W, extra):
        W += extra
        return W / W.sum(axis=1, keepdims=True)

    assert words(careless) == "not yet: your function changes what it is given, W; work on a copy"


def test_division_by_zero_gives_a_sentence_and_no_warning():
    assert "NaN or infinite" in words(lambda W, e: W / np.zeros_like(W))
