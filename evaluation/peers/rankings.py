"""choix and evalica, libraries of one ranking for all users (extras `dev` and `bench`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Ints


class Choix:
    """Bradley-Terry with a Gaussian prior whose inverse variance is 2 `alpha`; a tie counts half for either item."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, comparisons: Comparisons) -> Choix:
        """Fit the utilities."""
        try:
            import choix
        except ImportError:
            raise CofactorError("choix is not installed: pip install choix") from None
        pairs: list[tuple[int, int]] = []  # winner first; every answer twice, so the prior as well
        columns = comparisons.left.tolist(), comparisons.right.tolist(), comparisons.outcome.tolist()
        for i, j, w in zip(*columns, strict=True):
            pairs += [(i, j)] * round(2 * w) + [(j, i)] * round(2 - 2 * w)
        self.utilities_: Floats = choix.opt_pairwise(comparisons.n_items, pairs, alpha=2 * self.alpha)
        return self

    def predict_proba(self, user: Ints, left: Ints, right: Ints) -> Floats:
        """Return the chances that the left items win."""
        return 1 / (1 + np.exp(self.utilities_[right] - self.utilities_[left]))


class Evalica:
    """A method of evalica by its name; two scores give a chance by their shares, those of Elo by its own curve."""

    def __init__(self, method: str = "bradley_terry") -> None:
        self.method = method

    def fit(self, comparisons: Comparisons) -> Evalica:
        """Fit the scores."""
        try:
            import evalica
        except ImportError:
            raise CofactorError("evalica is not installed: pip install 'cofactor[bench]'") from None
        named = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
        winners = [named[outcome] for outcome in comparisons.outcome.tolist()]
        run: Any = getattr(evalica, self.method)
        found = run(comparisons.left.tolist(), comparisons.right.tolist(), winners).scores
        middle = 1000.0 if self.method == "elo" else float(found.mean())
        self.scores_ = np.asarray(found.reindex(range(comparisons.n_items)).fillna(middle), dtype=np.float64)
        return self

    def predict_proba(self, user: Ints, left: Ints, right: Ints) -> Floats:
        """Return the chances that the left items win."""
        one, other = self.scores_[left], self.scores_[right]
        if self.method == "elo":
            return 1 / (1 + 10 ** ((other - one) / 400))
        total = one + other
        return np.divide(one, total, out=np.full(len(one), 0.5), where=total > 0)
