"""One variable of a table as a class: how often it is predicted wrongly, beside simple methods, and its gaps.

A joint PMF says how probable each class is given the other columns, but its hidden classes serve all columns alike.
Logistic regression serves the class alone, but sees no dependence between the other columns. So the logarithms of the
joint PMF's probabilities are features of a logistic regression, beside the values of all columns (stacking). Those of
rows to learn from are of a joint PMF that has not seen them.

Source: Wolpert, "Stacked generalization", Neural Networks 1992.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from cofactor.core.em import em
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.pmf.base import DEFAULT_PSEUDO_COUNT, random_model
from cofactor.pmf.classifier import LEAST_SCORED
from cofactor_app.joint.forbidden import Pair

Rank: TypeAlias = int | Literal["auto"]
Predict: TypeAlias = Callable[[Ints], Floats]  # from (R, N) codes of the other variables to (R, K) probabilities
Learn: TypeAlias = Callable[[Ints, Ints, Ints, int], Predict]  # from codes, classes, (N + 1,) sizes, rank

FOLDS, INNER_FOLDS = 5, 2
STACKED, LOGISTIC, NAIVE, MAJORITY = "joint + logistic", "logistic", "naive Bayes", "majority"
# hidden classes and EM of a joint PMF that is a feature: more hardly changes it
FEATURE_CLASSES = 8
FEATURE_ROUNDS = 30
FEATURE_TOL = 1e-5


def cross_validated(table: CategoricalTable, target: int, rank: Rank = "auto") -> pd.DataFrame:
    """Return the error of predicting a variable from all others, by five-fold cross-validation.

    One row per method (joint PMF with logistic regression, logistic regression alone, naive Bayes, the most frequent
    class; a gap is one more value): share of wrong rows, its standard error, and the mean of minus the logarithm of the
    probability of the true class, floored at 0.001. Rows in which the variable is missing are left out. `rank` is that
    of the joint PMF, eight by default.

    Raises a CofactorError where no value of the variable was seen in five rows, or only one value was seen. Cost: some
    two to five times that of the logistic regressions.
    """
    from sklearn.model_selection import StratifiedKFold  # here: slow to import

    X, y, _, sizes = _parts(table, target)
    _check_counts(np.bincount(y, minlength=1))
    shares = {name: np.zeros((len(y), sizes[-1])) for name in PREDICTORS}
    with warnings.catch_warnings(action="ignore"):  # of rare classes and values: they cost, which is what is measured
        for learnt, asked in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            for name, learn in PREDICTORS.items():
                shares[name][asked] = learn(X[learnt], y[learnt], sizes, _rank(rank))(X[asked])
    return pd.DataFrame([{"method": name, **_scored(found, y)} for name, found in shares.items()])


def classified(
    table: CategoricalTable, target: int, rank: Rank = "auto", method: str = STACKED, pairs: Sequence[Pair] = ()
) -> tuple[Ints, Ints, Floats]:
    """Return the rows in which a variable is missing, its most probable code there, and its probability.

    A class that is one of `pairs` with another value of its row has probability zero.
    """
    X, y, rows, sizes = _parts(table, target)
    if not rows.size:
        return rows, rows, np.zeros(0)
    with warnings.catch_warnings(action="ignore"):
        shares = PREDICTORS[method](X, y, sizes, _rank(rank))(np.delete(table.codes[rows], target, axis=1))
    shares = _allowed(shares, table.codes[rows], target, pairs)
    return rows, shares.argmax(axis=1), shares.max(axis=1)


def _allowed(shares: Floats, codes: Ints, target: int, pairs: Sequence[Pair]) -> Floats:
    """Return (R, K) probabilities of the target's classes given that no pair occurs; those of a row stay if all do."""
    allowed = shares.copy()
    for one in pairs:
        for (n, code), (m, other) in (((one.m, one.i), (one.n, one.j)), ((one.n, one.j), (one.m, one.i))):
            if n == target:
                allowed[codes[:, m] == other, code] = 0.0
    total = allowed.sum(axis=1, keepdims=True)
    return np.where(total > 0, allowed / np.where(total > 0, total, 1.0), shares) if pairs else shares


def better(errors: pd.DataFrame) -> str:
    """Return the name of the method with the lower log-loss: logistic regression with the joint PMF, or alone."""
    losses = errors.set_index("method")["loss"]
    return LOGISTIC if losses[LOGISTIC] < losses[STACKED] else STACKED


def _rank(rank: Rank) -> int:
    return FEATURE_CLASSES if rank == "auto" else rank


def _parts(table: CategoricalTable, target: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return codes of the others and of the target where it is known, rows where not, and sizes, the target's last."""
    codes = table.codes
    known = codes[:, target] != MISSING
    sizes = np.append(np.delete(table.sizes, target), table.sizes[target])
    return np.delete(codes[known], target, axis=1), codes[known, target], np.flatnonzero(~known), sizes


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
    loss = -np.log(np.maximum(shares[np.arange(len(y)), y], LEAST_SCORED))
    return {"wrong": wrong.mean(), "error": wrong.std() / np.sqrt(len(y)), "loss": loss.mean()}


# ---- methods: each learns from codes and classes, and gives what predicts ----


def _stacked(X: Ints, y: Ints, sizes: Ints, rank: int) -> Predict:
    """Logistic regression on values and on what a joint PMF says of the class, to each row one that has not seen it."""
    from sklearn.model_selection import StratifiedKFold

    said = np.zeros((len(y), sizes[-1]))
    for learnt, asked in StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0).split(X, y):
        said[asked] = _log_shares(_joint(X[learnt], y[learnt], sizes, rank), X[asked])
    model, values = _joint(X, y, sizes, rank), _indicators(sizes)
    predict = _regressed(sparse.hstack([values(X), said], format="csr"), y, sizes)
    return lambda asked: predict(sparse.hstack([values(asked), _log_shares(model, asked)], format="csr"))


def _joint(X: Ints, y: Ints, sizes: Ints, rank: int) -> LatentClassModel:
    table = CategoricalTable(np.column_stack([X, y]), sizes)
    return em(table, random_model(sizes, rank, 0), FEATURE_ROUNDS, FEATURE_TOL, pseudo_count=DEFAULT_PSEUDO_COUNT)[0]


def _log_shares(model: LatentClassModel, X: Ints) -> Floats:
    table = CategoricalTable(np.column_stack([X, np.full(len(X), MISSING)]), model.sizes)
    return np.log(np.maximum(model.conditional(table, X.shape[1]), LEAST_SCORED))


def _logistic(X: Ints, y: Ints, sizes: Ints, rank: int) -> Predict:
    values = _indicators(sizes)
    predict = _regressed(values(X), y, sizes)
    return lambda asked: predict(values(asked))


def _indicators(sizes: Ints) -> Callable[[Ints], Any]:
    """Return what turns codes of the other variables into indicators, with one for a gap."""
    offsets = np.cumsum(sizes[:-1] + 1) - sizes[:-1]
    width = int((sizes[:-1] + 1).sum())

    def values(X: Ints) -> Any:
        start = np.arange(len(X) + 1) * X.shape[1]
        return sparse.csr_array((np.ones(X.size), (X + offsets).ravel(), start), shape=(len(X), width))

    return values


def _regressed(features: Any, y: Ints, sizes: Ints) -> Predict:
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(y)) == 1:
        return _majority(y[:, None], y, sizes, 0)
    return _in_all(LogisticRegression(max_iter=1000).fit(features, y), sizes)


def _naive_bayes(X: Ints, y: Ints, sizes: Ints, rank: int) -> Predict:
    from sklearn.naive_bayes import CategoricalNB

    predict = _in_all(CategoricalNB(min_categories=sizes[:-1] + 1).fit(X + 1, y), sizes)
    return lambda asked: predict(asked + 1)


def _majority(X: Ints, y: Ints, sizes: Ints, rank: int) -> Predict:
    shares = np.bincount(y, minlength=sizes[-1]) / len(y)
    return lambda asked: np.tile(shares, (asked.shape[0], 1))


def _in_all(method: Any, sizes: Ints) -> Predict:
    """Give classes that were not there to learn from the probability zero."""

    def predict(asked: Any) -> Floats:
        shares = np.zeros((asked.shape[0], sizes[-1]))
        shares[:, method.classes_] = method.predict_proba(asked)
        return shares

    return predict


PREDICTORS: dict[str, Learn] = {STACKED: _stacked, LOGISTIC: _logistic, NAIVE: _naive_bayes, MAJORITY: _majority}
