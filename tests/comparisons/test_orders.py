"""Orders of several items: the model of Plackett and Luce at its optimum, as pairs where there are two, and read."""

from __future__ import annotations

import choix
import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.comparisons import Comparisons, Orders, davidson, rank, rank_orders
from cofactor.comparisons.plackett_luce import stages_of
from tests.each import each

pytestmark = pytest.mark.filterwarnings("ignore:these comparisons do not tell who wins")


def drawn(u, m, rng, least=2, taste=0.0, user=None):
    """Orders of at least so many items; by the first of exponential clocks, which is the model."""
    n = len(u)
    own = u + (0 if user is None else taste * rng.standard_normal((user.max() + 1, n))[user])
    best = np.argsort(-(own + rng.gumbel(size=(m, n))), axis=1)
    size, kept = rng.integers(least, n + 1, m), np.full((m, n), -1)
    for k in range(m):
        some = rng.permutation(n)[: size[k]]
        kept[k, : size[k]] = best[k][np.isin(best[k], some)]
    return kept


def lists(item):
    return [[i for i in row if i >= 0] for row in item.tolist()]


def test_optimum_is_that_of_choix_with_the_same_prior():
    u, rng = np.linspace(-1, 1, 6), np.random.default_rng(0)
    item = drawn(u, 60, rng)
    found = rank_orders(Orders(item), random_state=0)
    theirs = choix.opt_rankings(6, lists(item), alpha=found.sd**-2 / 2, tol=1e-12)
    assert found.utilities == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    chosen = rank_orders(Orders(item, placed=np.ones(60)), random_state=0)
    top = [(row[0], row[1:]) for row in lists(item)]
    theirs = choix.opt_top1(6, top, alpha=chosen.sd**-2 / 2, tol=1e-12)
    assert chosen.utilities == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    free = davidson.fit_ranking(stages_of(Orders(drawn(u, 300, rng))))
    assert free.result.converged and np.corrcoef(free.theta, u)[0, 1] > 0.95


def test_derivatives_are_those_of_the_log_likelihood():
    stages = stages_of(Orders(drawn(np.zeros(5), 20, np.random.default_rng(1)), placed=[1, 2, 3, 4] * 5))
    theta, step = np.random.default_rng(2).standard_normal(5), 1e-5 * np.eye(5)
    _, gradient, H = stages.objective(theta)
    for e, slope, row in zip(step, gradient, H, strict=True):
        more, less = stages.objective(theta + e), stages.objective(theta - e)
        assert (more[0] - less[0]) / 2e-5 == pytest.approx(slope, abs=1e-6)
        assert (less[1] - more[1]) / 2e-5 == pytest.approx(row, abs=1e-6)


def test_orders_of_two_are_the_ranking_of_pairs():
    rng = np.random.default_rng(3)
    item, user = drawn(np.linspace(-1, 1, 5), 300, rng)[:, :2], rng.integers(0, 12, 300)
    pairs = Comparisons(user, *item.T, np.ones(300))
    ours, theirs = rank_orders(Orders(item, user=user), random_state=0), rank(pairs, random_state=0)
    pd.testing.assert_frame_equal(ours.table(), theirs.table(), rtol=2e-3, atol=1e-4)
    assert ours.sd == pytest.approx(theirs.sd, rel=1e-3) and ours.n_users == pytest.approx(theirs.n_users)
    assert ours.trivial_log_loss == pytest.approx(np.log(2))
    alone = rank_orders(Orders(item), random_state=0)
    assert alone.covariance == pytest.approx(
        rank(Comparisons([0] * 300, *item.T, np.ones(300)), random_state=0).covariance, rel=2e-3, abs=1e-6
    )  # draws beside a rule of five nodes choose priors that differ by a thousandth


def test_mean_log_likelihood_over_draws_is_that_of_the_rule_for_pairs():
    item, rng = drawn(np.linspace(-1, 1, 5), 60, np.random.default_rng(5))[:, :2], np.random.default_rng(6)
    stages, data = stages_of(Orders(item)), Comparisons([0] * 60, *item.T, np.ones(60))
    cells = davidson.pairs_of(davidson.rows_of(data, np.zeros((60, 0))))
    theta, A = rng.standard_normal(5), 0.5 * rng.standard_normal((5, 5))
    P = davidson.centred(davidson.centred(A @ A.T, 5).T, 5)
    mean = np.mean([stages.objective(theta + A @ rng.standard_normal(5))[0] for _ in range(4000)])
    assert cells.expected(theta, P) == pytest.approx(mean, abs=0.5)
    assert stages.expected(theta, P) == pytest.approx(cells.expected(theta, P), abs=0.6)
    assert abs(stages.objective(theta)[0] - mean) > 2


def test_weights_are_orders_given_several_times():
    rng = np.random.default_rng(7)
    item, user, weight = drawn(np.linspace(-1, 1, 5), 40, rng), rng.integers(0, 8, 40), rng.integers(1, 4, 40)
    for who in (None, user):
        again = [None if x is None else np.repeat(x, weight, axis=0) for x in (item, who)]
        ours, theirs = Orders(item, user=who, weight=weight), Orders(again[0], user=again[1])
        assert ours.pairs().total == theirs.pairs().total
        one, other = rank_orders(ours, random_state=0), rank_orders(theirs, random_state=0)
        assert one.sd == pytest.approx(other.sd, rel=1e-3) and one.n_users == pytest.approx(other.n_users)
        pd.testing.assert_frame_equal(one.table(), other.table(), rtol=2e-3, atol=1e-3)
        assert one.covariance == pytest.approx(other.covariance, rel=5e-3, abs=1e-4)
    halved = rank_orders(Orders(item, weight=np.full(40, 0.5)), random_state=0)
    assert (
        np.diag(halved.covariance).mean() > 1.2 * np.diag(rank_orders(Orders(item), random_state=0).covariance).mean()
    )


def test_intervals_hold_the_truth_of_orders():
    truth, rng, held = np.linspace(-1, 1, 6), np.random.default_rng(4), []
    for _ in range(60):
        table = rank_orders(Orders(drawn(truth, 30, rng, least=3)), random_state=0).table().sort_values("item")
        held.append((table["low"] <= truth) & (truth <= table["high"]))
    assert 0.84 < np.mean(held) < 0.96


def test_parts_and_who_never_lost_are_named():
    item = [[0, 1, 2], [1, 0, 2], [2, 1, 0], [4, 5, -1], [0, 2, 3]]
    with pytest.warns(cf.DataWarning) as caught:
        found = rank_orders(Orders(item, items=list("abcdef")), random_state=0)
    told = [str(one.message) for one in caught]
    assert any("largest part, so that they have no rank in it: e, f; ranked are the 4 items" in text for text in told)
    assert any("not even through third ones: d; how far" in text for text in told)
    assert sorted(found.items) == list("abcd")
    with pytest.raises(cf.NotIdentifiableError, match="2 parts that no comparison links"):
        rank_orders(Orders(item), all_parts=True)


@each(
    "arguments, message",
    [
        (([[0, 1], [1, 1]],), "orders that hold an item twice: rows 1"),
        (([[0, -1], [1, 0]],), "orders of fewer than two items: rows 0"),
        (([[0, -1, 1], [1, 0, 2]],), "a gap before the last item: rows 0"),
        (([[0, 1.5]],), "whole numbers"),
        (([[0, 1]], [0]), "orders without a first place: rows 0"),
        (([[0, 1]], [1, 1]), "2 placed for 1 orders"),
        (([[0, 1]], None, None, ["a"]), "1 ids for items up to code 1"),
        (([[0, 1], [1, 0]], None, None, None, [1, 0]), "weights must lie from 1e-100 to 1e.100: rows 1"),
        (([[0, 1]], None, None, None, [1, 2]), "2 weights for 1 orders"),
    ],
)
def test_orders_that_are_none_are_refused(arguments, message):
    with pytest.raises(cf.CofactorError, match=message):
        Orders(*arguments)


# ---- files ----
