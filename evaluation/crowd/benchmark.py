"""Beyond the paper: 29 crowds in 19 families, every method with its defaults, against the plain vote.

Published numbers are those of EBCC, BWA and IBCC; crowd-kit, where it is installed, runs beside.

Source: Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019, for
the choice of the sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints
from cofactor.crowd import CrowdLabels, paired_difference, score, sign_test, vote_shares
from cofactor.simulate import crowd, dawid_skene_model
from evaluation.crowd.families import FROM_A_FOLDER, crowd_of
from evaluation.crowd.methods import BINARY, method_named, seed_of, without_prior
from evaluation.crowd.tables import DEFAULT, VOTE
from evaluation.experiment import Measurement, measure
from evaluation.peers.crowd_kit import CrowdKit

WITHOUT_PRIOR = " (no prior)"
CROWD_KIT = " (crowd-kit)"


# ---- methods ----


@dataclass(frozen=True)
class Case:
    """Labels, what is known of the truth, and the seed of what is random."""

    labels: CrowdLabels
    truth: Ints
    seed: int


Answer = Floats | Ints  # (N, K) probabilities, or (N,) class codes
Method = Callable[[CrowdLabels, int], Answer]


def ours(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return the class probabilities of a method of this kit with its defaults."""
    return method_named(name, random_state=seed).fit(labels).predict_proba(labels)


def maximum_likelihood(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return those of a method that ends in EM, without its prior."""
    return without_prior(method_named(name, random_state=seed)).fit(labels).predict_proba(labels)


def two_classes(name: str, labels: CrowdLabels, seed: int) -> Answer:
    """Return those of a method for two classes; refuse more."""
    if labels.n_classes > 2:
        raise CofactorError("for two classes only")
    return ours(name, labels, seed)


def crowd_kit(name: str, labels: CrowdLabels, _: int) -> Answer:
    """Return the class probabilities of a method of crowd-kit with its defaults, or its labels where it has no more."""
    return CrowdKit(name).fit(labels).predict_proba(labels)


AT_ONCE: dict[str, Method] = {
    **{
        name: partial(ours, name) for name in (DEFAULT, VOTE, "IBCC", "Wawa", "OneCoin", "BWA", "CATD", "MACE", "MV-EM")
    },
    "MV-EM" + WITHOUT_PRIOR: partial(maximum_likelihood, "MV-EM"),
    **{name: partial(two_classes, name) for name in BINARY},
    **{name + CROWD_KIT: partial(crowd_kit, name) for name in ("Wawa",)},
}
OURS_LATER = (
    *("EBCC", "GLAD", "MultiStart-EM", "RobSymNMF-EM", "DesSymNMF-EM", "MultiSPA-EM", "CNMF-EM", "Spectral-D&S"),
    *("MinimaxEntropy", "PG-TAC", "CRIAV"),
)
PEERS_LATER = ("DawidSkene", "OneCoinDawidSkene", "ZeroBasedSkill", "MMSR", "GLAD")
LATER: dict[str, Method] = {
    **{name: partial(ours, name) for name in OURS_LATER},
    "MultiStart-EM" + WITHOUT_PRIOR: partial(maximum_likelihood, "MultiStart-EM"),
    **{name + CROWD_KIT: partial(crowd_kit, name) for name in PEERS_LATER},
}
ROUNDS: tuple[Mapping[str, Method], ...] = (AT_ONCE, LATER)
TOO_LONG: Mapping[str, tuple[str, ...]] = {
    "PG-TAC": ("adult_content", "trec", "fact"),
    "GLAD" + CROWD_KIT: ("fact",),
    "MMSR" + CROWD_KIT: ("fact",),
}
A_MINUTE = "takes more than a minute here, and is left out"


# ---- one set ----


def benchmark(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure on one set the methods that are quick (first trial) or slow (second trial)."""
    try:
        case = Case(*crowd_of(setting), seed_of(rng))
    except CofactorError as absent:
        if setting not in FROM_A_FOLDER:
            raise
        return [Measurement(name, "", None, error=str(absent)) for name in ROUNDS[trial]]
    rows: list[Measurement] = []
    for name, method in ROUNDS[trial].items():
        if setting in TOO_LONG.get(name, ()):
            rows.append(Measurement(name, "", None, error=A_MINUTE))
        else:
            compiled(name, method)
            rows += measure(name, partial(scored, method, case))
    return rows


def scored(method: Method, case: Case) -> dict[str, float]:
    """Run one method, and score what it gives."""
    began = time.process_time()
    answer = method(case.labels, case.seed)
    seconds = time.process_time() - began
    found = score(answer, case.truth)
    more = paired_difference(answer, vote_shares(case.labels), case.truth)
    values = {
        "accuracy": 100 * found.accuracy,
        "more than the vote": 100 * more.mean,
        "more, at least": 100 * more.low,
        "more, at most": 100 * more.high,
        "log-loss": found.log_loss,
        "Brier": found.brier,
        "ECE": found.ece,
        "sure": found.n_sure if answer.ndim > 1 else np.nan,
        "sure and wrong": 100 * found.sure_wrong,
        "CPU": seconds,
        "sign test": sign_test(answer, vote_shares(case.labels), case.truth),
    }
    return {metric: value for metric, value in values.items() if not np.isnan(value)}


def compiled(name: str, method: Method) -> None:
    """Run a method on a small crowd, once in a process, so that nothing is compiled in the time that counts."""
    if name not in _COMPILED:
        _COMPILED.add(name)
        measure(name, partial(_on_a_small_crowd, method))  # which lets failures pass: they count where labels are real


_COMPILED: set[str] = set()


def _on_a_small_crowd(method: Method) -> dict[str, float]:
    model = dawid_skene_model(n_workers=6, n_classes=2, skill=0.7, random_state=0)
    method(crowd(model, n_tasks=60, label_rate=1.0, random_state=0).labels, 0)
    return {}
