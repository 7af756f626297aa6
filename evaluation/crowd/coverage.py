"""How often the 90 % interval of a worker's accuracy holds what the truth says, set by set.

`python -m evaluation.crowd.coverage` prints the table of docs/aggregation.md, for the sets of `families.py` that this
machine has. Truth is known of some tasks only on a few sets, and these are not drawn at random: on `fact` workers agree
on them far more often than on all. So the interval is also computed for the labels of known truth alone.

    symbol   meaning
    n, r     labels of known truth of a worker, and how many of them are right; workers of n >= 20 count
    expected share of the distribution Beta(r + 1/2, n - r + 1/2) of the true rate that lies inside the interval
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cofactor.core.bootstrap import probability_intervals
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints
from cofactor.crowd import CrowdLabels, WorkerTypes
from cofactor.crowd.bootstrap import MODEL_ERROR_FACTOR, CrowdBootstrap, bootstrap, mean_over_labels
from cofactor.crowd.workers import why_not_judged
from evaluation.crowd.families import FAMILY, crowd_of

LEAST_LABELS = 20
DRAWS = 10


@dataclass(frozen=True)
class Known:
    """Labels of known truth: how many each worker gave, and how many of them are right (workers,)."""

    given: Ints
    right: Ints

    @classmethod
    def of(cls, labels: CrowdLabels, truth: Ints) -> Known:
        """Count the labels of tasks whose class is known."""
        owner, true = labels.table.variables, truth[labels.table.rows]
        counts = (np.bincount(owner[which], minlength=labels.n_workers) for which in (true >= 0, _right(labels, true)))
        return cls(*counts)

    def held(self, low: Floats, high: Floats) -> tuple[float, float]:
        """Return the share of intervals that hold the rate of right labels, and the share that is expected."""
        enough = self.given >= LEAST_LABELS
        n, r = self.given[enough], self.right[enough]
        low, high = low[enough], high[enough]
        inside = special.betainc(r + 0.5, n - r + 0.5, high) - special.betainc(r + 0.5, n - r + 0.5, low)
        return float(np.mean((low <= r / n) & (r / n <= high))), float(inside.mean())


def _right(labels: CrowdLabels, true: Ints) -> Ints:
    return np.asarray(labels.table.values == true)


def parts(labels: CrowdLabels, posterior: Floats) -> tuple[Floats, Floats]:
    """Return a_w, and the parts of its variance that refits do not show; as in `cofactor.crowd.bootstrap`."""
    p = posterior[labels.table.rows, labels.table.values]
    a, u = mean_over_labels(labels, p), mean_over_labels(labels, p * (1 - p))
    return a, (MODEL_ERROR_FACTOR * u) ** 2 + (u + a * (1 - a)) / np.maximum(labels.table.entries_per_variable, 1)


def on_known_tasks(found: CrowdBootstrap, labels: CrowdLabels, posterior: Floats, truth: Ints) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of the workers' accuracies on the tasks of known truth."""
    refits = np.maximum(found.right_spread**2 - parts(labels, posterior)[1], 0.0)
    tasks = np.flatnonzero(truth >= 0)
    known = labels.take_tasks(tasks)
    a, variance = parts(known, posterior[tasks])
    return probability_intervals(a, np.sqrt(refits + variance), known.table.entries_per_variable)


def measured(labels: CrowdLabels, truth: Ints) -> dict[str, str]:
    """Return a row of the table: shares in %, and why workers are not judged, if they are not."""
    method = WorkerTypes().fit(labels)
    posterior, found = method.predict_proba(labels), bootstrap(method, labels, DRAWS, random_state=0)
    known, of_all = Known.of(labels, truth), found.accuracy()
    low, high = on_known_tasks(found, labels, posterior, truth)
    shares = {
        "interval of all tasks": known.held(of_all["low"].to_numpy(), of_all["high"].to_numpy())[0],
        "of the same tasks": known.held(low, high)[0],
        "expected": known.held(low, high)[1],
    }
    said = why_not_judged(method, labels)
    row = {"workers": str(np.sum(known.given >= LEAST_LABELS))} | {name: f"{100 * x:.0f}" for name, x in shares.items()}
    return row | {"half width": f"{((high - low) / 2)[known.given >= LEAST_LABELS].mean():.2f}", "not judged": said}


def rows() -> Iterator[dict[str, str]]:
    """Yield a row a set; sets that are not on this machine are passed over."""
    for name, family in FAMILY.items():
        try:
            yield {"set": name, "family": family} | measured(*crowd_of(name))
        except CofactorError as error:
            print(f"{name}: {error}")


if __name__ == "__main__":
    for row in rows():
        print("|", " | ".join(row.values()), "|", flush=True)
