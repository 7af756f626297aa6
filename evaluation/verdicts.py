"""Is a printed number reproduced? An interval for the difference of two means, and what it allows to say.

symbol   meaning
s, n     standard deviation of a trial and number of trials, ours; s_p, n_p those of the paper
e        what two exact runs may differ by: half a unit of the last printed digit, and on one fixed data set one task
t        tolerance: a tenth of the printed number; 5 points of an accuracy or rank correlation, 10 of a share of trials

The difference of the means, ours - printed, has the standard error sqrt(s^2/n + s_p^2/n_p). Where no spread is printed,
s_p = s: the paper's trials are taken to scatter as ours, but by no more than the printed mean, as values that cannot be
negative rarely do. The interval is Student's (with Welch's degrees of freedom where both spreads are known), at 95 %,
longer by e at both ends. A number that is printed cut off stands for all from it to one unit of its last digit more.

The verdict is one of equivalence: *same* where the whole interval lies within t, or within 2e if that is more;
*differs* where all of it lies beyond, on one side; else *open*.

Where the paper's own draws are published, and a fast method was run on all of them, it is a control variate of the slow
ones: see `controlled`. The printed number is of these very draws, so that of it only e is left. Of N draws that there
are at all, n tell the mean with the error s sqrt(1/n - 1/N): none where all were run.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

Verdict = Literal["same", "differs", "open", "not comparable", "no value", ""]
VERDICTS: tuple[Verdict, ...] = ("same", "differs", "open", "not comparable", "no value")
CONFIDENCE = 0.95
NARROW = 0.1  # of the printed number
NARROW_SHARE = 0.05  # of metrics between 0 and 1, of which more is better
NARROW_PROPORTION = 0.1  # of shares of trials: of 50, with nearly all, chance alone leaves 0.07
SHARES = ("accuracy", "success", "src")
MORE = (*SHARES, "rae", "coherence")  # metrics of which more is better
OF_DATA = ("mu", "kappa", "missing", "rows", "variables", "classes", "nodes", "communities")  # neither is better
PROPORTIONS = ("success",)  # metrics that are zero or one in a trial
NORMAL = 1.96
MEDIAN = 1.2533  # standard error of a median, in those of a mean
QUARTILE = 0.6745  # half of the interquartile range, in standard deviations
ROUNDING = 1e-12  # of a value: a spread below that is zero
KEY = ["printed in", "setting", "method", "metric"]  # of a printed cell


class Sample(NamedTuple):
    """What trials gave: their centre, the standard deviation of single trials, and their number.

    `own_spread` is False where the paper prints no spread and ours is used in its place. `draws` is how many there are
    at all, where the trials are some of the paper's own. `telling` is False where those that were run say nothing of
    the others.
    """

    centre: float
    deviation: float
    trials: int
    own_spread: bool = True
    draws: float = np.inf
    telling: bool = True

    @property
    def error(self) -> float:
        """Standard error of the centre."""
        return self.deviation * np.sqrt(1 / self.trials - 1 / self.draws) if self.trials else np.nan

    @property
    def of_the_papers_draws(self) -> bool:
        """Whether the trials are some of the paper's own, so that the printed number is of the same data."""
        return bool(np.isfinite(self.draws))


def sample(values: np.ndarray, metric: str, centre: str) -> Sample:
    """Summarise trials by their mean, or their median where the paper takes it; none of them is missing."""
    n = len(values)
    if not n:
        return Sample(np.nan, np.nan, 0)
    if metric in PROPORTIONS:
        return proportion(float(np.mean(values)), n)
    if centre == "median":
        low, middle, high = np.percentile(values, [25, 50, 75])
        return Sample(float(middle), float(MEDIAN * (high - low) / 2 / QUARTILE), n)
    return Sample(float(np.mean(values)), float(np.std(values, ddof=1)) if n > 1 else 0.0, n)


def proportion(share: float, trials: int) -> Sample:
    """A share of trials, its scatter by Agresti and Coull: that of four trials more, two of them successes."""
    p = (share * trials + NORMAL**2 / 2) / (trials + NORMAL**2)
    return Sample(share, float(np.sqrt(p * (1 - p) * trials / (trials + NORMAL**2))), trials)


def controlled(
    slow: pd.Series[float], fast: pd.Series[float], follows: bool = True, moves: float = 0.0, own: bool = False
) -> Sample:
    """Estimate the mean of a slow method over all of the paper's draws from those on which it was run.

    A method that follows the fast one, draw by draw, has the mean of the fast one over all draws, plus the mean
    difference of the two on the draws that both have. Only this difference scatters: what makes a draw easy or hard for
    both drops out. Of a method that does not follow, its own values count. Nothing where no draw is shared.

    The draws that were run say nothing of the others where the mean of the fast method over all draws lies outside its
    values on those; and where a method that follows is equal on more than half of them, since then a few draws make the
    whole difference and may not be among them.

    Parameters
    ----------
    slow, fast : Series of numbers by draw
    follows : bool
    moves : float
        Standard deviation by which the fast method moves on one draw with other random numbers. Four of it are no
        difference.
    own : bool
        The fast values are the method's own.
    """
    both = pd.DataFrame({"slow": slow, "fast": fast}).dropna()
    if both.empty:
        return Sample(np.nan, np.nan, 0)
    difference = both["slow"] - both["fast"]
    equal = difference.abs() <= np.maximum(4 * moves, ROUNDING * both["fast"].abs())
    inside = both["fast"].min() <= fast.mean() <= both["fast"].max()
    telling = own or len(both) == len(fast) or bool(inside and not (follows and equal.mean() > 0.5))
    centre = fast.mean() + difference.mean() if follows and telling else both["slow"].mean()
    scatter = (difference if follows and telling else both["slow"]).std(ddof=1) if len(both) > 1 else 0.0
    return Sample(float(centre), float(scatter), len(both), draws=len(fast), telling=telling)


def interval(ours: Sample, printed: Sample, exact: float, fixed: bool) -> tuple[float, float]:
    """Bound the difference ours - printed; without end where some of many draws do not show how they scatter.

    `exact` is e of the module. `fixed` says that nothing is drawn but by the method, so that equal trials are equal.
    """
    error = float(np.hypot(ours.error, printed.error))
    certain = error <= ROUNDING * abs(ours.centre)
    some = ours.trials < printed.trials and not ours.of_the_papers_draws
    if not fixed and (ours.trials < 2 or not ours.telling or (certain and some)):
        return -np.inf, np.inf
    half = exact + (0.0 if certain else float(student.ppf((1 + CONFIDENCE) / 2, _freedom(ours, printed))) * error)
    difference = ours.centre - printed.centre
    return difference - half, difference + half


def _freedom(ours: Sample, printed: Sample) -> float:
    """Degrees of freedom: Welch's of two scatters, or those of ours, if that stands for the paper's."""
    if not printed.own_spread or printed.trials < 2 or ours.trials < 2:
        return max(ours.trials - 1, 1)
    squares = ours.error**2, printed.error**2
    return sum(squares) ** 2 / (squares[0] ** 2 / (ours.trials - 1) + squares[1] ** 2 / (printed.trials - 1))


def verdict(metric: str, unit: str, printed: float, low: float, high: float, exact: float) -> tuple[Verdict, str]:
    """Say what an interval allows, and whether what differs is better or worse; times are not judged."""
    if np.isnan(printed) or (unit == "s" and not np.isnan(low)):
        return "", ""
    if np.isnan(low):
        return "no value", ""
    reach = max(tolerance(metric, unit, printed), 2 * exact)
    if -reach <= low and high <= reach:
        return "same", ""
    if low <= reach and high >= -reach:
        return "open", ""
    return "differs", "" if metric in OF_DATA else "better" if (low > 0) == (metric in MORE) else "worse"


def tolerance(metric: str, unit: str, printed: float) -> float:
    """How far ours may be from a printed number and still be the same."""
    if metric in PROPORTIONS:
        return NARROW_PROPORTION
    return NARROW_SHARE * (100 if unit == "%" else 1) if metric in SHARES else NARROW * abs(printed)


# ---- counting printed cells ----


def distinct(tables: dict[str, pd.DataFrame], printed: dict[str, str], preferred: str) -> pd.DataFrame:
    """Choose one row for every printed cell: that of the paper's own protocol where there is one, else its name's.

    Parameters
    ----------
    tables : dict of str to DataFrame
        Summaries, by experiment. Of rows of one kind that show a cell, the one with most trials counts, of equals the
        first.
    printed : dict of str to str
        The published table that each is beside.
    preferred : str
        Ends the names of rows that follow the paper's protocol.
    """
    each = [table.assign(**{"table": name, "printed in": printed[name]}) for name, table in tables.items()]
    rows = pd.concat(each, ignore_index=True)
    rows = rows[rows["published"].notna() & (rows["verdict"] != "")]
    base = rows["method"].str.removesuffix(preferred)
    own = ~base.str.contains(" (", regex=False)  # further variants stand beside
    rows = rows.assign(by_protocol=rows["method"] != base, method=base)[own]
    best = rows.sort_values(["by_protocol", "trials"], ascending=False, kind="stable")
    return best.drop_duplicates(KEY).sort_index()
