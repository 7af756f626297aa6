"""Graders: worker types on the scale of grades, with one more type, "graded", who errs by steps along it.

Classes are grades k = 0, ..., K - 1 of a declared order. Each is read as m = 3 scores x = k - 1/3, k, k + 1/3. A grader
draws a normal number of spread s around x + b and rounds it to a grade, or, upside down, around K - 1 - x. Offset,
spread and direction are taken from a fixed list of J = 60: nine offsets with six spreads, and six spreads upside down.

    P_j(l | x) = .98 [Phi((l + 1/2 - x - b) / s) - Phi((l - 1/2 - x - b) / s)] + .02 / K     ends open (Phi = 0, 1)
    omega_j proportional to exp(-(b / h)^2 / (2 .25^2)),   h = (K - 1) / 4;   a tenth in all for those upside down

    symbol   meaning                                                                       shape
    K, m     grades, scores of a grade
    g        state: score of a grade, k(g) = g // m                                        G = K m of them
    j        offset, spread and direction                                                  J of them
    P        tables                                                                        (J, K labels, G)
    omega    their weights; fixed: learned, the scale drifts                               (J,)
    r_ig     posterior of state g for task i                                               (N, G)
    C_wlg    expected labels l of worker w in state g; C_wlk its sums inside grades        (rows, G)
    L_wj     log-probability of worker w's labels by table j: sum_lg C_wlg log P_j         (M, J)
    q_wj     probability that worker w grades by table j                                   (M, J)

    L_w,graded = log sum_j omega_j exp L_wj,   q_wj = q_w,graded omega_j exp(L_wj - L_w,graded)
    E_w[l, g]  = sum of the other types' q_wt E_t[l, k(g)] + sum_j q_wj log P_j(l | x_g)
    r_ig proportional to exp(E log pi_k(g) - log m + sum over labels of E_w[l, g])

All else is as in `cofactor.crowd.types`, but for the errors of the crowd: they count every worker, whatever the type.
Weighted by the types they follow the few workers whom graders leave over, and `web` falls from 88 to 74 %. So the bound
may fall here.

Source: this kit's; the tables are the graded responses of Johnson, "On Bayesian analysis of multirater ordinal data",
JASA 1996, on a lattice of offsets and spreads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cofactor.core.em import SoftCounts
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.additive import between
from cofactor.crowd.base import PRIOR
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.rows import Rows
from cofactor.crowd.shares import type_probabilities
from cofactor.crowd.types import (
    Believe,
    Counts,
    TypesBelief,
    WorkerType,
    crowd_errors,
    iterate,
    log_dirichlet_constant,
)

SCORES = 3  # m
OFFSETS = np.array([-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5])  # in units of h
SPREADS = np.array([0.25, 0.4, 0.6, 0.9, 1.3, 2.0])  # in units of h
OFFSET_WIDTH = 0.25  # of omega, in units of h; chosen on public sets, see docs/aggregation.md
REVERSED_SHARE = 0.1  # of omega
LAPSE = 0.02  # share of labels that are any grade
MIN_CLASS_VOTES = 1e-3


def graded_tables(n_grades: int) -> tuple[Floats, Floats]:
    """Return log P (J, K, G) and log omega (J,) of the module's symbols: offsets outer, spreads inner, reversed last.

    >>> log_p, log_weight = graded_tables(5)
    >>> log_p.shape, bool(np.allclose(np.exp(log_p).sum(axis=1), 1)), round(float(np.exp(log_weight).sum()), 6)
    ((60, 5, 15), True, 1.0)
    """
    h, top = (n_grades - 1) / 4, n_grades - 1
    b, s = (grid.ravel() * h for grid in np.meshgrid(OFFSETS, SPREADS, indexing="ij"))
    x = np.repeat(np.arange(n_grades), SCORES) + np.tile((np.arange(SCORES) - 1) / SCORES, n_grades)
    centre = np.concatenate([x + b[:, None], np.tile(top - x, (len(SPREADS), 1))])
    spread = np.concatenate([s, SPREADS * h])
    P = between(n_grades, centre[:, None, :], spread[:, None, None])
    weight = np.exp(-((b / h) ** 2) / (2 * OFFSET_WIDTH**2))
    shares = np.concatenate(
        [(1 - REVERSED_SHARE) * weight / weight.sum(), np.full(len(SPREADS), REVERSED_SHARE / len(SPREADS))]
    )
    return np.log((1 - LAPSE) * P + LAPSE / n_grades), np.log(shares)


@dataclass(frozen=True)
class GradedBelief(TypesBelief):
    """What is believed of workers and states; `types`, `q` and `rho` of `TypesBelief` have "graded" last.

    Attributes
    ----------
    cells : (R, G) array
        C_wlg.
    log_tables : (J, K, G) array
        log P.
    graders : (M, J) array
        q_wj.
    """

    cells: Floats
    log_tables: Floats
    graders: Floats

    @cached_property
    def expected_log_labels(self) -> Floats:
        """Expected log-probability of the label of every row under each state, E of the symbols: (R, G)."""
        owner = self.counts.rows.owner
        parts = (self.q[owner, t, None] * kind.expected_log(self.counts) for t, kind in enumerate(self.types))
        logs = np.repeat(np.asarray(sum(parts)), SCORES, axis=1)
        for label, rows in enumerate(rows_of_labels(self.counts.rows)):
            logs[rows] += self.graders[owner[rows]] @ self.log_tables[:, label]
        return logs

    def expected_logs(self) -> LatentClassModel:
        """Return exp of the expected logarithms, as a model of the states whose columns sum to less than one."""
        log_prior = special.digamma(self.nu) - special.digamma(self.nu.sum()) - np.log(SCORES)
        prior, cells = np.exp(np.repeat(log_prior, SCORES)), np.exp(self.expected_log_labels)
        return LatentClassModel.from_stacked(prior, cells, self.counts.rows.sizes)

    def divergence(self) -> float:
        """Return what the log-likelihood under `expected_logs` is above the bound (nats)."""
        given = self.nu - self.alpha
        classes = log_dirichlet_constant(self.nu) - log_dirichlet_constant(self.alpha)
        expected = float(given @ (special.digamma(self.nu) - special.digamma(self.nu.sum())))
        return float(np.vdot(self.cells, self.expected_log_labels)) + expected - self.bound - classes

    def everywhere(self) -> GradedBelief:
        """Return the same belief with a row for every pair of a worker and a label."""
        counts, rows = super().everywhere().counts, self.counts.rows
        cells = np.zeros((len(counts.rows.owner), self.cells.shape[1]))
        cells[rows.owner * rows.n_classes + rows.label] = self.cells
        return replace(self, counts=counts, cells=cells)


class GradedBelieve(Believe):
    """From soft counts of states to the belief they lead to: as `Believe`, whose types are those beside "graded"."""

    def __init__(self, types: Sequence[WorkerType], rows: Rows, alpha: Floats, active: NDArray[np.bool_]) -> None:
        super().__init__(types, rows, alpha, active)
        self.rho = np.full(len(types) + 1, 1 / (len(types) + 1))
        self.log_tables, self.log_weights = graded_tables(rows.n_classes)
        self.of_labels = rows_of_labels(rows)

    def __call__(self, counts: SoftCounts, settle: bool = False) -> GradedBelief:
        """M-step: return the belief that these expected counts of the rows lead to; `settle` as in `Believe`."""
        C = within_grades(counts.cells)
        found = Counts(self.rows, C, crowd_errors(self.rows.by_label(C)))
        by_table = self.rows.by_worker(self._log_tables(counts.cells)) + self.log_weights
        graded = special.logsumexp(by_table, axis=1)
        L = np.stack([*(kind.log_evidence(found) for kind in self.types), graded], axis=1)
        self.rho = self._shares(L, settle)
        q, log_total = type_probabilities(self.rho, L)
        graders = q[:, -1:] * np.exp(by_table - graded[:, None])
        nu = self.alpha + within_grades(counts.classes)
        bound = float(log_total[self.active].sum())
        return GradedBelief(
            self.types, found, self.alpha, nu, self.rho, q, bound, counts.cells, self.log_tables, graders
        )

    def _log_tables(self, cells: Floats) -> Floats:
        """Return what each row adds to its worker's log-probability under every table of grading, L_wj: (R, J)."""
        logs = np.empty((len(cells), len(self.log_tables)))
        for label, rows in enumerate(self.of_labels):
            logs[rows] = cells[rows] @ self.log_tables[:, label].T
        return logs


def rows_of_labels(rows: Rows) -> list[Ints]:
    """Return, of every label, the numbers of its rows."""
    return [np.flatnonzero(rows.label == label) for label in range(rows.n_classes)]


def within_grades(states: Floats) -> Floats:
    """Add up the scores of each grade along the last axis."""
    return np.asarray(states.reshape(*states.shape[:-1], -1, SCORES).sum(axis=-1))


def in_states(counts: SoftCounts) -> SoftCounts:
    """Return the same counts, those of each grade shared equally by its scores."""
    cells, classes = (np.repeat(x, SCORES, axis=-1) / SCORES for x in (counts.cells, counts.classes))
    return replace(counts, cells=cells, classes=classes)


@dataclass(frozen=True)
class ClassReading:
    """Worker types with graders among them, fitted to labels whose codes are grades.

    Attributes
    ----------
    belief : GradedBelief
    counts : SoftCounts
        Of the rows, in states: those of the posterior under the belief.
    result : Result
    """

    belief: GradedBelief
    counts: SoftCounts
    result: Result

    @cached_property
    def states(self) -> LatentClassModel:
        """The model of the states, with a row for every pair of a worker and a label."""
        return self.belief.everywhere().expected_logs()

    def grades(self, table: CategoricalTable) -> Floats:
        """Return r (N, K), not flattened, of a table of the same workers."""
        return within_grades(self.states.posterior(table))

    def expected_labels(self, table: CategoricalTable, task: Ints, worker: Ints) -> tuple[Floats, Floats]:
        """Return two predictions of the labels that `worker` (E,) gave to `task` (E,) of a table of other labels.

        From expected counts, sum_k r_ik sum_l l P_w(l | k) with the prior of confusion matrices; and from the types,
        sum_g r_ig sum_l l P_w(l | g), P_w(. | g) proportional to exp E_w[., g].
        """
        rows, K = self.belief.counts.rows, table.sizes[0]
        r, grades = self.states.posterior(table), np.arange(K)
        cells = np.zeros((rows.n_workers * K, K))
        cells[rows.owner * K + rows.label] = within_grades(self.counts.cells)
        P = cells.reshape(-1, K, K) + prior_cells(PRIOR, K)
        counted = np.einsum("wlk,l->wk", P, grades) / P.sum(axis=1)
        E = self.states.stacked.reshape(-1, K, K * SCORES)
        typed = np.einsum("wlg,l->wg", E, grades) / E.sum(axis=1)
        return np.sum(within_grades(r)[task] * counted[worker], axis=1), np.sum(r[task] * typed[worker], axis=1)


@dataclass(frozen=True)
class Settings:
    """Of the class reading: the types offered beside "graded", and when rounds stop."""

    types: tuple[WorkerType, ...]
    max_iter: int
    tol: float


def read_classes(evidence: Evidence, settings: Settings) -> ClassReading:
    """Fit the class reading. A round costs an E-step of 3 K states and O(rows K J) for J = 60 tables."""
    of_rows = evidence.occurring()
    rows, votes = of_rows.rows, of_rows.start()
    start = in_states(replace(votes, sizes=rows.sizes))
    believe = GradedBelieve(settings.types, rows, np.maximum(votes.classes, MIN_CLASS_VOTES), rows.sizes > 0)
    belief, counts, result = iterate(of_rows.e_step, start, believe, settings.max_iter, settings.tol)
    assert isinstance(belief, GradedBelief)  # what `believe` returns
    return ClassReading(belief, counts, result)
