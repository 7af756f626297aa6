"""Tables 1 to 6: known truth.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, measure
from evaluation.pmf.methods import (
    PUBLISHED_SCORES,
    SPLIT,
    TRUE_SCORES,
    Case,
    Design,
    Method,
    constant,
    draw_case,
    fit,
    independence,
    kit,
    opt_as_released,
    random_em_as_released,
    run_methods,
    spa_em_as_released,
)
from evaluation.released.pmf import SPLIT as REAL_SPLIT
from evaluation.released.pmf import ReleasedCTD, ReleasedMLEADEM

P = PAPER_PROTOCOL
OURS: dict[str, Method] = {
    "CNMF-SPA": partial(kit, "CNMF-SPA", split=SPLIT),
    "CNMF-SPA-EM": partial(kit, "CNMF-SPA-EM", split=SPLIT),
    "CNMF-OPT": partial(kit, "CNMF-OPT"),
    "CNMF-EM": partial(kit, "CNMF-EM"),
    "RAND-EM": partial(kit, "RAND-EM"),
    "CTD": partial(kit, "CTD"),
}
BASELINES: dict[str, Method] = {"Independence": independence, "Constant": constant}
AD: dict[str, Method] = {
    "MLE-AD-EM": partial(kit, "MLE-AD-EM"),
    "MLE-AD-EM" + P: partial(fit, ReleasedMLEADEM),
}
SEPARABLE: dict[str, Method] = {
    **OURS,
    **BASELINES,
    "CNMF-OPT" + P: opt_as_released,
    "CNMF-SPA-EM" + P: spa_em_as_released,
    "RAND-EM" + P: partial(random_em_as_released, True),
    "CTD" + P: partial(fit, ReleasedCTD, script="separable"),
}
DENSE: dict[str, Method] = {
    **OURS,
    **BASELINES,
    "CNMF-SPA (five variables on one side)": partial(kit, "CNMF-SPA", split=REAL_SPLIT),
    "CNMF-SPA-EM" + P: spa_em_as_released,
    "RAND-EM" + P: partial(random_em_as_released, False),
    "CTD" + P: partial(fit, ReleasedCTD, script="synthetic"),
}
MIRROR: dict[str, Method] = {"CNMF-OPT" + P: opt_as_released}
QUICK = 2  # trials of the quick profile, without the methods that take longer than all others together


def separable(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Tables 1 to 3 (five variables, one nearly separable), scored by the text and by the released code.

    The first two trials, which are those of the quick profile, are without MLE-AD-EM.
    """
    case = draw_case(Design(**given[setting]), rng)
    return run_methods(_in_time(SEPARABLE, AD, trial), case, {**PUBLISHED_SCORES, **TRUE_SCORES})


def dense(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 4 or 5: fifteen variables without anchors; CNMF-OPT as released takes most of the time."""
    case = draw_case(Design(**given[setting]), rng)
    return run_methods(_in_time(DENSE, MIRROR, trial), case, TRUE_SCORES)


def _in_time(fast: Mapping[str, Method], slow: Mapping[str, Method], trial: int) -> Mapping[str, Method]:
    return fast if trial < QUICK else {**fast, **slow}


# ---- Table 6: running time ----

TIMED: dict[str, dict[str, Method]] = {
    "N=5,F=5,I=10": {**OURS, **BASELINES, **MIRROR, **AD},
    "N=15,F=10,I=10": {**OURS, **BASELINES},
}
WARM_UP = 300  # rows of a first run that is not timed: compiled code is loaded in it


def timing(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 6: seconds of this process, marginals included.

    MLE-AD-EM, which takes minutes with fifteen variables, is run with them once, as in the paper.
    """
    design = Design(**given[setting])
    small = replace(design, n_rows=WARM_UP, observed=1.0)
    warm, case = draw_case(small, rng), draw_case(design, rng)
    rows: list[Measurement] = []
    slow = {**MIRROR, **AD} if trial == QUICK else MIRROR
    for name, method in _in_time(TIMED[setting], slow, trial).items():
        measure(name, partial(_seconds, method, warm))
        rows += measure(name, partial(_seconds, method, case))
    return rows


def _seconds(method: Method, case: Case) -> dict[str, float]:
    began = time.process_time()
    method(case)
    return {"seconds": time.process_time() - began}
