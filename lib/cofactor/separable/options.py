"""Options of `merit`: their types, their checks, and the start that a caller gives."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, is_number, numbers, sound_places
from cofactor.core.errors import CofactorError, listing
from cofactor.core.spa import require_anchors
from cofactor.separable.columns import Columns

Weight: TypeAlias = Literal["msr", "paper"] | float
Objective = Literal["full", "half"]
Start: TypeAlias = Literal["spa"] | ArrayLike | sparse.sparray | None
Select = Literal["auto", "top", "spa"]

ON_SIMPLEX = 1e-6  # how far from one the columns of a given start may sum


def check_numbers(
    N: int,
    n_anchors: int | None,
    lam: Weight,
    mu: float,
    n_iter: int,
    t_init: int | None,
    n_jobs: int | None,
    *tolerances: float | None,
) -> None:
    """Raise a CofactorError that names a number out of range; N is the number of columns of X."""
    if n_anchors is not None:
        require_anchors(n_anchors, N)
    if lam not in ("msr", "paper") if isinstance(lam, str) else not (is_number(lam) and 0 <= lam < np.inf):
        raise CofactorError(f'lam={lam!r}: give "msr", "paper" or a number of at least 0')
    check_positive(mu=mu)
    counts = {"n_iter": n_iter, "t_init": t_init, "n_jobs": n_jobs}
    check_whole(1, **{name: count for name, count in counts.items() if count is not None or name == "n_iter"})
    if any(not (is_number(tolerance) and tolerance >= 0) for tolerance in tolerances if tolerance is not None):
        raise CofactorError(f"tol, gap_abs = {tolerances}: tolerances are 0 or more")


def check_options(objective: Objective, select: Select, init: Start) -> None:
    """Raise a CofactorError that names an option and its allowed words, where it is none of these."""
    starts = ("spa",) if isinstance(init, str) else (init,)
    choices = ("objective", objective, get_args(Objective)), ("select", select, get_args(Select))
    given = (*choices, ("init", init, starts))
    for name, value, known in given:
        if not any(value is choice or (isinstance(value, str) and value == choice) for choice in known):
            raise CofactorError(f"{name}={value!r}: choose one of {', '.join(known)}")


def given_start(init: ArrayLike | sparse.sparray | None, columns: Columns) -> sparse.csc_array | None:
    """Return given (N, N) coefficients on the columns that take part; refuse those that are not on the simplex."""
    if init is None:
        return None
    given = sound_places(init, "init") if sparse.issparse(init) else numbers(init, "init", 2)
    C0, N = sparse.csc_array(given, dtype=np.float64), columns.owner.size
    if C0.shape != (N, N):
        raise CofactorError(f"init has shape {C0.shape}: X has {N} columns, so give {N} x {N} coefficients")
    C0 = columns.shrink(C0)
    bad = np.abs(C0.sum(axis=0) - 1) > ON_SIMPLEX
    bad[C0.tocoo().col[~(C0.data >= 0)]] = True
    if bad.any():
        raise CofactorError(
            f"init is not on the simplex in {bad.sum()} columns ({listing(columns.used[bad])}): entries must be "
            "nonnegative, sum to one, and use no column of zeros"
        )
    C0.eliminate_zeros()
    return C0
