"""All methods of all four lines speak one protocol."""

import re
import warnings
from functools import cache, partial
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import cofactor as cf
from cofactor import simulate
from tests.each import each

NEED_MORE = {} if find_spec("lda") else {"LDA": "an optional package"}
FOREIGN = [None, "no such file.csv", np.array([["a", "b"]], dtype=object), {"a": 1}]
ASK = ("predict", "predict_proba", "transform", "sample")


@cache
def data_of(line, name=""):
    """Small data that a method of a line accepts."""
    if name in ("SPOC", "GeoNMF"):  # methods of graphs
        rng = np.random.default_rng(0)
        drawn = np.triu(rng.random((40, 40)) < np.kron(np.eye(2), np.full((20, 20), 0.5)) + 0.05, 1)
        return (drawn | drawn.T).astype(np.float64)
    if name == "LDA":
        return np.random.default_rng(0).poisson(np.kron(np.eye(2), np.full((10, 6), 3.0)) + 0.2)
    if line == "crowd":
        model = simulate.dawid_skene_model(8, 2, skill=0.6, random_state=0)
        return simulate.crowd(model, 60, label_rate=0.8, random_state=0).labels
    if line == "pmf":
        return simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), 300, random_state=0)
    if line == "separable":
        rng = np.random.default_rng(0)
        anchors = rng.dirichlet(np.ones(8), size=3).T
        return anchors @ np.hstack([np.eye(3), rng.dirichlet(np.ones(3), size=22).T])
    factors = simulate.comparison_factors(10, 8, 2, random_state=0)
    return simulate.draw_comparisons(*factors, 400, random_state=0)


SETTINGS = {"rank": 2, "n_anchors": 2, "n_topics": 2}


LINES = ("crowd", "pmf", "separable", "comparisons")
CASES = [(line, name) for line in LINES for name in getattr(cf, line).METHODS if name not in NEED_MORE]


def made(line, name):
    method = getattr(cf, line).METHODS[name](random_state=0)
    wished = {key: value for key, value in SETTINGS.items() if key in method.get_params() and line != "comparisons"}
    return method.set_params(**wished)


@cache
def fitted(line, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(line, name).fit(data_of(line, name))


def plain(value):
    """Arrays of whatever a method found, to be compared."""
    if hasattr(value, "stacked"):
        return np.append(value.stacked.ravel(), value.prior)
    value = getattr(value, "topics", value)
    return value.toarray() if hasattr(value, "toarray") else value


def findings(method):
    """All that `fit` stored and that can be compared as numbers."""
    found = {name: plain(value) for name, value in vars(method).items() if name.endswith("_")}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray | float | int)}


@each("line, name", CASES)
def test_parameters_are_scikit_learn_s(line, name):
    method = made(line, name)
    assert {"random_state", "verbose"} <= set(method.get_params())
    assert clone(method).get_params() == method.get_params()
    assert not [found for found in vars(method) if found.endswith("_")]


@each("line, name", CASES)
def test_limits_have_one_name(line, name):
    others = {"max_rounds", "n_iter", "epochs", "sweeps", "rate", "reg", "C", "penalty", "shrinkage", "step"}
    assert not others & set(made(line, name).get_params())


@each("line, name", CASES)
def test_asking_before_fit_is_one_error(line, name):
    method = made(line, name)
    asked = [getattr(method, ask) for ask in ASK if hasattr(method, ask)]
    assert asked
    for ask in asked:
        with pytest.raises(cf.NotFittedError) as refusal:
            ask(*ARGUMENTS[line].get(ask.__name__, (data_of(line, name),)))
        assert isinstance(refusal.value, cf.CofactorError)


@each(
    "line, method, data",
    [
        *(("pmf", cf.pmf.METHODS[name](random_state=0), pd.DataFrame({"a": ["x", None], "b": [None, "y"]}))
          for name in cf.pmf.METHODS),
        ("separable", cf.separable.Topics(n_topics=99), np.ones((2, 3))),
        ("comparisons", cf.comparisons.ComparisonMF(rank=99), data_of("comparisons")),
    ],
)  # fmt: skip
def test_asking_after_a_refused_fit_is_the_same_error(line, method, data):
    with pytest.raises(cf.CofactorError):
        method.fit(data)
    for ask in [getattr(method, ask) for ask in ASK if hasattr(method, ask)]:
        with pytest.raises(cf.NotFittedError):
            ask(*ARGUMENTS[line].get(ask.__name__, (data,)))


def test_a_refused_fit_leaves_the_last_one_as_it_was():
    table = pd.DataFrame({"a": list("xyxy"), "b": list("pqpq")})
    method = cf.pmf.METHODS["RAND-EM"](rank=2, random_state=0).fit(table)
    before = method.predict(table, "a")
    with pytest.raises(cf.NotIdentifiableError):
        method.fit(pd.DataFrame({"c": ["x", None], "d": [None, "y"]}))
    assert np.array_equal(method.predict(table, "a"), before)


ARGUMENTS = {
    "crowd": {},
    "pmf": {"predict": (data_of("pmf"), 0), "predict_proba": (data_of("pmf"), 0), "sample": (3,)},
    "separable": {},
    "comparisons": {ask: ([0], [1], [2]) for ask in ("predict", "predict_proba")},
}


@pytest.mark.slow
@each("line, name", CASES)
def test_fit_returns_itself_says_how_it_went_and_finds_the_same_again(line, name):
    method = made(line, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert method.fit(data_of(line, name)) is method
    result = method.result_
    assert len(result.objective) == result.n_iter and result.reason and result.converged in (True, False)
    first, second = findings(fitted(line, name)), findings(method)
    assert first and first.keys() == second.keys()
    for found in first:
        np.testing.assert_array_equal(first[found], second[found], err_msg=found)


@each("case, foreign", product(CASES, FOREIGN))
def test_foreign_data_are_refused(case, foreign):
    line, name = case
    with pytest.raises(cf.CofactorError):
        made(line, name).fit(foreign)


@each("line, name", CASES)
def test_docstrings_say_cost_and_source(line, name):
    method = getattr(cf, line).METHODS[name]
    kind = method.func if isinstance(method, partial) else method
    said = " ".join(base.__doc__ or "" for base in kind.__mro__ if base.__module__.startswith("cofactor."))
    assert re.search("cost", said, re.IGNORECASE) and re.search("source", said, re.IGNORECASE), kind.__name__


@each("line", LINES)
def test_a_line_shows_what_is_public_and_nothing_else(line):
    room = getattr(cf, line)
    assert sorted(dir(room)) == sorted(room.__all__)
    assert {"METHODS", "bootstrap", "diagnose"} <= set(room.__all__)


# ---- names and orders do not matter: what moves else is in the docstring of the method ----

MOVED = 1e-6  # of a probability
BY_ORDER = {  # probabilities of bluebird move by so much where the workers, tasks and classes are in another order
    "RobSymNMF": 0.05,
    "RobSymNMF-EM": 1e-3,
    "RobSymNMF(w=1)": 1e-3,
    "RobSymNMF(w=1)-EM": 1e-5,
    "TensorADMM": 0.006,
    "TensorADMM-EM": 3e-5,
    "Spectral-D&S": 0.02,
    "Spectral-D&S(no EM)": 1.0,
}
OTHER_CLASSES = {"Spectral-D&S(no EM)": 5}  # tasks of 108, at most
CROWD = [name for line, name in CASES if line == "crowd"]


def under_other_names(labels, seed):
    """Give tasks, workers and classes names that sort otherwise, and shuffle the rows; return where old ones are."""
    rng, frame, places = np.random.default_rng(seed), labels.to_frame(), []
    for column in ("task", "worker", "label"):
        old = {"task": labels.tasks, "worker": labels.workers, "label": labels.classes}[column]
        place = rng.permutation(len(old))
        frame[column] = frame[column].map({name: f"{column} {n:04}" for name, n in zip(old, place, strict=True)})
        places.append(place)
    return cf.CrowdLabels.from_frame(frame.sample(frac=1, random_state=seed)), places[0], places[2]


def posterior_of(name, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made("crowd", name).fit(labels).predict_proba(labels)


@pytest.mark.slow
@each("name", CROWD)
def test_names_and_order_of_rows_do_not_matter(name):
    labels = cf.load("bluebird").labels
    other, tasks, classes = under_other_names(labels, seed=0)
    plain, again = posterior_of(name, labels), posterior_of(name, other)[tasks][:, classes]
    assert np.abs(again - plain).max() <= BY_ORDER.get(name, MOVED)
    assert np.sum(again.argmax(axis=1) != plain.argmax(axis=1)) <= OTHER_CLASSES.get(name, 0)
