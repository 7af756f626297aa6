"""ComparisonMF: recovery, choice of the ridge, what is refused, new users, ids."""

import itertools

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, Comparisons, DataWarning, NotIdentifiableError
from cofactor.comparisons import BradleyTerry, ComparisonMF, expected_error, pair_accuracy
from cofactor.comparisons.estimators import FitSettings, choose_rank_and_ridge, vanishing_ridge
from cofactor.comparisons.metrics import product_norm
from cofactor.comparisons.objective import excess_loss
from tests.comparisons.problems import drawn, error_of, few, truth
from tests.oracles.generators import recorded


def fitted(data, **settings):
    """Fit the paper's model: three features, no biases."""
    return ComparisonMF(**({"rank": 3, "item_bias": False, "random_state": 0} | settings)).fit(data)


def prior_ridge(U, V):
    """Inverse variance of the true features."""
    return 1 / np.mean(np.vstack([U, V]) ** 2)


# ---- recovery ----


def test_exact_chances_are_reproduced_without_a_ridge():
    U, V = truth()
    mf = fitted(drawn(U, V, 6000))
    assert mf.ridge_ == 0 and error_of(mf, U, V) < 1e-6
    assert mf.predict_proba([3], [5], [9]) == pytest.approx(1 / (1 + np.exp(-U[3] @ (V[5] - V[9]))))


@pytest.mark.slow
def test_choices_reach_the_predicted_error_with_slope_one_half():
    """Five sizes; the exponent within 0.03 of -1/2, the constant within 5 % of the efficient one."""
    U, V = truth(1)
    spread = product_norm(U, V) / np.sqrt(200 * 300)
    sizes = [80_000, 160_000, 320_000, 640_000, 1_280_000]
    errors = [error_of(fitted(drawn(U, V, m, "binary"), ridge=prior_ridge(U, V), tol=1e-5), U, V) for m in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    predicted = [expected_error(m, 200, 300, 3, spread) for m in sizes]
    assert slope == pytest.approx(-0.5, abs=0.03)
    assert errors == pytest.approx(predicted, rel=0.05)


@pytest.mark.slow
def test_the_chosen_ridge_is_near_the_best_one():
    U, V = truth()
    data = drawn(U, V, 40_000, "binary")
    chosen = fitted(data)
    assert 0.5 < chosen.ridge_ / (1.7 * prior_ridge(U, V)) < 2
    assert error_of(chosen, U, V) < 1.02 * error_of(fitted(data, ridge=prior_ridge(U, V)), U, V)
    assert chosen.path_[0].ridge == np.inf and {trial.rank for trial in chosen.path_} == {3}


@pytest.mark.slow
def test_where_features_do_not_help_biases_are_left_and_a_warning():
    """Utilities of 0.07, as in the paper's Figure 2, cannot be learnt from choices; what all like, can."""
    U, V = truth(0, kind="gauss")
    b = np.random.default_rng(5).standard_normal(300)
    with pytest.warns(DataWarning, match="do not help to predict 10000 held-out comparisons: only item biases"):
        mf = fitted(drawn(0.1 * U, V, 10_000, "binary", b=b), item_bias=True)
    assert np.isinf(mf.ridge_) and mf.rank_ == 0 and mf.n_held_out_ == 10_000 and "biases" in mf.result_.reason
    assert np.corrcoef(mf.item_bias_, b)[0, 1] > 0.9
    assert mf.predict_proba([0], [b.argmax()], [b.argmin()]) > 0.9 and mf.recommend(0, 1)[0] in np.argsort(-b)[:10]
    assert mf.fold_in(few(n2=300)).shape == (6, 0)


@pytest.mark.slow
def test_a_model_without_biases_is_no_coin_either():
    U, V = truth(0, kind="gauss")
    data = drawn(0.1 * U, V, 10_000, "binary", b=0.2 * np.random.default_rng(5).standard_normal(300))
    with pytest.warns(DataWarning, match="only item biases are used"):
        mf = fitted(data)
    ranking = BradleyTerry(mf.bias_ridge_).fit(data)
    assert mf.item_bias_ == pytest.approx(ranking.item_bias_, abs=1e-6) and np.ptp(mf.item_bias_) > 0.2


@pytest.mark.slow
def test_rank_is_chosen_with_the_ridge():
    U, V = truth()
    mf = fitted(drawn(U, V, 80_000, "binary"), rank=(1, 3, 5))
    assert mf.rank_ == 3 and mf.item_factors_.shape == (300, 3)


@pytest.mark.slow
def test_the_default_finds_few_features_and_many():
    few_features = drawn(*truth(), 40_000, "binary")
    assert ComparisonMF(random_state=0).fit(few_features).rank_ == 3
    rng = np.random.default_rng(0)
    many = drawn(rng.standard_normal((40, 12)), rng.standard_normal((20, 12)), 20_000, "binary")
    found = ComparisonMF(random_state=0).fit(many)
    assert found.rank_ == 19 and {trial.rank for trial in found.path_} == {3, 19} and found.n_held_out_ == 20_000


def test_the_path_of_ridges_ends_after_two_that_do_worse():
    U, V = truth(n_users=60, n_items=40, rank=2)
    losses = [trial.loss for trial in fitted(drawn(U, V, 4000, "binary"), rank=2).path_]
    best = int(np.argmin(losses))
    assert len(losses) == best + 3 < 10


def test_ridges_are_tried_without_biases_where_none_are_asked_for():
    data = few(seed=1)
    for item_bias in (False, True):
        settings = FitSettings(item_bias=item_bias, folds=2)
        path = choose_rank_and_ridge(data, settings, np.random.default_rng(0)).path
        assert path and all((trial.bias_ridge > 0) == item_bias for trial in path), item_bias


@pytest.mark.slow
def test_five_folds_choose_better_than_one_hold_out():
    """Fewer than three hundred answers: mean loss on other answers over ten data sets."""
    U, V = truth(2, 50, 15, 2)
    asked, losses = drawn(2 * U, V, 5000, "binary", seed=9), {1: [], 5: []}
    for seed, folds in itertools.product(range(10), losses):
        data = drawn(2 * U, V, 600, "binary", seed=seed)
        mf, _ = recorded(ComparisonMF(random_state=seed, folds=folds).fit, data)
        losses[folds].append(excess_loss(asked, mf.margin(asked.user, asked.left, asked.right), "logistic"))
    assert np.mean(losses[5]) < np.mean(losses[1])


@pytest.mark.slow
def test_biases_are_found_and_help():
    U, V = truth()
    b = np.random.default_rng(5).standard_normal(300)
    data, asked = drawn(U, V, 5000, "binary", b=b), drawn(U, V, 20_000, "binary", seed=7, b=b)
    scores = []
    for item_bias in (False, True):
        mf, _ = recorded(fitted, data, item_bias=item_bias)
        scores.append(pair_accuracy(mf.margin(asked.user, asked.left, asked.right), asked.outcome))
    assert scores[1] > scores[0] + 0.03
    assert np.corrcoef(mf.item_bias_, b)[0, 1] > 0.9


def test_uneven_sampling_is_solved():
    U, V = truth()
    weights = 1 / np.arange(1, 301)
    assert error_of(fitted(drawn(U, V, 20_000, item_weights=weights), ridge=0, tol=1e-10), U, V) < 1e-3


# ---- laws ----


def test_the_order_of_names_and_the_sides_do_not_matter():
    U, V = truth(n_users=40, n_items=30, rank=2)
    d = drawn(U, V, 3000, "binary")
    one = fitted(d, rank=2, ridge=3.0)
    users, items = np.random.default_rng(0).permutation(40), np.random.default_rng(1).permutation(30)
    moved = fitted(Comparisons(users[d.user], items[d.right], items[d.left], 1 - d.outcome, 40, 30), rank=2, ridge=3.0)
    found = moved.margin(users[d.user], items[d.left], items[d.right])
    assert found == pytest.approx(one.margin(d.user, d.left, d.right), abs=1e-4)


def test_speaks_the_callers_names_and_refuses_others():
    d = drawn(*truth(n_users=40, n_items=30, rank=2), 3000, "binary")
    columns = {"user": [f"u{u}" for u in d.user], "outcome": d.outcome}
    sides = {side: [f"i{i}" for i in getattr(d, side)] for side in ("left", "right")}
    mf = fitted(Comparisons.from_frame(pd.DataFrame(columns | sides)), rank=2, ridge=3.0)
    best = mf.recommend("u3", 4)
    assert len(set(best)) == 4 and all(name.startswith("i") for name in best)
    assert (mf.margin(["u3"] * 3, best[:3], best[1:]) > 0).all()
    assert mf.recommend("u3", 4, exclude=best[:2])[:2] == best[2:] and mf.recommend("u3") == mf.recommend("u3", 10)
    with pytest.raises(CofactorError, match="unknown users: u99; use fold_in for new users"):
        mf.recommend("u99")
    with pytest.raises(CofactorError, match="unknown items: tea, gin"):
        mf.margin(["u1", "u1"], ["tea", "gin"], ["i1", "i2"])
    with pytest.raises(CofactorError, match="2 users, 1 left items and 1 right items"):
        mf.margin(["u1", "u1"], ["i1"], ["i2"])


# ---- what data leave open ----


def test_without_a_ridge_choices_without_a_maximum_are_refused_and_few_comparisons_prove_nothing():
    U, V = truth()
    for m in (5000, 20_000):
        with pytest.raises(NotIdentifiableError, match=r"no maximum: .* choices.*separable.*ridge='auto'"):
            recorded(fitted, drawn(U, V, m, "binary"), ridge=0)
    (mf, given) = recorded(fitted, drawn(U, V, 1400), ridge=0, max_iter=200)
    assert any("1400 comparisons for 1488 degrees of freedom" in str(w.message) for w in given)
    assert error_of(mf, U, V) > 0.1 and mf.result_.objective[-1] < 1e-3


def halves(outcomes="exact", m=12_000):
    """Items of two halves that nobody compares across."""
    U, V = truth(n_users=100, n_items=60)
    rng = np.random.default_rng(0)
    user, half = rng.integers(100, size=m), 30 * rng.integers(2, size=m)
    left = rng.integers(30, size=m)
    right = half + (left + rng.integers(1, 30, size=m)) % 30
    left = left + half
    w = 1 / (1 + np.exp(-np.einsum("ka,ka->k", U[user], V[left] - V[right])))
    w = w if outcomes == "exact" else (rng.random(m) < w) * 1.0
    return U, V, Comparisons(user, left, right, w, 100, 60)


def test_parts_that_nobody_links_are_centred_each_and_not_compared():
    U, V, data = halves()
    with pytest.warns(DataWarning, match="2 components \\(with 30, 30 items\\) that no comparison links"):
        mf = fitted(data, ridge=0, tol=1e-12)
    X, found = U @ V.T, mf.user_factors_ @ mf.item_factors_.T
    for own in (slice(0, 30), slice(30, 60)):
        part = X[:, own] - X[:, own].mean(axis=1, keepdims=True)
        assert np.linalg.norm(found[:, own] - part) < 1e-7 * np.linalg.norm(part)
    with pytest.raises(NotIdentifiableError, match=r"\(2, 40\)"):
        mf.margin([0, 0], [1, 2], [3, 40])
    with pytest.raises(NotIdentifiableError, match="no comparison links"):
        mf.recommend(0, 10)
    with pytest.warns(DataWarning, match="2 components"):  # with a ridge the prior decides
        mf = fitted(halves("binary")[2], ridge=5.0)
    assert 0 < mf.predict_proba([0], [2], [40])[0] < 1 and len(mf.recommend(0, 5)) == 5


def test_whoever_was_never_seen_has_no_features():
    U, V = truth(n_users=40, n_items=30, rank=2)
    d = drawn(U, V, 3000, "binary")
    mf = fitted(Comparisons(d.user, d.left, d.right, d.outcome, 42, 31), rank=2, ridge=3.0, item_bias=True)
    assert mf.unseen_users_ == [40, 41] and mf.unseen_items_ == [30]
    assert not mf.user_factors_[40:].any() and not mf.item_factors_[30].any() and mf.item_bias_[30] == 0
    one_more = ((d.user, 40), (d.left, 0), (d.right, 1), (d.outcome, 1.0))
    once = Comparisons(*(np.append(old, new) for old, new in one_more), 42, 30)
    free = fitted(once, rank=2, ridge=0.0).user_factors_
    assert free[40].all() and not free[41].any()
    with pytest.warns(DataWarning, match="user 40 has no comparisons: these are the average utilities of all users"):
        assert mf.utilities(40) == pytest.approx(mf.item_bias_)
    assert 30 not in mf.recommend(0, 31)


def test_a_table_of_winners_and_losers_is_fitted_as_its_comparisons():
    frame = pd.DataFrame({"user": list("uvuv") * 30, "winner": list("abcb") * 30, "loser": list("bcaa") * 30})
    one, two = (ComparisonMF(rank=1, ridge=1.0, random_state=0).fit(x) for x in (frame, Comparisons.from_frame(frame)))
    assert one.users_ == ("u", "v") and one.recommend("v", 3) == two.recommend("v", 3)
    assert np.array_equal(one.user_factors_, two.user_factors_)


# ---- new users ----


def test_folding_in_gives_the_features_of_a_known_user_and_of_logistic_regression():
    linear_model = pytest.importorskip("sklearn.linear_model")
    U, V = truth(n_users=60, n_items=40, rank=2)
    data = drawn(U, V, 6000, "binary")
    mf = fitted(data, rank=2, ridge=3.0, item_bias=True, tol=1e-11)
    assert mf.fold_in(data) == pytest.approx(mf.user_factors_, abs=1e-5)
    mf, new = fitted(data, rank=2, ridge=3.0), drawn(U[:1], V, 50, "binary", seed=8)
    D = mf.item_factors_[new.left] - mf.item_factors_[new.right]
    peer = linear_model.LogisticRegression(C=1 / 3.0, fit_intercept=False, tol=1e-10).fit(D, new.outcome)
    assert mf.fold_in(new) == pytest.approx(peer.coef_, abs=1e-4)
    assert mf.recommend(mf.fold_in(new)[0], 3) == mf.recommend(peer.coef_[0], 3)


def test_features_vanish_above_the_vanishing_ridge():
    U, V = truth(n_users=40, n_items=30, rank=2)
    data = drawn(U, V, 3000, "binary")
    limit = vanishing_ridge(data, "logistic", np.empty(0))
    size = [np.linalg.norm(recorded(fitted, data, rank=2, ridge=f * limit)[0].item_factors_) for f in (0.8, 1.05)]
    assert size[0] > 0.1 > 0.01 > size[1]


@pytest.mark.slow
def test_pairs_made_from_ratings_call_for_hidden_items():
    """Ratings without any taste: pairs predict one another, and tell nothing of items that were not rated."""
    rng = np.random.default_rng(0)
    quality, parts = rng.standard_normal(60), []
    for user in range(80):
        item = rng.choice(60, 12, replace=False)
        rating = quality[item] + 2 * rng.standard_normal(12)
        i, j = np.triu_indices(12, 1)
        parts.append((np.full(len(i), user), item[i], item[j], rating[i] > rating[j]))
    data = Comparisons(*(np.concatenate(column).astype(float) for column in zip(*parts, strict=True)), 80, 60)
    left, right = rng.integers(60, size=(2, 4000))
    asked, truth = (rng.integers(80, size=4000), left, right), quality[left] - quality[right]
    found = []
    for new_items in (False, True):
        mf, _ = recorded(ComparisonMF(2, new_items=new_items, random_state=0).fit, data)
        found.append((mf.ridge_, np.mean(mf.margin(*asked) * truth > 0)))
    assert found[1][0] > 5 * found[0][0] and found[1][1] > found[0][1] + 0.05
