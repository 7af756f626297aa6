"""The recipes of the comparisons' paper: projected steps, Adam, and ratings in place of comparisons."""

import numpy as np
import pytest
from sklearn.base import clone

from cofactor import CofactorError, DataWarning
from cofactor.comparisons import Objective, feature_error, gradient_descent, pair_accuracy, random_start
from cofactor.comparisons.solvers import project_to_centred
from evaluation.released import RELEASED
from evaluation.released.comparisons import (
    Adam,
    ProjectedGradientDescent,
    RatingMF,
    Ratings,
    adam,
    incoherence,
    project_to_incoherent,
    projected_gradient_descent,
)
from tests.comparisons.problems import distance, drawn, error_of, few, problem, truth, warm
from tests.oracles.generators import recorded


@pytest.mark.slow
def test_each_is_found_by_name_and_fits():
    data = drawn(*truth(0, 40, 30, 2), 1500)
    assert list(RELEASED["comparisons"]) == ["ProjectedGradientDescent", "Adam", "RatingMF"]
    for method in (ProjectedGradientDescent(2, random_state=0), Adam(2, max_iter=2, random_state=0)):
        one, two = (recorded(clone(method).fit, data)[0] for _ in range(2))
        assert np.array_equal(one.item_factors_, two.item_factors_) and len(one.result_.objective) == one.result_.n_iter
        with pytest.raises(CofactorError, match="expected Comparisons or a DataFrame, got list"):
            method.fit([1, 2])


# ---- Algorithm 1 ----


def test_the_method_is_the_descent_from_the_spectral_start():
    U, V = truth()
    assert error_of(ProjectedGradientDescent(3, tol=1e-7, random_state=0).fit(drawn(U, V, 6000)), U, V) < 1e-4


def errors_of(seed, theta, n_iter, descend, **options):
    """Axis of Figure 1 after every step of length 1 / L, L = gamma sigma_1 / 2."""
    U, V, objective = problem(seed)
    errors, eta = [], 200 * 299 / np.linalg.norm(U, 2) ** 2

    def note(x):
        errors.append(feature_error(*objective.split(x)[:2], U, V) / np.sqrt(200 * 300))

    start = warm(objective, U, V, theta, seed + 50)
    recorded(descend, objective, start, n_iter, 0.0, note, learning_rate=eta, **options)
    return np.array(errors)


def test_centring_is_a_no_op_and_the_projection_with_a_small_mu_is_said_to_bias():
    plain, centred = (errors_of(1, 0.5, 60, descend) for descend in (gradient_descent, projected_gradient_descent))
    assert centred == pytest.approx(plain, rel=1e-6)
    U, V, objective = problem(0, kind="gauss")
    assert incoherence(U, V) > 4
    start = warm(objective, U, V, 0.1, 1)
    (x, _), given = recorded(projected_gradient_descent, objective, start, 1000, 1e-8, mu=1.01)
    assert any(w.category is DataWarning and "boundary" in str(w.message) for w in given)
    assert distance(objective, x, U, V) > 0.02


def test_projections():
    Z = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    assert project_to_incoherent(Z, 1.0) == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4], [0, 0]]))
    assert project_to_centred(Z).sum(axis=0) == pytest.approx([0, 0])
    assert incoherence(np.ones((2, 1)), np.ones((2, 1))) == pytest.approx(1)
    with pytest.raises(CofactorError, match="mu=-1"):
        projected_gradient_descent(Objective(few(), 2), np.ones(22), mu=-1)


# ---- Adam ----


@pytest.mark.slow
def test_adam_is_held_up_by_the_published_balance():
    """The c = 0.01 of the released code is a balance of 0.04, 120,000 gamma: the steps go into balancing."""
    errors = []
    U, V = truth(0, 1000, 1500, 2, "gauss")
    data = drawn(U, V, 50_000)
    for balance in (0.0, 0.04):
        objective = Objective(data, 2, balance=balance)
        start = objective.join(*random_start(data, 2, 0.03, 0))
        x, _ = adam(objective, start, max_iter=12, random_state=0)
        errors.append(distance(objective, x, U, V))
    assert errors[0] < 0.2 < 0.6 < errors[1]


def test_adam_takes_the_steps_of_the_textbook():
    """All comparisons in one batch, so that the order does not count; to the rounding of 32 bits."""
    data = drawn(*truth(0, 20, 30, 2), 300)
    objective = Objective(data, 2, ridge=20.0, balance=0.3)
    start = np.random.default_rng(0).standard_normal(objective.size)
    x, M, S = start.copy(), 0.0, 0.0
    for t in range(1, 6):
        g = objective(x)[1]
        M, S = 0.9 * M + 0.1 * g, 0.999 * S + 0.001 * g**2
        x = x - 0.01 * (M / (1 - 0.9**t)) / (np.sqrt(S / (1 - 0.999**t)) + 1e-8)
    found, result = adam(objective, start, max_iter=5, batch=300, learning_rate=0.01, random_state=0)
    assert np.abs(found - x).max() < 2e-4 < 0.03 < np.abs(found - start).max()
    assert result.n_iter == 5


@pytest.mark.parametrize(
    ("objective", "settings", "message"),
    [
        (Objective(few(), 2, "probit"), {}, "logistic link"),
        (Objective(few(), 2, item_bias=True), {}, "without counts and biases"),
        (Objective(few(), 2), {"batch": 0}, "batch=0"),
        (Objective(few(), 2), {"max_iter": 1.5}, r"max_iter=1\.5"),
    ],
)
def test_adam_refuses_what_it_does_not_know(objective, settings, message):
    with pytest.raises(CofactorError, match=message):
        adam(objective, np.ones(objective.size), **settings)


# ---- ratings ----


def test_ratings_order_items_as_they_were_rated():
    U, V = truth(n_users=60, n_items=40, rank=2)
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((60, 40)) < 0.5)
    rating = 3 + np.einsum("ea,ea->e", U[user], V[item]) + rng.standard_normal(60)[user]
    model = RatingMF(rank=2, ridge=1.0, random_state=0).fit(Ratings(user, item, rating, (61, 41)))
    asked = drawn(U, V, 20_000, seed=9)
    assert pair_accuracy(model.margin(asked.user, asked.left, asked.right), asked.outcome) > 0.95
    assert model.unseen_users_ == [60] and model.unseen_items_ == [40] and 40 not in model.recommend(0, 41)


def test_ratings_are_asked_for():
    with pytest.raises(CofactorError, match="expected Ratings, got Comparisons"):
        RatingMF().fit(few())
    with pytest.raises(CofactorError, match="rank=-1"):
        RatingMF(rank=-1).fit(Ratings(np.array([0]), np.array([0]), np.array([1.0]), (1, 1)))
