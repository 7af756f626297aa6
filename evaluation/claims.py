"""The main sentences of the papers' abstracts and contributions, each judged by stored trials.

Sentence, place and what is measured stand in `claims.csv`, its rules here, under its name. A rule is a list of cases,
each a number with its interval of 95 %, limits, and how many cases must be within. A case holds where its whole
interval is within, and fails where all of it is outside. A claim is supported where all rules have enough cases that
hold, and not supported where one cannot have them any more. Methods on the same data are compared trial by trial, so
that its luck drops out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from evaluation import EXPERIMENTS
from evaluation.experiment import PAPER_PROTOCOL as P
from evaluation.trials import HERE, raw_trials
from evaluation.verdicts import CONFIDENCE, PROPORTIONS, proportion

Row = tuple[str, str, str]  # experiment, setting, method
Values = dict[Row, "pd.Series[float]"]  # by trial
SAME_DATA, SAME_ROW, OTHER_TABLE = (0, 1), (0, 1, 2), (1, 2)  # in which parts of their names two rows agree


class Case(NamedTuple):
    """A number with its standard error and degrees of freedom; for a ratio, these are for its logarithm."""

    value: float
    error: float
    freedom: float
    of_logs: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the 95 % interval."""
        half = self.error and student.ppf((1 + CONFIDENCE) / 2, max(self.freedom, 1)) * self.error
        if self.of_logs:
            return self.value * np.exp(-half), self.value * np.exp(half)
        return self.value - half, self.value + half


class Rule(NamedTuple):
    """Cases, their limits, and how many cases must lie within the limits (all if `need` is 0)."""

    cases: Sequence[Case]
    low: float = -np.inf
    high: float = np.inf
    need: int = 0

    def counted(self) -> tuple[int, int, int]:
        """Return how many cases hold, how many fail, and how many must hold."""
        ends = [case.ends for case in self.cases]
        holds = sum(self.low < low and high < self.high for low, high in ends)
        return holds, sum(high <= self.low or low >= self.high for low, high in ends), self.need or len(ends)


def judged(rules: Sequence[Rule]) -> dict[str, str]:
    """Return the verdict, "supported", "not supported" or "open", how many cases hold or fail, and their range."""
    counts, values = [rule.counted() for rule in rules], [case.value for rule in rules for case in rule.cases]
    holds, fails = (sum(count[at] for count in counts) for at in (0, 1))
    told = {"hold": str(holds), "fail": str(fails), "open": str(len(values) - holds - fails)}
    told["range"] = f"{min(values):.3g}…{max(values):.3g}"
    if all(holds >= need for holds, _, need in counts):
        return {"verdict": "supported", **told}
    lost = any(len(rule.cases) - fails < need for rule, (_, fails, need) in zip(rules, counts, strict=True))
    return {"verdict": "not supported" if lost else "open", **told}


def claims() -> pd.DataFrame:
    """Return the claims: columns name, paper, place, says, criterion, note, verdict, hold, fail, open, range."""
    table = pd.read_csv(HERE / "claims.csv").fillna("")
    return table.join(pd.DataFrame([judged(RULES[name]()) for name in table["name"]]))


# ---- numbers ----


def kept(
    experiments: str | Iterable[str], metric: str | Sequence[str], *methods: str, at: Iterable[str] = ()
) -> Values:
    """Return values by trial of some methods, of all settings or those named; of several metrics the geometric mean."""
    found, metrics = {}, [metric] if isinstance(metric, str) else list(metric)
    for name in [experiments] if isinstance(experiments, str) else experiments:
        trials = raw_trials(name)
        trials = trials[trials["metric"].isin(metrics) & trials["value"].notna()]
        for (setting, method), rows in trials.groupby(["setting", "method"], sort=False):
            if str(method) in methods and (not at or str(setting) in at):
                values = rows.pivot_table(index="trial", columns="metric", values="value")
                found[name, str(setting), str(method)] = (
                    values[metric] if isinstance(metric, str) else np.exp(np.log(values).mean(axis=1))
                )
    assert found, f"nothing is kept of {methods} in {experiments}"
    return found


def _error(row: Row, values: pd.Series[float]) -> tuple[float, float]:
    """Standard error of a mean and its degrees of freedom; what is run once on fixed data has none."""
    experiment, n = EXPERIMENTS[row[0]], len(values)
    if n > 1:
        return float(values.std()) / np.sqrt(n), n - 1
    return (0.0 if row[1] in experiment.granularity or experiment.trials == 1 else np.inf), 1


def alone(values: Values, metric: str = "") -> list[Case]:
    """Return means, or fractions of trials."""
    found = []
    for row, x in values.items():
        error = proportion(x.mean(), len(x)).error if metric in PROPORTIONS else _error(row, x)[0]
        found.append(Case(float(x.mean()), error, len(x) - 1))
    return found


def _pairs(a: Values, b: Values, match: tuple[int, ...]) -> Iterable[tuple[Row, Row]]:
    return [(r, s) for r in a for s in b if all(r[i] == s[i] for i in match)]


def less(a: Values, b: Values) -> list[Case]:
    """Return the differences a - b of all methods on the same data."""
    found = []
    for r, s in _pairs(a, b, SAME_DATA):
        apart = (a[r] - b[s]).dropna()
        if r[1] in EXPERIMENTS[r[0]].granularity and min(len(a[r]), len(b[s])) == 1:
            (e, f), (g, h) = _error(r, a[r]), _error(s, b[s])
            found.append(Case(a[r].mean() - b[s].mean(), float(np.hypot(e, g)), _welch(e, f, g, h)))
        else:
            found.append(Case(float(apart.mean()), *_error(r, apart)))
    return found


def over(a: Values, b: Values, match: tuple[int, ...] = SAME_DATA) -> list[Case]:
    """Ratios a / b of means, or of curves by trial; errors are those of the logarithms."""
    found = []
    for r, s in _pairs(a, b, match):
        x, y = a[r] / a[r].mean(), b[s] / b[s].mean()
        if EXPERIMENTS[r[0]].centre == "median":  # of curves that fall over many powers of ten
            logs: pd.Series[float] = (a[r] / b[s]).dropna().map(np.log)
            found.append(Case(float(np.exp(logs.mean())), *_error(r, logs), of_logs=True))
            continue
        if r[:2] == s[:2]:
            error, freedom = _error(r, (x - y).dropna())
        else:
            (e, f), (g, h) = _error(r, x), _error(s, y)
            error, freedom = float(np.hypot(e, g)), _welch(e, f, g, h)
        found.append(Case(a[r].mean() / b[s].mean(), error, freedom, of_logs=True))
    return found


def _welch(e: float, f: float, g: float, h: float) -> float:
    return (e**2 + g**2) ** 2 / (e**4 / f + g**4 / h) if e or g else 1


def mean(cases: Sequence[Case]) -> list[Case]:
    """Return the mean of independent cases, such as those of several noise levels."""
    error = float(np.sqrt(sum(case.error**2 for case in cases))) / len(cases)
    return [Case(float(np.mean([case.value for case in cases])), error, min(case.freedom for case in cases))]


def slope(values: Values) -> list[Case]:
    """Slope of log mean against log of the number in the name of the setting, by method."""
    found = []
    for name, method in dict.fromkeys((name, method) for name, _, method in values):
        rows = {row: x for row, x in values.items() if row[0] == name and row[2] == method}
        size = np.log([float(row[1].split("=")[-1].replace(",", "")) for row in rows])
        weight = (size - size.mean()) / np.sum((size - size.mean()) ** 2)
        errors = [_error(row, x / x.mean())[0] for row, x in rows.items()]
        value = float(np.sum(weight * np.log([x.mean() for x in rows.values()])))
        freedom = min(len(x) for x in rows.values()) - 1
        found.append(Case(value, float(np.sqrt(np.sum((weight * errors) ** 2))), freedom))
    return found


# ---- rules ----

UCI, AMT = ("crowd-table1", "crowd-table2"), ("crowd-table4", "crowd-table5")
ROB, DES = "RobSymNMF" + P, "DesSymNMF" + P
BASE = "CNMF", "TensorADMM", "Spectral-D&S", "MV-EM" + P
STEPS = [f"t={t}" for t in range(5, 61, 5)]
FIVE, FIFTEEN = ("pmf-table1", "pmf-table2"), ("pmf-table4", "pmf-table5")
MANY, FEW = ("S=1e4", "S=1e5", "S=1e6"), ("S=1e3",)
OPT, EM, CTD, RAND = "CNMF-OPT" + P, "CNMF-SPA-EM" + P, "CTD" + P, "RAND-EM" + P
SETS = [f"pmf-table{number}" for number in (8, 9, 10, 11)]
CONVEX, LARGEST = ("FastGradient", "MERIT" + P), ("dblp1",)
FIGURE1, AMOUNTS, FIGURE2 = "comparisons-figure1", "comparisons-figure1-amounts", "comparisons-figure2"
SMALL, LARGE = ("200x300,unit", "200x300,gauss"), ("2000x3000,unit", "2000x3000,gauss")


def _shift(figure: str) -> list[Rule]:
    return [Rule(over(kept(figure, STEPS, "zero below the shift"), kept(figure, STEPS, "no shift")), high=1)]


def _errors(experiments: Sequence[str], methods: Sequence[str], others: Sequence[str]) -> list[Case]:
    return less(kept(experiments, "error", *methods), kept(experiments, "error", *others))


def _mse(
    experiments: Sequence[str], methods: Sequence[str], others: Sequence[str], at: Sequence[str] = ()
) -> list[Case]:
    return less(kept(experiments, "mse", *methods, at=at), kept(experiments, "mse", *others, at=at))


def _above_spa(experiment: str) -> list[Rule]:
    spa = kept(experiment, "success", "SPA")
    return [Rule(mean(less(kept(experiment, "success", method), spa)), low=0) for method in CONVEX]


def _penalty(experiment: str) -> Rule:
    success = partial(kept, experiment, "success")
    return Rule(mean(less(success("MERIT" + P), success("MERIT(0)"))), low=0)


def _left(experiment: str, *methods: str, at: Sequence[str] = ()) -> list[Case]:
    """Error after 500 steps over the first one."""
    return over(kept(experiment, "t=500", *methods, at=at), kept(experiment, "t=0", *methods, at=at), SAME_ROW)


def _shares(experiment: str, method: str, *at: str) -> list[Case]:
    return alone(kept(experiment, "success", method, at=at), "success")


RULES: dict[str, Callable[[], Sequence[Rule]]] = {
    "low-error-without-noise": lambda: [Rule(alone(kept("crowd-table6", "mse", ROB, DES)), high=0.005)],
    "all-better-with-more-tasks": lambda: [
        Rule(slope(kept("crowd-table7-released", "mse", ROB, DES, "MultiSPA", *BASE)), high=0)
    ],
    "better-in-most-cases": lambda: [
        Rule(_mse(["crowd-table7-released"], (ROB, DES), ("MultiSPA", *BASE)), high=0, need=16)
    ],
    "shift-faster": lambda: _shift("crowd-figure2"),
    "shift-faster-with-noise": lambda: _shift("crowd-figure3"),
    "better-than-the-vote": lambda: [Rule(_errors(UCI, (ROB, DES), ("MajorityVote" + P,)), high=0)],
    "better-than-third-order": lambda: [
        Rule(_errors(UCI, (ROB, DES), ("TensorADMM", "Spectral-D&S")), high=0, need=13)
    ],
    "car-largely-better": lambda: [
        Rule(
            _errors(["crowd-table3"], (ROB,), ("MultiSPA" + P, *BASE, "MinimaxEntropy", "KOS", "MajorityVote" + P)),
            high=-2,
        )
    ],
    "comparable-with-cnmf": lambda: [Rule(_errors(AMT, (ROB, "RobSymNMF-EM" + P), ("CNMF-EM",)), high=2)],
    "best-start-of-em": lambda: [
        Rule(_errors(AMT, ("RobSymNMF-EM" + P, "DesSymNMF-EM" + P), ("MV-EM" + P, "CNMF-EM", "Spectral-D&S")), high=0.3)
    ],
    "recovered-from-pairs": lambda: [
        Rule(slope(kept(FIVE, "mre", OPT)), high=-0.3),
        Rule(alone(kept(FIVE, "mre", OPT, at=["S=1e6"])), high=0.1),
    ],
    "better-with-few-rows": lambda: [Rule(_mse(FIVE, ("CNMF-SPA", OPT, EM), (CTD,), FEW), high=0)],
    "better-with-few-cells": lambda: [
        Rule(over(kept("pmf-table3", "mse", OPT, at=["p=.05"]), kept("pmf-table3", "mse", "Constant")), high=0.5),
        Rule(_mse(["pmf-table3"], (CTD,), ("Constant",), ["p=.05", "p=.01", "p=.005"]), low=0),
    ],
    "better-when-separable": lambda: [
        Rule(
            over(kept(FIVE[0], "mse", "CNMF-SPA", at=MANY), kept(FIVE[1], "mse", "CNMF-SPA", at=MANY), OTHER_TABLE),
            high=1,
        )
    ],
    "em-improves": lambda: [
        Rule(over(kept(FIVE + FIFTEEN, "mse", EM), kept(FIVE + FIFTEEN, "mse", "CNMF-SPA")), high=1)
    ],
    "em-needs-the-start": lambda: [
        Rule(_mse(FIVE, (other,), (EM,)), low=0, need=2) for other in (RAND, "MLE-AD-EM" + P)
    ],
    "works-with-few-rows": lambda: [
        Rule(_mse(FIVE, (OPT,), (EM,), FEW), high=0),
        Rule(less(kept(FIVE, "mre", OPT, at=FEW), kept(FIVE, "mre", "Constant", at=FEW)), high=0),
    ],
    "better-with-15-variables": lambda: [Rule(_mse(FIFTEEN, (OPT, EM), (RAND, CTD)), high=0, need=17)],
    "competitive-classifiers": lambda: [
        Rule(
            less(
                kept(SETS, "accuracy", OPT, EM, at=["votes", "car", "nursery", "mushroom"]),
                kept(SETS, "accuracy", "SVM", "LogReg", "NaiveBayes"),
            ),
            low=-3,
        )
    ],
    "memory-linear": lambda: [Rule(slope(kept("separable-figure4b", "peak", "MERIT", "MERIT(0)")), 0.7, 1.2)],
    "others-quadratic": lambda: [Rule(slope(kept("separable-figure4b", "peak", "FastGradient")), 1.8, 2.2)],
    "much-less-memory": lambda: [
        Rule(
            over(
                kept("separable-figure7", "peak", "FastGradient", at=LARGEST),
                kept("separable-figure7", "peak", "MERIT", "MERIT(0)", at=LARGEST),
            ),
            low=6,
        )
    ],
    "more-robust-as-released": lambda: _above_spa("separable-figure2"),
    "more-robust-as-written": lambda: _above_spa("separable-figure2-gaussian"),
    "penalty-against-noise": lambda: [_penalty("separable-figure4a"), _penalty("separable-figure2")],
    "good-for-all-k": lambda: [
        Rule(alone(kept("separable-table1", "success", *CONVEX), "success"), low=0.9),
    ],
    "mu-hardly-matters": lambda: [
        Rule(
            less(
                kept("separable-figure5b", "success", *(f"mu={mu}" for mu in (1e-07, 1e-06, 0.0001, 0.001, 0.01, 0.1))),
                kept("separable-figure5b", "success", "mu=1e-05"),
            ),
            -0.1,
            0.1,
        )
    ],
    "best-on-tdt2": lambda: [
        Rule(
            less(
                kept("separable-table2-tdt2", "accuracy", "MERIT" + P, "MERIT(0)" + P),
                kept("separable-table2-tdt2", "accuracy", "SPA", "XRAY", "FastAnchor", "LDA"),
            ),
            low=0,
        )
    ],
    "competitive-on-networks": lambda: [
        Rule(over(kept("separable-table4", "src", "MERIT"), kept("separable-table4", "src", "GeoNMF", "SPOC")), low=0.9)
    ],
    "exponential": lambda: [Rule(_left(FIGURE1, "theta=0.5"), high=1e-6)],
    "warm-start-not-needed": lambda: [Rule(_left(FIGURE1, "theta=1", "theta=2"), high=0.01, need=7)],
    "projections-not-needed": lambda: [
        Rule(over(kept(FIGURE1, "t=100", f"theta={x}, projected"), kept(FIGURE1, "t=100", f"theta={x}")), 0.5, 2)
        for x in ("0.5", "1", "2")
    ],
    "step-of-the-theorem": lambda: [Rule(_left(FIGURE1, "theta=1" + P), high=0.1)],
    "enough-comparisons": lambda: [
        Rule(_left(AMOUNTS, "8.6 per degree", at=SMALL), high=1e-6),
        Rule(_left(AMOUNTS, "9.3 per degree", at=LARGE), high=1e-6),
    ],
    "few-comparisons": lambda: [
        Rule(_left(AMOUNTS, "1 per degree", at=SMALL), low=0.01),
        Rule(_left(AMOUNTS, "1.5 per degree", at=LARGE), low=0.01),
    ],
    "error-grows-with-rank": lambda: [
        Rule(less(kept(FIGURE2, "error", "r=6" + P), kept(FIGURE2, "error", "r=2" + P)), low=0)
    ],
    "figure-shows-what-is-needed": lambda: [Rule(_shares(FIGURE2, "r=6", "m=50,000", "m=60,000"), high=0.5)],
    "efficient": lambda: [Rule(_shares("comparisons-starts", "spectral", "unit,m/dof=3", "gauss,m/dof=3"), low=0.5)],
}


if __name__ == "__main__":
    print(claims()[["name", "verdict", "hold", "fail", "open", "range"]].to_string(index=False))
