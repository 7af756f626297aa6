"""Simulate crowds from a Dawid-Skene model, and the factors from which SymNMF starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_between, check_kind, check_positive, check_whole, is_number, numbers, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.symnmf import principal_root, require_rank, square_root

Generator = Literal["dirichlet", "uniform"]


@dataclass(frozen=True)
class Crowd:
    """Labels of a simulated crowd, with their true classes and model.

    Attributes
    ----------
    labels : CrowdLabels
    truth : (n_tasks,) class codes
    model : LatentClassModel or None
        The Dawid-Skene model from which labels were drawn; None if there is none, as for classifiers.
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
    *,
    generator: Generator = "dirichlet",
) -> LatentClassModel:
    """Draw the annotators of a crowd: one who is a specialist for all classes, and others at random.

    Parameters
    ----------
    n_workers, n_classes : int
    specialist_error : float in [0, 1)
        Distance of each row of the specialist's confusion matrix from a unit vector: ||A(k, :) - e_k|| =
        specialist_error. The specialist is a random annotator. Zero is a perfect annotator, with which the
        sufficiently scattered condition holds exactly.
    skill : float in [0, 1]
        Weight of the identity in the confusion matrices of the others. Zero, as in the paper: chance, on average.
    prior : (K,) array, optional
        Default: as `generator` says.
    random_state : int, Generator or None
    generator : {"dirichlet", "uniform"}
        How the columns of the other confusion matrices and the prior are drawn: both from Dirichlet(1), as in the
        paper's text; or uniform entries scaled to sum to one and a uniform prior, as in its released code.

    Source: Ibrahim and Fu, ICML 2021, supplement, settings of Tables 6 and 7. Deviation: the specialist's error is set
    rather than bounded, so that its columns sum to one.
    """
    if generator not in get_args(Generator):
        raise CofactorError(f"generator={generator!r}: choose one of {', '.join(get_args(Generator))}")
    check_whole(1, n_workers=n_workers)
    check_whole(2, n_classes=n_classes)
    check_between(0, 1, skill=skill)
    rng = rng_of(random_state)
    ones = np.ones(n_classes)
    if generator == "dirichlet":
        A = rng.dirichlet(ones, size=(n_workers, n_classes)).transpose(0, 2, 1)
    else:
        A = rng.random((n_workers, n_classes, n_classes))
        A /= A.sum(axis=1, keepdims=True)
        prior = ones / n_classes if prior is None else prior
    A = (1 - skill) * A + skill * np.eye(n_classes)
    A[rng.integers(n_workers)] = _specialist(n_classes, specialist_error)
    weights = rng.dirichlet(ones) if prior is None else numbers(prior, "prior")
    return LatentClassModel(weights, list(A))


def _specialist(n_classes: int, error: float) -> Floats:
    """Return the confusion matrix (1 - s) I + s 1 1'/K whose rows have distance `error` from unit vectors."""
    spread = np.full((n_classes, n_classes), 1 / n_classes)
    most = np.linalg.norm(np.eye(n_classes)[0] - spread[0])
    if not is_number(error) or not 0 <= error < most:
        raise CofactorError(f"specialist_error={error}: must be between 0 and {most:.2f} for {n_classes} classes")
    weight = error / most
    return (1 - weight) * np.eye(n_classes) + weight * spread


def crowd(
    model: LatentClassModel, n_tasks: int = 1000, label_rate: ArrayLike = 0.3, random_state: Seed = None
) -> Crowd:
    """Let annotators label tasks, each task with probability `label_rate` (a number, or one per annotator).

    Tasks without labels are kept. Source: ICML 2021, supplement, Table 7 (rate 0.3). Cost: O(n_tasks n_workers).
    """
    check_kind(LatentClassModel, model=model)
    check_whole(1, n_tasks=n_tasks)
    rates = numbers(label_rate, "label_rate")
    if rates.shape not in ((), (model.n_variables,)) or not ((rates >= 0) & (rates <= 1)).all():
        raise CofactorError(f"label_rate: give a number from 0 to 1, or one for each of {model.n_variables} annotators")
    rng = rng_of(random_state)
    task, worker = np.nonzero(rng.random((n_tasks, model.n_variables)) < rates)
    return _label(model, n_tasks, task, worker, rng)


def large_crowd(
    model: LatentClassModel, n_tasks: int, labels_per_task: int = 5, activity: float = 1.0, random_state: Seed = None
) -> Crowd:
    """Let a few annotators label each task, at a cost of O(n_tasks labels_per_task), for crowds of any size.

    The number of labels of the r-th busiest annotator is proportional to 1 / r^activity, as on real platforms; with
    zero, all are equally busy. An annotator drawn twice for a task labels it once, so that a task has at most
    `labels_per_task` labels.
    """
    check_kind(LatentClassModel, model=model)
    check_whole(1, n_tasks=n_tasks, labels_per_task=labels_per_task)
    check_between(0, 10, activity=activity)
    rng = rng_of(random_state)
    weight = 1.0 / np.arange(1, model.n_variables + 1) ** activity
    drawn = rng.choice(model.n_variables, size=(n_tasks, labels_per_task), p=weight / weight.sum())
    pair = np.unique(np.arange(n_tasks)[:, None] * model.n_variables + drawn)
    task, worker = np.divmod(pair, model.n_variables)
    return _label(model, n_tasks, task, worker, rng)


def _label(model: LatentClassModel, n_tasks: int, task: Ints, worker: Ints, rng: np.random.Generator) -> Crowd:
    table, truth = model.sample(n_tasks, (task, worker), rng)
    labels = CrowdLabels(table, range(n_tasks), range(model.n_variables), range(model.n_classes))
    return Crowd(labels, truth, model)


def drifting_crowd(
    n_tasks: int = 400,
    n_workers: int = 25,
    n_classes: int = 2,
    labels_per_task: int = 5,
    *,
    accuracy: tuple[float, float] = (0.6, 0.9),
    drift: float = 2.0,
    random_state: Seed = None,
) -> Crowd:
    """Draw a crowd of workers who learn or tire: their skills change steadily over the tasks, in order.

        logit P(label = truth) = logit(a_w) + d_w (t - 1/2),    d_w ~ N(0, drift^2)

    t goes from 0 at a worker's first task to 1 at the last one. Wrong labels are uniform over the other classes.

    Parameters
    ----------
    n_tasks, n_workers, n_classes, labels_per_task : int
        N, M, K (at least 2), and the number of randomly drawn workers per task (at most M).
    accuracy : (float, float) between 0 and 1
        a_w, the accuracy halfway, is uniform between the two.
    drift : float >= 0
    random_state : int, Generator or None

    Returns
    -------
    Crowd, whose `model` is None, since no confusion matrix is valid for all tasks.

    Raises
    ------
    CofactorError
        A number out of range, or more labels per task than workers.

    Cost: O(N M).

    >>> drawn = drifting_crowd(20, 5, labels_per_task=3, random_state=0)
    >>> drawn.labels.n_labels, drawn.truth.shape
    (60, (20,))
    """
    check_whole(1, n_tasks=n_tasks, n_workers=n_workers, labels_per_task=labels_per_task)
    check_whole(2, n_classes=n_classes)
    check_positive(zero=True, drift=drift)
    ends = numbers(accuracy, "accuracy")
    if ends.shape != (2,) or not 0 < ends[0] <= ends[1] < 1:
        raise CofactorError(f"accuracy={accuracy!r}: give two numbers between 0 and 1, the smaller one first")
    if labels_per_task > n_workers:
        raise CofactorError(f"labels_per_task={labels_per_task}: must be at most {n_workers}, the number of workers")
    rng = rng_of(random_state)
    truth = rng.integers(n_classes, size=n_tasks)
    each = rng.permuted(np.tile(np.arange(n_workers), (n_tasks, 1)), axis=1)[:, :labels_per_task]
    made = np.zeros((n_tasks, n_workers))
    np.put_along_axis(made, each, 1.0, axis=1)
    place = (np.cumsum(made, axis=0) - 1) / np.maximum(made.sum(axis=0) - 1, 1)  # t, where the worker labels the task
    odds = special.logit(rng.uniform(ends[0], ends[1], n_workers)) + drift * rng.standard_normal(n_workers) * (
        place - 0.5
    )
    task, worker = np.nonzero(made)
    right = rng.random(len(task)) < special.expit(odds[task, worker])
    other = (truth[task] + rng.integers(1, n_classes, len(task))) % n_classes
    label = np.where(right, truth[task], other)
    labels = CrowdLabels.from_arrays(task, worker, label, n_classes, n_tasks, n_workers, unlabelled="keep")
    return Crowd(labels, truth, None)


def symnmf_problem(
    n_rows: int = 1000,
    n_classes: int = 3,
    density: float = 0.5,
    snr_db: float | None = None,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Draw a sparse nonnegative factor H, and the square root U of X = H H' from which SymNMF starts.

    Parameters
    ----------
    n_rows, n_classes : int
        J and K.
    density : float in (0, 1]
        Each entry of H is zero with probability 1 - density, otherwise uniform on (0, 1); the paper's phi.
    snr_db : float, optional
        Add Gaussian noise of variance sigma^2 to X, with 10 log10(||X||_F^2 / (J^2 sigma^2)) equal to this.
        Default: no noise.

    Returns
    -------
    U : (J, K) array
        X = U U', or the nearest of rank K to the noisy X; principal axes, with nonnegative column sums.
    H : (J, K) array

    Raises a CofactorError if the density is out of range, or so low that H has rank below K, or if there are fewer rows
    than classes. Cost: O(J K^2) without noise; with noise the J x J matrix is formed.

    Source: Ibrahim and Fu, ICML 2021, supplement, Figures 2 and 3 (J = 1000, K = 3, density 0.7, 0.5, 0.3, 30 dB).
    Deviation: a square root needs a symmetric matrix, which the paper's noise is not; (N + N') / 2 is added.

    >>> U, H = symnmf_problem(200, 3, density=0.4, random_state=0)
    >>> U.shape, bool(np.allclose(U @ U.T, H @ H.T))
    ((200, 3), True)
    """
    if not is_number(density) or not 0 < density <= 1:
        raise CofactorError(f"density={density}: must be above 0 and at most 1")
    check_whole(1, n_rows=n_rows, n_classes=n_classes)
    check_between(-1000, 1000, snr_db=0 if snr_db is None else snr_db)
    if n_rows < n_classes:
        raise CofactorError(f"a factor of {n_rows} rows cannot have rank {n_classes}: choose n_rows >= n_classes")
    rng = rng_of(random_state)
    shape = n_rows, n_classes
    H = np.where(rng.random(shape) < density, rng.random(shape), 0.0)
    U = principal_root(H)
    require_rank(U)
    if snr_db is None:
        return U, H
    X = H @ H.T
    sigma = np.linalg.norm(X) / n_rows * 10 ** (-snr_db / 20)
    noise = rng.normal(0.0, sigma, X.shape)
    return square_root(X + (noise + noise.T) / 2, n_classes), H
