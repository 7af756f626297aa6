"""Synthetic problems with known truth: one generator per experiment.

Every generator returns the data together with the truth that made it, and takes a `random_state`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import Ints
from cofactor.crowd.labels import CrowdLabels

Floats = NDArray[np.float64]
Seed = int | np.random.Generator | None


@dataclass(frozen=True)
class Crowd:
    """Labels of a simulated crowd, and the truth behind them.

    Attributes
    ----------
    labels : CrowdLabels
    truth : (n_tasks,) class codes
    model : LatentClassModel or None
        The Dawid-Skene model that labels were drawn from; None where annotators are real classifiers.
    """

    labels: CrowdLabels
    truth: Ints
    model: LatentClassModel | None


def dawid_skene_model(
    n_workers: int = 25,
    n_classes: int = 3,
    specialist_error: float = 0.1,
    skill: float = 0.0,
    prior: ArrayLike | None = None,
    random_state: Seed = None,
) -> LatentClassModel:
    """Draw the annotators of a crowd: one specialist of all classes, the rest random.

    Parameters
    ----------
    n_workers, n_classes : int
    specialist_error : float in [0, 1)
        Each row of the specialist's confusion matrix (a random annotator's) is this far from a unit vector:
        ||A(k, :) - e_k|| = specialist_error. Zero is a perfect annotator, with which the sufficiently scattered
        condition holds exactly.
    skill : float in [0, 1]
        Share of the identity mixed into the other annotators. Zero, as in the paper: by chance, on average.
    prior : (K,) array, optional
        Default: drawn from Dirichlet(1), as the columns of the confusion matrices are.
    random_state : int, Generator or None

    Returns
    -------
    LatentClassModel

    Source
    ------
    Ibrahim and Fu, ICML 2021, supplement, settings of Tables 6 and 7. Deviation: with the specialist's error set
    rather than bounded; its columns then sum to one as they must. The released code draws uniform columns and a uniform
    prior instead.
    """
    rng = np.random.default_rng(random_state)
    ones = np.ones(n_classes)
    A = rng.dirichlet(ones, size=(n_workers, n_classes)).transpose(0, 2, 1)
    A = (1 - skill) * A + skill * np.eye(n_classes)
    A[rng.integers(n_workers)] = _specialist(n_classes, specialist_error)
    weights = rng.dirichlet(ones) if prior is None else np.asarray(prior, dtype=np.float64)
    return LatentClassModel(weights, list(A))


def _specialist(n_classes: int, error: float) -> Floats:
    """Confusion matrix (1 - s) I + s 1 1'/K whose rows are `error` away from unit vectors."""
    spread = np.full((n_classes, n_classes), 1 / n_classes)
    share = error / np.linalg.norm(np.eye(n_classes)[0] - spread[0])
    if not 0 <= share < 1:
        raise CofactorError(
            f"specialist_error={error}: with {n_classes} classes, ask for 0 to below {error / share:.2f}"
        )
    return (1 - share) * np.eye(n_classes) + share * spread


def crowd(
    model: LatentClassModel, n_tasks: int = 1000, label_rate: ArrayLike = 0.3, random_state: Seed = None
) -> Crowd:
    """Let annotators label tasks, each task with probability `label_rate` (a number, or one per annotator).

    Tasks that nobody labelled stay in. Source: ICML 2021, supplement, Table 7 (rate 0.3). Cost: O(n_tasks n_workers).
    """
    rng = np.random.default_rng(random_state)
    given = rng.random((n_tasks, model.n_variables)) < np.broadcast_to(label_rate, model.n_variables)
    task, worker = np.nonzero(given)
    return _label(model, n_tasks, task, worker, rng)


def large_crowd(
    model: LatentClassModel, n_tasks: int, labels_per_task: int = 5, activity: float = 1.0, random_state: Seed = None
) -> Crowd:
    """Let a few annotators label each task; cost O(n_tasks labels_per_task), for crowds of any size.

    The share of labels of the annotator of rank r falls as 1 / r^activity, as it does on real platforms; zero makes
    all equally busy. Annotators drawn twice for a task label it once, so that a task has at most `labels_per_task`.
    """
    rng = np.random.default_rng(random_state)
    share = 1.0 / np.arange(1, model.n_variables + 1) ** activity
    drawn = rng.choice(model.n_variables, size=(n_tasks, labels_per_task), p=share / share.sum())
    pair = np.unique(np.arange(n_tasks)[:, None] * model.n_variables + drawn)
    task, worker = np.divmod(pair, model.n_variables)
    return _label(model, n_tasks, task, worker, rng)


def _label(model: LatentClassModel, n_tasks: int, task: Ints, worker: Ints, rng: np.random.Generator) -> Crowd:
    table, truth = model.sample(n_tasks, (task, worker), rng)
    labels = CrowdLabels(table, range(n_tasks), range(model.n_variables), range(model.n_classes))
    return Crowd(labels, truth, model)


def machine_annotators(
    X: ArrayLike,
    y: ArrayLike,
    train_share: float = 0.15,
    label_rate: tuple[float, float] = (0.15, 0.5),
    random_state: int = 0,
) -> Crowd:
    """Let ten different classifiers, each trained on the same small part of a data set, label the rest.

    Parameters
    ----------
    X : (S, P) array
        Features.
    y : (S,) array
        Classes, coded from 0.
    train_share : float
        Part the classifiers learn from; the others are the tasks.
    label_rate : (low, high)
        Annotator m labels each task with probability p_m, drawn from this interval once.
    random_state : int

    Returns
    -------
    Crowd
        `model` is None: the errors of classifiers need not be independent given the class.

    Source
    ------
    Ibrahim and Fu, ICML 2021, Section 4 (UCI data). Deviation: scikit-learn's classifiers stand in for MATLAB's.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    rng = np.random.default_rng(random_state)
    learn, tasks = train_test_split(
        np.arange(len(y)), train_size=train_share, stratify=y, random_state=int(rng.integers(2**31))
    )
    seed = int(rng.integers(2**31))
    answers = [c.fit(X[learn], y[learn]).predict(X[tasks]) for c in _classifiers(X.shape[1], len(learn), seed)]
    rates = rng.uniform(*label_rate, size=len(answers))
    task, worker = np.nonzero(rng.random((len(tasks), len(answers))) < rates)
    label = np.stack(answers, axis=1)[task, worker]
    labels = CrowdLabels.from_arrays(task, worker, label, int(y.max()) + 1, len(tasks), len(answers), unlabelled="keep")
    labels.workers = list(CLASSIFIERS)
    return Crowd(labels, y[tasks].astype(np.int64), None)


CLASSIFIERS = (
    "100 neighbours", "10 neighbours", "1 neighbour", "10 cosine neighbours", "tree, 5 leaves",
    "tree, 21 leaves", "tree, 101 leaves", "linear SVM", "quadratic SVM", "RBF SVM",
)  # fmt: skip


def _classifiers(n_features: int, n_train: int, seed: int) -> list[ClassifierMixin]:
    """Ten scikit-learn classifiers in the order of CLASSIFIERS, inputs standardised."""
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
