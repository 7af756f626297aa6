"""The consensus of labels in a database: a query that labels every task, as `consensus_frame` does in memory."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import TIE
from cofactor.core.lazy import pd
from cofactor.crowd.base import Aggregator
from cofactor.crowd.disputes import FEW_VOTES, SAME_SHARE
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.tables import consensus_frame
from cofactor.crowd.worker_types import WorkerTypes
from cofactor_app.scale.coded import CodedLabels
from cofactor_app.scale.copies import AGAIN
from cofactor_app.scale.doors import OWN
from cofactor_app.scale.known import APART
from cofactor_app.scale.rounds import Asked, floored, per, power_of

NAMES, LABELLED = f"{OWN}names", f"{OWN}labelled"


def consensus(method: Aggregator, labels: CodedLabels, apart: CrowdLabels | None = None) -> str:
    """Return the query for task, label, probability, n_labels, and of `WorkerTypes` disputed, in DuckDB's language.

    As `consensus_frame`, without the rounding. The method was fitted to these labels, see `rounds.fit`, and to those
    that were taken `apart`, see `known.taken_out`, which are labelled here.
    Cost: as a round.
    """
    K, cells = len(labels.classes), np.arange(len(labels.workers) * len(labels.classes))
    states, effect, weight = method.model_, 0.0, np.ones(len(labels.workers))
    if isinstance(method, WorkerTypes):
        states, effect, weight = method._states, method.design_effect_, method._informed()
    vote = np.eye(K)[cells % K]
    numbers = np.hstack([floored(states.stacked), weight[cells // K, None] * vote, vote])
    asked = Asked.about(labels, cells, numbers, np.append(floored(states.prior), np.zeros(2 * K)))
    labels.door.put(NAMES, pd.DataFrame({"code": np.arange(K), "name": labels.classes}))
    preferred = np.argsort(-method.model_.prior, kind="stable").tolist()
    code = per(preferred, f"WHEN p{{k}} >= top - {TIE!r} THEN {{k}}", " ")
    disputed = f", most - {_of_code(K, 'v')} > {SAME_SHARE!r} AS disputed" if isinstance(method, WorkerTypes) else ""
    merged = labels.owner is not None
    n_labels, again = (
        ("v.n + COALESCE(a.n, 0)", f" LEFT JOIN {AGAIN} AS a ON a.task = v.task") if merged else ("v.n", "")
    )
    return f"""WITH {asked.score}, {_flat(K, effect)},
    chosen AS (SELECT *, CASE {code} END AS chosen FROM top), {_votes(K)}
    SELECT v.task AS task, names.name AS label, {_of_code(K, "p")} AS probability, {n_labels} AS n_labels{disputed}
    FROM votes AS v JOIN {NAMES} AS names ON names.code = v.chosen{again}{_labelled(apart, method, labels)}"""


def _labelled(apart: CrowdLabels | None, method: Aggregator, labels: CodedLabels) -> str:
    """Return the rows of tasks that were taken apart."""
    if apart is None:
        return ""
    posterior = method.predict_proba(apart)
    found = consensus_frame(apart, posterior, method)
    found["probability"] = posterior[np.arange(len(posterior)), method.answers(posterior)]
    kept = found.assign(task=[str(task) for task in apart.tasks], disputed=found["disputed"].astype(int))
    labels.door.put(LABELLED, kept)
    return f"""
    UNION ALL SELECT a.task, k.label, k.probability, k.n_labels, k.disputed = 1
    FROM {APART} AS a JOIN {LABELLED} AS k ON k.task = CAST(a.task AS TEXT)"""


def _of_code(K: int, column: str) -> str:
    return f"CASE chosen {per(range(K), f'WHEN {{k}} THEN {column}{{k}}', ' ')} END"


def _flat(K: int, effect: float) -> str:
    """Return the steps to the posterior p, flattened as by `tempered`, and the largest of a task."""
    raised = per(range(K), f"EXP((s{{k}} - best) * {power_of(effect)}) AS e{{k}}")
    return f"""best AS (SELECT *, GREATEST({per(range(K), "s{k}")}) AS best FROM score),
    raised AS (SELECT *, {raised} FROM best),
    flat AS (SELECT *, {per(range(K), f"e{{k}} / ({per(range(K), 'e{k}', ' + ')}) AS p{{k}}")} FROM raised),
    top AS (SELECT *, GREATEST({per(range(K), "p{k}")}) AS top FROM flat)"""


def _votes(K: int) -> str:
    """Return the steps to vote shares v of who says something, as `weighted_vote_shares`, and the largest of a task."""
    some = f"{per(range(K, 2 * K), 's{k}', ' + ')} > {FEW_VOTES!r}"
    counted = ", ".join(f"CASE WHEN {some} THEN s{K + k} ELSE s{2 * K + k} END AS u{k}" for k in range(K))
    shares = per(range(K), f"u{{k}} / ({per(range(K), 'u{k}', ' + ')}) AS v{{k}}")
    return f"""counted AS (SELECT *, {counted} FROM chosen), shares AS (SELECT *, {shares} FROM counted),
    votes AS (SELECT *, GREATEST({per(range(K), "v{k}")}) AS most FROM shares)"""
