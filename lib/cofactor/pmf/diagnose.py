"""Checks of a table before a joint PMF is fitted: whether it is sufficient, and which methods can be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_whole, unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Check, Diagnosis, Status
from cofactor.core.lazy import csgraph
from cofactor.core.moments import PairwiseMoments, classes_told_apart, pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.pmf.base import check_table
from cofactor.pmf.cnmf import rank_cap

Names: TypeAlias = NDArray[np.object_]

ENOUGH_IN_COMMON = 20  # rows in common before two columns that always agree count as one and the same
TWINS = "redundant columns"


def diagnose(table: CategoricalTable, *, rank: int | None = None, names: Sequence[object] | None = None) -> Diagnosis:
    """Check a table before a joint PMF is fitted: rows, variables, pairs and triples observed, redundant columns.

    Parameters
    ----------
    table : CategoricalTable
    rank : int, optional
        The planned F. If given, its number of parameters is compared with the number of rows, and the rank with the
        largest one that CNMF-SPA can fit.
    names : sequence, optional
        Names of the variables for the report. Default: their numbers.

    Returns
    -------
    Diagnosis
        The verdict says which methods are ruled out. Empty tables, variables that were never observed, and groups that
        were never observed together fail: every method refuses them.

    Raises a CofactorError if `table` is not a `CategoricalTable`, the rank is below one, or the number of names is
    wrong. Cost: that of the pairwise moments, of `classes_told_apart`, and O(N^2) pairs. Source: cofactor's own.

    >>> report = diagnose(CategoricalTable([[0, 1, -1], [1, -1, 0], [0, 0, -1], [-1, -1, -1]]))
    >>> report["pairs"].value
    '1 of 3 never observed together: (1, 2)'
    """
    check_table(table)
    if rank is not None:
        check_whole(1, rank=rank)
    given: Any = range(table.n_variables) if names is None else names
    called = unmasked(given, dtype=object)
    if called.shape != (table.n_variables,):
        raise CofactorError(
            f"names have shape {called.shape}: pass one name for each of the {table.n_variables} variables"
        )
    called = np.array(list(map(str, called)), dtype=object)
    moments = pairwise_moments(table)
    n_joint = moments.n_joint.toarray()
    checks = [_rows(table), _variables(moments, called), _constants(moments, called), _parameters(table, rank)]
    if table.n_variables > 1:
        checks += [
            _pairs(n_joint, called),
            _groups(moments, called),
            _rows_per_pair(n_joint, moments.sizes),
            _twins(moments, n_joint, called),
            _spa_rank(moments, rank),
            _told_apart(table, rank),
        ]
    if table.n_variables > 2:
        checks.append(_triples(table))
    return Diagnosis(repr(table), tuple(checks), _verdict(checks))


def _verdict(checks: list[Check]) -> str:
    failed = [check.name for check in checks if check.status == "fail"]
    if failed:
        return f"every method refuses this table ({listing(failed)})"
    warned = {check.name for check in checks if check.status == "warn"}
    out = ["CNMF-SPA"] * ("rank of CNMF-SPA" in warned) + ["CTD and MLE-AD-EM"] * ("rows per triple" in warned)
    verdict = "no method is ruled out" if not out else f"avoid {listing(out)}; CNMF-EM can be used"
    return f"{verdict}; read the warnings" if warned else verdict


def _rows(table: CategoricalTable) -> Check:
    empty = int((table.entries_per_row == 0).sum())
    if empty == table.n_rows:
        return Check("rows", "fail", f"{table.n_rows}, all of them empty", "there is nothing to fit")
    if empty:
        return Check("rows", "warn", f"{table.n_rows}, of which {empty} are empty", "empty rows are left out")
    return Check("rows", "pass", f"{table.n_rows}")


def _variables(moments: PairwiseMoments, called: Names) -> Check:
    never = called[_sums(moments.singles, moments.sizes) == 0]
    if never.size:
        return Check("variables", "fail", f"never observed: {listing(never)}", "leave them out with take_variables")
    unused = _sums(moments.singles == 0, moments.sizes)
    value = f"{len(unused)}, all observed"
    advice = ""
    if unused.any():
        value += f", except {unused.sum()} values of variables {listing(called[unused > 0])}"
        advice = "keep pseudo-counts, or the probability of these values is zero"
    return Check("variables", "warn" if unused.any() else "pass", value, advice)


def _constants(moments: PairwiseMoments, called: Names) -> Check:
    found = called[_sums(moments.singles > 0, moments.sizes) == 1]
    if found.size:
        advice = "leave them out: they are harmless but carry no information"
        return Check("constants", "warn", f"variables with only one value: {listing(found)}", advice)
    return Check("constants", "pass", "none")


def _parameters(table: CategoricalTable, rank: int | None) -> Check:
    """F classes have F sum (I_n - 1) free parameters in their conditionals and F - 1 in their prior."""
    each, rows = int((table.sizes - 1).sum()), int((table.entries_per_row > 0).sum())
    if rank is None:
        value = f"{each} per latent class, for {rows} rows"
        if each <= rows:
            return Check("parameters", "pass", value)
        return Check("parameters", "warn", value, "keep pseudo-counts; rank='auto' chooses the rank by hidden cells")
    total = rank * each + rank - 1
    value = f"{total} ({rank} x {each} + {rank - 1}) for {rows} rows"
    if total > rows:
        most = (rows + 1) // (each + 1)
        fewer = f"use rank {most} at most, or " if most else ""
        advice = f"keep pseudo-counts, or the model is overconfident; {fewer}let rank='auto' choose by hidden cells"
        return Check("parameters", "warn", value, advice)
    return Check("parameters", "pass", value)


def _pairs(n_joint: Ints, called: Names) -> Check:
    j, k = np.triu_indices(len(n_joint), 1)
    never = n_joint[j, k] == 0
    if never.any():
        pairs = listing(f"({called[a]}, {called[b]})" for a, b in zip(j[never], k[never], strict=True))
        advice = "pairwise fits mask these pairs; EM and CNMF-OPT link them through other variables"
        return Check("pairs", "warn", f"{never.sum()} of {len(j)} never observed together: {pairs}", advice)
    return Check("pairs", "pass", f"all {len(j)} observed together")


def _groups(moments: PairwiseMoments, called: Names) -> Check:
    n_groups, group = csgraph.connected_components(moments.n_joint, directed=False)
    if n_groups > 1:
        groups = "; ".join(listing(called[group == g]) for g in range(n_groups))
        advice = "fit each group separately, or add rows that link them"
        return Check("groups", "fail", f"{n_groups}, never observed together: {groups}", advice)
    return Check("groups", "pass", "one: every variable is linked to every other")


def _rows_per_pair(n_joint: Ints, sizes: Ints) -> Check:
    """Warn if the median observed pair has fewer rows than cells."""
    j, k = np.triu_indices(len(n_joint), 1)
    seen = n_joint[j, k] > 0
    if not seen.any():
        return Check("rows per pair", "fail", "no pair was ever observed", "add rows with at least two observed values")
    n, cells = n_joint[j, k][seen], (sizes[j] * sizes[k])[seen]
    thin = n < cells
    value = (
        f"median {np.median(n):g} rows for {np.median(cells):g} cells; {thin.mean():.0%} of pairs have fewer rows than "
        "cells"
    )
    status: Status = "warn" if np.median(n / cells) < 1 else "pass"
    return Check("rows per pair", status, value, "use EM with pseudo-counts and a low rank" if status == "warn" else "")


def _twins(moments: PairwiseMoments, n_joint: Ints, called: Names) -> Check:
    """Two columns are redundant if each value of one always occurs with the same value of the other."""
    N, owner = len(moments.sizes), np.repeat(np.arange(len(moments.sizes)), moments.sizes)
    C = moments.counts.tocoo()
    upper = owner[C.row] < owner[C.col]
    a, b = C.row[upper].astype(np.int64), C.col[upper].astype(np.int64)
    pair = owner[a] * N + owner[b]
    cells = np.bincount(pair, minlength=N * N)
    left, right = (np.bincount(np.unique(np.stack([pair, value]), axis=1)[0], minlength=N * N) for value in (a, b))
    same = (cells > 1) & (cells == left) & (cells == right) & (n_joint.ravel() >= ENOUGH_IN_COMMON)
    if same.any():
        pairs = np.argwhere(same.reshape(N, N)).tolist()
        found = listing(f"each value of {called[j]} occurs with one value of {called[k]}" for j, k in pairs)
        advice = "one column determines the other: keep only one of them, or held-out errors are meaningless"
        return Check(TWINS, "warn", found, advice)
    return Check(TWINS, "pass", "none")


def _spa_rank(moments: PairwiseMoments, rank: int | None) -> Check:
    cap = rank_cap(moments)
    if rank is not None and rank > cap:
        advice = "CNMF-SPA refuses this rank; CNMF-OPT and EM accept any rank"
        return Check("rank of CNMF-SPA", "warn", f"at most {cap}, but rank={rank}", advice)
    return Check("rank of CNMF-SPA", "pass", f"at most {cap}")


def _told_apart(table: CategoricalTable, rank: int | None) -> Check:
    found, strength = classes_told_apart(table)
    if not strength.size:
        return Check("latent classes", "pass", "not checked: the alphabets are too large")
    value = f"pairs show {found} above the noise"
    if found == 1:
        return Check("latent classes", "warn", value, "the product of the marginals (Independence) may fit as well")
    advice = f"rank {rank} omits some of them" if rank is not None and rank < found else ""
    return Check("latent classes", "warn" if advice else "pass", value, advice)


def _triples(table: CategoricalTable) -> Check:
    """Compare the rows in which an average triple is observed, S p^3, with the number of its cells."""
    rows = table.n_rows * (table.n_entries / max(table.n_rows * table.n_variables, 1)) ** 3
    cells = float(np.exp(np.log(table.sizes).mean()) ** 3)
    value = f"about {rows:.3g} rows for {cells:.3g} cells"
    if rows < cells:
        advice = "too few rows per triple for CTD and MLE-AD-EM: fit pairs first, then use EM"
        return Check("rows per triple", "warn", value, advice)
    return Check("rows per triple", "pass", value)


def _sums(values: NDArray[np.integer[Any] | np.bool_], sizes: Ints) -> Ints:
    """Add up stacked values variable by variable."""
    return np.asarray(np.add.reduceat(values.astype(np.int64), np.cumsum(sizes) - sizes))
