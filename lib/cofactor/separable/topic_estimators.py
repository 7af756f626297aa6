"""Topic models as scikit-learn's transformers: documents by words in, documents by topics out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import Estimator
from cofactor.core.lazy import pd
from cofactor.core.result import Result
from cofactor.core.types import Floats, Seed
from cofactor.separable.base import Matrix
from cofactor.separable.topics import topic_model
from cofactor.separable.words import TopicModel, word_counts


class TopicTransformer(Estimator):
    """Base class of transformers from (D, N) counts of words to (D, K) weights of topics, one row per document.

    A method implements `_topics`, which fits checked counts, and `_weights`, of checked counts.

    Attributes after `fit`
    ----------------------
    model_ : TopicModel
    result_ : Result
    n_iter_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn: the number of words, and their names where `counts` is a data frame.
    """

    random_state: Seed
    model_: TopicModel
    result_: Result
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: counts may be sparse, and are never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    def fit(self, counts: Matrix, y: object = None) -> Self:
        """Find topics in (D, N) counts of words in documents, dense, sparse or a data frame; y is not used."""
        rng_of(self.random_state)  # refuses what is no seed, also where nothing is drawn
        self.model_ = self._topics(self._checked(counts))
        self.result_ = cast(Result, self.model_.result)
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, counts: Matrix) -> Floats | pd.DataFrame:
        """Return the (D, K) weights of the topics in documents: an array, or as `set_output` has it."""
        from sklearn import get_config

        self._check_fitted()
        weights = self._weights(self._checked(counts, reset=False))
        configured = get_config()["transform_output"]
        if getattr(self, "_sklearn_output_config", {}).get("transform", configured) != "pandas":
            return weights
        return pd.DataFrame(weights, getattr(counts, "index", None), self.get_feature_names_out())

    def fit_transform(self, counts: Matrix, y: object = None) -> Floats | pd.DataFrame:
        """Fit, and return the weights of the topics in the same documents."""
        return self.fit(counts).transform(counts)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "default", an array, or "pandas", a data frame; None changes nothing."""
        if transform not in ("default", "pandas", None):
            raise CofactorError(f"transform={transform!r}: choose 'default' or 'pandas'")
        if transform:
            self._sklearn_output_config = {"transform": transform}  # clones take it along
        return self

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the K names of topics, as "topics0"; words, if given, must be those of the fit."""
        from sklearn.utils.validation import _check_feature_names_in

        self._check_fitted()
        _check_feature_names_in(self, input_features)
        return np.array([f"{type(self).__name__.lower()}{k}" for k in range(self.model_.topics.shape[1])], dtype=object)

    def _topics(self, counts: Matrix) -> TopicModel:
        raise NotImplementedError

    def _weights(self, counts: Matrix) -> Floats:
        raise NotImplementedError

    def _checked(self, counts: Matrix, reset: bool = True) -> sparse.csr_array:
        """Return counts checked, of the words of the fit where they are not `reset`."""
        from sklearn.utils.validation import validate_data

        n_axes = 2 if sparse.issparse(counts) else np.asarray(counts).ndim
        if n_axes != 2:
            raise CofactorError(f"counts have {n_axes} axes, one row per document is needed. Reshape your data")
        documents = word_counts(counts)
        try:
            validate_data(self, counts if hasattr(counts, "columns") else documents, skip_check_array=True, reset=reset)
        except ValueError as error:
            raise CofactorError(str(error)) from None
        return documents


@dataclass(eq=False, repr=False)
class Topics(TopicTransformer):
    """Topics of word counts, one document per row: nonnegative factors that start at anchor words, or anchors alone.

    Parameters
    ----------
    n_topics : int
    method, min_documents, random_state
        See `topic_model`. LDA is a transformer of its own.
    verbose : bool
        No effect: no method shows its progress here.

    `transform` gives nonnegative weights, by least squares on the topics. Attributes after `fit`: see
    `TopicTransformer`. Raises, cost and source: see `topic_model`.

    >>> counts = [[3, 1, 0, 0, 2], [2, 2, 0, 0, 0], [0, 0, 4, 1, 0], [0, 0, 1, 3, 1]]
    >>> Topics(2, method="SPA").fit_transform(counts).argmax(axis=1).tolist()
    [1, 1, 0, 0]
    """

    n_topics: int = 10
    method: Any = field(default="NMF", kw_only=True)
    min_documents: int | None = field(default=None, kw_only=True)
    random_state: Seed = field(default=None, kw_only=True)
    verbose: bool = field(default=False, kw_only=True)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only FastAnchor draws at random."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic &= self.method == "FastAnchor"
        return tags

    def _topics(self, counts: Matrix) -> TopicModel:
        if self.method == "LDA":
            raise CofactorError("method='LDA': use cofactor.separable.LDA, a transformer of its own")
        return topic_model(counts, self.n_topics, self.method, self.min_documents, self.random_state)

    def _weights(self, counts: Matrix) -> Floats:
        return self.model_.weights_of(counts)
