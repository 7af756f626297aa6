"""MLE-AD: the released iteration by plain loops, and what it copes with."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import mse
from cofactor.pmf.base import random_model
from cofactor.rivals.pmf import MLEAD, alternate, cells_of, mle_ad
from cofactor.rivals.triple_moments import triple_moments
from evaluation.released.pmf import combnk_triples, misplaced
from tests.oracles import generators
from tests.oracles.coupled import divergence, exact_triples, triple_blocks
from tests.oracles.generators import laws, random_codes, recorded, seeds
from tests.oracles.triples import alternating_directions


def fit(*arguments, **named):
    return recorded(mle_ad, *arguments, **named)[0]


def separated(seed=0, n_variables=5):
    rng = np.random.default_rng(seed)
    A = 0.5 * np.eye(4)[:, :3, None] + 0.5 * rng.dirichlet(np.ones(4), (n_variables, 3)).transpose(2, 1, 0)
    return LatentClassModel([0.2, 0.3, 0.5], [A[:, :, n] / A[:, :, n].sum(axis=0) for n in range(n_variables)])


# ---- the iteration ----


@pytest.mark.parametrize("order", ["correct", "published"])
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
    truth = separated()
    found, result = fit(exact_triples(truth), random_model(truth.sizes, 3, 0), max_iter=200, tol=1e-12)
    assert mse(truth, found) < 1e-4
    assert result.objective[-1] < 1e-3  # Adam steps swing around the minimum, on every processor otherwise


# ---- what it copes with ----


@given(seed=seeds)
@laws
def test_stays_a_model_and_says_the_mean_divergence(seed):
    codes = random_codes(seed, 30, (1, 2, 3, 4), 0.3)
    found, result = fit(
        triple_moments(CategoricalTable(codes, (1, 2, 3, 4))),
        generators.random_model(seed, 2, (1, 2, 3, 4)),
        max_iter=2,
    )
    assert np.isclose(found.prior.sum(), 1) and (found.prior > 0).all()
    assert np.allclose([A.sum(axis=0) for A in found.conditionals], 1) and (found.stacked > 0).all()
    assert (result.objective >= -1e-12).all()


def test_one_class_is_the_product_of_marginals():
    codes = random_codes(0, 200, (2, 3, 4), 0)
    found, _ = fit(triple_moments(CategoricalTable(codes, (2, 3, 4))), random_model(np.array([2, 3, 4]), 1, 0))
    for n, A in enumerate(found.conditionals):
        assert np.allclose(A[:, 0], np.mean(codes[:, n, None] == np.arange(len(A)), axis=0), atol=1e-3)


def test_same_seed_same_model_and_em_goes_on_from_it():
    truth = simulate.joint_model(5, 4, 3, random_state=0)
    table = simulate.joint_table(truth, 2000, random_state=0)
    models = [recorded(MLEAD(3, max_iter=5, em=em, random_state=1).fit, table)[0].model_ for em in (False, False, True)]
    assert np.array_equal(models[0].stacked, models[1].stacked)
    assert models[2].log_likelihood(table) > models[0].log_likelihood(table)


def test_what_is_refused():
    table = CategoricalTable(random_codes(0, 30, (2, 3, 4), 0), (2, 3, 4))
    triples = triple_moments(table)
    with pytest.raises(CofactorError, match="3 variables with 9 values in all, the start has 4 with 11"):
        mle_ad(triples, generators.random_model(0, 2, (2, 3, 4, 2)))
    with pytest.raises(NotIdentifiableError, match="no three variables"):
        MLEAD(2).fit(CategoricalTable([[0, 0, -1], [-1, 1, 0], [1, -1, 1]] * 4, (2, 2, 2)))
    wide = CategoricalTable(np.zeros((1, 3), dtype=int), (1000, 1000, 1000))
    with pytest.raises(CofactorError, match=r"would take 180\.0 GB: use CTD"):
        mle_ad(triple_moments(wide), random_model(wide.sizes, 2, 0))
