"""CTD: a joint PMF from the marginals of all triples of variables, by coupled tensor decomposition.

Source: Kargas, Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors",
IEEE TSP 2018; a baseline of Ibrahim and Fu, IEEE TSP 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

from cofactor.baselines.coupled_tensor import coupled_tensor
from cofactor.baselines.triple_moments import triple_moments
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.base import JointPMFEstimator, given_or_random


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
    inner, max_iter, tol
        See `coupled_tensor`.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Raises (in `fit`) NotIdentifiableError where no three variables were observed together; CofactorError where the
    third moments would take more than 2 GB, or see `JointPMFEstimator`. Cost: see `triple_moments` and
    `coupled_tensor`.

    Order: starts, and the cells that are hidden to choose the rank, are drawn in the order of rows, columns and values;
    another order is another draw, as another `random_state` is. In another order of 80 rows by 5, one of 34 gaps was
    filled otherwise.

    Source: IEEE TSP 2018. Deviations from the code with IEEE TSP 2021: the penalty of ADMM is tr(G) / F, as in Kargas'
    own code, instead of 10, some 400 times too stiff; columns are projected onto the simplex exactly; triples never
    observed are left out instead of fitted as zeros.

    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 4, 3, random_state=0)
    >>> CTD(rank=3, random_state=0).fit(simulate.joint_table(truth, 5000, random_state=0)).result_.converged
    True
    """

    start: LatentClassModel | None = None
    inner: int = 30
    max_iter: int = 500
    tol: float = 1e-6

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return coupled_tensor(
            triple_moments(table),
            given_or_random(self.start, table.sizes, self.rank_, self.random_state),
            inner=self.inner,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
        )
