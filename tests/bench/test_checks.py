"""`check_method`: sound methods of every problem pass, and each mistake is named by its check."""

import threading

import numpy as np
import pytest

import cofactor as cf
from cofactor_app.bench.checks import ALL, EXAMPLES, check_method, comparisons, points, table

pytestmark = pytest.mark.filterwarnings("ignore")


# ---- sound methods, ten lines each ----


def vote(labels):
    return labels.votes.astype(float)


def most_frequent(table):
    codes = np.array(table.codes)
    for column in codes.T:
        known = column[column >= 0]
        column[column < 0] = np.bincount(known).argmax() if known.size else 0
    return codes


def successive_projection(X, n_anchors):
    rest, found = np.array(X, dtype=float), []
    for _ in range(n_anchors):
        norms = (rest**2).sum(axis=0)
        norms[found] = -1
        found.append(int(norms.argmax()))
        way = rest[:, found[-1]] / max(np.sqrt(norms[found[-1]]), 1e-300)
        rest -= np.outer(way, way @ rest)
    return np.array(found)


def shares(comparisons):
    n = comparisons.n_items
    won = np.bincount(comparisons.left, comparisons.outcome, n)
    won += np.bincount(comparisons.right, 1 - comparisons.outcome, n)
    share = (won + 1) / (comparisons.per_item + 2)
    return np.log(share / (1 - share))


class Shares:
    def fit(self, comparisons):
        self.u = shares(comparisons)
        return self

    def predict_proba(self, user, left, right):
        return 1 / (1 + np.exp(self.u[right] - self.u[left]))


SOUND = {"crowd": vote, "pmf": most_frequent, "separable": successive_projection, "comparisons": Shares}


@pytest.mark.parametrize("problem", SOUND)
def test_sound_methods_pass_and_their_problem_is_known_by_their_argument(problem):
    checks = ["shape", *EXAMPLES[problem].checks, *ALL]
    assert check_method(SOUND[problem]) == checks
    if problem == "comparisons":
        assert check_method(shares) == checks
    if problem != "crowd":
        renamed = (lambda data, K: successive_projection(data, K)) if problem == "separable" else None
        assert renamed is None or check_method(renamed, "separable") == checks


def test_methods_of_this_kit_are_made_for_the_check():
    for name, problem in (("Independence", "pmf"), ("SPA", "separable"), ("WinRate", "comparisons")):
        assert check_method(name) == ["shape", *EXAMPLES[problem].checks, *ALL], name


# ---- mistakes ----


def global_numbers(comparisons):
    np.random.seed(0)  # noqa: NPY002
    return shares(comparisons) + 1e-9 * np.random.rand(comparisons.n_items)  # noqa: NPY002


class HasALock(Shares):
    """A copy shares the lock; another process cannot have it."""

    def __init__(self):
        self.lock = threading.Lock()

    def __deepcopy__(self, memo):
        return self


class Forgets(Shares):
    """Its setting gets lost on the way to another process."""

    def __init__(self):
        self.sign = -1.0

    def __getstate__(self):
        return {"sign": 1.0}

    def __deepcopy__(self, memo):
        return self

    def fit(self, comparisons):
        self.u = self.sign * shares(comparisons)
        return self


def left_wins(comparisons):
    n = comparisons.n_items
    return np.bincount(comparisons.left, comparisons.outcome, n) / np.bincount(comparisons.left, minlength=n)


def elo(comparisons):
    u = np.zeros(comparisons.n_items)
    columns = comparisons.left.tolist(), comparisons.right.tolist(), comparisons.outcome.tolist()
    for i, j, won in zip(*columns, strict=True):
        moved = 0.5 * (won - 1 / (1 + np.exp(u[j] - u[i])))
        u[i], u[j] = u[i] + moved, u[j] - moved
    return u


def first_item_is_best(comparisons):
    return shares(comparisons) + 2.0 * (np.arange(comparisons.n_items) == 0)


def needs_a_winner(comparisons):
    if np.ptp(comparisons.outcome) == 0:
        raise ZeroDivisionError
    return shares(comparisons)


def by_place(table):
    codes = np.array(table.codes)
    return np.where(codes < 0, np.arange(len(codes))[:, None] % 3, codes)


def by_column(table):
    codes = np.array(most_frequent(table))
    return np.where(np.array(table.codes) < 0, codes[:, [0]], codes)


def smallest(table):
    codes = np.array(table.codes)
    return np.where(codes < 0, 0, codes)


def no_empty_column(table):
    known = np.array(table.codes) >= 0
    return most_frequent(table) // min(known.sum(axis=0).min(), 1) if known.any(axis=0).all() else 1 / 0


def first_columns(X, n_anchors):
    return np.arange(n_anchors)


def scales_in_place(X, n_anchors):
    X /= X.sum(axis=0)
    return successive_projection(X, n_anchors)


def by_threshold(X, n_anchors):
    return successive_projection(np.minimum(X, 1.0), n_anchors)


def first_row(X, n_anchors):
    return np.argsort(-X[0], kind="stable")[:n_anchors]


def repeats(X, n_anchors):
    distinct = np.unique(X, axis=1, return_index=True)[1]
    return distinct[successive_projection(X[:, distinct], n_anchors)]


def shared_vote(labels):
    return labels.votes / np.maximum(labels.votes.sum(axis=1, keepdims=True), 1)


class FirstWorkerIsRight:
    def fit(self, labels):
        codes = labels.table.codes
        self.found = np.where(codes[:, 0] >= 0, codes[:, 0], labels.votes.argmax(axis=1))
        return self

    def predict_proba(self, labels):
        return np.eye(labels.n_classes)[self.found]


class Remembers:
    """An object that counts its fits, and changes its answer."""

    def __init__(self):
        self.fits = [0]

    def __deepcopy__(self, memo):
        return self

    def fit(self, labels):
        self.fits[0] += 1
        return self

    def predict_proba(self, labels):
        return np.roll(shared_vote(labels), self.fits[0], axis=1)


def by_name(labels):
    return (
        shared_vote(labels) + np.array([str(task).startswith("t") for task in labels.tasks])[:, None] * [2, 0, 0]
    ) / 3


def overwrites(labels):
    labels.classes.reverse()
    return shared_vote(labels)


def needs_many(labels):
    return shared_vote(labels) / (labels.n_tasks - 2)


def assumes_all_labelled(labels):
    return 1 / (1 / labels.votes.sum(axis=1, keepdims=True).astype(int)[:, :1].tolist()[0][0]) * shared_vote(labels)


WRONG = {
    "crowd": {
        "seed": lambda labels: labels.votes + 0 * np.random.rand(),  # noqa: NPY002
        "order": FirstWorkerIsRight,
        "same again": Remembers,
        "ids": by_name,
        "input": overwrites,
        "two tasks": needs_many,
        "a task without labels": assumes_all_labelled,
        "classes": lambda labels: shared_vote(labels) + np.array([0.5, 0, 0]),
    },
    "comparisons": {
        "seed": global_numbers,
        "pickle": HasALock,
        "same again": lambda comparisons: np.random.default_rng().normal(size=comparisons.n_items),
        "ids": first_item_is_best,
        "sides": left_wins,
        "order": elo,
        "one outcome only": needs_a_winner,
    },
    "pmf": {
        "order": by_place,
        "columns": by_column,
        "values": smallest,
        "a column without cells": no_empty_column,
    },
    "separable": {
        "order": first_columns,
        "input": scales_in_place,
        "scale": by_threshold,
        "rows": first_row,
        "all points are one": repeats,
    },
}


@pytest.mark.parametrize("problem", WRONG)
def test_a_mistake_is_found_by_its_check(problem):
    for name, method in WRONG[problem].items():
        with pytest.raises(cf.CofactorError, match=rf"(?m)^{name}: "):
            check_method(method, problem)
    if problem == "comparisons":
        with pytest.raises(cf.CofactorError, match=r"^pickle: after pickling, it gives a different answer"):
            check_method(Forgets)


def test_what_is_no_method_gets_one_sentence():
    for method, problem, said in (
        (vote, "crowds", "problem='crowds': choose one of crowd, pmf, separable, comparisons"),
        ("Independence", "comparisons", "no comparisons method 'Independence': choose one of ComparisonMF"),
        (3, "pmf", "int is not a method: give a function"),
        (lambda labels: labels.votes[0], None, r"^the method must answer with \(60, 3\) probabilities or 60 class"),
        (lambda table: [0], None, r"must return a model or a table of \(80, 5\) codes"),
        (lambda X, n: [0], None, "must return 4 indices from 0 to 29"),
        (lambda comparisons: 3, None, "must return 6 finite scores or an object with predict_proba"),
    ):
        with pytest.raises(cf.CofactorError, match=said):
            check_method(method, problem)


def test_small_data_are_what_they_are_said_to_be():
    assert (table().codes < 0).mean() == pytest.approx(0.1, abs=0.03) and points().shape == (12, 30)
    assert len(comparisons()) == 360 and (comparisons().outcome == 0.5).mean() < 0.15
