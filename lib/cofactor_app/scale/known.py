"""Tasks of known class among labels in shards: their labels are few, and come into memory."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.crowd.evidence import Evidence, GoldEvidence
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.passes import Passes


def labels_of(passes: Passes, tasks: Collection[str]) -> CrowdLabels:
    """Return the labels of these tasks, whose ids are compared as text; perhaps of none.

    Cost: one pass over the shards, and the memory of what is returned.
    """
    chosen = partial(_chosen, wanted=pd.Index(tasks, dtype=object))
    parts = list(passes.map(chosen, whole=True))
    indicator = sparse.csr_array(sparse.vstack([part.table.indicator for part in parts]))
    table = CategoricalTable._with(indicator, parts[0].table.sizes)
    return CrowdLabels(table, [task for part in parts for task in part.tasks], parts[0].workers, parts[0].classes)


def _chosen(labels: CrowdLabels, wanted: pd.Index[Any]) -> CrowdLabels:
    return labels.take_tasks(np.flatnonzero(pd.Index([str(task) for task in labels.tasks], dtype=object).isin(wanted)))


def apart(passes: Passes, labels: CrowdLabels) -> GoldEvidence:
    """Return the labels that `passes` read as evidence, those of some tasks, in memory, held apart; no class is known.

    Cost: one pass over the shards.
    """
    others = Passes(passes.shards, passes.threads, passes.memory, passes.kept, labels.tasks)
    rest = Evidence(others, votes=Evidence(others).start())
    return GoldEvidence(rest, labels)
