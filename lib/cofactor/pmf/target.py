"""One variable of a table as a class: how often it is predicted wrongly, beside simple methods, and its gaps."""

from __future__ import annotations

import warnings
from typing import Literal, TypeAlias

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf.classifier import SMALLEST, JointPMFClassifier

Rank: TypeAlias = int | Literal["auto"]

FOLDS = 5
CHOSEN, NAIVE, MAJORITY = "JointPMF", "naive Bayes", "majority"


def cross_validated(
    table: CategoricalTable, target: int, rank: Rank = "auto", n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the error of predicting a variable from all others, by five-fold cross-validation.

    One row per method (`JointPMFClassifier`, naive Bayes to which a gap is one more value, the most frequent class):
    share of wrong rows, its standard error, and the mean of minus the logarithm of the probability of the true class,
    floored at 0.001. Rows in which the variable is missing are left out.

    Raises a CofactorError where no value of the variable was seen in five rows, or only one value was seen. Cost: five
    fits of the classifier.
    """
    from sklearn.dummy import DummyClassifier  # here: slow to import
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import CategoricalNB

    codes = table.codes
    known = codes[:, target] != MISSING
    y, X, sizes = codes[known, target], np.delete(codes[known], target, axis=1), np.delete(table.sizes, target)
    _check_counts(np.bincount(y, minlength=1))
    methods = (
        (CHOSEN, _joint(rank, n_jobs), _with_gaps(X)),
        (NAIVE, CategoricalNB(min_categories=sizes + 1), X + 1),
        (MAJORITY, DummyClassifier(strategy="prior"), X),
    )
    folds, rows = StratifiedKFold(FOLDS, shuffle=True, random_state=0), []
    with warnings.catch_warnings(action="ignore"):  # of rare classes and values: they cost, which is what is measured
        for name, method, given in methods:
            shares = cross_val_predict(method, given, y, cv=folds, method="predict_proba")
            rows.append({"method": name, **_scored(shares, np.unique(y, return_inverse=True)[1])})
    return pd.DataFrame(rows)


def _check_counts(counts: Ints) -> None:
    """Refuse a target of too few rows, by how often its values were seen."""
    n_values, most = int((counts > 0).sum()), int(counts.max())
    if most < FOLDS or n_values < 2:
        raise CofactorError(
            f"the target has {n_values} values in {counts.sum()} rows, the most frequent in {most}: cross-validation "
            f"needs two values, and one in {FOLDS} rows"
        )


def _scored(shares: Floats, y: Ints) -> dict[str, float]:
    """Return the share of rows whose most probable class is wrong, its standard error, and the loss of the true one."""
    wrong = shares.argmax(axis=1) != y
    loss = -np.log(np.maximum(shares[np.arange(len(y)), y], SMALLEST))
    return {"wrong": wrong.mean(), "error": wrong.std() / np.sqrt(len(y)), "loss": loss.mean()}


def classified(
    table: CategoricalTable, target: int, rank: Rank = "auto", n_jobs: int | None = None
) -> tuple[Ints, Ints, Floats]:
    """Return the rows in which a variable is missing, its most probable code there, and its probability."""
    codes = table.codes
    known = codes[:, target] != MISSING
    rows = np.flatnonzero(~known)
    if not rows.size:
        return rows, rows, np.zeros(0)
    X = np.delete(codes, target, axis=1)
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        method = _joint(rank, n_jobs).fit(_with_gaps(X[known]), codes[known, target])
        shares = method.predict_proba(_with_gaps(X[rows]))
    return rows, np.asarray(method.classes_[shares.argmax(axis=1)]), shares.max(axis=1)


def _joint(rank: Rank, n_jobs: int | None) -> JointPMFClassifier:
    return JointPMFClassifier(rank, n_bins=None, n_jobs=n_jobs, random_state=0)


def _with_gaps(X: Ints) -> Floats:
    return np.where(X == MISSING, np.nan, X)
