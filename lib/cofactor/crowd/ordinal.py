"""Grades: two readings of the same labels, and the choice between them.

A task has a grade, and workers err: the **class** reading (`cofactor.crowd.graders`). Or a task has a score, and the
crowd's mean, freed from each worker's offset, tells it: the **mean** reading (`cofactor.crowd.additive`). Labels that a
fit has not seen tell which of the two predicts them better; gold tasks tell more, and the user most.

    z   mean over standard error of (squared error of class - of mean) over labels held out; mean reading if above 2
    t   the same of steps off on gold tasks, which no fit was shown; they decide if it is 1.5 or more either way

Source: this kit's; what was tried beside is in docs/aggregation.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cofactor.core.em import soft_counts
from cofactor.core.errors import CofactorError, ConvergenceWarning, listing
from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.additive import Additive, fit_additive, score_posterior
from cofactor.crowd.base import PRIOR
from cofactor.crowd.difficulty import fit_difficulty
from cofactor.crowd.evidence import UNKNOWN, Evidence
from cofactor.crowd.graders import ClassReading, Settings, read_classes
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.order import in_order
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.rows import Rows

Reading = Literal["auto", "class", "mean"]
Loss = Literal["steps", "errors"]
GRADED = "graded"
MEAN_Z = 2.0  # above it, the mean predicts held-out labels better
N_FOLDS, MANY_LABELS = 5, 30_000  # with more labels, one fold of the five is enough
DECIDING_GOLD_TASKS, GOLD_T = 5, 1.5  # gold tasks decide from so many on, where they differ by so many standard errors
MOST_GRADES = 20  # more are read as numbers: tables grow with their square
TINY = 1e-12
TAIL = 0.05  # on either side of the interval of a grade
MAX_OFFSETS_EFFECT = 5.0  # a larger one tells that offsets look like difficulty, not that labels repeat one another


def read_scores(labels: CrowdLabels) -> Additive:
    """Fit the mean reading: additive scores."""
    return fit_additive(*opinions(labels.table), labels.n_tasks, labels.n_workers)


def opinions(table: CategoricalTable) -> tuple[Ints, Ints, Floats]:
    """Return task, worker and grade of every label; several answers of one worker to one task count as their mean."""
    y = table.values.astype(np.float64)
    if not table.shared:
        return table.rows, table.variables, y
    pairs, pair = np.unique(table.rows * table.n_variables + table.variables, return_inverse=True)
    task, worker = np.divmod(pairs, table.n_variables)
    return task, worker, np.asarray(np.bincount(pair, y * table.indicator.data), dtype=np.float64)


@dataclass(frozen=True)
class HeldOutLabels:
    """How well the readings predict labels that they have not seen, of tasks with another label.

    Attributes
    ----------
    errors : (3,) array
        Mean squared error, in steps: of the class reading by counts and by types, and of the mean reading.
    z : float
        Mean over standard error of the better class prediction's squared error minus that of the mean; NaN where no
        label could be held out.
    """

    errors: Floats
    z: float


def held_out_labels(labels: CrowdLabels, settings: Settings) -> HeldOutLabels:
    """Fit both readings to four fifths of the labels, five times, and predict the others.

    Folds are always drawn with seed 0; with more than 30,000 labels, one of the five is enough.
    """
    t = labels.table
    fold = np.random.default_rng(0).integers(0, N_FOLDS, labels.n_labels)
    _, first, pair = np.unique(t.rows * t.n_variables + t.variables, return_index=True, return_inverse=True)
    fold, squares = fold[first][pair], []  # all answers of one worker to one task are held out together
    for k in range(N_FOLDS if labels.n_labels <= MANY_LABELS else 1):
        kept = fold != k
        parts, shares = (t.rows[kept], t.variables[kept], t.values[kept]), t.indicator.data[kept] if t.shared else None
        table = CategoricalTable.from_entries(*parts, t.sizes, labels.n_tasks, shares)
        rest = CrowdLabels(table, labels.tasks, labels.workers, labels.classes)
        asked = ~kept & (rest.table.entries_per_row[t.rows] > 0)
        if asked.any():
            where = t.rows[asked], t.variables[asked]
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                found = read_classes(Evidence.of(rest), settings).expected_labels(rest.table, *where)
            predicted = np.stack([*found, read_scores(rest).predict(*where)], axis=1)
            squares.append((predicted - t.values[asked][:, None]) ** 2)
    if not squares:
        return HeldOutLabels(np.full(3, np.nan), np.nan)
    errors = np.concatenate(squares)
    gain = errors[:, errors[:, :2].mean(axis=0).argmin()] - errors[:, 2]
    return HeldOutLabels(errors.mean(axis=0), float(gain.mean() / max(gain.std() / np.sqrt(len(gain)), TINY)))


@dataclass(frozen=True)
class Grading:
    """Grades as a fit reads them; arrays of classes are in the order of the labels' classes, not of the grades.

    Attributes
    ----------
    grades : (K,) ints
        Place of each class in the order.
    reading : "class" or "mean"
    chosen_by : str
        Who chose it, in words.
    held_out : HeldOutLabels or None
        Where held-out labels were asked.
    gold_t : float
        Mean over standard error of (steps off of the class reading - of the mean) on gold tasks; NaN without.
    loss : "steps" or "errors"
    classes : ClassReading or None
        The fit, if this reading was chosen.
    scores : Additive or None
    model : LatentClassModel
        Expected confusion matrices.
    design_effect : float
        By which the posterior of the class reading is flattened.
    """

    grades: Ints
    reading: Reading
    chosen_by: str
    held_out: HeldOutLabels | None
    gold_t: float
    loss: Loss
    classes: ClassReading | None
    scores: Additive | None
    model: LatentClassModel
    design_effect: float

    def answers(self, posterior: Floats) -> Ints:
        """Return the class code of every task from (N, K) probabilities: the grade of least expected loss.

        By steps, the class reading answers with the median grade. Else, and by the mean reading, whose scores are
        rounded, the most probable one.
        """
        if self.loss == "errors" or self.reading == "mean":
            return map_class(posterior, self.model.prior)
        return self._quantile(posterior, 0.5)

    def interval(self, posterior: Floats) -> tuple[Ints, Ints]:
        """Return the class codes between which the grade lies with 90 %, a twentieth on either side."""
        return self._quantile(posterior, TAIL), self._quantile(posterior, 1 - TAIL)

    def _quantile(self, posterior: Floats, share: float) -> Ints:
        """Return the class of the lowest grade below or at which at least this share lies."""
        in_order = np.argsort(self.grades)
        below = np.cumsum(posterior[:, in_order], axis=1) < share - TINY
        return np.asarray(in_order[np.minimum(below.sum(axis=1), len(in_order) - 1)])


def grade(
    labels: CrowdLabels,
    gold: Ints | None,
    order: Sequence[Any],
    settings: Settings,
    reading: Reading,
    loss: Loss,
    design_effect: float | None,
) -> Grading:
    """Read labels as grades of a declared order.

    Parameters
    ----------
    labels : CrowdLabels
        Copies merged, some task with two labels.
    gold : (N,) class codes, -1 where unknown, or None
    order : sequence of all classes, the lowest first
    settings : Settings
    reading : "auto", "class" or "mean"
        Auto: held-out labels choose, unless gold tasks speak clearly; with more than 20 grades, mean.
    loss : "steps" or "errors"
    design_effect : float, optional
        Default: learned as for worker types, but at most 5.

    Cost: that of `read_classes` six times, and of the model of difficulty once.
    """
    graded = in_order(labels, order)
    if graded.n_classes != labels.n_classes:
        unused = [name for name in graded.classes if name not in set(labels.classes)]
        raise CofactorError(
            f"order has grades that are no classes of these labels: {listing(map(repr, unused))}; "
            "give the labels as crowd.in_order(labels, order), which adds them"
        )
    place = {name: k for k, name in enumerate(graded.classes)}
    grades = np.array([place[name] for name in labels.classes])
    known = None if gold is None else np.where(gold == UNKNOWN, UNKNOWN, grades[gold])
    chosen, chosen_by, held_out, gold_t = _choose(graded, known, settings, reading)
    classes, scores = None, None
    if chosen == "class":
        classes = read_classes(Evidence.of(graded, known), settings)
        r = classes.grades(graded.table)
    else:
        scores = read_scores(graded)
        r = score_grades(graded.table, scores, scores.b)
    if known is not None:
        r = np.where((known == UNKNOWN)[:, None], r, np.eye(graded.n_classes)[known])
    if design_effect is None:
        design_effect = _learned_effect(graded, known, classes, r) if classes else 0.0
    model = expected_model(labels, r[:, grades])
    return Grading(grades, chosen, chosen_by, held_out, gold_t, loss, classes, scores, model, design_effect)


def _choose(
    labels: CrowdLabels, gold: Ints | None, settings: Settings, reading: Reading
) -> tuple[Reading, str, HeldOutLabels | None, float]:
    """Return the reading, who chose it, and by which numbers."""
    if reading != "auto":
        return reading, "as asked for", None, np.nan
    if labels.n_classes > MOST_GRADES:
        return "mean", f"since there are more than {MOST_GRADES} grades", None, np.nan
    found, t = held_out_labels(labels, settings), np.nan
    if gold is not None and np.sum(gold != UNKNOWN) >= DECIDING_GOLD_TASKS:
        t = _by_gold(labels, gold, settings)
        if abs(t) >= GOLD_T:
            return ("mean" if t > 0 else "class"), "by gold tasks", found, t
    return ("mean" if found.z > MEAN_Z else "class"), "by labels held out", found, t


def _by_gold(labels: CrowdLabels, gold: Ints, settings: Settings) -> float:
    """Return mean over standard error of how much nearer the mean reading is on gold tasks, which no fit was shown."""
    known = np.flatnonzero(gold != UNKNOWN)
    classes, scores = read_classes(Evidence.of(labels), settings), read_scores(labels)
    read = classes.grades(labels.table), score_grades(labels.table, scores, scores.b)
    answers = np.sum(np.cumsum(read[0], axis=1) < 0.5, axis=1), read[1].argmax(axis=1)
    off, off_mean = (np.abs(answer[known] - gold[known]).astype(np.float64) for answer in answers)
    gain = off - off_mean
    return float(gain.sum() / max(np.sqrt(gain @ gain), TINY))


def score_grades(table: CategoricalTable, scores: Additive, b: Floats) -> Floats:
    """Return (N, K) grade probabilities by a mean reading; b (M,) are the offsets of the workers of the table."""
    task, worker, y = opinions(table)
    return score_posterior(task, y - b[worker], scores.ve, table.n_rows, int(table.sizes[0]))[1]


def expected_model(labels: CrowdLabels, r: Floats) -> LatentClassModel:
    """Return expected confusion matrices with their prior, and the classes' shares in votes and r together."""
    seen = labels.table.entries_per_row > 0
    counts = soft_counts(labels.table, r * seen[:, None])
    votes = vote_shares(labels)[seen].sum(axis=0)
    whole = replace(counts, classes=counts.classes + votes)
    return whole.model(np.tile(prior_cells(PRIOR, labels.n_classes), (labels.n_workers, 1)))


def _learned_effect(labels: CrowdLabels, gold: Ints | None, classes: ClassReading, r: Floats) -> float:
    """Return the design effect under which the class reading is as sure as the model of difficulty, at most 5."""
    evidence, model = Evidence.of(labels, gold), expected_model(labels, r)
    rows = Rows.all(labels.n_workers, labels.n_classes)
    difficulty = fit_difficulty(evidence.e_step, model, rows, classes.belief.alpha)
    return min(evidence.confidence(classes.states, difficulty.model(rows)).design_effect, MAX_OFFSETS_EFFECT)
