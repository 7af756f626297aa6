"""What the methods of all four lines have in common: scikit-learn's parameters, and one error before `fit`."""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from cofactor.core.errors import CofactorError


class NotFittedError(CofactorError, SklearnNotFittedError):
    """A method was asked for what only `fit` can give."""


class Estimator(BaseEstimator):
    """A method of a METHODS table.

    The constructor only stores its arguments. `fit` checks them and the data, and stores what it found in attributes
    that end with an underscore.
    """

    def _check_fitted(self) -> None:
        """Raise a NotFittedError before `fit` (or before a `fit` that came to its end)."""
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call {name}(...).fit(data) first")
