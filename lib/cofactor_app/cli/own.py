"""Your own finder of anchors, or joint distribution, as a built-in method: what `--method FILE.py:NAME` makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.aggregators import DONE, answer_of
from cofactor.pmf.base import Data, JointPMFEstimator
from cofactor.pmf.frames import coded
from cofactor.registry import loaded
from cofactor.separable.columns import AnchorFit, anchors_by_scores
from cofactor.separable.methods import AnchorMethod
from cofactor_app.bench.answers import Problem, answer_on, fitted

MODEL = "a cofactor.LatentClassModel, or an object with one as model_"


@dataclass(eq=False, repr=False, kw_only=True)
class OwnAnchors(AnchorMethod):
    """Anchors by a method that is not one of cofactor's classes: `name` says where it is, see `cofactor.crowd.Outside`.

    It gets X, (M, N), and K, and answers with K different columns, or an object with them as `anchors_`. Scores are
    the squared lengths of anchors beyond what those before them span, as of `SPA`.

    Raises `CofactorError` where the method fails, or answers with something else.
    """

    name: str

    def _find(self, X: Floats) -> AnchorFit:
        kept, K = self._chosen(X)
        anchors = kept[answer_on(self.name, Problem("separable", X[:, kept], K))]
        lengths = np.diagonal(np.linalg.qr(X[:, anchors], mode="r")) ** 2
        return anchors_by_scores(anchors[: lengths.size], lengths, X.shape[1], anchors)


@dataclass(eq=False, repr=False, kw_only=True)
class OwnJoint(JointPMFEstimator):
    """A joint distribution by a method that is not one of cofactor's classes: `name` says where it is.

    It gets a `CategoricalTable` without empty rows, and answers with a `LatentClassModel` of its columns, or an object
    that has one as `model_`: gaps, draws and held-out cells are asked of that model. Rank and smoothing are the
    method's own affair: nothing is tried and nothing averaged.

    Raises `CofactorError` where the method fails, or answers with something else.
    """

    name: str
    result_: Result = field(init=False)

    def fit(self, table: Data) -> Self:
        """Fit the method to the rows that are not empty; returns self."""
        known, self.columns_ = coded(table)
        rows, _ = self._check(known)
        method = loaded(self.name)
        found = answer_of(partial(fitted, method), rows)
        self.model_ = _sound(getattr(found, "model_", found), rows)
        self.rank_, self.pseudo_count_ = self.model_.n_classes, 0.0
        self.n_empty_rows_, self.result_ = known.n_rows - rows.n_rows, DONE
        self.validation_, self.members_ = [], []
        return self


def _sound(model: Any, table: CategoricalTable) -> LatentClassModel:
    if not isinstance(model, LatentClassModel):
        raise CofactorError(f"the method must answer with {MODEL}, not {type(model).__name__}")
    if not np.array_equal(model.sizes, table.sizes):
        said = f"{list(map(int, model.sizes))} values, and the columns have {list(map(int, table.sizes))}"
        raise CofactorError(f"the model of the method has variables of {said}")
    return model
