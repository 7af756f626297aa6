"""CrowdLabels: which worker gave which label to which task, checked once, with the ids.

Tasks are the rows of a `CategoricalTable`, workers (annotators) its variables, labels its codes; all workers
share the K classes.

A worker who is asked m times, such as a language model, has one opinion with a spread: each answer counts 1/m. In the
vote, these are fractions of a vote. In Dawid-Skene and related models they are exponents,

    Pr(answers of w to task i | class c) = prod over answers l of A_w[l, c]^(1/m),

so that five equal answers count as one, and different answers each count as less than one label.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.cells import Spelling, look_alikes
from cofactor.core.checks import check_kind, positions, require_bytes, whole_codes
from cofactor.core.errors import SHOWN, CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

UNKNOWN = -1  # class of a task that is not gold


def shares_of_answers(task: Ints, worker: Ints, label: Ints) -> tuple[tuple[Ints, Ints, Ints], Floats]:
    """Return task, worker and label of each distinct answer, and its share of the worker's answers to the task."""
    different, times = np.unique(np.stack([task, worker, label]), axis=1, return_counts=True)
    _, opinion = np.unique(different[:2], axis=1, return_inverse=True)
    shares = times / np.bincount(opinion.ravel(), times)[opinion.ravel()]
    return (different[0], different[1], different[2]), shares


def most_frequent(table: CategoricalTable) -> CategoricalTable:
    """Return the table with one value per variable and row: the one with the largest share."""
    if not table.shared:
        return table
    order = np.lexsort((-table.indicator.data, table.variables, table.rows))
    rows, variables = table.rows[order], table.variables[order]
    first = np.append(True, (np.diff(rows) != 0) | (np.diff(variables) != 0)) if len(rows) else np.zeros(0, bool)
    return CategoricalTable.of_columns(rows[first], table.indicator.indices[order][first], table.sizes, table.n_rows)


Conflicts = Literal["error", "first", "last", "all"]
COLUMNS = ("task", "worker", "label")


class CrowdLabels:
    """Labels that workers gave to tasks; create it with `from_frame`, `from_file` or `from_arrays`.

    Attributes
    ----------
    table : CategoricalTable
        Rows are tasks, variables are workers; every alphabet is the K classes.
    tasks, workers, classes : lists
        The caller's ids, in the order of the codes.
    gold : dict
        Class by task, if the file itself contains known classes (`from_file`); empty otherwise.
    """

    def __init__(self, table: CategoricalTable, tasks: Sequence[Any], workers: Sequence[Any], classes: Sequence[Any]):
        self.table = table
        self.tasks, self.workers, self.classes = list(tasks), list(workers), list(classes)
        self.gold: dict[Any, Any] = {}

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        task: str = "task",
        worker: str = "worker",
        label: str = "label",
        classes: Sequence[Any] | None = None,
        conflicts: Conflicts = "error",
        ignore: Sequence[Any] = (),
        spelling: Spelling = "classes",
    ) -> CrowdLabels:
        """Read labels from a long table with one row per label.

        Parameters
        ----------
        frame : DataFrame
            One row for every label given.
        task, worker, label : str
            Names of these columns. Ids and labels may be any hashable values.
        classes : sequence, optional
            All classes, in code order. Default: the labels that occur, sorted if possible.
        conflicts : {"error", "first", "last", "all"}
            What to do if one worker gave one task different labels: raise; keep the first or last by the column
            `updated_at`, or else by row order; or count each of m answers as 1/m, since a worker asked five times, such
            as a language model, has one opinion with a spread. The same label given twice counts once, with a
            `DataWarning`.
        ignore : sequence, optional
            Non-answers such as "unsure"; case does not matter. A task without any other answer is left out.
        spelling : {"classes", "keep", "all"}
            Which names are merged, with a `DataWarning`, if they differ only in case, surrounding whitespace or
            invisible characters: those of classes, none, or also those of tasks and workers. Other look-alikes stay
            different and are named.

        Raises
        ------
        CofactorError
            A column is missing, there are no rows, an id or a label is missing, a label is not among `classes`,
            fewer than two classes, or conflicting labels. The first ten offending rows or ids are named.

        Examples
        --------
        >>> frame = pd.DataFrame({"task": ["a", "a", "b"], "worker": [7, 8, 7], "label": ["cat", "dog", "cat"]})
        >>> labels = CrowdLabels.from_frame(frame)
        >>> labels.n_tasks, labels.n_workers, labels.classes
        (2, 2, ['cat', 'dog'])
        """
        from cofactor.reading.labels import of_frame

        how: dict[str, Any] = {"classes": classes, "conflicts": conflicts, "ignore": ignore, "spelling": spelling}
        return of_frame(frame, (task, worker, label), **how)

    @classmethod
    def from_wide(cls, frame: pd.DataFrame, classes: Sequence[Any] | None = None) -> CrowdLabels:
        """Read a wide table: one row per task (its index), one column per worker, missing where there is no label.

        `classes` and errors as in `from_frame`; workers without a label are left out. Cost: O(cells).

        Examples
        --------
        >>> CrowdLabels.from_wide(pd.DataFrame({"ann": ["cat", "dog"], "ben": [None, "cat"]})).to_frame()
           task worker label
        0     0    ann   cat
        1     1    ann   dog
        2     1    ben   cat
        """
        if not isinstance(frame, pd.DataFrame):
            raise CofactorError(f"expected a pandas DataFrame of tasks by workers, got {type(frame).__name__}")
        row, column = np.nonzero(frame.notna().to_numpy())
        tasks, workers = list(frame.index), list(frame)
        ids = [tasks[n] for n in row], [workers[m] for m in column]
        cells = frame.to_numpy(dtype=object)[row, column]
        long = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in zip(COLUMNS, (*ids, cells), strict=True)})
        return cls.from_frame(long, classes=classes)

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str] | Sequence[str | PathLike[str]],
        task: str = "task",
        worker: str = "worker",
        label: str = "label",
        classes: Sequence[Any] | None = None,
        conflicts: Conflicts = "error",
        encoding: str = "utf-8-sig",
        sep: str | None = None,
        ignore: Sequence[Any] = (),
        spelling: Spelling = "classes",
    ) -> CrowdLabels:
        """Read labels from a file: CSV, TSV, Parquet, JSON lines, or the export of a labelling tool.

        Parameters
        ----------
        path : path, several paths, or "-" for standard input
            If there are several, a file without a worker column contains the labels of the worker in its name. The
            format is recognised from the content. Files may be compressed (.gz, .bz2, .xz, .zip), except Parquet.
        task, worker, label : str
            Names of the columns; case and surrounding whitespace do not matter if only one column matches. Exports of
            Label Studio, Prodigy, Argilla, doccano and labelling jobs, results of Mechanical Turk, Figure Eight and
            Toloka, tables with one column per worker, and other usual column names are recognised; a note says which
            column was used for what. See `cofactor.reading.layouts` and `unfold`.
        classes, conflicts, ignore, spelling
            As in `from_frame`. If one worker gave one task several labels, "first" and "last" use the column
            `updated_at` if the file has one, otherwise the order of the file. A note says which, and for how many.
        encoding : str
            Text encoding.
        sep : str, optional
            Column separator of text; default: whichever of comma, tab, semicolon and ``|`` fits the header.

        Returns
        -------
        CrowdLabels
            Ids stay as written ("007" is not 7) except for surrounding whitespace, unless a whole column consists of
            plain whole numbers.

        Raises
        ------
        CofactorError
            As `from_frame`, with rows counted as in a spreadsheet (the first line is row 1; lines or records of JSON
            and Parquet from 1). Also for a file that does not exist, is empty, is not compressed as its name says, is
            not text in `encoding`, or has rows longer than its header; for labels that are not single classes; and for
            unreadable times, if conflicts are resolved by time.

        Warns
        -----
        DataWarning
            Names look alike, such as yes and Yes, 1 and 1.0; a worker uses classes that no other worker uses; a row
            shares no task, worker or class with another.
        """
        from cofactor.reading.labels import read_labels

        how: dict[str, Any] = {"classes": classes, "conflicts": conflicts, "ignore": ignore, "spelling": spelling}
        return read_labels(path, (task, worker, label), encoding, sep, **how)

    from_csv = from_file  # under the name of the usual case

    @classmethod
    def from_arrays(
        cls,
        task: ArrayLike,
        worker: ArrayLike,
        label: ArrayLike,
        n_classes: int | None = None,
        n_tasks: int | None = None,
        n_workers: int | None = None,
        conflicts: Conflicts = "error",
        unlabelled: Literal["error", "keep"] = "error",
    ) -> CrowdLabels:
        """Read labels from integer codes: label[e] in 0..n_classes-1 was given to task[e] by worker[e].

        Parameters
        ----------
        task, worker, label : (E,) integer arrays, codes from 0
        n_classes, n_tasks, n_workers : int, optional
            Default: the largest code plus one.
        conflicts : {"error", "first", "last"}
            As in `from_frame`.
        unlabelled : {"error", "keep"}
            What to do with tasks and workers without labels. Kept ones keep their codes: such a task gets the prior as
            its posterior, such a worker an uninformative confusion matrix.

        Returns
        -------
        CrowdLabels, with the codes as ids

        Raises
        ------
        CofactorError
            Unequal lengths, empty arrays, NaN, codes that are negative, not whole or too large, fewer than two classes,
            conflicting labels, or unlabelled tasks or workers. The first ten are named.

        Examples
        --------
        >>> CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 0, 1]).n_labels
        3
        """
        named = {"task": task, "worker": worker, "label": label}
        codes = [whole_codes(values, name).astype(np.int64) for name, values in named.items()]
        if len({len(code) for code in codes}) > 1:
            raise CofactorError(f"task, worker and label differ in length: {listing(len(code) for code in codes)}")
        if not len(codes[0]):
            raise CofactorError("no labels: task, worker and label are empty")
        if unlabelled not in ("error", "keep"):
            raise CofactorError(f"unlabelled={unlabelled!r}: choose 'error' or 'keep'")
        limits = (n_tasks, n_workers, n_classes)
        sizes = [_size(code, limit, name) for code, limit, name in zip(codes, limits, named, strict=True)]
        if unlabelled == "error":
            _check_no_gaps(codes[0], sizes[0], "task")
            _check_no_gaps(codes[1], sizes[1], "worker")
        require_crowd(*sizes)
        return cls._assemble(codes, [range(size) for size in sizes], conflicts)

    @classmethod
    def _assemble(
        cls,
        codes: Sequence[Ints],
        ids: Sequence[Sequence[Any]],
        conflicts: Conflicts,
        by: str = "the order of the rows",
    ) -> CrowdLabels:
        """Make labels of codes; of conflicting ones the first or the last is kept, in the order that `by` names."""
        (task, worker, label), (tasks, workers, classes) = codes, ids
        if len(classes) < 2:
            raise CofactorError(
                f"only one class ({listing(classes)}), but at least two are needed; if others exist but were never "
                "used, name all classes with classes=[...] (--classes)"
            )
        sizes = np.full(len(workers), len(classes))
        if conflicts == "all":
            entries, shares = shares_of_answers(task, worker, label)
            return cls(CategoricalTable.from_entries(*entries, sizes, len(tasks), shares), tasks, workers, classes)
        if conflicts not in ("error", "first", "last"):
            raise CofactorError(f"conflicts={conflicts!r}: choose 'error', 'first', 'last' or 'all'")
        K = len(classes)
        short = len(workers) * K < np.iinfo(np.int32).max
        column: NDArray[Any] = worker.astype(np.int32 if short else np.int64)
        column *= K
        column += label
        table = CategoricalTable.of_columns(task, column, sizes, len(tasks))
        if _labelled_twice(table, len(task), K):
            task, worker, label = (np.asarray(code, dtype=np.int64) for code in codes)
            kept = _one_label_each(task, worker, label, tasks, workers, conflicts, by)
            table = CategoricalTable.of_columns(task[kept], worker[kept] * K + label[kept], sizes, len(tasks))
        return cls(table, tasks, workers, classes)

    def __repr__(self) -> str:
        return (
            f"CrowdLabels({self.n_labels} labels, {self.n_tasks} tasks, "
            f"{self.n_workers} workers, {self.n_classes} classes)"
        )

    @property
    def n_tasks(self) -> int:
        """N, the number of tasks."""
        return int(self.table.indicator.shape[0])

    @property
    def n_workers(self) -> int:
        """M, the number of workers."""
        return len(self.table.sizes)

    @property
    def n_classes(self) -> int:
        """K, the number of classes."""
        return len(self.classes)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.table.n_entries

    @cached_property
    def votes(self) -> NDArray[Any]:
        """(N, K) number of workers who gave each task each label; several answers of one worker count as fractions."""
        one = np.tile(np.eye(self.n_classes), (self.n_workers, 1))

        def count(part: CategoricalTable) -> NDArray[Any]:
            votes = part.indicator @ one
            return np.asarray(votes.round(9) if part.shared else votes.astype(np.int64))

        return self.table.by_rows(count)

    @cached_property
    def whole(self) -> CrowdLabels:
        """The labels with one answer per worker and task: the most frequent one, or the first class in a tie."""
        if not self.table.shared:
            return self
        return CrowdLabels(most_frequent(self.table), self.tasks, self.workers, self.classes)

    def to_frame(self) -> pd.DataFrame:
        """Return the long table with the caller's ids: one row per label, by task, then worker."""
        codes = (self.table.rows, self.table.variables, self.table.values)
        ids = (self.tasks, self.workers, self.classes)
        return pd.DataFrame(
            {name: [known[c] for c in code] for name, code, known in zip(COLUMNS, codes, ids, strict=True)}
        )

    def take_workers(self, chosen: ArrayLike) -> CrowdLabels:
        """Return the labels of these workers (codes or a mask); all tasks are kept, perhaps some without labels."""
        codes = positions(chosen, self.n_workers, "workers")
        workers = [self.workers[m] for m in codes]
        return CrowdLabels(self.table.take_variables(codes), self.tasks, workers, self.classes)

    def take_tasks(self, chosen: ArrayLike) -> CrowdLabels:
        """Return the labels of these tasks (codes or a mask); all workers are kept, perhaps some without labels."""
        codes = positions(chosen, self.n_tasks, "tasks")
        return CrowdLabels(self.table.take_rows(codes), [self.tasks[n] for n in codes], self.workers, self.classes)

    def busiest_workers(self, n_workers: int) -> CrowdLabels:
        """Return the labels of the `n_workers` most active workers (of ties, the earlier) in their original order."""
        if not isinstance(n_workers, int | np.integer) or not 1 <= n_workers <= self.n_workers:
            raise CofactorError(f"n_workers={n_workers}: must be from 1 to {self.n_workers}, the number of workers")
        by_labels = np.argsort(-self.table.entries_per_variable, kind="stable")
        return self.take_workers(np.sort(by_labels[:n_workers]))


def vote_shares(labels: CrowdLabels) -> NDArray[np.float64]:
    """Return the (N, K) share of each label among a task's votes; uniform for a task without votes (a K-way tie)."""
    check_kind(CrowdLabels, labels=labels)
    totals = labels.votes.sum(axis=1)
    shares = labels.votes / np.maximum(totals, 1)[:, None]
    shares[totals == 0] = 1.0 / labels.n_classes
    return np.asarray(shares)


# ---- classes in a declared order ----


def in_order(labels: CrowdLabels, order: Sequence[Any]) -> CrowdLabels:
    """Return the same labels with the classes in a declared order, so that codes are grades.

    Parameters
    ----------
    labels : CrowdLabels
    order : sequence
        All classes, the lowest first. It may include classes that no worker chose, as grades between or beyond the
        others.

    Raises
    ------
    CofactorError
        `order` is not a sequence, has fewer than two classes, repeats one, or leaves out a class of the labels.

    Cost: O(labels).

    >>> labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 0, 1])
    >>> in_order(labels, [1, 0]).table.codes.tolist()
    [[0, 1], [0, -1]]
    """
    check_kind(CrowdLabels, labels=labels)
    return recoded(labels, checked_order(order, labels.classes))


def recoded(labels: CrowdLabels, classes: list[Any]) -> CrowdLabels:
    """Return the same labels with these classes as codes; they must include all classes of the labels."""
    if labels.classes == classes:
        return labels
    code = {name: k for k, name in enumerate(classes)}
    table, to_code = labels.table, np.array([code[name] for name in labels.classes])
    sizes, values = np.full(labels.n_workers, len(classes)), to_code[table.values]
    shares = table.indicator.data if table.shared else None
    entries = table.rows, table.variables, values
    found = CategoricalTable.from_entries(*entries, sizes, labels.n_tasks, shares)
    return CrowdLabels(found, labels.tasks, labels.workers, classes)


def in_declared_order(
    order: Sequence[Any] | str, labels: CrowdLabels, truth: Ints | None = None
) -> tuple[CrowdLabels, Ints | None]:
    """Return labels and codes of true classes in a declared order (a list or comma-separated text); see `in_order`."""
    if isinstance(order, str):
        order = named_classes(order, labels.classes)
    graded = in_order(labels, order)
    if truth is None:
        return graded, None
    place = np.array([graded.classes.index(name) for name in labels.classes] + [-1])
    return graded, np.where(truth < 0, -1, place[truth])


def named_classes(text: str, classes: Sequence[Any]) -> list[Any]:
    """Return the classes in a comma-separated text, in the form that the labels have."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    known = {str(name): name for name in classes}
    whole = all(isinstance(name, int | np.integer) for name in classes)
    return [known.get(one, int(one) if whole and one.lstrip("-").isdigit() else one) for one in names]


def checked_order(order: Sequence[Any], classes: Sequence[Any]) -> list[Any]:
    """Return a declared order of these classes, perhaps with others, as a list; raise if it is not valid."""
    try:
        plain = order.tolist() if hasattr(order, "tolist") else order  # numbers of NumPy and pandas as Python's
        grades = None if isinstance(order, str) else list(plain)
        twice = grades is None or len(set(grades)) < len(grades)
    except TypeError:
        grades = None
    if grades is None or len(grades) < 2 or twice:
        raise CofactorError(f"order={order!r}: must be a list of all classes, each once, the lowest first")
    named = set(grades)
    left_out = [name for name in classes if name not in named]
    if left_out:
        alike = listing(" and ".join(map(repr, pair)) for pair in look_alikes(map(str, [*grades, *left_out])))
        mend = f"name all classes as the labels do ({alike} look alike)" if alike else "name all classes"
        raise CofactorError(f"the order {listing(map(repr, grades))} leaves out {listing(map(repr, left_out))}: {mend}")
    return grades


# ---- checks ----


def require_crowd(n_tasks: int, n_workers: int, n_classes: int) -> None:
    """Raise a CofactorError for a crowd whose posterior and confusion matrices would not fit into memory."""
    needed = 40.0 * n_classes * (n_tasks + n_workers * n_classes)
    what = f"votes and confusion matrices of {n_tasks} tasks, {n_workers} workers, {n_classes} classes"
    require_bytes(needed, what, "check that the label column contains classes, or use fewer tasks, workers or classes")


def _size(code: Ints, limit: int | None, name: str) -> int:
    if limit is None:
        return int(code.max()) + 1
    if not isinstance(limit, (int, np.integer)):
        raise CofactorError(f"the number of {name} codes must be a whole number, got {limit!r}")
    bad = np.flatnonzero(code >= limit)
    if bad.size:
        found = (f"row {e}: {code[e]}" for e in bad)
        raise CofactorError(f"{name} codes must be below {limit}; see {listing(found)} (counting from 0)")
    return int(limit)


def _labelled_twice(table: CategoricalTable, n_labels: int, n_classes: int) -> bool:
    """Whether a worker gave a task more than one label, of `n_labels` from which the table was made."""

    def twice(tasks: CategoricalTable) -> bool:
        F = tasks.indicator
        same = np.append(np.diff(F.indices // n_classes) == 0, False)
        same[F.indptr[1:-1] - 1] = False  # the last label of a task, and the first of the next
        return bool(same.any())

    return table.n_entries < n_labels or table.shared or any(twice(tasks) for _, tasks in table.parts())


def _one_label_each(
    task: Ints, worker: Ints, label: Ints, tasks: Sequence[Any], workers: Sequence[Any], conflicts: Conflicts, by: str
) -> NDArray[np.intp]:
    """Rows to keep so that each worker labels each task at most once."""
    pair = task * len(workers) + worker
    if (np.diff(np.sort(pair)) != 0).all():
        return np.arange(len(pair))
    order = np.argsort(pair, kind="stable")
    new = np.append(True, np.diff(pair[order]) != 0)
    repeats = np.flatnonzero(~new)
    clash = repeats[label[order[repeats]] != label[order[repeats - 1]]]
    if conflicts == "error" and clash.size:
        pairs = dict.fromkeys((tasks[task[e]], workers[worker[e]]) for e in order[clash])
        found = (f"task {t!r} by worker {w!r}" for t, w in pairs)
        raise CofactorError(
            f"conflicting labels: {listing(found)}; correct the data, keep one with conflicts='first' or 'last', or "
            "count each of a worker's m answers as 1/m with 'all'"
        )
    again = f"{amount(len(repeats), 'label')} {'was' if len(repeats) == 1 else 'were'} given again"
    message = f"{again} by the same worker on the same task: one of each was kept"
    message += f"; where they differ ({clash.size}), the {conflicts} one by {by} counts" if clash.size else ""
    warnings.warn(message, DataWarning, stacklevel=4)
    last = np.append(new[1:], True)
    return np.sort(order[last if conflicts == "last" else new])


def _check_no_gaps(code: Ints, size: int, name: str) -> None:
    present = np.unique(code)
    if len(present) < size:
        first = np.setdiff1d(np.arange(min(size, len(present) + SHOWN)), present)[:SHOWN]
        rest = f", ... ({size - len(present)} in all)" if size - len(present) > SHOWN else ""
        raise CofactorError(
            f"{name}s without labels: {listing(first)}{rest}; "
            f"number {name}s without gaps, or keep them with unlabelled='keep'"
        )
