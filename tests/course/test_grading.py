"""A function that a learner writes is judged by what it returns, on data not seen before."""

import numpy as np
import pytest

from course.grading import ROWS_SUM_TO_ONE, Exercise, FunctionExercise, Part


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


class Numbers(Exercise):
    """Five numbers, some of them equal where that is wished."""

    praise = "all five"

    def __init__(self, *answer):
        self.answer = np.array(answer)

    def given(self):
        return {}

    def solve(self):
        return [Part("numbers", self.answer, {})]


def good(W, extra):
    return ((W.T + extra) / (W + extra).sum(axis=1)).T


def words(function):
    return Shares().judge(function).words


def test_a_right_function_is_right_however_it_is_written():
    assert words(good) == "correct: rows are shares"
    assert words(lambda W, e: [[(w + e) / sum(row + e) for w in row] for row in W]).startswith("correct")
    assert words(lambda a, b: (good(a, b),)).startswith("correct")


def test_the_result_alone_is_not_the_function():
    assert words(good(np.ones((2, 2)), 0)) == (
        "not yet: hand in the function itself, by its name and without parentheses"
    )


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
    assert "on the example, your function raises TypeError" in said and "(its arguments are W, extra)" in said
    assert "raises ZeroDivisionError" in words(lambda W, e: 1 / 0)


def test_changing_what_is_given_is_told():
    def careless(W, extra):
        W += extra
        return W / W.sum(axis=1, keepdims=True)

    assert words(careless) == "not yet: your function changes its argument W; work on a copy"


def test_division_by_zero_gives_a_sentence_and_no_warning():
    assert "NaN or infinite" in words(lambda W, e: W / np.zeros_like(W))


def test_numbers_in_another_order_are_told_where_no_two_are_equal():
    answer = np.array([0.12, 0.35, 0.08, 0.41, 0.04])
    assert (
        Numbers(*answer).judge(answer[::-1]).words == "not yet: these are the right numbers, but in a different order"
    )
    assert "furthest off" in Numbers(*answer).judge(answer[[4, 3, 2, 1, 1]]).words
    assert "furthest off" in Numbers(1, 2, 2, 1, 1).judge([2, 1, 2, 1, 1]).words


def test_few_decimals_are_told_as_rounding():
    answer = np.array([0.123, 0.346, 0.081, 0.412, 0.038])
    for digits in (1, 2):
        assert "rounded" in Numbers(*answer).judge(answer.round(digits)).words
    assert "furthest off" in Numbers(*answer).judge(np.zeros(5)).words
    assert "furthest off" in Numbers(*(0.04 * answer)).judge(np.zeros(5)).words
