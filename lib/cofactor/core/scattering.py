"""Uniqueness of nonnegative factors: the sufficiently scattered condition, decided exactly for few columns.

With C = {x : 1'x >= sqrt(K-1) ||x||}, a nonnegative H of rank K is sufficiently scattered if

    (1)  C lies in cone(H'), the conic hull of the rows, and
    (2)  cone(H') lies in cone(Q) for no orthonormal Q other than a permutation.

Then H is the only nonnegative factor of H H' with K columns, up to their order. Dual cones turn (1) around:
P = {x : H x >= 0} must be contained in C* = {x : 1'x >= ||x||}. The slice of P at 1'x = 1 is T, and (1) holds if and
only if T is bounded and max ||x|| over T is one, which depends on its vertices. A Q as in (2) consists of orthogonal
vertices of T with norm one.

    symbol   meaning                                                        shape
    H        nonnegative factor, rows h_i                                   (I, K)
    g_i      h_i / 1'h_i in coordinates of the plane 1'x = 1                (K-1,)
    B        orthonormal basis of that plane's directions                   (K, K-1)
    T        {x : H x >= 0, 1'x = 1}, x = 1/K + B y
    r        max ||x|| over T; 1 or more, since T holds the unit vectors

The centre of the plane (y = 0) is strictly inside every constraint g_i'y >= -1/K, so T is the polar of the hull of the
g_i: the facet a'g <= b of the hull is the vertex y = -a / (K b) of T.

Source: Ibrahim and Fu, ICML 2021, Definition 1; Huang, Sidiropoulos and Swami, IEEE TSP 2014. The certificate is
cofactor's own: the papers state the condition but not how to check it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import numbers, rng_of
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Check, Diagnosis, Status
from cofactor.core.lazy import linalg, optimize, spatial
from cofactor.core.types import Floats

Verdict = Literal["holds", "fails", "cannot tell"]

STATUS_OF_VERDICT: dict[Verdict, Status] = {"holds": "pass", "fails": "fail", "cannot tell": "warn"}
MOST_LISTED_CLASSES = 8  # with more columns a polytope can have too many vertices to list
TOLERANCE = 1e-6  # a norm this close to one is one
SAME_ROW = 1e-10  # rows closer than this are one row; a facet this close to the middle makes T unbounded
BOX = 1e3  # where the search stops on an unbounded T: any norm above one refutes
ASCENT = 50  # linear programs of one climb; each strictly raises the norm, and a handful suffice
SEARCH_STEPS = 100_000  # of the search for right angles, before it gives up


@dataclass(frozen=True)
class Certificate:
    """Verdicts on both conditions, with the evidence. Printed as text; shown as a table in a notebook.

    Attributes
    ----------
    condition1, condition2 : "holds", "fails" or "cannot tell"
        The second is only decided where the first holds.
    radius : float
        r, the largest norm in T; infinite if T is unbounded, and a lower bound if `exact` is false.
    margin : float
        One minus the largest norm of the vertices of T other than unit vectors: how far (1) is from failing (if
        negative, it fails). At most 1 - 1/sqrt(K-1), as for a separable H; zero if a vertex has norm one, which may
        violate (2). If `exact` is false, an upper bound, or NaN if the search found nothing.
    worst : (K,) array
        A longest such vertex; if T is unbounded, a direction x of norm one with H x >= 0 and 1'x <= 0.
    distances : (K,) array
        For each class, min_i ||h_i / 1'h_i - e_k||: all zero means separable, a special case of sufficiently scattered.
    n_rows, n_given : int
        Numbers of distinct nonzero rows used, and of rows given.
    threshold : float
        Entries below this share of their row's sum were set to zero.
    exact : bool
        Whether all vertices were examined.
    """

    condition1: Verdict
    condition2: Verdict
    radius: float
    margin: float
    worst: Floats
    distances: Floats
    n_rows: int
    n_given: int
    threshold: float
    exact: bool

    @property
    def holds(self) -> bool:
        """Whether both conditions are proven."""
        return self.condition1 == self.condition2 == "holds"

    @property
    def diagnosis(self) -> Diagnosis:
        """The certificate as a `Diagnosis`, with text, HTML and dictionary output."""
        title = f"sufficiently scattered? {len(self.distances)} columns, {self.n_rows} distinct rows of {self.n_given}"
        if self.threshold:
            title += f"; entries below {self.threshold:g} of their row's sum set to zero for this verdict"
        size = "unbounded" if np.isinf(self.radius) else f"r = {self.radius:.6g}, margin {self.margin:.3g}"
        size = size if self.exact else f"r is at least {self.radius:.6g} (from a search)"
        farthest, largest = int(np.argmax(self.distances)), float(self.distances.max())
        failed = [one == "fails" for one in (self.condition1, self.condition2)]
        first, second = (STATUS_OF_VERDICT[one] for one in (self.condition1, self.condition2))
        away = f"no row is close to unit vector {farthest} (distance {largest:.3g})"
        asked = " (decided only if the first holds)" if self.condition1 != "holds" else ""
        turned = "another rotation keeps all rows nonnegative"
        apart = "separable" if largest <= TOLERANCE else f"nearest rows at most {largest:.3g} from the unit vectors"
        checks = (
            Check("1: hull of rows covers C", first, f"{self.condition1}: {size}", away * failed[0]),
            Check("2: no other rotation", second, self.condition2 + asked, turned * failed[1]),
            Check("separability", "pass", apart),
        )
        verdict = "cannot tell"
        if self.holds:
            verdict = "the factor is unique up to the order of its columns"
        elif any(failed):
            verdict = "not sufficiently scattered: other nonnegative factors may fit equally well"
        return Diagnosis(title, checks, verdict)

    def __str__(self) -> str:
        return str(self.diagnosis)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.diagnosis._repr_html_()


def scattering_certificate(
    H: ArrayLike,
    threshold: float = 0.0,
    tol: float = TOLERANCE,
    max_classes: int = MOST_LISTED_CLASSES,
    n_searches: int = 100,
    random_state: int = 0,
) -> Certificate:
    """Decide whether a nonnegative factor is sufficiently scattered.

    r = max {||x|| : H x >= 0, 1'x = 1} <= 1, over all vertices; then no second orthonormal set among the vertices of
    norm one.

    Parameters
    ----------
    H : (I, K) array, nonnegative, K >= 2
        Rows may have any scale; zero and repeated rows are left out.
    threshold : float in [0, 1)
        Entries below this share of their row's sum are first set to zero. An estimate has no exact zeros, so without a
        threshold its verdict is nearly always "fails"; with one, the verdict is on the changed matrix.
    tol : float
        Norms within this distance of one count as one.
    max_classes : int
        Up to this K, all vertices are listed. Above, `n_searches` climbs (linear programs from random directions) look
        for a vertex longer than one. They can only disprove, so the answer is "fails" or "cannot tell" (but a separable
        H is recognised at any K).
    n_searches, random_state : int
        Number of climbs, and their seed.

    Raises a CofactorError if H is not a nonnegative finite matrix with two or more columns, has no nonzero row, or if
    `threshold` is out of range. Cost: one convex hull of I points in K-1 dimensions: milliseconds for K <= 5; seconds
    for a few hundred rows at K = 8, where a hull can have O(I^((K-1)/2)) facets.

    Source: Ibrahim and Fu, ICML 2021, Definition 1. Deviation: none in the condition; how to check it is cofactor's.

    >>> certificate = scattering_certificate([[1, 0, 0], [0, 1, 0], [0, 0, 2], [1, 1, 1]])
    >>> certificate.condition1, certificate.condition2
    ('holds', 'holds')
    >>> scattering_certificate([[4, 1, 1], [1, 4, 1], [1, 1, 4]]).condition1
    'fails'
    """
    given = _nonnegative(H, threshold)
    rows = _different_rows(given, threshold)
    distances = np.min(np.linalg.norm(rows[:, None] - np.eye(rows.shape[1]), axis=2), axis=0)
    found = _examine(rows, distances, tol, max_classes, n_searches, random_state)
    return Certificate(*found[:5], distances, len(rows), len(given), threshold, found[5])


def slice_vertices(H: ArrayLike, threshold: float = 0.0) -> Floats:
    """Return the (V, K) vertices of T = {x : H x >= 0, 1'x = 1}; H and `threshold` as in `scattering_certificate`.

    Raises a CofactorError if T is unbounded, or if H is too close to lower rank to distinguish its vertices.
    """
    rows = _different_rows(_nonnegative(H, threshold), threshold)
    full = np.linalg.matrix_rank(rows) == rows.shape[1]
    vertices = _vertices(rows) if full else None
    if vertices is None or abs(vertices[0].sum()) < 0.5:
        raise CofactorError("the slice {x : H x >= 0, 1'x = 1} is unbounded: the rows do not surround the centre")
    return vertices


def _nonnegative(H: ArrayLike, threshold: float) -> Floats:
    given = numbers(H, "H")
    if given.ndim != 2 or given.shape[1] < 2:
        raise CofactorError(f"H must be a matrix with one column per class, at least two; got shape {given.shape}")
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1) | (given < 0).any(axis=1))
    if bad.size:
        raise CofactorError(
            f"H must be finite and nonnegative; rows {listing(bad)} are not: clip it, or use the H of symnmf"
        )
    if not given.any():
        raise CofactorError("H has no nonzero row")
    if not 0 <= threshold < 1:
        raise CofactorError(f"threshold={threshold}: must be at least 0 and below 1, as a share of the row's sum")
    return given


def _different_rows(H: Floats, threshold: float) -> Floats:
    """Rows scaled to sum to one, small entries set to zero, repeated ones once."""
    rows = H[H.any(axis=1)]
    rows = rows / rows.max(axis=1, keepdims=True)  # first, so that tiny rows do not underflow
    rows = rows / rows.sum(axis=1, keepdims=True)
    rows = np.where(rows < threshold, 0.0, rows)
    rows = rows[rows.any(axis=1)]
    if not len(rows):
        raise CofactorError(f"threshold={threshold} sets all entries of H to zero: lower it")
    rows = rows / rows.sum(axis=1, keepdims=True)
    _, first = np.unique(np.round(rows / SAME_ROW), axis=0, return_index=True)
    return np.asarray(rows[np.sort(first)])


Findings = tuple[Verdict, Verdict, float, float, Floats, bool]


def _examine(
    rows: Floats, distances: Floats, tol: float, max_classes: int, n_searches: int, random_state: int
) -> Findings:
    K = rows.shape[1]
    roomy = 1 - 1 / np.sqrt(K - 1)
    if distances.max() <= SAME_ROW:
        return "holds", "holds", 1.0, roomy, np.eye(K)[0], True
    if np.linalg.matrix_rank(rows) < K:
        x = linalg.null_space(rows)[:, 0]
        return "fails", "cannot tell", np.inf, -np.inf, -x if x.sum() > 0 else x, True
    vertices = _vertices(rows) if max_classes >= K else None
    if vertices is None:
        x = _longest_found(rows, n_searches, random_state)
        norm = float(np.linalg.norm(x))
        if norm > 1 + tol:
            return "fails", "cannot tell", norm, 1 - norm, x, False
        return "cannot tell", "cannot tell", 1.0, np.nan, x, False
    return _judge(vertices, tol)


def _judge(vertices: Floats, tol: float) -> Findings:
    """Read both verdicts off the vertices of T (or off one direction in which T is unbounded)."""
    K = vertices.shape[1]
    if abs(vertices[0].sum()) < 0.5:
        return "fails", "cannot tell", np.inf, -np.inf, vertices[0], True
    norms = np.linalg.norm(vertices, axis=1)
    other = np.min(np.linalg.norm(vertices[:, None] - np.eye(K), axis=2), axis=1) > tol
    if not other.any():
        return "holds", "holds", 1.0, 1 - 1 / np.sqrt(K - 1), np.eye(K)[0], True
    worst = int(np.argmax(np.where(other, norms, 0.0)))
    radius, margin = max(1.0, float(norms.max())), float(1 - norms[worst])
    if radius > 1 + tol:
        return "fails", "cannot tell", radius, margin, vertices[worst], True
    touching = vertices[other & (norms >= 1 - tol)]  # among these, K at right angles, not all of them unit vectors?
    candidates = np.vstack([touching, np.eye(K)])
    cosines = np.abs(candidates @ candidates.T)
    found = _has_clique(cosines <= np.sqrt(tol), K, len(touching))  # what is not even nearly there is not there
    if found:
        found = _has_clique(cosines <= 10 * tol, K, len(touching)) or None
    second: Verdict = "holds" if found is False else "fails" if found else "cannot tell"
    return "holds", second, radius, margin, vertices[worst], True


def _plane(K: int) -> Floats:
    """(K, K-1) orthonormal basis of the vectors that sum to zero."""
    return np.asarray(linalg.null_space(np.ones((1, K))))


def _vertices(rows: Floats) -> Floats | None:
    """List the vertices of T; one unbounded direction if there is one; None where no hull can be had.

    A facet of the hull that does not have the middle strictly inside is such a direction.
    """
    K = rows.shape[1]
    B = _plane(K)
    if K == 2:  # a hull on a line is its two ends
        ends = (rows @ B)[:, 0]
        normals, offsets = np.array([[1.0], [-1.0]]), np.array([ends.max(), -ends.min()])
    else:
        try:
            equations = spatial.ConvexHull(rows @ B).equations
        except spatial.QhullError:  # nearly flat: the search decides
            return None
        normals, offsets = equations[:, :-1], -equations[:, -1]
    nearest = int(np.argmin(offsets))
    if offsets[nearest] <= SAME_ROW:
        return np.asarray(-(B @ normals[nearest])[None])
    x = 1 / K - (normals / (K * offsets[:, None])) @ B.T
    _, first = np.unique(np.round(x / SAME_ROW), axis=0, return_index=True)  # a facet may come in several pieces
    return np.asarray(x[first])


def _longest_found(rows: Floats, n_searches: int, random_state: int) -> Floats:
    """Climb in ||x|| over T from random directions; return the longest point met, an end of each climb.

    A convex function grows towards the maximiser of its linearisation, so each linear program raises the norm.
    """
    K = rows.shape[1]
    B = _plane(K)
    best = np.eye(K)[0]
    for direction in rng_of(random_state).standard_normal((n_searches, K - 1)):
        y = direction * 0
        for _ in range(ASCENT):
            found = optimize.linprog(-direction, A_ub=-rows @ B, b_ub=np.full(len(rows), 1 / K), bounds=(-BOX, BOX))
            if not found.success or np.linalg.norm(found.x) <= np.linalg.norm(y) + SAME_ROW:
                break
            y = direction = found.x
        x = 1 / K + B @ y
        best = max(best, x, key=np.linalg.norm)
    return best


def _has_clique(neighbours: NDArray[np.bool_], size: int, n_starts: int) -> bool | None:
    """Return whether some `size` nodes are all neighbours, one of them among the first `n_starts`; None: gave up."""
    steps = 0
    pending = [(1, neighbours[i] & (np.arange(len(neighbours)) > i)) for i in range(n_starts)]
    while pending:
        steps += 1
        if steps > SEARCH_STEPS:
            warnings.warn("too many vertices of norm one to search all for orthogonal sets", DataWarning, stacklevel=2)
            return None
        depth, rest = pending.pop()
        if depth == size:
            return True
        if depth + rest.sum() < size:
            continue
        pending += [(depth + 1, rest & neighbours[i] & (np.arange(len(rest)) > i)) for i in np.flatnonzero(rest)]
    return False
