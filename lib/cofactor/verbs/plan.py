"""``plan``: how many labels per task a given error requires, in crowds simulated from the user's own.

Every trial draws workers from their posterior, lets them label new tasks, and aggregates the labels; see
`cofactor.crowd.plan_next` for the crowd. The difficulty of tasks cannot be inferred from labels alone: if all workers
make the same mistakes, they all agree. If the truth of some tasks is known, the difficulty is such that the method errs
as often as on these. Otherwise, every trial draws a difficulty from those of public crowds, and the answer is a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import LEVEL, check_runs
from cofactor.core.checks import check_whole, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import optimize, special
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.base import Aggregator, fitted_on
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.plan_next import (
    Level,
    Plan,
    Population,
    check_names,
    checked_amounts,
    checked_error,
    error_or_nan,
    harder,
    population_of,
    seen,
    simulated,
)
from cofactor.crowd.scores import error_rate, right_shares
from cofactor.registry import Methods, names
from cofactor.verbs.aggregate import read_crowd
from cofactor.verbs.result import noting

METHODS = Methods("crowd")

MAX_LABELS = 15
AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # of more
ERROR_GAP = 0.02  # a note is added where simulated crowds err less than the real one by more than this
MIN_TRUTHS = 20  # known truths below this say too little about difficulty
MEDIAN_DIFFICULTY, LOG_DIFFICULTY_SD = 1.0, 0.4  # of 17 public crowds: median, standard deviation of the logarithm


def plan(
    source: Any,
    wanted_error: float = 0.05,
    methods: Sequence[str] = ("MajorityVote", "WorkerTypes"),
    amounts: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    n_tasks: int | None = None,
    n_trials: int = 30,
    method: Aggregator | None = None,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how the error falls with the number of labels per task, for a crowd like this one.

    Parameters
    ----------
    source : any that `aggregate` takes
        At least two labels per task; few tasks are enough.
    wanted_error : float in (0, 1)
        The fraction of tasks labelled wrongly to reach.
    methods : names in `METHODS`
        Aggregators to plan for.
    amounts : whole numbers, optional
        Numbers of labels per task to try, at most the number of workers. Default: 1 to 15, or some from 1 to the
        present number if that is larger.
    truth : (n_tasks,) class codes, -1 where unknown, optional
        Default: the truth of a data set that has one. At least twenty known classes show how difficult tasks are.
        Without them, tasks may be as difficult as in any public crowd, and the answer is a wide range.
    n_tasks : int, optional
        Number of tasks in a simulated crowd. Default: as many as have a label now.
    n_trials : int
    method : Aggregator, optional
        The method whose model of the crowd is simulated, fitted to the labels or not yet fitted. Default: WorkerTypes.
    random_state : int, Generator or None
    n_jobs, verbose
        As in `bootstrap`; the result is the same for any number of jobs.

    Returns
    -------
    Plan
        `needed` has the number of labels, `curve` the errors. It has no `report`; `draw_plan` of
        `cofactor_app.plots.crowd` draws it.

    Raises
    ------
    CofactorError
        If a method is unknown, an amount is not a whole number, the error is not between 0 and 1, the truth has the
        wrong length, or `fit` raises one.

    Cost
    ----
    Per trial, O(n_tasks n_workers) and the fits of every method at every amount.

    Source
    ------
    cofactor's own method; docs/default.md reports how often its ranges contained the error on public crowds.

    Examples
    --------
    >>> from cofactor import simulate
    >>> model = simulate.dawid_skene_model(9, 2, skill=0.5, random_state=0)
    >>> labels = simulate.crowd(model, 200, random_state=0).labels
    >>> found = plan(labels, wanted_error=0.1, n_trials=5, random_state=0)
    >>> list(found.needed()["method"])
    ['MajorityVote', 'WorkerTypes']
    """
    checked_error(wanted_error)
    wanted = check_names(methods, names("crowd", takes="labels"))
    read = list[str]()
    with noting(read, []):
        labels, own = read_crowd(source)
    labels, truth = labels.whole, own if truth is None else truth
    check_runs(n_jobs, n_trials=n_trials)
    if n_tasks is not None:
        check_whole(1, n_tasks=n_tasks)
    active = int(np.count_nonzero(labels.table.entries_per_variable))
    present = labels.n_labels / max(seen(labels).n_rows, 1)
    tried = checked_amounts(amounts_up_to(present) if amounts is None else amounts, active)
    fitted = fitted_on(WorkerTypes() if method is None else method, labels)
    rng = rng_of(random_state)
    populations, notes = _populations(labels, fitted, truth, n_trials, rng)
    n_tasks = seen(labels).n_rows if n_tasks is None else n_tasks
    found = simulated(partial(_trial, n_tasks, tried, wanted), populations, rng, n_jobs, verbose)
    errors = {name: found[:, :, j] for j, name in enumerate(wanted)}
    told = wanted_error, present, (*read, *notes), truth is None
    return Plan("labels per task", "fraction of wrong labels", tried, errors, *told)


def amounts_up_to(present: float) -> list[int]:
    """Return the numbers of labels per task to try if this many are present.

    >>> amounts_up_to(18.5)
    [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19]
    """
    most = int(np.ceil(present))
    return list(range(1, MAX_LABELS + 1)) if most <= MAX_LABELS else [*(d for d in AMOUNTS if d < most), most]


def _trial(
    n_tasks: int, amounts: Floats, names: Sequence[str], population: Population, rng: np.random.Generator
) -> Floats:
    """Errors of every amount (rows) and method (columns) for one simulated crowd; the fewer labels are the first."""
    K, M, most = len(population.prior), len(population.activity), int(amounts[-1])
    worker = population.workers(n_tasks, most, rng)
    task = np.repeat(np.arange(n_tasks), most)
    truth, label = population.label(population.annotators(rng), task, worker.ravel(), n_tasks, rng)
    place = np.tile(np.arange(most), n_tasks)
    errors = np.empty((len(amounts), len(names)))
    for i, d in enumerate(amounts):
        kept = place < d
        sizes = (K, n_tasks, M)
        thin = CrowdLabels.from_arrays(task[kept], worker.ravel()[kept], label[kept], *sizes, unlabelled="keep")
        errors[i] = [_error(name, thin, truth) for name in names]
    return errors


def _error(name: str, labels: CrowdLabels, truth: Ints) -> float:
    return error_or_nan(lambda: error_rate(METHODS[name](random_state=0).fit(labels).predict_proba(labels), truth))


# ---- how hard tasks are ----


def _populations(
    labels: CrowdLabels, fitted: Aggregator, truth: ArrayLike | None, n_trials: int, rng: np.random.Generator
) -> tuple[list[Population], tuple[str, ...]]:
    """One population per trial, and what to say about them."""
    posterior = np.asarray(fitted.predict_proba(labels))
    right = None if truth is None else right_shares(posterior, truth)
    if right is not None and len(right) < MIN_TRUTHS:
        raise CofactorError(
            f"the truth of only {len(right)} tasks is known: give that of at least {MIN_TRUTHS} tasks, or none"
        )
    levels = harder(population_of(labels, fitted), labels, fitted, int(rng.integers(2**31)))
    if right is not None:
        return _as_known(levels, right, n_trials, rng)
    return _as_elsewhere(levels, float(np.mean(1 - posterior.max(axis=1))), n_trials, rng)


def _as_known(
    levels: Iterator[Level], right: Floats, n_trials: int, rng: np.random.Generator
) -> tuple[list[Population], tuple[str, ...]]:
    """Populations on which the method errs as often as on the tasks of known truth."""
    wrong, n = float((1 - right).sum()), len(right)
    # the error on n known tasks is a sample itself: its spread goes into the trials
    wished = rng.beta(wrong + 0.5, n - wrong + 0.5, size=n_trials)
    ladder = _Ladder.climb(levels, lambda level: level[1] > wished.max())
    taus = np.interp(wished, ladder.errors, ladder.difficulties)
    notes = [
        f"task difficulty estimated from {wrong:g} errors on {n} tasks with known truth: "
        f"tau {np.median(taus):.2f} ({taus.min():.2f} to {taus.max():.2f})"
    ]
    if wrong / n > ladder.errors[-1] + ERROR_GAP:
        notes.append(
            f"even at the largest difficulty that the agreement of workers allows, the simulated error is now "
            f"{ladder.errors[-1]:.1%}, below the measured {wrong / n:.1%}: more labels are needed than planned here"
        )
    return ladder.populations(taus), tuple(notes)


def _as_elsewhere(
    levels: Iterator[Level], expected: float, n_trials: int, rng: np.random.Generator
) -> tuple[list[Population], tuple[str, ...]]:
    """Populations as hard as public crowds."""
    # evenly spread over the quantiles, so that few trials span the range as well
    taus = MEDIAN_DIFFICULTY * np.exp(LOG_DIFFICULTY_SD * special.ndtri((rng.permutation(n_trials) + 0.5) / n_trials))
    ladder = _Ladder.climb(levels, lambda level: level[0].difficulty > taus.max())
    low, high = np.interp(difficulty_range(), ladder.difficulties, ladder.errors)
    note = (
        f"no truth is known, and labels do not show how difficult tasks are: every simulation assumes a difficulty "
        f"found in public crowds, at which {low:.1%} to {high:.1%} of these tasks are wrong now. This range contained "
        f"the error on 15 of 17 such crowds. The truth of at least {MIN_TRUTHS} tasks narrows it (in Python: truth=...)"
    )
    lower = (
        f"aggregate reports an expected error of {expected:.1%}, by the model's own probabilities, which ignore "
        "mistakes that workers share: report it together with the range above"
    )
    return ladder.populations(taus), (note, lower)


def difficulty_range(level: float = LEVEL) -> Floats:
    """Return the two difficulties between which a fraction `level` of public crowds is assumed to lie."""
    return np.asarray(MEDIAN_DIFFICULTY * np.exp(LOG_DIFFICULTY_SD * special.ndtri([(1 - level) / 2, (1 + level) / 2])))


@dataclass(frozen=True)
class _Ladder:
    """Populations of rising difficulty, and the errors of a method on them, made not to fall."""

    levels: list[Population]
    errors: Floats

    @classmethod
    def climb(cls, levels: Iterator[Level], enough: Callable[[Level], bool]) -> _Ladder:
        """Try levels, from the easiest on, until one is hard enough; errors of those tried are made not to fall."""
        found: list[Level] = []
        for level in levels:
            found.append(level)
            if enough(level):
                break
        return cls(
            [level for level, _ in found], np.asarray(optimize.isotonic_regression([error for _, error in found]).x)
        )

    @property
    def difficulties(self) -> list[float]:
        return [level.difficulty for level in self.levels]

    def populations(self, taus: Floats) -> list[Population]:
        """Return one population for every difficulty, interpolated between two levels if needed."""
        clarities = np.interp(taus, self.difficulties, [level.clarity for level in self.levels])
        ends = zip(taus.tolist(), clarities.tolist(), strict=True)
        return [replace(self.levels[0], difficulty=tau, clarity=b) for tau, b in ends]
