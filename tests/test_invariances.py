"""What changes nothing in the data changes nothing in the answer of any method, or its docstring says what moves."""

import inspect
import re

import numpy as np
import pytest
from scipy import sparse, special

from cofactor.registry import OWN, listed
from cofactor_app.bench.answers import built_in
from cofactor_app.bench.checks import EXAMPLES, N_ANCHORS, labels_of, probabilities, probabilities_differ
from tests.each import each

OTHERWISE = ("SPOC", "GeoNMF", "LDA")  # of graphs, and words; the last is a sampler of a package
INVARIANCES = {"ids", "order", "classes", "columns", "values", "rows", "scale", "sides"}
ORDER = ("RobSymNMF", "RobSymNMF-EM", "RobSymNMF(w=1)", "TensorADMM", "Spectral-D&S", "Spectral-D&S(no EM)")
MOVED = {  # by which checks a method may be told: what its docstring has numbers of
    **{name: {"order"} for name in ORDER},
    "ComparisonMF": {"ids"},
    "BradleyTerry": {"ids"},
    "AltSVM": {"ids"},
    "NuclearNormMLE": {"ids", "order"},
    "BPR": {"ids", "order"},
    "CNMF-SPA": {"order", "columns"},
    "CNMF-OPT": {"columns"},
    "CTD": {"order", "columns", "values"},
    "Constant": {"values"},
}


class ByMargin:
    """A method that orders items: the logistic function of its margins stands for chances."""

    def __init__(self, name):
        self.method = listed("comparisons")[name].make(random_state=0)

    def fit(self, comparisons):
        self.method.fit(comparisons)
        return self

    def predict_proba(self, user, left, right):
        return special.expit(self.method.margin(user, left, right))


def moved(method, problem):
    """The names of the checks by which a method is told."""
    one = EXAMPLES[problem]
    data = one.drawn()
    plain = one.answer(method, data)
    return {name for name in INVARIANCES & set(one.checks) if one.checks[name](method, data, plain)}


def made(name, problem):
    """A method of the kit as the checks take it."""
    if name.startswith("MLE-AD"):  # choosing its rank takes minutes
        return listed("pmf")[name].make(random_state=0, rank=2)
    return ByMargin(name) if name == "AltSVM" else built_in(name, problem, N_ANCHORS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@each(
    "name",
    [name for problem in ("pmf", "separable", "comparisons") for name in listed(problem) if name not in OTHERWISE],
)
def test_methods_move_by_what_is_known_and_no_more(name):
    problem = next(one.problem for one in OWN if one.name == name)
    assert moved(made(name, problem), problem) <= MOVED.get(name, set())


@pytest.mark.filterwarnings("ignore")
def test_methods_of_two_classes_do_not_move():
    codes = np.minimum(EXAMPLES["crowd"].drawn().table.codes, 1)
    crowd = labels_of(codes, ["a", "b"])
    for name in ("KOS", "GhoshSVD", "EigenRatio"):
        method = listed("crowd")[name].make()
        plain = probabilities(method, crowd)
        for check in ("ids", "order"):
            assert not EXAMPLES["crowd"].checks[check](method, crowd, plain), (name, check)
        swapped = probabilities(method, labels_of(np.array([1, 0, -1])[codes], ["a", "b"]))
        assert not probabilities_differ(plain, swapped[:, ::-1], name)


def test_pure_nodes_do_not_move():
    rng = np.random.default_rng(0)
    shares = np.vstack([np.eye(3).repeat(10, axis=0), rng.dirichlet(np.full(3, 0.3), 90)])
    chances = shares @ np.array([[0.8, 0.1, 0.05], [0.1, 0.7, 0.1], [0.05, 0.1, 0.9]]) @ shares.T
    links = np.triu(rng.random(chances.shape) < chances, 1)
    links, order = (links | links.T).astype(float), rng.permutation(len(links))
    for name in ("SPOC", "GeoNMF"):
        one, other = (
            listed("separable")[name].make(n_anchors=3, random_state=0).fit(sparse.csr_array(A)).model_.anchors
            for A in (links, links[np.ix_(order, order)])
        )
        assert sorted(one) == sorted(order[other]), name


def test_what_moves_is_told_by_the_docstring_of_the_method():
    for name in (*MOVED, "LDA"):
        problem = next(one.problem for one in OWN if one.name == name)
        make = listed(problem)[name].make
        text = inspect.getdoc(getattr(make, "func", make))
        assert re.search(r"\n(Order|Dependence on the order): ", text), name
    assert set(MOVED) | set(OTHERWISE) <= {one.name for one in OWN}
