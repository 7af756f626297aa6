"""Code shared by the experiments on joint PMFs: cases, methods with their paper protocols, metrics.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import METHODS, JointPMFEstimator
from cofactor.pmf.base import random_model
from cofactor.pmf.metrics import inner_product, mre, mse
from cofactor.simulate import joint_model, joint_table
from evaluation.experiment import Measurement, measure_each
from evaluation.released.em import released_em
from evaluation.released.mirror_descent import SYNTHETIC, mirror_descent
from evaluation.released.pmf import FLOOR, ROUNDS, TOL, released_spa

SPLIT, STEPS = 3, 1000  # of CNMF-SPA, in the synthetic scripts: variables on one side, gradient steps for H
PASSES, FEW_PASSES, FEW_VARIABLES = 500, 200, 5  # most of CNMF-OPT: in Tables 1 to 3; beyond five variables
FRESH = 2000  # complete rows for the held-out loss
LEAST = 1e-12  # probability of a value in it: one that an estimate calls impossible costs so much


@dataclass(frozen=True)
class Design:
    """Which model is drawn, and what is seen of it; without a separability, no variable has anchors."""

    n_variables: int
    rank: int
    n_rows: int
    observed: float
    separability: float | None = None
    alphabet: int = 10


@dataclass(frozen=True)
class Case:
    """One trial: truth, what is seen of it, fresh rows, and the seed that methods get."""

    truth: LatentClassModel
    table: CategoricalTable
    fresh: CategoricalTable
    seed: int


Method = Callable[[Case], LatentClassModel]
Score = Callable[[LatentClassModel, LatentClassModel], float]


def draw_case(design: Design, rng: np.random.Generator) -> Case:
    """Draw a model and its rows."""
    truth = joint_model(design.n_variables, design.alphabet, design.rank, design.separability, rng)
    table = joint_table(truth, design.n_rows, design.observed, rng)
    return Case(truth, table, joint_table(truth, FRESH, random_state=rng), int(rng.integers(2**31)))


# ---- methods ----


def fit(make: Callable[..., JointPMFEstimator], case: Case, **options: Any) -> LatentClassModel:
    """Fit a method to a case, at the true rank, without smoothing as in the paper."""
    given = {"rank": case.truth.n_classes, "pseudo_count": 0, "random_state": case.seed}
    return make(**given, **options).fit(case.table).model_


def kit(name: str, case: Case, **options: Any) -> LatentClassModel:
    """Fit a method of cofactor to a case."""
    return fit(METHODS[name], case, **options)


def independence(case: Case) -> LatentClassModel:
    """Fit the product of the marginals, written with F classes that are all alike, so that its MSE can be had."""
    model, F = METHODS["Independence"](pseudo_count=0).fit(case.table).model_, case.truth.n_classes
    return LatentClassModel.from_stacked(np.full(F, 1 / F), np.tile(model.stacked, F), model.sizes)


def constant(case: Case) -> LatentClassModel:
    """Ignore the data: uniform conditionals and prior."""
    return METHODS["Constant"](rank=case.truth.n_classes).fit(case.table).model_


def spa_as_released(case: Case) -> LatentClassModel:
    """Start of the synthetic scripts: CNMF-SPA with three variables on one side, zeros left in."""
    rng = np.random.default_rng(case.seed)
    return released_spa(pairwise_moments(case.table), case.truth.n_classes, rng, SPLIT, STEPS)


def spa_em_as_released(case: Case) -> LatentClassModel:
    """CNMF-SPA-EM with 30 rounds of EM."""
    return released_em(case.table, spa_as_released(case), ROUNDS)[0]


def opt_as_released(case: Case) -> LatentClassModel:
    """CNMF-OPT by mirror descent, pairs weighted equally, lambda started at the true one."""
    passes = FEW_PASSES if case.truth.n_variables > FEW_VARIABLES else PASSES
    start = LatentClassModel.from_stacked(case.truth.prior, spa_as_released(case).stacked, case.truth.sizes)
    return mirror_descent(pairwise_moments(case.table), start, "equal", passes, TOL, FLOOR, SYNTHETIC)[0]


def random_em_as_released(uniform_prior: bool, case: Case) -> LatentClassModel:
    """RAND-EM with 30 rounds from one random start; its prior is uniform in the scripts of Tables 1 to 3."""
    start, F = random_model(case.table.sizes, case.truth.n_classes, case.seed), case.truth.n_classes
    prior = np.full(F, 1 / F) if uniform_prior else start.prior
    return released_em(case.table, LatentClassModel(prior, start.conditionals), ROUNDS)[0]


def run_methods(methods: Mapping[str, Method], case: Case, scores: Mapping[str, Score]) -> list[Measurement]:
    """Run methods one by one and score each."""
    return measure_each(methods, lambda method: _scored(method, case, scores))


def _scored(method: Method, case: Case, scores: Mapping[str, Score]) -> dict[str, float]:
    estimate = method(case)
    found = {metric: score(case.truth, estimate) for metric, score in scores.items()}
    finite = {metric: value for metric, value in found.items() if np.isfinite(value)}  # as the released nanmean
    return finite | {"excess loss": excess_loss(case, estimate)}


def excess_loss(case: Case, estimate: LatentClassModel) -> float:
    """How much less log-likelihood per row than the truth an estimate gives to fresh rows, floored; nats.

    Columns are scaled to sum to one first: CTD as released leaves some that do not, and no likelihood is theirs.
    """
    possible = estimate.lift(LEAST)
    gap = case.truth.log_likelihood(case.fresh) - possible.log_likelihood(case.fresh)
    return gap / case.fresh.n_rows


# ---- metrics as released, to be compared with what was printed in Tables 1 to 3 ----


def published_mse(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """MSE as the released code of Tables 1 to 3 computes it: A_1 is compared with A_1 diag(lambda).

    Adds (1 - 1/F)^2 ||A_1||_F^2 / (F N), about 0.02, to that of a perfect estimate.
    """
    A, prior = _as_released(truth, estimate)
    wrong = truth.stacked.copy()
    wrong[: truth.sizes[0]] *= truth.prior
    error = np.sum((A - wrong) ** 2) / (truth.n_classes * truth.n_variables)
    return float(np.sum((prior - truth.prior) ** 2) + error)


def published_mre(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """MRE as released: over the norm of the estimate, whose prior is permuted in the wrong direction.

    Infinite where the estimate is zero everywhere, as CTD's as released may be.
    """
    A, prior = _as_released(truth, estimate)
    model = LatentClassModel.from_stacked(prior, A, truth.sizes)
    norm2 = inner_product(model, model)
    return mre(truth, model) * float(np.sqrt(inner_product(truth, truth) / norm2)) if norm2 else np.inf


def _as_released(truth: LatentClassModel, estimate: LatentClassModel) -> tuple[np.ndarray, np.ndarray]:
    """Conditionals in the order of largest inner products; the prior in the inverse of that order."""
    order = linear_sum_assignment(truth.stacked.T @ estimate.stacked, maximize=True)[1]
    prior = np.empty_like(estimate.prior)
    prior[order] = estimate.prior
    return estimate.stacked[:, order], prior


TRUE_SCORES: Mapping[str, Score] = MappingProxyType({"mse": mse, "mre": mre})
PUBLISHED_SCORES: Mapping[str, Score] = MappingProxyType(
    {"mse (published)": published_mse, "mre (published)": published_mre}
)
