"""Plans from pilots, as the panel of notebook 10 shows them. Each takes seconds, so they are computed once and kept.

`python -m course.nb10.pilots` writes them anew.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.plan_next import Plan
from cofactor.verbs.plan import plan
from course.nb10.files import sorting_crowd

KEPT = Path(__file__).with_name("pilots.npz")
TASKS, WORKERS, CLASSES, TRIALS = 200, 20, 3, 20  # of the pilot, and simulations
TRIED = (1, 2, 3, 4, 5, 7, 9, 12, 15, 20)  # labels per task
SPREAD = 0.12  # of workers' accuracies
OFFERED = ("MV-EM", "KOS(ordinal)", "MajorityVote")
ACCURACIES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of workers, on average
PER_TASK = (2, 4, 10, 20)  # labels in the pilot


def pilot_plan(accuracy: float, per_task: int, seed: int = 0) -> Plan:
    """Plan from a pilot: 200 tasks of three classes and known truth, with `per_task` labels each, by 20 workers."""
    rng = np.random.default_rng(seed)
    skills = np.clip(accuracy + SPREAD * rng.standard_normal(WORKERS), 0.05, 0.99)
    row, worker = np.array([(n, m) for n in range(TASKS) for m in rng.permutation(WORKERS)[:per_task]]).T
    drawn, truth = sorting_crowd(skills.tolist()).sample(TASKS, (row, worker), rng)
    sizes = CLASSES, TASKS, WORKERS
    labels = CrowdLabels.from_arrays(row, worker, drawn.codes[row, worker], *sizes, unlabelled="keep")
    return plan(labels, 0.05, amounts=TRIED, methods=OFFERED, truth=truth, n_trials=TRIALS, random_state=rng)


@cache
def kept_errors() -> dict[tuple[float, int], Floats]:
    """Return the (methods, trials, amounts) errors that are kept, by the workers' accuracy and the labels per task."""
    with np.load(KEPT) as file:
        return {(a, d): file[_name(a, d)] for a, d in product(ACCURACIES, PER_TASK)}


def _name(accuracy: float, per_task: int) -> str:
    return f"{accuracy:g} {per_task}"


def main() -> None:
    """Compute and keep all plans."""
    pairs = list(product(ACCURACIES, PER_TASK))
    errors: dict[str, Any] = {_name(*pair): np.array(list(pilot_plan(*pair).errors.values())) for pair in pairs}
    np.savez_compressed(KEPT, **errors)


if __name__ == "__main__":
    main()
