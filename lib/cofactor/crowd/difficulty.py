"""How much tasks of one class differ in difficulty, and how sure labels can be then: the design effect of WorkerTypes.

If workers err independently given the class, five equal labels of six are nearly certain. But a task may be hard for
all of its workers, and then they are not. So each task has a random effect, shared by its workers:

    Pr(worker w is right | class k, effect b) = Phi(ability_wk + spread b),   b ~ N(0, 1) of every task

A wrong label is one of the errors that the whole crowd makes on class k. The effect is integrated out over Q points
b_q of weights g_q (Gauss and Hermite), so this is a latent-class model of the states (k, q), and a round of
expectation-maximisation is a sum over tasks. The M-step for abilities and spread is one step of Fisher scoring.

    symbol   meaning                                                                 shape
    s        state (k, q): class k, point q                                          S = K Q of them
    right    expected labels k of each worker on tasks of state s                    (M, K, Q)
    given    expected labels of each worker on tasks of state s                      (M, K, Q)

A task that misleads most of its workers looks like an easy one of another class, so labels do not show all that workers
have in common. For the rest there is one constant, c = `RESIDUAL_DESIGN_EFFECT`, by which the posterior p of this model
is flattened. The design effect of WorkerTypes, whose posterior is z and whose label is k_i = argmax_k z_ik, is the one
under which both give the labels the same mean probability:

    mean_i tempered(z, effect)_i,k_i = mean_i tempered(p, c)_i,k_i

Source: Qu, Tan and Kutner, "Random effects models in latent class analysis for evaluating accuracy of diagnostic
tests", Biometrics 1996, for the model. Here errors are shared, abilities are drawn to the crowd's mean, and the
confidence is handed to the posterior z of another model; that and the constant are this kit's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.dependence import SHRINKAGE_COUNT, TINY, accuracies
from cofactor.crowd.rows import Rows

RESIDUAL_DESIGN_EFFECT = 0.45  # chosen on public crowds; see docs/aggregation.md
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ONES = np.ones(len(NODES))  # sums over points, by a product: fast for many workers
INITIAL_SPREAD = 0.5
MAX_ABILITY, MAX_SPREAD = 4.0, 5.0
MIN_PROBABILITY = 1e-9  # probabilities of being right are kept so far from 0 and 1
SCORING_ROUNDS, SCORING_TOL = 50, 1e-5  # of the log-likelihood; more rounds change no confidence
DESIGN_EFFECTS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 80)])  # tried


@dataclass(frozen=True)
class Difficulty:
    """Parameters of the model in which tasks of one class differ in difficulty; see the module's symbols.

    Attributes
    ----------
    prior : (K,) array
        Of the classes.
    errors : (K, K) array
        How often class k (column) is taken for the label (row) where it is not recognised; zero on the diagonal.
    ability : (M, K) array
    spread : float
        Zero: tasks of a class are equally hard.
    """

    prior: Floats
    errors: Floats
    ability: Floats
    spread: float

    @classmethod
    def start(cls, counts: SoftCounts, rows: Rows, votes: Floats) -> Difficulty:
        """Return the crowd with these expected labels of the rows (R, K), and some spread."""
        right, given = (x[:, :, 0] for x in _right_and_given(counts.cells, rows))
        mean = special.ndtri(np.clip(accuracies(right, given), MIN_PROBABILITY, 1 - MIN_PROBABILITY))
        ability = mean * np.sqrt(1 + INITIAL_SPREAD**2)  # so that the mean over effects is as before
        return cls(_prior(counts.classes, votes), _errors(rows.by_label(counts.cells)), ability, INITIAL_SPREAD)

    @property
    def correlation(self) -> float:
        """Of two workers' dispositions to be right on the same task: spread^2 / (1 + spread^2)."""
        return self.spread**2 / (1 + self.spread**2)

    def model(self, rows: Rows) -> LatentClassModel:
        """Return the latent-class model of the states, of these rows alone."""
        cells = np.empty((len(rows.owner), rows.n_classes, len(NODES)))
        for workers, places, part in rows.pieces:
            right, of_part = self._of(workers)._right(), cells[places]
            np.subtract(1, right[part.owner], out=of_part)
            of_part *= self.errors[part.label][:, :, None]
            of_part[part.places, part.label] = right[part.owner, part.label]
        prior = self.prior[:, None] * WEIGHTS
        return LatentClassModel.from_stacked(prior.ravel(), cells.reshape(len(cells), -1), rows.sizes)

    def after(self, counts: SoftCounts, rows: Rows, votes: Floats) -> Difficulty:
        """M-step: the crowd that makes the expected labels of the rows (R, S) more probable."""
        K = rows.n_classes
        of_crowd = rows.by_label(counts.cells).reshape(K, K, -1)
        pulled = _labels_of_the_crowd(of_crowd)
        steps = [self._of(w)._step(*_right_and_given(counts.cells[r], part), pulled) for w, r, part in rows.pieces]
        ability = np.concatenate([stepped for stepped, _ in steps])
        score, information = np.sum([by_spread for _, by_spread in steps], axis=0)
        spread = float(np.clip(self.spread + score / max(information, TINY), 0.0, MAX_SPREAD))
        by_class = counts.classes.reshape(K, -1).sum(axis=1)
        return Difficulty(_prior(by_class, votes), _errors(of_crowd.sum(axis=2)), ability, spread)

    def _of(self, workers: slice) -> Difficulty:
        """Return the same crowd with these workers alone."""
        return Difficulty(self.prior, self.errors, self.ability[workers], self.spread)

    def _effects(self) -> Floats:
        """Return ability + spread b of every worker and state: (M, K, Q)."""
        return self.ability[:, :, None] + self.spread * NODES

    def _right(self) -> Floats:
        """Return Pr(right) of every worker and state: (M, K, Q)."""
        p = special.ndtr(self._effects())
        return np.clip(p, MIN_PROBABILITY, 1 - MIN_PROBABILITY, out=p)

    def _scores(self, right: Floats, given: Floats) -> tuple[Floats, Floats]:
        """Return slope and expected curvature of the binomial log-likelihood by ability + spread b: (M, K, Q)."""
        p, slope = self._right(), self._effects()
        slope *= slope
        slope /= -2
        np.exp(slope, out=slope)
        slope /= np.sqrt(2 * np.pi)
        weight = slope / (p * (1 - p))
        return (right - given * p) * weight, given * slope * weight

    def _step(self, right: Floats, given: Floats, pulled: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Return the abilities after one step of Fisher scoring, and slope and curvature of the spread then.

        For abilities, `pulled` are labels of the crowd that are added to those of every worker; the spread stays.
        """
        score, information = self._scores(right + pulled[0], given + pulled[1])
        step = score @ ONES / np.maximum(information @ ONES, TINY)
        ability = np.clip(self.ability + step, -MAX_ABILITY, MAX_ABILITY)
        score, information = Difficulty(self.prior, self.errors, ability, self.spread)._scores(right, given)
        return ability, np.array([(score @ NODES).sum(), (information @ NODES**2).sum()])


def _right_and_given(cells: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Return the right labels, and all, of every worker by class and point, from (R, S) labels: both (M, K, Q)."""
    by_point = cells.reshape(len(cells), rows.n_classes, -1)
    right = np.zeros((rows.n_workers, *by_point.shape[1:]))
    right[rows.owner, rows.label] = by_point[rows.places, rows.label]
    return right, rows.by_worker(cells).reshape(right.shape)


def _prior(by_class: Floats, votes: Floats) -> Floats:
    return np.asarray((by_class + votes) / (by_class + votes).sum())


def _errors(labels: Floats) -> Floats:
    """Return the shares of each wrong label, from the crowd's (K, K) expected labels and one more of each."""
    wrong = np.where(np.eye(len(labels), dtype=bool), 0.0, labels + 1.0)
    return np.asarray(wrong / wrong.sum(axis=0))


def _labels_of_the_crowd(labels: Floats) -> tuple[Floats, Floats]:
    """Return `SHRINKAGE_COUNT` labels of every class, shared out as the crowd's (K labels, K classes, Q) are.

    Right ones and all, both (K, Q); they are added to those of every worker.
    """
    given, classes = labels.sum(axis=0), np.arange(len(labels))
    share = SHRINKAGE_COUNT / (given.sum(axis=1, keepdims=True) + TINY)
    return labels[classes, classes] * share, given * share


def fit_difficulty(
    e_step: Callable[[LatentClassModel], SoftCounts], model: LatentClassModel, rows: Rows, votes: Floats
) -> Difficulty:
    """Estimate abilities and spread by expectation-maximisation.

    Parameters
    ----------
    e_step : callable
        From a model of any states to the soft counts of all tasks.
    model : LatentClassModel
        Of the K classes, to start from.
    rows : Rows
        The rows of the model, and of the counts.
    votes : (K,) array
        Tasks imagined of each class.

    Cost
    ----
    Up to 50 rounds, each an E-step of 7 K states; in memory, two arrays of rows by states.
    """
    crowd, before = Difficulty.start(e_step(model), rows, votes), np.nan  # which nothing is near
    del model  # many numbers
    for _ in range(SCORING_ROUNDS):
        after, log_likelihood = _round(e_step, crowd, rows, votes)
        if abs(log_likelihood - before) <= SCORING_TOL * abs(before):
            break
        crowd, before = after, log_likelihood
    return crowd


def _round(
    e_step: Callable[[LatentClassModel], SoftCounts], crowd: Difficulty, rows: Rows, votes: Floats
) -> tuple[Difficulty, float]:
    """Return the crowd after a round, and its log-likelihood before; counts are forgotten, which are many numbers."""
    counts = e_step(crowd.model(rows))
    return crowd.after(counts, rows, votes), counts.log_likelihood


def power(n_labels: Ints, design_effect: Floats | float) -> Floats:
    """beta: the power that flattens a posterior, 1 / sqrt(1 + effect (n - 1)); 1 for a task without labels."""
    return np.asarray(1 / np.sqrt(1 + design_effect * np.maximum(n_labels - 1, 0)))


@dataclass(frozen=True)
class Confidence:
    """Mean probabilities of the chosen labels under two models, as sums over tasks; `+` merges disjoint sets of tasks.

    Attributes
    ----------
    by_difficulty : float
        Sum of the probabilities by the model of difficulty, flattened by `RESIDUAL_DESIGN_EFFECT`.
    tempered : (D,) array
        The same sums by the other model, flattened by each of `DESIGN_EFFECTS`; they fall as the effect rises.
    """

    by_difficulty: float
    tempered: Floats

    def __add__(self, other: Confidence) -> Confidence:
        """Merge the sums of two disjoint sets of tasks."""
        return Confidence(self.by_difficulty + other.by_difficulty, self.tempered + other.tempered)

    @property
    def design_effect(self) -> float:
        """The design effect under which both models give the labels the same mean probability (interpolated)."""
        return float(np.interp(self.by_difficulty, self.tempered[::-1], DESIGN_EFFECTS[::-1]))


def confidence(z: Floats, p: Floats, n_labels: Ints) -> Confidence:
    """Sum up some tasks: posterior z, posterior p of the model with effects of tasks, both (N, K), labels n (N,).

    Cost: O(N K) time for each of `DESIGN_EFFECTS`.
    """
    with np.errstate(divide="ignore"):
        log_z, log_p = np.log(z / z.max(axis=1, keepdims=True)), np.log(p)
    flat = np.exp(log_p * power(n_labels, RESIDUAL_DESIGN_EFFECT)[:, None])
    by_difficulty = flat[np.arange(len(z)), z.argmax(axis=1)] / flat.sum(axis=1)
    columns, (different, place) = np.ascontiguousarray(log_z.T), np.unique(n_labels, return_inverse=True)
    tempered = [_sum_of_largest(columns, power(different, effect)[place]) for effect in DESIGN_EFFECTS]
    return Confidence(float(by_difficulty.sum()), np.array(tempered))


def _sum_of_largest(log_ratios: Floats, powers: Floats) -> float:
    """Sum up the largest probability of each task, flattened; (K, N) logarithms are relative to it.

    Classes one after the other: six times as fast as whole rows of few.
    """
    return float(np.sum(1 / reduce(add, (np.exp(of_class * powers) for of_class in log_ratios))))
