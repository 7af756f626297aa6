"""Rankings: the maximum, its covariance, intervals that hold the truth as often as they say, and what is refused."""

from __future__ import annotations

import warnings

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import binomtest

import cofactor as cf
from cofactor.comparisons import Comparisons, davidson, rank
from cofactor.comparisons.davidson import clustered, independent
from cofactor.comparisons.ranking import spreads
from tests.each import each
from tests.oracles import davidson as oracle

# many of these data are of equal items, or few; tests of this warning see it all the same
pytestmark = pytest.mark.filterwarnings("ignore:these comparisons do not predict the outcome")


def drawn(u, m, rng, tau=-np.inf, beta=(), user=None, taste=0.0):
    """Comparisons of random pairs, and their covariates."""
    n, k = len(u), len(beta)
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    X, user = rng.normal(size=(m, k)), np.zeros(m, dtype=int) if user is None else user
    own = u + taste * rng.standard_normal((user.max() + 1, n))
    z = own[user, left] - own[user, right] + X @ np.array(beta)
    win, lose, tie = np.exp(z / 2), np.exp(-z / 2), np.exp(tau)
    v = rng.random(m) * (win + lose + tie)
    outcome = np.where(v < win, 1.0, np.where(v < win + lose, 0.0, 0.5))
    return Comparisons(user, left, right, outcome, n_items=n), X


@pytest.fixture(scope="module")
def tied():
    return drawn(np.array([0.5, 0.0, -0.5, 0.3]), 60, np.random.default_rng(0), 0.2, (0.5,), np.repeat(range(6), 10))


def test_bradley_terry_is_at_the_optimum_of_choix_with_the_same_prior():
    """The penalty of choix is alpha ||u||^2, half of that of an inverse variance."""
    data, _ = drawn(np.linspace(-1, 1, 8), 400, np.random.default_rng(1))
    pairs = [(i, j) if won else (j, i) for i, j, won in zip(data.left, data.right, data.outcome, strict=True)]
    found = rank(data, random_state=0)
    theirs = choix.opt_pairwise(8, pairs, alpha=found.sd**-2 / 2, method="Newton-CG", tol=1e-12)
    assert np.abs(found.utilities - theirs).max() < 1e-6
    assert choix.ilsr_pairwise(8, pairs) == pytest.approx(davidson.fit_ranking(cells_of(data)).theta, abs=1e-5)


def cells_of(data, X=None):
    return davidson.rows_of(data, np.zeros((len(data), 0)) if X is None else X)


def test_ties_and_covariates_are_at_the_optimum(tied):
    data, X = tied
    X = X / np.sqrt(np.mean(X**2))
    found = rank(data, X, random_state=0)
    R = np.array([found.sd**-2] * 4 + [davidson.COEFFICIENT_SD**-2, 0])
    slope = oracle.gradient(lambda x: oracle.log_likelihood(x, data, X) - R @ x**2 / 2, found.parameters)
    assert found.parameters[:4].sum() == pytest.approx(0, abs=1e-12)
    assert np.abs(slope).max() < 1e-5


def test_covariance_is_that_of_the_curvature_or_of_users_left_out(tied):
    data, X = tied
    cells = cells_of(data, X)
    fitted = davidson.fit_ranking(cells, davidson.precisions(cells, 0.8))
    R = np.diag(fitted.ridge)
    H = R - oracle.hessian(lambda x: oracle.log_likelihood(x, data, X), fitted.theta)
    assert np.allclose(independent(cells, fitted), oracle.inverse(H, 4), rtol=1e-3, atol=1e-4)
    expected = oracle.covariance_by_users(fitted.theta, data, X, R)
    assert np.allclose(clustered(cells, fitted, data.user), expected, rtol=1e-3, atol=1e-3)
    assert rank(data, X, random_state=0).n_users == pytest.approx(6)


def test_users_and_prompts_add_up_less_what_both_count(tied):
    """Every comparison is of another user and prompt here, so that both count each comparison."""
    data, X = tied
    cells, prompt = cells_of(data, X), (np.arange(60) % 10 * 7 % 10).astype(np.int32)
    fitted = davidson.fit_ranking(cells, davidson.precisions(cells, 0.8))
    R, P = np.diag(fitted.ridge), independent(cells, fitted)
    one, two = (oracle.jackknife(fitted.theta, data, X, R, way) for way in (data.user, prompt))
    s = [oracle.gradient(lambda x, c=c: oracle.log_likelihood(x, data, X, [c]), fitted.theta) for c in range(60)]
    both = P @ np.array(s).T @ np.array(s) @ P
    values, vectors = np.linalg.eigh(np.linalg.pinv(P) @ (one + two - both) @ np.linalg.pinv(P))
    expected = P @ ((vectors * np.maximum(values, 0)) @ vectors.T + R) @ P
    assert np.allclose(clustered(cells, fitted, data.user, prompt), expected, rtol=1e-2, atol=1e-3)
    assert np.allclose(clustered(cells, fitted, prompt), two + P @ R @ P, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_intervals_hold_for_new_users_and_new_prompts():
    """Tastes of users and kinds of prompts differ; the truth is what all of them would say on the mean."""
    rng, held, n, m = np.random.default_rng(0), {"users": [], "both": []}, 8, 900
    u, (i, j) = np.linspace(-1, 1, n), np.triu_indices(n, 1)
    share = expit((u[i] - u[j])[:, None] + np.sqrt(2 * (0.4**2 + 0.7**2)) * rng.standard_normal(4000)).mean(axis=1)
    told = (i.astype(np.int32), j.astype(np.int32), share, 1 - share, 0 * share, np.zeros((len(i), 0)), False)
    truth = davidson.fit_ranking(davidson.Cells(n, *told)).theta
    for _ in range(20):
        tastes = 0.4 * rng.standard_normal((40, n)), 0.7 * rng.standard_normal((20, n))
        user, prompt, left = np.sort(rng.integers(0, 40, m)), rng.integers(0, 20, m), rng.integers(0, n, m)
        right = (left + rng.integers(1, n, m)) % n
        own = u + tastes[0][user] + tastes[1][prompt]
        won = (rng.random(m) < expit(own[np.arange(m), left] - own[np.arange(m), right])).astype(float)
        for name, asked in (("users", None), ("both", prompt)):
            found = rank(Comparisons(user, left, right, won, prompt=asked), random_state=0)
            error = np.abs((found.utilities - truth)[i] - (found.utilities - truth)[j])
            held[name].append((error <= found.quantile * spreads(found.covariance)[i, j]).mean())
            assert (found.n_prompts > 0) == (asked is not None)
    assert 0.84 < np.mean(held["both"]) < 0.96
    assert np.mean(held["users"]) < 0.8


def test_doubt_about_the_prior_moves_utilities_as_another_prior_would(tied):
    cells = cells_of(*tied)
    thetas = [davidson.fit_ranking(cells, davidson.precisions(cells, np.exp(x))).theta for x in (-0.201, -0.2, -0.199)]
    fitted = davidson.fit_ranking(cells, davidson.precisions(cells, np.exp(-0.2)))
    P = independent(cells, fitted)
    way = (thetas[2] - thetas[0]) / 0.002
    added = davidson.with_doubt(P, P, fitted, 0.5, np.full(4, 30.0)) - P
    assert added == pytest.approx(0.5 * np.outer(way, way), rel=1e-2, abs=1e-5)


def test_doubt_about_who_is_compared_moves_utilities_as_another_prior_mean_would(tied):
    cells, compared = cells_of(*tied), np.array([2.0, 7.0, 20.0, 1.0])
    fitted = davidson.fit_ranking(cells, davidson.precisions(cells, 0.8))
    P, mean = independent(cells, fitted), np.zeros(cells.size)
    mean[:4] = 0.8 * davidson.SLOPE * (np.log(compared) - np.log(compared).mean())

    def loss(theta):
        value, gradient, _ = cells.objective(theta)
        away = fitted.ridge * (theta - 0.01 * mean)
        return away @ (theta - 0.01 * mean) / 2 - value, away - gradient

    moved = minimize(loss, fitted.theta, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    way = (davidson.centred(moved, 4) - fitted.theta) / 0.01
    added = davidson.with_doubt(P, P, fitted, 0.0, compared) - P
    assert added == pytest.approx(np.outer(way, way), rel=5e-2, abs=1e-4)
    assert added.max() > 1e-3


def test_items_that_play_seldom_may_all_be_weaker_than_the_prior_has_them():
    """Who plays is drawn by exp(1.2 u): the third that played least is weaker than any prior of mean zero has it."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal(80)
    chance = np.exp(1.2 * u)
    left, right = rng.choice(80, (2, 600), p=chance / chance.sum())
    left, right = left[left != right], right[left != right]
    won = (rng.random(len(left)) < expit(u[left] - u[right])).astype(float)
    with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
        found = rank(Comparisons(np.zeros(len(left)), left, right, won), random_state=0)
    error, n = found.utilities - u[found.items], len(found.items)
    way = np.full(n, -1 / n)
    way[np.argsort(found.counts[:, 2])[: n // 3]] += 3 / n
    assert 0.5 < way @ error < 4 * np.sqrt(way @ found.covariance[:n, :n] @ way)  # without that doubt: over 5 errors


def test_evidence_is_the_integral_over_utilities():
    """Of two items, whose difference has twice the variance of one utility."""
    data = Comparisons([0] * 42, [0] * 42, [1] * 42, [1] * 29 + [0] * 13)
    cells, grid = cells_of(data), np.linspace(-8, 8, 4001)
    log_density = 29 * log_expit(grid) + 13 * log_expit(-grid)

    def exact(sd):
        prior = np.exp(-(grid**2) / (4 * sd**2)) / sd
        return np.log(np.sum(prior * np.exp(log_density - log_density.max()))) + np.log(sd) - davidson.RATE * sd

    def ours(sd):
        return davidson.log_evidence(cells, davidson.fit_ranking(cells, davidson.precisions(cells, sd)), sd)

    for sd in (0.1, 0.5, 3.0):
        assert ours(sd) - ours(1.0) == pytest.approx(exact(sd) - exact(1.0), abs=0.02)
    best = davidson.chosen(cells)[0]
    assert ours(best) >= max(ours(0.9 * best), ours(1.1 * best))


def test_one_lucky_win_does_not_make_the_best():
    """Ten items in order play all others four times; a newcomer beat the best of them once and nobody else."""
    u, rng = np.linspace(1.2, -1.2, 10), np.random.default_rng(0)
    left, right = (np.repeat(side, 8) for side in np.triu_indices(10, 1))
    won = (rng.random(len(left)) < expit(u[left] - u[right])).astype(float)
    data = Comparisons([0] * (len(left) + 1), [*left, 10], [*right, 0], [*won, 1])
    with pytest.warns(cf.DataWarning, match="only the prior determines"):
        found = rank(data, random_state=0)
    assert found.ranks[0, 0] == 1
    assert 0.4 < found.sd < 1.3
    assert found.utilities[10] < found.utilities[0]
    with pytest.warns(cf.DataWarning, match="only the prior determines"):
        twice = rank(Comparisons([0] * (len(left) + 9), [*left, *[10] * 9], [*right, *[0] * 9], [*won, *[1] * 9]))
    assert twice.ranks[10, 0] == 1  # nine wins are no luck


def test_chances_no_better_than_a_guess_are_warned_of():
    equal, _ = drawn(np.zeros(6), 100, np.random.default_rng(0))
    with pytest.warns(
        cf.DataWarning, match=r"do not predict the outcome .* \(log-loss 0.\d+ .* trivial prediction 0.6931\)"
    ):
        found = rank(equal, random_state=0)
    assert found.log_loss >= found.trivial_log_loss == pytest.approx(np.log(2), abs=1e-6)
    apart, _ = drawn(np.linspace(-1, 1, 6), 400, np.random.default_rng(0), 0.0)
    found = rank(apart, random_state=0)
    share = np.mean(apart.outcome == 0.5)
    entropy = -share * np.log(share) - (1 - share) * np.log((1 - share) / 2)
    assert found.log_loss < found.trivial_log_loss == pytest.approx(entropy, abs=0.01)
    rng = np.random.default_rng(0)  # a side that wins more often is known to the guess
    home = Comparisons([0] * 400, apart.left, apart.right, (rng.random(400) < 0.7).astype(float))
    found = rank(home, pd.DataFrame({"home": np.ones(400)}), random_state=0)
    share = home.outcome.mean()
    assert found.trivial_log_loss == pytest.approx(-share * np.log(share) - (1 - share) * np.log(1 - share), abs=0.01)


def test_names_of_items_change_no_place():
    data, _ = drawn(np.linspace(-1, 1, 12), 150, np.random.default_rng(0))
    code = np.random.default_rng(1).permutation(12)
    renamed = Comparisons(data.user, code[data.left], code[data.right], data.outcome)
    assert rank(data, random_state=0).ranks.tolist() == rank(renamed, random_state=0).ranks[code].tolist()


def test_equal_rows_added_up_or_turned_round_change_nothing(tied):
    data = tied[0]
    turned = Comparisons(data.user, data.right, data.left, 1 - data.outcome)
    twice = Comparisons(*(np.tile(x, 2) for x in (data.user, data.left, data.right, data.outcome)))
    counted = Comparisons(data.user, data.left, data.right, data.outcome, counts=np.full(60, 2.0))
    for one, other in ((data, turned), (twice, counted)):
        pd.testing.assert_frame_equal(rank(one, random_state=0).table(), rank(other, random_state=0).table())


# ---- how often intervals hold the truth ----


def hits(n_trials, truth, **settings):
    """(n_trials, n) whether the interval of each item's utility holds the truth."""
    found = []
    for trial in range(n_trials):
        data = drawn(truth, rng=np.random.default_rng(trial), **settings)[0]
        table = rank(data, random_state=0).table().sort_values("item")
        found.append(((table["low"] <= truth) & (truth <= table["high"])).to_numpy())
    return np.array(found)


def in_band(right):
    """Whether the share of the trials that are right agrees with nine of ten; one item of each trial, turn about."""
    trials = np.arange(len(right))
    one = right if right.ndim == 1 else right[trials, trials % right.shape[1]]
    return binomtest(int(one.sum()), len(one), 0.9).pvalue > 0.01 and 0.88 <= right.mean() <= 0.92


@pytest.mark.slow
def test_intervals_hold_the_truth_of_nine_in_ten():
    assert in_band(hits(200, np.linspace(-1, 1, 6), m=300, tau=-0.5))


@pytest.mark.slow
def test_intervals_hold_the_truth_where_each_item_was_compared_twice():
    """Laplace's approximation of the evidence finds these items too much alike: its intervals hold 81 %."""
    right, sds = [], []
    for trial in range(40):
        rng = np.random.default_rng(trial)
        u, left, right_item = (
            0.8 * rng.standard_normal(100),
            *rng.permutation(np.repeat(np.arange(100), 2)).reshape(2, -1),
        )
        kept = left != right_item
        left, right_item = left[kept], right_item[kept]
        won = rng.random(len(left)) < expit(u[left] - u[right_item])
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
            found = rank(Comparisons(np.zeros(len(left)), left, right_item, won), random_state=0)
        sds.append(found.sd)
        error = found.utilities - u[found.items] + u[found.items].mean()
        right.append((np.abs(error) <= found.quantile * np.sqrt(np.diag(found.covariance))).mean())
    assert 0.86 < np.mean(right) < 0.94
    assert 0.7 < np.median(sds) < 0.95


@pytest.mark.slow
def test_mean_log_likelihood_is_that_of_draws(tied):
    """With covariates; tau is taken as known."""
    cells, rng = cells_of(*tied), np.random.default_rng(0)
    A = 0.4 * rng.standard_normal((6, 6))
    A[-1] = 0.0
    theta = rng.standard_normal(6)
    draws = [cells.objective(theta + A @ rng.standard_normal(6))[0] for _ in range(4000)]
    assert cells.expected(theta, A @ A.T) == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / np.sqrt(4000))
    assert abs(cells.objective(theta)[0] - np.mean(draws)) > 8 * np.std(draws) / np.sqrt(4000)


@pytest.mark.slow
def test_intervals_allow_for_users_who_are_alike_in_all_their_votes():
    """With users equal in utilities on average the truth is zero for all, whatever the spread of tastes."""
    truth, busy = np.zeros(6), np.repeat(np.arange(24), [80] * 4 + [20] * 20)
    right = hits(200, truth, m=len(busy), user=busy, taste=0.8)
    assert in_band(right) or right.mean() > 0.9  # equal items are what the prior knows less of than there is


@pytest.mark.slow
def test_all_places_at_once_are_held_nine_times_in_ten():
    """Utilities are drawn as the prior has them."""
    right = []
    for trial in range(200):
        rng = np.random.default_rng(trial)
        u = 0.8 * rng.standard_normal(12)
        data = drawn(u, 150, rng)[0]
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
            low, high = rank(data, random_state=0).ranks[:, 1:].T
        true = 1 + np.sum(u[None, :] > u[:, None], axis=1)
        right.append(bool(((low <= true) & (true <= high)).all()))
    assert binomtest(sum(right), 200, 0.9).pvalue > 0.01


def test_items_far_apart_with_few_comparisons_have_intervals_that_may_be_too_short():
    said, rng = "intervals for utilities may be too short: with ", np.random.default_rng(0)
    for sd, m, expected in ((2.5, 80, True), (0.5, 80, False), (2.5, 800, False)):
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
            doubts = rank(drawn(sd * rng.standard_normal(40), m, rng)[0], random_state=0).doubts()
        assert any(text.startswith(said) for text in doubts) == expected


# ---- what the tables say ----


def test_chances_are_those_of_the_model(tied):
    data, X = tied
    found = rank(data, X, random_state=0)
    pair = found.probabilities().set_index(["item", "against"]).loc[tuple(found.table()["item"][:2])]
    z = np.diff(found.table()["utility"][:2])[0] * -1
    nu, v = np.exp(found.parameters[-1]), spreads(found.covariance[:4, :4])[tuple(found.table()["item"][:2])] ** 2
    z = z / np.sqrt(1 + np.pi * v / 8)
    assert pair["chance"] == pytest.approx(expit(z))
    assert pair["tie"] == pytest.approx(nu / (np.exp(z / 2) + np.exp(-z / 2) + nu))
    assert pair["low"] < pair["chance"] < pair["high"]
    assert found.coefficients()["name"].tolist() == ["covariate 0", "log of tie parameter"]


def test_wins_and_losses_are_counted(tied):
    data, X = tied
    table = rank(data, X, random_state=0).table().set_index("item")
    for item in range(4):
        won = np.sum((data.left == item) & (data.outcome == 1)) + np.sum((data.right == item) & (data.outcome == 0))
        assert table.loc[item, "wins"] == won
        assert table.loc[item, "comparisons"] == data.per_item[item]


def test_coefficients_are_in_units_of_their_columns(tied):
    data, X = tied
    plain, scaled = rank(data, X, random_state=0), rank(data, pd.DataFrame({"chars": 1e-6 * X[:, 0]}), random_state=0)
    ours = scaled.coefficients().loc[0]
    assert ours["name"] == "chars"
    assert 1e-6 * ours["coefficient"] == pytest.approx(plain.coefficients()["coefficient"][0])
    assert 1e-6 * ours["high"] == pytest.approx(plain.coefficients()["high"][0])


# ---- what cannot be told ----


def test_an_item_that_never_lost_is_named_and_held_finite():
    data = Comparisons([0] * 8, [0, 0, 1, 2, 1, 2, 0, 1], [1, 2, 2, 1, 2, 1, 1, 2], [1, 1, 1, 1, 0, 0, 1, 1])
    data = data.with_ids(items=["best", "b", "c"])
    with pytest.warns(cf.DataWarning, match="only the prior determines .*: best; they never lost"):
        found = rank(data, random_state=0)
    assert found.unlinked == ["best"]
    assert found.table()["item"][0] == "best"
    assert np.isfinite(found.table()[["utility", "low", "high"]].to_numpy()).all()


def test_the_largest_part_is_ranked_and_the_rest_named():
    data = Comparisons([0] * 5, [0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [1] * 5).with_ids(items=["p", "q", "a", "b", "c"])
    with pytest.warns(cf.DataWarning, match=r"only the 3 items of the largest component are ranked; .*: p, q"):
        found = rank(data, random_state=0)
    assert sorted(found.items) == ["a", "b", "c"]
    assert found.counts[:, 2].tolist() == [2, 2, 2]
    with pytest.warns(cf.DataWarning, match="items without comparisons have no rank: 1"):
        found = rank(Comparisons([0, 0], [0, 2], [2, 0], [1, 1], n_items=3), random_state=0)
    assert sorted(found.items) == [0, 2]


def test_items_of_few_comparisons_can_be_left_out():
    """Item 3 has one comparison; item 2 has two, and one without it."""
    left, right = [0, 1, 0, 1, 2, 2], [1, 0, 1, 0, 1, 3]
    data = Comparisons([0] * 6, left, right, [1] * 6)
    assert sorted(rank(data, min_comparisons=2, random_state=0).items) == [0, 1]
    with pytest.raises(cf.CofactorError, match="min_comparisons=5: no items have so many"):
        rank(data, min_comparisons=5)


def test_scale_of_elo():
    """Odds of ten are 400 points; intervals are those of the difference to the item that anchors the scale."""
    found = rank(drawn(np.array([1.0, 0.0, -1.0]), 200, np.random.default_rng(0))[0], random_state=0)
    table, pairs = found.table((1, 1500)), found.probabilities()
    assert table["elo"][1] == table["elo_low"][1] == 1500
    first = pairs[(pairs["item"] == 0) & (pairs["against"] == 1)].iloc[0]
    for name, chance in (("elo_low", "low"), ("elo_high", "high")):
        odds = first[chance] / (1 - first[chance])
        assert table[name][0] - 1500 == pytest.approx(400 * np.log10(odds))
    assert table["elo"][0] == pytest.approx((table["elo_low"][0] + table["elo_high"][0]) / 2)
    assert found.table((None, 1000))["elo"].mean() == pytest.approx(1000)
    with pytest.raises(cf.CofactorError, match="no item 7: anchor the scale at one of 0, 1, 2"):
        found.table((7, 1500))


def test_chance_of_a_match_and_the_pairs_to_ask_next(tied):
    """Of two items a match is that of all pairs; covariates add theirs; what tells most is seldom compared and even."""
    data, X = tied
    found = rank(data, X, random_state=0)
    pair = found.probabilities().iloc[0]
    match = found.chance(pair["item"], pair["against"])
    assert [match[name] for name in ("chance", "low", "high", "tie")] == pytest.approx(
        [pair[name] for name in ("chance", "low", "high", "tie")]
    )
    with_more = found.chance(pair["item"], pair["against"], {"covariate 0": 2.0})
    ends = [logit(np.array([one["low"], one["high"]])).mean() for one in (pair, with_more)]  # the plug-in log-odds
    assert ends[1] - ends[0] == pytest.approx(2 * found.coefficients()["coefficient"][0])
    for arguments, message in (((0, 9), "no item 9: the ranking has 0"), ((0, 1, {"x": 1}), "pass numbers for")):
        with pytest.raises(cf.CofactorError, match=message):
            found.chance(*arguments)
    left, right = [0, 1, 2] * 20 + [3, 3], [1, 2, 0] * 20 + [0, 1]
    few = rank(Comparisons([0] * 62, left, right, [1, 0] * 31), random_state=0)
    asked = few.next_pairs(3)
    p, s = asked["chance"][0], spreads(few.covariance)[asked["item"][0], asked["against"][0]]
    assert asked["gain"][0] == pytest.approx(np.log1p(p * (1 - p) * s**2) / 2)
    assert 3 in (asked["item"][0], asked["against"][0])
    assert len({frozenset(pair) for pair in zip(asked["item"], asked["against"], strict=True)}) > 1
    assert (np.diff(asked["gain"]) <= 0).all()


def test_of_two_items_the_pair_to_ask_next_is_the_two():
    two = rank(Comparisons([0] * 40, [0] * 40, [1] * 40, [1, 1, 1, 0] * 10), random_state=0)
    assert set(two.next_pairs(1).loc[0, ["item", "against"]]) == {0, 1}


def test_covariates_that_follow_from_others_are_refused(tied):
    data, X = tied
    twice = pd.DataFrame({"words": X[:, 0], "letters": 5 * X[:, 0]})
    with pytest.raises(cf.NotIdentifiableError, match="determined by the items or by other covariates: letters;"):
        rank(data, twice)
    own = np.array([3.0, 1.0, 4.0, 1.5])
    with pytest.raises(cf.NotIdentifiableError, match="covariate 0"):
        rank(data, (own[data.left] - own[data.right])[:, None])


def test_a_covariate_that_decides_everything_is_named_and_held_finite():
    data, _ = drawn(np.zeros(3), 200, np.random.default_rng(0))
    sign = pd.DataFrame({"sign": np.where(data.outcome == 1, 1.0, -1.0)})
    with pytest.warns(cf.DataWarning, match="covariates predict every comparison: sign; only the prior"):
        found = rank(data, sign, random_state=0)
    assert 2 < found.coefficients()["coefficient"][0] < 20


def test_few_users_are_told_of():
    data = drawn(np.zeros(3), 60, np.random.default_rng(0), user=np.repeat([0, 1], 30))[0]
    with pytest.warns(cf.DataWarning, match="2 users \\(effectively 2\\) are too few"):
        assert rank(data, random_state=0).n_users == 0


def test_items_that_few_users_compared_are_named():
    user = np.repeat(np.arange(20), 15)
    data = drawn(np.zeros(3), len(user), np.random.default_rng(0), user=user)[0]
    who = np.repeat(np.arange(5), 2)  # each says once that item 3 is better than item 0, and once that it is worse

    def with_judges(n):
        more = [(who, np.full(10, 3), np.zeros(10, dtype=int), np.arange(10) % 2)[k][: 2 * n] for k in range(4)]
        old = (data.user, data.left, data.right, data.outcome)
        return Comparisons(*(np.concatenate(parts) for parts in zip(old, more, strict=True)))

    with pytest.warns(cf.DataWarning, match="^fewer than 5 users compared 3: the intervals of these items are too"):
        rank(with_judges(4), random_state=0)
    rank(with_judges(5), random_state=0)  # without a warning, which would be an error


@each(
    "outcome, covariates, message",
    [
        ([1, 0, 0.3], None, "outcomes must be 1, 0 or 0.5 .* not 0.3"),
        ([0.5, 0.5, 0.5], None, "every comparison is a tie"),
        ([1, 0, 1], [[1.0]], "covariates have 1 rows, but there are 3"),
        ([1, 0, 1], [[1.0], [np.nan], [1.0]], "covariates contain NaN or infinity: covariate 0"),
        ([1, 0, 1], [[0.0], [0.0], [0.0]], "always zero have no effect: covariate 0"),
    ],
)
def test_what_cannot_be_ranked_is_refused(outcome, covariates, message):
    with pytest.raises(cf.CofactorError, match=message):
        rank(Comparisons([0] * 3, [0, 0, 0], [1, 1, 1], outcome), covariates)


# ---- checks before the fit ----


def test_diagnosis_of_one_ranking_names_who_won_all():
    data = Comparisons([0] * 4, [0, 0, 1, 2], [1, 2, 2, 1], [1, 1, 1, 1]).with_ids(items=["best", "b", "c"])
    report = cf.comparisons.diagnose(data, rank=0)
    assert report["wins and losses"].value == "1 items never lost to the others or never won: best"
    assert "only the prior determines" in report.verdict
    linked, _ = drawn(np.zeros(3), 200, np.random.default_rng(0))
    report = cf.comparisons.diagnose(linked, rank=0)
    assert report.status == "pass" and report["comparisons"].value == "200 choices for 2 degrees of freedom"
    apart = Comparisons([0] * 2, [0, 2], [1, 3], [1, 1])
    assert cf.comparisons.diagnose(apart, rank=0).verdict == "items in different components cannot be ranked together"


@pytest.mark.slow
def test_chances_are_means_over_what_the_comparisons_leave_possible():
    """Of a logistic curve over a normal variable; and on matches to come they are worth more than the plug-in."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    z, v = np.linspace(-3, 3, 13), 1.7
    exact = (expit(z[:, None] + np.sqrt(v) * nodes) * weights).sum(axis=1) / weights.sum()
    assert expit(davidson.averaged(z, np.full(13, v))) == pytest.approx(exact, abs=0.01)
    gains = []
    for seed in range(6):
        data, _ = cf.simulate.tennis_seasons(48, 1, field=8, random_state=seed)[0][0], None
        learn, test = data.take(np.arange(len(data)) < 200), data.take(np.arange(len(data)) >= 200)
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
            found = rank(learn, random_state=0)
        place = {item: k for k, item in enumerate(found.items)}
        known = [(place[i], place[j]) for i, j in zip(test.left, test.right, strict=True) if {i, j} <= set(place)]
        i, j = np.array(known).T
        won = test.outcome[[{a, b} <= set(place) for a, b in zip(test.left, test.right, strict=True)]]
        z, s = found.utilities[i] - found.utilities[j], spreads(found.covariance[: len(place), : len(place)])[i, j]
        sign = 2 * won - 1
        gains.append(np.mean(log_expit(sign * davidson.averaged(z, s**2)) - log_expit(sign * z)))
    assert np.mean(gains) > 0
