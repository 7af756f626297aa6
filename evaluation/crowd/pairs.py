"""How many co-occurrences are missing, and how many are after imputation: numbers of the paper's text.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021, Section 4 and supplement C.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.moments import pairwise_moments
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import reachable_blocks
from cofactor.crowd.labels import CrowdLabels
from cofactor.data import load
from cofactor.simulate import crowd, dawid_skene_model
from evaluation.crowd.machines import annotated
from evaluation.crowd.real import people
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, measure
from evaluation.released.crowd_steps import random_pair_imputation


def missing(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial: labels, and the shares of all M^2 blocks that are missing, by all pairs and by a random one."""
    numbers = dict(given[setting])
    common = numbers.pop("common")
    cooc = Cooccurrences.from_moments(pairwise_moments(_labels(setting, numbers, rng).table), common)
    rows = measure("DesSymNMF", partial(_shares, cooc, reachable_blocks))
    return rows + measure("DesSymNMF" + PAPER_PROTOCOL, partial(_shares, cooc, partial(_by_random_pair, rng)))


def _labels(setting: str, numbers: Mapping[str, Any], rng: np.random.Generator) -> CrowdLabels:
    """Labels of people, of classifiers, or drawn from a random model."""
    if not numbers:
        return people(load(setting, "crowd"))
    if "dataset" in numbers:
        return annotated(numbers, rng).labels
    truth = dawid_skene_model(generator=numbers["generator"], random_state=rng)
    return crowd(truth, numbers["n_tasks"], 0.3, rng).labels


def _by_random_pair(rng: np.random.Generator, cooc: Cooccurrences) -> NDArray[np.bool_]:
    return random_pair_imputation(cooc, rng).reached


def _shares(cooc: Cooccurrences, reach: Callable[[Cooccurrences], NDArray[np.bool_]]) -> dict[str, float]:
    """Per cent of all blocks, the M of the diagonal included, which nobody can observe."""
    observed = len(cooc.indices) / cooc.n_workers**2
    return {"missing": 100 * (1 - observed), "missing, imputed": 100 * (1 - float(reach(cooc).mean()))}
