"""CTD: measured levels, what the mask is worth, what it copes with."""

import numpy as np
import pytest

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import mre, mse
from cofactor.pmf.base import random_model
from cofactor.rivals.coupled_tensor import coupled_tensor
from cofactor.rivals.pmf import CTD
from cofactor.rivals.triple_moments import triple_moments
from evaluation.released.tensor import Script, released_tensor
from tests.oracles import generators
from tests.oracles.generators import random_codes, recorded

SIZES = (2, 3, 1, 4)


def fit(*arguments, **named):
    return recorded(coupled_tensor, *arguments, **named)[0]


@pytest.fixture(scope="module")
def fifteen():
    """Return a model of 15 variables with ten values and ten classes, its triples in 10,000 rows, and a start."""
    truth = simulate.joint_model(15, 10, 10, random_state=0)
    table = simulate.joint_table(truth, 10_000, observed=0.5, random_state=1)
    return truth, triple_moments(table), random_model(table.sizes, 10, 2)


# ---- the penalty ----


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
    triples, start = triple_moments(CategoricalTable(codes, truth.sizes)), random_model(truth.sizes, 3, 2)
    masked, _ = fit(triples, start)
    zeros, _ = recorded(released_tensor, triples, start, Script((0.05, 1.0)))[0]
    assert mre(truth, masked) < 0.1  # .042 against .255
    assert mre(truth, zeros) > 2 * mre(truth, masked)


# ---- what it copes with ----


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_mixed_alphabets_and_variables_of_one_value(rank):
    truth = generators.random_model(0, 3, SIZES)
    table, _ = truth.sample(500, random_state=0)
    model = recorded(CTD(rank, random_state=0).fit, table)[0].model_
    assert model.n_classes == rank and np.allclose(model.conditionals[2], 1)
    assert np.allclose([A.sum(axis=0) for A in model.conditionals], 1) and (model.stacked >= 0).all()
    assert np.isclose(model.prior.sum(), 1)


def test_one_class_is_the_product_of_marginals_by_iteration_too():
    codes = random_codes(0, 300, (2, 3, 4), 0)
    found, _ = fit(triple_moments(CategoricalTable(codes, (2, 3, 4))), random_model(np.array([2, 3, 4]), 1, 0))
    for n, A in enumerate(found.conditionals):
        assert np.allclose(A[:, 0], np.mean(codes[:, n, None] == np.arange(len(A)), axis=0), atol=0.05)


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
    with pytest.raises(CofactorError, match="the start has 2 classes, rank=3"):
        CTD(3, start=truth).fit(table)
    with pytest.raises(NotIdentifiableError, match="no three variables"):
        CTD(2).fit(CategoricalTable([[0, 0, -1], [-1, 1, 0], [1, -1, 1]] * 4, (2, 2, 2)))
