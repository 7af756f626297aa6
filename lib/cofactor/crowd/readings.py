"""Readings: several answers that one set of labels allows, and where they differ.

The vote believes all workers alike. The model believes those who fit together best; but workers who share a source,
such as judges of one family, fit together also where all of them are wrong. The labels alone cannot tell the two apart.
So these readings are compared, and none but the model chooses the answer:

    vote        the class that most workers chose
    model       `WorkerTypes`
    one voice   `WorkerTypes` with a camp as one worker (`cofactor.crowd.camps`)
    believed    on tasks that dissenters labelled: `WorkerTypes` with all other workers as one
    groups      `WorkerTypes` with each group of workers that the user names as one worker

Source: this library's. What ten known tasks gain, and how often warnings are false, is in docs/default.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_kind, check_whole
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import clone
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, Labels, as_labels, right_shares
from cofactor.crowd.bootstrap import fitted_on
from cofactor.crowd.camps import camps, dissenters
from cofactor.crowd.evidence import UNKNOWN, Gold, gold_codes
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.voices import groups as groups_of
from cofactor.crowd.voices import joined
from cofactor.crowd.voting import MajorityVote

MANY_DEPEND = 0.05  # of all tasks: from here on, a warning
LEAST_VOICE = 0.1  # of the labels: dissenters with fewer are no reading
SAME_SHARE = 1e-9  # of votes: closer ones are tied
LEAST_GOLD = 5  # tasks of known class that choose a reading
CLEARLY_MORE = 2  # of them right, beyond those of the model: then another reading is taken


@dataclass(frozen=True)
class Readings:
    """What one set of labels can be taken to say.

    Attributes
    ----------
    tasks, classes : lists
        Ids, in the order of the labels.
    names : tuple of str
        "vote", "model", and those of camps: "one voice", "believed" or "groups", a second of a kind with a number.
    posteriors : (R, N, K) array
        Class probabilities of every task under every reading; shares of the votes for the vote.
    groups : dict
        Of the readings of camps, the ids of the workers who are one voice, or who are believed.
    differ : (N,) bools
        Tasks whose label depends on the reading. A label among tied classes of the vote is no difference.
    """

    tasks: list[Any]
    classes: list[Any]
    names: tuple[str, ...]
    posteriors: Floats
    groups: dict[str, list[Any]]
    differ: NDArray[np.bool_]

    def posterior(self, name: str) -> Floats:
        """Return the (N, K) probabilities under a reading."""
        return np.asarray(self.posteriors[self.names.index(name)])

    def depending(self, name: str) -> NDArray[np.bool_]:
        """Tell of every task whether the label under this reading is another than that of the model."""
        return np.asarray(self.posterior(name).argmax(axis=1) != self.posterior("model").argmax(axis=1))

    @property
    def decisive(self) -> str:
        """The reading of a camp that changes most labels; empty where no camp was found."""
        return max(self.groups, key=lambda name: self.depending(name).sum(), default="")

    @property
    def share_depending(self) -> float:
        """Share of all tasks whose label depends on a camp, at most."""
        return float(self.depending(self.decisive).mean()) if self.decisive else 0.0

    @property
    def ambiguous(self) -> bool:
        """Whether so many labels depend on a camp that a person should look."""
        return self.share_depending >= MANY_DEPEND

    def __str__(self) -> str:
        told = ", ".join(
            f"{name} ({listing(map(str, self.groups[name]))}) changes {self.depending(name).sum()} labels"
            if name in self.groups
            else name
            for name in self.names
        )
        return (
            f"{self.differ.sum()} of {len(self.tasks)} tasks ({self.differ.mean():.1%}) depend on the reading: {told}"
        )

    def warning(self, file: str = "FILE") -> str:
        """Return what must be read before the labels are used; empty where they depend on no camp.

        It names the workers, says what would follow, and ends with the command that decides.
        """
        if not self.ambiguous:
            return ""
        name, who = self.decisive, listing(map(str, self.groups[self.decisive]))
        changed = self.depending(name)
        model, other = (self.posterior(x).argmax(axis=1) for x in ("model", name))
        count = np.stack([np.bincount(x, minlength=len(self.classes)) for x in (model, other)])
        k = int(np.abs(count[1] - count[0]).argmax())
        sharing = "the workers of each group share" if name == "groups" else f"workers {who} share"
        either = "" if name == "groups" else ", or the others do"
        believed = "if they are believed" if name.startswith("believed") else "counted as one worker"
        would = f"{count[1, k]} tasks in place of {count[0, k]} would be {self.classes[k]!r}"
        return (
            f"{changed.sum()} of {len(changed)} labels ({changed.mean():.0%}) depend on whether {sharing} their "
            f"mistakes{either}: {believed}, {would}. Check about 10 tasks: cofactor next {file} --checks 10, then pass "
            "them with --gold"
        )

    def checks(self, n_tasks: int) -> pd.DataFrame:
        """Choose tasks to look up, whose truth would tell which reading is right.

        They are drawn evenly (seed 0) among the tasks on which the readings differ, since the best-looking ones would
        favour one of them; where these are too few, the tasks come next of which the model is least sure.

        Returns
        -------
        DataFrame with columns task, one for the label under each reading, and differ; the order is that of looking.
        """
        check_whole(1, n_tasks=n_tasks)
        order = np.random.default_rng(0).permutation(len(self.tasks))
        sure = self.posterior("model").max(axis=1)
        chosen = order[np.lexsort((np.where(self.differ, 0.0, sure)[order], ~self.differ[order]))][:n_tasks]
        said = {name: [self.classes[k] for k in self.posterior(name)[chosen].argmax(axis=1)] for name in self.names}
        columns = {"task": [self.tasks[n] for n in chosen]} | said
        return pd.DataFrame(columns | {"differ": self.differ[chosen]})


def readings(labels: Labels, method: WorkerTypes | None = None, group: Mapping[Any, Any] | None = None) -> Readings:
    """Read labels as the vote, as the model, and as the camps of the crowd would have them read.

    Parameters
    ----------
    labels : CrowdLabels, DataFrame with columns task, worker, label, or path of a file with these
    method : WorkerTypes, optional
        Fitted on these labels, without gold, or not fitted yet. Default: the default is fitted.
    group : dict, optional
        Of workers, the name of the family or model they belong to: each group as one voice is then a reading, too.

    Raises a CofactorError for labels that cannot be read, a method of other labels, or a group of other workers.

    Cost
    ----
    A fit of `WorkerTypes` for each reading, of which that of the model is given with `method`, and that of
    `camps` and `dissenters`: three fits in the median.

    Examples
    --------
    >>> from cofactor import simulate
    >>> found = readings(simulate.crowd(simulate.dawid_skene_model(5, 2, random_state=0), 50, random_state=0).labels)
    >>> found.names
    ('vote', 'model')
    """
    known = as_labels(labels)
    default = WorkerTypes() if method is None else method
    check_kind(WorkerTypes, method=default)
    own = fitted_on(default, known)
    assert isinstance(own, WorkerTypes)  # as the default
    found = {"vote": vote_shares(known), "model": np.asarray(own.predict_proba(known))}
    groups: dict[str, list[Any]] = {}
    if own.types_ and not own.by_vote_:
        for kind, workers, posterior in _of_camps(known.whole, own, found["model"], group or {}):
            n = sum(name.startswith(kind) for name in groups)
            name = f"{kind} {n + 1}" if n else kind
            found[name], groups[name] = posterior, [known.workers[w] for w in workers]
    posteriors = np.stack(list(found.values()))
    return Readings(known.tasks, known.classes, tuple(found), posteriors, groups, _differ(posteriors))


def _of_camps(
    labels: CrowdLabels, method: WorkerTypes, P: Floats, group: Mapping[Any, Any]
) -> Iterator[tuple[str, Ints, Floats]]:
    """Yield the kind of each reading of a camp, its workers, and the probabilities under it."""
    owner, met = method._owner, method._met(labels)
    table = met.table

    def as_one(owner: Ints) -> Floats:
        return np.asarray(_as_voices(method, owner, labels).predict_proba(labels))

    families = _families(labels, group)
    if families:
        together = owner
        for family in families:
            together = joined(together, family)
        yield "groups", np.sort(np.concatenate(families)), as_one(together)
    for camp in camps(met, owner):
        together = joined(owner, camp)
        yield "one voice", np.flatnonzero(together == together[camp[0]]), as_one(together)
    apart = _as_voices(method, np.arange(len(owner)), labels) if method.copies_ else method
    here = np.unique(owner[np.unique(table.variables)])
    for voices in dissenters(met, apart.model_, apart.design_effect_):
        of_them, others = np.isin(table.variables, voices), np.setdiff1d(here, owner[voices])
        if of_them.mean() >= LEAST_VOICE and len(np.unique(owner[voices])) > 1 and len(others) > 1:
            has = np.bincount(table.rows[of_them], minlength=labels.n_tasks) > 0
            yield "believed", voices, np.where(has[:, None], as_one(joined(owner, others)), P)


def _families(labels: CrowdLabels, group: Mapping[Any, Any]) -> list[Ints]:
    """Return the codes of the workers of each group of two or more."""
    strange = set(group) - set(labels.workers)
    if strange:
        raise CofactorError(f"group names workers that gave no label: {listing(map(repr, strange))}")
    names: dict[Any, list[int]] = {}
    for w, worker in enumerate(labels.workers):
        if worker in group:
            names.setdefault(group[worker], []).append(w)
    return [np.array(family) for family in names.values() if len(family) > 1]


def _as_voices(method: WorkerTypes, owner: Ints, labels: CrowdLabels) -> WorkerTypes:
    """Return the method with these workers as one, fitted without a word."""
    as_one = clone(method).set_params(one_voice=groups_of(owner, labels.workers), merge_copies=False, verbose=False)
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", category)
        return as_one.fit(labels)


def believed(
    labels: Labels, gold: Gold, verbose: bool = False, group: Mapping[Any, Any] | None = None
) -> tuple[Aggregator, dict[str, float]]:
    """Fit the reading that tasks of known class choose, and teach it their classes.

    Of each reading, fitted without gold, those gold tasks are counted that it labels rightly; a tie of t classes counts
    1 / t. The model is taken unless another has two more of them right, or fewer than five are known.

    Parameters
    ----------
    labels, gold : as in `Aggregator.fit`
    verbose : bool
    group : dict, optional
        As in `readings`.

    Returns
    -------
    method : Aggregator
        `WorkerTypes`, `MajorityVote` where the vote was chosen, or `Believed`; gold tasks keep their class.
    right : dict
        Of each reading, how many gold tasks it has right; empty with fewer than five.

    Raises a CofactorError as `fit`. Cost: that of `readings`, and a fit.
    """
    known = as_labels(labels)
    codes = gold_codes(gold, known)
    if np.sum(codes != UNKNOWN) < LEAST_GOLD:
        return WorkerTypes(verbose=verbose).fit(known, gold=codes), {}
    found = readings(known, group=group)
    right = {name: float(right_shares(found.posterior(name), codes).sum()) for name in found.names}
    best = max(right, key=lambda name: right[name])
    chosen = best if right[best] >= right["model"] + CLEARLY_MORE else "model"
    method: Aggregator = WorkerTypes(verbose=verbose)
    if chosen == "vote":
        method = MajorityVote(skills=dict.fromkeys(known.workers, 1.0), verbose=verbose)
    elif chosen.startswith("believed"):
        method = Believed(found.groups[chosen], verbose=verbose)
    elif chosen == "groups":
        families = _families(known, group or {})
        method = WorkerTypes(one_voice=[[known.workers[w] for w in family] for family in families], verbose=verbose)
    elif chosen != "model":
        method = WorkerTypes(one_voice=(found.groups[chosen],), verbose=verbose)
    return method.fit(known, gold=codes), right


@dataclass(eq=False, repr=False)
class Believed(Aggregator):
    """`WorkerTypes` in which some workers are believed: all others count as one worker on the tasks that they labelled.

    Parameters
    ----------
    workers : sequence of workers
    """

    takes_shares = True
    workers: Sequence[Any] = ()
    random_state: int | None = None
    verbose: bool = False

    def _takes_gold(self) -> bool:
        return True

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        others = [worker for worker in labels.workers if worker not in set(self.workers)]
        self._model = WorkerTypes(verbose=self.verbose).fit(labels, gold)
        self._as_one = WorkerTypes(one_voice=(others,), verbose=self.verbose).fit(labels, gold)
        self.model_, self.result_ = self._as_one.model_, self._as_one.result_

    def _posterior(self, labels: CrowdLabels) -> Floats:
        theirs = np.isin(labels.table.variables, [w for w, x in enumerate(labels.workers) if x in set(self.workers)])
        has = np.bincount(labels.table.rows[theirs], minlength=labels.n_tasks) > 0
        return np.where(has[:, None], self._as_one._posterior(labels), self._model._posterior(labels))


def _differ(posteriors: Floats) -> NDArray[np.bool_]:
    """Tell of every task whether a label of the others is none of the vote's, or no label of the model."""
    votes, others = posteriors[0], posteriors[1:]
    chosen = others.argmax(axis=2)
    behind = votes.max(axis=1) - np.take_along_axis(votes, chosen.T, axis=1).T > SAME_SHARE
    return np.asarray(behind.any(axis=0) | (chosen != chosen[0]).any(axis=0))
