"""Base class of the joint PMF estimators: checks of the table, choice of rank and smoothing, EM, the rank-one model.

Rank and smoothing are chosen by the likelihood of hidden cells: first the rank, at a fixed pseudo-count, then the
pseudo-count, at the best rank. With little data, close choices cannot be distinguished: all choices within one standard
error of the best are kept and their joint PMFs averaged. The mean is again a joint PMF, whose rank is the sum of
theirs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import check_whole, is_number, is_whole, rng_of
from cofactor.core.em import em
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, NotIdentifiableError, listing
from cofactor.core.estimator import Estimator, Result, clone, progress
from cofactor.core.latent_class import FLOOR, LatentClassModel, normalize_blocks
from cofactor.core.lazy import csgraph, pd
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.frames import CategoricalFrame, CodedColumn, coded, names_of

Data: TypeAlias = "CategoricalTable | CategoricalFrame | pd.DataFrame | ArrayLike"
CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")
EM_TOL = 1e-7  # relative change of the objective; at 1e-6 EM can still be on its way from a poor start
RANKS = (1, 2, 3, 5, 8, 16, 30)  # tried with rank="auto"
PSEUDO_COUNTS = (0.03, 0.1, 0.3, 1.0)  # tried with pseudo_count="auto"
DEFAULT_PSEUDO_COUNT = 0.3  # the default; with "auto", the one the rank is chosen with
START_FLOOR = 1e-3  # smallest entry a multiplicative method starts from: a zero would stay zero
HIDDEN = 0.2  # share of the cells that is hidden
SCORED = 1000  # rows that are scored, in at most so many tables with cells hidden:
MOST_SPLITS = 5
Choice = tuple[int, float]  # rank, pseudo-count
Scores = dict[Choice, Floats]  # of every row scored: more is better


@dataclass(eq=False, repr=False, kw_only=True)
class JointPMFEstimator(Estimator):
    """Base class: fits the latent-class model Pr(x) = sum_f lambda_f prod_n A_n[x_n, f] to a table.

    Subclasses implement `_estimate`, which takes a table without empty rows and its pairwise moments.

    Parameters
    ----------
    rank : int or "auto"
        F, the number of latent classes; it may exceed the size of every alphabet. Rank one is the independence model,
        in closed form. "auto" tries 1, 2, 3, 5, 8, 16 and 30 on hidden cells.
    em : bool
        Refine the estimate by expectation-maximisation.
    em_max_iter : int
        Maximum number of EM iterations; `max_iter`, if a method has it, limits the method itself.
    pseudo_count : float or "auto"
        alpha, the number of observations added to every cell of every A_n and of lambda: in every iteration of EM, or,
        without EM, once to the expected counts of the estimate. If it is positive, no value has probability zero. 0 is
        the papers' choice and overfits if there are more parameters than rows. "auto" tries 0.03, 0.1, 0.3 and 1 on
        hidden cells.
    random_state : int, Generator or None
    verbose : bool
        Show progress bars on a terminal.

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        The fitted model; it has further methods, such as `expectation`, `log_likelihood` and `impute`.
    result_ : Result
        Convergence of the fit: of EM, if it was used, and of the best choice, if several are averaged.
    n_features_in_ : int
        Number of variables.
    n_empty_rows_ : int
        Number of rows without any observed value; they are left out of the fit.
    rank_, pseudo_count_ : int, float
        As given, or the best on hidden cells.
    validation_ : list of dict
        For every choice that was tried: rank, pseudo_count, score (mean log-probability of a row's hidden cells),
        behind (difference from the best score), error (standard error of that difference) and kept (bool).
    columns_ : list of CodedColumn
        Coding of each column of a DataFrame: `columns_[n].shown(code)` is its value; empty if codes were given.
    members_ : list of estimators
        The estimators whose joint PMFs are averaged in `model_`; empty if nothing was chosen.

    To choose, a fifth of the cells is hidden (up to five times if there are fewer than 1000 rows) and predicted from
    the rest of their rows. All choices within one standard error of the best are fitted to all cells, and their joint
    PMFs are averaged. The latent classes of such a mean are those of all its members: set the rank if you want to
    interpret the classes, or to save time ("auto" takes about forty fits if there are few rows; from 1000 rows on, ten
    fits and those of the kept choices).
    """

    rank: int | Literal["auto"] = field(default="auto", kw_only=False)
    em: bool = False
    em_max_iter: int = 500
    pseudo_count: float | Literal["auto"] = DEFAULT_PSEUDO_COUNT
    random_state: Seed = None
    verbose: bool = False
    model_: LatentClassModel = field(init=False)
    result_: Result = field(init=False)
    n_features_in_: int = field(init=False)
    n_empty_rows_: int = field(init=False)
    rank_: int = field(init=False)
    pseudo_count_: float = field(init=False)
    validation_: list[dict[str, Any]] = field(init=False)
    members_: list[Any] = field(init=False)
    columns_: list[CodedColumn] = field(init=False)

    def fit(self, table: Data) -> Self:
        """Fit the model and return self.

        `table` is a `CategoricalTable`, an (S, N) array of codes (missing: -1, NaN or None), or a DataFrame, whose
        columns are coded as by `cofactor joint`. After a fit to a DataFrame, `predict`, `predict_proba`, `aic` and
        `bic` take a DataFrame with the same columns, and the target by name.

        Raises a CofactorError if the table has another type, a setting is out of range, variables were never observed
        (they are named), or, with "auto", every rank above one is refused. Raises a NotIdentifiableError if the
        variables fall into groups that were never observed together (they are named).
        """
        known, columns = coded(table)
        rows, moments = self._check(known)
        self.validation_, self.members_ = [], []
        if "auto" in (self.rank, self.pseudo_count):
            self._fit_best(rows)
        else:
            self.rank_, self.pseudo_count_ = int(self.rank), float(self.pseudo_count)
            found = self._rank_one(moments) if self.rank_ == 1 else self._finish(*self._estimate(rows, moments), rows)
            self.model_, self.result_ = found
        self.columns_ = columns  # with the model that they are those of
        self.n_features_in_, self.n_empty_rows_ = known.n_variables, known.n_rows - rows.n_rows
        return self

    def predict(self, table: Data, target: int | str) -> Ints:
        """Return the (S,) most probable codes of a variable, given the others in each row; see `predict_proba`."""
        self._check_fitted()
        return self.model_.predict_map(self._coded(table), self._variable(target))

    def predict_proba(self, table: Data, target: int | str) -> Floats:
        """Return the (S, I) distribution of a variable in every row, given the observed values of the others.

        The table must have the variables of the fit, including `target`, whose values are ignored; otherwise a
        CofactorError is raised.
        """
        self._check_fitted()
        return self.model_.conditional(self._coded(table), self._variable(target))

    def sample(self, n_rows: int, random_state: Seed = None) -> CategoricalTable:
        """Draw complete rows from the joint PMF."""
        self._check_fitted()
        check_whole(0, n_rows=n_rows)
        return self.model_.sample(n_rows, random_state=random_state)[0]

    def aic(self, table: Data) -> float:
        """Return the Akaike information criterion on a table, 2 p - 2 L; lower is better.

        L is the log-likelihood (nats) and p = F - 1 + F sum (I_n - 1) the number of free parameters. It assumes
        maximum-likelihood fits, so compare ranks with pseudo_count=0 or a very small one. The choice of rank by hidden
        cells needs no such assumption. Raises a CofactorError if the table has other variables.

        Source: Akaike, "A new look at the statistical model identification", 1974; parameters as in StepMix.
        """
        self._check_fitted()
        return 2.0 * self.model_.n_parameters - 2.0 * self.model_.log_likelihood(self._coded(table))

    def bic(self, table: Data) -> float:
        """Return the Bayesian information criterion, p log S - 2 L, for the S rows with an observed value; see `aic`.

        Source: Schwarz, "Estimating the dimension of a model", 1978.
        """
        self._check_fitted()
        known = self._coded(table)
        n_rows = max(float((known.entries_per_row > 0).sum()), 1.0)
        return self.model_.n_parameters * float(np.log(n_rows)) - 2.0 * self.model_.log_likelihood(known)

    def score(self, table: Data, y: object = None) -> float:
        """Return the log-likelihood (nats) per row, as scikit-learn's searches need it; y is ignored.

        Pass a DataFrame of categories to a search, or codes whose values all occur in every training fold.
        """
        self._check_fitted()
        known = self._coded(table)
        return self.model_.log_likelihood(known) / max(known.n_rows, 1)

    @property
    def members(self) -> list[Any]:
        """The fitted estimators whose joint PMFs are averaged; only this one if nothing was chosen."""
        return self.members_ or [self]

    def _coded(self, data: Data) -> CategoricalTable:
        """Return data as a table with the alphabets of the model."""
        if not self.columns_ and isinstance(data, pd.DataFrame):
            raise CofactorError("the model was fitted to codes: pass codes, or fit it to a DataFrame")
        return coded(data, self.columns_)[0]

    def _variable(self, target: int | str) -> int:
        if not isinstance(target, str):
            return target
        names = names_of(self.columns_)
        if target not in names:
            known = f"its columns are {listing(names)}" if names else "its variables have no names, so pass a number"
            raise CofactorError(f"target={target!r}: the model has no such column; {known}")
        return names.index(target)

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        raise NotImplementedError

    def _rank_one(self, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return independence(moments, self.pseudo_count_), CLOSED_FORM

    def _finish(
        self, model: LatentClassModel, result: Result, table: CategoricalTable
    ) -> tuple[LatentClassModel, Result]:
        """Refine by EM, or smooth; methods that smooth in `_estimate` override this."""
        if self.em:
            return em(table, model.lift(START_FLOOR), self.em_max_iter, EM_TOL, self.verbose, self.pseudo_count_)
        return smoothed(model, table, self.pseudo_count_), result

    # ---- rank and smoothing by hidden cells ----

    def _fit_best(self, table: CategoricalTable) -> None:
        ranks = RANKS if self.rank == "auto" else (int(self.rank),)
        given = self.pseudo_count != "auto"
        first = float(self.pseudo_count) if given else DEFAULT_PSEUDO_COUNT
        hidden = [one for one in hide_cells(table, rng_of(self.random_state)) if is_connected(one.seen)]
        best = choose_rank_and_smoothing(
            ranks, (first,) if given else PSEUDO_COUNTS, first, partial(self._validate, hidden)
        )
        scores = [tried.pop("scores") for tried in self.validation_]
        for tried, own in zip(self.validation_, scores, strict=True):
            behind = max(scores, key=np.mean) - own
            tried["kept"] = (tried["rank"], tried["pseudo_count"]) in best
            tried["behind"], tried["error"] = float(behind.mean()), float(behind.std() / np.sqrt(len(behind)))
        self.members_ = [self._with(choice).fit(table) for choice in best or [(ranks[0], first)]]
        self.rank_, self.pseudo_count_ = self.members_[0].rank_, self.members_[0].pseudo_count_
        self.model_ = mean_model([one.model_ for one in self.members_])
        self.result_ = self.members_[0].result_

    def _with(self, choice: Choice) -> Self:
        one = clone(self)
        one.rank, one.pseudo_count = choice  # no set_params: Independence has no rank to set
        return one

    def _hurried(self) -> Self:
        """Return the unfitted estimator with settings that suffice for comparing choices."""
        return self

    def _validate(self, hidden: list[HiddenCells], choices: list[Choice]) -> Scores:
        """Score choices on all hidden cells and note the means; leave out choices that are refused, unless all are."""
        found: Scores = {}
        refusal: CofactorError | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)
            for choice in progress(choices, "rank and smoothing", self.verbose):
                try:
                    scores = [one.score(self._with(choice)._hurried().fit(one.seen).model_) for one in hidden]
                except CofactorError as error:
                    refusal = error
                    continue
                if scores:
                    found[choice] = np.concatenate(scores)
                    noted = {"rank": choice[0], "pseudo_count": choice[1], "score": float(found[choice].mean())}
                    self.validation_.append({**noted, "scores": found[choice]})
        if refusal and all(rank == 1 for rank, _ in found):  # which looks at no settings
            raise refusal
        return found

    def _check(self, table: CategoricalTable) -> tuple[CategoricalTable, PairwiseMoments]:
        check_choices(self.rank, self.pseudo_count)
        check_whole(1, em_max_iter=self.em_max_iter)
        if not table.n_entries:
            raise CofactorError("the table has no observed values: there is nothing to fit")
        seen = table.entries_per_row > 0
        rows = table if seen.all() else table.take_rows(seen)
        check_rank(self.rank, rows.n_rows)
        moments = pairwise_moments(rows)
        require_connected(moments)
        return rows, moments


def check_table(table: Any) -> None:
    """Raise a CofactorError if `table` is not a CategoricalTable."""
    if not isinstance(table, CategoricalTable):
        raise CofactorError(f"expected a CategoricalTable, got {type(table).__name__}: pass CategoricalTable(codes)")


def check_choices(rank: Any, pseudo_count: Any) -> None:
    """Raise a CofactorError unless `rank` and `pseudo_count` are numbers in range or "auto"."""
    if rank != "auto" and (not is_whole(rank) or rank < 1):
        raise CofactorError(f"rank={rank!r}: the number of latent classes must be a positive integer or 'auto'")
    if pseudo_count != "auto" and not (is_number(pseudo_count) and 0 <= pseudo_count < np.inf):
        raise CofactorError(f"pseudo_count={pseudo_count!r}: must be a nonnegative number or 'auto'")


def check_rank(rank: int | Literal["auto"], n_rows: int) -> None:
    """Refuse a rank above the number of rows and above the ranks of "auto": with one class per row, any table fits."""
    most = max(n_rows, RANKS[-1])
    if rank != "auto" and rank > most:
        raise CofactorError(f"rank={rank}: {n_rows} rows cannot distinguish so many classes; choose at most {most}")


def require_connected(moments: PairwiseMoments) -> None:
    """Refuse variables that were never observed, and groups that were never observed together; both are named."""
    observed = np.add.reduceat(moments.singles, np.cumsum(moments.sizes) - moments.sizes)
    if not observed.all():
        raise CofactorError(
            f"these variables were never observed: {listing(np.flatnonzero(observed == 0).tolist())}; leave them out "
            "with take_variables"
        )
    n_groups, group = csgraph.connected_components(moments.n_joint, directed=False)
    if n_groups > 1:
        groups = "; ".join(listing(np.flatnonzero(group == g).tolist()) for g in range(n_groups))
        raise NotIdentifiableError(
            f"the variables fall into {n_groups} groups that were never observed together ({groups}), so the "
            "dependence between groups is unknown: fit each group separately, or add rows that link them"
        )


def is_connected(table: CategoricalTable) -> bool:
    """Whether pairs observed together link all variables of a table, as `require_connected` demands."""
    try:
        require_connected(pairwise_moments(table))
    except CofactorError:
        return False
    return True


def independence(moments: PairwiseMoments, pseudo_count: float = 0.0) -> LatentClassModel:
    """Return the rank-one model, the product of the observed marginals, with `pseudo_count` added to every cell."""
    stacked = normalize_blocks(moments.singles[:, None] + pseudo_count, moments.sizes)
    return LatentClassModel.from_stacked(np.ones(1), stacked, moments.sizes)


def smoothed(model: LatentClassModel, table: CategoricalTable, pseudo_count: float) -> LatentClassModel:
    """Return the model with alpha observations added to every cell of its expected counts on a table.

        A_n[i, f] proportional to S_n lambda_f A_n[i, f] + alpha,   lambda[f] proportional to S lambda_f + alpha

    for S rows, of which S_n have an entry of variable n.
    """
    if not pseudo_count:
        return model
    n_observed = np.repeat(table.entries_per_variable, model.sizes)[:, None]
    stacked = normalize_blocks(n_observed * model.prior * model.stacked + pseudo_count, model.sizes)
    prior = table.n_rows * model.prior + pseudo_count
    return LatentClassModel.from_stacked(prior / prior.sum(), stacked, model.sizes)


def random_model(sizes: Ints, rank: int, random_state: Seed) -> LatentClassModel:
    """Return a model whose conditionals and prior are drawn uniformly from (0, 1) and scaled to sum to one."""
    rng = rng_of(random_state)
    prior = rng.random(rank)
    stacked = normalize_blocks(rng.random((int(sizes.sum()), rank)), sizes)
    return LatentClassModel.from_stacked(prior / prior.sum(), stacked, sizes)


# ---- the choice of rank and smoothing by hidden cells ----


def choose_rank_and_smoothing(
    ranks: Sequence[int], counts: Sequence[float], first: float, validate: Callable[[list[Choice]], Scores]
) -> list[Choice]:
    """Return the choices (rank, pseudo-count) to average, best first; an empty list if every choice was refused.

    Ranks are compared at the pseudo-count `first`. `validate` returns the scores of choices on the same rows, without
    the choices that a method refuses.

    >>> def validate(choices):  # rank 4 is best, and smoothing makes no difference
    ...     return {(F, alpha): np.array([-abs(F - 4.0), -abs(F - 4.0) - 0.1]) for F, alpha in choices}
    >>> choose_rank_and_smoothing((2, 4, 8), (0.1, 1.0), 0.1, validate)
    [(4, 0.1), (4, 1.0)]
    """
    scores = validate([(rank, first) for rank in ranks])
    if not scores:
        return []
    best = max(scores, key=lambda tried: float(scores[tried].mean()))[0]
    scores |= validate([(best, count) for count in counts if count != first])
    return near_best(scores)


def near_best(scores: Scores) -> list[Choice]:
    """Return the choices whose mean score is within one standard error of the best, best first."""
    order = sorted(scores, key=lambda choice: -float(scores[choice].mean()))
    behind = {choice: scores[order[0]] - scores[choice] for choice in order}
    return [choice for choice, d in behind.items() if d.mean() <= d.std() / np.sqrt(len(d))]


def lowest_rank(tried: Sequence[Mapping[str, Any]], table: CategoricalTable) -> int:
    """Return the lowest rank whose score is at most one standard error of the difference below the best.

    `tried` is the `validation_` of an estimator. Ranks above one with more parameters than the table has distinct rows
    are ignored. Source: Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984,
    Section 3.4.3.
    """
    distinct, each = len(np.unique(table.codes, axis=0)), 1 + int((table.sizes - 1).sum())
    near = [one for one in tried if one["behind"] <= one["error"]]
    told = [one["rank"] for one in tried if one["rank"] == 1 or one["rank"] * each - 1 <= distinct]
    return min([*(one["rank"] for one in near), max(told, default=1)])


def mean_model(models: Sequence[LatentClassModel]) -> LatentClassModel:
    """Return the mean of joint PMFs of the same variables: a joint PMF whose rank is the sum of their ranks."""
    prior = np.concatenate([model.prior for model in models]) / len(models)
    return LatentClassModel.from_stacked(prior, np.hstack([model.stacked for model in models]), models[0].sizes)


@dataclass(frozen=True)
class HiddenCells:
    """A table with some cells hidden, and the (E,) rows, variables and codes of these cells."""

    seen: CategoricalTable
    row: Ints
    variable: Ints
    code: Ints

    def score(self, model: LatentClassModel) -> Floats:
        """Return, for every row with hidden cells, the sum of their log-probabilities given the rest of the row."""
        Q = model.posterior(self.seen)
        value = self.seen.offsets[self.variable] + self.code
        given = np.einsum("ef,ef->e", Q[self.row], model.stacked[value])
        rows, place = np.unique(self.row, return_inverse=True)
        return np.asarray(np.bincount(place, np.log(np.maximum(given, FLOOR)), len(rows)), dtype=np.float64)


def hide_cells(table: CategoricalTable, rng: np.random.Generator) -> list[HiddenCells]:
    """Hide a fifth of the cells, enough times to score about `SCORED` rows; return [] if there are too few cells."""
    E = table.n_entries
    n_hidden = round(HIDDEN * E)
    if not n_hidden:
        return []
    row, variable, code = table.rows, table.variables, table.values
    found = []
    for _ in range(min(-(-SCORED // table.n_rows), MOST_SPLITS)):
        chosen = np.sort(rng.choice(E, n_hidden, replace=False))
        seen = np.ones(E, dtype=bool)
        seen[chosen] = False
        left = CategoricalTable.from_entries(row[seen], variable[seen], code[seen], table.sizes, table.n_rows)
        found.append(HiddenCells(left, row[chosen], variable[chosen], code[chosen]))
    return found
