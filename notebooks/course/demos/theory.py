"""The computations of notebook 01: imputation, the disc, a method against the vote, EM round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor import simulate
from cofactor.core.alignment import mse
from cofactor.core.em import maximization
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import error_rate, vote_model, worker_accuracy
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model, robust_imputation
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.symnmf import model_of_factor, principal_root, symnmf
from cofactor.plots.style import percent
from cofactor.simulate import Crowd
from course.demos.real_crowd import without_prior

Mask = NDArray[np.bool_]

START_COUNT = 0.1  # pseudo-count of the majority-vote start of robust imputation, as in the aggregators
SWEEPS = 20_000  # few blocks left make robust imputation slow to settle; a small crowd still takes under half a second
IMPUTATIONS = ("none", "designated", "robust")


@dataclass(frozen=True)
class Completion:
    """Co-occurrences with holes, filled.

    Attributes
    ----------
    truth, estimate : (M K, M K) arrays
        Exact co-occurrences of the model, and the completed ones.
    missing, unreached : (M, M) masks
        Pairs of annotators hidden (the diagonal always is), and those still empty afterwards.
    imputation : str
    verdict : str
        Why no method could recover the model from the blocks left, or empty.
    """

    truth: Floats
    estimate: Floats
    missing: Mask
    unreached: Mask
    imputation: str
    verdict: str

    @property
    def hidden(self) -> Mask:
        """(M K, M K) mask of the entries in missing blocks."""
        return _entries(self.missing, len(self.truth))

    @property
    def pairs(self) -> Mask:
        """(M, M) mask of the missing pairs of different annotators."""
        return self.missing & ~np.eye(len(self.missing), dtype=bool)

    @property
    def error(self) -> float:
        """Relative error (Frobenius) over the missing blocks of different annotators; NaN where none is missing."""
        inside = _entries(self.pairs, len(self.truth))
        if not inside.any():
            return np.nan
        truth = self.truth[inside]
        return float(np.linalg.norm(self.estimate[inside] - truth) / np.linalg.norm(truth))

    @property
    def finding(self) -> str:
        """One sentence with the number."""
        if not self.pairs.any():
            return "No pair is missing: there is nothing to impute but the diagonal"
        how = "left at zero" if self.imputation == "none" else f"after {self.imputation} imputation"
        return f"Missing blocks {how}: {percent(self.error, 1)} off"


def _entries(blocks: Mask, size: int) -> Mask:
    K = size // len(blocks)
    return np.kron(blocks, np.ones((K, K), dtype=bool))


def hide_pairs(n_workers: int, share: float, seed: int = 0) -> Mask:
    """Return an (M, M) mask of hidden pairs; with the same seed, a larger share hides the same pairs and more."""
    first, second = np.triu_indices(n_workers, k=1)
    order = np.random.default_rng(seed).permutation(len(first))
    gone = order[: round(share * len(first))]
    hidden = np.eye(n_workers, dtype=bool)
    hidden[first[gone], second[gone]] = hidden[second[gone], first[gone]] = True
    return hidden


def without_pairs(moments: PairwiseMoments, hidden: Mask) -> PairwiseMoments:
    """Return the moments as if the hidden pairs of annotators had never labelled a task in common."""
    K = int(moments.sizes[0])
    counts = sparse.csr_array(moments.counts.multiply(np.kron(~hidden, np.ones((K, K), dtype=np.int64))))
    counts.eliminate_zeros()
    return PairwiseMoments(counts, moments.singles, moments.sizes, moments.n_rows)


def complete(crowd: Crowd, hidden: Mask, imputation: str) -> Completion:
    """Hide pairs of annotators of a simulated crowd and fill the holes.

    `imputation` is "none" (holes stay zero), "designated" or "robust".
    """
    assert crowd.model is not None  # simulated from a Dawid-Skene model
    cooc = Cooccurrences.from_moments(without_pairs(pairwise_moments(crowd.labels.table), hidden), min_common=1)
    missing = ~(cooc.graph.toarray() > 0)
    estimate, reached = _impute(cooc, crowd, imputation)
    H = factors_of_model(crowd.model).reshape(-1, crowd.model.n_classes)
    return Completion(H @ H.T, estimate, missing, ~reached, imputation, _refusal(cooc))


def _impute(cooc: Cooccurrences, crowd: Crowd, imputation: str) -> tuple[Floats, Mask]:
    if imputation == "designated":
        imputed = designated_imputation(cooc)
        return imputed.X, imputed.reached
    observed = cooc.dense()
    if imputation == "none":
        return observed, cooc.graph.toarray() > 0
    if imputation != "robust":
        raise CofactorError(f"imputation={imputation!r}: choose one of {', '.join(IMPUTATIONS)}")
    U = robust_imputation(cooc, factors_of_model(vote_model(crowd.labels, START_COUNT)), max_iter=SWEEPS)[0]
    stacked = U.reshape(-1, cooc.n_classes)
    seen = _entries(cooc.graph.toarray() > 0, len(stacked))
    return np.where(seen, observed, stacked @ stacked.T), np.ones((cooc.n_workers,) * 2, dtype=bool)


def _refusal(cooc: Cooccurrences) -> str:
    try:
        cooc.require_identifiable()
    except NotIdentifiableError as refusal:
        return str(refusal)
    return ""


@lru_cache(maxsize=32)
def small_crowd(n_workers: int, n_classes: int, n_tasks: int, seed: int) -> Crowd:
    """Draw a crowd in which everybody labels everything: a specialist, the others better than chance."""
    model = simulate.dawid_skene_model(
        n_workers, n_classes, skill=0.4, prior=np.full(n_classes, 1 / n_classes), random_state=seed
    )
    return simulate.crowd(model, n_tasks, label_rate=1.0, random_state=seed)


@dataclass(frozen=True)
class ImputationErrors:
    """Relative errors of the missing blocks: per method a (seeds, shares) array."""

    shares: Floats
    by_method: dict[str, Floats]

    @property
    def n_seeds(self) -> int:
        """Number of crowds each point was averaged over."""
        return len(next(iter(self.by_method.values())))


def imputation_errors(
    n_workers: int = 12,
    n_classes: int = 3,
    n_tasks: int = 1000,
    seeds: Sequence[int] = range(5),
    shares: Sequence[float] = (0.1, 0.3, 0.5, 0.7),
) -> ImputationErrors:
    """Hide growing shares of the pairs of simulated annotators and measure how well the holes are filled.

    Cost: a few milliseconds per crowd, share and method at the defaults.
    """
    methods = IMPUTATIONS[1:]
    table = np.empty((len(methods), len(seeds), len(shares)))
    for s, seed in enumerate(seeds):
        crowd = small_crowd(n_workers, n_classes, n_tasks, seed)
        for i, share in enumerate(shares):
            hidden = hide_pairs(n_workers, share, seed)
            table[:, s, i] = [complete(crowd, hidden, method).error for method in methods]
    return ImputationErrors(np.array(shares), dict(zip(methods, table, strict=True)))


@dataclass(frozen=True)
class Scattering:
    """A noise-free crowd of three classes: its factor H (M K, K), and how well SymNMF finds it again."""

    H: Floats
    error: float
    n_iter: int
    converged: bool


def scattering(specialist_error: float, n_workers: int, seed: int) -> Scattering:
    """Factor the exact co-occurrences of a random crowd with one specialist (three classes, equal priors)."""
    model = simulate.dawid_skene_model(n_workers, 3, specialist_error, prior=np.full(3, 1 / 3), random_state=seed)
    H = factors_of_model(model).reshape(-1, 3)
    found, _, result = symnmf(principal_root(H))
    return Scattering(H, mse(model, model_of_factor(found)), result.n_iter, result.converged)


@dataclass(frozen=True)
class Comparison:
    """A method against the majority vote on one simulated crowd."""

    method: str
    errors: dict[str, float]
    truth: LatentClassModel
    estimate: LatentClassModel
    labels_per_task: float

    @property
    def accuracy_error(self) -> float:
        """Mean absolute error of the estimated accuracies of the workers."""
        return float(np.mean(np.abs(worker_accuracy(self.estimate) - worker_accuracy(self.truth))))


def compare(n_tasks: int, labels_per_task: float, method: str, seed: int = 0) -> Comparison:
    """Aggregate the labels of 25 workers, one specialist and the others poor, by majority vote and by a method."""
    model = mixed_crowd(25, 3, seed)
    drawn = simulate.crowd(model, n_tasks, labels_per_task / model.n_variables, random_state=seed)
    fitted = without_prior(method, random_state=seed).fit(drawn.labels)
    errors = {"MajorityVote": error_rate(vote_shares(drawn.labels), drawn.truth)}
    errors[method] = error_rate(fitted.predict(drawn.labels), drawn.truth)
    return Comparison(method, errors, model, fitted.model_, drawn.labels.n_labels / n_tasks)


def mixed_crowd(n_workers: int, n_classes: int, seed: int = 0) -> LatentClassModel:
    """Draw workers whose skill ranges from none to good, evenly over the crowd."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.0, 0.8, n_workers)[:, None, None]
    guesses = rng.dirichlet(np.ones(n_classes), size=(n_workers, n_classes)).transpose(0, 2, 1)
    prior = rng.dirichlet(5 * np.ones(n_classes))
    return LatentClassModel(prior, list((1 - skill) * guesses + skill * np.eye(n_classes)))


@dataclass(frozen=True)
class Rounds:
    """EM on a crowd like Bluebird's, round by round; round zero is the majority vote.

    Attributes
    ----------
    posteriors : T + 1 arrays (N, K)
        Entry zero holds the vote shares.
    log_likelihood : (T + 1,) array
        In nats, of the model behind each posterior; NaN for the votes, which have none.
    truth : (N,) class codes
    """

    posteriors: list[Floats]
    log_likelihood: Floats
    truth: Ints

    @property
    def last(self) -> int:
        """T, the number of rounds run."""
        return len(self.posteriors) - 1

    @property
    def errors(self) -> Floats:
        """(T + 1,) error rate after each round."""
        return np.array([error_rate(posterior, self.truth) for posterior in self.posteriors])


@lru_cache(maxsize=8)
def em_rounds(n_rounds: int = 20, seed: int = 3) -> Rounds:
    """Run EM from the majority vote on a simulated Bluebird."""
    labels, truth = bird_crowd(seed)
    posteriors, log_likelihood = [vote_shares(labels)], [np.nan]
    for _ in range(n_rounds):
        Q, rows = maximization(labels.table, posteriors[-1]).explain(labels.table)
        posteriors.append(Q)
        log_likelihood.append(float(rows.sum()))
    return Rounds(posteriors, np.array(log_likelihood), truth)


def bird_crowd(seed: int = 3) -> tuple[CrowdLabels, Ints]:
    """Let 39 workers of very different skill label 108 tasks of two classes; return labels and truth."""
    drawn = simulate.crowd(bird_watchers(39, seed), 108, label_rate=1.0, random_state=seed)
    return drawn.labels, drawn.truth


def bird_watchers(n_workers: int, seed: int = 3) -> LatentClassModel:
    """Draw workers who know class 0 well and class 1 poorly on average, as those of Bluebird do."""
    rng = np.random.default_rng(seed)
    know = np.stack([rng.beta(10, 5, n_workers), rng.beta(4, 4.4, n_workers)])
    return LatentClassModel([0.55, 0.45], [np.array([[p, 1 - q], [1 - p, q]]) for p, q in know.T])
