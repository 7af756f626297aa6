"""Intervals of preferences hold the truth as often as they say."""

import numpy as np
import pytest

from cofactor import CofactorError
from cofactor.comparisons import METHODS, ComparisonMF, bootstrap
from tests.comparisons.problems import drawn, truth
from tests.each import each
from tests.oracles.generators import recorded


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    shares = []
    for seed in range(3):
        U, V = truth(seed, 40, 30, 2)
        sure = bootstrap(ComparisonMF(2), drawn(U, V, 3000, "binary", 50 + seed), n_draws=30, random_state=seed)
        user, left, right = np.unravel_index(np.arange(0, 40 * 30 * 30, 17), (40, 30, 30))
        z = np.einsum("ka,ka->k", U[user], V[left] - V[right])[left != right]
        found = sure.margins(*(code[left != right] for code in (user, left, right)))
        shares.append(found["low"].le(z).mul(found["high"].ge(z)).mean())
    assert 0.85 < np.mean(shares) < 0.95


@pytest.fixture(scope="module")
def sure():
    return bootstrap(ComparisonMF(2, ridge=4.0), drawn(*truth(0, 20, 15, 2), 800, "binary"), n_draws=8, random_state=0)


def test_chances_are_those_of_margins_and_swap_with_the_items(sure):
    margins, chances, swapped = (ask([0, 1], *pair) for ask, pair in (
        (sure.margins, ([2, 3], [4, 5])), (sure.chances, ([2, 3], [4, 5])), (sure.chances, ([4, 5], [2, 3])),
    ))  # fmt: skip
    assert np.allclose(chances, 1 / (1 + np.exp(-margins)))
    assert np.allclose(chances[["low", "high"]], 1 - swapped[["high", "low"]])
    assert (chances["low"] < chances["estimate"]).all() and (chances["estimate"] < chances["high"]).all()
    wider = sure.chances([0, 1], [2, 3], [4, 5], level=0.99)
    assert (wider["high"] - wider["low"] > chances["high"] - chances["low"]).all()


def test_the_same_seed_gives_the_same_refits(sure):
    again = bootstrap(ComparisonMF(2, ridge=4.0), drawn(*truth(0, 20, 15, 2), 800, "binary"), n_draws=8, random_state=0)
    assert sure.margins(0, 1, 2).equals(again.margins(0, 1, 2))


def test_nothing_to_be_sure_of_is_refused(sure):
    with pytest.raises(CofactorError, match="level=1"):
        sure.margins(0, 1, 2, level=1)
    with pytest.raises(CofactorError, match="at least two draws"):
        bootstrap(ComparisonMF(2, ridge=4.0), drawn(*truth(0, 20, 15, 2), 800, "binary"), n_draws=1)


@pytest.mark.slow
@each("name", METHODS)
def test_every_method_is_fitted_again_with_what_it_chose(name):
    data = drawn(*truth(0, 20, 15, 2), 800, "binary")
    sure, _ = recorded(bootstrap, METHODS[name](), data, n_draws=3, random_state=0)
    if hasattr(sure.model, "ridge_"):
        assert {draw.ridge for draw in sure.draws} == {sure.model.ridge_}
    assert sure.margins(0, 1, 2)["low"].notna().all()
    if sure.model.link:
        assert sure.chances(0, 1, 2)["high"].between(0, 1).all()
    else:
        with pytest.raises(CofactorError, match="has no probabilities"):
            sure.chances(0, 1, 2)
