"""``anchors``: from a matrix to the few columns of which all others are mixtures, and the weights of the mixtures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from cofactor.core.checks import check_whole, is_number, require_bytes, unmasked
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Indices
from cofactor.data import fetch
from cofactor.data.registry import entries
from cofactor.reading.matrices import matrix_of, read_matrix
from cofactor.separable.columns import CLEAR_MARGIN, MOST_ANCHORS, lone_columns, suggest_n_anchors
from cofactor.separable.diagnose import diagnose
from cofactor.separable.methods import METHODS, AnchorMethod, predicted_bytes
from cofactor.separable.projected import HeldOut, held_out_angles
from cofactor.verbs.result import Result, as_frame, frame_like, named_source, noting, paths_of

NAMES = ("ProjectedSPA", "SPA", "MERIT", "FastAnchor")  # the default first
CHECKED = {  # checks of `diagnose` whose warnings are passed on, with another word on what to do
    "scale": "divide points by their sums (scale), unless their size is meaningful",
    "condition of the anchors": "",
}
NUMBER = "number of anchors"  # the check that speaks where a number was asked for
FAR = 3.0  # ratio of angles to anchors and to centres that mixtures of pure points do not reach
FLAT_BANDS = 3  # bands at least in which a point that is no datum holds one value
COPIES, DOUBLE = 3, 8  # of the dense matrix, which the checks hold beside each other; bytes
SMALLEST = 1e-120  # of the largest entry: its fourth power is a number
POSITIVE = 0.5  # least share of the sum of absolute values that a sum has to be, to divide by it
Finder = Callable[..., AnchorMethod]


@dataclass(frozen=True)
class Points:
    """A matrix with one point per column, the names of its points and rows, and for an image its height and width."""

    X: Any
    names: list[str]
    bands: list[str]
    image: tuple[int, int] | None = None

    def places(self, columns: Indices) -> dict[str, Any]:
        """Return the names of points, and for pixels their row and column, as columns of a table."""
        named = {"point": [self.names[n] for n in columns]}
        if self.image is None:
            return named
        return named | dict(zip(("row", "column"), divmod(columns, self.image[1]), strict=True))


@dataclass(repr=False, eq=False)
class AnchorsResult(Result):
    """Result of `anchors`: tables of anchors, weights and spectra, notes, the fit, and a report.

    Attributes
    ----------
    anchors : DataFrame
        One row per anchor: anchor, point (for an image also row and column), mean_weight, leads (number of points in
        which its weight is the largest), score, then its spectrum, with one column per row of the matrix.
    weights : DataFrame
        One row per point, in the input's order: point (for an image also row and column), anchor_1 to anchor_K, which
        are nonnegative and sum to one. They are NaN for points that were left out because they are not data.
    spectra : DataFrame
        One column per anchor, one row per row of the matrix, whose names are the index.
    method : AnchorMethod
        The fit; its columns are the points in `used`.
    used : (n,) ints
        The points from which anchors were chosen.
    held_out : HeldOut or None
        Angles between held-out points and mixtures of anchors, and k-means centres (by angle) for comparison.
    """

    page: ClassVar[str] = "anchors"
    source: str
    anchors: pd.DataFrame
    weights: pd.DataFrame
    spectra: pd.DataFrame
    method: AnchorMethod
    points: Points
    used: Indices
    left: float
    held_out: HeldOut | None
    chosen: str
    checks: Diagnosis
    about: list[str]
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def wavelengths(self) -> Floats | None:
        """The names of the matrix rows, if they are increasing or decreasing numbers, as wavelengths are; else None."""
        found = pd.to_numeric(pd.Series(self.points.bands, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
        steps = np.diff(found)
        return found if len(steps) and ((steps > 0).all() or (steps < 0).all()) else None

    @property
    def shown(self) -> pd.DataFrame:
        """The anchors without their spectra."""
        return self.anchors[["anchor", "point", "mean_weight", "leads"]]

    @property
    def details(self) -> list[str]:
        """Details of the fit, one line each."""
        return self.about

    @property
    def summary(self) -> list[str]:
        """The size of the data, the number of anchors, and how well mixtures explain points, compared with k-means."""
        M, N = self.points.X.shape
        size = f"{N:,} points" if self.points.image is None else "{} x {} pixels".format(*self.points.image)
        lines = [
            f"{size}, {M:,} bands, {len(self.anchors)} anchors ({self.chosen})",
            f"residual {100 * self.left:.1f} % of the norm",
        ]
        if self.held_out:
            means = f"{self.held_out.centres:.1f} from the nearest of {len(self.anchors)} k-means centres"
            lines[1] += f"; held-out points: {self.held_out.mixtures:.1f} degrees from mixtures of the anchors, {means}"
        return lines

    def screen(self, more: str = "anchors has all") -> list[str]:
        """Return the answer as the command prints it, line by line; `more` says where the rest of the table is."""
        first, last = self.summary
        table = self.shown.head(10).rename(columns={"mean_weight": "mean weight"})
        lines = [first, *table.to_string(index=False, float_format="{:.2f}".format).splitlines()]
        hidden = len(self.shown) - len(table)
        return [*lines, *([f"... and {hidden:,} more: {more}"] if hidden else []), last]


def anchors(
    source: Any,
    n_anchors: int | None = None,
    *,
    rows: bool = False,
    scale: bool = False,
    no_data: float | None = None,
    method: str | Finder = NAMES[0],
    skip_bad: bool = False,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    verbose: bool = False,
) -> AnchorsResult:
    """Find the few columns of a matrix of which all others are mixtures, and the weights of the mixtures.

    Parameters
    ----------
    source : path, several paths, name of a data set, DataFrame, array or sparse matrix
        One point per column. An array with three dimensions is an image (rows x columns x bands) whose pixels are the
        points. Points from several files are joined. See `cofactor.reading.matrices.read_matrix` for the formats.
    n_anchors : int, optional
        Default: the number after which the residual of successive projection drops most (`suggest_n_anchors`).
    rows : bool
        Points are the rows, not the columns.
    scale : bool
        First divide every point by its sum.
    no_data : number, optional
        Leave out points that have this value in all bands.
    method : {"ProjectedSPA", "SPA", "MERIT", "FastAnchor"}, or a callable that returns an estimator
        A callable gets the number of anchors. See `cofactor.separable` for the methods.
    skip_bad : bool
        Leave out points with cells that cannot be read, and name them, instead of raising an error.
    encoding, sep : encoding and column separator of text files
    verbose : bool
        Show a progress bar if the method is slow.

    Returns an `AnchorsResult`. Points with NaN, points of zeros, and points with the same value, outside the range of
    the others, in all bands are left out and named. Points that would be anchors only for themselves are not chosen.

    Raises a CofactorError if the data cannot be read, all points are equal, a number is out of range, or memory is
    short. Warns (`DataWarning`) about points left out, and if k-means by angle explains held-out points better.

    Cost: that of the method, of `diagnose`, and O(N K^3) for weights; X is made dense.

    >>> import cofactor as cf
    >>> cf.anchors("mixture", 4).shown["point"].tolist()
    ['p332', 'p51', 'p319', 'p57']
    """
    if not callable(method) and method not in NAMES:
        raise CofactorError(f"no method {method!r}: choose one of {listing(NAMES)}")
    if n_anchors is not None:
        check_whole(1, n_anchors=n_anchors)
    if no_data is not None and not is_number(no_data):
        raise CofactorError(f"no_data={no_data!r}: give a number, or None")
    find = method if callable(method) else METHODS[method]
    notes, warned = list[str](), list[str]()
    with noting(notes, []):  # what was read and left out questions no answer
        points = _points(source, rows, encoding, sep, skip_bad)
        _check_memory(points.X, n_anchors, method)
        X = points.X.toarray() if sparse.issparse(points.X) else np.asarray(points.X, dtype=np.float64)
        points = Points(X, points.names, points.bands, points.image)
        there = _without_no_data(points, no_data)
    X = _scaled(X, points, there) if scale else X
    largest = float(np.abs(X[:, there]).max())
    if not SMALLEST < largest < 1 / SMALLEST:
        what = f"the largest entry, {largest:.3g}, is too extreme for floating-point arithmetic"
        raise CofactorError(f"{what}: multiply the matrix by a number, or divide every point by its sum (scale)")
    with noting(notes, warned):
        used = _without_lone(X, points, there, n_anchors)
        K, chosen, margin = _number(X[:, used], n_anchors)
        checks = diagnose(X[:, used], K)
        _pass_on(checks, n_anchors is not None)
        fitted = find(K, random_state=0, verbose=verbose).fit(X[:, used])
        H = np.full((len(fitted.W_.T), X.shape[1]), np.nan)
        H[:, there] = fitted.transform(X[:, there])
        left = float(np.linalg.norm(X[:, used] - fitted.W_ @ H[:, used]) / np.linalg.norm(X[:, used]))
        table, spectra = _tables(fitted, H, points, used)
        held_out = held_out_angles(X[:, used], lambda half: find(K, random_state=0).fit(half).W_, K)
        _judge(table, held_out)
    names = [f"anchor_{k}" for k in table["anchor"]]
    weights = pd.DataFrame({**points.places(np.arange(X.shape[1])), **dict(zip(names, H, strict=True))})
    about = [f"{method if isinstance(method, str) else 'own method'}: {fitted.result_.reason}"]
    about += [f"number of anchors: {K}, by a margin of {margin:.2f}"] if margin is not None else []
    points = Points(X, points.names, points.bands, points.image)
    tables = named_source(source), table, weights, spectra
    return AnchorsResult(*tables, fitted, points, used, left, held_out, chosen, checks, about, notes, warned)


def _warn(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=3)


def _points(source: Any, rows: bool, encoding: str, sep: str | None, skip_bad: bool) -> Points:
    """Read points from whatever was given."""
    paths = paths_of(source)
    if paths:
        read = [_read(path, encoding, sep, skip_bad) for path in paths]
    elif frame_like(source):
        read = [matrix_of(as_frame(source))]
    else:
        array = source if sparse.issparse(source) else unmasked(source)
        if array.ndim not in (2, 3) or not all(array.shape) or array.dtype.kind not in "buif":
            what = "a path, a DataFrame, a matrix of numbers, or an image of rows x columns x bands"
            raise CofactorError(f"expected {what}, got {array.dtype} of shape {array.shape}")
        read = [(array, None, None)]
    parts = [_turned(*one, rows, path) for one, path in zip(read, paths or [""], strict=True)]
    if len(parts) == 1:
        return parts[0]
    if any(one.image or one.X.shape[0] != parts[0].X.shape[0] for one in parts):
        raise CofactorError(
            f"{listing(paths)}: several files must be tables of points with the same bands; pass these files one by one"
        )
    named = [f"{Path(path).stem}:{name}" for path, one in zip(paths, parts, strict=True) for name in one.names]
    stacked = [one.X.toarray() if sparse.issparse(one.X) else one.X for one in parts]
    return Points(np.hstack(stacked), named, parts[0].bands)


def _read(path: str, encoding: str, sep: str | None, skip_bad: bool) -> tuple[Any, Any, Any]:
    known = entries().get(path)
    if known is not None and known.kind == "spectra" and not Path(path).exists():
        path = str(fetch(path)[0])
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # its first column is known
            return read_matrix(path)
    return read_matrix(path, encoding, sep, "keep" if skip_bad else "whole")


def _turned(matrix: Any, bands: Any, names: Any, rows: bool, path: str) -> Points:
    """Return points as columns."""
    if matrix.ndim == 3:
        if rows:
            raise CofactorError(f"{path or 'this array'} is an image, whose pixels are the points: leave out rows")
        height, width, n_bands = matrix.shape
        named = [f"{i},{j}" for i in range(height) for j in range(width)]
        return Points(matrix.reshape(-1, n_bands).T, named, [f"band {m}" for m in range(n_bands)], (height, width))
    if rows:
        matrix, bands, names = matrix.T, names, bands
    M, N = matrix.shape
    bands, names = bands or [f"row {m}" for m in range(M)], names or [str(n) for n in range(N)]
    return Points(matrix, list(map(str, names)), list(map(str, bands)))


def _check_memory(X: Any, n_anchors: int | None, method: str | Finder) -> None:
    """Raise a CofactorError if memory is short, before anything is made dense."""
    M, N = X.shape
    if n_anchors is not None and not 1 <= n_anchors <= N:
        raise CofactorError(f"cannot find n_anchors={n_anchors} among {N} points: choose 1 to {N}")
    K = n_anchors or min(MOST_ANCHORS, M, N)
    known = predicted_bytes(method, M, N, K) if isinstance(method, str) else 0
    needed = known + DOUBLE * N * (COPIES * M + 2 * K)
    require_bytes(needed, f"{method} on {N} points", "use SPA, or fewer points")


def _without_no_data(points: Points, no_data: float | None) -> Indices:
    """Return the points that are data, with a warning that names the others."""
    X = points.X
    bad = ~np.isfinite(X).all(axis=0)
    zero = ~bad & ~X.any(axis=0)
    flat = ~bad & ~zero & (X[:1] == X).all(axis=0) & (len(X) >= FLAT_BANDS)
    rest = X[:, ~(bad | zero | flat)]
    outside = flat & ((X[0] < rest.min()) | (X[0] > rest.max())) if rest.size else np.zeros_like(flat)
    asked = np.zeros_like(flat) if no_data is None else ~bad & ~zero & (no_data == X).all(axis=0)
    for some, why in (
        (bad, "NaN or infinite in some band"),
        (zero, "zero in all bands"),
        (asked, f"{no_data:g} in all bands" if no_data is not None else ""),
        (outside & ~asked, "the same value in all bands, outside the range of other points"),
    ):
        if some.any():
            named = listing(points.names[n] for n in np.flatnonzero(some))
            _warn(
                f"{some.sum():,} of {X.shape[1]:,} points are left out, without weights, as not data ({why}): {named}"
            )
    there = np.flatnonzero(~(bad | zero | asked | outside))
    if not there.size:
        raise CofactorError("no points are left: all are zero, or NaN in some band")
    if there.size > 1 and (X[:, there[:1]] == X[:, there]).all():
        raise CofactorError(f"all {there.size} points are equal, so no anchors can be chosen")
    return there


def _scaled(X: Floats, points: Points, there: Indices) -> Floats:
    """Divide every point by its sum; a few negative entries, as noise leaves in dark bands, do not hinder that."""
    sums = X.sum(axis=0)
    odd = there[sums[there] < POSITIVE * np.abs(X[:, there]).sum(axis=0)]
    if odd.size:
        named = listing(points.names[n] for n in odd)
        raise CofactorError(
            f"cannot scale points whose negative entries outweigh ({named}): subtract an offset, or drop them"
        )
    return X / np.where(sums > 0, sums, 1.0)


def _without_lone(X: Floats, points: Points, there: Indices, asked: int | None) -> Indices:
    """Return the points to choose anchors among, with a warning that names outliers."""
    if asked is not None and asked > there.size:
        raise CofactorError(
            f"cannot find n_anchors={asked} among the {there.size} points that are data: choose 1 to {there.size}"
        )
    lone = there[lone_columns(X[:, there], asked)]
    if lone.size:
        named = listing(points.names[n] for n in lone)
        why = "because each would be an anchor only for itself (outliers, glints)"
        _warn(f"points excluded from the choice of anchors, {why}: {named}")
    return np.setdiff1d(there, lone)


def _number(X: Floats, asked: int | None) -> tuple[int, str, float | None]:
    if asked is not None:
        return asked, "number as requested", None
    K, margin = suggest_n_anchors(X)
    if margin < CLEAR_MARGIN:
        _warn(f"the number of anchors is uncertain (margin {margin:.2f}, clear from {CLEAR_MARGIN}): try other numbers")
    return K, "number chosen by the residual", margin


def _pass_on(checks: Diagnosis, asked: bool) -> None:
    """Raise what failed, warn of what questions the answer."""
    if failed := [f"{one.name}: {one.value}: {one.advice}" for one in checks.checks if one.status == "fail"]:
        raise CofactorError("; ".join(failed))
    for one in checks.checks:
        if one.status == "warn" and one.name in (*CHECKED, *([NUMBER] if asked else [])):
            _warn(f"{one.name}: {one.value}; {CHECKED.get(one.name) or one.advice}")


def _tables(fitted: AnchorMethod, H: Floats, points: Points, used: Indices) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row per anchor, and the spectra."""
    chosen, h = used[fitted.anchors_], H[:, used]
    order = range(1, len(chosen) + 1)
    about = {
        "mean_weight": h.mean(axis=1),
        "leads": np.bincount(h.argmax(axis=0), minlength=len(h)),
        "score": fitted.scores_[fitted.anchors_],
    }
    spectra = pd.DataFrame(fitted.W_, index=points.bands, columns=[f"anchor_{k}" for k in order])
    table = pd.DataFrame({"anchor": order, **points.places(chosen), **about})
    return pd.concat([table, pd.DataFrame(fitted.W_.T, columns=points.bands)], axis=1), spectra


def _judge(table: pd.DataFrame, held_out: HeldOut | None) -> None:
    """Warn of anchors that stand for nothing but themselves, and where k-means does better."""
    alone = table.loc[table["leads"] <= 1, "point"].tolist() if len(table) > 1 else []
    if alone:
        _warn(f"these anchors have the largest weight in no other point, so they may be outliers: {listing(alone)}")
    if held_out and held_out.centres < held_out.mixtures:
        near = (
            f"{held_out.centres:.1f} degrees from the nearest centre, {held_out.mixtures:.1f} from mixtures of anchors"
        )
        _warn(
            f"k-means by angle explains held-out points better ({near}): anchors may not be pure; try scale (--scale)"
        )
    elif held_out and held_out.ratio > FAR:
        far = f"{held_out.ratio:.1f} times as far from the nearest anchor as from the nearest k-means centre"
        _warn(f"held-out points are {far}: anchors may not be pure; try scale (--scale)")
