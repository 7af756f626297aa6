"""Right answers are accepted, typical wrong ones recognised, and nothing that a learner types makes a traceback."""

import subprocess
import sys
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError
from course import check, given, hint
from course.desk import LETTERS, NOTEBOOKS, exercises, exercises_of
from course.grading import TOLERANCE, grade

EXERCISES = exercises()
NAMES = sorted(EXERCISES)


def right(name):
    answers = [np.asarray(part.answer) for part in EXERCISES[name].parts]
    return answers[0] if len(answers) == 1 else tuple(answers)


def with_part(name, position, value):
    answer = right(name)
    return value if position is None else tuple(value if i == position else part for i, part in enumerate(answer))


def parts(name):
    """Each part with its place in the answer; None where it is the whole answer."""
    single = len(EXERCISES[name].parts) == 1
    return [(None if single else i, part) for i, part in enumerate(EXERCISES[name].parts)]


def weights(g):
    w = [1 / np.sqrt(np.sum((R - g["U_m"] @ U.T) ** 2) + 1e-6) for R, U in zip(g["R"], g["U"], strict=True)]
    return np.array(w) / sum(w)


def rotation(g):
    W, _, Vt = np.linalg.svd(g["H"].T @ g["U"])
    return Vt.T @ W.T


def speed(g):
    slope = np.polyfit(range(10, 61), np.log10(g["errors"][10:]), 1)[0]
    return 10**slope, -1 / slope


SAMPLES_AND_STEPS = {  # notebooks 03 and 04
    "rate": lambda g: -np.polyfit(np.log(g["sizes"]), np.log(g["errors"]), 1)[0],
    "labels_needed": lambda g: (g["error"] / g["target"]) ** 2,
    "weights": weights,
    "shift": lambda g: (g["Z"] * (g["Z"] >= g["alpha"]), np.maximum(g["Z"], g["alpha"])),
    "rotation": rotation,
    "speed": speed,
}


def log_likelihoods(g):
    return [
        sum(np.log(sum(p[c] * A[0, y[0], c] * A[1, y[1], c] * A[2, y[2], c] for c in range(2))) for y in g["labels"])
        for p, A in zip(g["priors"], g["A"], strict=True)
    ]


def paired(g):
    d = [int(b != t) - int(a != t) for a, b, t in zip(g["first"], g["second"], g["truth"], strict=True)]
    return sum(d) / 200, np.sqrt((sum(x * x for x in d) / 200 - (sum(d) / 200) ** 2) / 200)


REAL_CROWD = {  # notebook 07
    "backwards": lambda g: np.log(g["accuracy"]) - np.log1p(-g["accuracy"]),
    "starts": log_likelihoods,
    "paired": paired,
}


def residual(g):
    X, a = g["X"], g["X"][:, 0]
    return [x @ x - (a @ x) ** 2 / (a @ a) for x in X.T]


def third(g):
    joint = [[sum(g["prior"][f] * g["A_1"][1, f] * g["A_3"][i, f] for f in range(2))] for i in range(3)]
    return np.ravel(joint) / np.sum(joint)


JOINT_PMF = {  # notebook 08
    "pair": lambda g: np.einsum("f,if,kf->ik", g["prior"], g["A_1"], g["A_2"]),
    "residual": residual,
    "missing": third,
}


def step(g):
    slopes = [sum(X_n * (g["X"] @ g["c"] - g["x"])) for X_n in g["X"].T]
    return [c / 2 + (n == np.argmin(slopes)) / 2 for n, c in enumerate(g["c"])]


def penalty(g):
    return [[np.exp(c / g["mu"]) / sum(np.exp(row / g["mu"])) for c in row] for row in g["C"]]


FRANK_WOLFE = {  # notebook 05
    "step": step,
    "bytes": lambda g: (12 * 20_000 * 50 / 10**6, 8 * 20_000**2 / 10**6),
    "penalty": penalty,
}


def pull(g):
    z = sum(u * (a - b) for u, a, b in zip(g["U_u"], g["V_i"], g["V_j"], strict=True))
    return [(1 / (1 + np.exp(-z)) - g["w"]) * u for u in g["U_u"]]


def utilities_off(g):
    found, truth = ([[u @ v for v in V - V.mean(axis=0)] for u in U] for U, V in
                    ((g["U"], g["V"]), (g["true_U"], g["true_V"])))  # fmt: skip
    return np.sqrt(np.sum((np.array(found) - truth) ** 2) / np.sum(np.square(truth)))


def choices(g):
    dof = 4 * (500 + 200 - 1 - 4)
    return np.sqrt(dof / (2 * g["m"] * g["information"] * g["spread"] ** 2)), 3**2


COMPARISONS = {"pull": pull, "error": utilities_off, "choices": choices}  # notebook 06


def word_pairs(g):
    together = [[sum(F_d[i] * F_d[j] for F_d in g["F"]) for j in range(4)] for i in range(4)]
    return np.array(together) / [sum(row[j] for row in together) for j in range(4)]


def coherent(g):
    documents = [{word for word in range(3) if row[word]} for row in g["counts"]]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return sum(
        2 * np.log((sum({a, b} <= d for d in documents) + 0.01) / sum(a in d for d in documents)) for a, b in pairs
    )


def membership(g):
    weights = np.maximum(g["V"] @ np.linalg.inv(g["V"][g["pure"]]), 0)
    return [row / sum(row) for row in weights]


TOPICS_COMMUNITIES = {"word_pairs": word_pairs, "coherent": coherent, "membership": membership}  # notebook 09


def groups(g):
    group = {m: {m} for m in set(g["worker"].tolist())}
    for n in set(g["task"].tolist()):
        merged = set().union(*(group[m] for m in g["worker"][g["task"] == n].tolist()))
        for m in merged:
            group[m] = merged
    return len({frozenset(members) for members in group.values()})


def enough(g):
    share = [sum(row[j] <= g["wanted"] for row in g["errors"]) / len(g["errors"]) for j in range(len(g["amounts"]))]
    return share, next(d for d, s in zip(g["amounts"], share, strict=True) if s >= 0.9)


def nine_of_ten(g):
    ordered = sorted(g["refits"])
    ends = [q * (len(ordered) - 1) for q in (0.05, 0.95)]
    return [ordered[int(x)] + (x % 1) * (ordered[int(x) + 1] - ordered[int(x)]) for x in ends]


def imagined(g):
    P = [[g["counts"][i, k] + (g["right"] if i == k else g["wrong"]) for k in range(3)] for i in range(3)]
    return [[P[i][k] / sum(P[j][k] for j in range(3)) for k in range(3)] for i in range(3)]


REAL_CROWD = REAL_CROWD | {"imagined": imagined}  # notebook 07
YOUR_DATA = {"groups": groups, "enough": enough, "refits": nine_of_ten}  # notebook 10


def posterior(g):
    joint = g["prior"].copy()
    for A, label in zip(g["A"], g["labels"], strict=True):
        joint *= A[label] if label >= 0 else 1
    return joint / joint.sum()


def co_occurrence(g):
    pairs = [(i, k) for i, k in zip(g["labels_m"], g["labels_j"], strict=True) if i >= 0 and k >= 0]
    return [[pairs.count((i, k)) / len(pairs) for k in range(3)] for i in range(3)]


def read_off(g):
    block = g["H"][g["m"] * 3 : (g["m"] + 1) * 3]
    return block / block.sum(axis=0), block.sum(axis=0) ** 2


START_AND_THEORY = {  # notebooks 00 and 01
    "accuracy": lambda g: sum(g["prior"][c] * g["A"][c, c] for c in range(3)),
    "expected_wrong": lambda g: sum(1 - max(row) for row in g["posterior"]),
    "posterior": posterior,
    "co-occurrence": co_occurrence,
    "imputation": lambda g: g["R_mr"] @ np.linalg.inv(g["R_lr"]) @ g["R_ln"],
    "read_off": read_off,
}


def model_error(g):
    return min(
        sum((g["prior"] - g["prior_hat"][p]) ** 2) + ((g["A"] - g["A_hat"][:, :, p]) ** 2).sum()
        for p in map(list, permutations(range(3)))
    ) / 13  # fmt: skip


IDENTIFIABILITY = {  # notebook 02
    "specialists": lambda g: [min(np.linalg.norm(h / sum(h) - e) for h in g["H"]) for e in np.eye(3)],
    "longest_corner": lambda g: max(np.linalg.norm(x / sum(x)) for x in np.linalg.inv(g["H"]).T),
    "model_error": model_error,
}
BY_HAND = START_AND_THEORY | IDENTIFIABILITY | SAMPLES_AND_STEPS | FRANK_WOLFE | COMPARISONS
BY_HAND |= REAL_CROWD | JOINT_PMF | TOPICS_COMMUNITIES | YOUR_DATA


def told(capsys):
    """What was printed, put back into one line; the lines printed are short, and none breaks a word."""
    printed = capsys.readouterr().out
    assert all(len(line) <= LETTERS for line in printed.splitlines())
    return " ".join(printed.split())


@pytest.mark.parametrize("name", NAMES)
def test_the_right_answer_is_accepted(name, capsys):
    check(name, BY_HAND[name](given(name)))
    assert told(capsys) == f"correct: {EXERCISES[name].praise}"


def test_every_notebook_has_exercises_of_its_own_names():
    assert tuple(f"nb{number:02d}" for number in range(11)) == NOTEBOOKS
    assert sum(len(exercises_of(notebook)) for notebook in NOTEBOOKS) == len(EXERCISES) == len(BY_HAND)


@pytest.mark.parametrize("name", NAMES)
def test_three_decimals_will_do(name):
    rounded = right(name)
    rounded = tuple(np.round(part, 3) for part in rounded) if isinstance(rounded, tuple) else np.round(rounded, 3)
    assert grade(EXERCISES[name], rounded).startswith("correct")


@pytest.mark.parametrize("name", NAMES)
def test_the_data_are_the_same_every_time_and_fresh(name):
    first, second = given(name), given(name)
    assert first.keys() == second.keys()
    for key in first:
        assert np.array_equal(first[key], second[key])
    for value in second.values():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value[:] = 0
    assert all(np.array_equal(first[key], given(name)[key]) for key in first)


@pytest.mark.parametrize("name", NAMES)
def test_every_typical_mistake_gets_its_own_words(name):
    for position, part in parts(name):
        assert len(part.mistakes) >= 2
        for says, wrong in part.mistakes.items():
            assert grade(EXERCISES[name], with_part(name, position, wrong)).endswith(f"not yet: {says}")


@pytest.mark.parametrize("name", NAMES)
def test_mistakes_differ_from_the_answer_and_from_each_other(name):
    for _, part in parts(name):
        values = [np.asarray(value) for value in (part.answer, *part.mistakes.values())]
        for i, one in enumerate(values):
            for other in values[:i]:
                assert one.shape == other.shape and np.abs(one - other).max() > 4 * TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_common_mistakes_are_recognised(name):
    for position, part in parts(name):
        expected = np.asarray(part.answer)
        assert "per cent" in grade(EXERCISES[name], with_part(name, position, 100 * expected))
        if np.all(expected > 0):
            assert "logarithms" in grade(EXERCISES[name], with_part(name, position, np.log(expected)))
        assert "off by 0.25" in grade(EXERCISES[name], with_part(name, position, expected + 0.25))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "garbage",
    [
        None, ..., "no idea", b"0", [], {}, set(), object(), [[1], [1, 2]], np.zeros((0, 3)), np.full((3, 3), np.nan),
        np.inf, 1j, np.ones((3, 3), dtype=complex), np.zeros((2, 2, 2, 2)), pd.Series(["a", "b"]), print, float, True,
        (1, 2, 3), ("A", None), {"A": 1}, "0.5", -1e300,
    ],
)  # fmt: skip
def test_garbage_gets_a_friendly_sentence(name, garbage, capsys):
    check(name, garbage)
    said = told(capsys)
    assert "not" in said and "correct" not in said and "Error" not in said


class Stubborn:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("never")


def test_objects_that_refuse_to_be_numbers_are_no_numbers():
    assert "no array of numbers" in grade(EXERCISES["accuracy"], Stubborn())


def test_complex_numbers_are_refused_even_where_numpy_only_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "no array of numbers" in grade(EXERCISES["posterior"], right("posterior") + 0j)
    assert not caught


def test_nan_is_named():
    answer = right("posterior") * [1, np.nan, 1]
    assert "NaN" in grade(EXERCISES["posterior"], answer)


def test_unanswered_is_told_from_wrong():
    assert grade(EXERCISES["accuracy"], ...) == "not answered yet: replace the placeholder by your answer"


def test_shapes_are_told():
    assert "expected a single number, got an array of shape (3,)" in grade(EXERCISES["accuracy"], np.ones(3))
    assert "expected an array of shape (3,), got a single number" in grade(EXERCISES["posterior"], 1)
    assert "expected an array of shape (3, 3), got" in grade(EXERCISES["imputation"], right("imputation").ravel())
    assert "(A_m, lambda)" in grade(EXERCISES["read_off"], np.eye(3))
    assert grade(EXERCISES["read_off"], (right("read_off")[0], np.ones(4))).startswith("lambda: not yet: expected")


def test_a_column_is_as_good_as_a_row():
    assert grade(EXERCISES["posterior"], right("posterior")[:, None]).startswith("correct")
    assert grade(EXERCISES["co-occurrence"], pd.DataFrame(right("co-occurrence"))).startswith("correct")


@pytest.mark.parametrize("name", NAMES)
def test_hints_come_in_order(name, capsys):
    hints = EXERCISES[name].hints
    for number, text in enumerate(hints, start=1):
        hint(name, number)
        assert told(capsys) == f"hint {number} of {len(hints)}: {text}"
    hint(name)
    assert hints[0] in told(capsys)
    hint(name, len(hints) + 1)
    hint(name, 0)
    hint(name, "next")
    assert capsys.readouterr().out == 3 * f"there are hints 1 to {len(hints)} for {name!r}\n"


def test_unknown_exercises_are_answered_with_the_known_ones(capsys):
    check("posteriour", 1)
    hint("posteriour")
    said = told(capsys)
    assert said.count("no exercise 'posteriour'; there are accuracy, expected_wrong") == 2
    with pytest.raises(CofactorError, match="no exercise 'posteriour'"):
        given("posteriour")
    check(["posterior"], 1)
    assert "no exercise" in capsys.readouterr().out


def test_a_copy_of_a_notebook_in_another_folder_finds_its_exercises_and_loads_its_own_notebook_alone(tmp_path):
    code = """
from course import check, given, nb04
check("speed", given("speed")["first"])
import sys
print(sorted(name for name in sys.modules if name.startswith("course.nb") and name.count(".") == 1))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("not yet: give 2 arrays") and done.stdout.splitlines()[-1] == "['course.nb04']"
