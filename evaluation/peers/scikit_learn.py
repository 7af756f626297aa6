"""scikit-learn for two problems: hidden cells of a table, and columns that represent factors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - makes the next import possible
from sklearn.impute import IterativeImputer

from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints


def iterative_imputer(table: CategoricalTable, rounds: int = 10) -> Ints:
    """Complete a table by ridge regressions on the codes, in rounds; codes are rounded to the nearest that there is."""
    codes = np.where(table.codes >= 0, table.codes, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = IterativeImputer(max_iter=rounds, random_state=0, keep_empty_features=True).fit_transform(codes)
    return np.clip(np.rint(found), 0, table.sizes - 1).astype(np.int64)


def boosting(table: CategoricalTable, rounds: int = 50) -> Ints:
    """Complete a table by a boosted classifier for each column from all others, whose gaps are a value of their own."""
    found = np.array(table.codes, dtype=np.int64)
    for n in range(found.shape[1]):
        known = table.codes[:, n] >= 0
        others = np.where(table.codes >= 0, table.codes, np.nan)[:, np.arange(found.shape[1]) != n]
        values = np.unique(found[known, n])
        if known.all() or len(values) < 2:
            found[~known, n] = values[0] if len(values) else 0
            continue
        model = HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False, random_state=0)
        found[~known, n] = model.fit(others[known], found[known, n]).predict(others[~known])
    return found


def nmf(X: Floats, n_anchors: int) -> Ints:
    """Return the column closest to each factor of an NMF: the one of which it explains most."""
    model = NMF(n_anchors, init="nndsvda", max_iter=500, random_state=0)
    return _purest(model, X)


def lda(X: Floats, n_anchors: int) -> Ints:
    """Return the column closest to each topic of latent Dirichlet allocation."""
    return _purest(LatentDirichletAllocation(n_anchors, max_iter=50, random_state=0), X)


def _purest(model: Any, X: Floats) -> Ints:
    """Return, factor after factor, the column with the largest share of it that is not taken yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weight = model.fit_transform(np.maximum(X, 0).T)
    share = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    found: list[int] = []
    for column in share.T:
        order = np.argsort(-column, kind="stable")
        found.append(int(next(place for place in order if place not in found)))
    return np.array(found, dtype=np.int64)
