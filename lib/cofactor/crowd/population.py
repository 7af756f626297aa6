"""Crowds drawn from the user's own: workers as likely as their labels leave them, tasks as hard as one likes.

Confusion matrices are drawn from their posterior under a prior fitted to the whole crowd. Every task may have a pull
towards some classes, the same for all its workers, which the Dawid-Skene model does not have. Pairs of labels agree as
often as in the data, whatever the pull: the stronger it is, the more of them agree on wrong classes.

    symbol   meaning                                                              shape
    n_m      soft counts of worker m: label by class                              (K, K)
    a, s     pooled confusion matrix, and the workers' likeness to it             (K, K), (K,)
    A_m      confusion matrix, columns from Dirichlet(n_m[:, c] + s_c a[:, c])    (K, K)
    z        pull of a task on each label, standard normal                        (K,)
    tau      how strong it is beside what workers know; zero: all tasks are alike difficulty
    b        how consistent workers are                                           clarity

    Pr(worker m says i | class c, pull z)  proportional to  (A_m[i, c] exp(tau z_i))^b

Source: the model of pulls is the Rasch family's, see Whitehill et al., "Whose vote should count more", NIPS 2009.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cofactor.core.checks import rng_of
from cofactor.core.em import expectation
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.estimator import clone
from cofactor.core.lazy import optimize, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, error_rate
from cofactor.crowd.labels import CrowdLabels

LOG_STRENGTH_RANGE = (-2.0, 8.0)  # range of log s
DIFFICULTIES = np.concatenate([[0.0], np.geomspace(0.3, 30.0, 17)])  # tau tried
CLARITY_RANGE = (0.02, 20.0)  # range of b
LOG_STEP = 0.3  # of log b, in the search
LEAST_LOGGED_PROBABILITY = 1e-3  # below it, logarithms are those of this
MIN_SIMULATED_TASKS = (
    2000  # simulated for each difficulty: the crowd as it is, that many times over, at least MIN_REPEATS
)
MIN_REPEATS = 2


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
        """Draw (n_tasks, d) different workers for each task, in proportion to their activity."""
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
    """Return the crowd that a fitted method sees in the labels, all tasks alike."""
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
    """Share of pairs of labels of one task that agree, averaged over tasks."""
    votes = np.zeros((n_tasks, n_classes))
    np.add.at(votes, (task, label), 1)
    n = votes.sum(axis=1)
    agreeing = (votes * (votes - 1)).sum(axis=1)[n > 1] / (n * (n - 1))[n > 1]
    return float(agreeing.mean()) if agreeing.size else float("nan")


def with_difficulty(
    population: Population, table: CategoricalTable, tau: float, seed: int, near: float = 1.0
) -> Population:
    """Return the population at difficulty tau, as consistent as it takes for pairs of labels to agree as they do.

    The search begins at clarity `near`. Where no clarity does that, it is the one that comes nearest.
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
    return rng_of(seed).spawn(max(MIN_REPEATS, -(-MIN_SIMULATED_TASKS // table.n_rows)))


def _relabelled(population: Population, table: CategoricalTable, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """True classes, and labels of the same workers on the same tasks."""
    A = population.annotators(rng)
    return population.label(A, table.rows, table.variables, table.n_rows, rng)


def harder(population: Population, labels: CrowdLabels, method: Aggregator, seed: int) -> Iterator[Level]:
    """Yield populations of rising difficulty, each with the error of the method on the same workers and tasks."""
    table = seen(labels)
    for tau in DIFFICULTIES:
        population = with_difficulty(population, table, float(tau), seed, population.clarity)
        yield population, _mean_error(population, table, labels, method, seed)


def seen(labels: CrowdLabels) -> CategoricalTable:
    """Return the table of the tasks that have a label."""
    return labels.table.take_rows(labels.table.entries_per_row > 0)


def _mean_error(
    level: Population, table: CategoricalTable, labels: CrowdLabels, method: Aggregator, seed: int
) -> float:
    errors = []
    for child in _repeats(table, seed):
        truth, label = _relabelled(level, table, child)
        sizes = (labels.n_classes, table.n_rows, labels.n_workers)
        again = CrowdLabels.from_arrays(table.rows, table.variables, label, *sizes, unlabelled="keep")
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            errors.append(error_rate(clone(method).fit(again).predict_proba(again), truth))
    return float(np.mean(errors))
