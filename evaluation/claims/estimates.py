"""Numbers of kept results with their intervals: of one row, of two rows compared, of a row over settings or steps.

symbol     meaning
m, s, n    mean over trials, standard deviation of one trial, number of trials
w          weight of a row: 1 and -1 in a difference, those of least squares in a slope

A quantity is a weighted sum of rows, or of their logarithms, whose spread is s / m. Rows of the same trials are taken
trial by trial, so that what the data have in common drops out; others, and times, are taken as independent. Intervals
are Student's, at 95 %, with Satterthwaite's degrees of freedom; those of places resample the trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import f as fisher
from scipy.stats import t as student

from cofactor.data.published import published
from evaluation import EXPERIMENTS
from evaluation.experiment import Experiment
from evaluation.trials import KEPT, raw_trials
from evaluation.verdicts import CONFIDENCE, PROPORTIONS, Sample, sample

Floats = npt.NDArray[np.float64]
Where = tuple[str, str, str]  # setting, method, metric
DIGITS = 12  # decimals that count: equal numbers, computed in two ways, differ less
SECONDS = "seconds"  # as a metric: wall time of a method's whole run, by the median, since the first run compiles
RUNS = 3  # a median of fewer holds the time of compiling
RESAMPLINGS = 1000


class Estimate(NamedTuple):
    """A number and its 95 % interval: NaN where a value is missing, without ends where nothing shows the scatter."""

    value: float
    low: float
    high: float


class Row(NamedTuple):
    """One row of results: its summary, its values by trial where these were kept, and what counts of these.

    That is their mean, unless `by_median`. With `of_shares` they are zeros and ones.
    """

    summary: Sample
    by_trial: pd.Series[float] | None = None
    by_median: bool = False
    of_shares: bool = False


class Term(NamedTuple):
    """A weight and what it multiplies."""

    weight: float
    summary: Sample


NOTHING = Sample(np.nan, np.nan, 0)


class Results:
    """The kept results of one experiment, by setting, method and metric.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Where its `.csv` and its `.npz` lie, if they were kept.
    """

    def __init__(self, experiment: Experiment, folder: Path = KEPT) -> None:
        self.experiment = experiment
        table, trials = (folder / f"{experiment.name}.{kind}" for kind in ("csv", "npz"))
        rows = pd.read_csv(table).to_dict("records") if table.exists() else []
        self.table = {(row["setting"], row["method"], row["metric"]): row for row in rows}
        self.trials = _by_row(raw_trials(experiment.name, folder)) if trials.exists() else {}
        facts = published(experiment.published)
        names = zip(facts["setting"], facts["method"], facts["metric"], strict=True)
        self.facts: dict[Where, float] = dict(zip(names, facts["value"], strict=True))
        self.metrics = {key[2] for key in (*self.trials, *self.table)}

    def knows(self, where: Where) -> bool:
        """Whether these are right names; a short run, or a method that failed, may have no value there all the same."""
        setting, method, metric = where
        if setting not in self.experiment.settings or not self.metrics:  # nothing was kept: no names to compare with
            return setting in self.experiment.settings
        return metric in self.metrics | {SECONDS} and method in methods_of(self.experiment.line)

    def settings(self) -> list[str]:
        """Names of the settings with results, in their declared order."""
        there = {key[0] for key in (*self.trials, *self.table)}
        return [name for name in self.experiment.settings if name in there]

    def row(self, where: Where, fixed: bool = False) -> Row:
        """Return the summary of a row, and its trials; `fixed`: one run says all."""
        setting, _, metric = where
        drawn = setting not in self.experiment.granularity and self.experiment.trials > 1
        needed = 1 if fixed else RUNS if metric == SECONDS else 2 if drawn else 1
        centre = "median" if metric == SECONDS else self.experiment.centre
        if where in self.trials:
            values = self.trials[where].dropna()
            summary = _known(sample(values.to_numpy(), metric, centre), needed)
            return Row(summary, None if metric == SECONDS else values, centre == "median", metric in PROPORTIONS)
        if where not in self.table:
            return Row(_known(self._time(where), needed))
        kept = self.table[where]
        return Row(_known(Sample(float(kept["ours"]), float(kept["spread"]), int(kept["trials"])), needed))

    def printed(self, where: Where) -> Row:
        """Return what the paper prints, without a scatter; NaN where it prints nothing."""
        setting, method, metric = where
        metric = self.experiment.printed_as.get(metric, metric) or metric  # "" if printed with a bias, of all alike
        name = method.split(" (")[0]
        found = self.facts.get((setting, name, metric), self.facts.get(("all", name, metric), np.nan))
        return Row(Sample(found, 0.0, self.experiment.trials))

    def _time(self, where: Where) -> Sample:
        """Median wall time by the table, which does not tell how single runs scatter; nothing of other metrics."""
        rows = [row for key, row in self.table.items() if key[:2] == where[:2]]
        if where[2] != SECONDS or not rows:
            return NOTHING
        return Sample(float(rows[0]["seconds"]), 0.0, max(int(row["trials"]) for row in rows))


def _by_row(found: pd.DataFrame) -> dict[Where, pd.Series[float]]:
    """Values by trial of every row, times among them; a refusal has no metric."""
    if SECONDS not in set(found["metric"]):
        times = found.drop_duplicates(["setting", "trial", "method"]).assign(metric=SECONDS)
        found = pd.concat([found[found["metric"] != ""], times.assign(value=times["seconds"])])
    rows = found.set_index("trial").groupby(["setting", "method", "metric"])["value"]
    return {(str(setting), str(method), str(metric)): values for (setting, method, metric), values in rows}


def _known(summary: Sample, needed: int) -> Sample:
    """Fewer runs than needed do not show how runs scatter; one that is enough does not scatter."""
    if 0 < summary.trials < needed:
        return summary._replace(deviation=np.inf)
    return summary._replace(deviation=0.0) if summary.trials == 1 else summary


@cache
def results(name: str) -> Results:
    """Read the kept results of an experiment once."""
    return Results(EXPERIMENTS[name])


@cache
def methods_of(line: str) -> set[str]:
    """Names of all methods in the kept results of a line."""
    tables = [results(name) for name, experiment in EXPERIMENTS.items() if experiment.line == line]
    return {key[1] for table in tables for key in (*table.trials, *table.table)}


# ---- what is added up ----


def difference(a: Row, b: Row) -> list[Term]:
    """A - B, trial by trial where both have the same ones."""
    pair = _paired(a, b)
    if pair and a.of_shares:
        return [Term(1, _change_of_share(pair[0] - pair[1]))]
    if pair and not a.by_median:
        return [Term(1, _mean_of(pair[0] - pair[1]))]
    return [Term(1, a.summary), Term(-1, b.summary)]


def log_ratio(a: Row, b: Row) -> list[Term]:
    """Log of A / B, of means over trials; where the median counts, the mean of the logarithms over trials."""
    pair = None if a.of_shares else _paired(a, b)
    if pair and a.by_median and (pd.concat(pair) > 0).all():
        return [Term(1, _mean_of((pair[0] / pair[1]).map(np.log)))]
    if pair and not a.by_median:
        p, q = pair[0].mean(), pair[1].mean()
        if p > 0 and q > 0:
            return [Term(1, _mean_of(pair[0] / p - pair[1] / q)._replace(centre=float(np.log(p / q))))]
    return [Term(1, logarithm(a.summary)), Term(-1, logarithm(b.summary))]


def slope(rows: Sequence[Row], x: Sequence[float]) -> list[Term]:
    """Exponent of a power law of independent rows: the least-squares line of log m against log x."""
    return _line(rows, np.log(x))


def log_rate(rows: Sequence[Row], t: Sequence[float]) -> list[Term]:
    """Log of the factor that a step leaves: the slope of log m against t, of each trial where these are kept."""
    trials = [row.by_trial for row in rows if row.by_trial is not None]
    if len(trials) < len(rows):
        return _line(rows, np.asarray(t, dtype=float))
    weights = _least_squares(np.asarray(t, dtype=float))
    logs = np.log(pd.concat(trials, axis=1).dropna().to_numpy())
    return [Term(1, _mean_of(pd.Series(logs @ weights)))]


def over_steps(rows: Sequence[Row]) -> Row:
    """The geometric mean of rows of the same trials, of each trial; a single row stays as it is."""
    trials = [row.by_trial for row in rows if row.by_trial is not None]
    if len(rows) == 1:
        return rows[0]
    if len(trials) < len(rows):
        return Row(NOTHING)
    values = np.exp(np.log(pd.concat(trials, axis=1).dropna()).mean(axis=1))
    by_median = rows[0].by_median
    return Row(sample(values.to_numpy(), "", "median" if by_median else "mean"), values, by_median)


def share(row: Row, limit: float) -> list[Term]:
    """The share of trials whose value is `limit` or more."""
    values = np.array([]) if row.by_trial is None else (row.by_trial >= limit).to_numpy()
    return [Term(1, sample(values, *PROPORTIONS, "mean"))]


def logarithm(summary: Sample) -> Sample:
    """The logarithm of a mean; missing where that is not positive."""
    centre, deviation = summary.centre, summary.deviation
    if not centre > 0:
        return NOTHING
    return summary._replace(centre=float(np.log(centre)), deviation=deviation / centre)


def _line(rows: Sequence[Row], x: Floats) -> list[Term]:
    return [Term(w, logarithm(row.summary)) for w, row in zip(_least_squares(x), rows, strict=True)]


def _least_squares(x: Floats) -> Floats:
    """Weights with which values at x add up to their slope."""
    return (x - x.mean()) / ((x - x.mean()) ** 2).sum()


def _paired(a: Row, b: Row) -> tuple[pd.Series[float], pd.Series[float]] | None:
    """The trials that both rows have, if these are several."""
    if a.by_trial is None or b.by_trial is None:
        return None
    both = a.by_trial.index.intersection(b.by_trial.index)
    return (a.by_trial[both], b.by_trial[both]) if len(both) > 1 else None


def _mean_of(values: pd.Series[float]) -> Sample:
    return Sample(float(values.mean()), float(values.std()), len(values))


def _change_of_share(values: pd.Series[float]) -> Sample:
    """The mean of differences of zeros and ones; its scatter by Agresti and Min, so that equal trials have one, too.

    They add two trials, a half of each of the four kinds: both succeed, one, the other, none.
    """
    more = len(values) + 2
    variance = ((values**2).sum() + 1) / more - (values.sum() / more) ** 2
    return Sample(float(values.mean()), float(np.sqrt(variance * len(values) / more)), len(values))


# ---- intervals ----


def combined(terms: Iterable[Term]) -> Estimate:
    """A weighted sum of independent means, with its interval."""
    terms = list(terms)
    centre = sum(w * s.centre for w, s in terms)
    if np.isnan(centre):
        return Estimate(np.nan, np.nan, np.nan)
    squares = np.array([(w * s.error) ** 2 for w, s in terms])
    if not np.isfinite(squares).all():
        return Estimate(centre, -np.inf, np.inf)
    total = squares.sum()
    spread = sum(square**2 / max(s.trials - 1, 1) for square, (_, s) in zip(squares, terms, strict=True))
    half = student.ppf((1 + CONFIDENCE) / 2, total**2 / spread) * np.sqrt(total) if total else 0.0
    return Estimate(*(float(np.round(end, DIGITS)) + 0.0 for end in (centre, centre - half, centre + half)))


def exponential(estimate: Estimate) -> Estimate:
    """Back from logarithms."""
    with np.errstate(over="ignore"):  # an interval without an end, nearly
        return Estimate(*(float(np.exp(end)) for end in estimate))


def spread(a: Row, b: Row) -> Estimate:
    """Standard deviation of a trial of A over that of B, of independent trials."""
    one, other = a.summary, b.summary
    if min(one.trials, other.trials) < 2 or not other.deviation > 0:
        return Estimate(np.nan, np.nan, np.nan)
    found = one.deviation / other.deviation
    ends = fisher.ppf([(1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2], one.trials - 1, other.trials - 1)
    return Estimate(found, *(float(found / np.sqrt(end)) for end in ends))


def rank(own: Sequence[Row], others: Sequence[Row], more_is_better: bool) -> Estimate:
    """Place of the best of `own` among all: by means over the trials that all have, which its interval resamples.

    Rows without a value are left out; those that do not scatter are constants.
    """
    rows = [row for row in (*own, *others) if not np.isnan(row.summary.centre)]
    mine = len([row for row in own if not np.isnan(row.summary.centre)])
    if not mine:
        return exact(np.nan)
    drawn = {i: row.by_trial for i, row in enumerate(rows) if row.by_trial is not None and row.summary.deviation > 0}
    shared = pd.DataFrame(drawn).dropna()
    choices = np.random.default_rng(0).integers(max(len(shared), 1), size=(RESAMPLINGS, len(shared)))
    centres = np.tile([row.summary.centre for row in rows], (1 + RESAMPLINGS, 1))
    if len(shared):
        centres[0, list(drawn)] = shared.mean()
        centres[1:, list(drawn)] = shared.to_numpy()[choices].mean(axis=1)
    centres = np.round(centres * (-1 if more_is_better else 1), DIGITS)
    places = 1.0 + (centres[:, mine:] < centres[:, :mine].min(axis=1, keepdims=True)).sum(axis=1)
    if (drawn and len(shared) < 2) or not np.isfinite([row.summary.deviation for row in rows]).all():
        return Estimate(float(places[0]), -np.inf, np.inf)
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(places[1:], tails, method="nearest")
    return Estimate(float(places[0]), float(low), float(high))


def exact(value: float) -> Estimate:
    """A number that has no interval."""
    return Estimate(value, value, value)
