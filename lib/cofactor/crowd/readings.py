"""Readings: several answers that one set of labels allows, and where they differ.

The vote believes everybody alike. The model believes those who fit together best; but workers who share a source, such
as judges of one family, fit together also where all of them are wrong. The labels alone cannot tell the two apart. So
three readings are compared:

    vote        the class that most workers chose
    model       `WorkerTypes`
    one voice   `WorkerTypes`, the closest group of workers counted as one, see `cofactor.crowd.groups`

Source: this kit's. What ten known tasks gain is in docs/aggregation.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_kind, check_whole
from cofactor.core.errors import listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator, Labels, as_labels, right_shares
from cofactor.crowd.bootstrap import fitted_on
from cofactor.crowd.copies import owners, without_copies
from cofactor.crowd.evidence import UNKNOWN, Gold, gold_codes
from cofactor.crowd.groups import MOST_CROWD, closest_group
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.voting import MajorityVote
from cofactor.crowd.worker_types import WorkerTypes

View = Literal["vote", "model", "one voice"]

MANY_DIFFER = 0.1  # of all tasks: from here on, a warning
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
        "vote", "model" and, where there is a closest group, "one voice".
    posteriors : (R, N, K) array
        Class probabilities of every task under every reading; shares of the votes for the vote.
    one_voice : list
        Ids of the workers whose labels count as those of one worker under "one voice"; empty without a closest group.
    differ : (N,) bools
        Tasks whose label hangs on the reading. A label among tied classes of the vote is no difference.
    """

    tasks: list[Any]
    classes: list[Any]
    names: tuple[View, ...]
    posteriors: Floats
    one_voice: list[Any]
    differ: NDArray[np.bool_]

    @property
    def share_differing(self) -> float:
        """Share of all tasks whose label hangs on the reading, as `differ` tells of each."""
        return float(self.differ.mean())

    @property
    def ambiguous(self) -> bool:
        """Whether they differ on so many tasks that somebody should look."""
        return self.share_differing >= MANY_DIFFER

    def __str__(self) -> str:
        group = f"; one voice counts {listing(self.one_voice)} as one worker" if self.one_voice else ""
        share, names = f"{self.share_differing:.1%}", ", ".join(self.names)
        return f"{share} of the tasks ({self.differ.sum()}) hang on the reading: {names}{group}"

    def warning(self) -> str:
        """Return what must be read before the labels are used; empty where the readings agree well enough."""
        if not self.ambiguous:
            return ""
        return (
            f"these labels allow more than one reading: on {self.share_differing:.0%} of the tasks the label hangs on "
            f"whether {self._doubt()}; ten checked tasks would tell which: `cofactor next --checks 10`, then --gold"
        )

    def _doubt(self) -> str:
        labels = self.posteriors.argmax(axis=2)
        matters = bool((labels[-1] != labels[self.names.index("model")]).any())
        of_group = f", and whether {listing(self.one_voice)} are one voice" if matters else ""
        return f"most workers are right or those whom the model believes{of_group}"

    def checks(self, n_tasks: int) -> pd.DataFrame:
        """Choose tasks to look up, whose truth would tell which reading is right.

        They are drawn evenly (seed 0) among the tasks on which the readings differ, since the best-looking ones would
        favour one of them; where these are too few, the tasks come next of which the model is least sure.

        Parameters
        ----------
        n_tasks : int

        Returns
        -------
        DataFrame with columns task, one for the label under each reading, and differ; the order is that of looking.
        """
        check_whole(1, n_tasks=n_tasks)
        order = np.random.default_rng(0).permutation(len(self.tasks))
        sure = self.posteriors[self.names.index("model")].max(axis=1)
        chosen = order[np.lexsort((np.where(self.differ, 0.0, sure)[order], ~self.differ[order]))][:n_tasks]
        said = {
            name: self._said(posterior, chosen) for name, posterior in zip(self.names, self.posteriors, strict=True)
        }
        columns = {"task": [self.tasks[n] for n in chosen]} | said
        return pd.DataFrame(columns | {"differ": self.differ[chosen]})

    def _said(self, posterior: Floats, tasks: Ints) -> list[Any]:
        return [self.classes[k] for k in posterior[tasks].argmax(axis=1)]


def readings(labels: Labels, method: WorkerTypes | None = None) -> Readings:
    """Read labels as the vote, as the model, and with the closest group of workers as one voice.

    Parameters
    ----------
    labels : CrowdLabels, DataFrame with columns task, worker, label, or path of a file with these
    method : WorkerTypes, optional
        Fitted on these labels, without gold, or not fitted yet. Default: the default is fitted.

    Returns
    -------
    Readings

    Raises a CofactorError for labels that cannot be read, or a method of other labels.

    Cost
    ----
    Two fits of `WorkerTypes`, of which one is given with `method`; more than 100 workers are read in two ways only.

    Examples
    --------
    >>> from cofactor import simulate
    >>> found = readings(simulate.crowd(simulate.dawid_skene_model(5, 2, random_state=0), 50, random_state=0).labels)
    >>> found.names
    ('vote', 'model', 'one voice')
    """
    known = as_labels(labels)
    default = WorkerTypes() if method is None else method
    check_kind(WorkerTypes, method=default)
    own = fitted_on(default, known)
    found: dict[View, Floats] = {"vote": vote_shares(known), "model": np.asarray(own.predict_proba(known))}
    family = _closest(known)
    if family:
        found["one voice"] = WorkerTypes(one_voice=(family,), design_effect=0.0).fit(known).predict_proba(known)
    posteriors = np.stack(list(found.values()))
    return Readings(known.tasks, known.classes, tuple(found), posteriors, family, _differ(posteriors))


def _closest(labels: CrowdLabels) -> list[Any]:
    """Return the workers of the closest group; none of a crowd that is too large, where copies need not be sought."""
    if labels.n_workers > MOST_CROWD:
        return []
    table = labels.whole.table
    return [labels.workers[w] for w in closest_group(without_copies(table, owners(table)))]


def believed(labels: Labels, gold: Gold, verbose: bool = False) -> tuple[Aggregator, dict[View, float]]:
    """Fit the reading that tasks of known class choose, and teach it their classes.

    Of each reading, fitted without gold, those gold tasks are counted that it labels rightly; a tie of t classes counts
    1 / t. The model is taken unless another has two more of them right, or fewer than five are known.

    Parameters
    ----------
    labels, gold : as in `Aggregator.fit`
    verbose : bool

    Returns
    -------
    method : Aggregator
        `WorkerTypes`, or `MajorityVote` where the vote was chosen; gold tasks keep their class.
    right : dict
        Of each reading, how many gold tasks it has right; empty with fewer than five.

    Raises a CofactorError as `fit`. Cost: three fits of `WorkerTypes`.
    """
    known = as_labels(labels)
    codes = gold_codes(gold, known)
    if np.sum(codes != UNKNOWN) < LEAST_GOLD:
        return WorkerTypes(verbose=verbose).fit(known, gold=codes), {}
    found = readings(known)
    right = {
        name: float(right_shares(posterior, codes).sum())
        for name, posterior in zip(found.names, found.posteriors, strict=True)
    }
    best = max(right, key=lambda name: right[name])
    chosen = best if right[best] >= right["model"] + CLEARLY_MORE else "model"
    if chosen == "vote":
        alike = dict.fromkeys(known.workers, 1.0)
        return MajorityVote(skills=alike, verbose=verbose).fit(known, gold=codes), right
    one_voice = (found.one_voice,) if chosen == "one voice" else ()
    return WorkerTypes(one_voice=one_voice, verbose=verbose).fit(known, gold=codes), right


def _differ(posteriors: Floats) -> NDArray[np.bool_]:
    """Tell of every task whether a label of the others is none of the vote's, or no label of the model."""
    votes, others = posteriors[0], posteriors[1:]
    chosen = others.argmax(axis=2)
    behind = votes.max(axis=1) - np.take_along_axis(votes, chosen.T, axis=1).T > SAME_SHARE
    return np.asarray(behind.any(axis=0) | (chosen != chosen[0]).any(axis=0))
