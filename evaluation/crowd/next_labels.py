"""Beyond the paper: labels of real crowds revealed one after another, where `next_tasks` says or evenly.

A set has its labels; a task that is asked for shows one of those that are still hidden, drawn at random. Both ways
start from the same two labels a task, and the method is fitted again after every batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd import CrowdLabels, WorkerTypes, error_rate
from cofactor.data import load
from cofactor.verbs.next_tasks import next_tasks
from evaluation.experiment import Measurement, experiment, measure

EVENLY, RULE = "evenly", "next_tasks"
START, BATCH, END = 2, 0.25, 7.5  # labels a task: at the start, in a batch, at the end
SHOWN = (3.0, 4.0, 6.0)  # labels a task at which errors are told
LEVEL, HALF_WINDOW = 6.0, 0.5  # labels a task whose error, evenly, is to be met; errors are means over windows

Choose = Callable[[CrowdLabels, WorkerTypes, Ints, int, np.random.Generator], Ints]


@dataclass(frozen=True)
class Curve:
    """The result of one strategy after every batch; all arrays (n,).

    Attributes
    ----------
    amount : labels a task
    error, estimated : shares of wrong labels, the true one and the method's own estimate
    """

    amount: Floats
    error: Floats
    estimated: Floats

    def near(self, amount: float, values: Floats) -> float:
        """Mean of some values over the window around an amount."""
        return float(values[np.abs(self.amount - amount) <= HALF_WINDOW + 1e-9].mean())


@experiment(
    "crowd-next",
    title="Which task next: labels of five crowds revealed by next_tasks, and evenly",
    source="Beyond Ibrahim and Fu, ICML 2021",
    settings={
        "bluebird": "Bluebird (N=108, K=2)",
        "dog": "Dog (N=807, K=4)",
        "rte": "RTE (N=800, K=2)",
        "weather_amt": "Weather, Mechanical Turk (N=300, K=5)",
        "face_sentiment": "Faces (N=584, K=4)",
    },
    metrics={
        "error, 3 labels": "%",
        "error, 4 labels": "%",
        "error, 6 labels": "%",
        "saved": "%",
        "estimate, 3 labels": "%",
        "estimate, 4 labels": "%",
        "estimate, 6 labels": "%",
    },
    trials=20,
)
def revealed(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Measure both strategies on one set, from the same start.

    Every set begins with two of its labels a task, drawn at random. Then labels are revealed in batches of a quarter
    of a label a task, up to 7.5 a task: by next_tasks, or where there are fewest. Both ways start from the same
    labels, and a task that is asked for shows a hidden label at random. WorkerTypes is fitted again after every
    batch. Errors are those of all tasks whose truth is known, ties split, as means over windows of one label a task,
    since single ones jump. 'saved': by how many labels less next_tasks meets the error that asking evenly has with 6
    labels a task; for the way 'evenly' itself this is what chance alone gives, since its error does not fall at every
    step. 'estimate': the method's own estimate of its error, the mean of 1 - probability, by which next_tasks says
    when to stop. Sets were chosen before any was tried: those of the benchmark that have nine labels a task or more,
    and were not used to choose the rule (these were sentiment_1k, sentiment_polarity_amt, zencrowd_us and web). A
    task has no more labels than the set: 9 or 10 in dog, rte and face_sentiment, which holds next_tasks back.
    """
    found = load(setting, "crowd")
    seed = int(rng.integers(2**31))
    curves: dict[str, Curve] = {}

    def measured(name: str, choose: Choose) -> dict[str, float]:
        curves[name] = asked(found.labels, found.truth, choose, np.random.default_rng(seed))
        return told(curves[name], curves[EVENLY])

    ways = {EVENLY: evenly, RULE: by_rule}
    return [row for name, choose in ways.items() for row in measure(name, partial(measured, name, choose))]


def told(curve: Curve, even: Curve) -> dict[str, float]:
    """Return the numbers of one strategy."""
    amounts = {f"{amount:g} labels": amount for amount in SHOWN}
    return {
        **{f"error, {name}": 100 * curve.near(amount, curve.error) for name, amount in amounts.items()},
        "saved": 100 * saved(curve, even),
        **{f"estimate, {name}": 100 * curve.near(amount, curve.estimated) for name, amount in amounts.items()},
    }


def saved(curve: Curve, even: Curve) -> float:
    """Share of the labels that are saved where the error is first as low as evenly with `LEVEL` labels a task.

    Never reached counts as reached at the end.
    """
    wanted = even.near(LEVEL, even.error)
    whole = curve.amount[(curve.amount >= START + HALF_WINDOW) & (curve.amount <= END - HALF_WINDOW)]
    reached = [amount for amount in whole if curve.near(amount, curve.error) <= wanted + 1e-12]
    return 1 - (reached[0] if reached else END - HALF_WINDOW) / LEVEL


def asked(labels: CrowdLabels, truth: Ints, choose: Choose, rng: np.random.Generator) -> Curve:
    """Reveal labels batch by batch, and fit each time."""
    place, there = random_places(labels.table, rng), labels.table.entries_per_row
    shown, n_batch, points = np.minimum(START, there), round(BATCH * labels.n_tasks), []
    while True:
        known = only(labels, place < shown[labels.table.rows])
        method = WorkerTypes().fit(known)
        posterior = method.predict_proba(known)
        points.append(
            (known.n_labels / labels.n_tasks, error_rate(posterior, truth), np.mean(1 - posterior.max(axis=1)))
        )
        free = there - shown
        if points[-1][0] >= END - 1e-9 or not free.any():
            return Curve(*np.array(points).T)
        shown = shown + choose(known, method, free, min(n_batch, int(free.sum())), rng)


def random_places(table: CategoricalTable, rng: np.random.Generator) -> Ints:
    """Return the place of every label among those of its task, in random order, from 0."""
    order = np.lexsort((rng.random(table.n_entries), table.rows))
    first = np.cumsum(table.entries_per_row) - table.entries_per_row
    place = np.empty(table.n_entries, dtype=np.int64)
    place[order] = np.arange(table.n_entries) - first[table.rows]
    return place


def only(labels: CrowdLabels, chosen: NDArray[np.bool_]) -> CrowdLabels:
    """Return some of the labels; all tasks and workers stay."""
    old = labels.table
    entries = old.rows[chosen], old.variables[chosen], old.values[chosen]
    table = CategoricalTable.from_entries(*entries, old.sizes, old.n_rows)
    return CrowdLabels(table, labels.tasks, labels.workers, labels.classes)


def evenly(known: CrowdLabels, _: WorkerTypes, free: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return how many labels to reveal of every task: where there are fewest, at random among equals."""
    return fewest(known.table.entries_per_row, free, n, rng)


def fewest(there: Ints, free: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return the same for tasks that have so many labels, and so many that can be revealed."""
    more = np.zeros_like(free)
    for _ in range(n):
        amount = np.where(more < free, there + more, np.iinfo(np.int64).max)
        more[rng.choice(np.flatnonzero(amount == amount.min()))] += 1
    return more


def by_rule(known: CrowdLabels, method: WorkerTypes, free: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return the same by `next_tasks`, as far as labels are left; the rest evenly."""
    budget, code = n, {task: number for number, task in enumerate(known.tasks)}
    while True:
        table = next_tasks(known, budget, method=method).table
        more = np.zeros_like(free)
        for task, ask in zip(table["task"], table["ask"], strict=True):
            more[code[task]] = min(ask, free[code[task]], n - more.sum())
        if more.sum() == n or table["ask"].sum() < budget:
            return more + fewest(known.table.entries_per_row + more, free - more, n - int(more.sum()), rng)
        budget *= 2
