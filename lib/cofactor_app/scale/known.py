"""Some tasks of labels in shards or in a database, those of known class or a sample: their labels come into memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.copies import without_copies_of
from cofactor.crowd.evidence import Evidence, GoldEvidence
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.coded import CODED, CodedLabels
from cofactor_app.scale.doors import OWN
from cofactor_app.scale.passes import Passes, Piece

ASKED, APART = f"{OWN}asked", f"{CODED}_apart"


def labels_of(passes: Passes, tasks: Collection[str]) -> CrowdLabels:
    """Return the labels of these tasks, whose ids are compared as text; perhaps of none.

    Cost: one pass over the shards, and the memory of what is returned.
    """
    chosen = partial(_chosen, wanted=pd.Index(tasks, dtype=object))
    return joined(list(passes.map(chosen, whole=True)))


def sample_of(passes: Passes, n_labels: int) -> tuple[CrowdLabels, int]:
    """Return the labels of one task in some, about this number at most, and how many tasks stand behind each.

    Cost: one pass over the shards, and the memory of what is returned.
    """
    step = max(1, -(-passes.n_labels // n_labels))
    return joined(list(passes.map(partial(_every, step=step), whole=True))), step


def _every(labels: CrowdLabels, step: int) -> CrowdLabels:
    return labels.take_tasks(np.arange(0, labels.n_tasks, step))


def joined(parts: Sequence[CrowdLabels]) -> CrowdLabels:
    """Return the labels of parts of a crowd, which have different tasks."""
    indicator = sparse.csr_array(sparse.vstack([part.table.indicator for part in parts]))
    table = CategoricalTable._with(indicator, parts[0].table.sizes)
    return CrowdLabels(table, [task for part in parts for task in part.tasks], parts[0].workers, parts[0].classes)


def _chosen(labels: CrowdLabels, wanted: pd.Index[Any]) -> CrowdLabels:
    return labels.take_tasks(np.flatnonzero(pd.Index([str(task) for task in labels.tasks], dtype=object).isin(wanted)))


def apart(passes: Passes, labels: CrowdLabels) -> GoldEvidence:
    """Return the labels that `passes` read as evidence, those of some tasks, in memory, held apart; no class is known.

    Cost: one pass over the shards.
    """
    others = passes.without(labels.tasks)
    rest = Evidence(others, votes=Evidence(others).start())
    return GoldEvidence(rest, labels if passes.owner is None else without_copies_of(labels, passes.owner))


# ---- in a database ----


def labels_there(labels: CodedLabels, tasks: Collection[str]) -> CrowdLabels:
    """Return the labels of these tasks of a database, whose ids are compared as text; perhaps of none. One query."""
    labels.door.put(ASKED, pd.DataFrame({"given": list(tasks)}, dtype=object))
    return _where(labels, _asked())


def sample_there(labels: CodedLabels, n_labels: int) -> tuple[CrowdLabels, int]:
    """Return what `sample_of` returns, of labels in a database.

    Cost: one query, which sorts the tasks, and the memory of what is returned.
    """
    step = max(1, -(-labels.n_labels // n_labels))
    return _where(labels, one_task_in(step)), step


def one_task_in(step: int) -> str:
    """Return the condition that holds for one coded task in some."""
    numbered = f"SELECT task, ROW_NUMBER() OVER (ORDER BY task) - 1 AS place FROM {CODED} WHERE cell < 0"
    return f"task IN (SELECT task FROM ({numbered}) AS numbered WHERE MOD(place, {step}) = 0)"


def _where(labels: CodedLabels, condition: str) -> CrowdLabels:
    """Return the labels of the tasks for which a condition holds."""
    found = labels.door.ask(f"SELECT task, cell FROM {CODED} WHERE {condition} ORDER BY task, cell")
    cells = found["cell"].to_numpy(dtype=np.int64)
    begins = np.flatnonzero(cells < 0)
    starts = np.append(begins, len(cells)) - np.arange(len(begins) + 1)
    table = Piece(cells[cells >= 0].astype(np.int32), starts.astype(np.int32), ("", "")).labels(labels).table
    return CrowdLabels(table, found["task"].iloc[begins].tolist(), labels.workers, labels.classes)


def taken_out(labels: CodedLabels, tasks: Collection[str]) -> tuple[CrowdLabels, CodedLabels]:
    """Return the labels of these tasks, as `labels_there`, and those of all others, which alone stay coded.

    The ids of the tasks are kept as the table `APART`. Three queries.
    """
    found = labels_there(labels, tasks)
    labels.door.keep(APART, f"SELECT DISTINCT task FROM {CODED} WHERE {_asked()}")
    labels.door.remove(CODED, _asked())
    rest = replace(labels, n_tasks=labels.n_tasks - found.n_tasks, n_labels=labels.n_labels - found.n_labels)
    return found, rest


def _asked() -> str:
    return f"CAST(task AS TEXT) IN (SELECT given FROM {ASKED})"
