"""Crowds that give grades: steps along a scale, each worker with an offset, a slope and a spread of his own."""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import check_between, check_positive, check_whole, numbers, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.labels import CrowdLabels
from cofactor.simulate.crowds import Crowd

SCALE = 1.3  # of the scores of tasks, in steps, with five grades


def grader_crowd(
    n_tasks: int = 300,
    n_workers: int = 25,
    n_grades: int = 5,
    labels_per_task: int = 5,
    *,
    offset: float = 0.0,
    spread: tuple[float, float] = (0.6, 0.6),
    slope: tuple[float, float] = (1.0, 1.0),
    reversed_share: float = 0.0,
    random_share: float = 0.0,
    task_spread: float = 0.0,
    skewed: bool = False,
    random_state: Seed = None,
) -> Crowd:
    """Let graders grade tasks, each task by some of them drawn at random.

        x_i ~ N(c, (1.3 h)^2), or 1.3 h times an exponential number where `skewed`;    c = (K - 1) / 2, h = (K - 1) / 4
        truth = round(x_i),   label = round(c + a_w (x_i - c) + b_w + s_w noise + t_i noise)     both kept within 0..K-1

    Parameters
    ----------
    n_tasks, n_workers, n_grades, labels_per_task : int
        N, M, K (at least 2), and how many workers grade a task (at most M).
    offset : float
        Standard deviation of the workers' offsets b_w, in steps.
    spread, slope : (float, float)
        s_w and a_w are uniform between the two.
    reversed_share, random_share : float in [0, 1]
        Shares of workers who take the scale upside down (a_w = -1), and whose labels are any grade.
    task_spread : float
        t_i is uniform between 0 and this: opinions differ on some tasks more than on others.
    skewed : bool
        Most tasks are of the lowest grades.
    random_state : int, Generator or None

    Returns
    -------
    Crowd, whose `model` is None; classes are the codes of the grades.

    Raises
    ------
    CofactorError
        A number out of its range, or more labels of a task than workers.

    Cost: O(N M).

    >>> drawn = grader_crowd(20, 5, labels_per_task=3, random_state=0)
    >>> drawn.labels.n_labels, drawn.labels.n_classes, drawn.truth.shape
    (60, 5, (20,))
    """
    check_whole(1, n_tasks=n_tasks, n_workers=n_workers, labels_per_task=labels_per_task)
    check_whole(2, n_grades=n_grades)
    check_positive(zero=True, offset=offset, task_spread=task_spread)
    check_between(0, 1, reversed_share=reversed_share, random_share=random_share)
    if labels_per_task > n_workers:
        raise CofactorError(f"labels_per_task={labels_per_task}: {n_workers} workers label a task once each at most")
    rng, h = rng_of(random_state), (n_grades - 1) / 4
    x = SCALE * h * rng.exponential(size=n_tasks) if skewed else rng.normal(2 * h, SCALE * h, n_tasks)
    task = np.repeat(np.arange(n_tasks), labels_per_task)
    worker = rng.permuted(np.tile(np.arange(n_workers), (n_tasks, 1)), axis=1)[:, :labels_per_task].ravel()
    a, b = rng.uniform(*_pair(slope, "slope", -np.inf), n_workers), rng.normal(0, offset, n_workers)
    a[_some(n_workers, reversed_share, rng)] = -1.0
    noise = rng.uniform(*_pair(spread, "spread", 0.0), n_workers)[worker] * rng.normal(size=len(task))
    opinion = rng.uniform(0, task_spread, n_tasks)[task] * rng.normal(size=len(task))
    grade = _rounded(2 * h + a[worker] * (x[task] - 2 * h) + b[worker] + noise + opinion, n_grades)
    chance = np.isin(worker, _some(n_workers, random_share, rng))
    grade = np.where(chance, rng.integers(n_grades, size=len(task)), grade)
    labels = CrowdLabels.from_arrays(task, worker, grade, n_grades, n_tasks, n_workers, unlabelled="keep")
    return Crowd(labels, _rounded(x, n_grades), None)


def _pair(values: tuple[float, float], name: str, least: float) -> tuple[float, float]:
    """Return the ends of a range, and refuse what is none."""
    ends = numbers(values, name)
    if ends.shape != (2,) or not np.isfinite(ends).all() or not least <= ends[0] <= ends[1]:
        raise CofactorError(f"{name}={values!r}: give two numbers, the smaller one first")
    return float(ends[0]), float(ends[1])


def _some(n_workers: int, share: float, rng: np.random.Generator) -> Ints:
    return rng.permutation(n_workers)[: round(share * n_workers)]


def _rounded(x: Floats, n_grades: int) -> Ints:
    return np.clip(np.rint(x), 0, n_grades - 1).astype(np.int64)
