"""A joint distribution from pairwise marginals alone: the truth where it follows, tables that disagree, refusals."""

import numpy as np
import pytest

import cofactor as cf
from cofactor import simulate
from cofactor.pmf import from_marginals, mre


def tables_of(model, n=5):
    return {(i, j): model.pairwise(i, j) for i in range(n) for j in range(i)}


def test_the_joint_pmf_follows_from_exact_pairs():
    truth = simulate.joint_model(5, 4, 3, separability=0.1, random_state=0)
    tables = tables_of(truth)
    closed = from_marginals(tables, 3, "CNMF-SPA")
    assert mre(truth, closed) < 0.3 and closed.n_classes == 3
    found = from_marginals(tables, 3)
    assert mre(truth, found) < 0.01
    for (i, j), table in tables.items():
        assert np.abs(found.pairwise(i, j) - table).max() < 1e-3


def test_tables_of_counts_give_what_the_rows_give_and_some_pairs_are_enough():
    truth = simulate.joint_model(5, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 20_000, random_state=0)
    codes = table.codes
    counts = {(i, j): np.histogram2d(codes[:, i], codes[:, j], bins=(range(4), range(4)))[0]
              for i in range(5) for j in range(i)}  # fmt: skip
    assert mre(truth, from_marginals(counts, 2)) < 0.2
    by_rows = cf.pmf.METHODS["CNMF-OPT"](2, pseudo_count=0, random_state=0).fit(table).model_
    assert mre(by_rows, from_marginals(counts, 2)) < 0.01
    some = {pair: table for pair, table in counts.items() if pair not in ((4, 3), (2, 0))}
    assert mre(truth, from_marginals(some, 2)) < 0.25
    turned = {(j, i): table.T for (i, j), table in counts.items()}
    assert mre(from_marginals(counts, 2), from_marginals(turned, 2)) < 1e-6


def test_tables_that_disagree_are_warned_of():
    a, b = np.full((2, 2), 0.25), np.array([[0.4, 0.4], [0.1, 0.1]])
    with pytest.warns(cf.DataWarning, match="tables imply different marginals of variables 0: do all of them"):
        from_marginals({(0, 1): a, (0, 2): b, (1, 2): a}, 1)


def test_what_is_no_set_of_marginals_is_refused():
    a = np.full((2, 2), 0.25)
    refused = {
        "rank=0": lambda: from_marginals({(0, 1): a}, 0),
        "choose CNMF-OPT or CNMF-SPA": lambda: from_marginals({(0, 1): a}, 1, "EM"),
        "no pairs: give": lambda: from_marginals({}, 1),
        "pair 'a': name two variables": lambda: from_marginals({"a": a}, 1),
        r"pair .0, 0.: give one table": lambda: from_marginals({(0, 0): a}, 1),
        r"pair .1, 0.: give one table": lambda: from_marginals({(0, 1): a, (1, 0): a}, 1),
        r"the table of .0, 1. must hold probabilities": lambda: from_marginals({(0, 1): -a}, 1),
        "has 3 values of variable 0, another has 2": lambda: from_marginals({(0, 1): a, (0, 2): np.ones((3, 2))}, 1),
        "variables 1 are in no pair": lambda: from_marginals({(0, 2): a}, 1),
        "2 groups never observed together": lambda: from_marginals({(0, 1): a, (2, 3): a}, 1),
    }
    for message, ask in refused.items():
        with pytest.raises(cf.CofactorError, match=message):
            ask()
