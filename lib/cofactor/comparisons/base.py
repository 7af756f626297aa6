"""Base class of preference models: features of users and items, and the predictions that follow from them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.objective import Arrays, link_named
from cofactor.core.checks import check_whole, unmasked
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.estimator import Estimator, Result
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Indices

Codes = Indices
Asked = ArrayLike | Comparisons


class PreferenceModel(Estimator):
    """Base class of models with utilities x_ui = <U_u, V_i> + b_i; subclasses implement `_estimate`.

    Users and items are named by the ids of the comparisons; these are their codes unless the comparisons were read from
    a table.

    Attributes after `fit`
    ----------------------
    user_factors_ : (n1, r) array, item_factors_ : (n2, r) array, item_bias_ : (n2,) array
        U, V (centred over the compared items of every component) and b. Rows of users and items without comparisons
        are zero, so such users are predicted by biases alone.
    users_, items_ : sequences of ids
    unseen_users_, unseen_items_ : lists of ids without comparisons
    components_ : (n2,) array
        Connected component of every item, -1 for items that were never compared.
    result_ : Result
    """

    user_factors_: Floats
    item_factors_: Floats
    item_bias_: Floats
    users_: Sequence[Any]
    items_: Sequence[Any]
    unseen_users_: list[Any]
    unseen_items_: list[Any]
    components_: NDArray[np.int32]
    result_: Result

    link = "logistic"

    def fit(self, comparisons: Comparisons | pd.DataFrame) -> Self:
        """Fit to comparisons, or to a table that `Comparisons.from_frame` can read; returns self.

        Raises a CofactorError if the argument is neither; for further errors, see the method.
        """
        data = require_comparisons(comparisons)
        with threadpool_limits(1, "blas"):  # more threads slow products of narrow matrices down
            factors, self.result_ = self._estimate(data)
        self.users_, self.items_, self.components_ = data.users, data.items, data.components
        self.unseen_users_ = [data.users[u] for u in np.flatnonzero(data.per_user == 0).tolist()]
        self.unseen_items_ = [data.items[i] for i in np.flatnonzero(data.per_item == 0).tolist()]
        self.user_factors_, self.item_factors_, self.item_bias_ = _normalised(factors, data)
        return self

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        raise NotImplementedError

    # ---- predictions ----

    def margin(self, user: Asked, left: ArrayLike | None = None, right: ArrayLike | None = None) -> Floats:
        """Return the (Q,) differences in utility, left minus right; positive if left is preferred.

        Pass the ids of users, left items and right items, or `Comparisons`, whose outcomes are ignored.

        Raises a CofactorError if users or items are unknown (they are named) or the arrays differ in length, and a
        NotIdentifiableError for items in different components, unless the model has a prior.
        """
        self._check_fitted()
        if isinstance(user, Comparisons):
            asked = user
            users, items = (
                codes_of(np.array(list(ids), dtype=object), known, what)
                for ids, known, what in ((asked.users, self.users_, "users"), (asked.items, self.items_, "items"))
            )
            u, i, j = users[asked.user], items[asked.left], items[asked.right]
        elif left is None or right is None:
            raise CofactorError("pass Comparisons, or three arrays: users, left items and right items")
        else:
            u = codes_of(user, self.users_, "users")
            i, j = (codes_of(side, self.items_, "items") for side in (left, right))
        if not len(u) == len(i) == len(j):
            raise CofactorError(
                f"{len(u)} users, {len(i)} left items and {len(j)} right items: the lengths must be equal"
            )
        self._check_linked(i, j)
        U, V, b = self.user_factors_, self.item_factors_, self.item_bias_
        return np.einsum("qa,qa->q", U[u], V[i] - V[j]) + b[i] - b[j]

    def predict(self, user: Asked, left: ArrayLike | None = None, right: ArrayLike | None = None) -> Floats:
        """Return the (Q,) predicted outcomes: 1 for left, 0 for right, 0.5 for equal utilities; see `margin`."""
        return np.asarray((1 + np.sign(self.margin(user, left, right))) / 2)

    def predict_proba(self, user: Asked, left: ArrayLike | None = None, right: ArrayLike | None = None) -> Floats:
        """Return the (Q,) probabilities that these users prefer `left` to `right`; see `margin`.

        Methods without a link only order items and raise a CofactorError.
        """
        return self.chance_of(self.margin(user, left, right))

    def chance_of(self, margin: Floats) -> Floats:
        """Return the probability of left for a difference in utility; methods that only order items raise an error."""
        if not self.link:
            raise CofactorError(f"{type(self).__name__} orders items but has no probabilities: use margin")
        return np.asarray(link_named(self.link).probability(margin))

    def utilities(self, user: Hashable | Floats) -> Floats:
        """Return the (n2,) utilities of all items for one user, given by id or by features from `fold_in`.

        A user without comparisons gets the average ranking, with a `DataWarning`.
        """
        self._check_fitted()
        if isinstance(user, np.ndarray):
            features, n_features = user, self.item_factors_.shape[1]
            if features.shape != (n_features,):
                raise CofactorError(
                    f"features have shape {features.shape}, but this model has {n_features} features per user"
                )
            if not np.isfinite(features).all():
                raise CofactorError("features contain NaN or infinity: pass a row of the result of fold_in")
        else:
            features = self.user_factors_[codes_of(np.array([user], dtype=object), self.users_, "users")[0]]
            if user in self.unseen_users_:
                said = f"user {user} has no comparisons: these are the average utilities of all users"
                warnings.warn(said, DataWarning, stacklevel=2)
        return np.asarray(self.item_factors_ @ features + self.item_bias_)

    def recommend(self, user: Hashable | Floats, k: int = 10, exclude: Sequence[Any] = ()) -> list[Any]:
        """Return the ids of the k items of highest utility, best first, without `exclude` and uncompared items."""
        check_whole(1, k=k)
        x = np.where(self.components_ >= 0, self.utilities(user), -np.inf)
        if isinstance(exclude, str) or not isinstance(exclude, Iterable):
            raise CofactorError(f"exclude={exclude!r}: must be a list of items")
        x[codes_of(np.array(list(exclude), dtype=object), self.items_, "items")] = -np.inf
        best = np.argsort(-x, kind="stable")[:k]
        chosen = best[np.isfinite(x[best])]
        self._check_linked(chosen, np.repeat(chosen[:1], len(chosen)))
        return [self.items_[i] for i in chosen.tolist()]

    def _check_linked(self, i: Codes, j: Codes) -> None:
        """Refuse to compare utilities across components; models with a prior allow it."""


def _normalised(factors: Arrays, data: Comparisons) -> Arrays:
    """Set rows of users and items without comparisons to zero, and centre items within their component."""
    U, V, b = (np.array(values) for values in factors)
    b = b if b.size else np.zeros(data.n_items)
    U[data.per_user == 0] = 0.0
    part = data.components
    seen = part >= 0
    for values in (V, b):
        values[~seen] = 0.0
        counts = np.bincount(part[seen])
        columns = values.reshape(len(values), -1)  # a view
        for a in range(columns.shape[1]):
            columns[seen, a] -= (np.bincount(part[seen], columns[seen, a]) / counts)[part[seen]]
    return U, V, b


def require_comparisons(comparisons: Comparisons | pd.DataFrame) -> Comparisons:
    """Return comparisons, read from a DataFrame if necessary; raise a CofactorError for any other type."""
    if isinstance(comparisons, pd.DataFrame):
        return Comparisons.from_frame(comparisons)
    if not isinstance(comparisons, Comparisons):
        kind = type(comparisons).__name__
        raise CofactorError(
            f"expected Comparisons or a DataFrame, got {kind}: pass Comparisons(user, left, right, outcome)"
        )
    return comparisons


def codes_of(values: ArrayLike, ids: Sequence[Any], what: str) -> Codes:
    """Return the codes of ids; raise a CofactorError that names unknown ids."""
    try:
        array = np.atleast_1d(unmasked(values, dtype=None if isinstance(ids, range) else object))
        if array.dtype.kind == "c":
            raise TypeError("they are complex")
        if array.ndim != 1:
            raise CofactorError(f"{what} must be one-dimensional, got shape {array.shape}")
        if not array.size:
            return np.empty(0, dtype=np.intp)
        if isinstance(ids, range):
            numbers = pd.to_numeric(pd.Series(array), errors="coerce").to_numpy(dtype=np.float64)
            bad = ~((numbers >= 0) & (numbers < len(ids)) & (np.floor(numbers) == numbers))
            code = np.where(bad, 0, numbers).astype(np.intp)
        else:
            code = pd.Index(ids, dtype=object).get_indexer(pd.Index(array, dtype=object))
            bad = code < 0
        unknown = listing(dict.fromkeys(array[bad].tolist()))
    except CofactorError:
        raise
    except (TypeError, ValueError) as error:
        raise CofactorError(f"{what} must be ids from the fit: {error}") from None
    if bad.any():
        raise CofactorError(f"unknown {what}: {unknown}; use fold_in for new users, and fit again for new items")
    return np.asarray(code, dtype=np.intp)


def refuse_across(components: NDArray[np.int32], i: Codes, j: Codes, items: Sequence[Any]) -> None:
    """Refuse pairs of items in different components; they are named."""
    across = np.flatnonzero(components[i] != components[j])
    if across.size:
        pairs = listing(dict.fromkeys((items[i[q]], items[j[q]]) for q in across))
        raise NotIdentifiableError(
            f"items in different components (no comparison links them) cannot be compared without a ridge: {pairs}; "
            "collect comparisons between the components, or fit with a ridge so that the prior decides"
        )
