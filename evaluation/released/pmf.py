"""Joint PMFs as the scripts with the paper have them, and the classifiers of its tables.

    symbol   meaning                                               shape
    X        joint frequencies of five variables with the others   (K_1, K_2)
    W        its anchor columns                                    (K_1, F)
    H        their weights                                         (K_2, F)

Source: code with Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals",
IEEE TSP 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import Estimator, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.simplex import spa
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf import BMF, CTD, MLEADEM, JointPMFEstimator, JointPMFRecommender
from cofactor.pmf.base import CLOSED_FORM
from cofactor.rivals.pmf import TripleCells, alternate, cells_of, given_or_random
from cofactor.rivals.triple_moments import TripleMoments, triple_moments
from evaluation.released.em import released_em
from evaluation.released.mirror_descent import REAL, mirror_descent
from evaluation.released.tensor import Script, released_tensor

SPLIT = 5  # variables on one side of X
STEPS = 300  # of projected gradients, for H
OUTER = 200  # most passes of CNMF-OPT
ROUNDS = 30  # of EM
FLOOR, TOL = 1e-6, 1e-6
RIDGE = 100.0  # lbd^2
FEATURES = 256  # random ones, of MATLAB's kernel classifier


@dataclass(eq=False, repr=False, kw_only=True)
class Released(JointPMFEstimator):
    """CNMF-SPA as released in the scripts of Tables 8 to 14, and what starts from it.

    `then`: "" for nothing, "em" for 30 rounds, "mirror" for CNMF-OPT by mirror descent with all pairs alike.
    Cost: see `cnmf_spa`, `em` and `mirror_descent`. Source: see the module.
    """

    pseudo_count: float | Literal["auto"] = 0.0
    then: str = ""
    uniform_prior: bool = False
    tol: float = TOL

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        model = released_spa(moments, self.rank_, np.random.default_rng(self.random_state)).lift(FLOOR)
        if self.then == "em":
            return released_em(table, model, ROUNDS)
        if self.then != "mirror":
            return model, CLOSED_FORM
        if self.uniform_prior:
            model = LatentClassModel(np.full(self.rank_, 1 / self.rank_), model.conditionals)
        return mirror_descent(moments, model, "equal", OUTER, self.tol, FLOOR, REAL._replace(still=self.tol))


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedEM(Released):
    """CNMF-SPA-EM as released. Cost and source: see `Released`."""

    then: str = "em"


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedOPT(Released):
    """CNMF-OPT as released. Cost and source: see `Released`."""

    then: str = "mirror"


def released_spa(
    moments: PairwiseMoments, rank: int, rng: np.random.Generator, split: int = SPLIT, steps: int = STEPS
) -> LatentClassModel:
    """Pairs never observed are zeros, H takes gradient steps from a random start, lambda is a product of maxima.

    Zeros are left as they are: each script lifts them, or not, before it goes on.
    """
    sizes = moments.sizes
    K = int(sizes[:split].sum())
    n = moments.n_joint[:split][:, split:].toarray()
    every = np.repeat(np.repeat(n, sizes[:split], axis=0), sizes[split:], axis=1)
    X = moments.counts[:K][:, K:].toarray() / np.maximum(every, 1)
    totals = X.sum(axis=0)
    columns = np.flatnonzero(totals > 0)
    found = columns[spa(X[:, columns] / totals[columns], rank)]
    if len(found) < rank:
        raise CofactorError(f"rank={rank}: successive projection finds {len(found)} anchors; request at most as many")
    W = X[:, found]
    H = _weights(X, W, rng, steps)
    A, level_w = _scaled(W, sizes[:split])
    B, level_h = _scaled(H, sizes[split:])
    prior = level_w * level_h
    return LatentClassModel.from_stacked(prior / prior.sum(), np.vstack([A, B]), sizes)


def _weights(X: Floats, W: Floats, rng: np.random.Generator, steps: int) -> Floats:
    """Descend ||X - W H'||_F^2 over H >= 0."""
    H = rng.random((X.shape[1], W.shape[1]))
    H /= H.sum(axis=1, keepdims=True)
    G, V = W.T @ W, X.T @ W
    step = 1 / np.linalg.eigvalsh(G)[-1]
    for _ in range(steps):
        H = np.maximum(H - step * (H @ G - V), 0)
    return H


def _scaled(blocks: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Columns of every block scaled to sum to one (zeros stay zeros), and the largest of each column's sums."""
    sums = np.add.reduceat(blocks, np.cumsum(sizes) - sizes, axis=0)
    scale = np.repeat(sums, sizes, axis=0)
    return np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0), sums.max(axis=0)


# ---- triples ----

SCRIPTS = {
    "separable": (Script(penalty=(0.01, 0.1)), 500, 1e-6, False),
    "synthetic": (Script(), 200, 1e-6, True),
    "uci": (Script((10, 10), (500, 100), 1e-6, "clipped", "objective"), 100, 1e-6, False),
    "ratings": (Script((10, 10), (500, 100), 1e-6, "clipped", "objective"), 200, 1e-4, True),
}  # settings, sweeps, tolerance, whether the prior starts uniform


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedCTD(CTD):
    """CTD as released.

    `script`: "separable" for Tables 1 to 3, "synthetic" for 4 and 5, "uci" for 8 to 11 (there with ``sweeps=200`` for
    Votes), "ratings" for 12 to 14; `sweeps` replaces its limit. Cost: see `coupled_tensor`. Source: see the module.
    """

    script: str = "synthetic"
    sweeps: int | None = None

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        if self.script not in SCRIPTS:
            raise CofactorError(f"script={self.script!r}: choose one of {', '.join(SCRIPTS)}")
        settings, limit, tol, uniform = SCRIPTS[self.script]
        model = given_or_random(self.start, table.sizes, self.rank_, self.random_state)
        if uniform and self.start is None:
            model = LatentClassModel.from_stacked(np.full(self.rank_, 1 / self.rank_), model.stacked, model.sizes)
        return released_tensor(triple_moments(table), model, settings, self.sweeps or limit, tol, self.verbose)


@dataclass(eq=False, repr=False, kw_only=True)
class ReleasedMLEADEM(MLEADEM):
    """MLE-AD-EM as released: the data of each triple are fitted with the model of another, then 30 rounds of EM.

    The data are listed in the order of MATLAB's `combnk`, the model in lexicographic order. Released: `tol` 1e-4 for
    Car and Nursery. Cost: see `mle_ad`. Source: see the module.
    """

    em_max_iter: int = ROUNDS

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        start = given_or_random(self.start, table.sizes, self.rank_, self.random_state)
        right = cells_of(triples := triple_moments(table), start)
        return alternate(
            misplaced(triples, right), start, self.max_iter, self.tol, verbose=self.verbose, measured=right
        )


def misplaced(triples: TripleMoments, right: TripleCells) -> TripleCells:
    """Return the cells with the values at which the released model looks for them."""
    N, V = len(triples.sizes), int(triples.sizes.sum())
    places = _places(triples.sizes, list(combinations(range(N), 3)))
    found = _places(triples.sizes, combnk_triples(N))
    keys = (found[0] * V + found[1]) * V + found[2]
    by_key = np.argsort(keys)
    return right._replace(values=places[:, by_key[np.searchsorted(keys, triples.keys, sorter=by_key)]])


def _places(sizes: Ints, which: list[tuple[int, ...]]) -> Ints:
    """(3, cells) stacked values along the vector of all triples in this order, in each the first value runs fastest."""
    first = np.cumsum(sizes) - sizes
    blocks = []
    for triple in which:
        c, b, a = np.indices(tuple(sizes[list(triple)][::-1].tolist())).reshape(3, -1)
        blocks.append(np.stack([a, b, c]) + first[list(triple)][:, None])
    return np.concatenate(blocks, axis=1)


def combnk_triples(N: int) -> list[tuple[int, ...]]:
    """Triples of N variables in the order of MATLAB's `combnk`: lexicographic, but for sublists that run backwards.

    >>> combnk_triples(5)[:4]
    [(2, 3, 4), (1, 3, 4), (1, 2, 4), (1, 2, 3)]
    """
    return _combnk(tuple(range(N)), 3)


def _combnk(values: tuple[int, ...], k: int) -> list[tuple[int, ...]]:
    n = len(values)
    if k == 1 or n <= k + 1:
        return list(combinations(values, k))
    if n < 17 and (k > 3 or n - k < 4):
        return list(combinations(values, k))[::-1]
    return [(values[i], *rest) for i in range(n - k + 1) for rest in _combnk(values[i + 1 :], k - 1)]


# ---- ratings ----


class ReleasedBMF(BMF):
    """BMF as released: ridge 100, and every bias drawn to zero by 100 times its number of ratings.

    Hardly any bias is left, however many ratings there are. `bias_ridge` is not used. Cost: see `BMF`. Source: see
    the module.
    """

    def __init__(
        self, rank: int = 5, ridge: float = RIDGE, random_state: int | None = None, verbose: bool = False
    ) -> None:
        super().__init__(rank, ridge, random_state=random_state, verbose=verbose)

    def _pull(self, counts: Ints) -> Floats:
        return np.asarray(RIDGE * counts)


class ReleasedRecommender(JointPMFRecommender):
    """Recommend as released: without biases, and with a uniform prior, an oversight in a product of vectors.

    Cost: see `JointPMFRecommender`. Source: see the module.
    """

    def __init__(
        self, estimator: JointPMFEstimator | None = None, random_state: int | None = None, verbose: bool = False
    ) -> None:
        super().__init__(estimator, False, random_state, verbose)

    def _fit(self, row: Ints, column: Ints, rating: Floats) -> None:
        super()._fit(row, column, rating)
        uniform = np.full(self.model_.n_classes, 1 / self.model_.n_classes)
        self.model_ = LatentClassModel(uniform, self.model_.conditionals)


# ---- classifiers of scikit-learn: from alphabets and a seed ----


def logistic(sizes: Ints, seed: int) -> Any:
    """Unpenalised; scaling only helps it to converge."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, max_iter=2000))


def random_features(sizes: Ints, seed: int) -> Any:
    """MATLAB's default kernel classifier of more than two classes: random Fourier features."""
    features = RBFSampler(gamma=1.0, n_components=FEATURES, random_state=seed)
    return OneVsOneClassifier(make_pipeline(features, LinearSVC(loss="hinge", max_iter=20_000)))


def naive_bayes(sizes: Ints, seed: int) -> Any:
    """Categories, one observation added to each."""
    return CategoricalNB(min_categories=sizes)


def one_hot(make: Callable[[], Any], sizes: Ints, seed: int) -> Any:
    """Put a classifier behind an indicator of every category."""
    return make_pipeline(OneHotEncoder(categories=[np.arange(size) for size in sizes]), make())


CLASSIFIERS: dict[str, Callable[[Ints, int], Any]] = {
    "SVM": lambda sizes, seed: SVC(kernel="linear"),
    "SVM-RBF": lambda sizes, seed: SVC(gamma=1.0),
    "SVM-RBF (random features)": random_features,
    "LogReg": logistic,
    "NaiveBayes": naive_bayes,
    "SVM (one-hot)": partial(one_hot, lambda: SVC(kernel="linear")),
    "SVM-RBF (one-hot)": partial(one_hot, lambda: SVC(C=10.0)),
    "LogReg (one-hot)": partial(one_hot, lambda: LogisticRegression(max_iter=2000)),
}
PMF: dict[str, type[Estimator]] = {
    "CNMF-SPA": Released,
    "CNMF-SPA-EM": ReleasedEM,
    "CNMF-OPT": ReleasedOPT,
    "CTD": ReleasedCTD,
    "MLE-AD-EM": ReleasedMLEADEM,
    "BMF": ReleasedBMF,
    "JointPMF": ReleasedRecommender,
}
