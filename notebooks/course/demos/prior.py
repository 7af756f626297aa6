"""What notebook 07 computes about priors: thin crowds, evidence and its bound, tasks that come in two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.crowd import BayesDS, CrowdLabels
from cofactor.crowd.variational import Priors
from cofactor.simulate import Crowd, large_crowd

THIN_WORKERS, THIN_CLASSES, THIN_TASKS, THIN_LABELS = 150, 10, 700, 4
RIGHT = (0.55, 0.85)  # accuracies of the thin crowd's workers, from the least to the most accurate
BUSY = 0.7  # how unevenly they work: labels fall as 1 / rank^BUSY
SMALL = (8, 4)  # tasks and workers of a crowd whose evidence can be summed up
KINDS_TASKS, KINDS_WORKERS = 500, 12
EASY, HARD = (0.8, 0.95), (0.2, 0.8)  # accuracies on easy and on hard tasks


def thin_crowd(seed: int = 0) -> Crowd:
    """Simulate ten classes and workers of 18 labels each, on average, for the 100 cells of a confusion matrix.

    All workers take a class for the same other classes; they differ in how often they are right.
    """
    rng = np.random.default_rng(seed)
    K = THIN_CLASSES
    wrong = rng.dirichlet(np.full(K, 0.5), size=K).T * (1 - np.eye(K))
    wrong /= wrong.sum(axis=0)
    skills = rng.uniform(*RIGHT, THIN_WORKERS)
    model = LatentClassModel(np.full(K, 1 / K), [p * np.eye(K) + (1 - p) * wrong for p in skills])
    return large_crowd(model, THIN_TASKS, THIN_LABELS, BUSY, rng)


@dataclass(frozen=True)
class Bound:
    """The evidence of a small crowd, summed up exactly, and the lower bound of it, round by round (nats)."""

    rounds: Floats
    evidence: float

    @property
    def gap(self) -> float:
        """Nats that the last bound lies below the evidence."""
        return self.evidence - float(self.rounds[-1])


def evidence_bound(seed: int = 0) -> Bound:
    """Fit BayesDS with one kind of tasks to a small crowd, and sum its evidence over all classes of all tasks."""
    rng = np.random.default_rng(seed)
    labels = labelled(rng.integers(0, 2, SMALL[0]), np.full((SMALL[0], SMALL[1], 2), 0.75), rng)
    fitted = BayesDS(structure="own").fit(labels)
    return Bound(np.array(fitted.result_.objective), log_evidence(labels, fitted.belief_.priors))


def log_evidence(labels: CrowdLabels, priors: Priors) -> float:
    """Return log Pr(labels) of the model with one kind, every task's class tried in turn: K^N terms (nats)."""
    K = labels.n_classes
    given = np.eye(K + 1)[labels.table.codes][:, :, :K]  # (N, M, K), a row of zeros where there is no label
    terms = []
    for classes in product(range(K), repeat=labels.n_tasks):
        z = np.eye(K)[list(classes)]
        C = np.einsum("nml,nk->mlk", given, z)
        cells = log_beta(C + priors.cells) - log_beta(np.broadcast_to(priors.cells, C.shape))
        nu = (priors.classes + z.sum(axis=0))[None, :, None]
        prior = log_beta(nu) - log_beta(priors.classes[None, :, None])
        terms.append(float(cells.sum() + prior.sum()))
    return float(logsumexp(terms))


def log_beta(a: Floats) -> Floats:
    """Logarithm of the multivariate Beta function of (M, K, S) arrays, along the middle axis."""
    return np.asarray(gammaln(a).sum(axis=1) - gammaln(a.sum(axis=1)))


def labelled(truth: NDArray[np.int64], right: Floats, rng: np.random.Generator) -> CrowdLabels:
    """Let everybody label every task of two classes, rightly with the probability that stands in (N, M, 2) `right`."""
    N, M = right.shape[:2]
    hit = rng.random((N, M)) < np.take_along_axis(right, truth[:, None, None], axis=2)[:, :, 0]
    task, worker = np.nonzero(np.ones((N, M)))
    said = np.where(hit, truth[:, None], 1 - truth[:, None])
    return CrowdLabels.from_arrays(task, worker, said.ravel(), 2)


@dataclass(frozen=True)
class KindsGain:
    """How much larger the evidence is with two kinds of tasks than with one, for crowds with hard tasks.

    Attributes
    ----------
    shares : (L,) array
        Of the tasks that are hard.
    gains : (seeds, L) array
        Nats.
    """

    shares: Floats
    gains: Floats


def kinds_gain(shares: Sequence[float], n_seeds: int = 4) -> KindsGain:
    """Compare one kind with two on simulated crowds: 500 tasks, of which a share is hard for all 12 workers."""
    gains = np.empty((n_seeds, len(shares)))
    for (seed, i), _ in np.ndenumerate(gains):
        labels = mixed_tasks(shares[i], seed)
        one, two = (BayesDS(structure=kinds).fit(labels).result_.objective[-1] for kinds in ("own", "kinds"))
        gains[seed, i] = two - one
    return KindsGain(np.asarray(shares, dtype=np.float64), gains)


def mixed_tasks(share: float, seed: int = 0) -> CrowdLabels:
    """Simulate a crowd for which some tasks of each class are hard: there people are right by chance only."""
    rng = np.random.default_rng([seed, round(100 * share)])
    truth, hard = rng.integers(0, 2, KINDS_TASKS), rng.random(KINDS_TASKS) < share
    easy_right, hard_right = (rng.uniform(*ends, (KINDS_WORKERS, 2)) for ends in (EASY, HARD))
    return labelled(truth, np.where(hard[:, None, None], hard_right, easy_right), rng)
