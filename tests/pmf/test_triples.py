"""Third moments and their coupled fit: the slow version, exact from exact moments, masks, and the limit of memory."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import mre, mse
from cofactor.pmf.base import random_model as random_start
from cofactor.rivals import triple_moments as module
from cofactor.rivals.coupled_tensor import TensorData, _admm, _block_problem, check_moments, coupled_tensor
from cofactor.rivals.pmf import CTD, MLEAD, alternate, cells_of, mle_ad
from cofactor.rivals.triple_moments import triple_moments
from evaluation.released.pmf import combnk_triples, misplaced
from evaluation.released.tensor import Script, released_tensor
from tests.each import each
from tests.oracles import generators
from tests.oracles.coupled import divergence, exact_pairs, exact_triples, least_squares, pair_blocks, triple_blocks
from tests.oracles.generators import laws, random_codes, random_model, recorded, seeds
from tests.oracles.triples import alternating_directions

SIZES = (2, 3, 4, 2)


def problem(seed, missing=0.3):
    codes = random_codes(seed, 30, SIZES, missing)
    return codes, CategoricalTable(codes, SIZES), random_model(seed + 1, 3, SIZES)


def frequencies(codes):
    return [(n, np.mean(codes[codes[:, n] >= 0, n, None] == np.arange(size), axis=0)) for n, size in enumerate(SIZES)]


def separated(seed=0, n_variables=6):
    """Return a model whose variables each say much about a latent class of three, and a start that is not it."""
    rng = np.random.default_rng(seed)
    A = 0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), (n_variables, 3)).transpose(0, 2, 1)
    start = np.full((n_variables, 3, 3), 0.7 / 3) + 0.3 * np.eye(3)
    return LatentClassModel([0.2, 0.3, 0.5], list(A)), LatentClassModel(np.ones(3) / 3, list(start))


def fit(*arguments, **named):
    return recorded(coupled_tensor, *arguments, **named)[0]


# ---- the moments ----


@pytest.mark.parametrize("dense_cells", [0, 10**6], ids=["sorted", "dense"])
@given(seed=seeds)
@laws
def test_counts_equal_the_slow_version(dense_cells, seed):
    codes, table, _ = problem(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_CELLS", dense_cells)
        patch.setattr(module, "BATCH", 10)
        moments = triple_moments(table)
    V, first = sum(SIZES), np.cumsum(SIZES) - SIZES
    found = dict(zip(moments.keys.tolist(), moments.counts.tolist(), strict=True))
    slow = triple_blocks(codes, SIZES)
    for (j, k, l), (X, n) in slow.items():
        for (a, b, c), share in np.ndenumerate(X):
            key = ((first[j] + a) * V + first[k] + b) * V + first[l] + c
            assert found.pop(int(key), 0) == round(share * n)
    assert not found and np.all(np.diff(moments.keys) > 0)
    which, _, n = moments.triples
    assert {tuple(t): m for t, m in zip(which.T.tolist(), n, strict=True)} == {t: m for t, (_, m) in slow.items()}


def test_of_many_values_no_table_of_all_triples_is_made():
    table = CategoricalTable(np.arange(330).reshape(110, 3) % 110, (110, 110, 110))  # 36 million triples, 110 seen
    triple_moments(table)  # what is compiled at first takes memory, too
    tracemalloc.start()
    moments = triple_moments(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert moments.counts.sum() == 110 and peak < 1_000_000


def test_moments_of_parts_add_up():
    _, table, _ = problem(0)
    parts = [triple_moments(part) for part in (table.take_rows(slice(s, s + 7)) for s in range(0, table.n_rows, 7))]
    whole, merged = triple_moments(table), sum(parts[1:], parts[0])
    assert np.array_equal(merged.keys, whole.keys) and np.array_equal(merged.counts, whole.counts)


def test_says_how_much_memory_it_would_take():
    long = CategoricalTable(np.zeros((20, 1000), dtype=int), np.full(1000, 10))
    with pytest.raises(CofactorError, match=r"third moments of 1000 variables would take 498\.5 GB"):
        triple_moments(long)
    short = CategoricalTable(np.zeros((1, 100), dtype=int), np.full(100, 10))  # 161,700 triples of entries
    assert triple_moments(short, most_bytes=161_700 * 150).counts.sum() == 161_700
    with pytest.raises(CofactorError, match="would take"):
        triple_moments(short, most_bytes=161_700 * 150 - 1)


# ---- the objective ----


@pytest.mark.parametrize("lower", [False, True], ids=["third", "all orders"])
@given(seed=seeds)
@laws
def test_objective_and_its_pieces_equal_the_slow_version(lower, seed):
    codes, table, model = problem(seed)
    data = TensorData.of(triple_moments(table), pairwise_moments(table) if lower else None)
    slow = (pair_blocks(codes, SIZES), frequencies(codes)) if lower else ()
    here = least_squares(model, triple_blocks(codes, SIZES), *slow)
    assert np.isclose(data.cost(model.stacked, model.prior), here)
    other = random_model(seed + 2, 3, SIZES).conditionals[2]
    moved = LatentClassModel(model.prior, [*model.conditionals[:2], other, model.conditionals[3]])
    G, V = _block_problem(data, 2, model.stacked, data.gram(model.stacked), model.prior)

    def quadratic(A):
        return np.trace(A @ G @ A.T) / 2 - np.sum(A * V)

    change = least_squares(moved, triple_blocks(codes, SIZES), *slow) - here
    assert np.isclose(quadratic(other) - quadratic(model.conditionals[2]), change)


# ---- laws ----


@pytest.mark.parametrize("lower", [False, True], ids=["third", "all orders"])
def test_recovers_a_model_from_its_exact_moments(lower):
    truth, start = separated()
    pairs = exact_pairs(truth) if lower else None
    found, result = coupled_tensor(exact_triples(truth), start, pairs, max_iter=3000, tol=1e-9)
    assert truth.mse(found) < 1e-9
    assert result.objective[-1] < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("lower", [False, True], ids=["third", "all orders"])
def test_what_is_not_observed_does_not_count_as_zero(lower):
    truth, start = separated(1)
    some = [(0, 1, 2), (0, 1, 3), (1, 2, 4), (2, 3, 5), (0, 4, 5), (1, 3, 5), (0, 2, 4), (3, 4, 5)]
    pairs = exact_pairs(truth, [(0, 1), (1, 2), (2, 5)]) if lower else None
    found, _ = coupled_tensor(exact_triples(truth, some), start, pairs, max_iter=5000, tol=1e-9)
    assert truth.mse(found) < 1e-6


@given(seed=seeds)
@laws
def test_sweeps_go_down(seed):
    _, table, start = problem(seed)
    _, result = fit(triple_moments(table), start, pairwise_moments(table), inner=200, max_iter=30, tol=0)
    assert np.all(np.diff(result.objective) <= 1e-6 * result.objective[0])


def test_columns_stay_on_the_simplex_and_the_order_of_variables_and_classes_does_not_matter():
    truth, start = separated(2)
    table, _ = truth.sample(2000, random_state=0)
    order, classes = [2, 0, 3, 1, 5, 4], [1, 2, 0]
    moved = LatentClassModel(start.prior[classes], [start.conditionals[n][:, classes] for n in order])
    found, _ = coupled_tensor(triple_moments(table), start, tol=1e-10)
    other, _ = coupled_tensor(triple_moments(table.take_variables(order)), moved, tol=1e-10)
    assert np.allclose([A.sum(axis=0) for A in found.conditionals], 1) and (found.stacked >= 0).all()
    assert np.isclose(found.prior.sum(), 1) and (found.prior >= 0).all()
    assert np.allclose(other.prior, found.prior[classes], atol=1e-4)
    for place, n in enumerate(order):
        assert np.allclose(other.conditionals[place], found.conditionals[n][:, classes], atol=1e-4)


def test_a_variable_in_no_triple_keeps_its_place():
    codes, _, start = problem(3, missing=0.1)
    codes[:, 1] = -1
    table = CategoricalTable(codes, SIZES)
    for pairs in (None, pairwise_moments(table)):
        found, _ = fit(triple_moments(table), start, pairs, max_iter=5)
        assert np.array_equal(found.conditionals[1], np.full((3, 3), 1 / 3))
        assert np.isfinite(found.stacked).all()


def test_inner_steps_go_on_until_both_residuals_are_small():
    rng = np.random.default_rng(0)
    G, V = rng.standard_normal((30, 3)), rng.random((5, 3))
    start = np.full((5, 3), 0.2)
    A, _ = _admm(G.T @ G / 30, V, start, np.zeros((5, 3)), 0.0, 1000, False)
    best = minimize(
        lambda a: 0.5 * np.trace(a.reshape(5, 3) @ G.T @ G @ a.reshape(5, 3).T) / 30 - np.sum(a.reshape(5, 3) * V),
        start.ravel(),
        bounds=[(0, 1)] * 15,
        constraints=[{"type": "eq", "fun": lambda a: a.reshape(5, 3).sum(axis=0) - 1}],
        tol=1e-12,
    ).x
    assert A.ravel() == pytest.approx(best, abs=1e-5)


# ---- what is refused, what is said ----


def test_refuses_moments_without_triples_and_other_variables():
    codes, table, start = problem(4)
    with pytest.raises(CofactorError, match="4 variables with 11 values in total"):
        coupled_tensor(triple_moments(table), random_model(0))
    other = pairwise_moments(CategoricalTable(codes[:, :3], SIZES[:3]))  # the start fits
    with pytest.raises(CofactorError, match="start and pairwise moments have 4 with 11, 3 with 9"):
        check_moments(triple_moments(table), start, other)
    codes[:, 2:] = -1
    with pytest.raises(NotIdentifiableError, match="no three variables were observed together"):
        coupled_tensor(triple_moments(CategoricalTable(codes, SIZES)), start)


# ---- CTD ----


SIZES_CTD = (2, 3, 1, 4)


@pytest.fixture(scope="module")
def fifteen():
    """Return a model of 15 variables with ten values and ten classes, its triples in 10,000 rows, and a start."""
    truth = simulate.joint_model(15, 10, 10, random_state=0)
    table = simulate.joint_table(truth, 10_000, observed=0.5, random_state=1)
    return truth, triple_moments(table), random_start(table.sizes, 10, 2)


# ---- the penalty ----


@pytest.mark.slow
def test_the_trace_rule_reaches_the_measured_level(fifteen):
    truth, triples, start = fifteen
    found, result = coupled_tensor(triples, start)
    assert result.converged and result.n_iter <= 60  # 30 as a rule
    assert mse(truth, found) <= 0.0055  # .0044 to .0048 +- .0002


# ---- what was never observed ----


def test_unobserved_triples_are_left_out_and_not_fitted_as_zeros():
    truth = simulate.joint_model(6, 4, 3, random_state=0)
    codes = simulate.joint_table(truth, 20_000, random_state=1).codes
    half = np.arange(len(codes)) % 2 == 0
    codes[half, 0], codes[~half, 1] = -1, -1
    triples, start = triple_moments(CategoricalTable(codes, truth.sizes)), random_start(truth.sizes, 3, 2)
    masked, _ = fit(triples, start)
    zeros, _ = recorded(released_tensor, triples, start, Script((0.05, 1.0)))[0]
    assert mre(truth, masked) < 0.1  # .042 against .255
    assert mre(truth, zeros) > 2 * mre(truth, masked)


# ---- what it copes with ----


@pytest.mark.slow
@each("rank", [1, 3, 6])
def test_mixed_alphabets_and_variables_of_one_value(rank):
    truth = generators.random_model(0, 3, SIZES_CTD)
    table, _ = truth.sample(500, random_state=0)
    model = recorded(CTD(rank, random_state=0).fit, table)[0].model_
    assert model.n_classes == rank and np.allclose(model.conditionals[2], 1)
    assert np.allclose([A.sum(axis=0) for A in model.conditionals], 1) and (model.stacked >= 0).all()
    assert np.isclose(model.prior.sum(), 1)


def test_seed_start_and_em():
    truth = simulate.joint_model(5, 4, 3, random_state=0)
    table = simulate.joint_table(truth, 2000, random_state=0)
    seeded, again = (recorded(CTD(3, random_state=1).fit, table)[0].model_ for _ in range(2))
    assert np.array_equal(seeded.stacked, again.stacked)
    started = recorded(CTD(3, start=truth, em=True).fit, table)[0].model_
    assert mse(truth, started) < 0.01
    assert started.log_likelihood(table) > recorded(CTD(3, start=truth).fit, table)[0].model_.log_likelihood(table)


def test_what_is_refused():
    truth = simulate.joint_model(4, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 50, random_state=0)
    with pytest.raises(CofactorError, match="the start has 2 classes, but rank=3"):
        CTD(3, start=truth).fit(table)
    with pytest.raises(NotIdentifiableError, match="no three variables"):
        CTD(2).fit(CategoricalTable([[0, 0, -1], [-1, 1, 0], [1, -1, 1]] * 4, (2, 2, 2)))


# ---- MLE-AD ----


def fit_mle_ad(*arguments, **named):
    return recorded(mle_ad, *arguments, **named)[0]


def separated_mle_ad(seed=0, n_variables=5):
    rng = np.random.default_rng(seed)
    A = 0.5 * np.eye(4)[:, :3, None] + 0.5 * rng.dirichlet(np.ones(4), (n_variables, 3)).transpose(2, 1, 0)
    return LatentClassModel([0.2, 0.3, 0.5], [A[:, :, n] / A[:, :, n].sum(axis=0) for n in range(n_variables)])


# ---- the iteration ----


@each("order", ["correct", "published"])
@pytest.mark.parametrize("sizes", [(2, 3, 2, 4, 3), (3, 3, 3, 3, 3), (1, 2, 3, 2)], ids=str)
def test_sweeps_equal_the_slow_version(order, sizes):
    codes = random_codes(0, 40, sizes, 0.3)
    codes[(codes[:, 0] >= 0) & (codes[:, 1] >= 0), 2] = -1  # one triple is never observed
    start, triples = generators.random_model(1, 3, sizes), list(combinations(range(len(sizes)), 3))
    blocks = triple_blocks(codes, sizes)
    data = {t: blocks[t][0] if t in blocks else np.zeros([sizes[n] for n in t]) for t in triples}
    listed = combnk_triples(len(sizes)) if order == "published" else triples
    prior, A = alternating_directions(data, listed, start, 2, 12)
    moments = triple_moments(CategoricalTable(codes, sizes))
    right = cells_of(moments, start)
    cells = misplaced(moments, right) if order == "published" else right
    found, result = recorded(alternate, cells, start, 2, 1e-6, 12, measured=right)[0]
    assert np.allclose(found.prior, prior, atol=1e-9)
    for n in range(len(sizes)):
        assert np.allclose(found.conditionals[n], A[n], atol=1e-9)
    slow = [divergence(X, np.einsum("f,af,bf,cf->abc", prior, *(A[n] for n in t))) for t, (X, _) in blocks.items()]
    assert np.isclose(result.objective[-1], np.mean(slow))


@pytest.mark.slow
def test_falls_to_the_truth_of_exact_moments():
    truth = separated_mle_ad()
    found, result = fit_mle_ad(exact_triples(truth), random_start(truth.sizes, 3, 0), max_iter=200, tol=1e-12)
    assert mse(truth, found) < 1e-4
    assert result.objective[-1] < 1e-3  # Adam steps swing around the minimum, on every processor otherwise


# ---- what it copes with ----


@given(seed=seeds)
@laws
def test_stays_a_model_and_says_the_mean_divergence(seed):
    codes = random_codes(seed, 30, (1, 2, 3, 4), 0.3)
    found, result = fit_mle_ad(
        triple_moments(CategoricalTable(codes, (1, 2, 3, 4))),
        generators.random_model(seed, 2, (1, 2, 3, 4)),
        max_iter=2,
    )
    assert np.isclose(found.prior.sum(), 1) and (found.prior > 0).all()
    assert np.allclose([A.sum(axis=0) for A in found.conditionals], 1) and (found.stacked > 0).all()
    assert (result.objective >= -1e-12).all()


def test_same_seed_same_model_and_em_goes_on_from_it():
    truth = simulate.joint_model(5, 4, 3, random_state=0)
    table = simulate.joint_table(truth, 2000, random_state=0)
    models = [recorded(MLEAD(3, max_iter=5, em=em, random_state=1).fit, table)[0].model_ for em in (False, False, True)]
    assert np.array_equal(models[0].stacked, models[1].stacked)
    assert models[2].log_likelihood(table) > models[0].log_likelihood(table)


def test_what_is_refused_mle_ad():
    table = CategoricalTable(random_codes(0, 30, (2, 3, 4), 0), (2, 3, 4))
    triples = triple_moments(table)
    with pytest.raises(CofactorError, match="3 variables with 9 values in total, the start has 4 with 11"):
        mle_ad(triples, generators.random_model(0, 2, (2, 3, 4, 2)))
    with pytest.raises(NotIdentifiableError, match="no three variables"):
        MLEAD(2).fit(CategoricalTable([[0, 0, -1], [-1, 1, 0], [1, -1, 1]] * 4, (2, 2, 2)))
    wide = CategoricalTable(np.zeros((1, 3), dtype=int), (1000, 1000, 1000))
    with pytest.raises(CofactorError, match=r"would take 180\.0 GB: use CTD"):
        mle_ad(triple_moments(wide), random_start(wide.sizes, 2, 0))
