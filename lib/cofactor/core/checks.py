"""Checks of the arguments of public functions and of the memory they need; each raises one CofactorError."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Seed

REAL = (bool, int, float, np.bool_, np.integer, np.floating)
LARGEST_SETTING = 2**31 - 1  # whole number as a setting: no array or loop is longer
MEMINFO = Path("/proc/meminfo")
PROCESS = Path("/proc/self/statm")  # its first number: pages of address space
GROUPS = (  # of a container: its limit, and what is in use by the word that begins the line
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.stat"), "anon"),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.stat"), "total_rss"),
)

Sparse = TypeVar("Sparse", sparse.csr_array, sparse.csc_array)


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether a setting is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a setting is a real number; True, False and whole numbers beyond 64 bits are not."""
    return (is_whole(value) and abs(value) < 2**63) or isinstance(value, float | np.floating)


def check_whole(least: int, **settings: Any) -> None:
    """Raise a CofactorError for settings that are not whole numbers from `least` to `LARGEST_SETTING`.

    >>> check_whole(1, rank=3)
    """
    for name, value in settings.items():
        if not is_whole(value) or value < least:
            raise CofactorError(f"{name}={value!r}: give a whole number of at least {least}")
        if value > LARGEST_SETTING:
            raise CofactorError(f"{name}={value!r}: give a whole number of at most {LARGEST_SETTING}")


def check_between(least: float, most: float, **settings: Any) -> None:
    """Raise a CofactorError for settings that are not numbers from `least` to `most`."""
    for name, value in settings.items():
        if not is_number(value) or not least <= value <= most:
            raise CofactorError(f"{name}={value!r}: give a number from {least:g} to {most:g}")


def check_positive(zero: bool = False, **settings: Any) -> None:
    """Raise a CofactorError for settings that are not positive finite numbers (or zero, if allowed)."""
    for name, value in settings.items():
        if not is_number(value) or not 0 <= value < np.inf or (value == 0 and not zero):
            raise CofactorError(f"{name}={value!r}: give a {'number of at least 0' if zero else 'positive number'}")


def check_kind(kind: type | tuple[type, ...], **values: Any) -> None:
    """Raise a CofactorError for arguments, passed by name, that are not instances of this class."""
    for name, value in values.items():
        if not isinstance(value, kind):
            names = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
            raise CofactorError(f"{name}: expected {names}, got {type(value).__name__}")


def rng_of(random_state: Seed) -> np.random.Generator:
    """Return the random generator of a seed (a new one each time for None); raise for an invalid seed."""
    seed = is_whole(random_state) and random_state >= 0
    if not (seed or random_state is None or isinstance(random_state, np.random.Generator)):
        raise CofactorError(f"random_state={random_state!r}: give a whole number of at least 0, a Generator, or None")
    return np.random.default_rng(random_state)


def unmasked(values: ArrayLike, missing: float | np.int64 = np.nan, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return values as a plain array in which masked values, and those missing in pandas, become `missing`.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    >>> unmasked([1, pd.NA], np.int64(-1))
    array([ 1, -1])
    """
    if not np.ma.is_masked(values):
        try:
            array = np.asarray(values, dtype)
        except (ValueError, TypeError) as error:
            why = "its rows differ in length" if "inhomogeneous" in str(error) else error
            raise CofactorError(f"cannot convert {type(values).__name__} to an array: {why}") from None
        return _numbers_of_objects(array, missing) if dtype is None and array.dtype == object else array
    masked: np.ma.MaskedArray[Any, Any] = np.ma.asarray(values)
    plain = masked.data if masked.dtype.kind in "biuf" else masked.data.astype(object)
    return np.asarray(np.where(masked.mask, missing, plain), dtype)


def _numbers_of_objects(array: NDArray[Any], missing: float | np.int64) -> NDArray[Any]:
    """Return numbers that are kept as objects, as pandas gives tables with a missing value; others as they are."""
    hidden = np.asarray(pd.isna(array))
    shown = array[~hidden]
    if not array.ndim or not shown.size or not all(isinstance(one, REAL) for one in shown):
        return array
    plain = np.array(shown.tolist())
    if plain.dtype == object:  # whole numbers beyond 64 bits
        return array
    found = np.empty(array.shape, dtype=np.result_type(plain, missing) if hidden.any() else plain.dtype)
    found[~hidden] = plain
    found[hidden] = missing if hidden.any() else 0
    return found


def numbers(values: ArrayLike, name: str, ndim: int | None = None) -> Floats:
    """Return an array of floats with `ndim` dimensions, perhaps with infinity and NaN (also for masked values)."""
    try:
        array = unmasked(values)
        if array.dtype.kind in "cmM":
            raise TypeError(f"they are {array.dtype}")
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise CofactorError(f"{name} must contain numbers: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise CofactorError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    return array


def whole_codes(values: ArrayLike, name: str, most: int = np.iinfo(np.int64).max) -> NDArray[Any]:
    """Return a one-dimensional array of whole numbers from 0 to `most`; raise an error that names other rows."""
    try:
        array = unmasked(values)
    except ValueError as error:
        raise CofactorError(f"{name} must be one list of codes: {error}") from None
    if array.ndim != 1:
        raise CofactorError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind not in "iufb" and array.size:
        raise CofactorError(f"{name} must contain integer codes, got {array.dtype}: use from_frame for other ids")
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((array >= 0) & (array <= most) & (np.floor(array) == array)))
    if bad.size:
        found = listing(f"row {e}: {array[e]}" for e in bad)
        raise CofactorError(f"{name} must be whole numbers from 0, without NaN; see {found} (counting from 0)")
    return array


def finite_numbers(values: ArrayLike, name: str) -> Floats:
    """Return a one-dimensional array of finite numbers; raise an error that names other rows."""
    array = numbers(values, name, 1)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise CofactorError(f"{name} contains NaN or infinity in rows {listing(bad.tolist())}: drop these rows")
    return array


def _filled_matrix(values: ArrayLike, name: str) -> Floats:
    matrix = numbers(values, name, 2)
    if not matrix.size:
        raise CofactorError(f"{name} is empty: its shape is {matrix.shape}")
    return matrix


def finite_matrix(values: ArrayLike, name: str) -> Floats:
    """Return a non-empty matrix of finite numbers; raise an error that names columns with others."""
    matrix = _filled_matrix(values, name)
    refuse_columns(np.flatnonzero(~np.isfinite(matrix).all(axis=0)), name)
    return matrix


def added_up(matrix: Sparse) -> Sparse:
    """Return a sparse matrix with sorted indices, no duplicate entries and no stored zeros.

    Changes are made on a copy, since even a converted matrix may share its index arrays with the caller's.
    """
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    copied = matrix.copy()
    copied.sum_duplicates()
    copied.eliminate_zeros()
    return copied


def sound_places(matrix: Any, name: str) -> Any:
    """Return a sparse matrix after checking its indices, since neither SciPy nor compiled code checks them.

    Raises a CofactorError if entries are outside the matrix. Other arguments are returned unchanged.
    """
    if sparse.issparse(matrix) and matrix.format in ("csr", "csc", "bsr"):
        try:
            parts = matrix.data, matrix.indices, matrix.indptr  # a view: the caller's matrix stays as it is
            type(matrix)(parts, shape=matrix.shape).check_format(full_check=True)
        except ValueError as error:
            raise CofactorError(f"{name} has entries outside the matrix ({error}): create it again") from None
    return matrix


def refuse_columns(bad: NDArray[np.intp], name: str) -> None:
    """Raise a CofactorError that names the columns with NaN or infinity, if there are any."""
    if bad.size:
        named = f"{bad.size} columns ({listing(bad.tolist())})"
        raise CofactorError(f"{name} contains NaN or infinity in {named}: drop or fill them first")


def whole_matrix(values: ArrayLike, name: str, below: int | None = None) -> NDArray[np.int64]:
    """Return a non-empty matrix of whole numbers from 0 to below a limit; raise an error that names others."""
    matrix = _filled_matrix(values, name)
    limit = 2**31 if below is None else below
    bad = matrix[~((matrix >= 0) & (matrix < limit) & (np.floor(matrix) == matrix))]
    if bad.size:
        raise CofactorError(f"{name} must contain whole numbers from 0 to below {limit}; found {listing(bad.tolist())}")
    return matrix.astype(np.int64)


def positions(chosen: ArrayLike, n: int, what: str) -> NDArray[np.intp]:
    """Return the chosen positions among n, given as indices or as a mask of length n.

    >>> positions([True, False, True], 3, "rows").tolist(), positions([], 3, "rows").tolist()
    ([0, 2], [])
    """
    try:
        array = unmasked(chosen)
        found = np.arange(n)[array if array.size else array.astype(np.intp)]
    except (IndexError, ValueError, TypeError) as error:
        raise CofactorError(f"{what}: give indices from 0 to {n - 1}, or a mask of length {n}: {error}") from None
    if found.ndim != 1:
        raise CofactorError(f"{what}: give one list of indices or a mask, got shape {array.shape}")
    return found


# ---- free memory ----


def available_bytes() -> float:
    """Return the memory in bytes that is still available to this process; infinity if the system does not report it.

    This is the minimum of the free (or reclaimable) memory, what the limit of a container leaves, and what the limit of
    the process (`ulimit -v`) leaves.
    """
    return max(0.0, min(_free(), *_left_in_groups(), _left_to_process()))


def _free() -> float:
    if MEMINFO.exists():
        line = next(line for line in MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
        return 1024.0 * int(line.split()[1])
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return float("inf")


def _left_in_groups() -> list[float]:
    left = []
    for limit, stat, word in GROUPS:
        with suppress(OSError, ValueError):  # no such group, or one without a limit ("max")
            used = dict(line.split() for line in stat.read_text().splitlines())[word]
            left.append(float(int(limit.read_text()) - int(used)))
    return left


def _left_to_process() -> float:
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return float("inf")
        return float(limit - int(PROCESS.read_text().split()[0]) * resource.getpagesize())
    except (ImportError, OSError):
        return float("inf")


def require_bytes(needed: float, what: str, advice: str = "reduce the size") -> None:
    """Raise a CofactorError, with both sizes and a remedy, if `needed` bytes exceed the available memory."""
    free = available_bytes()
    if needed > free:
        told = f"{needed / 1e9:.1f} GB ({needed:.0f} bytes)"
        raise CofactorError(f"{what} would take {told}, but only {free / 1e9:.1f} GB are free: {advice}")
