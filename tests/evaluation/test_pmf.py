"""The experiments on joint PMFs: what is declared, the metrics as released, Figure 1, the quick profile."""

from itertools import product

import numpy as np
import pytest

from cofactor import LatentClassModel
from cofactor.pmf import METHODS, mre, mse
from cofactor.simulate import joint_model
from evaluation import EXPERIMENTS
from evaluation.pmf.methods import (
    PUBLISHED_SCORES,
    Design,
    draw_case,
    excess_loss,
    independence,
    published_mre,
    published_mse,
)
from evaluation.summary import summarise
from tests.evaluation.toy import as_trials


def a_pair(rank=3, seed=0):
    """A truth with unequal prior, and an estimate near it whose classes have other names."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(rank, 5.0))
    A = [rng.dirichlet(np.ones(4), rank).T for _ in range(3)]
    near = [0.9 * a + 0.1 * rng.dirichlet(np.ones(4), rank).T for a in A]
    order = np.roll(np.arange(rank), 1)  # not its own inverse
    return LatentClassModel(prior, A), LatentClassModel(prior[order], [a[:, order] for a in near]), near


def tensor(prior, A):
    return np.einsum("f,if,jf,kf->ijk", prior, *A)


def test_the_released_errors_by_hand():
    truth, estimate, near = a_pair()
    wrong = [truth.conditionals[0] * truth.prior, *truth.conditionals[1:]]
    prior = np.roll(truth.prior, 2)  # permuted by P P instead of by P'P
    squares = sum(np.sum((a - b) ** 2) for a, b in zip(wrong, near, strict=True))
    assert published_mse(truth, estimate) == pytest.approx(np.sum((prior - truth.prior) ** 2) + squares / 9)
    T, found = tensor(truth.prior, truth.conditionals), tensor(prior, near)
    assert published_mre(truth, estimate) == pytest.approx(np.linalg.norm(T - found) / np.linalg.norm(found))


def test_a_perfect_estimate_has_the_released_bias():
    truth = joint_model(5, 10, 5, separability=0.1, random_state=0)
    A = truth.conditionals[0]
    assert published_mse(truth, truth) == pytest.approx((1 - 1 / 5) ** 2 * np.sum(A**2) / 25)
    assert published_mse(truth, truth) == pytest.approx(0.0204, abs=0.004)
    assert mse(truth, truth) == 0


def test_large_estimates_are_flattered():
    truth, estimate, _ = a_pair()
    sharp = LatentClassModel(estimate.prior, [a**4 / (a**4).sum(axis=0) for a in estimate.conditionals])
    assert published_mre(truth, sharp.align_to(truth)) < mre(truth, sharp)


@pytest.mark.parametrize(("label", "distance"), [(0.1, 0.0056), (0.2, 0.146), (0.3, 0.258)])
def test_epsilon_is_a_label_and_not_the_distance_from_unit_vectors(label, distance):
    A = joint_model(5, 10, 5, separability=label, random_state=0).conditionals
    rows = max((a[:5] / a[:5].sum(axis=1, keepdims=True) for a in A[3:]), key=lambda r: np.diag(r).min())
    assert np.linalg.norm(rows - np.eye(5), axis=1) == pytest.approx(np.full(5, distance), abs=0.001)


def test_names_of_classes_do_not_matter():
    """The prior alone is permuted wrongly, so that a uniform one is needed."""
    truth = joint_model(4, 5, 3, random_state=1)
    estimate = joint_model(4, 5, 3, random_state=2)
    for score in PUBLISHED_SCORES.values():
        assert score(truth, estimate.reorder([2, 0, 1])) == pytest.approx(score(truth, estimate))


def test_baselines_need_no_more_than_marginals():
    case = draw_case(Design(5, 4, 500, 0.5, 0.1), np.random.default_rng(0))
    model = independence(case)
    assert mre(METHODS["Independence"](pseudo_count=0).fit(case.table).model_, model) == pytest.approx(0, abs=1e-6)
    assert mse(case.truth, model) > 0
    assert excess_loss(case, model) > 0.1 and excess_loss(case, case.truth) == 0


def test_the_certificate_tells_the_kinds_apart():
    experiment = EXPERIMENTS["pmf-figure1"]
    rows = summarise(experiment, as_trials(experiment, *product(experiment.settings, range(5))))
    found = rows.pivot_table(index="metric", columns="setting", values="ours")
    assert found.loc["unique"].to_dict() == {"separable": 1, "scattered": 1, "neither": 0}
    assert found.loc["distance", "separable"] == 0 < found.loc["distance", "scattered"]
    assert found.loc["1/r", ["separable", "scattered"]].tolist() == pytest.approx([1, 1])
    assert found.loc["1/r", "neither"] < 0.99
