"""What all methods have in common: scikit-learn's parameters and tags, and one error before `fit`.

Methods do not derive from scikit-learn's base class, which takes more than a second to import, but keep its protocol:
all of them can be cloned, pickled and shown in a pipeline. `JointPMFClassifier` and `Topics` take matrices with one
sample per row, and pass scikit-learn's own checks; tests/test_sklearn.py lists what cannot apply to the others, and
why.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

from cofactor.core.errors import CofactorError, listing


class NotFittedError(CofactorError, AttributeError):
    """A method was asked for what only `fit` can give. Once scikit-learn is loaded, it is its NotFittedError, too."""

    def __new__(cls, *args: Any) -> NotFittedError:
        """Make an error that is scikit-learn's, too, where that is loaded."""
        return super().__new__(_both() if "sklearn.exceptions" in sys.modules else cls, *args)

    def __reduce__(self) -> tuple[Callable[..., NotFittedError], tuple[Any, ...]]:
        return NotFittedError, self.args


@cache
def _both() -> type[NotFittedError]:
    """Return a class of errors that are also those of scikit-learn, which its tools expect."""
    from sklearn import exceptions

    return type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {})


def _defaults(kind: Any) -> dict[str, Any]:
    """Return the parameters of a constructor, and what each is by default."""
    found = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in found if one.kind != one.VAR_KEYWORD}


class Estimator:
    """A method of a METHODS table.

    The constructor only stores its arguments. `fit` checks them and the data, and stores what it found in attributes
    that end with an underscore.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor, by name; none is an estimator, so that `deep` changes nothing."""
        return {name: getattr(self, name) for name in sorted(_defaults(type(self)))}

    def set_params(self, **parameters: Any) -> Any:
        """Change arguments of the constructor; returns self. Raises a CofactorError for a name that is none."""
        known = self.get_params()
        if strange := [name for name in parameters if name not in known]:
            name = type(self).__name__
            raise CofactorError(f"{name} has no parameter {listing(strange)}; it has {', '.join(known)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: whether there is a `transform`, and whether a fit draws at random."""
        from sklearn import utils  # here, and wherever it serves: slow to import

        return utils.Tags(
            estimator_type="transformer" if hasattr(self, "transform") else None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags() if hasattr(self, "transform") else None,
            non_deterministic=getattr(self, "random_state", 0) is None,
        )

    def __repr__(self) -> str:
        """Show the arguments that are not the default."""
        given = self.get_params().items()
        chosen = [f"{name}={value!r}" for name, value in given if repr(value) != repr(_defaults(type(self))[name])]
        return f"{type(self).__name__}({', '.join(chosen)})"

    def _check_fitted(self) -> None:
        """Raise a NotFittedError before `fit` (or before a `fit` that came to its end)."""
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call {name}(...).fit(data) first")


def clone(method: Any) -> Any:
    """Return a method with the same parameters that was never fitted, as scikit-learn's `clone` does."""
    parameters = method.get_params(deep=False)
    return type(method)(**{name: deepcopy(value) for name, value in parameters.items()})
