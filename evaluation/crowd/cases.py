"""Small crowds in which votes mislead, drawn anew: constant workers, copies, one label a task, two workers.

`python -m evaluation.crowd.cases` prints the table of docs/aggregation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd import CrowdLabels, WorkerTypes, error_rate, vote_shares

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Case:
    """A crowd whose workers are known: true classes (N,), and the workers' confusion matrices (M, K, K).

    `voices` are the columns of workers who speak for themselves: of copies, one.
    """

    labels: CrowdLabels
    truth: Ints
    matrices: Floats
    voices: Ints

    def known(self) -> Floats:
        """Return the class probabilities (N, K) under the true matrices, with classes equally frequent."""
        K = self.matrices.shape[1]
        model = LatentClassModel(np.full(K, 1 / K), list(self.matrices[self.voices]))
        return np.asarray(model.posterior(self.labels.take_workers(self.voices).table))


def drawn(
    rng: np.random.Generator, n_tasks: int, matrices: Floats, per_task: int | None = None, copies: int = 0
) -> Case:
    """Draw true classes evenly, and labels of all workers, or of so many a task; the first worker has copies."""
    M, K, _ = matrices.shape
    truth = rng.integers(K, size=n_tasks)
    below = np.cumsum(matrices, axis=1)[:, :, truth] < rng.random((M, 1, n_tasks))
    codes = np.minimum(below.sum(axis=1), K - 1).T
    if per_task is not None:
        rank = rng.random(codes.shape).argsort(axis=1).argsort(axis=1)
        codes = np.where(rank < per_task, codes, -1)
    codes = np.hstack([codes, np.tile(codes[:, :1], copies)])
    task, worker = np.nonzero(codes >= 0)
    sizes = K, n_tasks, M + copies
    labels = CrowdLabels.from_arrays(task, worker, codes[task, worker], *sizes, unlabelled="keep")
    return Case(labels, truth, np.concatenate([matrices, np.repeat(matrices[:1], copies, axis=0)]), np.arange(M))


def right_in(shares: list[float], n_classes: int = 2) -> Floats:
    """Return the matrices of workers who are right in these shares of every class, errors spread evenly."""
    same, a = np.eye(n_classes, dtype=bool), np.array(shares)[:, None, None]
    return np.asarray(np.where(same, a, (1 - a) / (n_classes - 1)))


def constant(n_workers: int) -> Floats:
    """Return the matrices of workers who always say the first of two classes."""
    return np.tile([[1.0, 1.0], [0.0, 0.0]], (n_workers, 1, 1))


CASES: Mapping[str, Callable[[np.random.Generator], Case]] = MappingProxyType(
    {
        "three of six workers always say no (1000 tasks; the others are right in 90 %)": lambda rng: drawn(
            rng, 1000, np.concatenate([right_in([0.9] * 3), constant(3)])
        ),
        "one worker of 70 % four times among three of 85 % (400 tasks)": lambda rng: drawn(
            rng, 400, right_in([0.7, 0.85, 0.85, 0.85]), copies=3
        ),
        "10 of 25 workers always say no (300 tasks, 5 labels each; the others are right in 80 %)": lambda rng: drawn(
            rng, 300, np.concatenate([right_in([0.8] * 15), constant(10)]), per_task=5
        ),
        "one label a task (400 tasks, ten classes, 20 workers of 65 %)": lambda rng: drawn(
            rng, 400, right_in([0.65] * 20, 10), per_task=1
        ),
        "two workers of 93 and 73 % (300 tasks, three classes)": lambda rng: drawn(rng, 300, right_in([0.93, 0.73], 3)),
    }
)


def scores() -> Iterator[dict[str, str]]:
    """Yield a row a case: accuracies in % of the vote, the default and known workers, and what the default expects."""
    for name, draw in CASES.items():
        cases = [draw(np.random.default_rng(seed)) for seed in SEEDS]
        found = [WorkerTypes().fit(case.labels).predict_proba(case.labels) for case in cases]
        columns = {
            "vote": [_accuracy(vote_shares(case.labels), case) for case in cases],
            "default": [_accuracy(p, case) for p, case in zip(found, cases, strict=True)],
            "workers known": [_accuracy(case.known(), case) for case in cases],
            "mean p of the default": [100 * float(p.max(axis=1).mean()) for p in found],
        }
        yield {"crowd": name, **{title: ", ".join(f"{x:.1f}" for x in values) for title, values in columns.items()}}


def _accuracy(p: Floats, case: Case) -> float:
    return 100 * (1 - error_rate(p, case.truth))


if __name__ == "__main__":
    print(pd.DataFrame(scores()).to_markdown(index=False))
