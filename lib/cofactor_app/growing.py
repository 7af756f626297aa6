"""Labels that keep coming: a fit of WorkerTypes, kept with its labels, goes on from there when new ones are in.

The sums over tasks that a round needs are those of the old labels and of the new ones. So the rounds go on from the
kept belief, over all labels, and end where a fit of all labels with the same types and copies ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.cells import located, look_alikes, shown, skeleton
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import from_json, load_arrays, save_arrays
from cofactor.core.lazy import pd
from cofactor.core.result import Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.base import Labels, as_labels
from cofactor.crowd.evidence import UNKNOWN
from cofactor.crowd.fit import ALL_TYPES
from cofactor.crowd.labels import COLUMNS, Conflicts, CrowdLabels
from cofactor.crowd.worker_types import WorkerTypes
from cofactor.reading.labels import read_labels

CODES = ("tasks", "workers", "labels", "gold")
BELIEF = ("prior", "states", "q", "rho", "owner")
PART_ROUNDS = 20  # most rounds of the changed tasks in a round of all; together they cost no more than it
SETTINGS = ("merge_copies", "diagonal", "off", "design_effect", "max_iter", "tol")


@dataclass(frozen=True)
class CrowdFit:
    """A fitted WorkerTypes with its labels, to be updated with new ones, and kept in a file.

    Attributes
    ----------
    method : WorkerTypes
        Fitted on `labels`.
    labels : CrowdLabels
        All so far; new tasks and workers come after the old ones.
    n_chosen : int
        Labels from which types, copies and design effect were chosen.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> fit = CrowdFit.start(labels)
    >>> fit = fit.updated(pd.DataFrame({"task": [0, 7, 7], "worker": [3, 0, 3], "label": [0, 1, 1]}))
    >>> fit.labels.tasks, fit.method.predict(fit.labels).tolist()
    ([0, 1, 7], [0, 1, 1])
    """

    method: WorkerTypes
    labels: CrowdLabels
    n_chosen: int

    @classmethod
    def start(cls, labels: Labels, method: WorkerTypes | None = None) -> CrowdFit:
        """Fit all labels, by the default or WorkerTypes of other settings. Errors and cost are those of `fit`."""
        known, fitted = as_labels(labels), WorkerTypes() if method is None else method
        check_kind(WorkerTypes, method=fitted)
        return cls.of(fitted.fit(known), known)

    @classmethod
    def of(cls, method: WorkerTypes, labels: CrowdLabels) -> CrowdFit:
        """Keep a method that was fitted on these labels; a CofactorError for another method or other labels."""
        check_kind(WorkerTypes, method=method)
        method._check_same_crowd(labels)
        if method.order is not None or method.one_voice:
            raise CofactorError(
                "a fit with an order, or with workers who are one voice, cannot be kept: fit all labels anew"
            )
        return cls(method, labels, labels.n_labels)

    def updated(self, new: Labels, conflicts: Conflicts = "error") -> CrowdFit:
        """Add labels, and go on from where the fit was; this object stays as it is.

        Parameters
        ----------
        new : CrowdLabels, DataFrame with columns task, worker, label, or path of a file with these
            Of old tasks or new ones, by old workers or new ones. Ids are matched; those of a file also where one file
            has whole numbers only and the other text.
        conflicts : {"error", "first", "last"}
            Where a worker labelled a task before, with another class: refuse, or keep the old label or the new one.
            The same label again counts once, with a `DataWarning`.

        Returns
        -------
        CrowdFit, this one where all labels were there already
            Within the tolerance of the rounds, that of `WorkerTypes` on all labels with the `types_`, `copies_` and
            `design_effect_` of this fit, which are not chosen anew. Gold tasks stay gold. Where nothing was fitted
            before, since no task had two labels, all is fitted now.

        Raises a CofactorError for classes that the fit does not know (their rows are named), conflicting labels, new
        workers and tasks that are called as old tasks and workers, or labels that cannot be read.
        Cost: O(all labels) time to join them, and a round of the fit, O(all labels K), a few times.
        """
        if isinstance(new, pd.DataFrame):
            new = labels_of_classes(new, COLUMNS, self.labels.classes, conflicts)
        elif isinstance(new, str | PathLike):
            new = self.read(new, COLUMNS, conflicts)
        more = self.method._recoded(as_labels(new))
        known = set(map(str, self.labels.tasks))
        refuse_swapped(more, self.labels.workers, known.intersection)
        note_alike(more, self.labels.workers, lambda _: known)
        labels, tasks = joined(self.labels, more, conflicts)
        before, now = self.labels.table.indicator, labels.table.indicator
        if before.shape == now.shape and not (before != now).nnz:
            return self
        gold, method = self._gold(labels), copy(self.method)
        if not method.types_:
            return CrowdFit.of(method.fit(labels, gold), labels)
        n_changed = int(labels.table.entries_per_row[tasks].sum())
        method.go_on(labels, gold, tasks, min(PART_ROUNDS, labels.n_labels // max(n_changed, 1)))
        method.labels_given_ = labels.table.entries_per_variable
        method.gold_ = {} if gold is None else {labels.tasks[n]: int(gold[n]) for n in np.flatnonzero(gold != UNKNOWN)}
        return CrowdFit(method, labels, self.n_chosen)

    def read(
        self,
        path: str | PathLike[str],
        columns: tuple[str, str, str] = COLUMNS,
        conflicts: Conflicts = "error",
        encoding: str = "utf-8-sig",
        sep: str | None = None,
    ) -> CrowdLabels:
        """Read new labels from a file, as `CrowdLabels.from_file`; unknown classes are refused, with their rows."""
        return labels_of_classes(read_labels(path, columns, encoding, sep), columns, self.labels.classes, conflicts)

    def _gold(self, labels: CrowdLabels) -> Ints | None:
        """Return the class codes of gold tasks, which are among the first; None where there are none."""
        if not self.method.gold_:
            return None
        known = [self.method.gold_.get(task, UNKNOWN) for task in self.labels.tasks]
        return np.array(known + [UNKNOWN] * (labels.n_tasks - len(known)))

    # ---- files ----

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to an .npz file; ids must be text or whole numbers."""
        ids = [self.labels.tasks, self.labels.workers, self.labels.classes]
        strange = [known for column in ids for known in column if not isinstance(known, str | int)]
        if strange:
            raise CofactorError(f"ids can be kept that are text or whole numbers, not {listing(map(repr, strange))}")
        gold, table, method = self._gold(self.labels), self.labels.table, self.method
        codes = (table.rows, table.variables, table.values, np.zeros(0) if gold is None else gold)
        arrays: dict[str, NDArray[Any]] = {name: code.astype(np.int32) for name, code in zip(CODES, codes, strict=True)}
        arrays |= dict(zip(BELIEF, method.state_arrays(), strict=True))
        save_arrays(path, about={"ids": ids, **about(method, self.n_chosen)}, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CrowdFit:
        """Read a file that `save` wrote; a CofactorError names one that is none."""
        kept = load_arrays(path, ("about", *CODES, *BELIEF), "kept fit")
        try:
            told = from_json(kept["about"].tobytes())
            labels = _kept_labels(told["ids"], [kept[name] for name in CODES[:3]])
            method = _kept_method(told, kept, labels)
            return cls(method, labels, int(told["found"][2]))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CofactorError) as error:
            raise CofactorError(f"{path} is no kept fit, as `cofactor aggregate --model` writes it: {error}") from None


def labels_of_classes(
    frame: pd.DataFrame, columns: tuple[str, str, str], classes: list[Any], conflicts: Conflicts
) -> CrowdLabels:
    """Return the labels of a table, whose classes are these, whole numbers or the same as text; refuse others."""
    label = columns[-1]
    if label in frame:
        by_text = {str(known): known for known in classes}
        codes = frame[label].map(lambda cell: by_text.get(str(cell), cell))
        other = (~codes.isin(classes) & codes.notna()).to_numpy()
        if other.any():
            raise CofactorError(
                f"classes that the fit does not know: {located(frame, other, codes[other].tolist())}; "
                "mend them, or fit all labels anew, old and new ones"
            )
        frame = frame.assign(**{label: codes})
    return CrowdLabels.from_frame(frame, *columns, classes=classes, conflicts=conflicts)


def joined(labels: CrowdLabels, more: CrowdLabels, conflicts: Conflicts) -> tuple[CrowdLabels, Ints]:
    """Return the labels of both, of the same classes, and the tasks of `more`; new tasks and workers come last."""
    (tasks, task), (workers, worker) = places(labels.tasks, more.tasks), places(labels.workers, more.workers)
    old, new = labels.table, more.table
    codes = [
        np.concatenate([old.rows, task[new.rows]]),
        np.concatenate([old.variables, worker[new.variables]]),
        np.concatenate([old.values, new.values]),
    ]
    return CrowdLabels._assemble(codes, [tasks, workers, labels.classes], conflicts), np.sort(task)


def places(known: Sequence[Any], more: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return all ids, the known ones first, and the place of each of `more`.

    A column of a file holds whole numbers if all of it can be read so, else text: then they are matched as text.
    """
    kinds = [{type(one) for one in ids} for ids in (known, more)]
    if kinds in ([{int}, {str}], [{str}, {int}]):
        known, more = list(map(str, known)), list(map(str, more))
    place = {one: number for number, one in enumerate(dict.fromkeys([*known, *more]))}
    return list(place), np.array([place[one] for one in more], dtype=np.int64)


# ---- what a file holds ----


def _kept_labels(ids: Sequence[Sequence[Any]], codes: Sequence[NDArray[Any]]) -> CrowdLabels:
    tasks, workers, classes = ids
    for known in ids:
        if not {type(one) for one in known} <= {str, int} or len(set(known)) < len(known):
            raise CofactorError("its ids are named twice, or neither text nor whole numbers")
    task, worker, label = codes
    table = CategoricalTable.from_entries(task, worker, label, np.full(len(workers), len(classes)), len(tasks))
    labels = CrowdLabels(table, tasks, workers, classes)
    if len(classes) < 2 or not labels.n_labels:
        raise CofactorError("it has no labels")
    return labels


def about(method: WorkerTypes, n_chosen: int) -> dict[str, Any]:
    """Return what is kept of a method beside its arrays."""
    return {
        "settings": {name: getattr(method, name) for name in SETTINGS},
        "found": [list(method.types_), method.design_effect_, n_chosen],
        "result": [method.result_.objective.tolist(), method.result_.converged, method.result_.reason],
    }


def method_about(told: Mapping[str, Any]) -> tuple[WorkerTypes, Result]:
    """Return a method of these settings, types and design effect, without its arrays, and how its rounds went."""
    method = WorkerTypes(**told["settings"])
    method._check_settings()
    types, effect, _ = told["found"]
    objective, converged, reason = told["result"]
    method.types_, method.design_effect_ = _checked_types(types), float(effect)
    return method, Result(np.array(objective, dtype=np.float64), len(objective), bool(converged), str(reason))


def _kept_method(told: Mapping[str, Any], kept: Mapping[str, NDArray[Any]], labels: CrowdLabels) -> WorkerTypes:
    method, found = method_about(told)
    gold = kept["gold"].tolist() or [UNKNOWN] * labels.n_tasks
    if len(gold) != labels.n_tasks or not set(gold) <= set(range(UNKNOWN, labels.n_classes)):
        raise CofactorError("its gold tasks are none")
    codes = np.array(gold) if len(kept["gold"]) else None
    method.workers_, method.classes_ = labels.workers, labels.classes
    method.labels_given_ = labels.table.entries_per_variable
    method.restore(labels, codes, checked_belief(kept, len(method.types_), labels.n_workers, labels.n_classes), found)
    method.gold_ = {task: code for task, code in zip(labels.tasks, gold, strict=True) if code != UNKNOWN}
    return method


def _checked_types(types: Sequence[str]) -> tuple[str, ...]:
    if tuple(types) != tuple(name for name in ALL_TYPES if name in types):
        raise CofactorError(f"it has workers of unknown types: {listing(types)}")
    return tuple(types)


def checked_belief(kept: Mapping[str, NDArray[Any]], n_types: int, M: int, K: int) -> list[NDArray[Any]]:
    """Return the arrays of a belief about M workers and K classes; refuse what are none."""
    parts = [kept[name] for name in BELIEF]
    *floats, owner = parts
    sound = all(part.dtype.kind == "f" and np.isfinite(part).all() and (part >= 0).all() for part in floats)
    shapes = [(K,), (M * K, K), (M, n_types), (n_types,), (M,)]
    if not sound or [part.shape for part in parts] != shapes or owner.dtype.kind != "i":
        raise CofactorError("its belief is of other labels, or holds what are no counts")
    if ((owner < 0) | (owner > np.arange(M))).any() or (owner[owner] != owner).any():
        raise CofactorError("its groups of copies are none")
    return parts


def refuse_swapped(new: CrowdLabels, workers: Sequence[Any], old_tasks: Callable[[set[str]], set[str]]) -> None:
    """Refuse labels whose new workers are all called as old tasks, and new tasks as old workers; note some that are.

    Labels of new tasks alone, whose tasks are all called as old workers and whose workers are all new, are refused,
    too. `old_tasks` returns those of some names that old tasks have. Of whole numbers nothing can be told, since tasks
    and workers may both be counted from one.
    """
    known, tasks, given = set(map(str, workers)), set(map(str, new.tasks)), set(map(str, new.workers))
    more_workers = given - known
    named = old_tasks(more_workers)
    called = sorted(name for name in named if not name.isdigit())
    like_workers = sorted(name for name in tasks & known if not name.isdigit())
    more_tasks = tasks - old_tasks(tasks) if called or like_workers else set()
    if more_tasks and more_tasks <= known and more_workers == (named or given) and (called or more_tasks == tasks):
        found = f"new workers are called as old tasks ({listing(called)}), and new tasks as old workers"
        found = found if called else f"new tasks are called as old workers ({listing(like_workers)})"
        raise CofactorError(f"{found}: columns may be swapped; say task='COLUMN' and worker='COLUMN'")
    _note_called("workers are called as old tasks", called)
    _note_called("tasks are called as old workers", [name for name in like_workers if name in more_tasks])


def _note_called(what: str, names: Sequence[str]) -> None:
    if names:
        warnings.warn(f"new {what}: {listing(names)}; see whether columns are swapped", DataWarning, stacklevel=4)


def note_alike(new: CrowdLabels, workers: Sequence[Any], old_tasks: Callable[[set[str]], Iterable[str]]) -> None:
    """Note new tasks and workers that look like old ones; `old_tasks` returns those that new ones may look like."""
    for what, ids, old in (("tasks", new.tasks, old_tasks), ("workers", new.workers, lambda _: map(str, workers))):
        names = set(map(str, ids))
        known = set(old(names))
        more = names - known
        keys = {skeleton(name) for name in more}
        groups = look_alikes([*sorted(more), *sorted(name for name in known if skeleton(name) in keys)]) if more else []
        if groups := [group for group in groups if not more.issuperset(group)]:
            found = listing(" = ".join(shown(group)) for group in groups)
            message = f"new {what} that look like old ones count as different: {found}; write them in one way"
            warnings.warn(message, DataWarning, stacklevel=3)
