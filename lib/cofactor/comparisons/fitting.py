"""One fit: what it gets, where it starts, which solver finds it, and when it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.links import link_named
from cofactor.comparisons.loss import Objective
from cofactor.comparisons.solvers import barzilai_borwein, eased_start, lbfgs
from cofactor.comparisons.spectral import spectral_start
from cofactor.core.checks import check_positive, check_whole, is_number
from cofactor.core.errors import CofactorError, NotIdentifiableError, listing
from cofactor.core.result import Result
from cofactor.core.types import Floats

SOLVERS = {"lbfgs": lbfgs, "bb": barzilai_borwein}
RANKS = 3, 20  # tried by default: few features, and as many as a ridge may thin out
RUNAWAY = 30.0  # |z| beyond which an unpenalised fit to choices is running to infinity: g(30) = 1 - 1e-13
LOOK = 20  # iterations between two looks at that
LEAST_BIAS_RIDGE = 1e-6  # ridge of biases alone, which have no maximum where an item always won


@dataclass(frozen=True)
class FitSettings:
    """What a fit gets: the parameters of `ComparisonMF`, checked; None stands for "auto"."""

    ranks: tuple[int, ...] = (1,)
    link: str = "logistic"
    solver: str = "lbfgs"
    ridge: float | None = None
    item_bias: bool = True
    new_items: bool = False
    bias_ridge: float | None = None
    folds: int = 5
    max_iter: int = 2000
    tol: float = 1e-8
    verbose: bool = False


def checked_settings(data: Comparisons, params: Mapping[str, Any]) -> FitSettings:
    """Check the parameters of a ComparisonMF against each other and the data."""
    link_named(params["link"])
    check_whole(1, max_iter=params["max_iter"], folds=params["folds"])
    check_positive(zero=True, tol=params["tol"])
    solver = params["solver"]
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise CofactorError(f"solver={solver!r}: choose one of {', '.join(map(repr, SOLVERS))}")
    as_given = ("link", "solver", "item_bias", "new_items", "folds", "max_iter", "tol", "verbose")
    checked: dict[str, Any] = {name: params[name] for name in as_given}
    checked |= {name: _number_or_auto(name, params[name]) for name in ("ridge", "bias_ridge")}
    return FitSettings(_ranks(params["rank"], min(data.n_users, data.n_items) - 1, data), **checked)


def _ranks(rank: int | Sequence[int] | str, most: int, data: Comparisons) -> tuple[int, ...]:
    if isinstance(rank, str):
        ranks: list[int] = sorted({min(r, most) for r in RANKS}) if rank == "auto" else []
    else:
        ranks = [rank] if isinstance(rank, int | np.integer) or not np.iterable(rank) else list(rank)
    bad = [r for r in ranks if not isinstance(r, int | np.integer) or not 1 <= r <= most]
    if bad or not ranks:
        raise CofactorError(
            f"rank={listing(bad) or (rank if isinstance(rank, str) else 'nothing')}: {data.n_users} users and "
            f"{data.n_items} items allow 1 to {most} features"
        )
    return tuple(int(r) for r in ranks)


def _number_or_auto(name: str, value: object) -> float | None:
    if isinstance(value, str) and value == "auto":
        return None
    if is_number(value) and 0 <= value < np.inf:
        return float(value)
    raise CofactorError(f"{name}={value!r}: give 'auto' or a number of at least 0")


def objective_of(data: Comparisons, rank: int, ridge: float, bias_ridge: float, settings: FitSettings) -> Objective:
    """Return what is minimised with these numbers."""
    return Objective(data, rank, settings.link, ridge, bias_ridge, item_bias=settings.item_bias)


def start_of(objective: Objective, b: Floats, rng: np.random.Generator) -> Floats:
    """Return the spectral start of what biases b leave to explain; empty b: of everything."""
    known = b if b.size else None
    return objective.join(*spectral_start(objective.data, objective.rank, objective.link.name, known, rng), b)


def fit_features(objective: Objective, start: Floats, settings: FitSettings) -> tuple[Floats, Result]:
    """Minimise from a start; return the flat vector of features and biases.

    Raises a NotIdentifiableError where choices without a ridge drive utilities to infinity.
    """
    guard = _RunawayGuard(objective) if objective.data.noisy and not objective.rho else None
    start = eased_start(objective, start)
    return SOLVERS[settings.solver](objective, start, settings.max_iter, settings.tol, guard, settings.verbose)


def fit_biases(data: Comparisons, ridge: float, settings: FitSettings, always: bool = False) -> Floats:
    """Fit biases alone, the ranking of Bradley and Terry; empty for a model without biases, unless `always`."""
    if not settings.item_bias and not always:
        return np.empty(0)
    objective = Objective(data, 0, settings.link, bias_ridge=max(ridge, LEAST_BIAS_RIDGE), item_bias=True)
    return lbfgs(objective, np.zeros(objective.size), settings.max_iter, settings.tol)[0]


class _RunawayGuard:
    """Looks, now and then, whether utilities run to infinity, and says why they do."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.count = objective, 0

    def __call__(self, x: Floats) -> None:
        self.count += 1
        if self.count % LOOK == 0 and np.abs(self.objective.differences(x)).max() > RUNAWAY:
            m, dof = len(self.objective.data), self.objective.size
            raise NotIdentifiableError(
                f"the likelihood has no maximum: {m} choices for {dof} numbers can be explained ever better by ever "
                "larger utilities (separable data). Fit with a ridge, ridge='auto', or collect more comparisons"
            )
