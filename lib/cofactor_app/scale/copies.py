"""Copies among the workers of labels in shards or in a database: found on a sample of the tasks.

In memory a pair of workers is judged by all tasks that they share (`cofactor.crowd.copies`), whose time grows with the
labels, and whose memory is some 70 bytes a label. A sample bounds both. Of 2,000 workers of three classes, some 30
common tasks of the sample tell copies from chance. Copies in a database are merged there; shards are merged as they
are read (`Passes.merged`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np
from scipy import sparse

from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.copies import owners
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.coded import CODED, CodedLabels
from cofactor_app.scale.doors import OWN
from cofactor_app.scale.held import pieces
from cofactor_app.scale.known import one_task_in
from cofactor_app.scale.passes import Passes

MOST_COMPARED = 2_000_000  # labels
BECOMES, ALIKE, AGAIN = f"{OWN}becomes", f"{CODED}_alike", f"{CODED}_again"


def owners_of(labels: Passes | CodedLabels) -> tuple[Ints, int]:
    """Return whom every worker belongs to, as `owners`, and that one task in how many was looked at.

    The same of the same labels in shards and in a database, whose tasks have one order.
    Cost: one query, or one pass over the shards, two where not all tasks are looked at; and `owners` of two million
    labels at most.
    """
    step = max(1, -(-labels.n_labels // MOST_COMPARED))
    return owners(_of_shards(labels, step) if isinstance(labels, Passes) else _of_database(labels, step)), step


def _of_database(labels: CodedLabels, step: int) -> CategoricalTable:
    """Return the labels of one task in `step`."""
    chosen = "" if step == 1 else f"WHERE {one_task_in(step)}"
    parts = list(labels.door.column(f"SELECT cell FROM {CODED} {chosen} ORDER BY task, cell"))
    column = np.concatenate(parts).astype(np.int32)
    (piece,) = pieces(column, int(np.sum(column < 0)), len(column))
    return piece.labels(labels).table


def _of_shards(passes: Passes, step: int) -> CategoricalTable:
    """Return the labels of one task in `step`, counted over all shards."""
    ends = dict(passes.map(lambda labels: (labels.tasks[0], labels.n_tasks))) if step > 1 else {}
    places = dict(zip(ends, accumulate(ends.values(), initial=0), strict=False))
    parts = list(passes.map(partial(_every, places=places, step=step)))
    sizes = np.full(len(passes.shards.workers), len(passes.shards.classes))
    return CategoricalTable._with(sparse.csr_array(sparse.vstack(parts)), sizes)


def _every(labels: CrowdLabels, places: dict[object, int], step: int) -> sparse.csr_array:
    """Return the indicator of one task in `step`; `places` has that of the first task of every shard."""
    return labels.table.indicator[-places.get(labels.tasks[0], 0) % step :: step]


def merged_there(labels: CodedLabels, owner: Ints) -> CodedLabels:
    """Return the labels after copies have become one worker, who has one label a task: that of the first of them.

    The table of coded labels is made anew. How many labels a task has lost is kept as the table `AGAIN`.
    Cost: where there are copies, two queries, which sort the labels of each task.
    """
    K, M = len(labels.classes), len(labels.workers)
    if np.array_equal(owner, np.arange(M)):
        return labels
    cell = np.arange(-1, M * K)
    own = np.append(-1, owner[cell[1:] // K])
    becomes = np.where(cell < 0, -1, own * K + cell % K)
    door = labels.door
    door.put(BECOMES, pd.DataFrame({"cell": cell, "own": own, "becomes": becomes}))
    door.keep(
        ALIKE,
        f"""SELECT c.task AS task, b.becomes AS cell, RANK() OVER (PARTITION BY c.task, b.own ORDER BY c.cell) AS nth
    FROM {CODED} AS c JOIN {BECOMES} AS b ON b.cell = c.cell""",
    )
    door.keep(AGAIN, f"SELECT task, COUNT(*) AS n FROM {ALIKE} WHERE nth > 1 GROUP BY task")
    door.keep(CODED, f"SELECT task, CAST(cell AS INTEGER) AS cell, 0 AS clash FROM {ALIKE} WHERE nth = 1")
    lost = door.ask(f"SELECT COUNT(*) AS n FROM {ALIKE} WHERE nth > 1")
    door.run(f"DROP TABLE {ALIKE}")
    return replace(labels, n_labels=labels.n_labels - int(lost["n"].iloc[0]), owner=owner)
