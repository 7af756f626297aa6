"""Links and objective: stable, equal to the paper's formulas, gradients and curvature by differences."""

import mpmath
import numpy as np
import pytest
from hypothesis import given

from cofactor import Comparisons
from cofactor.comparisons import LINKS, Objective
from cofactor.comparisons.objective import _exponentials, _logistic_chances, excess_loss, gamma
from tests.comparisons.problems import few
from tests.each import each
from tests.oracles.comparisons import balance_penalty, logistic_gradient, plain_loss
from tests.oracles.generators import laws, seeds

Z = [-800.0, -300.0, -40.0, -8.0, -1.5, -1e-9, 0.0, 0.3, 5.0, 20.0, 100.0, 800.0]
W = [0.0, 1e-6, 0.3, 0.5, 1.0]


def exact(link, z, w):
    """Loss, slope and curvature with sixty digits."""
    with mpmath.workdps(400 if abs(z) > 100 else 120):
        z, w = mpmath.mpf(z), mpmath.mpf(w)
        if link == "logistic":
            p, q = 1 / (1 + mpmath.exp(-z)), 1 / (1 + mpmath.exp(z))
            slope, bend = (1 - w) * p - w * q, p * q
        else:
            p, q = mpmath.erfc(-z / mpmath.sqrt(2)) / 2, mpmath.erfc(z / mpmath.sqrt(2)) / 2
            density = mpmath.npdf(z)
            slope = (1 - w) * density / q - w * density / p
            bend = w * density / p * (density / p + z) + (1 - w) * density / q * (density / q - z)
        entropy = sum(x * mpmath.log(x) for x in (w, 1 - w) if x)
        return [float(x) for x in (-w * mpmath.log(p) - (1 - w) * mpmath.log(q) + entropy, slope, bend)]


@each("link", LINKS)
def test_stable_from_minus_800_to_800(link):
    f = LINKS[link]
    for z in Z:
        for w in W:
            loss, slope, bend = exact(link, z, w)
            assert float(f.loss(z, w)) == pytest.approx(loss, rel=1e-9, abs=1e-15)
            assert float(f.slope(z, w)) == pytest.approx(slope, rel=1e-12, abs=1e-15)
            assert float(f.curvature(z, w)) == pytest.approx(bend, rel=1e-8, abs=1e-15)


@each("link", LINKS)
def test_links_are_symmetric_and_rise(link):
    f, z = LINKS[link], np.linspace(-6, 6, 41)
    assert f.probability(z) + f.probability(-z) == pytest.approx(np.ones(41))
    rise = (f.probability(z + 1e-6) - f.probability(z - 1e-6)) / 2e-6
    assert f.steepness(z) == pytest.approx(rise, rel=1e-6, abs=1e-9)
    assert f.information(z) == pytest.approx(f.steepness(z) ** 2 / (f.probability(z) * f.probability(-z)))


@each("link", LINKS)
def test_excess_loss_keeps_its_digits_near_the_best_fit(link):
    f, w = LINKS[link], np.array([0.1, 0.5, 0.97])
    best = {"logistic": np.log(w / (1 - w)), "probit": [-1.2815515655446004, 0.0, 1.8807936081512509]}[link]
    for d in (1e-3, 1e-6):
        expected = f.information(best) * d**2 / 2
        assert f.loss(np.add(best, d), w) == pytest.approx(expected, rel=2 * d + 1e-8)


def test_the_compiled_excess_loss_is_right_to_ten_digits_near_the_best_fit():
    with mpmath.workdps(40):
        for w, d in ((0.5, 0.0199), (0.3, -0.0199), (0.9, 0.01), (0.5, 0.0201)):
            best = mpmath.log(mpmath.mpf(w) / (1 - mpmath.mpf(w)))
            z, loss = best + mpmath.mpf(d), lambda z, w=w: mpmath.log1p(mpmath.exp(z)) - mpmath.mpf(w) * z
            slope = 1 / (1 + mpmath.exp(-z)) - mpmath.mpf(w)
            found = np.array([[float(z)], [w], [float(mpmath.exp(-abs(z)))], [float(best)], [float(loss(best))], [0.0]])
            total = _logistic_chances(*found)
            assert total == pytest.approx(float(loss(z) - loss(best)), rel=1e-10), (w, d)
            assert found[0, 0] == pytest.approx(float(slope), rel=1e-10), (w, d)


def objective_and_point(seed=0, link="logistic", outcome=None, rank=2, **options):
    data = few(seed)
    if outcome is not None:
        data = Comparisons(data.user, data.left, data.right, outcome(data.outcome), 6, 5)
    objective = Objective(data, rank, link, **options)
    return objective, np.random.default_rng(seed).standard_normal(objective.size)


@pytest.mark.slow
@laws
@given(seed=seeds)
def test_equals_the_papers_formulas(seed):
    objective, x = objective_and_point(seed, outcome=np.round, balance=0.3)
    stacked = np.vstack(objective.split(x)[:2])
    value, gradient = objective(x)
    assert value == pytest.approx(plain_loss(objective.data, stacked) + 0.3 / 4 * balance_penalty(stacked, 6))
    likelihood = Objective(objective.data, 2, balance=0.0)
    assert likelihood(x)[1] == pytest.approx(logistic_gradient(objective.data, stacked).ravel(), abs=1e-14)
    assert not np.allclose(gradient, likelihood(x)[1])


@each("link", LINKS)
@pytest.mark.parametrize("kind", ["choices", "chances", "near", "counts"])
def test_gradient_by_differences(link, kind):
    data = few(1, counts=np.arange(1, 41) if kind == "counts" else None)
    if kind in ("choices", "near"):
        w = np.round(data.outcome) if kind == "choices" else 0.5 + 1e-3 * data.outcome
        data = Comparisons(data.user, data.left, data.right, w, 6, 5)
    objective = Objective(data, 2, link, 0.7, 0.4, balance=0.2, item_bias=True)
    x = np.random.default_rng(0).standard_normal(objective.size) * (1e-2 if kind == "near" else 1)
    value, gradient = objective(x)
    assert value >= 0
    for k in range(x.size):
        step = np.zeros(x.size)
        step[k] = 1e-6
        slope = (objective(x + step)[0] - objective(x - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=2e-9)


@each("link", LINKS)
@pytest.mark.parametrize("outcome", [np.round, lambda w: w])
def test_value_is_the_mean_of_the_links_losses(link, outcome):
    objective, x = objective_and_point(3, link, outcome, balance=0.0, item_bias=True)
    z = objective.differences(x)
    U, V, b = objective.split(x)
    d = objective.data
    assert z == pytest.approx(np.sum(U[d.user] * (V[d.left] - V[d.right]), axis=1) + b[d.left] - b[d.right])
    assert objective(x)[0] == pytest.approx(excess_loss(d, z, link), rel=1e-12)


@each("link", LINKS)
def test_curvature_by_differences_at_a_perfect_fit(link):
    """There the Hessian is the Gauss-Newton matrix, since every slope is zero."""
    objective, x = objective_and_point(4, link, rank=2, item_bias=True)
    d = objective.data
    w = LINKS[link].probability(objective.differences(x))
    objective = Objective(Comparisons(d.user, d.left, d.right, w, 6, 5), 2, link, balance=0.0, item_bias=True)
    product = objective.curvature(x)
    for seed in range(3):
        v = np.random.default_rng(seed).standard_normal(x.size)
        change = (objective(x + 1e-5 * v)[1] - objective(x - 1e-5 * v)[1]) / 2e-5
        assert product(v) == pytest.approx(change, abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_compiled_pass_is_stable_where_utilities_are_huge(scale):
    objective, x = objective_and_point(5, outcome=np.round, balance=0.0)
    value, gradient = objective(scale * x)
    z = objective.differences(scale * x)
    assert value == pytest.approx(float(np.mean(LINKS["logistic"].loss(z, objective.data.outcome))))
    assert np.isfinite(gradient).all() and (scale == 1 or np.abs(z).max() > 800)


def test_blocks_and_threads_change_nothing():
    rng = np.random.default_rng(0)
    m, left = 10_000, rng.integers(20, size=10_000)
    data = Comparisons(
        rng.integers(30, size=m), left, (left + 1 + rng.integers(19, size=m)) % 20, rng.random(m), 40, 20
    )
    one, three = (Objective(data, 3, item_bias=True, n_threads=n) for n in (1, 3))
    x = rng.standard_normal(one.size)
    assert three(x)[0] == pytest.approx(one(x)[0], rel=1e-13)
    assert three(x)[1] == pytest.approx(one(x)[1], abs=1e-15)


def test_counts_weigh_as_repetitions_do():
    data = few(2)
    counts = np.random.default_rng(0).integers(1, 4, len(data))
    once = Comparisons(data.user, data.left, data.right, data.outcome, 6, 5, counts=counts)
    again = np.repeat(np.arange(len(data)), counts)
    repeated = data.take(again)
    x = np.random.default_rng(1).standard_normal(22)
    for link in LINKS:
        a, b = Objective(once, 2, link, ridge=2.0), Objective(repeated, 2, link, ridge=2.0)
        assert a(x)[0] == pytest.approx(b(x)[0]) and a(x)[1] == pytest.approx(b(x)[1])


def test_what_comparisons_cannot_tell_changes_nothing():
    objective, x = objective_and_point(6, balance=0.0)
    U, V, _ = objective.split(x)
    P = np.array([[2.0, 1.0], [0.5, -1.0]])
    moved = objective.join(U @ P.T, (V + np.array([3.0, -2.0])) @ np.linalg.inv(P))
    assert objective(moved)[0] == pytest.approx(objective(x)[0])


def test_reversed_comparisons_are_the_same():
    objective, x = objective_and_point(7)
    d = objective.data
    turned = Objective(Comparisons(d.user, d.right, d.left, 1 - d.outcome, 6, 5), 2)
    assert turned(x)[0] == pytest.approx(objective(x)[0]) and turned(x)[1] == pytest.approx(objective(x)[1])


def test_balance_is_the_papers_without_a_ridge_and_none_with_one():
    assert Objective(few(), 2).balance == pytest.approx(gamma(6, 5) / 40)
    assert gamma(6, 5) == pytest.approx(2 / 24)
    assert Objective(few(), 2, ridge=1.0).balance == 0


def test_exponentials_are_right_to_the_last_place():
    z = np.concatenate([np.linspace(-800, 800, 10_001), np.geomspace(1e-300, 1, 1000), [0.0]])
    found = np.empty(len(z))
    _exponentials(z, found, np.empty(len(z), dtype=np.int64))
    want = np.exp(-np.minimum(np.abs(z), 708.0))
    assert np.abs(found / want - 1).max() < 5e-16
