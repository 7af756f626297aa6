"""The rounds of a fit inside a database: a small model in, sums out, one query a round.

The table of coded labels (`cofactor_app.scale.coded`) is joined with a table of numbers by cell, which are added up by
task; what is made of these sums, a row a task, is joined with the labels again and added up by cell.

    score      one row a task: n labels, sums s_0, s_1, ... of the numbers of its cells
    posterior  exp(s_k - max) / sum over k, and the logarithm of that sum, the evidence

The numbers of the cell -1, which every task has once, are the logarithms of the prior; its sums are those of the tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cofactor.core.em import SoftCounts, em_rounds
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import FLOOR, LatentClassModel
from cofactor.core.lazy import optimize, pd
from cofactor.core.result import History
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.dependence import Dependence
from cofactor.crowd.difficulty import DESIGN_EFFECTS, RESIDUAL_DESIGN_EFFECT, Confidence
from cofactor.crowd.evidence import Evidence, GoldEvidence, Split
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.voting import DawidSkene
from cofactor.crowd.worker_types import WorkerTypes
from cofactor_app.scale.coded import CHANGED, CODED, CodedLabels
from cofactor_app.scale.doors import OWN
from cofactor_app.scale.held import HeldLabels

MODEL = f"{OWN}model"
NEVER = -1e4  # logarithm of zero: a task in which every class has one does not occur, see `LatentClassModel.explain`


def per(numbers: Sequence[int] | range, form: str, between: str = ", ") -> str:
    """Return a text for each number, one after the other."""
    return between.join(form.format(k=k) for k in numbers)


def softmax(states: range, source: str, name: str) -> str:
    """Return the steps from sums of logarithms, those of some numbers, to probabilities and their evidence."""
    return f"""
    {name}_best AS (SELECT *, GREATEST({per(states, "s{k}")}) AS {name}_best FROM {source}),
    {name}_mass AS (SELECT *, {per(states, f"EXP(s{{k}} - {name}_best)", " + ")} AS {name}_mass FROM {name}_best),
    {name} AS (SELECT *, {name}_best + LN({name}_mass) AS {name}_evidence,
      {per(states, f"EXP(s{{k}} - {name}_best) / {name}_mass AS {name}{{k}}")} FROM {name}_mass)"""


@dataclass(frozen=True)
class Asked:
    """Numbers by cell in the database, and the query of their sums by task: `score`."""

    labels: CodedLabels
    n_numbers: int

    @classmethod
    def about(cls, labels: CodedLabels, cells: Ints, numbers: Floats, own: Floats) -> Asked:
        """Put (R, C) numbers of some cells, and those of the tasks' own rows (C,), into the database."""
        table = pd.DataFrame(np.vstack([numbers, own]), columns=[f"v{k}" for k in range(numbers.shape[1])])
        table.insert(0, "cell", np.append(cells, -1).astype(np.int64))
        labels.door.put(MODEL, table)
        return cls(labels, numbers.shape[1])

    @property
    def score(self) -> str:
        """Return the step that adds up the numbers by task."""
        sums = per(range(self.n_numbers), "SUM(m.v{k}) AS s{k}")
        return f"""score AS (SELECT c.task AS task, COUNT(*) - 1 AS n, {sums}
      FROM {CODED} AS c JOIN {MODEL} AS m ON m.cell = c.cell GROUP BY c.task)"""

    def by_cell(self, steps: str, of: str, numbers: Sequence[str]) -> str:
        """Return the query that adds up numbers of tasks by cell: `steps` make the table `of` from `score`."""
        sums = ", ".join(f"SUM(t.{number}) AS c{k}" for k, number in enumerate(numbers))
        return f"""WITH {self.score}, {steps}
    SELECT c.cell AS cell, COUNT(*) AS n, {sums} FROM {CODED} AS c JOIN {of} AS t ON t.task = c.task GROUP BY c.cell"""


class DatabaseEvidence(Evidence):
    """Labels in a database, as the sums that a fit needs; see `Evidence`.

    Cost: a query a sum. Each reads all labels twice, and moves a table of cells in and one out.
    """

    def __init__(self, labels: CodedLabels, votes: SoftCounts | None = None, rows: Ints | None = None) -> None:
        super().__init__([], None, votes, rows)
        self.coded = labels

    @property
    def _cells(self) -> Ints:
        every = len(self.coded.workers) * len(self.coded.classes)
        return np.arange(every) if self.rows is None else self.rows

    @property
    def _sizes(self) -> Ints:
        return np.bincount(self._cells // len(self.coded.classes), minlength=len(self.coded.workers))

    def start(self, split: Split | None = None, one_by_one: bool = False) -> SoftCounts:
        """Return the soft counts of the vote shares."""
        if split is not None:
            raise CofactorError("methods that start at random need all labels in memory")
        if self.votes is None:
            K = len(self.coded.classes)
            asked = Asked.about(self.coded, self._cells, np.eye(K)[self._cells % K], np.zeros(K))
            share = f"share AS (SELECT *, {per(range(K), 's{k} / n AS p{k}')} FROM score)"
            self.votes = self._counts(asked.by_cell(share, "share", [f"p{k}" for k in range(K)]), K)[0]
        return self.votes

    def of_rows(self, rows: Ints) -> DatabaseEvidence:
        """Return the same labels, asked about by models of these rows only."""
        return DatabaseEvidence(self.coded, self.votes, rows)

    def e_step(self, model: LatentClassModel) -> SoftCounts:
        """Return the soft counts of the posterior states."""
        numbers = [f"p{s}" for s in range(model.n_classes)]
        steps = softmax(range(model.n_classes), "score", "p")
        query = self._of_states(model).by_cell(steps, "p", [*numbers, "p_evidence"])
        counts, evidence = self._counts(query, model.n_classes)
        return SoftCounts(counts.cells, counts.classes, counts.n_rows, counts.sizes, evidence)

    def agreement(self, model: LatentClassModel) -> Floats:
        """Return (K, K) sums over tasks of vote share, by label, times posterior, by class."""
        K = model.n_classes
        share = f"{softmax(range(K), 'score', 'p')}, share AS (SELECT task, {per(range(K), 'p{k} / n AS q{k}')} FROM p)"
        query = self._of_states(model).by_cell(share, "share", [f"q{k}" for k in range(K)])
        cells = self._counts(query, K)[0].cells
        return np.asarray(cells.reshape(-1, K, K).sum(axis=0))

    def dependence(self, model: LatentClassModel, p: Floats) -> Dependence:
        """Return how far workers err together under a model of K classes; p are their (M, K) accuracies."""
        K = len(self.coded.classes)
        mine = p[self._cells // K]
        e, h = np.eye(K)[self._cells % K] - mine, np.sqrt(mine * (1 - mine))
        numbers = np.hstack([floored(model.stacked), e, e**2, h, h**2])
        asked = Asked.about(self.coded, self._cells, numbers, np.append(floored(model.prior), np.zeros(4 * K)))
        pairs = "p{0} * (s{1} * s{1} - s{2})"
        T, most = (" + ".join(pairs.format(k, first + k, first + K + k) for k in range(K)) for first in (K, 3 * K))
        query = f"""WITH {asked.score}, {softmax(range(K), "score", "p")},
    pairs AS (SELECT {T} AS t, {most} AS most FROM p) SELECT SUM(t) AS e, SUM(t * t) AS s, SUM(most) AS m FROM pairs"""
        return Dependence(*self.coded.door.ask(query).astype(float).iloc[0])

    def confidence(self, model: LatentClassModel, other: LatentClassModel) -> Confidence:
        """Return how probable the labels chosen by a model are, flattened, and under `other`, that of difficulty."""
        K, S = model.n_classes, other.n_classes
        numbers, prior = np.hstack([floored(model.stacked), floored(other.stacked)]), [model.prior, other.prior]
        asked = Asked.about(self.coded, self._cells, numbers, floored(np.concatenate(prior)))
        steps = f"{softmax(range(K), 'score', 'z')}, {softmax(range(K, K + S), 'z', 'p')}, {_sure(K, S // K)}"
        tempered = [f"SUM(1 / ({per(range(K), f'POWER(r{{k}}, {power_of(x)})', ' + ')})) AS t{i}" for i, x in DESIGN]
        found = self.coded.door.ask(
            f"WITH {asked.score}, {steps} SELECT SUM(sure) AS sure, {', '.join(tempered)} FROM sure"
        )
        values = found.astype(float).iloc[0].to_numpy()
        return Confidence(float(values[0]), values[1:])

    def _of_states(self, model: LatentClassModel) -> Asked:
        return Asked.about(self.coded, self._cells, _logs(model.stacked), _logs(model.prior))

    def _counts(self, query: str, n_states: int) -> tuple[SoftCounts, float]:
        """Return the sums of a query by cell, and that of what it has besides, over the tasks."""
        found = self.coded.door.ask(query).astype(float)
        sums, cells = found.iloc[:, 2 : 2 + n_states].to_numpy(), self._cells
        own, place = (found["cell"] < 0).to_numpy(), np.searchsorted(cells, found["cell"].to_numpy(int))
        counts = np.zeros((len(cells), n_states))
        counts[place[~own]] = sums[~own]
        n_tasks, n_labels = int(found.loc[own, "n"].sum()), int(found.loc[~own, "n"].sum())
        if (n_tasks, n_labels) != (self.coded.n_tasks, self.coded.n_labels):
            raise CofactorError(CHANGED)
        return SoftCounts(counts, sums[own][0], n_tasks, self._sizes), float(found[own].to_numpy()[0, -1])


DESIGN = list(enumerate(DESIGN_EFFECTS))


def power_of(design_effect: float) -> str:
    """Return the power that flattens the posterior of a task of n labels, as `difficulty.power`."""
    return f"(1 / SQRT(1 + {design_effect:.17e} * (n - 1)))"


def _sure(K: int, Q: int) -> str:
    """Return the step to posteriors by class, relative to the largest (r), and how sure the model of difficulty is."""
    added = ", ".join(f"{per(range(K + k * Q, K + (k + 1) * Q), 'p{k}', ' + ')} AS d{k}" for k in range(K))
    flat = per(range(K), f"POWER(d{{k}}, {power_of(RESIDUAL_DESIGN_EFFECT)})", " + ")
    largest = "CASE " + " ".join(f"WHEN s{k} = z_best THEN d{k}" for k in range(K)) + " END"
    return f"""by_class AS (SELECT n, {per(range(K), "EXP(s{k} - z_best) AS r{k}")}, {added},
      z_best, {per(range(K), "s{k}")} FROM p),
    sure AS (SELECT n, {per(range(K), "r{k}")}, POWER({largest}, {power_of(RESIDUAL_DESIGN_EFFECT)}) / ({flat}) AS sure
      FROM by_class)"""


def floored(probabilities: Floats) -> Floats:
    """Return logarithms of probabilities, those below `FLOOR` taken as `FLOOR`, as a posterior does."""
    return np.log(np.maximum(probabilities, FLOOR))


def _logs(probabilities: Floats) -> Floats:
    """Return logarithms as an E-step takes them: `NEVER` of a probability of zero, so that it stays zero."""
    return np.where(probabilities > 0, floored(probabilities), NEVER)


# ---- fits ----


def evidence_of(labels: CodedLabels, here: bool | None = None) -> Evidence:
    """Return the sums of coded labels that a fit needs.

    `here`: the coded labels are held in this process (`HeldLabels`), which computes the rounds; else each round is a
    query. Default: as the door says, since that of a database in this process moves nothing.
    Cost: as from shards, or a query a sum, see `DatabaseEvidence`.
    """
    if not (labels.door.here if here is None else here):
        return DatabaseEvidence(labels)
    pieces = HeldLabels(labels)
    return Evidence(pieces, votes=Evidence(pieces).start())


def fit(method: Aggregator, labels: CodedLabels, evidence: Evidence | None = None) -> Aggregator:
    """Fit WorkerTypes or MV-EM to coded labels; returns the method, fitted.

    `evidence` is that of these labels, or of WorkerTypes `GoldEvidence`, of which some are held apart; default: as
    `evidence_of` has it.
    Equal to the fit in memory up to rounding, with the copies that were merged (`cofactor_app.scale.copies`).
    Raises a CofactorError for another method.
    """
    evidence = evidence or evidence_of(labels)
    votes = evidence.start()
    if isinstance(method, WorkerTypes):
        method.workers_, method.classes_ = labels.workers, labels.classes
        method.fit_evidence(evidence, labels.owner)
    elif isinstance(method, DawidSkene):
        _by_em(method, evidence, votes, labels.given)
    else:
        raise CofactorError(
            f"{type(method).__name__} needs all labels in memory; in a database work WorkerTypes and MV-EM"
        )
    method.workers_, method.classes_ = labels.workers, labels.classes
    method.gold_ = evidence.known if isinstance(evidence, GoldEvidence) else {}
    method.labels_given_ = labels.given
    return method


def _by_em(method: DawidSkene, evidence: Evidence, votes: SoftCounts, given: Ints) -> None:
    """Go through the rounds of `DawidSkene.fit`, and name the classes as it does."""
    K = len(votes.classes)
    own = np.kron((given > 0)[:, None], np.eye(K)).astype(np.float64)
    model, cells = votes.model(unseen=own), np.tile(prior_cells(method.pseudo_counts, K), (len(given), 1))
    history = History("EM", method.max_iter, method.tol, method.verbose)
    for found in em_rounds(evidence.e_step, model, history, cells, own):
        model = found
    order = optimize.linear_sum_assignment(evidence.agreement(model), maximize=True)[1]
    method.model_, method.result_ = model.reorder(order), history.result()
