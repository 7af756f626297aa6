"""A scikit-learn classifier based on a joint PMF of features and class.

    Pr(y | x) proportional to  sum_f lambda_f B[y, f] prod_n A_n[x_n, f]     (n over the features observed in x)

lambda is the prior of the latent class; A_n and B are the conditionals of the features and of the class. The most
probable class is predicted. Any subset of the features may be missing, during fitting and during prediction.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Sec. 5.3.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import check_whole, rng_of, unmasked
from cofactor.core.em import em
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import Estimator, Result, progress
from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.core.lazy import joblib, pd
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import (
    START_FLOOR,
    Choice,
    Scores,
    check_choices,
    check_rank,
    choose_rank_and_smoothing,
    mean_model,
    random_model,
)
from cofactor.pmf.cnmf import cnmf_opt

RANKS = (2, 4, 8, 16, 24, 30)  # tried with rank="auto"
PSEUDO_COUNTS = (0.01, 0.05, 0.3, 1.0)  # tried with pseudo_count="auto"
FIRST_PSEUDO_COUNT = 0.05  # of these, the one the rank is chosen with
CLASSIFIER_TOL = 1e-6  # relative change of the objective of EM: what comes after it hardly moves a prediction
SCORED = 1000  # rows that are scored on validation, in at most so many splits:
MOST_SPLITS = 5
LEAST_SCORED = 1e-3  # probability of the true class below which a wrong prediction costs no more
NUMBERS = ("integer", "floating", "mixed-integer-float")  # what pandas calls a column of numbers


@dataclass(eq=False, repr=False)
class JointPMFClassifier(Estimator):
    """Classifier based on a low-rank joint PMF of features and class; handles categories and missing values.

    Parameters
    ----------
    rank : int or "auto"
        F, the number of latent classes. "auto" tries 2, 4, 8, 16, 24 and 30 on validation rows.
    pseudo_count : float or "auto"
        alpha of EM, the number of observations added to every cell.
        "auto" tries 0.01, 0.05, 0.3 and 1 on validation rows, at the best rank.
    method : "EM" or "CNMF-EM"
        "EM" starts EM at random; "CNMF-EM" starts it at the pairwise fits (`cnmf_opt`) from the same random starts.
    n_starts : int
        Number of random starts. The resulting joint PMFs are averaged; the mean is a joint PMF of rank n_starts F.
    validation_share : float
        Fraction of the rows held out for the choice, stratified if every class has at least two rows. If that is fewer
        than 1000 rows, up to five such splits are drawn.
    n_bins : int or None
        Numeric columns with more than n_bins distinct values are cut at their quantiles into n_bins intervals; all
        other columns are categories. None means no binning.
    max_iter : int
        Maximum number of EM iterations.
    n_jobs : int or None
        Number of parallel fits; see joblib.
    random_state : int, Generator or None
    verbose : bool

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        Its variables are the features, in order, followed by the class.
    results_ : list of Result
        One EM result for every start of every kept choice; `result_` is the first.
    classes_ : (K,) array
    rank_, pseudo_count_, validation_
        As in `JointPMFEstimator`; the score is the mean log-probability of the true class on validation rows, with
        probabilities floored at 0.001. All choices within one standard error of the best are fitted to all rows and
        averaged.
    codings_ : list
        The coding of each column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    NaN and None are missing values. Values that did not occur in `fit` also count as missing; `predict` lists them in a
    `DataWarning`. Columns that are missing in every row of `fit` have no effect, also with a `DataWarning`. `fit`
    raises a CofactorError if a parameter is out of range or a column holds values other than numbers and strings.

    Cost: O(entries F) per iteration of EM. If neither parameter is "auto", n_starts fits; otherwise 9 n_starts fits per
    split, and up to as many on all rows.

    Source: IEEE TSP 2021, Sec. 5.3. Deviations: EM with pseudo-counts and ranks up to 30, and the mean of several
    starts and choices; the paper's ranks end at 5 to 7 on these data because of its split of the variables.

    >>> X = [["red", "round"], ["green", "round"], ["red", None], ["yellow", "long"], ["green", "long"]] * 8
    >>> y = ["apple", "apple", "apple", "banana", "banana"] * 8
    >>> fruit = JointPMFClassifier(rank=2, pseudo_count=0.1, random_state=0).fit(X, y)
    >>> fruit.predict([["red", None], [None, "long"]]).tolist()
    ['apple', 'banana']
    """

    rank: int | Literal["auto"] = "auto"
    pseudo_count: float | Literal["auto"] = "auto"
    method: Literal["EM", "CNMF-EM"] = "EM"
    n_starts: int = 4
    validation_share: float = 0.2
    n_bins: int | None = 32
    max_iter: int = 500
    n_jobs: int | None = None
    random_state: Seed = None
    verbose: bool = False

    n_features_in_: int = field(init=False)  # scikit-learn stores it

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: missing values, categories and strings are allowed."""
        from sklearn import utils  # here, and wherever it serves: slow to import

        return utils.Tags(
            estimator_type="classifier",
            target_tags=utils.TargetTags(required=True),
            classifier_tags=utils.ClassifierTags(),
            input_tags=utils.InputTags(allow_nan=True, categorical=True, string=True),
            non_deterministic=self.random_state is None,
        )

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the classifier, after choosing rank and smoothing if they are "auto"; returns self.

        `X` is an (S, N) array of numbers or strings, or a data frame, with NaN or None for missing values; `y` holds
        (S,) labels of any kind.
        """
        from sklearn.utils.multiclass import check_classification_targets

        self._check_parameters()
        _refuse_missing(y)
        rows, y = self._checked(X, y)
        check_rank(self.rank, len(rows))
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise CofactorError(str(error)) from None
        self.classes_, target = np.unique(y, return_inverse=True)
        self.codings_ = [Coding.of(column, n, self.n_bins) for n, column in enumerate(rows.T)]
        table = self._table(encode(rows, self.codings_)[0], target)
        empty = np.flatnonzero(table.entries_per_variable == 0)
        if len(empty):
            message = f"columns that are missing in every row have no effect: {listing(empty.tolist())}"
            warnings.warn(message, DataWarning, stacklevel=2)
        rng = rng_of(self.random_state)
        self.validation_: list[dict[str, Any]] = []
        best_choices = self._choose(table, target, rng)
        self.rank_, self.pseudo_count_ = best_choices[0]
        seeds = rng.integers(2**32, size=self.n_starts).tolist()
        found = self._run([(table, *choice, seed) for choice, seed in product(best_choices, seeds)])
        self.model_, self.results_ = mean_model([model for model, _ in found]), [result for _, result in found]
        self.result_ = self.results_[0]
        self.n_iter_ = self.result_.n_iter
        late = sum(not result.converged for result in self.results_)
        if late:
            message = f"EM did not converge within {self.max_iter} iterations for {late} of {len(found)} starts"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _checked(self, *arrays: ArrayLike, **options: Any) -> Any:
        from sklearn.utils.validation import validate_data

        plain = [unmasked(array) if np.ma.is_masked(array) else array for array in arrays]
        try:
            return validate_data(self, *plain, dtype=None, ensure_all_finite="allow-nan", **options)
        except ValueError as error:  # scikit-learn's messages say what is wrong, and their tests ask for them
            raise CofactorError(str(error)) from None

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the (S, K) probabilities of the classes, in the order of `classes_`."""
        self._check_fitted()
        rows = self._checked(X, reset=False)
        codes, unseen = encode(rows, self.codings_)
        if unseen:
            warnings.warn(
                f"{len(unseen)} values that did not occur in fit are treated as missing: "
                f"{listing(f'row {s}, column {n}: {value!r}' for s, n, value in unseen)}",
                DataWarning,
                stacklevel=2,
            )
        missing = np.full(len(codes), -1)
        return self.model_.conditional(self._table(codes, missing), self.n_features_in_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the (S,) most probable classes; ties go to the class that is more frequent under the model."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[map_class(shares, self.model_.marginal(self.n_features_in_))])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, weighted by `sample_weight` if given."""
        right = self.predict(X) == np.asarray(y)
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)))

    def _check_parameters(self) -> None:
        check_choices(self.rank, self.pseudo_count)
        check_whole(1, n_starts=self.n_starts, max_iter=self.max_iter)
        if self.method not in ("EM", "CNMF-EM"):
            raise CofactorError(f"method={self.method!r}: choose 'EM' or 'CNMF-EM'")
        if not 0 < self.validation_share < 1:
            raise CofactorError(f"validation_share={self.validation_share}: must be strictly between 0 and 1")
        if self.n_bins is not None and self.n_bins < 2:
            raise CofactorError(f"n_bins={self.n_bins}: must be at least 2, or None for no binning")

    def _table(self, codes: Ints, target: Ints) -> CategoricalTable:
        sizes = [*(coding.size for coding in self.codings_), len(self.classes_)]
        return CategoricalTable(np.column_stack([codes, target]), sizes)

    def _choose(self, table: CategoricalTable, target: Ints, rng: np.random.Generator) -> list[Choice]:
        """Return the best choice and those within one standard error of it; see `choose_rank_and_smoothing`."""
        alpha = FIRST_PSEUDO_COUNT if self.pseudo_count == "auto" else float(self.pseudo_count)
        ranks = RANKS if self.rank == "auto" else (int(self.rank),)
        counts = PSEUDO_COUNTS if self.pseudo_count == "auto" else (alpha,)
        if len(ranks) * len(counts) == 1:
            return [(ranks[0], alpha)]
        splits = self._splits(target, rng)
        if not splits:  # too few rows to hold any out
            return [(min(ranks[-1], len(self.classes_)), alpha)]
        best_choices = choose_rank_and_smoothing(
            ranks, counts, alpha, lambda tried: self._validate(table, target, splits, tried)
        )
        for tried in self.validation_:
            tried["kept"] = (tried["rank"], tried["pseudo_count"]) in best_choices
        return best_choices

    def _splits(self, target: Ints, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
        """Return (training rows, validation rows) to score about `SCORED` rows; [] if a side would be empty."""
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        S, counts = len(target), np.bincount(target)
        held = int(np.ceil(self.validation_share * S))
        if S - held < 1:
            return []
        fair = counts.min() >= 2 and min(held, S - held) >= len(counts)
        kind = StratifiedShuffleSplit if fair else ShuffleSplit
        n_splits = min(-(-SCORED // held), MOST_SPLITS)
        return list(kind(n_splits, test_size=held, random_state=int(rng.integers(2**32))).split(target, target))

    def _validate(
        self, table: CategoricalTable, target: Ints, splits: list[tuple[Ints, Ints]], tried: list[Choice]
    ) -> Scores:
        """Score every (rank, pseudo-count) on all held-out rows, with the same starts, and note the means."""
        L, pieces = self.n_starts, [table.take_rows(fitted) for fitted, _ in splits]
        jobs = [(piece, *pair, seed) for pair, piece, seed in product(tried, pieces, range(L))]
        models = [model for model, _ in self._run(jobs)]
        means = [mean_model(models[first : first + L]) for first in range(0, len(models), L)]
        found: Scores = {}
        truth = np.concatenate([target[held] for _, held in splits])
        for place, (F, alpha) in enumerate(tried):
            of_split = zip(means[place * len(splits) :], splits, strict=False)
            shares = np.vstack(
                [model.conditional(table.take_rows(held), len(table.sizes) - 1) for model, (_, held) in of_split]
            )
            found[F, alpha] = np.log(np.maximum(shares[np.arange(len(truth)), truth], LEAST_SCORED))
            right = shares.argmax(axis=1) == truth
            noted = {"score": float(found[F, alpha].mean()), "accuracy": float(right.mean())}
            self.validation_.append({"rank": F, "pseudo_count": alpha, **noted})
        return found

    def _run(self, jobs: list[tuple[CategoricalTable, int, float, int]]) -> list[tuple[LatentClassModel, Result]]:
        run = joblib.delayed(_fit)
        calls = (run(*job, self.method == "CNMF-EM", self.max_iter) for job in jobs)
        found = joblib.Parallel(self.n_jobs, return_as="generator")(calls)
        return list(progress(found, "EM", self.verbose, len(jobs)))


def _refuse_missing(y: ArrayLike) -> None:
    """Refuse classes that are None or NaN, naming the rows; scikit-learn checks everything else."""
    labels = pd.isna(unmasked(y, dtype=object))
    missing = np.flatnonzero(labels).tolist() if np.ndim(labels) == 1 else []
    if missing:
        where = "in every row" if len(missing) == len(labels) else f"in rows {listing(missing)}"
        raise CofactorError(f"the class is missing {where}: leave these rows out, or fit a joint PMF with CNMF-EM")


def _fit(
    table: CategoricalTable, rank: int, alpha: float, seed: int, pairwise: bool, max_iter: int
) -> tuple[LatentClassModel, Result]:
    """Run EM from one random start, or from the pairwise fit it leads to; the caller warns if it did not converge."""
    start = random_model(table.sizes, rank, seed)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        if pairwise and rank > 1:
            start = cnmf_opt(pairwise_moments(table), start)[0].lift(START_FLOOR)
        return em(table, start, max_iter, CLASSIFIER_TOL, pseudo_count=alpha)


# ---- columns of the classifier: categories by name, numbers with many values by quantiles ----


@dataclass(frozen=True)
class Coding:
    """Coding of one column: its values in the order of their codes, or the edges between its intervals.

    >>> Coding.of(np.array(["b", None, "a", "b"], dtype=object), 0, None).codes(np.array(["a", "c"], dtype=object))
    array([ 1, -1])
    >>> Coding.of(np.arange(100.0), 0, 4).codes(np.array([-5.0, 30.0, np.nan, 99.0]))
    array([ 0,  1, -1,  3])
    """

    values: pd.Index
    edges: Floats | None = None

    @classmethod
    def of(cls, column: NDArray[Any], n: int, n_bins: int | None) -> Coding:
        """Learn the coding of column `n`."""
        cells = np.asarray(column, dtype=object)
        seen = cells[~pd.isna(cells)]
        try:
            values = pd.Index(pd.unique(seen), dtype=object)
        except TypeError:
            raise CofactorError(f"column {n} contains values that are neither numbers nor strings") from None
        if n_bins is None or len(values) <= n_bins or pd.api.types.infer_dtype(seen, skipna=True) not in NUMBERS:
            return cls(values)
        numbers = seen.astype(np.float64)
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, n_bins + 1)[1:-1]))
        return cls(values[:0], edges[edges > numbers.min()])

    @property
    def size(self) -> int:
        """The number of codes, at least one."""
        return max(len(self.values), 1) if self.edges is None else len(self.edges) + 1

    def codes(self, column: NDArray[Any]) -> Ints:
        """Return the (S,) codes; a code is missing if its cell is missing or its value was unseen."""
        cells = np.asarray(column, dtype=object)
        if self.edges is None:
            return np.asarray(self.values.get_indexer(pd.Index(cells, dtype=object)), dtype=np.int64)
        numbers = np.asarray(pd.to_numeric(pd.Series(cells), errors="coerce"), dtype=np.float64)
        return np.where(np.isnan(numbers), MISSING, np.searchsorted(self.edges, numbers, side="right"))


def encode(X: NDArray[Any], codings: list[Coding]) -> tuple[Ints, list[tuple[int, int, Any]]]:
    """Return the (S, N) codes, and (row, column, value) for every observed value without a code."""
    codes = np.column_stack([coding.codes(column) for coding, column in zip(codings, X.T, strict=True)])
    row, column = np.nonzero((codes == MISSING) & ~pd.isna(X))
    unseen = np.asarray(X[row, column], dtype=object)  # 7.0 rather than np.float64(7.0)
    return codes, list(zip(row.tolist(), column.tolist(), unseen, strict=True))


CLASSIFIERS = {"JointPMF": JointPMFClassifier}
