"""Solvers and starts: rates of the paper's Figure 1, exact recovery, refusals."""

from itertools import product

import numpy as np
import pytest

from cofactor import CofactorError, Comparisons, ConvergenceWarning
from cofactor.comparisons import (
    Objective,
    barzilai_borwein,
    eased_start,
    feature_error,
    gradient_descent,
    lbfgs,
    random_start,
    spectral_start,
    utility_error,
)
from cofactor.comparisons.estimators import vanishing_ridge
from cofactor.comparisons.solvers import largest_curvature, residual_matrix
from cofactor.simulate import draw_comparisons
from tests.comparisons.problems import distance, drawn, few, problem, truth, warm
from tests.each import each
from tests.oracles.generators import recorded

# ---- gradient descent, Figure 1 ----


@each("theta", [0.5, 2])
def test_linear_convergence(theta):
    """Measured rates are 0.947 +- 0.011 per step of 1 / L, L = gamma sigma_1 / 2, whatever the start."""
    U, V, objective = problem()
    errors, start = [], warm(objective, U, V, theta, 50)

    def note(x):
        errors.append(feature_error(*objective.split(x)[:2], U, V) / np.sqrt(200 * 300))

    recorded(gradient_descent, objective, start, 300, 0.0, note, learning_rate=200 * 299 / np.linalg.norm(U, 2) ** 2)
    assert 0.90 < (errors[300] / errors[100]) ** (1 / 200) < 0.97
    assert errors[300] < 1e-7 and errors[0] > 0.05


def test_a_step_that_diverges_is_halved():
    U, V, objective = problem()
    start = warm(objective, U, V, 0.5, 1)
    far = 40 * 200 * 299 / np.linalg.norm(U, 2) ** 2
    (x, result), _ = recorded(gradient_descent, objective, start, 400, 1e-6, learning_rate=far)
    assert distance(objective, x, U, V) < 1e-3 and result.objective[-1] < result.objective[0]


def test_curvature_of_the_start_is_near_the_formula():
    """L = gamma sigma_1 / 2, measured 0.9 to 1.5 of it; balance adds 4 lambda sigma_1."""
    U, V, objective = problem(0, 12_787, balance=0.0)
    formula = np.linalg.norm(U, 2) ** 2 / (200 * 299)
    assert 0.8 < largest_curvature(objective, objective.join(U, V)) / formula < 1.3


# ---- solvers ----


def test_the_spectral_start_evens_out_who_is_compared_more_often():
    data = few(seed=3, n1=6, n2=5, m=60)
    G = residual_matrix(data).toarray() * 6 * 4 / (2 * 60 * 0.25)
    users, items = (np.sqrt(n / n.mean()) for n in (data.per_user, data.per_item))
    A, s, Ct = np.linalg.svd(G / users[:, None] / items)
    X = (A[:, :2] * s[:2]) @ Ct[:2] / users[:, None] / items
    U, V = spectral_start(data, 2, random_state=0)
    assert np.ptp(users) > 0.3 and np.allclose(U @ V.T, X - X.mean(axis=1, keepdims=True), atol=1e-9)


@each("solver, kind", product([lbfgs, barzilai_borwein], ["unit", "gauss"]))
def test_exact_outcomes_recover_the_truth_from_the_spectral_start(solver, kind):
    U, V, objective = problem(kind=kind)
    x, result = solver(objective, objective.join(*spectral_start(objective.data, 3, random_state=0)), tol=1e-11)
    assert distance(objective, x, U, V) < 1e-8
    assert result.converged and objective.n_passes < 300 and len(result.objective) == result.n_iter
    if kind == "unit":
        objective = Objective(drawn(U, V, 8000, link="probit"), 3, "probit")
        start = objective.join(*spectral_start(objective.data, 3, "probit", random_state=0))
        assert distance(objective, solver(objective, start, tol=1e-10)[0], U, V) < 1e-6


@pytest.mark.slow
@each("rank", [2, 4])
def test_figure_2_is_solved_at_its_50_thousand_comparisons(rank):
    """300 epochs of the published recipe leave 0.035 to 0.12 of 0.057 to 0.099."""
    U, V = truth(rank, 2000, 3000, rank, "gauss")
    objective = Objective(drawn(U, V, 50_000), rank)
    start = objective.join(*spectral_start(objective.data, rank, random_state=0))
    x, _ = lbfgs(objective, start, tol=1e-10)
    assert distance(objective, x, U, V) < 1e-6
    assert objective.n_passes <= 300


def test_solvers_agree_on_choices_with_a_ridge():
    U, V = truth()
    data = drawn(U, V, 20_000, "binary")
    values = []
    for solver, start in ((lbfgs, spectral_start), (barzilai_borwein, spectral_start), (lbfgs, None)):
        objective = Objective(data, 3, ridge=5.0)
        factors = start(data, 3, random_state=0) if start else random_start(data, 3, 0.3, random_state=1)
        x, _ = solver(objective, objective.join(*factors), tol=1e-9)
        values.append(objective(x)[0])
    assert values == pytest.approx([values[0]] * 3, abs=1e-12)


@each("solver", [lbfgs, barzilai_borwein, gradient_descent])
def test_zero_is_refused_as_a_start_and_a_limit_that_was_reached_is_said(solver):
    objective = Objective(few(), 2)
    with pytest.raises(CofactorError, match=r"all features (are )?zero"):
        solver(objective, np.zeros(objective.size))
    for limit in (2, 45) if solver is lbfgs else (2,):  # before and behind the first steps
        U, V, objective = problem()
        with pytest.warns(ConvergenceWarning, match=f"limit {limit} reached"):
            _, result = solver(objective, warm(objective, U, V, 0.5, 0), max_iter=limit, tol=1e-15)
        assert not result.converged and result.n_iter <= limit


def test_the_callback_sees_the_start_and_every_iterate():
    objective = Objective(drawn(*truth(n_users=8, n_items=9, rank=2), 400, "binary"), 2, ridge=1.0)
    start = objective.join(*random_start(objective.data, 2, 1.0, random_state=0))
    for solver in (barzilai_borwein, lbfgs, gradient_descent):
        seen = []
        (x, result), _ = recorded(solver, objective, start, 40, 1e-6, lambda x, seen=seen: seen.append(x.copy()))
        assert np.array_equal(seen[0], start) and np.allclose(seen[-1], x, rtol=0, atol=1e-12)
        assert np.allclose([objective(x)[0] for x in seen[1:]], result.objective)


@pytest.mark.slow
def test_a_huge_start_comes_back():
    objective = problem()[2]
    start = 20 * objective.join(*spectral_start(objective.data, 3, random_state=0))
    x, _ = recorded(barzilai_borwein, objective, start)[0]
    assert objective(x)[0] < 1e-3 * objective(start)[0]


# ---- starts ----


def test_spectral_start_has_the_truth_as_its_mean():
    """Small utilities, many comparisons: s G is X J, and the start its best rank-3 part."""
    U, V = (0.3 * factor for factor in truth())
    data = drawn(U, V, 400_000)
    assert utility_error(*spectral_start(data, 3, random_state=0), U, V) < 0.07


def test_residual_matrix_is_minus_the_gradient_in_utilities():
    data = few(3)
    G = np.zeros((6, 5))
    for u, i, j, w in zip(data.user, data.left, data.right, data.outcome, strict=True):
        G[u, i] += w - 0.5
        G[u, j] -= w - 0.5
    assert residual_matrix(data).toarray() == pytest.approx(G)


# ---- easing ----

DOF = (200 + 300 - 1) * 3 - 9


def scarce(per_degree, **options):
    """Return truth, objective and spectral start."""
    U, V, objective = problem(5, round(per_degree * DOF), **options)
    return U, V, objective, objective.join(*spectral_start(objective.data, 3, random_state=0))


def test_where_nothing_is_to_ease_the_start_comes_back():
    enough, penalised = scarce(3.1), scarce(2, ridge=1.0)
    U, V = truth(5)
    choices = Objective(draw_comparisons(U, V, 2 * DOF, "binary", random_state=6), 3)
    start = choices.join(*spectral_start(choices.data, 3, random_state=0))
    for objective, x in [enough[2:], penalised[2:], (choices, start)]:
        assert eased_start(objective, x) is x and objective.n_passes == 0


def test_easing_brings_few_comparisons_nearer_to_the_truth_and_counts_its_passes():
    U, V, objective, start = scarce(1.9)
    eased = eased_start(objective, start)
    assert distance(objective, eased, U, V) < 0.6 * distance(objective, start, U, V)
    assert 50 <= objective.n_passes < 80


def test_the_scale_of_the_start_sets_the_ridge(monkeypatch):
    *_, objective, start = scarce(2)
    ridges = []
    monkeypatch.setattr(Objective, "with_ridge", lambda self, ridge: ridges.append(ridge) or self)
    for scale in (1, 2):
        eased_start(objective, scale * start)
    assert ridges[:2] == pytest.approx([4 * ridge for ridge in ridges[2:]])
    assert ridges[0] == pytest.approx(10 * ridges[1])


def test_answers_that_balance_out_start_and_end_without_preferences():
    even = Comparisons([0, 1, 2], [0, 1, 2], [1, 2, 0], [0.5, 0.5, 0.5], n_users=4, n_items=5)
    U, V = spectral_start(even, 2, random_state=0)
    assert U.shape == (4, 2) and V.shape == (5, 2) and not U.any() and not V.any()
    assert vanishing_ridge(even, "logistic", np.empty(0)) == 0
