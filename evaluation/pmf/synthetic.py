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

from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, experiment, measure
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
QUICK = 2  # first trials, without the methods that take longer than all others together
FIVE, FIFTEEN = {"n_variables": 5, "rank": 5}, {"n_variables": 15, "rank": 10}
ROWS = {f"S=1e{power}": 10**power for power in (3, 4, 5, 6)}
SEEN = {"p=.1": 0.1, "p=.05": 0.05, "p=.01": 0.01, "p=.005": 0.005}


@experiment(
    "pmf-table1",
    title="Table 1: half observed, epsilon = 0.1 (N=5, F=5)",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 1",
    settings={name: f"{n:,} rows" for name, n in ROWS.items()},
    given={name: FIVE | {"separability": 0.1, "observed": 0.5, "n_rows": n} for name, n in ROWS.items()},
    metrics={"mse (published)": "1", "mre (published)": "1", "mse": "1", "mre": "1", "excess loss": "nats"},
    trials=20,
    printed_as={"mse (published)": "mse", "mre (published)": "mre", "mse": "", "mre": ""},
    published="pmf_table1",
    words={
        "label": "epsilon = 0.1",
        "distance": "0.0056",
    },
    protocol="""
        5 variables of 10 values, 5 classes with equal prior; rows of every A_n from Dirichlet(1), as in the released
        code (the text says uniform), one of the last two variables with planted anchors. {label} is a label: the
        planted rows are {distance} from unit vectors. Paper protocol: CNMF-OPT by mirror descent, pairs weighted
        alike, started from 1e-6 and the true prior; 30 rounds of EM, from entries of 1e-6; CTD with penalties 0.01
        and 0.1 and columns that may sum to less than one; MLE-AD with the data of each triple fitted by the model of
        another. MLE-AD-EM takes longer than all others together and is left out of the first two trials: it has
        18 of 20. The released code compares A_1 with A_1 diag(lambda), which adds about
        0.02 to every printed MSE, and divides the MRE by the norm of the estimate, which flatters estimates that are
        too large; its prior is permuted the wrong way round. The metrics marked (published) do the same and are
        compared with the print; 'mse' and 'mre' are what the text defines. The same methods look up to a thousand
        times better by them where there are many rows. Excess loss: log-likelihood that 2,000 fresh complete rows have
        less than under the truth, nats per row.
    """,
    notes={
        ("", "MLE-AD-EM"): """
            the printed column is EM after a fit of each triple's data by the model of other variables: see the row of
            its protocol; with the triples in order it is better
        """,
        (
            "",
            ("MLE-AD-EM (paper protocol)", "RAND-EM (paper protocol)"),
        ): "30 rounds from one random start: trials differ by whether it ended in a poor optimum",
    },
)
@experiment(
    "pmf-table2",
    like="pmf-table1",
    title="Table 2: half observed, epsilon = 0.3 (N=5, F=5)",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 2",
    given={name: FIVE | {"separability": 0.3, "observed": 0.5, "n_rows": n} for name, n in ROWS.items()},
    published="pmf_table2",
    words={
        "label": "epsilon = 0.3",
        "distance": "0.258",
    },
)
@experiment(
    "pmf-table3",
    like="pmf-table1",
    title="Table 3: sparse data, 100,000 rows (N=5, F=5)",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 3",
    settings={name: f"each value seen with probability {p}" for name, p in SEEN.items()},
    given={name: FIVE | {"separability": 0.1, "n_rows": 100_000, "observed": p} for name, p in SEEN.items()},
    published="pmf_table3",
    words={
        "label": "epsilon = 0.1",
        "distance": "0.0056",
    },
    notes={
        (("p=.05", "p=.01", "p=.005"), ""): """
            pairs were seen in S p^2 = 250 rows at p=.05, 10 at .01 and 2.5 at .005, for 100 cells each: what a method
            makes of noise. The constant, which looks at no data, has about 0.085
        """,
        (("p=.01", "p=.005"), "RAND-EM (paper protocol)"): """
            30 rounds have hardly left the random start, so that all trials give nearly the same error; pairs were
            seen in 10 and 2.5 rows for 100 cells each, and what a method makes of that is noise
        """,
        ("", ("CTD", "CTD (paper protocol)")): """
            starved of triples, seen in S p^3 rows: 100 at p=.1 for 1,000 cells each. Neither the trace rule nor the
            released penalties give the printed level. Columns of the released code, which need not sum to one, shrink
            to nearly nothing, and its MRE divides by their norm
        """,
    },
)
def separable(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Tables 1 to 3 (five variables, one nearly separable), scored by the text and by the released code.

    The first two trials are without MLE-AD-EM.
    """
    case = draw_case(Design(**given[setting]), rng)
    return run_methods(_in_time(SEPARABLE, AD, trial), case, {**PUBLISHED_SCORES, **TRUE_SCORES})


@experiment(
    "pmf-table4",
    like="pmf-table5",
    title="Table 4: half of the values observed (N=15, F=10)",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 4",
    given={name: FIFTEEN | {"observed": 0.5, "n_rows": n} for name, n in ROWS.items()},
    published="pmf_table4",
    words={
        "share": "half",
    },
    notes={
        (
            "S=1e3",
            (
                "CNMF-SPA",
                "CNMF-SPA-EM",
                "CNMF-OPT",
                "CNMF-EM",
                "RAND-EM",
                "CTD",
                "Independence",
                "Constant",
                "CNMF-SPA (five variables on one side)",
                "CNMF-SPA-EM (paper protocol)",
                "RAND-EM (paper protocol)",
                "CTD (paper protocol)",
                "CNMF-OPT (paper protocol)",
            ),
        ): """
            not reachable with 1,000 rows of this generator, half of the values observed: even EM that starts at the
            truth has an MSE of about 0.03, above the printed one of CNMF-OPT. With .9 of them observed CNMF-OPT meets
            the print (0.0213 ± 0.0004 in ten trials; 0.028 with .8, 0.035 with .7), and CTD as released comes near it
            (0.027 to 0.037 with .9 to .7, three trials each); RAND-EM stays off (0.051 to 0.070). Text and released
            script say half. The same column of Table 5 is met
        """,
        ("S=1e4", ("CNMF-OPT", "CNMF-OPT (paper protocol)")): """
            cause unknown: the authors' mirror descent, with the true prior, ends at the same level here. With .7 of
            the values observed instead of half CNMF-OPT meets the print (0.0040 ± 0.0001 in four trials), but with
            .9, which meets the column of 1,000 rows, it has 0.0027, and CTD as released has 0.016 with both, where
            0.036 is printed. Text and released script say half
        """,
    },
)
@experiment(
    "pmf-table5",
    title="Table 5: a fifth of the values observed (N=15, F=10)",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 5",
    settings={name: f"{n:,} rows" for name, n in ROWS.items()},
    given={name: FIFTEEN | {"observed": 0.2, "n_rows": n} for name, n in ROWS.items()},
    metrics={"mse": "1", "mre": "1", "excess loss": "nats"},
    trials=20,
    published="pmf_table5",
    words={
        "share": "a fifth",
    },
    protocol="""
        15 variables of 10 values, 10 classes with equal prior, rows of every A_n from Dirichlet(1); {share} of the
        values observed. No anchors: rows of A_n are about 0.7 from unit vectors, and CNMF-SPA is worse than a
        constant even on exact pairwise marginals (MSE 0.10 to 0.12). MRE through Gram matrices; the paper calls it
        too expensive here. A low MSE does not mean a good joint PMF. Paper protocol: CNMF-OPT by mirror descent from
        1e-6 and the true prior; CTD with penalty 10 and 200 sweeps; 30 rounds of EM. CNMF-OPT by mirror descent takes
        most of the time and is left out of the first two trials: it has 18 of 20. Excess
        loss: log-likelihood that 2,000 fresh complete rows have less than under the truth, nats per row.
    """,
    notes={
        ("", ("CNMF-SPA-EM", "RAND-EM", "CNMF-SPA-EM (paper protocol)", "RAND-EM (paper protocol)")): """
            few trials make the mean: most reach the optimum of EM from the truth, some a poor one far above it
        """,
        ("", "CNMF-SPA"): """
            there are no anchors to find: even exact pairwise marginals give 0.10 to 0.12. The released script has
            three variables on one side, the text names no number here; with five, as it has for real data, the error
            is above the printed one for 1,000 rows of Table 4 only
        """,
        ("", ("CTD", "CTD (paper protocol)")): """
            the printed plateau is that of a penalty of 10, some 400 times too stiff, cut off after 200 sweeps: of
            the first ten trials with 100,000 rows all end at 0.018 to 0.030 with half of the values observed, and
            seven at 0.012 to 0.034 with a fifth, where the others reach 0.003 to 0.005; 1,000 sweeps bring four of
            the ten and five of the seven to the level of the trace rule (0.0005 and 0.003)
        """,
    },
)
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


@experiment(
    "pmf-table6",
    title="Table 6: running time",
    source="Ibrahim and Fu, IEEE TSP 2021, Table 6",
    settings={"N=5,F=5,I=10": "5 variables, 5 classes", "N=15,F=10,I=10": "15 variables, 10 classes"},
    given={
        "N=5,F=5,I=10": FIVE | {"separability": 0.1, "observed": 0.5, "n_rows": 100_000},
        "N=15,F=10,I=10": FIFTEEN | {"observed": 0.5, "n_rows": 100_000},
    },
    metrics={"seconds": "s"},
    centre="median",
    trials=20,
    published="pmf_table6",
    notes={
        ("N=15,F=10,I=10", "MLE-AD-EM"): """
            run in the third trial alone: one of its 20 sweeps over 455 triples takes 9 s, a fit some 190 s
        """,
    },
)
def timing(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table 6: seconds of this process, marginals included.

    100,000 rows, half of the values observed, from rows to model: marginals and the start by CNMF-SPA count. The
    paper's seconds leave out the marginals of all methods, of which those of triples take longest, and the start of
    CNMF-OPT and CNMF-SPA-EM. Time of the process on one thread, after a run that loads compiled code: but for that of
    missing values, which the first trial loads, so that medians are shown. The paper ran MATLAB and 30 rounds of EM;
    here EM goes on until it stands still. CNMF-OPT by mirror descent (paper protocol) is
    left out of the first two trials with 15 variables and has 18 of 20; there MLE-AD-EM is run in the third trial
    alone, the paper ran it once.
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
