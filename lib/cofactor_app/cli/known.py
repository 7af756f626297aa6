"""``aggregate --gold`` and ``--truth`` of labels that do not fit into memory: those of known tasks come there alone."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cofactor as cf
from cofactor.core.errors import listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, right_shares
from cofactor.crowd.copies import without_copies_of
from cofactor.crowd.evidence import UNKNOWN, GoldEvidence, gold_codes
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.readings import CLEARLY_MORE, LEAST_GOLD, View
from cofactor.crowd.worker_types import WorkerTypes
from cofactor.reading.truth import codes_of, read_task_and_truth
from cofactor_app.cli import facts, tell
from cofactor_app.cli.aggregate import judged_by, without_strange
from cofactor_app.cli.methods import DEFAULT
from cofactor_app.scale.coded import CodedLabels
from cofactor_app.scale.coding import trimmed
from cofactor_app.scale.copies import merged_there, owners_of
from cofactor_app.scale.doors import Door
from cofactor_app.scale.known import apart, labels_of, taken_out
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.queries import name_in
from cofactor_app.scale.rounds import evidence_of
from cofactor_app.scale.rounds import fit as fitted_there

MOST_JUDGED = 200_000  # tasks by which a method is judged; the error is known to a tenth of a percent then


def of_shards(
    arguments: argparse.Namespace, method: Aggregator, passes: Passes, moments: CrowdMoments | None
) -> tuple[Aggregator, int]:
    """Return a method, fitted to shards and told of gold tasks, and the number of tasks."""
    frame = read_task_and_truth(arguments.gold, arguments.encoding)
    labels = labels_of(passes, frame["task"])
    gold = method._checked_gold(_codes(frame, labels, arguments.gold), labels)
    evidence = apart(passes, labels)
    votes = evidence.start()

    def fit(method: Aggregator, told: GoldEvidence) -> Aggregator:
        return passes.shards.fit(method, moments or votes, arguments.rounds, method.verbose, passes, told)

    if isinstance(method, WorkerTypes):
        return taught(evidence, labels, gold, fit), votes.n_rows
    told = fit(method, evidence.told(gold))
    tell([facts.of_gold(told)], [])
    return told, votes.n_rows


def of_database(
    arguments: argparse.Namespace, labels: CodedLabels, here: bool, owner: Ints
) -> tuple[Aggregator, CrowdLabels, CodedLabels]:
    """Return the default, fitted in a database and told of gold tasks; labels of these, and of all others.

    `owner` says whom every worker belongs to; copies are merged here.
    """
    frame = of_file_or_table(arguments.gold, labels.door, arguments.encoding)
    known, rest = taken_out(labels, frame["task"])
    gold = _codes(frame, known, arguments.gold)
    rest = merged_there(rest, owner)
    evidence = GoldEvidence(evidence_of(rest, here), without_copies_of(known, owner))

    def fit(method: WorkerTypes, told: GoldEvidence) -> Aggregator:
        method.max_iter = min(method.max_iter, arguments.rounds)
        return fitted_there(method, rest, told)

    return taught(evidence, known, gold, fit), known, rest


def owner_of(method: str, labels: Passes | CodedLabels) -> Ints:
    """Return whom every worker belongs to; only the default takes copies for one worker."""
    if method != DEFAULT:
        return np.arange(len((labels.shards if isinstance(labels, Passes) else labels).workers))
    owner, step = owners_of(labels)
    if step > 1:
        print(f"copies among workers were looked for on one task in {step}")
    return owner


def of_file_or_table(name: str, door: Door, encoding: str) -> pd.DataFrame:
    """Return tasks and their classes as text, of a file, or of a table of the database where there is no such file."""
    if Path(name).exists():
        return read_task_and_truth(name, encoding)
    try:
        found = door.ask(f"SELECT * FROM {name_in(door.dialect, name, whole=True)}")
    except cf.CofactorError as error:
        raise cf.CofactorError(f"{name}: no such file, and no such table ({error})") from None
    column = next((column for column in ("truth", "label") if column in found), None)
    if "task" not in found or column is None:
        raise cf.CofactorError(f"the table {name} has no columns task and truth (or label): {listing(found)}")
    chosen = found[["task", column]].dropna().set_axis(["task", "truth"], axis=1)
    return chosen.astype(str).map(trimmed)


def _codes(frame: pd.DataFrame, labels: CrowdLabels, path: str) -> Ints:
    return gold_codes(without_strange(codes_of(frame, labels, path), labels, path), labels)


def taught(
    evidence: GoldEvidence, labels: CrowdLabels, gold: Ints, fit: Callable[[WorkerTypes, GoldEvidence], Aggregator]
) -> Aggregator:
    """Return the default, told of the classes of gold tasks, whose labels these are; print how that went.

    As in memory, but that only the vote and the model are compared on gold tasks, and the model is kept.
    """
    right: dict[View, float] = {}
    if np.sum(gold != UNKNOWN) >= LEAST_GOLD:
        plain = fit(WorkerTypes(), evidence)
        right = _right({"vote": vote_shares(labels), "model": plain.predict_proba(labels)}, gold)
    told = fit(WorkerTypes(random_state=0, verbose=True), evidence.told(gold))
    tell([*facts.choice(told, right), facts.of_gold(told)], _better_vote(right))
    return told


def _right(posteriors: dict[View, Floats], gold: Ints) -> dict[View, float]:
    return {name: float(right_shares(posterior, gold).sum()) for name, posterior in posteriors.items()}


def _better_vote(right: dict[View, float]) -> list[str]:
    if not right or right["vote"] < right["model"] + CLEARLY_MORE:
        return []
    return [f"the majority vote has more gold tasks right than {DEFAULT}, and is chosen where all labels are in memory"]


def judge(arguments: argparse.Namespace, passes: Passes, method: Aggregator) -> None:
    """Print the errors on the tasks of known truth, see `judged`."""
    frame = sample(read_task_and_truth(arguments.truth, arguments.encoding))
    judged(arguments, frame, labels_of(passes, frame["task"]), method)


def judged(arguments: argparse.Namespace, frame: pd.DataFrame, labels: CrowdLabels, method: Aggregator) -> None:
    """Print the errors on tasks of known truth, not on gold tasks."""
    truth = codes_of(frame, labels, arguments.truth)
    gold = np.array([method.gold_.get(task, UNKNOWN) for task in labels.tasks], dtype=np.int64)
    left = judged_by(truth, gold)
    if left is not None:
        answered = method.predict_proba(labels)
        told = facts.errors(arguments.method, answered, labels, left)
        tell([told], list(facts.lost(arguments.method, answered, labels, left)))


def sample(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row in some of tasks of known truth, where there are too many, and say so."""
    step = -(-len(frame) // MOST_JUDGED)
    if step <= 1:
        return frame
    print(f"judged by one in {step} of the {len(frame)} tasks with known truth")
    return frame.iloc[::step]
