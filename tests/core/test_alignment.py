"""Alignment: a renaming of classes is never an error, and nothing else is forgiven."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import match_classes, match_columns
from tests.each import each
from tests.oracles.generators import laws, random_model, seeds
from tests.oracles.latent_class import best_order, mse_by_trying

THREE_CYCLES = [[1, 2, 0], [2, 0, 1]]  # not their own inverses: P for P' shows


@laws
@given(seed=seeds, n_columns=st.integers(1, 5))
def test_matching_equals_trying_all_orders(seed, n_columns):
    reference, estimate = np.random.default_rng(seed).random((2, 4, n_columns))
    assert tuple(match_columns(reference, estimate)) == best_order(reference, estimate)


@pytest.mark.parametrize("order", THREE_CYCLES)
def test_matching_undoes_a_cycle(order):
    reference = np.random.default_rng(0).random((5, 3))
    found = match_columns(reference, reference[:, order])
    assert np.array_equal(reference[:, order][:, found], reference)


@each("seed, order", product(range(5), [*THREE_CYCLES, [1, 0, 2], [0, 1, 2]]))
def test_error_of_a_renamed_model_is_zero(seed, order):
    model = random_model(seed)
    assert model.mse(model.reorder(order)) == 0
    assert mse_by_trying(model, model.reorder(order)) == 0


@laws
@given(seed=seeds)
def test_error_equals_the_equation(seed):
    truth, estimate = random_model(seed), random_model(seed + 1)
    assert truth.mse(estimate) == pytest.approx(mse_by_trying(truth, estimate), rel=1e-10)


@laws
@given(seed=seeds)
def test_error_ignores_the_names_on_both_sides(seed):
    truth, estimate = random_model(seed), random_model(seed + 1)
    assert truth.reorder([1, 2, 0]).mse(estimate.reorder([0, 2, 1])) == pytest.approx(truth.mse(estimate), rel=1e-10)


@pytest.mark.parametrize("order", THREE_CYCLES)
def test_votes_name_the_classes(order):
    votes = np.random.default_rng(1).dirichlet(np.full(3, 0.2), size=50)
    posterior = votes[:, order]
    assert np.array_equal(posterior[:, match_classes(votes, posterior)], votes)


def test_refuses_models_with_other_classes():
    with pytest.raises(CofactorError, match="classes or alphabets differ"):
        random_model(0).mse(random_model(0, n_classes=2))
