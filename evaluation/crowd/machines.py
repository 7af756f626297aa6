"""Tables 1 to 3: classifiers as annotators of UCI data.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor.core.types import Floats, Ints
from cofactor.crowd import METHODS, paper_protocol
from cofactor.crowd.base import error_rate
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.data import load_table
from cofactor.simulate import machine_annotators
from evaluation.crowd.methods import (
    BINARY,
    ERROR,
    LINES,
    PAPER,
    PROPOSED,
    SPECTRAL,
    Special,
    error_in,
    first_class_error_in,
    run_methods,
    seed_of,
)
from evaluation.experiment import PAPER_PROTOCOL, Experiment, Measurement, measure


@dataclass(frozen=True)
class MachineCrowd:
    """How the classifiers learn and label: see `machine_annotators`."""

    dataset: str
    n_train: int
    label_rate: tuple[float, float]
    n_tasks: int | None = None
    n_designated: int = 0
    workers_per_part: int | None = None


RATES = {"p=0.3": (0.3, 0.3), "p=(0.3,0.5)": (0.3, 0.5), "p=(0.5,0.7)": (0.5, 0.7)}
RATE_NAMES = {
    "p=0.3": "all label with probability 0.3",
    "p=(0.3,0.5)": "probabilities in (0.3, 0.5), two designated annotators 0.8",
    "p=(0.5,0.7)": "probabilities in (0.5, 0.7), two designated annotators 0.8",
}
CONNECT4 = {s: MachineCrowd("connect4", 5140, r, 20_561, 2 if r[1] > r[0] else 0) for s, r in RATES.items()}
CREDIT = {s: MachineCrowd("credit", 150, r, None, 2 if r[1] > r[0] else 0) for s, r in RATES.items()}
UCI_SPECIAL: Special = {"CNMF": {"max_iter": 100}}  # outer iterations in the released script
UCI_THRESHOLD = 6  # tasks in common from which the released script counts a pair
PARTS = {"miss=70": 4, "miss=50": 5, "miss=30": 7}
CAR = {s: MachineCrowd("car", 376, (0.2, 0.2), workers_per_part=n) for s, n in PARTS.items()}
MACHINE_METHODS = (*PROPOSED, *SPECTRAL, "MV-EM", "MinimaxEntropy", *BINARY, "MajorityVote", "MultiStart-EM")


def machines(
    crowds: Mapping[str, MachineCrowd], setting: str, trial: int, rng: np.random.Generator
) -> list[Measurement]:
    """One trial of Tables 1, 2 or 3: a new split, newly trained classifiers, new labels."""
    options: dict[str, Any] = asdict(crowds[setting])
    table = load_table(options.pop("dataset"))
    train = options.pop("n_train")
    found = machine_annotators(table.features, table.target, train, random_state=seed_of(rng), **options)
    labels, score, seed = found.labels, error_in(found.labels, found.truth), seed_of(rng)
    rows = run_methods(MACHINE_METHODS, labels, score, UCI_SPECIAL, random_state=seed)
    score = first_class_error_in(labels, found.truth)
    paper: dict[str, Any] = {"paper_protocol": "uci", "random_state": seed}
    rows += run_methods((*PROPOSED,), labels, score, min_common=UCI_THRESHOLD, **paper)
    rows += run_methods(("MultiSPA", "MV-EM"), labels, score, **paper)
    rows += measure("MV-EM (NaN bug)", partial(_spoiled, labels, found.truth))
    return rows + _unlabelled(labels, found.truth)


def _unlabelled(labels: CrowdLabels, truth: Ints) -> list[Measurement]:
    """What becomes of tasks without labels: counted wrong, or given to the first class."""
    shares, empty = vote_shares(labels), labels.table.entries_per_row == 0
    first, wrong = shares.copy(), shares.copy()
    first[empty] = np.eye(labels.n_classes)[0]
    wrong[empty] = np.eye(labels.n_classes)[(truth[empty] + 1) % labels.n_classes]
    scores = {"MajorityVote" + PAPER_PROTOCOL: wrong, "MajorityVote (first class where unlabelled)": first}
    return [found for name, s in scores.items() for found in measure(name, partial(_error_of, s, truth))]


def _spoiled(labels: CrowdLabels, truth: Ints) -> dict[str, float]:
    """Error of the released MV-EM, in which one task without labels spoils all others."""
    posterior = METHODS["MV-EM"](paper_protocol=True).fit(labels).predict_proba(labels)
    return _error_of(paper_protocol.nan_bug(posterior, labels), truth)


def _error_of(scores: Floats, truth: Ints) -> dict[str, float]:
    return {"error": 100 * error_rate(scores, truth)}


MACHINE_PROTOCOL = (
    "Ten scikit-learn classifiers stand in for the paper's MATLAB ones, trained on {train} rows drawn anew in every "
    "trial; the {tasks} others are the tasks. A task without labels counts as a tie of all classes; the paper's "
    "majority vote counts it wrong, see the row of its protocol."
)
NAN_NOTE = (
    "the released MV-EM turns every posterior to NaN as soon as one task has no label, and then says class 1 "
    "everywhere: see the row with that bug"
)
UNLABELLED_NOTE = "the paper counts tasks without labels as errors of majority vote: see the row of its protocol"
MACHINE_NOTES = {
    ("", "MV-EM"): NAN_NOTE,
    ("", "MV-EM" + PAPER_PROTOCOL): NAN_NOTE,
    ("", "MajorityVote"): UNLABELLED_NOTE,
}
TIES_NOTE = (
    "every tie counted as an error gives the printed number here, but not at p=0.3, where ties are more frequent"
)
CREDIT_NOTES = {
    **MACHINE_NOTES,
    (
        "",
        "MinimaxEntropy",
    ): "cause unknown: neither the stronger regularisation of the released script nor its rule for "
    "tasks without labels moves the error as far",
}
PARTS_NOTE = (
    "the paper does not tell its label rate: at the one chosen here the vote by the paper's protocol lies above the "
    "printed one with much missing and below it with little"
)
NAMING_NOTE = (
    "one order of the classes for all annotators goes wrong where two classes have 4 % each; ordering every annotator "
    "by itself, as the paper does, gives the printed level, see the row of its protocol"
)
UNEXPLAINED_NOTE = (
    "cause unknown: neither a uniform prior nor counting tasks without labels as errors gives the printed number"
)
CAR_NOTES = {
    **MACHINE_NOTES,
    ("", ""): PARTS_NOTE,
    ("", "MinimaxEntropy"): "a task without labels is a tie of all classes here; given to the first class, which is "
    "the most frequent one, errors fall below the printed ones",
    ("", "SymNMF(no imputation)"): NAMING_NOTE,
    ("", "DesSymNMF"): NAMING_NOTE,
    (
        "",
        "CNMF",
    ): "cause unknown: tasks without labels counted as errors give the printed number with 50 % missing, but "
    "not with 70 %",
    ("", "TensorADMM"): UNEXPLAINED_NOTE,
}


def _machine_table(
    number: int,
    about: str,
    crowds: Mapping[str, MachineCrowd],
    names: Mapping[str, str],
    quick: int,
    protocol: str,
    notes: Mapping[tuple[str, str], str] = MappingProxyType(MACHINE_NOTES),
) -> Experiment:
    return Experiment(
        name=f"crowd-table{number}",
        title=f"Table {number}: {about}",
        source=f"{PAPER}, Table {number}",
        settings=names,
        run=partial(machines, crowds),
        trials=20,
        quick=quick,
        lines=LINES,
        metrics=ERROR,
        published=f"crowd_table{number}",
        protocol=protocol,
        notes=notes,
    )


TABLE1 = _machine_table(
    1,
    "UCI Connect4 (N=20,561, M=10, K=3)",
    CONNECT4,
    RATE_NAMES,
    1,
    MACHINE_PROTOCOL.format(train="5,140", tasks="20,561"),
)
TABLE2 = _machine_table(
    2,
    "UCI Credit (N=540, M=10, K=2)",
    CREDIT,
    RATE_NAMES,
    5,
    MACHINE_PROTOCOL.format(train="150", tasks="540"),
    CREDIT_NOTES,
)
TABLE3 = _machine_table(
    3,
    "UCI Car (N=1,352, M=10, K=4)",
    CAR,
    {setting: f"{setting.removeprefix('miss=')} % missing ({n} annotators per part)" for setting, n in PARTS.items()},
    3,
    MACHINE_PROTOCOL.format(train="376", tasks="1,352")
    + " Each of three parts (0.1, 0.3, 0.6 of the tasks) is labelled "
    "by so many annotators as stated, each task with probability 0.2: a rate that the paper does not tell and that "
    "gives the level of its majority vote. About 70 % of the rows are of the first class, so that rules for unlabelled "
    "tasks decide.",
    CAR_NOTES,
)
