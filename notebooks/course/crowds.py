"""Simulated crowds in which some pairs of annotators share no task, and imputation of their co-occurrences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import sparse

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.types import Floats
from cofactor.crowd import METHODS
from cofactor.crowd.base import Aggregator, vote_model
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model, robust_imputation
from cofactor.crowd.model import NO_PRIOR
from cofactor.simulate import Crowd
from cofactor_app.plots.style import BLUE, GREEN, ORANGE, WIDTH, bare, heat, new_picture, percent, say, styled
from course.matrices import fill_blocks

Mask = NDArray[np.bool_]

START_COUNT = 0.1  # pseudo-count of the majority-vote start of robust imputation, as in the aggregators
SWEEPS = 20_000  # with few blocks, robust imputation converges slowly; a small crowd still takes under half a second
POWERS = {"robust": 1.0, "least squares": 2.0}  # p of the criterion, Eq. (9)
IMPUTATIONS = ("none", "designated", *POWERS)
MARKS = {"designated": (BLUE, "o", "-"), "robust": (ORANGE, "s", "--"), "least squares": (GREEN, "^", "-.")}


def without_prior(name: str, **settings: Any) -> Aggregator:
    """Make a method whose EM is that of the papers: maximum likelihood, without pseudo-counts."""
    method = METHODS[name](**settings)
    return method.set_params(pseudo_counts=NO_PRIOR) if "pseudo_counts" in method.get_params() else method


@lru_cache(maxsize=32)
def small_crowd(n_workers: int, n_classes: int, n_tasks: int, seed: int) -> Crowd:
    """Draw a crowd in which all annotators label all tasks: one specialist, the others better than chance."""
    prior = np.full(n_classes, 1 / n_classes)
    model = simulate.dawid_skene_model(n_workers, n_classes, skill=0.4, prior=prior, random_state=seed)
    return simulate.crowd(model, n_tasks, label_rate=1.0, random_state=seed)


def mixed_crowd(n_workers: int, n_classes: int, seed: int = 0) -> LatentClassModel:
    """Draw workers whose skill ranges evenly from none to good."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.0, 0.8, n_workers)[:, None, None]
    guesses = rng.dirichlet(np.ones(n_classes), size=(n_workers, n_classes)).transpose(0, 2, 1)
    prior = rng.dirichlet(5 * np.ones(n_classes))
    return LatentClassModel(prior, list((1 - skill) * guesses + skill * np.eye(n_classes)))


def round_crowd(n_workers: int, seed: int) -> LatentClassModel:
    """Draw annotators of three classes and a prior in steps of 0.05, which are easy to read in an exercise."""
    rng = np.random.default_rng(seed)
    chances = 0.55 * np.eye(3) + 0.45 * rng.dirichlet(np.ones(3), (n_workers, 3))
    counts = 1 + rng.multinomial(17, chances, (n_workers, 3)).transpose(0, 2, 1)
    return LatentClassModel([0.5, 0.35, 0.15], list(counts / counts.sum(axis=1, keepdims=True)))


def hide_pairs(n_workers: int, share: float, seed: int = 0) -> Mask:
    """Return an (M, M) mask of hidden pairs; with the same seed, a larger fraction includes the same pairs."""
    first, second = np.triu_indices(n_workers, k=1)
    order = np.random.default_rng(seed).permutation(len(first))
    gone = order[: round(share * len(first))]
    hidden = np.eye(n_workers, dtype=bool)
    hidden[first[gone], second[gone]] = hidden[second[gone], first[gone]] = True
    return hidden


def without_pairs(moments: PairwiseMoments, hidden: Mask) -> PairwiseMoments:
    """Return the moments as if the hidden pairs of annotators had no task in common."""
    K = int(moments.sizes[0])
    counts = sparse.csr_array(moments.counts.multiply(np.kron(~hidden, np.ones((K, K), dtype=np.int64))))
    counts.eliminate_zeros()
    return PairwiseMoments(counts, moments.singles, moments.sizes, moments.n_rows)


@dataclass(frozen=True)
class HoledCrowd:
    """A simulated crowd, its co-occurrences without some pairs of annotators, and the (M, M) mask of missing pairs.

    The diagonal of the mask is always true.
    """

    crowd: Crowd
    cooc: Cooccurrences
    missing: Mask

    @classmethod
    def of(cls, crowd: Crowd, hidden: Mask) -> HoledCrowd:
        """Hide pairs of a crowd; `hidden` is a mask from `hide_pairs`."""
        moments = without_pairs(pairwise_moments(crowd.labels.table), hidden)
        cooc = Cooccurrences.from_moments(moments, min_common=1)
        return cls(crowd, cooc, ~(cooc.graph.toarray() > 0))

    @property
    def truth(self) -> Floats:
        """(M K, M K) exact co-occurrences."""
        assert self.crowd.model is not None  # simulated from a Dawid-Skene model
        H = factors_of_model(self.crowd.model).reshape(-1, self.crowd.model.n_classes)
        return H @ H.T

    @property
    def pairs(self) -> Mask:
        """(M, M) mask of the missing pairs of different annotators."""
        return self.missing & ~np.eye(len(self.missing), dtype=bool)

    @property
    def refusal(self) -> str:
        """Why no method can recover the model from the remaining blocks; empty if some can."""
        try:
            self.cooc.require_identifiable()
        except NotIdentifiableError as refusal:
            return str(refusal)
        return ""

    def entries(self, blocks: Mask) -> Mask:
        """Return the (M K, M K) mask of the entries of some blocks."""
        return np.kron(blocks, np.ones((self.cooc.n_classes,) * 2, dtype=bool))

    def fill(self, imputation: str) -> Floats:
        """Return the (M K, M K) co-occurrences completed by one of `IMPUTATIONS`; "none" leaves zeros."""
        if imputation == "none":
            return self.cooc.dense()
        if imputation == "designated":
            return designated_imputation(self.cooc).X
        if imputation not in POWERS:
            raise CofactorError(f"imputation={imputation!r}: choose one of {', '.join(IMPUTATIONS)}")
        start = factors_of_model(vote_model(self.crowd.labels, START_COUNT))
        U = robust_imputation(self.cooc, start, p=POWERS[imputation], max_iter=SWEEPS)[0]
        stacked = U.reshape(-1, self.cooc.n_classes)
        return stacked @ stacked.T

    def error(self, X: Floats) -> float:
        """Return the relative error (Frobenius) of X on the missing blocks of different annotators."""
        inside = self.entries(self.pairs)
        if not inside.any():
            raise CofactorError("no pair of annotators is missing: hide a larger fraction of the pairs")
        truth = self.truth[inside]
        return float(np.linalg.norm(X[inside] - truth) / np.linalg.norm(truth))

    def complete(self, imputation: str) -> Completion:
        """Impute the missing blocks and keep the observed ones."""
        seen = self.entries(~self.missing)
        estimate = np.where(seen, self.cooc.dense(), self.fill(imputation))
        unreached = self.missing if imputation == "none" else np.zeros_like(self.missing)
        if imputation == "designated":
            unreached = ~designated_imputation(self.cooc).reached
        return Completion(self, imputation, estimate, unreached)


@dataclass(frozen=True)
class Completion:
    """The (M K, M K) co-occurrences after an imputation, and the (M, M) mask of the pairs still empty."""

    problem: HoledCrowd
    imputation: str
    estimate: Floats
    unreached: Mask

    @property
    def finding(self) -> str:
        """One sentence with the error."""
        if not self.problem.pairs.any():
            return "No pair is missing: only the diagonal needs imputation"
        how = "left at zero" if self.imputation == "none" else f"after {self.imputation} imputation"
        return f"Missing blocks {how}: {percent(self.problem.error(self.estimate), 1)} off"


@styled
def draw_completion(completion: Completion) -> Figure:
    """Draw co-occurrences with missing blocks, the completed matrix, and its error."""
    problem, estimate, truth = completion.problem, completion.estimate, completion.problem.truth
    filled = "holes set to zero" if completion.imputation == "none" else "completed"
    top = float(truth.max())
    fig = new_picture(WIDTH, 3.1)
    axes = fig.subplots(1, 3)
    fill_blocks(axes[0], np.where(problem.entries(problem.missing), 0, estimate), problem.missing, top)
    fill_blocks(axes[1], estimate, completion.unreached, top)
    heat(axes[2], np.abs(estimate - truth), (0, top), "Oranges")
    for ax, name in zip(axes, ("observed (holes hatched)", filled, "absolute error"), strict=True):
        ax.set_title(name)
        bare(ax)
    annotators = f"{len(problem.missing)} annotators"
    axes[0].set(xlabel=annotators, ylabel=annotators)
    fig.colorbar(axes[1].images[0], ax=axes[:2], location="bottom", shrink=0.6, aspect=30, label="joint frequency")
    fig.colorbar(axes[2].images[0], ax=axes[2], location="bottom", aspect=15, label="|estimate − truth|")
    say(fig, completion.finding)
    return fig
