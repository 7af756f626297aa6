"""Rating predictors: averages, biased matrix factorisation, the recommender on a joint PMF."""

import numpy as np
import pytest

from cofactor import CofactorError
from cofactor.pmf import METHODS
from cofactor.pmf.ratings import (
    BMF,
    GlobalAverage,
    ItemAverage,
    JointPMFRecommender,
    UserAverage,
    biased_factors,
)
from evaluation.released.pmf import ReleasedBMF
from tests.each import each

USER, ITEM, RATING = [7, 7, 9, 9, 9], [10, 30, 10, 20, 30], [5.0, 4.0, 3.0, 1.0, 2.0]
EM = METHODS["RAND-EM"](rank=2, pseudo_count=0.1, random_state=0)
PREDICTORS = [
    GlobalAverage(),
    UserAverage(),
    ItemAverage(),
    BMF(rank=2, random_state=0),
    ReleasedBMF(rank=2, random_state=0),
    JointPMFRecommender(METHODS["Independence"](), biases=False),
    JointPMFRecommender(EM, biases=False),
    JointPMFRecommender(EM),
]


def some_ratings(seed=0, users=60, items=8, share=0.6):
    """Two kinds of users, who like opposite halves of the items."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((users, items)) < share)
    liked = (user % 2 == 0) == (item < items // 2)
    return user, item, np.where(liked, 4.0, 2.0) + rng.integers(-1, 2, len(user))


# ---- known answers ----


def test_averages_by_hand():
    asked = [7, 9, 9, 8], [20, 20, 99, 30]  # user 8 and item 99 are new
    assert GlobalAverage().fit(USER, ITEM, RATING).predict(*asked) == pytest.approx([3, 3, 3, 3])
    assert UserAverage().fit(USER, ITEM, RATING).predict(*asked) == pytest.approx([4.5, 2, 2, 3])
    assert ItemAverage().fit(USER, ITEM, RATING).predict(*asked) == pytest.approx([1, 1, 3, 3])


def test_errors_by_hand():
    assert GlobalAverage().fit(USER, ITEM, RATING).errors([7, 9], [20, 10], [4.0, 0.0]) == pytest.approx((5**0.5, 2))


def normal_equations(mf, user, item, rating):
    """Gradient of the objective, as its symbols say, one rating at a time; users and items numbered from zero."""
    a, b, A, B = (x[:-1] for x in (mf.user_bias_, mf.item_bias_, mf.user_factors_, mf.item_factors_))
    released = isinstance(mf, ReleasedBMF)
    weight = [100 * np.bincount(x) if released else np.full(x.max() + 1, mf.bias_ridge) for x in (user, item)]
    ridge = 100 if released else mf.ridge
    level, ga, gb, gA, gB = 0.0, -weight[0] * a, -weight[1] * b, -ridge * A, -ridge * B
    for i, j, r in zip(user, item, rating, strict=True):
        rest = r - mf.level_ - a[i] - b[j] - A[i] @ B[j]
        level += rest
        ga[i] += rest
        gb[j] += rest
        gA[i] += rest * B[j]
        gB[j] += rest * A[i]
    return [level, ga, gb, gA, gB]


@pytest.mark.parametrize("mf", [BMF(2, 3.0, 2.0, random_state=0), ReleasedBMF(2, random_state=0)], ids=repr)
def test_factorisation_ends_where_the_gradient_vanishes(mf):
    known = some_ratings()
    mf.max_iter, mf.tol = 5000, 1e-14
    mf.fit(*known)
    for gradient in normal_equations(mf, *known):
        assert gradient == pytest.approx(np.zeros(np.shape(gradient)), abs=1e-3)
    assert isinstance(mf, ReleasedBMF) or np.abs(mf.item_factors_).max() > 0.5


def test_factors_find_what_biases_cannot():
    user, item, rating = some_ratings(users=200)
    shown = np.random.default_rng(1).random(len(user)) < 0.7
    fit, asked = (user[shown], item[shown], rating[shown]), (user[~shown], item[~shown], rating[~shown])
    biases = BMF(rank=0).fit(*fit).errors(*asked)[0]
    assert BMF(rank=1, ridge=1.0, random_state=0).fit(*fit).errors(*asked)[0] < 1.05 < 1.2 < biases
    assert JointPMFRecommender(EM, biases=False).fit(*fit).errors(*asked)[0] < 0.95


def expectation_by_enumeration(model, values, codes, target):
    """Sum over classes and values, one user at a time."""
    shares = np.zeros(len(values))
    for f in range(model.n_classes):
        weight = model.prior[f]
        for n, code in codes.items():
            weight *= model.conditionals[n][code, f] if n != target else 1.0
        shares += weight * model.conditionals[target][:, f]
    return shares @ values / shares.sum()


def test_recommendations_are_expectations_given_the_other_ratings():
    user, item, rating = some_ratings(items=5)
    films = JointPMFRecommender(EM, biases=False).fit(user, item, rating)
    for i in range(6):
        codes = dict(zip(item[user == i], np.searchsorted(films.values_, rating[user == i]), strict=True))
        expected = [expectation_by_enumeration(films.model_, films.values_, codes, j) for j in range(5)]
        assert films.predict(np.full(5, i), np.arange(5)) == pytest.approx(expected)


# ---- recommending beyond biases ----


def generous(seed=0, users=200, items=12, taste=1.0):
    """Ratings of users who differ in level, and in which of two kinds of items they like, by `taste` stars."""
    rng = np.random.default_rng(seed)
    user, item = (index.ravel() for index in np.indices((users, items)))
    likes = np.where(rng.random(users) < 0.5, 1, -1)[user] * np.where(item % 2, 1, -1)
    rating = np.clip(np.rint(3 + rng.normal(0, 1, users)[user] + taste * likes + rng.normal(0, 0.5, len(user))), 1, 5)
    shown = rng.random(len(user)) < 0.5
    return (user[shown], item[shown], rating[shown]), (user[~shown], item[~shown], rating[~shown])


def test_biases_and_tastes_together_beat_either():
    known, asked = generous()
    both = JointPMFRecommender(EM).fit(*known)
    others = BMF(rank=0).fit(*known), JointPMFRecommender(EM, biases=False).fit(*known)
    assert both.errors(*asked)[0] < 0.95 * min(one.errors(*asked)[0] for one in others)
    assert both.weight_ > 0.8


def test_a_prediction_is_biases_and_what_is_expected_beyond_them():
    known, _ = generous()
    films, mf = JointPMFRecommender(EM).fit(*known), BMF(rank=0).fit(*known)
    user, item, _ = known
    left = known[2] - (mf.level_ + mf.user_bias_[user] + mf.item_bias_[item])
    edges = np.quantile(left, np.linspace(0, 1, 6)[1:-1])
    level = np.searchsorted(edges, left, side="right")
    assert films.values_ == pytest.approx([left[level == k].mean() for k in range(5)])
    codes = dict(zip(item[user == 3], level[user == 3], strict=True))
    expected = expectation_by_enumeration(films.model_, films.values_, codes, 4)
    whole = mf.level_ + mf.user_bias_[3] + mf.item_bias_[4] + films.weight_ * expected
    assert films.predict([3], [4]) == pytest.approx([np.clip(whole, 1, 5)])


# ---- laws ----


@pytest.mark.parametrize("predictor", PREDICTORS, ids=repr)
def test_ids_and_order_of_ratings_do_not_matter(predictor):
    user, item, rating = some_ratings()
    order = np.random.default_rng(3).permutation(len(user))
    expected = predictor.fit(user, item, rating).predict(user, item)
    shuffled = predictor.fit(user[order] * 17 + 5, item[order] * 3 - 4, rating[order])
    assert shuffled.predict(user * 17 + 5, item * 3 - 4) == pytest.approx(expected)


@each("predictor", PREDICTORS)
def test_strangers_get_a_rating_within_the_range(predictor):
    user, item, rating = some_ratings()
    found = predictor.fit(user, item, rating).predict([999, 999, 0, -5], [0, 999, 999, -5])
    assert np.isfinite(found).all() and (found >= rating.min()).all() and (found <= rating.max()).all()
    if not isinstance(predictor, UserAverage | BMF) and not getattr(predictor, "biases", False):
        assert found[1:] == pytest.approx(np.full(3, rating.mean()))


def test_a_stranger_is_a_user_of_whom_nothing_is_known():
    known = some_ratings()
    films = JointPMFRecommender(EM, biases=False).fit(*known)
    assert films.predict([999], [2]) == pytest.approx([films.model_.marginal(2) @ films.values_])
    mf = BMF(rank=2, random_state=0).fit(*known)
    assert mf.predict([999], [2]) == pytest.approx([mf.level_ + mf.item_bias_[2]])
    assert mf.predict([known[0][0], 999], [999, 999]) == pytest.approx([mf.level_ + mf.user_bias_[0], mf.level_])


# ---- bad input ----


@each(
    "known, words",
    [
        (([], [], []), "no ratings"),
        (([1, 2], [1], [3.0]), "2 users, 1 items and 1 ratings"),
        (([1, 1], [4, 4], [3.0, 2.0]), "user 1, item 4"),
        (([1, 2], [4, 4], [3.0, np.nan]), "rows 1 are not finite"),
        (([1.5, 2.0], [4, 4], [3.0, 2.0]), "array of integers"),
    ],
)
def test_ratings_that_cannot_be_learnt_from(known, words):
    with pytest.raises(CofactorError, match=words):
        GlobalAverage().fit(*known)


def test_questions_and_parameters_that_make_no_sense():
    with pytest.raises(CofactorError, match="2 users and 1 items"):
        GlobalAverage().fit(USER, ITEM, RATING).predict([1, 2], [1])
    with pytest.raises(CofactorError, match="rank=-1"):
        BMF(rank=-1).fit(USER, ITEM, RATING)


# ---- biases alone ----


def test_biases_alone_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    row, column = np.nonzero(rng.random((7, 5)) < 0.7)
    rating, pulls = rng.normal(3.0, 1.0, len(row)), (rng.uniform(0.5, 2, 7), rng.uniform(0.5, 2, 5))
    design = np.column_stack([np.ones(len(row)), row[:, None] == np.arange(7), column[:, None] == np.arange(5)])
    pull = np.diag(np.sqrt(np.concatenate([[0.0], *pulls])))
    best = np.linalg.lstsq(np.vstack([design, pull]), np.append(rating, np.zeros(13)), rcond=None)[0]
    found = biased_factors(row, column, rating, 0, 1.0, pulls, max_iter=5000, tol=1e-15)
    assert np.concatenate([[found.level], found.a, found.b]) == pytest.approx(best, abs=1e-6)
