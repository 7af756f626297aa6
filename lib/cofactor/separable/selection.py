"""From row scores to anchors: how many there are, and which."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError
from cofactor.core.spa import spa
from cofactor.separable.base import Floats, Ints


def suggest_n_anchors(scores: ArrayLike) -> tuple[int, float]:
    """Suggest how many anchors there are: where the sorted row scores drop most.

    With the scores falling, rho_1 >= rho_2 >= ..., the suggestion is the k among the first half of all that maximises
    rho_k - rho_{k+1}.

    Parameters
    ----------
    scores : (N,) array

    Returns
    -------
    k : int
    margin : float in [0, 1]
        By how much the largest drop exceeds the second largest, as a share of it: near zero, another k is as good.

    Raises
    ------
    CofactorError
        There are no scores, or some are not finite.

    Cost
    ----
    O(N log N).

    Source
    ------
    No rule is given in the paper, which takes K as known. A fixed threshold on the scores fails where K is large.

    Examples
    --------
    >>> suggest_n_anchors([0.9, 0.1, 0.8, 0.2, 0.1])
    (2, 0.8333333333333334)
    """
    rho = -np.sort(-numbers(scores, "scores", 1))
    if not rho.size:
        raise CofactorError("scores are empty: give those of a fit")
    if not np.isfinite(rho).all():
        raise CofactorError("scores hold NaN or infinity: give those of a fit")
    drops = -np.diff(rho)[: max(len(rho) // 2, 1)]
    if not drops.size or drops.max() <= 0:
        return 1, 0.0
    k = int(np.argmax(drops))
    second = np.delete(drops, k).max(initial=0.0)
    return k + 1, float((drops[k] - second) / drops[k])


def top_rows(scores: Floats, n_anchors: int) -> Ints:
    """Return the rows of the largest scores, falling; the lower index first on ties."""
    return np.argsort(-scores, kind="stable")[:n_anchors]


def spread_rows(X: Floats, scores: Floats, n_anchors: int, n_listed: int) -> Ints:
    """Let successive projection choose among the `n_listed` rows of largest scores; by falling score."""
    listed = np.sort(top_rows(scores, max(n_listed, n_anchors)))
    chosen = listed[spa(X[:, listed], n_anchors, restart=True)]
    return chosen[top_rows(scores[chosen], n_anchors)]
