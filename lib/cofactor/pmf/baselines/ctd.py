"""CTD: a joint PMF from the marginals of all triples of variables, by coupled tensor decomposition.

Source: Kargas, Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors",
IEEE TSP 2018; a baseline of Ibrahim and Fu, IEEE TSP 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cofactor.core.coupled_tensor import Released, coupled_tensor
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.triple_moments import triple_moments
from cofactor.core.types import Ints
from cofactor.pmf.base import JointPMFEstimator, given_or_random

Protocol = Literal["separable", "synthetic", "uci", "ratings"]

MAX_ITER, TOL = 500, 1e-6


class _Script(NamedTuple):
    """What one of the released scripts sets."""

    released: Released
    max_iter: int
    tol: float
    uniform_prior: bool  # of the start


SCRIPTS: dict[Protocol, _Script] = {
    "separable": _Script(Released(penalty=(0.01, 0.1)), 500, 1e-6, False),
    "synthetic": _Script(Released(), 200, 1e-6, True),
    "uci": _Script(Released((10, 10), (500, 100), 1e-6, "clipped", "objective"), 100, 1e-6, False),
    "ratings": _Script(Released((10, 10), (500, 100), 1e-6, "clipped", "objective"), 200, 1e-4, True),
}


@dataclass(eq=False, repr=False, kw_only=True)
class CTD(JointPMFEstimator):
    """CTD: the model nearest to the marginals of all triples of variables in least squares.

        min over A_1, ..., A_N, lambda of  1/2 sum_{j<k<l} ||X_jkl - [[lambda, A_j, A_k, A_l]]||_F^2

    Triples identify the model without any condition on its rows, but each is seen in p^3 of the rows where a pair is
    seen in p^2: pairs win where S p^3 is below the I^3 cells of a triple.

    Parameters
    ----------
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    inner : int
        ADMM steps per block and sweep.
    max_iter : int, optional
        Most sweeps; default 500, or what `paper_protocol` sets.
    tol : float, optional
        Change of the relative residual at which they stop; default 1e-6, or what `paper_protocol` sets.
    paper_protocol : False, True, "separable", "synthetic", "uci" or "ratings"
        The settings of the scripts with the paper: of Tables 1 to 3; 4 and 5, also meant by True; 8 to 11 (there with
        ``max_iter=200`` for Votes); 12 to 14.
    rank, em, max_rounds, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Raises (in `fit`)
    -----------------
    NotIdentifiableError
        No three variables were observed together.
    CofactorError
        The third moments would take more than 2 GB (the message says how much), or see `JointPMFEstimator`.

    Cost
    ----
    See `triple_moments` and `coupled_tensor`: 0.1 s and 1 s for 100,000 rows, half observed, of 15 variables with ten
    values, at rank ten.

    Source
    ------
    IEEE TSP 2018. Deviations from the code with IEEE TSP 2021, which `paper_protocol` takes back: the penalty of ADMM
    is tr(G) / F, as in Kargas' own code, instead of 10, some 400 times too stiff, at which the sweeps crawl and their
    limit comes first; columns are projected onto the simplex exactly; triples never observed are left out instead of
    fitted as zeros. Its columns may sum to less than one; here they are scaled at the end in any case.

    Examples
    --------
    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 4, 3, random_state=0)
    >>> CTD(rank=3, random_state=0).fit(simulate.joint_table(truth, 5000, random_state=0)).result_.converged
    True
    """

    start: LatentClassModel | None = None
    inner: int = 30
    max_iter: int | None = None
    tol: float | None = None
    paper_protocol: bool | Protocol = False

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        script = self._script()
        released, max_iter, tol, uniform = script or (None, MAX_ITER, TOL, False)
        return coupled_tensor(
            triple_moments(table),
            self._start(table.sizes, uniform),
            inner=self.inner,
            max_iter=max_iter if self.max_iter is None else self.max_iter,
            tol=tol if self.tol is None else self.tol,
            verbose=self.verbose,
            released=released,
        )

    def _script(self) -> _Script | None:
        if self.paper_protocol is False:
            return None
        name: Protocol = "synthetic" if self.paper_protocol is True else self.paper_protocol
        if name not in SCRIPTS:
            raise CofactorError(f"paper_protocol={name!r}: choose False, True or one of {', '.join(SCRIPTS)}")
        return SCRIPTS[name]

    def _start(self, sizes: Ints, uniform_prior: bool) -> LatentClassModel:
        model = given_or_random(self.start, sizes, self.rank_, self.random_state)
        if self.start is not None or not uniform_prior:
            return model
        return LatentClassModel.from_stacked(np.full(self.rank_, 1 / self.rank_), model.stacked, model.sizes)
