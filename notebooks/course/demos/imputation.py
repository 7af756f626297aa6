"""What notebook 03 measures: the error of imputed co-occurrences against the number of co-labelled items.

symbol   meaning
S        tasks that every observed pair of annotators labelled in common
e(S)     error of the missing blocks relative to their norm (Frobenius, all of them together)
c, b     of the power law e(S) = c S^-b; Theorem 1 says b = 1/2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import vote_model
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model, robust_imputation
from cofactor.simulate import Crowd
from course.demos.theory import START_COUNT, SWEEPS, hide_pairs, small_crowd, without_pairs

SIZES = (30, 100, 300, 1000, 3000, 10_000)
LINES = {"designated": None, "robust": 1.0, "least squares": 2.0}  # the exponent p of the robust criterion
LARGE = 100  # the power law is fitted from here: below, an imputed block is as wrong as it can be


def garble(cooc: Cooccurrences, share: float, seed: int = 0) -> Cooccurrences:
    """Replace a share of the observed blocks by random ones: tasks mixed up, answers copied, a broken upload.

    A larger share garbles the same blocks and more. Which blocks they are, nobody tells the methods.
    """
    if not 0 <= share <= 1:
        raise CofactorError(f"share={share}: ask for 0 to 1")
    K, blocks = cooc.n_classes, cooc.blocks.copy()
    e, mirror = _pairs(cooc)
    rng = np.random.default_rng(seed)
    order, wrong = rng.permutation(len(e)), rng.dirichlet(np.ones(K * K), len(e)).reshape(-1, K, K)
    bad = order[: round(share * len(e))]
    blocks[e[bad]], blocks[mirror[bad]] = wrong[bad], wrong[bad].transpose(0, 2, 1)
    return replace(cooc, blocks=blocks)


def _pairs(cooc: Cooccurrences) -> tuple[Ints, Ints]:
    """Places of R_mj and R_jm among the blocks, for each observed pair m < j."""
    place = np.zeros((cooc.n_workers,) * 2, dtype=np.int64)
    place[cooc.rows, cooc.indices] = np.arange(len(cooc.indices))
    e = np.flatnonzero(cooc.rows < cooc.indices)
    return e, place[cooc.indices[e], cooc.rows[e]]


@dataclass(frozen=True)
class Holes:
    """A crowd some of whose pairs of annotators were never counted, and of whose counts some are garbage."""

    crowd: Crowd
    cooc: Cooccurrences
    missing: NDArray[np.bool_]

    @property
    def truth(self) -> Floats:
        """(M K, M K) exact co-occurrences."""
        assert self.crowd.model is not None  # simulated from a Dawid-Skene model
        H = factors_of_model(self.crowd.model).reshape(-1, self.crowd.model.n_classes)
        return H @ H.T

    @property
    def start(self) -> Floats:
        """(M, K, K) factors of the majority vote, from which robust imputation starts."""
        return factors_of_model(vote_model(self.crowd.labels, START_COUNT))

    def error(self, X: Floats) -> float:
        """Relative error (Frobenius) of X over the missing blocks of different annotators."""
        pairs = self.missing & ~np.eye(len(self.missing), dtype=bool)
        if not pairs.any():
            raise CofactorError("no pair of annotators is missing: hide a larger share")
        inside = np.kron(pairs, np.ones((self.cooc.n_classes,) * 2)) > 0
        truth = self.truth[inside]
        return float(np.linalg.norm(X[inside] - truth) / np.linalg.norm(truth))


def holes(
    n_items: int, n_workers: int = 12, n_classes: int = 3, share: float = 0.3, outlying: float = 0.0, seed: int = 0
) -> Holes:
    """Let annotators label `n_items` tasks, hide a share of the pairs, garble a share of the blocks that are left."""
    crowd = small_crowd(n_workers, n_classes, n_items, seed)
    missing = hide_pairs(n_workers, share, seed)
    moments = without_pairs(pairwise_moments(crowd.labels.table), missing)
    cooc = Cooccurrences.from_moments(moments, min_common=1)
    return Holes(crowd, garble(cooc, outlying, seed), missing)


def fill(problem: Holes, method: str) -> Floats:
    """Complete the co-occurrences by a method of `LINES`; the (M K, M K) result."""
    if method not in LINES:
        raise CofactorError(f"method={method!r}: choose one of {', '.join(LINES)}")
    p = LINES[method]
    if p is None:
        return designated_imputation(problem.cooc).X
    U = robust_imputation(problem.cooc, problem.start, p=p, max_iter=SWEEPS)[0].reshape(-1, problem.cooc.n_classes)
    return U @ U.T


@dataclass(frozen=True)
class SampleErrors:
    """Errors e(S) of the missing blocks.

    Attributes
    ----------
    sizes : (n,) array
        S, tasks per observed pair.
    by_method : dict of (seeds, n) arrays
    setting : str
        In words, for titles.
    """

    sizes: Ints
    by_method: dict[str, Floats]
    setting: str

    @property
    def n_seeds(self) -> int:
        """Number of crowds."""
        return len(next(iter(self.by_method.values())))

    def rate(self, method: str, smallest: int = LARGE) -> PowerLaw:
        """Fit the power law of one method to the sizes from `smallest` on."""
        large = self.sizes >= smallest
        return PowerLaw.fit(self.sizes[large], self.by_method[method][:, large])


@lru_cache(maxsize=64)
def sample_errors(
    n_workers: int = 12,
    n_classes: int = 3,
    share: float = 0.3,
    outlying: float = 0.0,
    methods: Sequence[str] = ("designated", "robust"),
    sizes: Sequence[int] = SIZES,
    seeds: Sequence[int] = range(10),
) -> SampleErrors:
    """Measure e(S) on simulated crowds of `small_crowd`; about 2 ms per crowd, size and method at the defaults."""
    table = np.empty((len(methods), len(seeds), len(sizes)))
    for s, seed in enumerate(seeds):
        for i, n_items in enumerate(sizes):
            problem = holes(n_items, n_workers, n_classes, share, outlying, seed)
            table[:, s, i] = [problem.error(fill(problem, method)) for method in methods]
    setting = f"{100 * share:.0f} % of pairs missing, {100 * outlying:.0f} % of blocks garbage"
    return SampleErrors(np.array(sizes), dict(zip(methods, table, strict=True)), setting)


@dataclass(frozen=True)
class PowerLaw:
    """e(S) = c S^-b, fitted crowd by crowd, so that the spread over crowds is known.

    Attributes
    ----------
    exponents : (seeds,) array
        b of each crowd, by least squares on log-log axes.
    constants : (seeds,) array
        c of each crowd with b = 1/2.
    """

    exponents: Floats
    constants: Floats

    @classmethod
    def fit(cls, sizes: Ints, errors: Floats) -> PowerLaw:
        """Fit (seeds, n) errors at (n,) sizes."""
        if len(sizes) < 2:
            raise CofactorError("a power law needs errors at two sizes or more")
        slopes = np.polyfit(np.log(sizes), np.log(errors).T, 1)[0]
        return cls(-slopes, np.exp((np.log(errors) + np.log(sizes) / 2).mean(axis=1)))

    @property
    def exponent(self) -> tuple[float, float]:
        """Mean of b, and its standard error."""
        return float(self.exponents.mean()), float(self.exponents.std(ddof=1) / np.sqrt(len(self.exponents)))

    @property
    def constant(self) -> tuple[float, float, float]:
        """Median of c over crowds, and the range that holds 80 % of them."""
        low, middle, high = np.quantile(self.constants, [0.1, 0.5, 0.9])
        return float(middle), float(low), float(high)

    def items_needed(self, error: float) -> tuple[float, float, float]:
        """Return S = (c / error)^2 for the median crowd, and for the range of 80 %."""
        middle, low, high = ((c / error) ** 2 for c in self.constant)
        return middle, low, high
