"""Crowds drawn from a Dawid-Skene model: the model, and who labels what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_between, check_kind, check_whole, is_number, numbers, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.labels import CrowdLabels

Generator = Literal["dirichlet", "uniform"]


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
    *,
    generator: Generator = "dirichlet",
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
        Default: as `generator` says.
    random_state : int, Generator or None
    generator : {"dirichlet", "uniform"}
        How the columns of the other confusion matrices and the prior are drawn: both from Dirichlet(1), as the paper's
        text says; or uniform entries scaled to sum to one and a uniform prior, as in its released code.

    Source: Ibrahim and Fu, ICML 2021, supplement, settings of Tables 6 and 7. Deviation: with the specialist's error
    set rather than bounded; its columns then sum to one as they must.
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
    """Confusion matrix (1 - s) I + s 1 1'/K whose rows are `error` away from unit vectors."""
    spread = np.full((n_classes, n_classes), 1 / n_classes)
    most = np.linalg.norm(np.eye(n_classes)[0] - spread[0])
    if not is_number(error) or not 0 <= error < most:
        raise CofactorError(f"specialist_error={error}: with {n_classes} classes, ask for 0 to below {most:.2f}")
    share = error / most
    return (1 - share) * np.eye(n_classes) + share * spread


def crowd(
    model: LatentClassModel, n_tasks: int = 1000, label_rate: ArrayLike = 0.3, random_state: Seed = None
) -> Crowd:
    """Let annotators label tasks, each task with probability `label_rate` (a number, or one per annotator).

    Tasks that nobody labelled stay in. Source: ICML 2021, supplement, Table 7 (rate 0.3). Cost: O(n_tasks n_workers).
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
    """Let a few annotators label each task; cost O(n_tasks labels_per_task), for crowds of any size.

    The share of labels of the annotator of rank r falls as 1 / r^activity, as it does on real platforms; zero makes
    all equally busy. Annotators drawn twice for a task label it once, so that a task has at most `labels_per_task`.
    """
    check_kind(LatentClassModel, model=model)
    check_whole(1, n_tasks=n_tasks, labels_per_task=labels_per_task)
    check_between(0, 10, activity=activity)
    rng = rng_of(random_state)
    share = 1.0 / np.arange(1, model.n_variables + 1) ** activity
    drawn = rng.choice(model.n_variables, size=(n_tasks, labels_per_task), p=share / share.sum())
    pair = np.unique(np.arange(n_tasks)[:, None] * model.n_variables + drawn)
    task, worker = np.divmod(pair, model.n_variables)
    return _label(model, n_tasks, task, worker, rng)


def _label(model: LatentClassModel, n_tasks: int, task: Ints, worker: Ints, rng: np.random.Generator) -> Crowd:
    table, truth = model.sample(n_tasks, (task, worker), rng)
    labels = CrowdLabels(table, range(n_tasks), range(model.n_variables), range(model.n_classes))
    return Crowd(labels, truth, model)
