"""Simulate joint PMFs of many discrete variables with known parameters, and tables of rows drawn from them."""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import check_kind, check_whole, is_number, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Seed

PLANTED = 0.4  # probability, under its class, of a value that is planted as an anchor
MIXING = {0.1: 0.0005, 0.2: 0.015, 0.3: 0.03}  # what each label stands for in the released code


def joint_model(
    n_variables: int = 5,
    alphabet: int = 10,
    rank: int = 5,
    separability: float | None = None,
    random_state: Seed = None,
) -> LatentClassModel:
    """Draw a joint PMF of rank F.

    Rows of every A_n are drawn from Dirichlet(1) over the classes, then columns are scaled to sum to one; the prior is
    uniform.

    Parameters
    ----------
    n_variables, alphabet, rank : int
        N, I (of all variables) and F.
    separability : {0.1, 0.2, 0.3}, optional
        Plant anchors: the first F values of one of the last two variables, chosen at random, become nearly exclusive
        to one class each, 0.4 I + e(1 - I) with e = 0.0005, 0.015 or 0.03. These are the paper's values of "epsilon";
        rows scaled to sum to one are 0.0056, 0.146 and 0.258 from unit vectors. Default: no anchors.
    random_state : int, Generator or None

    Raises
    ------
    CofactorError
        More classes with anchors than the alphabet has values, or an unknown separability.

    Source
    ------
    IEEE TSP 2021, Sec. 5.2, as the released code has it; the text draws uniform conditionals and prior instead.

    Examples
    --------
    >>> joint_model(separability=0.1, random_state=0)
    LatentClassModel(5 classes, 5 variables)
    """
    check_whole(1, n_variables=n_variables, alphabet=alphabet, rank=rank)
    rng = rng_of(random_state)
    A = [_scaled(rng.dirichlet(np.ones(rank), alphabet)) for _ in range(n_variables)]
    if separability is not None:
        n = int(rng.integers(max(n_variables - 2, 0), n_variables))
        A[n] = _planted(A[n], separability)
    return LatentClassModel(np.full(rank, 1 / rank), A)


def _scaled(A: Floats) -> Floats:
    return A / A.sum(axis=0)


def _planted(A: Floats, separability: float) -> Floats:
    """Make the first F rows anchors; the other rows share the rest of every column."""
    I, F = A.shape
    if separability not in MIXING or F > I:
        raise CofactorError(
            f"separability={separability} with {F} classes and {I} values: choose one of "
            f"{', '.join(map(str, MIXING))}, and at least as many values as classes"
        )
    e = MIXING[separability]
    block = np.full((F, F), e) + (PLANTED - e) * np.eye(F)
    rest = _scaled(A[F:]) * (1 - block.sum(axis=0)) if I > F else A[F:]
    return _scaled(np.vstack([block, rest]))


def joint_table(
    model: LatentClassModel, n_rows: int, observed: float = 1.0, random_state: Seed = None
) -> CategoricalTable:
    """Draw rows of a joint PMF, with each entry observed independently with probability `observed`.

    O(n_rows N) memory.

    >>> joint_table(joint_model(random_state=0), 1000, observed=0.5, random_state=0).n_rows
    1000
    """
    check_kind(LatentClassModel, model=model)
    check_whole(0, n_rows=n_rows)
    if not is_number(observed) or not 0 < observed <= 1:
        raise CofactorError(f"observed={observed}: must be above 0 and at most 1")
    rng = rng_of(random_state)
    row, variable = np.nonzero(rng.random((n_rows, model.n_variables)) < observed)
    return model.sample(n_rows, (row, variable), rng)[0]
