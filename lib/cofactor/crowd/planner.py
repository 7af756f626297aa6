"""How many labels per task a wanted error takes: crowds simulated from the user's own.

Every trial draws annotators as likely as the labels leave them, lets them label fresh tasks, and aggregates. Workers
of few labels are not taken at their word: confusion matrices are drawn from their posterior under a prior fitted to
the whole crowd. Tasks differ in difficulty more than any Dawid-Skene model admits; how much more can only be told
where the truth of some tasks is known, and then every task gets a pull towards some classes that all its annotators
feel.

    symbol   meaning                                                              shape
    n_m      soft counts of worker m: label by class                              (K, K)
    a, s     pooled confusion matrix, and the workers' likeness to it             (K, K), (K,)
    A_m      confusion matrix, columns from Dirichlet(n_m[:, c] + s_c a[:, c])    (K, K)
    z        pull of a task on each label, standard normal                        (K,)
    sigma    how strong it is; zero: all tasks are alike                          difficulty
    b        how much clearer annotators are on a task without pull               clarity

    Pr(worker m says i | class c, pull z)  proportional to  A_m[i, c]^b exp(sigma z_i)

Source: the model of pulls is the Rasch family's, see Whitehill et al., "Whose vote should count more", NIPS 2009.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from cofactor.core.bootstrap import Seed, check_runs, in_parallel
from cofactor.core.checks import check_whole
from cofactor.core.em import expectation
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.planning import Plan, check_names, checked_amounts, checked_error
from cofactor.core.tables import CategoricalTable, Ints
from cofactor.crowd.base import Aggregator, Floats, error_rate, require_labels, right_shares
from cofactor.crowd.baselines.voting import DawidSkene
from cofactor.crowd.labels import CrowdLabels

MOST_LABELS = 15
LIKENESS = (-2.0, 8.0)  # range of log s
SIGMAS = np.linspace(0, 2, 21)  # difficulties tried
CLARITY = (0.1, 8.0)  # range of b
LEAST = 1e-3  # smallest probability whose logarithm is pulled at
TASKS = 3000  # simulated for each difficulty: the crowd as it is, that many times over, at least LEAST_TIMES
LEAST_TIMES = 3
SHORT_BY = 0.02  # an error that is missed by more is told
FEW_TRUTHS = 20  # known truths below this say too little about difficulty


@dataclass(frozen=True)
class Population:
    """What a simulated crowd is drawn from; see the module's symbols.

    Attributes
    ----------
    prior : (K,) array
    weights : (M, K, K) array
        Parameters of the Dirichlet distributions of the columns of A_m.
    activity : (M,) array
        Labels that each worker gave.
    difficulty, clarity : float
        sigma and b.
    """

    prior: Floats
    weights: Floats
    activity: Floats
    difficulty: float = 0.0
    clarity: float = 1.0

    def annotators(self, rng: np.random.Generator) -> Floats:
        """Draw (M, K, K) confusion matrices."""
        draws = rng.gamma(np.maximum(self.weights, LEAST))
        return np.asarray(draws / draws.sum(axis=1, keepdims=True))

    def workers(self, n_tasks: int, d: int, rng: np.random.Generator) -> Ints:
        """Draw (n_tasks, d) different workers for each task, in proportion to their activity."""
        with np.errstate(divide="ignore"):
            order = np.log(self.activity) + rng.gumbel(size=(n_tasks, len(self.activity)))
        return np.argsort(-order, axis=1)[:, :d]

    def label(self, A: Floats, task: Ints, worker: Ints, n_tasks: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw the (n_tasks,) true classes, and the label of each entry (task, worker)."""
        K = len(self.prior)
        truth = rng.choice(K, size=n_tasks, p=self.prior)
        pull = self.difficulty * rng.standard_normal((n_tasks, K))
        logits = self.clarity * np.log(np.maximum(A, LEAST))[worker, :, truth[task]] + pull[task]
        return truth, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


def population_of(labels: CrowdLabels, method: Aggregator) -> Population:
    """Return the crowd that a fitted method sees in the labels, all tasks alike."""
    model, table = method.model_, _seen(labels)
    counts = expectation(table, model).cells.reshape(labels.n_workers, labels.n_classes, -1)
    weights = np.stack([_posterior(counts[:, :, c]) for c in range(labels.n_classes)], axis=2)
    return Population(model.prior, weights, table.entries_per_variable.astype(np.float64))


def _posterior(counts: Floats) -> Floats:
    """Add to one class's (M, K) counts the prior that fits them best, s times their pooled shares."""
    pooled = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])

    def misfit(log_s: float) -> float:
        """Minus the Dirichlet-multinomial log-likelihood."""
        s, n = np.exp(log_s), counts.sum(axis=1)
        cells = gammaln(s * pooled + counts) - gammaln(s * pooled)
        return -float((gammaln(s) - gammaln(s + n) + cells.sum(axis=1)).sum())

    s = np.exp(minimize_scalar(misfit, bounds=LIKENESS, method="bounded").x)
    return counts + s * pooled


def agreement(task: Ints, label: Ints, n_tasks: int, n_classes: int) -> float:
    """Share of pairs of labels of one task that agree, averaged over tasks."""
    votes = np.zeros((n_tasks, n_classes))
    np.add.at(votes, (task, label), 1)
    n = votes.sum(axis=1)
    agreeing = (votes * (votes - 1)).sum(axis=1)[n > 1] / (n * (n - 1))[n > 1]
    return float(agreeing.mean()) if agreeing.size else float("nan")


def with_difficulty(population: Population, table: CategoricalTable, sigma: float, seed: int) -> Population | None:
    """Return the population at difficulty sigma, as clear as it takes for pairs of labels to agree as they do.

    None where no clarity does that: tasks pull so strongly that all would agree more.
    """
    observed = agreement(table.rows, table.values, table.n_rows, len(population.prior))

    def excess(clarity: float) -> float:
        changed = replace(population, difficulty=sigma, clarity=clarity)
        # the same draws for every clarity: a smooth function
        found = [_relabelled(changed, table, rng)[1] for rng in _repeats(table, seed)]
        return float(np.mean([agreement(table.rows, x, table.n_rows, len(population.prior)) for x in found])) - observed

    if not excess(CLARITY[0]) < 0 < excess(CLARITY[1]):
        return None
    return replace(population, difficulty=sigma, clarity=float(brentq(excess, *CLARITY, xtol=1e-2)))


def _repeats(table: CategoricalTable, seed: int) -> list[np.random.Generator]:
    return np.random.default_rng(seed).spawn(max(LEAST_TIMES, -(-TASKS // table.n_rows)))


def _relabelled(population: Population, table: CategoricalTable, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """True classes, and labels of the same workers on the same tasks."""
    A = population.annotators(rng)
    return population.label(A, table.rows, table.variables, table.n_rows, rng)


def plan(
    labels: CrowdLabels,
    wanted_error: float = 0.05,
    methods: Sequence[str] = ("MajorityVote", "MV-EM"),
    amounts: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    n_tasks: int | None = None,
    n_trials: int = 30,
    method: Aggregator | None = None,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how the error falls with labels per task, for a crowd like this one.

    Parameters
    ----------
    labels : CrowdLabels
        Two labels per task or more; they need not be many.
    wanted_error : float in (0, 1)
        Share of tasks labelled wrongly that is asked for.
    methods : names in `METHODS`
        Aggregators to plan for.
    amounts : whole numbers, optional
        Labels per task to try. Default: 1 to 15, but no more than there are workers.
    truth : (n_tasks,) class codes, -1 where unknown, optional
        From twenty on, they tell how much tasks differ in difficulty. Without them all tasks count as alike, and the
        plan is what is needed at the very least.
    n_tasks : int, optional
        Tasks of a simulated crowd. Default: as many as have a label now.
    n_trials : int
    method : Aggregator, optional
        Whose model of the crowd is believed; fitted on `labels`, or not fitted yet. Default: MV-EM.
    random_state : int, Generator or None
    n_jobs, verbose
        As in `bootstrap`; the result is the same at any number of jobs.

    Returns
    -------
    Plan
        `needed` answers how many labels, `curve` holds the errors.

    Raises
    ------
    CofactorError
        Unknown methods, amounts that are no whole numbers, an error not between 0 and 1, truth of the wrong length, or
        as `fit` does.

    Cost
    ----
    Per trial, O(n_tasks n_workers) and the fits of every method at every amount.

    Notes
    -----
    Measured beside real crowds whose labels were thinned. Without truth, errors at the crowd's own number of labels
    come out far too low (RTE, ten labels, MV-EM: 0.7 in place of 7.3 per cent; Dog: 1.2 in place of 15.7), since tasks
    that mislead everybody are in no Dawid-Skene model. From the truth of 100 tasks and pilots of 3 or 5 labels, errors
    at 1 to 10 labels come out within 5 points (Dog 14.8 and 19.0, RTE 2.5 and 5.5 per cent at ten), a little too high
    for MajorityVote. TREC, whose workers err together on three tasks in ten, is out of reach: 20 in place of 30 per
    cent at five labels, and the plan says so. A hundred tasks (Bluebird) are too few to plan from by less than ten
    labels each. Thin pilots make plans too bold, since EM agrees with itself: for simulated workers of accuracy 0.7 and
    an error of 5 per cent, pilots of 2, 3, 5, 10 and 20 labels per task ask for 4.3, 5.0, 7.9, 9.4 and 9.0 labels.

    Examples
    --------
    >>> from cofactor import crowd, simulate
    >>> model = simulate.dawid_skene_model(9, 2, skill=0.5, random_state=0)
    >>> labels = simulate.crowd(model, 200, random_state=0).labels
    >>> found = crowd.plan(labels, wanted_error=0.1, n_trials=5, random_state=0)
    >>> list(found.needed()["method"])
    ['MajorityVote', 'MV-EM']
    """
    checked_error(wanted_error)
    names = check_names(methods, _methods())
    require_labels(labels)
    check_runs(n_jobs, n_trials=n_trials)
    if n_tasks is not None:
        check_whole(1, n_tasks=n_tasks)
    active = int(np.count_nonzero(labels.table.entries_per_variable))
    tried = checked_amounts(np.arange(1, MOST_LABELS + 1) if amounts is None else amounts, active)
    method = DawidSkene() if method is None else method
    fitted = method if hasattr(method, "model_") else clone(method).fit(labels)
    fitted._check_same_crowd(labels)
    rng = np.random.default_rng(random_state)
    populations, notes = _populations(labels, fitted, truth, n_trials, rng)
    n_tasks = _seen(labels).n_rows if n_tasks is None else n_tasks
    run = delayed(_trial)
    jobs = (run(p, n_tasks, tried, names, child) for p, child in zip(populations, rng.spawn(n_trials), strict=True))
    found = np.array(list(in_parallel(jobs, n_trials, "plan", n_jobs, verbose)))
    errors = {name: found[:, :, j] for j, name in enumerate(names)}
    present = labels.n_labels / max(_seen(labels).n_rows, 1)
    return Plan("labels per task", "share of tasks labelled wrongly", tried, errors, wanted_error, present, notes)


def _methods() -> list[str]:
    from cofactor.crowd import METHODS, NEED_FEATURES  # at call time: the room's own table is made last

    return [name for name in METHODS if name not in NEED_FEATURES]


def _seen(labels: CrowdLabels) -> CategoricalTable:
    return labels.table.take_rows(labels.table.entries_per_row > 0)


def _trial(
    population: Population, n_tasks: int, amounts: Floats, names: Sequence[str], rng: np.random.Generator
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
    from cofactor.crowd import METHODS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            return error_rate(METHODS[name](random_state=0).fit(labels).predict_proba(labels), truth)
        except CofactorError:
            return float("nan")


# ---- difficulty, from known truth ----


def _populations(
    labels: CrowdLabels, fitted: Aggregator, truth: ArrayLike | None, n_trials: int, rng: np.random.Generator
) -> tuple[list[Population], tuple[str, ...]]:
    """One population per trial, and what to say about them."""
    population = population_of(labels, fitted)
    if truth is None:
        note = "all tasks count as equally hard, so this is the least; give the truth of some tasks for a fair plan"
        return [population] * n_trials, (note,)
    right = right_shares(fitted.predict_proba(labels), truth)
    if len(right) < FEW_TRUTHS:
        raise CofactorError(f"the truth of {len(right)} tasks is known: give {FEW_TRUTHS} at least, or none")
    wrong, n = float((1 - right).sum()), len(right)
    levels, errors = _errors_by_difficulty(population, labels, fitted, rng)
    # the error on n known tasks is a sample itself: its spread goes into the trials
    wished = rng.beta(wrong + 0.5, n - wrong + 0.5, size=n_trials)
    sigmas = np.interp(wished, errors, [one.difficulty for one in levels])
    clarities = np.interp(sigmas, [one.difficulty for one in levels], [one.clarity for one in levels])
    notes = [
        f"tasks differ in difficulty as {wrong:g} errors on {n} tasks of known truth tell: "
        f"sigma {np.median(sigmas):.2f} ({sigmas.min():.2f} to {sigmas.max():.2f})"
    ]
    if wrong / n > errors[-1] + SHORT_BY:
        notes.append(
            f"even tasks as different as the agreement of pairs admits leave {errors[-1]:.1%} wrong now, not the "
            f"{wrong / n:.1%} that were found: more labels are needed than this"
        )
    chosen = zip(sigmas.tolist(), clarities.tolist(), strict=True)
    return [replace(population, difficulty=s, clarity=b) for s, b in chosen], tuple(notes)


def _errors_by_difficulty(
    population: Population, labels: CrowdLabels, fitted: Aggregator, rng: np.random.Generator
) -> tuple[list[Population], Floats]:
    """Populations of rising difficulty, and the error of the method on the same workers and tasks, not falling."""
    table, seed = _seen(labels), int(rng.integers(2**31))
    found = (with_difficulty(population, table, float(sigma), seed) for sigma in SIGMAS)
    levels = [one for one in takewhile(lambda one: one is not None, found) if one] or [population]
    errors = [_mean_error(level, table, labels, fitted, seed) for level in levels]
    return levels, np.asarray(isotonic_regression(errors))


def _mean_error(
    level: Population, table: CategoricalTable, labels: CrowdLabels, fitted: Aggregator, seed: int
) -> float:
    errors = []
    for child in _repeats(table, seed):
        truth, label = _relabelled(level, table, child)
        sizes = (labels.n_classes, table.n_rows, labels.n_workers)
        again = CrowdLabels.from_arrays(table.rows, table.variables, label, *sizes, unlabelled="keep")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            errors.append(error_rate(clone(fitted).fit(again).predict_proba(again), truth))
    return float(np.mean(errors))
