"""What notebook 08 computes: anchors in the plane, pairs against triples, a panel's table, films, a parity of coins.

symbol   meaning                                                              shape
W        the conditionals of the variables in S_1, one below another          (sum over S_1 of I_j, F)
X        the pairs of S_1 (rows) with S_2 (columns); X = W H'
theta    coordinates of a column of X in the columns of W, all sums being one  (F,)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm

from cofactor import simulate
from cofactor.core.em import em
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.spa import spa
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf import METHODS, mre, mse
from cofactor.pmf.base import EM_TOL, FLOOR

ENDLESS = 10**9  # rows that count as endless
FILMS = (
    "Moon Harbour", "The Ninth Orbit", "Dust Colony",
    "Late Trains", "Letters to Ida", "A Borrowed Summer",
    "Cellar Door", "The Quiet Floor", "Nobody Knocks",
)  # fmt: skip
TASTES = np.array([[4.5, 2.2, 2.8], [2.4, 4.4, 1.6], [3.0, 2.6, 4.6]])  # mean stars, taste by genre
TASTE_SHARES = np.array([0.4, 0.35, 0.25])
PAIR_TOL = 1e-7  # relative, of the objective: what comes after it hardly moves a curve
SPREAD = 0.9  # stars, of the ratings of one taste


@dataclass(frozen=True)
class Anchors:
    """Columns of the virtual matrix in the coordinates of the true classes, and which of them SPA takes.

    Attributes
    ----------
    theta : (J, F) array
        Rows sum to one; with noise, entries may be negative.
    found : (F,) ints
        Rows of `theta` that SPA takes for corners.
    """

    theta: Floats
    found: Ints

    @property
    def gaps(self) -> Floats:
        """(F,) distance of each corner to the nearest anchor taken, in the space of theta; 0: found exactly."""
        away = np.eye(self.theta.shape[1])[:, None] - self.theta[self.found]
        return np.asarray(np.linalg.norm(away, axis=2).min(axis=1))


def anchors(truth: LatentClassModel, moments: PairwiseMoments, split: int = 3) -> Anchors:
    """Look for anchors among the values of the variables from `split` on, by their pairs with those before."""
    N = truth.n_variables
    X = np.block([[moments.joint(j, k) for k in range(split, N)] for j in range(split)])
    X = X[:, X.any(axis=0)]
    X /= X.sum(axis=0)
    W = np.vstack(truth.conditionals[:split]) / split
    theta = np.linalg.lstsq(W, X, rcond=None)[0].T
    return Anchors(theta / theta.sum(axis=1, keepdims=True), spa(X, truth.n_classes))


def endless(model: LatentClassModel) -> PairwiseMoments:
    """Pairwise moments of a model without noise: the counts that ENDLESS complete rows have on average."""
    first = np.cumsum(model.sizes) - model.sizes
    M = ENDLESS * (model.stacked * model.prior) @ model.stacked.T
    for start, size in zip(first, model.sizes, strict=True):
        M[start : start + size, start : start + size] = 0
    singles = np.rint(ENDLESS * model.stacked @ model.prior).astype(np.int64)
    counts = sparse.csr_array(np.rint(M).astype(np.int64))
    return PairwiseMoments(counts, singles, model.sizes, ENDLESS)


def starve(shares: Sequence[float], n_rows: int = 10_000, n_trials: int = 3) -> dict[str, Floats]:
    """Errors (MSE) by pairs, by pairs and rows, by triples: (trials, shares) each, as ever fewer entries are observed.

    Seven variables of six values, four classes.
    """
    errors = {name: np.empty((n_trials, len(shares))) for name in ("CNMF-OPT", "CNMF-EM", "CTD")}
    for seed in range(n_trials):
        truth = simulate.joint_model(7, 6, 4, random_state=seed)
        for i, observed in enumerate(shares):
            table = simulate.joint_table(truth, n_rows, observed, random_state=seed)
            pairs = METHODS["CNMF-OPT"](rank=4, split=3, pseudo_count=0, tol=PAIR_TOL).fit(table).model_
            rows = em(table, pairs.lift(FLOOR), tol=EM_TOL)[0]
            triples = METHODS["CTD"](rank=4, pseudo_count=0, random_state=seed).fit(table).model_
            for name, model in zip(errors, (pairs, rows, triples), strict=True):
                errors[name][seed, i] = mse(truth, model)
    return errors


@dataclass(frozen=True)
class Recovered:
    """A simulated table, its anchors, and how far some methods are from the truth."""

    anchors: Anchors
    mse: Mapping[str, float]
    mre: Mapping[str, float]
    pair_rows: float
    triple_rows: float


def recover(n_rows: int, observed: float, rank: int, separability: float | None, seed: int = 0) -> Recovered:
    """Draw 5 variables of 10 values; estimate their joint PMF in three ways, not smoothed, beside the constant."""
    truth = simulate.joint_model(5, 10, rank, separability, random_state=seed)
    table = simulate.joint_table(truth, n_rows, observed, random_state=seed)
    fits = {
        "Constant": METHODS["Constant"](rank=rank),
        "CNMF-SPA": METHODS["CNMF-SPA"](rank=rank, split=3, pseudo_count=0),
        "CNMF-OPT": METHODS["CNMF-OPT"](rank=rank, split=3, pseudo_count=0, random_state=seed),
        "CNMF-EM": METHODS["CNMF-EM"](rank=rank, split=3, pseudo_count=0, random_state=seed),
    }
    models = {name: fit.fit(table).model_ for name, fit in fits.items()}
    return Recovered(
        anchors(truth, pairwise_moments(table)),
        {name: mse(truth, model) for name, model in models.items()},
        {name: mre(truth, model) for name, model in models.items()},
        n_rows * observed**2,
        n_rows * observed**3,
    )


@dataclass(frozen=True)
class FilmNight:
    """Invented ratings: codes 0 to 4 stand for 1 to 5 stars.

    Attributes
    ----------
    films : names, three each of three genres
    seen : CategoricalTable
        The ratings that were given.
    all : (S, N) ints
        Those that would be, the hidden ones too.
    """

    films: Sequence[str]
    seen: CategoricalTable
    all: Ints

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """(S, N) where a rating is hidden."""
        return self.seen.codes < 0


def film_night(n_users: int = 2000, observed: float = 0.4, seed: int = 0) -> FilmNight:
    """Let people of three tastes rate nine films, and hide most of the ratings."""
    rng = np.random.default_rng(seed)
    means = np.repeat(TASTES, 3, axis=1).T + rng.normal(0, 0.35, (len(FILMS), 3))
    cuts = norm.cdf(np.arange(1.5, 5), means[..., None], SPREAD)
    stars = np.diff(cuts, axis=2, prepend=0, append=1)  # films, tastes, stars
    model = LatentClassModel(TASTE_SHARES, list(stars.transpose(0, 2, 1)))
    whole = model.sample(n_users, random_state=rng)[0].codes
    seen = np.where(rng.random(whole.shape) < observed, whole, -1)
    return FilmNight(FILMS, CategoricalTable(seen, model.sizes), whole)


def parity(n_rows: int, seed: int = 0) -> CategoricalTable:
    """Three coins, two of them fair and the third showing whether the others differ."""
    coins = np.random.default_rng(seed).integers(0, 2, (n_rows, 2))
    return CategoricalTable(np.column_stack([coins, coins.sum(axis=1) % 2]), [2, 2, 2])


def count_numbers(n_variables: int, alphabet: int, rank: int) -> dict[str, int]:
    """Count numbers: cells of the joint table, of all triples, of all pairs; free parameters of the model."""
    N, I, F = n_variables, alphabet, rank
    triples, pairs = (sum(1 for _ in combinations(range(N), k)) * I**k for k in (3, 2))
    return {"joint": I**N, "triples": triples, "pairs": pairs, "model": F - 1 + N * F * (I - 1)}
