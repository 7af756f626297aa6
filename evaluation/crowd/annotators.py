"""Classifiers as annotators: they learn from a part of a data set and label the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csgraph
from sklearn import config_context
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cofactor.core.checks import rng_of
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.labels import CrowdLabels
from cofactor.simulate.crowds import Crowd

IN_CACHE = 16  # MB of cosine distances that are made at a time


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of every classifier to every task; `crowd` keeps a part of them as labels.

    Attributes
    ----------
    answers : (n_tasks, n_workers) class codes
    truth : (n_tasks,) class codes
    n_classes : int
    """

    answers: Ints
    truth: Ints
    n_classes: int

    def crowd(self, given: ArrayLike) -> Crowd:
        """Keep the answers for which the (n_tasks, n_workers) mask `given` is true; tasks without any stay."""
        task, worker = np.nonzero(np.asarray(given, dtype=bool))
        label, (n_tasks, n_workers) = self.answers[task, worker], self.answers.shape
        labels = CrowdLabels.from_arrays(task, worker, label, self.n_classes, n_tasks, n_workers, unlabelled="keep")
        labels.workers = list(MACHINES)
        return Crowd(labels, self.truth, None)


def machine_annotators(
    X: ArrayLike,
    y: ArrayLike,
    train_share: float = 0.15,
    label_rate: tuple[float, float] = (0.15, 0.5),
    random_state: int = 0,
    n_tasks: int | None = None,
    n_designated: int = 0,
    designated_rate: float = 0.8,
    workers_per_part: int | Sequence[int] | None = None,
) -> Crowd:
    """Let ten different classifiers, each trained on the same small part of a data set, label the rest.

    Annotator m labels each task with probability p_m, drawn from `label_rate` once; see the functions named for the
    rest. `model` of the crowd is None: the errors of classifiers need not be independent given the class.

    Source: Ibrahim and Fu, ICML 2021, Section 4 and supplement C.2 (UCI data), Tables 1 to 3. What the paper does not
    tell of Table 3 (car) is ``label_rate=(0.235, 0.235)``.
    """
    rng = rng_of(random_state)
    answers = classifier_answers(X, y, train_share, n_tasks, rng)
    n, n_workers = answers.answers.shape
    rates = label_rates(n_workers, label_rate, n_designated, designated_rate, rng)
    given = rng.random((n, n_workers)) < rates
    if workers_per_part is not None:
        given &= part_mask(n, n_workers, workers_per_part, random_state=rng)
    return answers.crowd(given)


def classifier_answers(
    X: ArrayLike, y: ArrayLike, train_share: float = 0.15, n_tasks: int | None = None, random_state: Seed = None
) -> Answers:
    """Train ten classifiers on a part of a data set, drawn at random within the classes, and ask them about the rest.

    `train_share` is a share of the rows of X (S, P), or their number; `n_tasks` of the others are the tasks, all by
    default. y has class codes. Cosine neighbours and support vector machines dominate the cost: O(train^2 P) to train,
    O(train n_tasks P) to ask.

    Source: Ibrahim and Fu, ICML 2021, Section 4 and Table 8. Deviations: scikit-learn's classifiers stand in for
    MATLAB's, and the parts are drawn within the classes, so that a rare class is always among the training data.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    rng = rng_of(random_state)
    seed = int(rng.integers(2**31))
    split = {"train_size": train_share, "test_size": n_tasks, "stratify": y, "random_state": seed}
    learn, tasks = train_test_split(np.arange(len(y)), **split)
    models = _classifiers(X.shape[1], len(learn), int(rng.integers(2**31)))
    with config_context(working_memory=IN_CACHE):  # of all tasks at once, most time would go to getting memory
        answers = [model.fit(X[learn], y[learn]).predict(X[tasks]) for model in models]
    return Answers(np.stack(answers, axis=1), y[tasks], int(y.max()) + 1)


def label_rates(
    n_workers: int,
    label_rate: tuple[float, float],
    n_designated: int = 0,
    designated_rate: float = 0.8,
    random_state: Seed = None,
) -> Floats:
    """Draw the (n_workers,) probabilities with which annotators label a task.

    Each is uniform in `label_rate`; `n_designated` annotators, chosen at random, get `designated_rate` instead, so
    that they share tasks with all others. Source: Ibrahim and Fu, ICML 2021, Section 4 (two of them, p_d = 0.8).
    """
    rng = rng_of(random_state)
    rates = rng.uniform(*label_rate, size=n_workers)
    if n_designated:
        rates[rng.choice(n_workers, n_designated, replace=False)] = designated_rate
    return rates


def part_mask(
    n_tasks: int,
    n_workers: int,
    workers_per_part: int | Sequence[int],
    shares: Sequence[float] = (0.1, 0.3, 0.6),
    random_state: Seed = None,
) -> NDArray[np.bool_]:
    """Draw which annotators may label which tasks: a (n_tasks, n_workers) mask.

    The tasks fall into disjoint parts of the given shares. Each part is for `workers_per_part` random annotators (of
    several numbers, one a part), and every annotator has a part: they are first dealt to the parts in turn, then each
    part is filled up. The fewer per part, the more pairs of annotators share no task.

    Source: Ibrahim and Fu, ICML 2021, supplement C.2, set-up of Table 3. Deviation: drawn anew until all parts hang
    together by annotators they share, since nothing could tell how the classes of separate parts correspond.
    """
    parts = len(shares)
    each = list(workers_per_part) if isinstance(workers_per_part, Sequence) else [workers_per_part] * parts
    rng = rng_of(random_state)
    bounds = np.round(np.cumsum(shares)[:-1] * n_tasks).astype(np.int64)
    members = _members(n_workers, each, rng)
    while csgraph.connected_components(members @ members.T)[0] > 1:
        members = _members(n_workers, each, rng)
    mask = np.zeros((n_tasks, n_workers), dtype=bool)
    for tasks, chosen in zip(np.split(rng.permutation(n_tasks), bounds), members, strict=True):
        mask[tasks] = chosen
    return mask


def _members(n_workers: int, each: Sequence[int], rng: np.random.Generator) -> Ints:
    """Deal annotators to parts: a (parts, n_workers) 0/1 matrix whose rows sum to `each`."""
    members = np.zeros((len(each), n_workers), dtype=np.int64)
    members[np.arange(n_workers) % len(each), rng.permutation(n_workers)] = 1
    for member, number in zip(members, each, strict=True):
        others = np.flatnonzero(member == 0)
        member[rng.choice(others, number - member.sum(), replace=False)] = 1
    return members


MACHINES = (
    "100 neighbours", "10 neighbours", "1 neighbour", "10 cosine neighbours", "tree, 5 leaves",
    "tree, 21 leaves", "tree, 101 leaves", "linear SVM", "quadratic SVM", "RBF SVM",
)  # fmt: skip


def _classifiers(n_features: int, n_train: int, seed: int) -> list[Any]:
    """Ten scikit-learn classifiers in the order of MACHINES, inputs standardised."""
    models = [
        KNeighborsClassifier(min(100, n_train)),
        KNeighborsClassifier(min(10, n_train)),
        KNeighborsClassifier(1),
        KNeighborsClassifier(min(10, n_train), metric="cosine"),
        DecisionTreeClassifier(max_leaf_nodes=5, random_state=seed),
        DecisionTreeClassifier(max_leaf_nodes=21, random_state=seed),
        DecisionTreeClassifier(max_leaf_nodes=101, random_state=seed),
        LinearSVC(random_state=seed, max_iter=20_000),
        SVC(kernel="poly", degree=2, coef0=1),
        SVC(kernel="rbf", gamma=1 / (16 * n_features)),
    ]
    return [make_pipeline(StandardScaler(), model) for model in models]
