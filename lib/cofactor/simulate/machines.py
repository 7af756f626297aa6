"""Classifiers as annotators: they learn from a part of a data set and label the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import check_between, check_whole, numbers, rng_of, unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import csgraph
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.labels import CrowdLabels
from cofactor.simulate.crowds import Crowd

IN_CACHE = 16  # MB of cosine distances that are made at a time
LARGEST_SINGLE = 1e18  # feature; the squares of larger ones overflow in single precision


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

    Parameters
    ----------
    X, y, train_share, n_tasks
        As in `classifier_answers`.
    label_rate : (low, high)
        Annotator m labels each task with probability p_m, drawn from this interval once.
    random_state : int
    n_designated, designated_rate
        As in `label_rates`: so many annotators label each task with probability p_d.
    workers_per_part : int, or one a part, optional
        As in `part_mask`: each part of the tasks is labelled by so many annotators only, at the rates above.

    Returns
    -------
    Crowd
        `model` is None: the errors of classifiers need not be independent given the class.

    Errors and cost are those of the functions named; to label the same answers in several ways, call
    `classifier_answers` once and `Answers.crowd` for each.

    Source
    ------
    Ibrahim and Fu, ICML 2021, Section 4 and supplement C.2 (UCI data). Settings of the tables: Table 2 (credit),
    ``train_share=150``, ``label_rate=(0.3, 0.3)``, then (0.3, 0.5) and (0.5, 0.7) with ``n_designated=2``; Table 1
    (connect4) the same with ``train_share=5140, n_tasks=20561``; Table 3 (car) ``train_share=376``,
    ``workers_per_part`` (4, 4, 4), (7, 4, 4), (9, 4, 4), ``label_rate=(0.235, 0.235)``, which the paper does not tell.
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

    Parameters
    ----------
    X : (S, P) array
        Features, finite.
    y : (S,) array
        Classes, coded from 0.
    train_share : float in (0, 1), or int
        Part of the rows, or how many of them, that the classifiers learn from.
    n_tasks : int, optional
        How many of the others are the tasks. Default: all.
    random_state : int, Generator or None

    Raises
    ------
    CofactorError
        NaN or infinity in X (the rows are named), classes that are no codes, or more rows asked for than there are.

    Cost
    ----
    Cosine neighbours and support vector machines dominate: O(train^2 P) to train, O(train n_tasks P) to ask.

    Source
    ------
    Ibrahim and Fu, ICML 2021, Section 4 and Table 8. Deviations: scikit-learn's classifiers stand in for MATLAB's, and
    the parts are drawn within the classes, so that a rare class is always among the training data.
    """
    from sklearn import config_context  # here: slow to import
    from sklearn.model_selection import train_test_split

    X, y = _learnable(X, y)
    rng = rng_of(random_state)
    seed = int(rng.integers(2**31))
    split = {"train_size": train_share, "test_size": n_tasks, "stratify": y, "random_state": seed}
    try:
        learn, tasks = train_test_split(np.arange(len(y)), **split)
        models = _classifiers(X.shape[1], len(learn), int(rng.integers(2**31)))
        with config_context(working_memory=IN_CACHE):  # of all tasks at once, most time would go to getting memory
            answers = [model.fit(X[learn], y[learn]).predict(X[tasks]) for model in models]
    except ValueError as error:
        raise CofactorError(f"train_share={train_share}, n_tasks={n_tasks} of {len(y)} rows: {error}") from None
    return Answers(np.stack(answers, axis=1), y[tasks], int(y.max()) + 1)


def _learnable(X: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:
    X, y = numbers(X, "X", 2), unmasked(y)
    if not X.size:
        raise CofactorError(f"X is empty: its shape is {X.shape}")
    bad = np.flatnonzero(~(np.abs(X) < LARGEST_SINGLE).all(axis=1))
    if bad.size:
        raise CofactorError(f"NaN or infinity in the features of rows {listing(bad.tolist())}, or too large")
    if y.dtype.kind not in "iu" or y.shape != (len(X),) or y.min() < 0:
        raise CofactorError(f"y: need one class code from 0 for each of {len(X)} rows, got {y.dtype} {y.shape}")
    return X, y.astype(np.int64)


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

    >>> label_rates(4, (0.3, 0.3), n_designated=4, random_state=0).tolist()
    [0.8, 0.8, 0.8, 0.8]
    """
    check_whole(0, n_workers=n_workers, n_designated=n_designated)
    bounds = numbers(label_rate, "label_rate", 1)
    if bounds.size != 2:
        raise CofactorError(f"label_rate={label_rate!r}: give the least and the largest share")
    low, high = bounds.tolist()
    check_between(0, 1, low=low, designated_rate=designated_rate)
    check_between(low, 1, high=high)
    if not 0 <= n_designated <= n_workers:
        raise CofactorError(f"n_designated={n_designated}: there are {n_workers} annotators")
    rng = rng_of(random_state)
    rates = rng.uniform(low, high, size=n_workers)
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

    >>> part_mask(10, 4, 3, random_state=0).sum(axis=1).tolist()
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    """
    shares = numbers(shares, "shares", 1).tolist()
    parts = len(shares)
    each = list(workers_per_part) if isinstance(workers_per_part, Sequence) else [workers_per_part] * parts
    check_whole(1, n_tasks=n_tasks, n_workers=n_workers, parts=parts)
    for number in each:
        check_whole(1, workers_per_part=number)
    for share in shares:
        check_between(0, 1, share=share)
    least, dealt = -(-(n_workers + parts - 1) // parts), [len(range(n, n_workers, parts)) for n in range(parts)]
    linked = len(each) == parts and sum(each) >= n_workers + parts - 1
    if not linked or any(not few <= number <= n_workers for few, number in zip(dealt, each, strict=True)):
        need = "so that all have a part and the parts hang together"
        raise CofactorError(f"workers_per_part={workers_per_part}: choose {least} to {n_workers}, {need}")
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
    from sklearn.neighbors import KNeighborsClassifier  # here: slow to import
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

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
