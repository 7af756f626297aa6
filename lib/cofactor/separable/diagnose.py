"""Before choosing anchors: whether columns are fit for it, how many anchors there seem to be, what would be left."""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import available_bytes
from cofactor.core.diagnosis import Check, Diagnosis
from cofactor.core.errors import listing
from cofactor.core.spa import require_anchors, spa, with_squares
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import Matrix, columns_with_size, points_of
from cofactor.separable.columns import same_columns
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.memory import predicted_bytes
from cofactor.separable.selection import CLEAR_MARGIN, lone_columns, suggested_number

UNEVEN = 1.5  # columns whose sums differ by more were not scaled alike
ILL = 100.0  # condition number of the anchors from which on noise of a per cent hides one
UNEXPLAINED = 0.2  # relative residual above which anchors do not explain the columns
SAMPLE = 1000  # columns that are fitted to tell the residual


def diagnose(X: Matrix, n_anchors: int | None = None) -> Diagnosis:
    """Check a matrix before anchors are chosen among its columns.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column.
    n_anchors : int in [1, N], optional
        K that is planned. Default: what `suggest_n_anchors` says; there it stands how often that is right.

    NaN, infinity and nothing but zeros fail: no method can find anchors. Raises `CofactorError` where X is no matrix,
    or `n_anchors` is out of range. Cost: that of `lone_columns`, O(200 M N) and more, and of a simplex fit of 1000
    columns; X is made dense.

    Examples
    --------
    >>> from cofactor import simulate
    >>> report = diagnose(simulate.dirichlet_mixtures(50, 200, 5, snr_db=30, random_state=0).X)
    >>> report["number of anchors"].value.split(",")[0]
    '5 suggested'
    """
    points = points_of(X)
    if n_anchors is not None:
        require_anchors(n_anchors, points.shape[1])
    title = f"X: {points.shape[0]} rows, {points.shape[1]} columns"
    finite = _finite(points)
    checks = [finite]
    if finite.status == "pass":
        points = with_squares(points)
        checks.append(_zeros(points))
    if checks[-1].status != "fail":
        nonzero = columns_with_size(points)
        lone = lone_columns(points, n_anchors)
        checks += [_repeated(points), _lone(lone), _scale(points[:, nonzero])]
        checks += _anchors(points[:, np.setdiff1d(nonzero, lone)], n_anchors)
    return Diagnosis(title, tuple(checks), _verdict(checks))


def _verdict(checks: list[Check]) -> str:
    failed = [check.name for check in checks if check.status == "fail"]
    if failed:
        return f"no method can find anchors ({listing(failed)})"
    warned = [check.name for check in checks if check.status == "warn"]
    return f"no method is ruled out; read the warnings ({listing(warned)})" if warned else "no method is ruled out"


def _warning_if(warn: bool, name: str, value: str, advice: str) -> Check:
    """Return a check that passes without advice, or warns with it."""
    return Check(name, "warn", value, advice) if warn else Check(name, "pass", value)


def _finite(points: Floats) -> Check:
    bad = np.flatnonzero(~np.isfinite(points).all(axis=0)).tolist()
    if bad:
        return Check("finite", "fail", f"NaN or infinity in columns {listing(bad)}", "drop these columns, or fill them")
    return Check("finite", "pass", "all entries")


def _zeros(points: Floats) -> Check:
    zero = np.setdiff1d(np.arange(points.shape[1]), columns_with_size(points)).tolist()
    if len(zero) == points.shape[1] or not points.any():
        return Check("zero columns", "fail", "all of them", "there is nothing to choose anchors from")
    value = f"{len(zero)}: {listing(zero)}" if zero else "none"
    return _warning_if(bool(zero), "zero columns", value, "they are left out")


def _repeated(points: Floats) -> Check:
    nonzero = columns_with_size(points)
    groups = same_columns(points[:, nonzero])[1]
    named = listing(f"({listing(nonzero[group].tolist())})" for group in groups)
    value = f"{len(groups)} group{'s' * (len(groups) > 1)}: {named}" if groups else "none"
    advice = "they share the score of one anchor: keep one of each, or let merit merge them"
    return _warning_if(bool(groups), "equal columns", value, advice)


def _lone(lone: Indices) -> Check:
    value = f"{lone.size}: {listing(lone.tolist())}" if lone.size else "none"
    advice = "outliers, glints or hot entries, each an anchor of itself alone: not counted; look at them"
    return _warning_if(bool(lone.size), "lone columns", value, advice)


def _scale(points: Floats) -> Check:
    if points.min() < 0:
        return Check("scale", "pass", f"{(points < 0).mean():.1%} of the entries are negative")
    sums = points.sum(axis=0)
    ratio = float(np.quantile(sums, 0.95) / np.quantile(sums, 0.05))
    value = f"column sums differ by a factor of {ratio:.3g} (5th to 95th percentile)"
    advice = "scale columns to sum to one (X / X.sum(axis=0)), unless their size means something"
    return _warning_if(ratio > UNEVEN, "scale", value, advice)


def _anchors(points: Floats, n_anchors: int | None) -> list[Check]:
    found, suggested, margin = suggested_number(points)
    if n_anchors is not None and n_anchors > len(found):
        found = spa(points, min(n_anchors, points.shape[1]))
    K = min(suggested if n_anchors is None else n_anchors, len(found))
    W = points[:, found[:K]]
    number = _number(suggested, margin, n_anchors, len(found))
    M, N = points.shape
    return [number, _condition(W), _residual(points, W), _memory(M, N, K)]


def _number(suggested: int, margin: float, asked: int | None, rank: int) -> Check:
    value = f"{suggested} suggested, by a margin of {margin:.2f}"
    if asked is not None and asked > rank:
        advice = f"SPA finds {rank} directions only; methods that allow more anchors than that need little noise"
        return Check("number of anchors", "warn", f"{asked} asked for, {rank} found", advice)
    if margin < CLEAR_MARGIN:
        return Check("number of anchors", "warn", value, "no clear drop: noise, or no anchors; try several numbers")
    if asked not in (None, suggested):
        return Check("number of anchors", "warn", f"{asked} asked for, {value}", "compare both")
    return Check("number of anchors", "pass", value)


def _condition(W: Floats) -> Check:
    condition = float(np.linalg.cond(W))
    advice = "two anchors nearly mix into a third: little noise hides one; ask for fewer"
    return _warning_if(condition > ILL, "condition of the anchors", f"{condition:.3g}", advice)


def _residual(points: Floats, W: Floats) -> Check:
    chosen = np.unique(np.linspace(0, points.shape[1] - 1, SAMPLE).astype(int))
    some = points[:, chosen]
    left = float(np.linalg.norm(some - W @ simplex_least_squares(W, some)) / np.linalg.norm(some))
    advice = "mixtures of these anchors do not explain the columns: more anchors, less noise, or other scaling"
    return _warning_if(left > UNEXPLAINED, "residual", f"{left:.1%} of the norm, at {W.shape[1]} anchors", advice)


def _memory(M: int, N: int, K: int) -> Check:
    needed = {name: predicted_bytes(name, M, N, K) for name in ("MERIT", "FastGradient")}
    free = available_bytes()
    out = [name for name, size in needed.items() if size > free]
    value = ", ".join(f"{name} {size / 1e9:.2g} GB" for name, size in needed.items())
    return _warning_if(bool(out), "memory", value, f"too much for {listing(out)} here")
