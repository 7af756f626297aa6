"""Code shared by the experiments on crowds: running methods by name, and scoring them.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor.core.types import Ints
from cofactor.crowd import METHODS
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import NO_PRIOR
from cofactor.crowd.scores import error_rate
from evaluation.experiment import PAPER_PROTOCOL, Measurement, measure
from evaluation.released import RELEASED

Special = Mapping[str, Mapping[str, Any]]
Measure = Callable[[Aggregator], dict[str, float]]

NOTHING_SPECIAL: Special = MappingProxyType({})

PROPOSED = ("RobSymNMF", "RobSymNMF-EM", "RobSymNMF(w=1)", "DesSymNMF", "DesSymNMF-EM", "SymNMF(no imputation)")
SPECTRAL = ("MultiSPA", "CNMF", "TensorADMM", "Spectral-D&S")
BINARY = ("KOS", "GhoshSVD", "EigenRatio")


AS_RELEASED = ("CNMF", "CNMF-EM", "PG-TAC", "CRIAV")  # rows of which the papers' own form is meant, and no other is


def method_named(name: str, **options: Any) -> Aggregator:
    """Make the library's method of a row, or the released one: with `protocol`, and for `AS_RELEASED`."""
    released = "protocol" in options or name in AS_RELEASED
    makes: Mapping[str, Any] = RELEASED["crowd"] if released else METHODS
    return makes[name.split(" (")[0]](**options)


def run_method(name: str, labels: CrowdLabels, score: Measure, **options: Any) -> dict[str, float]:
    """Fit a method without a prior, as in the papers, and score it; a binary one takes the ordinal reduction."""
    key = f"{name}(ordinal)" if name in BINARY and labels.n_classes > 2 else name
    return score(without_prior(method_named(key, **options)).fit(labels))


def without_prior(method: Aggregator) -> Aggregator:
    """Return the method with EM of maximum likelihood."""
    return method.set_params(pseudo_counts=NO_PRIOR) if "pseudo_counts" in method.get_params() else method


def run_methods(
    names: Sequence[str], labels: CrowdLabels, score: Measure, special: Special = NOTHING_SPECIAL, **options: Any
) -> list[Measurement]:
    """Run methods one by one, `special` giving further options of single ones; the paper protocol is named."""
    rows: list[Measurement] = []
    for name in names:
        job = partial(run_method, name, labels, score, **options, **special.get(name, {}))
        rows += measure(name + (PAPER_PROTOCOL if "protocol" in options else ""), job)
    return rows


def error_in(labels: CrowdLabels, truth: Ints) -> Measure:
    """Return the function that scores a fitted method with its error in per cent; ties are split."""
    return lambda fitted: {"error": 100 * error_rate(fitted.predict_proba(labels), truth)}


def first_class_error_in(labels: CrowdLabels, truth: Ints) -> Measure:
    """The same, but a tie goes to the first class, as it does in the released code."""
    return lambda fitted: {"error": 100 * error_rate(fitted.predict(labels), truth)}


def seed_of(rng: np.random.Generator) -> int:
    """Draw the seed for a method."""
    return int(rng.integers(2**31))
