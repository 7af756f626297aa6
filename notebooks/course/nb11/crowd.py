"""The crowd of the capstone, drawn from a seed, and the shop that sells the truth of twenty tasks.

Twelve people sort 300 leaves into three trees. Four learnt it from one field guide and three from another; the guides
name one kind of leaf differently, and which of the two is wrong is drawn as well. So the labels follow the same law
whichever it is: only checked tasks can tell. Of the others one guesses half of the time and has two copies, and two
always give one class.

    symbol  meaning                                             shape
    z       kind of leaf: a class, or the kind in dispute       (N,)
    truth   class; of the kind in dispute, that of one guide    (N,)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import UNKNOWN, CrowdLabels
from cofactor.crowd.readings import SAME_SHARE, Readings, readings
from cofactor.simulate import Crowd
from course.seeds import number_of

CLASSES = ("alder", "beech", "elm")
N_TASKS, SEEN = 300, 0.8  # and the share of the tasks that a worker labels
GUIDE, OTHERS, COPIES, CONSTANT = "first guide", "second guide", "copies", "always one class"
KINDS = (*[GUIDE] * 4, *[OTHERS] * 3, *[COPIES] * 3, *[CONSTANT] * 2)
SKILLS = {GUIDE: (0.88, 0.92), OTHERS: (0.74, 0.86)}  # share right, of leaves that are not in dispute
WEAK = 0.5  # share right of the worker who is copied
DISPUTED = 0.5  # share of one class that the guides name differently
FOLLOWED = 0.9  # share of these on which somebody follows the own guide
BUDGET = 20
CLEARLY = 0.8  # share of the leaves in dispute on which a reading follows its guide


class Drawn(NamedTuple):
    """A crowd, who is what in it, whether the larger family is wrong, and what the labels can be taken to say."""

    crowd: Crowd
    kinds: tuple[str, ...]
    guide_is_wrong: bool
    found: Readings

    @property
    def group(self) -> dict[int, str]:
        """The workers who learnt from the first guide."""
        return same_guide(self.kinds)

    @property
    def said(self) -> Ints:
        """(3, N) class codes of every task under every reading."""
        return np.asarray(self.found.posteriors.argmax(axis=2))

    def are(self, kind: str) -> Ints:
        """Tell, with one or zero, which workers are of a kind."""
        return np.array([own == kind for own in self.kinds], dtype=np.int64)


@lru_cache(maxsize=64)
def drawn(seed: str, number: int = 0) -> Drawn:
    """Draw the crowd of a seed; other numbers give others, of which every second has the other guide wrong.

    A crowd whose readings do not follow one guide each is drawn again, whichever guide is wrong.

    Cost: two fits of `WorkerTypes`, some 0.05 s, and as much for each that is drawn again, one in twenty.
    """
    rng = np.random.default_rng([number_of(seed), number])
    guide_is_wrong = bool((number_of(seed) + number) % 2)
    while True:
        labels, kinds, z, named, other = _draw(rng)
        found = three_readings(labels, same_guide(kinds))
        if _as_meant(found, z == len(CLASSES), named, other):
            break
    truth = np.where(z == len(CLASSES), named if guide_is_wrong else other, z)
    return Drawn(Crowd(labels, truth, None), kinds, guide_is_wrong, found)


def _draw(rng: np.random.Generator) -> tuple[CrowdLabels, tuple[str, ...], Ints, int, int]:
    """Draw labels, who is what, the kinds of leaf, and how either guide names the kind in dispute."""
    named, other = rng.permutation(len(CLASSES))[:2].tolist()
    model = _model(rng, named, other)
    task, worker = np.nonzero(rng.random((N_TASKS, model.n_variables)) < SEEN)
    table, z = model.sample(N_TASKS, (task, worker), rng)
    first = KINDS.index(COPIES)
    copied = [first] * KINDS.count(COPIES)
    codes = table.codes[:, [*range(first), *copied, *range(first + 1, model.n_variables)]]
    order = rng.permutation(len(KINDS))
    return _labels(codes[:, order]), tuple(KINDS[m] for m in order), z, named, other


def same_guide(kinds: tuple[str, ...]) -> dict[int, str]:
    """Return the workers who learnt from the first guide, which is known of them."""
    return {m: kind for m, kind in enumerate(kinds) if kind == GUIDE}


def three_readings(labels: CrowdLabels, group: dict[int, str]) -> Readings:
    """Return the readings vote, model, and the workers of a group as one, and no others."""
    found = readings(labels, group=group)
    posteriors = np.stack([found.posterior(name) for name in ("vote", "model", "groups")])
    said = posteriors[1:].argmax(axis=2)
    votes = posteriors[0]
    behind = votes.max(axis=1) - np.take_along_axis(votes, said.T, axis=1).T > SAME_SHARE
    differ = behind.any(axis=0) | (said[0] != said[1])
    names, together = ("vote", "model", "merged"), {"merged": found.groups["groups"]}
    return Readings(found.tasks, found.classes, names, posteriors, together, differ)


def _as_meant(found: Readings, disputed: Any, named: int, other: int) -> bool:
    """Tell whether the model follows the first guide, and the reading with this family as one the second."""
    followed = (found.posteriors.argmax(axis=2)[1:, disputed] == [[other], [named]]).mean(axis=1)
    return bool((followed >= CLEARLY).all())


def _model(rng: np.random.Generator, named: int, other: int) -> LatentClassModel:
    """The workers that are drawn: nobody yet is copied, and the last latent class is the kind in dispute."""
    K = len(CLASSES)
    prior = np.append(np.full(K, 1 / K), DISPUTED / K)
    prior[named] -= DISPUTED / K
    says = {GUIDE: other, OTHERS: named}
    read = [_reader(rng.uniform(*SKILLS[kind]), says[kind]) for kind in KINDS if kind in SKILLS]
    weak = _reader(WEAK, named)
    weak[:, K] = weak[:, named]
    constant = [np.eye(K)[:, [k] * (K + 1)] for k in rng.permutation(K)[: KINDS.count(CONSTANT)]]
    return LatentClassModel(prior, [*read, weak, *constant])


def _reader(right: float, disputed_as: int) -> Floats:
    """(K, K + 1) probabilities of labels for the classes, and for the kind in dispute."""
    K = len(CLASSES)
    plain = right * np.eye(K) + (1 - right) / (K - 1) * (1 - np.eye(K))
    follows = np.full(K, (1 - FOLLOWED) / (K - 1))
    follows[disputed_as] = FOLLOWED
    return np.column_stack([plain, follows])


def _labels(codes: Ints) -> CrowdLabels:
    task, worker = np.nonzero(codes >= 0)
    N, M = codes.shape
    made = CrowdLabels.from_arrays(task, worker, codes[task, worker], len(CLASSES), N, M, unlabelled="keep")
    return CrowdLabels(made.table, range(N), range(M), CLASSES)


def group_of(seed: str) -> dict[int, str]:
    """Return the workers of a learner's crowd who learnt from the first guide."""
    return drawn(seed).group


def draw_crowd(seed: str) -> CrowdLabels:
    """Return the labels of a learner's crowd; a CofactorError for a seed that is no text."""
    return drawn(seed).crowd.labels


def truth_of(seed: str) -> Crowd:
    """Return the labels of a learner's crowd with the truth, for the end."""
    return drawn(seed).crowd


# ---- the shop ----

_sold: dict[str, Ints] = {}  # task codes, by seed


class Shop:
    """Sells the true class of tasks, as many as the budget allows; whoever asks again for a task pays once.

    A new shop begins with the whole budget: cells can be run again.
    """

    def __init__(self, seed: str, budget: int = BUDGET) -> None:
        self.seed, self.budget = seed, budget
        self.bought: Ints = np.zeros(0, dtype=np.int64)

    @property
    def left(self) -> int:
        """How many labels can still be bought."""
        return self.budget - len(self.bought)

    def buy(self, tasks: ArrayLike) -> Ints:
        """Return the truth as far as it is known: (N,) class codes, -1 for what was not bought.

        Raises
        ------
        CofactorError
            A task does not exist, or the tasks cost more than is left; nothing is sold then.
        """
        asked = np.unique(whole(tasks))
        strange = asked[(asked < 0) | (asked >= N_TASKS)]
        if strange.size:
            raise CofactorError(f"no task {listing(strange)}: tasks are numbered from 0 to {N_TASKS - 1}")
        new = np.setdiff1d(asked, self.bought)
        if len(new) > self.left:
            raise CofactorError(f"{len(new)} labels asked for, {self.left} of {self.budget} left: choose fewer tasks")
        self.bought = np.append(self.bought, new)
        _sold[self.seed] = self.bought
        return known(self.seed, self.bought)


def whole(tasks: ArrayLike) -> Ints:
    """Return task numbers as a flat array of whole numbers, or raise a CofactorError."""
    found: Any = np.ravel(np.asarray(list(tasks) if isinstance(tasks, Iterable) else tasks))
    if not np.issubdtype(found.dtype, np.integer):
        raise CofactorError(f"tasks are whole numbers, got {listing(found)}: np.flatnonzero converts a mask to numbers")
    return np.asarray(found, dtype=np.int64)


def known(seed: str, tasks: Ints) -> Ints:
    """Return (N,) classes of these tasks of the seed's crowd, -1 elsewhere."""
    truth = np.full(N_TASKS, UNKNOWN)
    truth[tasks] = drawn(seed).crowd.truth[tasks]
    return truth


def sold(seed: str) -> Ints:
    """Return the tasks that a learner bought, or those that cofactor would have bought."""
    return _sold[seed] if len(_sold.get(seed, ())) else split_evenly(drawn(seed).found.posteriors, BUDGET)


def differ(posteriors: Floats) -> Any:
    """(N,) whether a reading gives another class than the vote."""
    said = posteriors.argmax(axis=2)
    return (said != said[0]).any(axis=0)


def split_evenly(posteriors: Floats, budget: int) -> Ints:
    """Draw half of the tasks evenly where readings differ, and half where they agree."""
    apart, rng = differ(posteriors), np.random.default_rng(0)
    some = [rng.permutation(np.flatnonzero(mask)) for mask in (apart, ~apart)]
    first = some[0][: budget // 2]
    return np.concatenate([first, some[1][: budget - len(first)]])
