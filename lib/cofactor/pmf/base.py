"""What all estimators of a joint PMF share: checks of the table, EM on top, the closed form of rank one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator

from cofactor.core.em import em
from cofactor.core.errors import CofactorError, NotIdentifiableError, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.result import Result
from cofactor.core.simplex import normalize_blocks
from cofactor.core.tables import CategoricalTable, Ints

Floats = NDArray[np.float64]

CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")
EM_TOL = 1e-7  # relative change of the objective; at 1e-6 EM can still be on its way from a poor start
FLOOR = 1e-3  # smallest entry a multiplicative method starts from: a zero would stay zero


@dataclass(eq=False, repr=False, kw_only=True)
class JointPMFEstimator(BaseEstimator):
    """Base class: fits the latent-class model Pr(x) = sum_f lambda_f prod_n A_n[x_n, f] to a table.

    A method implements `_estimate`, which gets a table without empty rows and its pairwise moments.

    Parameters
    ----------
    rank : int
        F, the number of hidden classes; may exceed every alphabet. Rank one is the independence model, in closed form.
    em : bool
        Refine by expectation-maximisation.
    max_rounds : int
        Most rounds of EM.
    pseudo_count : float
        alpha of EM; see `cofactor.core.em.em`.
    random_state : int, Generator or None
    verbose : bool
        Show progress bars on a terminal.

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        `predict_map`, `expectation`, `conditional`, `log_likelihood`, `sample`, `impute`, `joint_tensor`, ...
    result_ : Result
        How the iteration went: that of EM where there was one.
    n_empty_rows_ : int
        Rows in which nothing was observed; they were left out.
    """

    rank: int = field(default=5, kw_only=False)
    em: bool = False
    max_rounds: int = 500
    pseudo_count: float = 0.0
    random_state: int | np.random.Generator | None = None
    verbose: bool = False
    model_: LatentClassModel = field(init=False)
    result_: Result = field(init=False)
    n_empty_rows_: int = field(init=False)

    def fit(self, table: CategoricalTable) -> Self:
        """Estimate the model; returns self.

        Raises
        ------
        CofactorError
            Not a `CategoricalTable`, rank below one, or variables that were never observed (named).
        NotIdentifiableError
            The variables fall into groups that were never observed together (named).
        """
        rows, moments = self._check(table)
        model, result = self._estimate(rows, moments) if self.rank > 1 else self._rank_one(moments)
        if self.em and self.rank > 1:
            model, result = self._refine(model, rows)
        self.model_, self.result_ = model, result
        self.n_empty_rows_ = table.n_rows - rows.n_rows
        return self

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        raise NotImplementedError

    def _rank_one(self, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return independence(moments), CLOSED_FORM

    def _refine(self, model: LatentClassModel, table: CategoricalTable) -> tuple[LatentClassModel, Result]:
        return em(table, model.lift(FLOOR), self.max_rounds, EM_TOL, self.verbose, self.pseudo_count)

    def _check(self, table: CategoricalTable) -> tuple[CategoricalTable, PairwiseMoments]:
        if not isinstance(table, CategoricalTable):
            raise CofactorError(f"expected a CategoricalTable, got {type(table).__name__}: CategoricalTable(codes)")
        if not isinstance(self.rank, int | np.integer) or isinstance(self.rank, bool) or self.rank < 1:
            raise CofactorError(f"rank={self.rank!r}: the number of hidden classes is a whole number of at least 1")
        if self.max_rounds < 1:
            raise CofactorError(f"max_rounds={self.max_rounds}: at least one round is needed")
        if not table.n_entries:
            raise CofactorError("nothing was observed in any row: there is nothing to fit")
        seen = table.entries_per_row > 0
        rows = table if seen.all() else table.take_rows(seen)
        moments = pairwise_moments(rows)
        require_connected(moments)
        return rows, moments


def require_connected(moments: PairwiseMoments) -> None:
    """Refuse variables never observed, and groups of variables never observed together; both are named."""
    observed = np.add.reduceat(moments.singles, np.cumsum(moments.sizes) - moments.sizes)
    if not observed.all():
        raise CofactorError(
            f"variables never observed in any row: {listing(np.flatnonzero(observed == 0).tolist())}; leave them out "
            "with take_variables"
        )
    n_groups, group = connected_components(moments.n_joint, directed=False)
    if n_groups > 1:
        groups = "; ".join(listing(np.flatnonzero(group == g).tolist()) for g in range(n_groups))
        raise NotIdentifiableError(
            f"the variables fall into {n_groups} groups never observed together: {groups}. Nothing tells how they "
            "depend on one another: fit each group by itself, or add rows that link them"
        )


def independence(moments: PairwiseMoments) -> LatentClassModel:
    """Return the model of rank one, the product of the observed marginals."""
    stacked = normalize_blocks(moments.singles[:, None], moments.sizes)
    return LatentClassModel.from_stacked(np.ones(1), stacked, moments.sizes)


def random_model(sizes: Ints, rank: int, random_state: int | np.random.Generator | None) -> LatentClassModel:
    """Draw conditionals and prior uniform on (0, 1), scaled to sum to one."""
    rng = np.random.default_rng(random_state)
    prior = rng.random(rank)
    stacked = normalize_blocks(rng.random((int(sizes.sum()), rank)), sizes)
    return LatentClassModel.from_stacked(prior / prior.sum(), stacked, sizes)


def given_or_random(
    start: LatentClassModel | None, sizes: Ints, rank: int, random_state: int | np.random.Generator | None
) -> LatentClassModel:
    """Return a start of this rank: the one given, or else `random_model`."""
    if start is None:
        return random_model(sizes, rank, random_state)
    if start.n_classes != rank:
        raise CofactorError(f"the start has {start.n_classes} classes, rank={rank}: give them alike")
    return start
