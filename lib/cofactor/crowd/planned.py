"""A plan: how the error falls with the amount of data, simulated, and how much a wanted error takes."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import LEVEL, in_parallel, quantiles
from cofactor.core.checks import is_number, unmasked
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.lazy import joblib, optimize, pd
from cofactor.core.types import Floats

Truth = TypeVar("Truth")


@dataclass(frozen=True, repr=False)
class Plan:
    """Simulated errors for growing amounts of data. Prints as text, shows as a table in a notebook.

    Attributes
    ----------
    unit : str
        What is counted: "labels per task", "rows".
    measure : str
        What the error is: "share of tasks labelled wrongly".
    amounts : (D,) rising array
        Amounts of data that were tried.
    errors : dict from a method's name to a (trials, D) array
        NaN where a method refused.
    wanted : float
        The error asked for.
    present : float
        How much there is now.
    notes : tuple of str
        What the simulation rests on, and what it does not know.
    only_range : bool
        The simulations differ in what is not known, so that answers in words are ranges without a middle.
    """

    unit: str
    measure: str
    amounts: Floats
    errors: Mapping[str, Floats]
    wanted: float
    present: float
    notes: tuple[str, ...] = ()
    only_range: bool = False

    def curve(self, level: float = LEVEL) -> pd.DataFrame:
        """Return method, amount, error (median over trials), low and high."""
        parts = []
        for name, values in self.errors.items():
            (low, high), (error, _) = quantiles(values, level), quantiles(values, 1e-9)
            columns = {"method": name, "amount": self.amounts, "error": error, "low": low, "high": high}
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def needed(self, wanted: float | None = None, level: float = LEVEL) -> pd.DataFrame:
        """Return, for every method, the amount at which the error falls to `wanted`: method, amount, low, high.

        Every trial's errors are made to fall (isotonic regression) and interpolated, the amount on a logarithmic scale;
        the table holds the median and the central interval of the trials. Infinite: not within the amounts tried.
        """
        wanted = self.wanted if wanted is None else checked_error(wanted)
        rows = []
        for name, values in self.errors.items():
            found = np.array([amount_for(wanted, self.amounts, trial) for trial in values])
            low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
            rows.append({"method": name, "amount": np.median(found), "low": low, "high": high})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        lines = [f"{self.measure} of at most {self.wanted:g}: {self.unit} needed (now: {self.present:g})"]
        width = max(map(len, self.errors))
        lines += [f"  {name:<{width}}  {words}" for name, words in self.answers().items()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def answers(self) -> dict[str, str]:
        """Return the amount that each method needs, in words: "8 (90% of the simulations: 6 to 11)"."""
        return {name: self._words(*words) for name, *words in self.in_words()}

    def in_words(self) -> list[tuple[str, str, str, str]]:
        """Return for every method its name, the amount that it needs, the least and the most, in words."""
        words = self.needed()[["amount", "low", "high"]].map(self.amount_in_words)
        return list(zip(self.errors, words["amount"], words["low"], words["high"], strict=True))

    def _words(self, text: str, least: str, most: str) -> str:
        if least == most:
            return text
        if self.only_range:
            return f"{least} to {most}"
        return f"{text} ({LEVEL:.0%} of the simulations: {least} to {most})"

    def amount_in_words(self, amount: float) -> str:
        """Round an amount up, and say so where it lies outside what was tried."""
        if np.isinf(amount):
            return f"more than {self.amounts[-1]:g}"
        if amount <= self.amounts[0]:
            return f"at most {self.amounts[0]:g}"
        return f"{np.ceil(amount - 1e-9):.0f}"

    def _repr_html_(self) -> str:
        left = 'style="text-align:left"'
        rows = "".join(
            f"<tr><td {left}>{html.escape(name)}</td>"
            f"<td>{'' if self.only_range else middle}</td><td>{low} to {high}</td></tr>"
            for name, middle, low, high in self.in_words()
        )
        caption = html.escape(f"{self.measure} of at most {self.wanted:g} (now: {self.present:g} {self.unit})")
        head = f"<tr><th {left}>method</th><th>{html.escape(self.unit)}</th><th>{LEVEL:.0%} of simulations</th></tr>"
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table><caption {left}>{caption}</caption>{head}{rows}</table>{notes}"


def simulated(
    trial: Callable[[Truth, np.random.Generator], Floats],
    truths: Sequence[Truth],
    rng: np.random.Generator,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Floats:
    """Return what `trial(truth, rng)` finds for every truth, stacked; the same at any number of jobs.

    `trial` must survive pickling where `n_jobs` is not one.
    """
    pairs = zip(truths, rng.spawn(len(truths)), strict=True)
    jobs = (joblib.delayed(trial)(truth, child) for truth, child in pairs)
    return np.array(list(in_parallel(jobs, len(truths), "plan", n_jobs, verbose)))


def error_or_nan(job: Callable[[], float]) -> float:
    """Return the error of one fit; NaN where the method refuses the data. Its warnings are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            return job()
        except CofactorError:
            return float("nan")


def amount_for(wanted: float, amounts: Floats, errors: Floats) -> float:
    """Return the amount at which a falling curve through (amounts, errors) reaches `wanted`; infinite if never.

    >>> round(amount_for(0.15, np.array([1.0, 2.0, 4.0]), np.array([0.4, 0.2, 0.1])), 3)
    2.828
    """
    known = np.isfinite(errors)
    if not known.any():
        return float("inf")
    falling = optimize.isotonic_regression(errors[known], increasing=False).x
    if falling[-1] > wanted:
        return float("inf")
    first = int(np.argmax(falling <= wanted))
    if first == 0:
        return float(amounts[known][0])
    above, below = falling[first - 1], falling[first]
    left, right = np.log(amounts[known][first - 1 : first + 1])
    return float(np.exp(left + (above - wanted) / (above - below) * (right - left)))


def checked_error(wanted: float) -> float:
    """Refuse an error that is no number between 0 and 1."""
    if not is_number(wanted) or not 0 < wanted < 1:
        raise CofactorError(f"wanted_error={wanted!r}: ask for an error between 0 and 1")
    return wanted


def checked_amounts(amounts: ArrayLike, most: float = np.inf) -> Floats:
    """Sort whole amounts of at least one, each once, those above `most` left out."""
    array = unmasked(amounts)
    whole = array.ndim == 1 and array.size and array.dtype.kind in "iuf" and np.isfinite(array).all()
    wished = np.unique(array.astype(np.float64)) if whole else np.zeros(1)
    if (wished % 1 != 0).any() or wished[0] < 1:
        raise CofactorError(f"amounts={amounts!r}: ask for whole numbers of at least 1")
    kept = wished[wished <= most]
    if not kept.size:
        raise CofactorError(f"amounts={amounts!r}: none of them is possible, the most is {most:g}")
    return kept


def check_names(methods: Any, known: Iterable[str]) -> tuple[str, ...]:
    """Refuse names of no method."""
    known = tuple(known)
    names = tuple(methods) if isinstance(methods, Iterable) and not isinstance(methods, str) else ()
    if not names or not all(isinstance(name, str) and name in known for name in names):
        raise CofactorError(f"methods={methods!r}: choose one or more of {', '.join(known)}")
    return names
