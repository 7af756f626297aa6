"""Tables 1 to 3: classifiers as annotators of UCI data.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import error_rate
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.data import load
from cofactor.simulate import Crowd, machine_annotators
from evaluation.crowd.methods import (
    BINARY,
    PROPOSED,
    SPECTRAL,
    Special,
    error_in,
    first_class_error_in,
    method_named,
    run_methods,
    seed_of,
)
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, measure
from evaluation.released.crowd_steps import nan_bug

UCI_SPECIAL: Special = {"CNMF": {"max_iter": 99, "protocol": "uci"}}  # passes in the released script
COUNTS_WRONG = "car"  # the set whose script counts tasks without labels as errors of the vote; the others say 1/K
UCI_THRESHOLD = 6  # tasks in common from which the released script counts a pair
MACHINE_METHODS = (*PROPOSED, *SPECTRAL, "MV-EM", "MinimaxEntropy", *BINARY, "MajorityVote", "MultiStart-EM")


def machines(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Tables 1, 2 or 3: a new split, newly trained classifiers, new labels."""
    found = annotated(given[setting], rng)
    labels, score, seed = found.labels, error_in(found.labels, found.truth), seed_of(rng)
    rows = run_methods(MACHINE_METHODS, labels, score, UCI_SPECIAL, random_state=seed)
    score = first_class_error_in(labels, found.truth)
    paper: dict[str, Any] = {"protocol": "uci", "random_state": seed}
    rows += run_methods((*PROPOSED,), labels, score, min_common=UCI_THRESHOLD, **paper)
    rows += run_methods(("MultiSPA", "MV-EM"), labels, score, **paper)
    rows += measure("MV-EM (NaN bug)", partial(_spoiled, labels, found.truth))
    rows += measure("Constant", partial(_constant, found.truth))
    return rows + _unlabelled(labels, found.truth, given[setting]["dataset"] == COUNTS_WRONG)


def annotated(numbers: Mapping[str, Any], rng: np.random.Generator) -> Crowd:
    """Let new classifiers label a data set: the numbers of a setting."""
    options = dict(numbers)
    table = load(options.pop("dataset"), "table")
    return machine_annotators(
        table.features, table.target, options.pop("n_train"), random_state=seed_of(rng), **options
    )


def _unlabelled(labels: CrowdLabels, truth: Ints, wrongly: bool) -> list[Measurement]:
    """What becomes of tasks without labels: as in the set's script, wrong or a tie; or given to the first class."""
    shares, empty = vote_shares(labels), labels.table.entries_per_row == 0
    first, wrong = shares.copy(), shares.copy()
    first[empty] = np.eye(labels.n_classes)[0]
    wrong[empty] = np.eye(labels.n_classes)[(truth[empty] + 1) % labels.n_classes]
    scores = {
        "MajorityVote" + PAPER_PROTOCOL: wrong if wrongly else shares,
        "MajorityVote (first class where unlabelled)": first,
    }
    return [found for name, s in scores.items() for found in measure(name, partial(_error_of, s, truth))]


def _spoiled(labels: CrowdLabels, truth: Ints) -> dict[str, float]:
    """Error of the released MV-EM, in which one task without labels spoils all others."""
    posterior = method_named("MV-EM", protocol="uci").fit(labels).predict_proba(labels)
    return _error_of(nan_bug(posterior, labels), truth)


def _constant(truth: Ints) -> dict[str, float]:
    """Error of who says the most frequent class of all tasks, which no method is told."""
    return {"error": 100 * (1 - np.bincount(truth).max() / len(truth))}


def _error_of(scores: Floats, truth: Ints) -> dict[str, float]:
    return {"error": 100 * error_rate(scores, truth)}
