"""Tables 6 and 7, Figures 2 and 3: known truth.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.crowd.base import Aggregator
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, reachable_blocks, robust_imputation
from cofactor.crowd.symnmf import convergence_curve, model_of_factor, principal_root, square_root, symnmf
from cofactor.simulate import crowd, dawid_skene_model, symnmf_problem
from evaluation.crowd.methods import SPECTRAL, Special, run_methods, seed_of
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, experiment, measure
from evaluation.released import crowd_steps

Factor = Callable[[Cooccurrences, np.random.Generator], LatentClassModel]

# ---- Table 6: exact co-occurrences, some missing ----


HIDDEN = {f"missing={p:.0%}": p for p in (0.7, 0.5, 0.3)}


@experiment(
    "crowd-table6",
    title="Table 6: noiseless co-occurrences (generator of the text)",
    source="Ibrahim and Fu, ICML 2021, supplement, Table 6",
    settings={name: f"{p:.0%} of the blocks missing" for name, p in HIDDEN.items()},
    given={name: {"generator": "dirichlet", "missing": p} for name, p in HIDDEN.items()},
    metrics={"mse": "1"},
    trials=20,
    published="crowd_table6",
)
@experiment(
    "crowd-table6-released",
    like="crowd-table6",
    title="Table 6: noiseless co-occurrences (released generator)",
    given={name: {"generator": "uniform", "missing": p} for name, p in HIDDEN.items()},
    beside=True,
)
def exact(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 6: exact blocks of a random model, each hidden with some probability."""
    truth = dawid_skene_model(generator=given[setting]["generator"], random_state=rng)
    cooc = _identifiable(truth, given[setting]["missing"], rng)
    seed = seed_of(rng)
    rows: list[Measurement] = []
    for name, factor in FACTORS.items():
        rows += measure(name, partial(_recovery, truth, factor, cooc, seed))
    return rows


def _recovery(truth: LatentClassModel, factor: Factor, cooc: Cooccurrences, seed: int) -> dict[str, float]:
    return {"mse": truth.mse(factor(cooc, np.random.default_rng(seed)))}


def _identifiable(truth: LatentClassModel, missing: float, rng: np.random.Generator) -> Cooccurrences:
    """Hide blocks, anew until every hidden one can be linked, as the paper says of its cases (at once or nearly)."""
    while True:
        upper = np.triu(rng.random((truth.n_variables,) * 2) >= missing, 1)
        cooc = Cooccurrences.from_model(truth, upper | upper.T)
        if reachable_blocks(cooc).all():
            return cooc


def _designated(cooc: Cooccurrences, rng: np.random.Generator) -> LatentClassModel:
    H, *_ = symnmf(square_root(designated_imputation(cooc).X, cooc.n_classes))
    return model_of_factor(H)


def _robust(cooc: Cooccurrences, rng: np.random.Generator) -> LatentClassModel:
    """From a random start, since there are no votes here; turned to principal axes before SymNMF."""
    start = rng.standard_normal((cooc.n_workers, cooc.n_classes, cooc.n_classes))
    U, _ = robust_imputation(cooc, start)
    H, *_ = symnmf(principal_root(U.reshape(-1, cooc.n_classes)))
    return model_of_factor(H)


def _designated_as_released(cooc: Cooccurrences, rng: np.random.Generator) -> LatentClassModel:
    protocol = crowd_steps.SYNTHETIC
    U = crowd_steps.singular_root(crowd_steps.random_pair_imputation(cooc, rng).X, cooc.n_classes)
    return _read(crowd_steps.rotate(U, protocol), cooc)


def _robust_as_released(cooc: Cooccurrences, rng: np.random.Generator) -> LatentClassModel:
    protocol = crowd_steps.SYNTHETIC
    U, _ = crowd_steps.projected_gradient_factors(cooc, rng, 1.0, protocol)
    return _read(crowd_steps.rotate(U.reshape(-1, cooc.n_classes), protocol), cooc)


def _read(found: tuple[Floats, Result], cooc: Cooccurrences) -> LatentClassModel:
    everybody = np.ones(cooc.n_workers, dtype=bool)
    return crowd_steps.read_model(found[0], everybody, crowd_steps.SYNTHETIC)


FACTORS: dict[str, Factor] = {
    "RobSymNMF": _robust,
    "DesSymNMF": _designated,
    "RobSymNMF" + PAPER_PROTOCOL: _robust_as_released,
    "DesSymNMF" + PAPER_PROTOCOL: _designated_as_released,
}


# ---- Table 7: synthetic labels ----

SYNTHETIC_SPECIAL: Special = {
    "CNMF": {"max_iter": 499, "protocol": "synthetic"},
    "TensorADMM": {"max_iter": 200},
}  # passes and sweeps, as released


TASKS = {f"N={n}": n for n in (1000, 5000, 10_000)}


@experiment(
    "crowd-table7",
    title="Table 7: synthetic labels (generator of the text)",
    source="Ibrahim and Fu, ICML 2021, supplement, Table 7",
    settings={name: f"{n:,} tasks" for name, n in TASKS.items()},
    given={name: {"generator": "dirichlet", "n_tasks": n} for name, n in TASKS.items()},
    metrics={"mse": "1"},
    trials=10,
    told=False,
    beside=True,
    published="crowd_table7",
)
@experiment(
    "crowd-table7-released",
    like="crowd-table7",
    title="Table 7: synthetic labels (released generator)",
    given={name: {"generator": "uniform", "n_tasks": n} for name, n in TASKS.items()},
    beside=False,
)
def synthetic(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 7: labels drawn from a random model."""
    truth = dawid_skene_model(generator=given[setting]["generator"], random_state=rng)
    labels = crowd(truth, given[setting]["n_tasks"], 0.3, rng).labels
    seed = seed_of(rng)

    def score(fitted: Aggregator) -> dict[str, float]:
        return {"mse": truth.mse(fitted.model_)}

    names = ("RobSymNMF", "RobSymNMF-EM", "DesSymNMF", "DesSymNMF-EM", "SymNMF(no imputation)", *SPECTRAL)
    rows = run_methods((*names, "MV-EM", "MultiStart-EM"), labels, score, SYNTHETIC_SPECIAL, random_state=seed)
    options: dict[str, Any] = {"protocol": "synthetic", "random_state": seed}
    rows += run_methods(("RobSymNMF", "DesSymNMF"), labels, score, min_common=11, **options)
    return rows + run_methods(("MV-EM",), labels, score, protocol="real")


# ---- Figures 2 and 3: convergence of SymNMF ----

STEPS = 60
DENSITIES = {f"phi={p}": p for p in (0.7, 0.5, 0.3)}


@experiment(
    "crowd-figure2",
    title="Figure 2: convergence of SymNMF without noise",
    source="Ibrahim and Fu, ICML 2021, supplement, Figure 2",
    settings={name: f"density {p}" for name, p in DENSITIES.items()},
    given={name: {"psi": 0.75, "density": p} for name, p in DENSITIES.items()},
    metrics={"t=20": "1", "t=40": "1", "t=60": "1"},
    trials=20,
    centre="median",
    plot="curves",
    axis="$\\|H\\Pi - H_t\\|_F^2 / K$",
)
@experiment(
    "crowd-figure3",
    like="crowd-figure2",
    title="Figure 3: convergence of SymNMF at 30 dB",
    source="Ibrahim and Fu, ICML 2021, supplement, Figure 3",
    given={name: {"psi": 0.6, "snr_db": 30.0, "density": p} for name, p in DENSITIES.items()},
    metrics={"t=10": "1", "t=15": "1", "t=20": "1", "t=40": "1", "t=60": "1"},
)
def convergence(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Figure 2 or 3: error after every iteration, with and without the shift."""
    numbers = given[setting]
    U, H = symnmf_problem(1000, 3, numbers["density"], numbers.get("snr_db"), rng)

    def shift(t: int) -> float:
        return float(numbers["psi"] ** (t + 1))

    def job(**options: Any) -> dict[str, float]:
        return {f"t={t}": error for t, error in enumerate(convergence_curve(U, H, n_iter=STEPS, **options))}

    rows = measure("no shift", job)
    rows += measure("zero below the shift", partial(job, shift=shift, operator="zero"))
    return rows + measure("clamp to the shift", partial(job, shift=shift, operator="clamp"))
