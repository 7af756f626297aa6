"""``aggregate --gold`` and ``--truth`` of labels that do not fit into memory: those of known tasks come there alone."""

from __future__ import annotations

import argparse

import numpy as np

from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, right_shares
from cofactor.crowd.evidence import UNKNOWN, gold_codes
from cofactor.crowd.labels import vote_shares
from cofactor.crowd.readings import CLEARLY_MORE, LEAST_GOLD, View
from cofactor.crowd.worker_types import WorkerTypes
from cofactor_app.cli import facts, tell
from cofactor_app.cli.aggregate import judged_by, without_strange
from cofactor_app.cli.methods import DEFAULT
from cofactor_app.reading.truth import codes_of, read_task_and_truth
from cofactor_app.scale.known import apart, labels_of
from cofactor_app.scale.passes import Passes

MOST_JUDGED = 200_000  # tasks by which a method is judged; the error is known to a tenth of a percent then


def told_of_gold(arguments: argparse.Namespace, passes: Passes) -> tuple[Aggregator, int]:
    """Return the default, fitted to shards and told of gold tasks, and the number of tasks; print how these went.

    As in memory, but that only the vote and the model are compared on gold tasks, and the model is kept.
    """
    frame = read_task_and_truth(arguments.gold, arguments.encoding)
    labels = labels_of(passes, frame["task"])
    gold = gold_codes(without_strange(codes_of(frame, labels, arguments.gold), labels, arguments.gold), labels)
    evidence, shards = apart(passes, labels), passes.shards
    votes, right = evidence.start(), {}
    if np.sum(gold != UNKNOWN) >= LEAST_GOLD:
        plain = shards.fit(WorkerTypes(), votes, arguments.rounds, passes=passes, apart=evidence)
        right = _right({"vote": vote_shares(labels), "model": plain.predict_proba(labels)}, gold)
    method = WorkerTypes(random_state=0)
    told = shards.fit(method, votes, arguments.rounds, verbose=True, passes=passes, apart=evidence.told(gold))
    tell([*facts.choice(told, right), facts.of_gold(told)], _better_vote(right))
    return told, votes.n_rows


def _right(posteriors: dict[View, Floats], gold: Ints) -> dict[View, float]:
    return {name: float(right_shares(posterior, gold).sum()) for name, posterior in posteriors.items()}


def _better_vote(right: dict[View, float]) -> list[str]:
    if not right or right["vote"] < right["model"] + CLEARLY_MORE:
        return []
    return [f"the majority vote has more gold tasks right than {DEFAULT}; --engine memory would choose it"]


def judge(arguments: argparse.Namespace, passes: Passes, method: Aggregator) -> None:
    """Print the errors on the tasks of known truth, or on some of very many; not on gold tasks."""
    frame = _sample(read_task_and_truth(arguments.truth, arguments.encoding))
    labels = labels_of(passes, frame["task"])
    truth = codes_of(frame, labels, arguments.truth)
    gold = np.array([method.gold_.get(task, UNKNOWN) for task in labels.tasks], dtype=np.int64)
    judged = judged_by(truth, gold)
    if judged is not None:
        answered = method.predict_proba(labels)
        told = facts.errors(arguments.method, answered, labels, judged)
        tell([told], list(facts.lost(arguments.method, answered, labels, judged)))


def _sample(frame: pd.DataFrame) -> pd.DataFrame:
    """Return every n-th row, where there are too many, and say so."""
    step = -(-len(frame) // MOST_JUDGED)
    if step <= 1:
        return frame
    print(f"judged by one in {step} of the {len(frame)} tasks with known truth")
    return frame.iloc[::step]
