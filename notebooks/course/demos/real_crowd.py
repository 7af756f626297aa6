"""What notebook 07 computes: public crowds, every method on them, fewer labels, people who mislead."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, ConvergenceWarning, DatasetUnavailableError, DataWarning
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd import METHODS, NEED_FEATURES
from cofactor.crowd.base import NO_PRIOR, Aggregator, error_rate, right_shares
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.data.loading import CrowdDataset, load_crowd

BUSIEST = {"dog": 52}  # people kept, those with most labels, as in the published tables
FEW_STARTS = 4  # of EBCC
LONG = 0.1  # seconds: what takes longer is timed once


def public_crowds(names: Iterable[str]) -> dict[str, CrowdDataset]:
    """Load those crowds that can be had, and print a line for each that cannot.

    Of Dog, the 52 people with most labels are kept, as in ICML 2021.
    """
    found, missing = {}, []
    for name in names:
        try:
            crowd = load_crowd(name)
        except DatasetUnavailableError:
            missing.append(name)
            continue
        most = BUSIEST.get(name, crowd.labels.n_workers)
        found[name] = replace(crowd, labels=crowd.labels.busiest_workers(most))
    print(f"here: {', '.join(found) or 'nothing'}")
    if missing:
        print(f"not to be had without network or COFACTOR_MIRROR: {', '.join(missing)}; the cells below go on without")
    return found


@dataclass(frozen=True)
class Trial:
    """One method on one crowd.

    Attributes
    ----------
    error : float
        Share of tasks labelled wrongly, ties split; NaN where the method refused.
    seconds : float
        CPU time of `fit` and `predict_proba`.
    notes : tuple of str
        What the kit warned of; why it refused.
    """

    method: str
    error: float
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the method would not take these labels."""
        return bool(np.isnan(self.error))


def without_prior(name: str, **settings: Any) -> Aggregator:
    """Make a method whose EM is that of the papers: maximum likelihood, no labels imagined before the first."""
    method = METHODS[name](**settings)
    return method.set_params(pseudo_counts=NO_PRIOR) if "pseudo_counts" in method.get_params() else method


def every_method(without: Sequence[str] = NEED_FEATURES) -> list[str]:
    """Names of all methods that need labels only, but for some."""
    return [name for name in METHODS if name not in {*NEED_FEATURES, *without}]


def try_methods(crowd: CrowdDataset, methods: Iterable[str]) -> dict[str, Trial]:
    """Run methods on a crowd, those of the papers without prior; warnings and refusals are kept as notes.

    What is over in a tenth of a second runs twice and the faster run counts; EM runs once before all, so that nobody
    pays for its first call.
    """
    run_method(crowd.labels, crowd.truth, "MV-EM")
    return {name: _trial(crowd, name) for name in methods}


def _trial(crowd: CrowdDataset, name: str) -> Trial:
    first = run_method(crowd.labels, crowd.truth, name)
    if first.refused or first.seconds > LONG:
        return first
    again = run_method(crowd.labels, crowd.truth, name)
    return replace(first, seconds=min(first.seconds, again.seconds))


def run_method(labels: CrowdLabels, truth: Ints, name: str) -> Trial:
    """Fit one method, `without_prior`, and score it; what the kit refuses is a trial with error NaN."""
    start, error, notes = time.process_time(), np.nan, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            error = error_rate(_made(name).fit(labels).predict_proba(labels), truth)
        except CofactorError as refusal:
            notes.append(str(refusal))
    seconds = time.process_time() - start
    for warning in caught:
        if issubclass(warning.category, (DataWarning, ConvergenceWarning)):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return Trial(name, error, seconds, tuple(dict.fromkeys(notes)))


def _made(name: str) -> Aggregator:
    """The method as it is tried here; EBCC with fewer starts than it has by default, to save time."""
    return without_prior(name, random_state=0, **({"n_starts": FEW_STARTS} if name == "EBCC" else {}))


def keep_labels(labels: CrowdLabels, per_task: int, seed: int = 0) -> CrowdLabels:
    """Keep at most so many labels of every task, drawn at random; a larger number keeps the same ones and more."""
    if per_task < 1:
        raise CofactorError(f"per_task={per_task}: keep at least one label of every task")
    order = np.random.default_rng(seed).permutation(labels.n_labels)
    rows = labels.table.rows[order]
    by_task = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[by_task], rows[by_task])
    kept = np.sort(order[by_task[np.arange(len(rows)) - starts < per_task]])
    return _with_values(labels, kept, labels.table.values[kept])


def _with_values(labels: CrowdLabels, kept: Ints, values: Ints) -> CrowdLabels:
    """The same tasks, workers and classes with other labels."""
    table = labels.table
    new = CategoricalTable.from_entries(table.rows[kept], table.variables[kept], values, table.sizes, table.n_rows)
    return CrowdLabels(new, labels.tasks, labels.workers, labels.classes)


def mislead(labels: CrowdLabels, share: float, seed: int = 0) -> CrowdLabels:
    """Let a share of the people hand in the class after the one they mean, always: all they know, under wrong names.

    A larger share spoils the same people and more.
    """
    if not 0 <= share <= 1:
        raise CofactorError(f"share={share}: ask for 0 to 1")
    order = np.random.default_rng(seed).permutation(labels.n_workers)
    bad = np.isin(labels.table.variables, order[: round(share * labels.n_workers)])
    values = np.where(bad, (labels.table.values + 1) % labels.n_classes, labels.table.values)
    return _with_values(labels, np.arange(labels.n_labels), values)


@dataclass(frozen=True)
class Thinned:
    """A crowd of which some labels per task were kept, its vote and a method on it."""

    name: str
    method: str
    labels: CrowdLabels
    truth: Ints
    posterior: Floats
    errors: Mapping[str, float]
    wanted: int

    @property
    def overruled(self) -> int:
        """Number of tasks where the method's class has fewer votes than another."""
        votes, chosen = self.labels.votes, self.posterior.argmax(axis=1)
        return int(np.sum(votes[np.arange(len(votes)), chosen] < votes.max(axis=1)))


def thin(crowd: CrowdDataset, method: str, per_task: int, seed: int = 0) -> Thinned:
    """Keep some labels per task and aggregate them.

    Raises
    ------
    CofactorError
        The method refuses what is left.
    """
    labels = keep_labels(crowd.labels, per_task, seed)
    fitted = METHODS[method](random_state=0).fit(labels)
    scores = fitted.predict_proba(labels)
    posterior = scores / np.maximum(scores.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    errors = {"MajorityVote": error_rate(vote_shares(labels), crowd.truth)}
    errors[method] = error_rate(scores, crowd.truth)
    return Thinned(crowd.name, method, labels, crowd.truth, posterior, errors, per_task)


@dataclass(frozen=True)
class Disagreement:
    """Two methods on the same tasks: by how much the second is worse on each, from -1 to 1."""

    worse: Floats

    @property
    def difference(self) -> float:
        """Error of the second method minus that of the first."""
        return float(self.worse.mean())

    @property
    def standard_error(self) -> float:
        """Of the difference, the tasks being a sample."""
        return float(self.worse.std() / np.sqrt(len(self.worse)))


def disagreement(first: Floats, second: Floats, truth: Ints) -> Disagreement:
    """Compare two methods task by task, those with known truth; scores (N, K) of both, ties split."""
    return Disagreement(right_shares(first, truth) - right_shares(second, truth))
