"""Plans: how the error falls with the amount of data, by simulation, and how much data a target error needs.

Crowds are simulated from the user's own: workers from their posterior, tasks with adjustable difficulty.

Confusion matrices are drawn from their posterior under a prior fitted to the whole crowd. Every task may have a pull
towards some classes, the same for all its workers, which the Dawid-Skene model does not have. Pairs of labels agree as
often as in the data, whatever the pull: the stronger it is, the more of them agree on wrong classes.

    symbol   meaning                                                              shape
    n_m      soft counts of worker m: label by class                              (K, K)
    a, s     pooled confusion matrix, and how close the workers are to it         (K, K), (K,)
    A_m      confusion matrix, columns from Dirichlet(n_m[:, c] + s_c a[:, c])    (K, K)
    z        pull of a task on each label, standard normal                        (K,)
    tau      strength of the pull; zero: all tasks are equally hard               difficulty
    b        consistency of the workers                                           clarity

    Pr(worker m says i | class c, pull z)  proportional to  (A_m[i, c] exp(tau z_i))^b

Source: the model of pulls is the Rasch family's, see Whitehill et al., "Whose vote should count more", NIPS 2009.
"""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import LEVEL, in_parallel, quantiles
from cofactor.core.checks import is_number, rng_of, unmasked
from cofactor.core.em import expectation
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.estimator import clone
from cofactor.core.lazy import joblib, optimize, pd, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import error_rate

# ---- crowds to simulate ----


LOG_STRENGTH_RANGE = (-2.0, 8.0)  # range of log s
DIFFICULTIES = np.concatenate([[0.0], np.geomspace(0.3, 30.0, 17)])  # tau tried
CLARITY_RANGE = (0.02, 20.0)  # range of b
LOG_STEP = 0.3  # of log b, in the search
LEAST_LOGGED_PROBABILITY = 1e-3  # below it, logarithms are those of this
MIN_SIMULATED_TASKS = 2000  # for each difficulty: the crowd as it is, several times over
MIN_REPEATS, MOST_REPEATS = 2, 100


@dataclass(frozen=True)
class Population:
    """The distribution that simulated crowds are drawn from; see the symbols at the top of this module.

    Attributes
    ----------
    prior : (K,) array
    weights : (M, K, K) array
        Parameters of the Dirichlet distributions of the columns of A_m.
    activity : (M,) array
        Number of labels that each worker gave.
    difficulty, clarity : float
        tau and b.
    """

    prior: Floats
    weights: Floats
    activity: Floats
    difficulty: float = 0.0
    clarity: float = 1.0

    def annotators(self, rng: np.random.Generator) -> Floats:
        """Draw (M, K, K) confusion matrices."""
        draws = rng.gamma(np.maximum(self.weights, LEAST_LOGGED_PROBABILITY))
        return np.asarray(draws / draws.sum(axis=1, keepdims=True))

    def workers(self, n_tasks: int, d: int, rng: np.random.Generator) -> Ints:
        """Draw d different workers for each task, with probabilities proportional to activity: (n_tasks, d)."""
        with np.errstate(divide="ignore"):
            order = np.log(self.activity) + rng.gumbel(size=(n_tasks, len(self.activity)))
        return np.argsort(-order, axis=1)[:, :d]

    def label(self, A: Floats, task: Ints, worker: Ints, n_tasks: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw the (n_tasks,) true classes, and the label of each entry (task, worker)."""
        K = len(self.prior)
        truth = rng.choice(K, size=n_tasks, p=self.prior)
        pull = self.difficulty * rng.standard_normal((n_tasks, K))
        logits = self.clarity * (np.log(np.maximum(A, LEAST_LOGGED_PROBABILITY))[worker, :, truth[task]] + pull[task])
        return truth, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


Level = tuple[Population, float]  # and the error of a method on it


def population_of(labels: CrowdLabels, method: Aggregator) -> Population:
    """Return the population estimated by a fitted method, with all tasks equally hard."""
    model, table = method.model_, seen(labels)
    counts = expectation(table, model).cells.reshape(labels.n_workers, labels.n_classes, -1)
    weights = np.stack([_posterior(counts[:, :, c]) for c in range(labels.n_classes)], axis=2)
    return Population(model.prior, weights, table.entries_per_variable.astype(np.float64))


def _posterior(counts: Floats) -> Floats:
    """Add to one class's (M, K) counts the prior that fits them best, s times their pooled shares."""
    pooled = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])

    def misfit(log_s: float) -> float:
        """Minus the Dirichlet-multinomial log-likelihood."""
        s, n = np.exp(log_s), counts.sum(axis=1)
        cells = special.gammaln(s * pooled + counts) - special.gammaln(s * pooled)
        return -float((special.gammaln(s) - special.gammaln(s + n) + cells.sum(axis=1)).sum())

    s = np.exp(optimize.minimize_scalar(misfit, bounds=LOG_STRENGTH_RANGE, method="bounded").x)
    return counts + s * pooled


def agreement(task: Ints, label: Ints, n_tasks: int, n_classes: int) -> float:
    """Return the fraction of pairs of labels of one task that agree, averaged over tasks."""
    votes = np.zeros((n_tasks, n_classes))
    np.add.at(votes, (task, label), 1)
    n = votes.sum(axis=1)
    agreeing = (votes * (votes - 1)).sum(axis=1)[n > 1] / (n * (n - 1))[n > 1]
    return float(agreeing.mean()) if agreeing.size else float("nan")


def with_difficulty(
    population: Population, table: CategoricalTable, tau: float, seed: int, near: float = 1.0
) -> Population:
    """Return the population at difficulty tau, with the clarity at which pairs of labels agree as often as observed.

    The search starts at clarity `near`. If no clarity achieves this, the closest one is used.
    """
    K = len(population.prior)
    observed = agreement(table.rows, table.values, table.n_rows, K)

    @cache
    def excess(log_b: float) -> float:
        changed = replace(population, difficulty=tau, clarity=float(np.exp(log_b)))
        # the same draws for every clarity: a smooth function
        found = [_relabelled(changed, table, rng)[1] for rng in _repeats(table, seed)]
        return float(np.mean([agreement(table.rows, x, table.n_rows, K) for x in found])) - observed

    return replace(population, difficulty=tau, clarity=float(np.exp(_root(excess, float(np.log(near))))))


def _root(rising: Callable[[float], float], near: float) -> float:
    """Root of a rising function, or the place of its smallest size where it has none within CLARITY_RANGE."""
    least, most = np.log(CLARITY_RANGE)
    low = high = near
    while rising(low) > 0 and low > least:
        low = max(low - LOG_STEP, least)
    while rising(high) < 0 and high < most:
        high = min(high + LOG_STEP, most)
    if rising(low) < 0 < rising(high):
        return float(optimize.brentq(rising, low, high, xtol=1e-2))
    return float(min(np.arange(low, high + LOG_STEP, LOG_STEP), key=lambda x: abs(rising(float(x)))))


def _repeats(table: CategoricalTable, seed: int) -> list[np.random.Generator]:
    return rng_of(seed).spawn(min(max(MIN_REPEATS, -(-MIN_SIMULATED_TASKS // table.n_rows)), MOST_REPEATS))


def _relabelled(population: Population, table: CategoricalTable, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """True classes, and labels of the same workers on the same tasks."""
    A = population.annotators(rng)
    return population.label(A, table.rows, table.variables, table.n_rows, rng)


def harder(population: Population, labels: CrowdLabels, method: Aggregator, seed: int) -> Iterator[Level]:
    """Yield populations of increasing difficulty, with the error of the method on the same workers and tasks."""
    table = seen(labels)
    for tau in DIFFICULTIES:
        population = with_difficulty(population, table, float(tau), seed, population.clarity)
        yield population, _mean_error(population, table, labels, method, seed)


def seen(labels: CrowdLabels) -> CategoricalTable:
    """Return the table of the tasks with at least one label."""
    return labels.table.take_rows(labels.table.entries_per_row > 0)


def _mean_error(
    level: Population, table: CategoricalTable, labels: CrowdLabels, method: Aggregator, seed: int
) -> float:
    errors = []
    for child in _repeats(table, seed):
        truth, label = _relabelled(level, table, child)
        sizes = (labels.n_classes, table.n_rows, labels.n_workers)
        again = CrowdLabels.from_arrays(table.rows, table.variables, label, *sizes, unlabelled="keep")
        with warnings.catch_warnings():  # of simulated labels, not of the user's
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)
            errors.append(error_rate(clone(method).fit(again).predict_proba(again), truth))
    return float(np.mean(errors))


# ---- the plan ----


Truth = TypeVar("Truth")


@dataclass(frozen=True, repr=False)
class Plan:
    """Simulated errors for increasing amounts of data. Printed as text; shown as a table in a notebook.

    Attributes
    ----------
    unit : str
        What is counted, such as "labels per task" or "rows".
    measure : str
        What the error measures, such as "fraction of tasks labelled wrongly".
    amounts : (D,) sorted array
        Amounts of data that were tried.
    errors : dict from a method's name to a (trials, D) array
        NaN where a method failed.
    wanted : float
        The target error.
    present : float
        The present amount of data.
    notes : tuple of str
        Assumptions and limits of the simulation.
    only_range : bool
        Whether the simulations differ in what is unknown, so that answers in words are ranges without a median.
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
        """Return a table with columns method, amount, error (median over trials), low and high."""
        parts = []
        for name, values in self.errors.items():
            (low, high), (error, _) = quantiles(values, level), quantiles(values, 1e-9)
            columns = {"method": name, "amount": self.amounts, "error": error, "low": low, "high": high}
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def needed(self, wanted: float | None = None, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the amount at which each method's error falls to `wanted`: method, amount, low, high.

        The errors of every trial are made monotone (isotonic regression) and interpolated on a logarithmic scale of
        amounts; the table contains the median and the central interval over trials. Infinite if no amount tried
        suffices.
        """
        wanted = self.wanted if wanted is None else checked_error(wanted)
        rows = []
        for name, values in self.errors.items():
            found = np.array([amount_for(wanted, self.amounts, trial) for trial in values])
            low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
            rows.append({"method": name, "amount": np.median(found), "low": low, "high": high})
        return pd.DataFrame(rows)

    @property
    def summary(self) -> list[str]:
        """The amount that each method needs, one line per method."""
        lines = [f"{self.measure} of at most {self.wanted:g}: {self.unit} needed (now: {self.present:g})"]
        width = max(map(len, self.errors))
        return lines + [f"  {name:<{width}}  {words}" for name, words in self.answers().items()]

    def __str__(self) -> str:
        return "\n".join([*self.summary, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def answers(self) -> dict[str, str]:
        """Return the amount that each method needs, in words: "8 (90% of the simulations: 6 to 11)"."""
        found = {}
        for name, text, least, most in self.in_words():
            if least != most:
                between = f"{least} to {most}"
                text = between if self.only_range else f"{text} ({LEVEL:.0%} of the simulations: {between})"
            found[name] = text
        return found

    def in_words(self) -> list[tuple[str, str, str, str]]:
        """Return for every method its name, the amount that it needs, and its lower and upper end, in words."""
        words = self.needed()[["amount", "low", "high"]].map(self.amount_in_words)
        return list(zip(self.errors, words["amount"], words["low"], words["high"], strict=True))

    def amount_in_words(self, amount: float) -> str:
        """Return an amount, rounded up, as text; "more than" or "at most" if it is outside the range tried."""
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
    """Return the stacked results of `trial(truth, rng)` for every truth, independent of the number of jobs.

    `trial` must be picklable unless `n_jobs` is one.
    """
    pairs = zip(truths, rng.spawn(len(truths)), strict=True)
    jobs = (joblib.delayed(trial)(truth, child) for truth, child in pairs)
    return np.array(list(in_parallel(jobs, len(truths), "plan", n_jobs, verbose)))


def error_or_nan(job: Callable[[], float]) -> float:
    """Return the error of one fit, or NaN if the method fails on the data. Its warnings are suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            return job()
        except CofactorError:
            return float("nan")


def amount_for(wanted: float, amounts: Floats, errors: Floats) -> float:
    """Return the amount at which a decreasing curve through (amounts, errors) reaches `wanted`; infinite if never.

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
    """Return the target error; raise a CofactorError unless it is a number between 0 and 1."""
    if not is_number(wanted) or not 0 < wanted < 1:
        raise CofactorError(f"wanted_error={wanted!r}: must be between 0 and 1")
    return wanted


def checked_amounts(amounts: ArrayLike, most: float = np.inf) -> Floats:
    """Return the distinct positive integers among the amounts, sorted, without those above `most`."""
    array = unmasked(amounts)
    whole = array.ndim == 1 and array.size and array.dtype.kind in "iuf" and np.isfinite(array).all()
    wished = np.unique(array.astype(np.float64)) if whole else np.zeros(1)
    if (wished % 1 != 0).any() or wished[0] < 1:
        raise CofactorError(f"amounts={amounts!r}: must be whole numbers of at least 1")
    kept = wished[wished <= most]
    if not kept.size:
        raise CofactorError(f"amounts={amounts!r}: all exceed the largest possible amount, {most:g}")
    return kept


def check_names(methods: Any, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names of methods as a tuple; raise a CofactorError for unknown names or none."""
    known = tuple(known)
    names = tuple(methods) if isinstance(methods, Iterable) and not isinstance(methods, str) else ()
    if not names or not all(isinstance(name, str) and name in known for name in names):
        raise CofactorError(f"methods={methods!r}: choose one or more of {', '.join(known)}")
    return names
