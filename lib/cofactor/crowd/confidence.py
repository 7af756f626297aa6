"""The uncertainty of labels: shared errors of workers, difficulty of tasks, the design effect, gold tasks.

**Errors together.** A task can mislead several workers at once. Then the errors of workers are correlated:

    e_wk = 1[label of w is k] - p_wk                      zero on average for a task of class k
    T_i  = sum_k z_ik sum over pairs w != v of e_wk e_vk  zero on average if workers are independent

    symbol   meaning                                                                        shape
    z        posterior of the classes, not tempered                                         (N, K)
    p        probability that worker w is right on class k, shrunk to the crowd's mean      (M, K)
    T        excess of shared errors of every task, see above                               (N,)

**Difficulty.** If workers err independently given the class, a label that five of six workers agree on is nearly
certain. But a task may be hard for all of its workers, and then it is not. So each task has a random effect, shared by
its workers:

    Pr(worker w is right | class k, effect b) = Phi(ability_wk + spread b),   b ~ N(0, 1) of every task

Wrong labels follow the errors that the whole crowd makes on class k. The effect is integrated out over Q points b_q
with weights g_q (Gauss-Hermite), so this is a latent-class model of the states (k, q), and a round of
expectation-maximisation is a sum over tasks. The M-step for abilities and spread is one step of Fisher scoring.

    symbol   meaning                                                                 shape
    s        state (k, q): class k, point q                                          S = K Q of them
    right    expected correct labels k of each worker on tasks of state s            (M, K, Q)
    given    expected labels of each worker on tasks of state s                      (M, K, Q)

**Design effect.** A task that misleads most of its workers looks like an easy task of another class, so labels do not
show all dependence between workers. One constant, c = `RESIDUAL_DESIGN_EFFECT`, accounts for the rest: it flattens the
posterior p of this model. The design effect of WorkerTypes, whose posterior is z and whose label is k_i = argmax_k
z_ik, is the one under which both give the labels the same mean probability:

    mean_i tempered(z, effect)_i,k_i = mean_i tempered(p, c)_i,k_i,   tempered(z, e) ~ z^(1 / sqrt(1 + e (n - 1)))

Sources: Qu, Tan and Kutner, "Random effects models in latent class analysis for evaluating accuracy of diagnostic
tests", Biometrics 1996, for the model (here errors are shared, and abilities are shrunk to the crowd's mean) and for
residual correlations (here summed over all pairs); Kish, "Survey sampling", 1965: correlated answers widen the standard
error of their mean by the square root of 1 + rho (n - 1). The constant, and the transfer of the mean probability to z,
are this library's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.latent_class import FLOOR, TIE, LatentClassModel
from cofactor.core.lazy import WORTH_COMPILING, njit, optimize, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.fit import WITH_OWN, WITHOUT_OWN, Fit, Piece, Rounds, class_posterior
from cofactor.crowd.labels import most_frequent
from cofactor.crowd.model import PRIOR, Belief, Rows, crowd_errors, right_and_given

SHRINKAGE_COUNT = 5.0  # labels for which the crowd's mean accuracy counts in a worker's
MAX_INDEPENDENT_Z = 2.0  # above it, workers are taken to err together
TINY = 1e-12
RESIDUAL_DESIGN_EFFECT = 0.45  # chosen on public crowds; see docs/default.md
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ONES = np.ones(len(NODES))  # sums over points, by a product: fast for many workers
INITIAL_SPREAD = 0.5
MAX_ABILITY, MAX_SPREAD = 4.0, 5.0
MIN_PROBABILITY = 1e-9  # probabilities of being right are kept so far from 0 and 1
SCORING_ROUNDS, SCORING_TOL = 50, 1e-5  # of the log-likelihood; more rounds change no confidence
DESIGN_EFFECTS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 80)])  # tried
USUAL_DESIGN_EFFECT, MAX_CLASSES = 2.4, 50  # the best single one for public crowds, where learning one takes too long
SAMPLED_TASKS = 200_000  # at most about as many, of more, say how much labels repeat one another
MAX_EFFECT_OF_GRADES = 5.0  # a larger one tells that offsets look like difficulty, not that labels repeat one another
MAX_DESIGN_EFFECT = 100.0  # tried on gold tasks
N_FOLDS = 5  # of gold tasks


# ---- errors together ----


@dataclass(frozen=True)
class Dependence:
    """How far workers err together, as sums over tasks; `+` merges disjoint sets of tasks.

    Attributes
    ----------
    excess : float
        sum_i T_i.
    squares : float
        sum_i T_i^2.
    most : float
        The excess if all errors on a task were fully correlated.
    """

    excess: float
    squares: float
    most: float

    def __add__(self, other: Dependence) -> Dependence:
        """Merge the sums of two disjoint sets of tasks."""
        return Dependence(self.excess + other.excess, self.squares + other.squares, self.most + other.most)

    @property
    def correlation(self) -> float:
        """Mean correlation of two errors on a task, given its class; too low, since z partly follows the errors."""
        return self.excess / max(self.most, TINY)

    @property
    def z(self) -> float:
        """Number of standard errors by which the excess is above zero."""
        return self.excess / max(float(np.sqrt(self.squares)), TINY)


def accuracies(right: Floats, given: Floats) -> Floats:
    """Return p, (M, K) probabilities of being right, from expected counts of right and of all labels by class."""
    crowd = (right.sum(axis=0) + PRIOR[0]) / (given.sum(axis=0) + sum(PRIOR))
    return np.asarray((right + SHRINKAGE_COUNT * crowd) / (given + SHRINKAGE_COUNT))


def dependence(table: CategoricalTable, posterior: Floats, p: Floats, rows: Rows) -> Dependence:
    """Return the sums for some tasks, from their (N, K) posterior and the workers' (M, K) accuracies p.

    `rows` are the pairs (worker, label) of the table's columns. Cost: O(labels K) time; for many labels, no extra
    memory.
    """
    F, K = table.indicator, p.shape[1]
    if table.n_entries * K > WORTH_COMPILING:
        return Dependence(*_sums(F.indptr, F.indices, rows.owner, rows.label, posterior, p))
    mine = p[rows.owner[F.indices]]
    e = np.where(rows.label[F.indices][:, None] == np.arange(K), 1.0, 0.0) - mine
    T = np.sum(posterior * _pairs(e, table.rows, table.n_rows), axis=1)
    most = _pairs(np.sqrt(mine * (1 - mine)), table.rows, table.n_rows)
    return Dependence(float(T.sum()), float(T @ T), float(np.sum(posterior * most)))


def dependence_of(piece: Piece, model: LatentClassModel, p: Floats, rows: Rows) -> Dependence:
    """Return how far workers of (M, K) accuracies p err together on a piece, under a model of K classes."""
    table = most_frequent(piece.table)
    return dependence(table, class_posterior(piece, model, rows.n_classes), p, rows)


def errors_together(fit: Fit, belief: Belief) -> Dependence:
    """Return how far the workers of a fit err together, under the given belief."""
    p = accuracies(*belief.right_and_given)
    return fit.of_rows.pieces.sum(partial(dependence_of, model=belief.model, p=p, rows=fit.rows))


def offered_types(fit: Fit) -> tuple[tuple[str, ...], Dependence | None]:
    """Return the types to fit: "own" if labels suffice and workers do not err together, "graded" with an order."""
    types: tuple[str, ...] = WITHOUT_OWN
    together = None
    if len(fit.alpha) >= 3 and fit.n_labels >= fit.n_cells:
        together = errors_together(fit, fit.run(("own",)).belief)
        types = WITH_OWN if together.z <= MAX_INDEPENDENT_Z else WITHOUT_OWN
    return (types if fit.grades is None else (*types, "graded")), together


@njit(cache=True, error_model="numpy", nogil=True)
def _sums(
    indptr: Ints, indices: Ints, owner: Ints, label: Ints, posterior: Floats, p: Floats
) -> tuple[float, float, float]:
    """Return the sums of `Dependence`, task by task."""
    excess = squares = most = 0.0
    K = p.shape[1]
    for i in range(len(indptr) - 1):
        T = 0.0
        for k in range(K):
            sum_e = squares_e = sum_h = squares_h = 0.0
            for x in range(indptr[i], indptr[i + 1]):
                row = indices[x]
                right = p[owner[row], k]
                e, h = (1.0 if label[row] == k else 0.0) - right, np.sqrt(right * (1 - right))
                sum_e, squares_e = sum_e + e, squares_e + e**2
                sum_h, squares_h = sum_h + h, squares_h + h**2
            T += posterior[i, k] * (sum_e**2 - squares_e)
            most += posterior[i, k] * (sum_h**2 - squares_h)
        excess, squares = excess + T, squares + T**2
    return excess, squares, most


def _pairs(x: Floats, task: Ints, n_tasks: int) -> Floats:
    """(N, K) sums of x_w x_v over all pairs of different labels of a task: (sum x)^2 - sum x^2."""
    columns = [np.bincount(task, column, n_tasks) ** 2 - np.bincount(task, column**2, n_tasks) for column in x.T]
    return np.stack(columns, axis=1)


# ---- difficulty ----


@dataclass(frozen=True)
class Difficulty:
    """Parameters of the model in which tasks of one class differ in difficulty; see the module's symbols.

    Attributes
    ----------
    prior : (K,) array
        Probabilities of the classes.
    errors : (K, K) array
        Share of each wrong label (row) among the errors on class k (column); zero on the diagonal.
    ability : (M, K) array
    spread : float
        Zero if tasks of a class are equally hard.
    """

    prior: Floats
    errors: Floats
    ability: Floats
    spread: float

    @classmethod
    def start(cls, counts: SoftCounts, rows: Rows, alpha: Floats, spread: float) -> Difficulty:
        """Return the starting parameters from expected labels by row (R, K), with the given spread."""
        right, given = (x[:, :, 0] for x in right_and_given(counts.cells, rows))
        mean = special.ndtri(np.clip(accuracies(right, given), MIN_PROBABILITY, 1 - MIN_PROBABILITY))
        ability = mean * np.sqrt(1 + spread**2)  # so that the mean over effects is as before
        return cls(_prior(counts.classes, alpha), crowd_errors(rows.by_label(counts.cells)), ability, spread)

    @property
    def correlation(self) -> float:
        """Correlation of two workers' latent scores on the same task: spread^2 / (1 + spread^2)."""
        return self.spread**2 / (1 + self.spread**2)

    def model(self, rows: Rows) -> LatentClassModel:
        """Return the latent-class model of the states, restricted to these rows."""
        cells = np.empty((len(rows.owner), rows.n_classes, len(NODES)))
        for workers, places, part in rows.pieces:
            right, of_part = replace(self, ability=self.ability[workers])._right(), cells[places]
            np.subtract(1, right[part.owner], out=of_part)
            of_part *= self.errors[part.label][:, :, None]
            of_part[part.places, part.label] = right[part.owner, part.label]
        prior = self.prior[:, None] * WEIGHTS
        return LatentClassModel.from_stacked(prior.ravel(), cells.reshape(len(cells), -1), rows.sizes)

    def after(self, counts: SoftCounts, rows: Rows, alpha: Floats) -> Difficulty:
        """Return the parameters after an M-step on the expected labels by row (R, S)."""
        K = rows.n_classes
        of_crowd = rows.by_label(counts.cells).reshape(K, K, -1)
        all_labels, classes = of_crowd.sum(axis=0), np.arange(K)
        share = SHRINKAGE_COUNT / (all_labels.sum(axis=1, keepdims=True) + TINY)
        pulled = (
            of_crowd[classes, classes] * share,
            all_labels * share,
        )  # labels of the crowd's mean, right ones and all
        steps = [
            replace(self, ability=self.ability[workers])._step(*right_and_given(counts.cells[places], part), pulled)
            for workers, places, part in rows.pieces
        ]
        ability = np.concatenate([stepped for stepped, _ in steps])
        score, information = np.sum([by_spread for _, by_spread in steps], axis=0)
        spread = self.spread and float(np.clip(self.spread + score / max(information, TINY), 0.0, MAX_SPREAD))
        by_class = counts.classes.reshape(K, -1).sum(axis=1)
        return Difficulty(_prior(by_class, alpha), crowd_errors(of_crowd.sum(axis=2)), ability, spread)

    def _effects(self) -> Floats:
        """Return ability + spread b of every worker and state: (M, K, Q)."""
        return self.ability[:, :, None] + self.spread * NODES

    def _right(self) -> Floats:
        """Return Pr(right) of every worker and state: (M, K, Q)."""
        p = special.ndtr(self._effects())
        return np.clip(p, MIN_PROBABILITY, 1 - MIN_PROBABILITY, out=p)

    def _scores(self, right: Floats, given: Floats) -> tuple[Floats, Floats]:
        """Return slope and expected curvature of the binomial log-likelihood in ability + spread b: (M, K, Q)."""
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
        score, information = replace(self, ability=ability)._scores(right, given)
        return ability, np.array([(score @ NODES).sum(), (information @ NODES**2).sum()])


def _prior(by_class: Floats, alpha: Floats) -> Floats:
    return np.asarray((by_class + alpha) / (by_class + alpha).sum())


def fit_difficulty(
    e_step: Callable[[LatentClassModel], SoftCounts],
    model: LatentClassModel,
    rows: Rows,
    alpha: Floats,
    spread: float = INITIAL_SPREAD,
) -> tuple[Difficulty, float]:
    """Estimate abilities and spread by expectation-maximisation; also return the log-likelihood (nats).

    Parameters
    ----------
    e_step : callable
        Maps a model of any states to the soft counts of all tasks.
    model : LatentClassModel
        Starting model of the K classes.
    rows : Rows
        The rows of the model and of the counts.
    alpha : (K,) array
        Prior counts of the classes.
    spread : float
        Starting value; 0 stays 0.

    Cost
    ----
    Up to 50 rounds, each an E-step of 7 K states; memory for two arrays of rows by states.
    """
    crowd, before = Difficulty.start(e_step(model), rows, alpha, spread), np.nan  # which nothing is near
    del model  # many numbers
    for n in range(SCORING_ROUNDS):
        counts = e_step(crowd.model(rows))
        log_likelihood = counts.log_likelihood
        if abs(log_likelihood - before) <= SCORING_TOL * abs(before) or n == SCORING_ROUNDS - 1:
            break
        crowd, before = crowd.after(counts, rows, alpha), log_likelihood
        del counts
    return crowd, log_likelihood


def gain_of_difficulty(fit: Fit) -> float:
    """Return how many nats the log-likelihood gains if tasks may differ in difficulty; at least zero."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        start = fit.of_rows_alone(fit.expected(fit.run(WITHOUT_OWN).counts))
    fits = [
        fit_difficulty(fit.of_rows.e_step, start, fit.rows, fit.alpha, spread)[1] for spread in (INITIAL_SPREAD, 0.0)
    ]
    return max(fits[0] - fits[1], 0.0)


# ---- design effect ----


def power(n_labels: Ints, design_effect: Floats | float) -> Floats:
    """Return beta, the power that flattens a posterior: 1 / sqrt(1 + effect (n - 1)); 1 for a task without labels."""
    return np.asarray(1 / np.sqrt(1 + design_effect * np.maximum(n_labels - 1, 0)))


@dataclass(frozen=True)
class Confidence:
    """Mean probabilities of the chosen labels under two models, as sums over tasks; `+` merges disjoint sets of tasks.

    Attributes
    ----------
    by_difficulty : float
        Sum of the probabilities under the model of difficulty, flattened by `RESIDUAL_DESIGN_EFFECT`.
    tempered : (D,) array
        The same sum under the other model, flattened by each of `DESIGN_EFFECTS`; it falls as the effect rises.
    """

    by_difficulty: float
    tempered: Floats

    def __add__(self, other: Confidence) -> Confidence:
        """Merge the sums of two disjoint sets of tasks."""
        return Confidence(self.by_difficulty + other.by_difficulty, self.tempered + other.tempered)

    @property
    def design_effect(self) -> float:
        """The interpolated design effect under which both models give the labels the same mean probability."""
        return float(np.interp(self.by_difficulty, self.tempered[::-1], DESIGN_EFFECTS[::-1]))


def confidence(z: Floats, p: Floats, n_labels: Ints) -> Confidence:
    """Return the sums for some tasks from posteriors z and p (of the model of difficulty), both (N, K), and n (N,).

    Cost: O(N K) time for each of `DESIGN_EFFECTS`.
    """
    with np.errstate(divide="ignore"):
        log_z, log_p = np.log(z / z.max(axis=1, keepdims=True)), np.log(p)
    flat = np.exp(log_p * power(n_labels, RESIDUAL_DESIGN_EFFECT)[:, None])
    by_difficulty = flat[np.arange(len(z)), z.argmax(axis=1)] / flat.sum(axis=1)
    others, (different, place) = np.sort(log_z, axis=1)[:, :-1].T.copy(), np.unique(n_labels, return_inverse=True)
    sums = []  # of the largest probabilities; classes one after the other: six times as fast as whole rows of few
    for powers in (power(different, effect)[place] for effect in DESIGN_EFFECTS):
        sums.append(float(np.sum(1 / reduce(add, (np.exp(of_class * powers) for of_class in others), 1.0))))
    return Confidence(float(by_difficulty.sum()), np.array(sums))


def confidence_of(piece: Piece, model: LatentClassModel, other: LatentClassModel, n_classes: int) -> Confidence:
    """Return the sums of the probabilities of the labels under a model, and under `other`, the model of difficulty."""
    z, p = (class_posterior(piece, one, n_classes) for one in (model, other))
    return confidence(z, p, piece.table.entries_per_row)


def learned_effect(fit: Fit, found: Rounds) -> tuple[float, Difficulty | None]:
    """Return the design effect under which the posterior is as certain as the model of difficulty, and that model.

    With very many tasks, the certainty of both is measured on a sample, with the matrices of all tasks. With an order,
    the effect is at most 5; with more than 50 classes it is 2.4, and no model is fitted.
    """
    if len(fit.alpha) > MAX_CLASSES:
        return USUAL_DESIGN_EFFECT, None
    start = fit.of_rows_alone(fit.expected(found.counts))
    difficulty, _ = fit_difficulty(fit.of_rows.e_step, start, fit.rows, fit.alpha)
    some = fit.of_rows.sample(SAMPLED_TASKS)
    other, n_classes = difficulty.model(fit.rows), len(fit.alpha)
    sure = partial(confidence_of, model=found.belief.model, other=other, n_classes=n_classes)
    effect = some.pieces.sum(sure).design_effect
    return (effect if fit.grades is None else min(effect, MAX_EFFECT_OF_GRADES)), difficulty


def tempered(posterior: Floats, n_labels: Ints, design_effect: float) -> Floats:
    """Flatten posteriors to account for dependent labels: p ~ z^beta, beta = 1 / sqrt(1 + effect (n - 1)).

    Parameters
    ----------
    posterior : (N, K) array
        z.
    n_labels : (N,) ints
        n, the number of labels of every task. With one label or none, p is z.
    design_effect : float
        With 0, p is z for all tasks.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(special.softmax(np.log(posterior) * power(n_labels, design_effect)[:, None], axis=1))


# ---- gold tasks ----


@dataclass(frozen=True)
class GoldCheck:
    """How well gold tasks are predicted by fits from which they were held out.

    Attributes
    ----------
    n_tasks : int
    error : float
        Fraction labelled wrongly.
    confidence : float
        Mean probability of the label; if the probabilities are calibrated, one minus the error.
    log_loss : float
        In nats.
    """

    n_tasks: int
    error: float
    confidence: float
    log_loss: float


@dataclass(frozen=True)
class HeldOut:
    """Posteriors (n, K) of held-out gold tasks, with their numbers of labels and classes, both (n,)."""

    posterior: Floats
    n_labels: Ints
    truth: Ints

    def log_loss(self, design_effect: float) -> float:
        """Return the mean negative logarithm of the tempered probability of the true class."""
        p = tempered(self.posterior, self.n_labels, design_effect)[np.arange(len(self.truth)), self.truth]
        return float(-np.mean(np.log(np.maximum(p, FLOOR))))

    def best_design_effect(self) -> float:
        """Return the design effect with the smallest log-loss."""
        return float(optimize.minimize_scalar(self.log_loss, bounds=(0.0, MAX_DESIGN_EFFECT), method="bounded").x)

    def check(self, design_effect: float) -> GoldCheck:
        """Return how well the held-out tasks are predicted."""
        p = tempered(self.posterior, self.n_labels, design_effect)
        tied = p >= p.max(axis=1, keepdims=True) - TIE
        right = tied[np.arange(len(p)), self.truth] / tied.sum(axis=1)
        return GoldCheck(len(p), float(1 - right.mean()), float(p.max(axis=1).mean()), self.log_loss(design_effect))


def held_out_gold(predict: Callable[[Ints], tuple[Floats, Ints]], tasks: Ints, classes: Ints) -> HeldOut:
    """Predict each fold of the gold tasks from a fit that knows only the other folds.

    Parameters
    ----------
    predict : callable
        Maps the sorted indices of tasks to their posteriors and numbers of labels.
    tasks, classes : (n,) arrays
        Sorted indices of the gold tasks, and their classes.
    """
    posterior, n_labels = zip(*(predict(tasks[fold::N_FOLDS]) for fold in range(N_FOLDS)), strict=True)
    truth = np.concatenate([classes[fold::N_FOLDS] for fold in range(N_FOLDS)])
    return HeldOut(np.concatenate(posterior), np.concatenate(n_labels), truth)
