"""Answers to the exercises of notebook 11: exercise, what the reply says, and the answer made from what is given."""

from math import comb

import numpy as np
import pandas as pd

# ---- who copies, who is constant ----


def agreement(labels):
    gave = labels >= 0
    both = gave[:, :, None] & gave[:, None, :]
    same = (both & (labels[:, :, None] == labels[:, None, :])).sum(axis=0) / both.sum(axis=0)
    np.fill_diagonal(same, 0)
    return same


def never_differ(labels):
    """Pair by pair, in loops."""
    M, found = labels.shape[1], []
    for m in range(M):
        pairs = [(labels[:, m] >= 0) & (labels[:, j] >= 0) & (labels[:, m] != labels[:, j]) for j in range(M) if j != m]
        found.append(any(not pair.any() for pair in pairs))
    return found


def of_frame(labels):
    frame = pd.DataFrame(labels).where(labels >= 0)
    return (frame.isna() | (frame == frame.max())).all()


def least(labels):
    """The three who agree least with the others."""
    mean = agreement(labels).mean(axis=0)
    return np.isin(np.arange(len(mean)), mean.argsort()[:3])


# ---- where readings part ----


def parted(g, kind=None, count=None):
    """Leaf by leaf, with the set of classes that have most votes."""
    leaves, pairs = [0, 0, 0], {}
    for votes, model, voice in zip(*g["posteriors"], strict=True):
        most, a, b = set(np.flatnonzero(votes >= votes.max() - 1e-9)), int(model.argmax()), int(voice.argmax())
        leaves = [n + more for n, more in zip(leaves, (a not in most, b not in most, a != b), strict=True)]
        pairs[a, b] = pairs.get((a, b), 0) + (a != b)
    return leaves if count is None else count, max(pairs, key=pairs.get) if kind is None else kind


def first_of_ties(g):
    vote, model, voice = g["posteriors"].argmax(axis=2)
    return [np.sum(vote != model), np.sum(vote != voice), np.sum(model != voice)]


# ---- what to buy ----


def apart(posteriors):
    said = posteriors.argmax(axis=2)
    return (said != said[0]).any(axis=0)


def halves(posteriors, budget):
    rng = np.random.default_rng(3)
    where = apart(posteriors)
    some = [rng.choice(np.flatnonzero(mask), budget // 2, replace=False) for mask in (where, ~where)]
    return np.concatenate(some)


def twelve_and_eight(posteriors, budget):
    rng = np.random.default_rng(8)
    where = apart(posteriors)
    first = rng.choice(np.flatnonzero(where), 3 * budget // 5, replace=False)
    return [*first, *rng.choice(np.flatnonzero(~where), budget - len(first), replace=False)]


def first_of_each(posteriors, budget):
    """The tasks come in no order, so the first ones are as good as any."""
    where = apart(posteriors)
    return np.append(np.flatnonzero(where)[: budget // 2], np.flatnonzero(~where)[: budget // 2]).astype(float)


def without_replacement_forgotten(posteriors, budget):
    return np.random.default_rng(0).choice(np.flatnonzero(apart(posteriors))[:15], budget)


def surest(posteriors, budget):
    return posteriors[1].max(axis=1).argsort()[-budget:]


def least_sure(posteriors, budget):
    return posteriors[1].max(axis=1).argsort()[:budget]


def closest_votes(posteriors, budget):
    return np.argsort(posteriors[0].max(axis=1))[:budget]


# ---- which reading, and a number ----


def counts(given):
    known = given["truth"] >= 0
    return (given["said"][:, known] == given["truth"][known]).sum(axis=1)


def groups(right, bought, share, half=0.5):
    p = (right + half) / (bought + 2 * half)
    return share @ p, np.sqrt(np.sum(share**2 * p * (1 - p) / (bought + 2 * half)))


def ends(p, s, times=1.645):
    return p, max(p - times * s, 0), min(p + times * s, 1)


def by_loop(g):
    p, variance = 0, 0
    for k, n, weight in zip(g["right"], g["bought"], g["share"], strict=True):
        own = (k + 0.5) / (n + 1)
        p, variance = p + weight * own, variance + weight**2 * own * (1 - own) / (n + 1)
    return ends(p, variance**0.5)


# ---- what twenty checks can show ----


def missed(g, case):
    """Counted: draws without a wrong leaf, of all draws, group by group."""
    ways = 1
    for mask, n in zip((g["apart"], ~g["apart"]), g["checks"][case], strict=True):
        ways *= comb(int((mask & ~g["wrong"][case]).sum()), int(n)) / comb(int(mask.sum()), int(n))
    return ways


def replaced(g, case):
    pairs = zip((g["apart"], ~g["apart"]), g["checks"][case], strict=True)
    return 1 - np.prod([(1 - g["wrong"][case][mask].mean()) ** n for mask, n in pairs])


def spoilt(g):
    return g["wrong"][2:].sum(axis=1).tolist()


def binomial(q, n=20):
    return np.array([comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)])


def fits(k, tail=0.05, first=0):
    """The first and last error rate of a fine grid with which neither end is rarer than `tail`."""
    q = np.arange(1, 20_000) / 20_000
    p = binomial(q)
    grid = q[(p[k + first :].sum(axis=0) >= tail) & (p[: k + 1].sum(axis=0) >= tail)]
    return grid[0], grid[-1]


def surely(least):
    """The share right at which so many of twenty come in 90 % of draws, by halving."""
    low, high = 0.3, 0.99
    for _ in range(30):
        q = (low + high) / 2
        low, high = (low, q) if binomial(q)[least:].sum() > 0.9 else (q, high)
    return low


def unseen(g, **others):
    """The answer; what is named is put in the place of its part."""
    right = {
        "ab": [1 - missed(g, 0), 1 - missed(g, 1)],
        "cd": [1 - missed(g, 2), 0],
        "interval": fits(g["n_wrong"]),
        "least": g["dispute"] * (2 * surely(11) - 1),
    }
    return tuple((right | others).values())


def normal(k, n, times=1.645):
    s = times * (k / n * (1 - k / n) / n) ** 0.5
    return max(k / n - s, 0), k / n + s


COPIES = [
    ("correct", lambda g: (agreement(g["labels"]) == 1).any(axis=1)),
    ("correct", lambda g: never_differ(g["labels"])),
    ("correct", lambda g: (agreement(g["labels"]) > 0.97).any(axis=0).astype(int)),
    ("copies agree on every task", lambda g: (agreement(g["labels"]) > 0.75).any(axis=0)),
    ("not always", lambda g: (agreement(g["labels"]) > 0.75).any(axis=0) & ~(agreement(g["labels"]) == 1).any(axis=0)),
    ("never change their answer", lambda g: of_frame(g["labels"])),
    ("all the others", lambda g: (agreement(g["labels"]) < 1).all(axis=0)),
    ("expected an array of shape (12,)", lambda g: [1, 7, 8]),
    ("expected an array of shape (12,)", lambda g: agreement(g["labels"]) == 1),
    ("not answered yet", lambda g: None),
    ("not yet", lambda g: least(g["labels"])),
]
CONSTANTS = [
    ("correct", lambda g: of_frame(g["labels"])),
    ("correct", lambda g: [len(set(column[column >= 0])) == 1 for column in g["labels"].T]),
    ("they use all classes", lambda g: (agreement(g["labels"]) == 1).any(axis=1)),
    ("all the others", lambda g: ~of_frame(g["labels"])),
    ("among these are the copies", lambda g: of_frame(g["labels"]) | (agreement(g["labels"]) == 1).any(axis=1)),
    ("no array of numbers", lambda g: ["worker 3", "worker 4"]),
]
CHOOSE = [
    ("correct", lambda g: halves),
    ("correct", lambda g: twelve_and_eight),
    ("correct", lambda g: first_of_each),
    ("hardly more often than tasks drawn at random", lambda g: lambda p, n: np.arange(n)),
    ("hardly more often than tasks drawn at random", lambda g: surest),
    ("split the budget", lambda g: lambda p, n: np.flatnonzero(apart(p))[:n]),
    ("an accuracy counted on them is not that of the rest", lambda g: least_sure),
    ("a task is chosen twice", lambda g: without_replacement_forgotten),
    ("expected an array of shape (20,)", lambda g: lambda p, n: apart(p)),
    ("no task numbers", lambda g: lambda p, n: p[1, :n, 0]),
    ("no task numbers", lambda g: lambda p, n: np.arange(n) + 290),
    ("not yet: ", lambda g: lambda p, n: closest_votes(p, n)[::-1] * 0),
    ("stops with KeyError", lambda g: lambda p, n: {}["tasks"]),
    ("the function itself", lambda g: halves(**g)),
]
READING = [
    ("correct", lambda g: (counts(g), counts(g).argmax())),
    ("correct", lambda g: {"right": counts(g).tolist(), "reading": float(counts(g).argmax())}),
    ("counts of wrong labels", lambda g: (20 - counts(g), counts(g).argmax())),
    ("these are shares", lambda g: (counts(g) / 20, counts(g).argmax())),
    ("shares of all tasks", lambda g: ((g["said"] == g["truth"]).mean(axis=1), counts(g).argmax())),
    ("this takes the model", lambda g: (counts(g), 1)),
    ("this takes the vote", lambda g: (counts(g), 0)),
    ("give 2 arrays", lambda g: counts(g)),
]
DEFENDED = [
    ("correct", lambda g: ends(*groups(**g))),
    ("correct", by_loop),
    ("correct", lambda g: np.round(ends(*groups(**g)), 4)),
    ("both groups count alike", lambda g: ends(*groups(**g | {"share": np.full(2, 0.5)}))),
    ("1.96 standard errors", lambda g: ends(*groups(**g), 1.96)),
    ("one standard error", lambda g: ends(*groups(**g), 1)),
    ("not yet", lambda g: ends(*groups(**g, half=1e-9))),
    ("per cent", lambda g: 100 * np.array(ends(*groups(**g)))),
    ("expected an array of shape (3,)", lambda g: groups(**g)),
]
PARTED = [
    ("correct", parted),
    ("correct", lambda g: {"dispute": parted(g)[1], "leaves": parted(g)[0]}),
    ("correct", lambda g: (np.array(parted(g)[0], dtype=float), list(parted(g)[1]))),
    ("here the first was taken", lambda g: parted(g, count=first_of_ties(g))),
    ("on which they agree", lambda g: parted(g, count=300 - np.array(parted(g)[0]))),
    ("these are shares", lambda g: parted(g, count=np.array(parted(g)[0]) / 300)),
    ("the two are swapped", lambda g: parted(g, kind=parted(g)[1][::-1])),
    ("in per cent", lambda g: parted(g, count=100 * np.array(parted(g)[0]))),
    ("is too", lambda g: parted(g, count=[0, 0, 0])),
    ("counted from 0", lambda g: parted(g, kind=np.array(parted(g)[1]) + 1)),
    ("expected an array of shape (3,)", lambda g: parted(g, count=parted(g)[0][2])),
    ("expected an array of shape (2,)", lambda g: parted(g, kind=0)),
    ("give 2 arrays or numbers", lambda g: sum(parted(g)[0])),
]
UNSEEN = [
    ("correct", unseen),
    ("correct", lambda g: dict(zip(("least", "interval", "cd", "ab"), unseen(g)[::-1], strict=True))),
    ("correct", lambda g: unseen(g, interval=np.round(fits(g["n_wrong"]), 3))),
    ("correct", lambda g: unseen(g, ab=1 - np.array([missed(g, 0), missed(g, 1)]), cd=np.array([1 - missed(g, 2), 0]))),
    ("that no check shows it", lambda g: unseen(g, ab=(missed(g, 0), missed(g, 1)))),
    ("draws with replacement", lambda g: unseen(g, ab=(replaced(g, 0), replaced(g, 1)))),
    ("in D a leaf that is checked", lambda g: unseen(g, cd=(1 - missed(g, 2), 1 - missed(g, 3)))),
    ("ask in C which are drawn", lambda g: unseen(g, cd=[1 - comb(300 - n, 20) / comb(300, 20) for n in spoilt(g)])),
    (
        "only the checks where readings agree",
        lambda g: unseen(g, cd=(1 - comb(300 - spoilt(g)[0], 20) / comb(300, 20), 0)),
    ),
    ("is too large", lambda g: unseen(g, cd=(1 - missed(g, 2), 0.3))),
    ("in per cent", lambda g: unseen(g, cd=(100 - 100 * missed(g, 2), 0))),
    ("2.5 % beyond either end", lambda g: unseen(g, interval=fits(g["n_wrong"], 0.025))),
    ("leaves it out", lambda g: unseen(g, interval=fits(g["n_wrong"], first=1))),
    ("which is no binomial", lambda g: unseen(g, interval=normal(g["n_wrong"], 20))),
    ("good for a sum of groups", lambda g: unseen(g, interval=normal(g["n_wrong"] + 0.5, 21))),
    ("expected an array of shape (2,)", lambda g: unseen(g, interval=g["n_wrong"] / 20)),
    ("on all others the readings are equally right", lambda g: unseen(g, least=2 * surely(11) - 1)),
    ("asked is a difference", lambda g: unseen(g, least=surely(11))),
    ("the other loses it", lambda g: unseen(g, least=g["dispute"] * (surely(11) - 0.5))),
    ("is a tie", lambda g: unseen(g, least=g["dispute"] * (2 * surely(10) - 1))),
    ("give 4 arrays or numbers", lambda g: unseen(g)[0]),
]
BY_NAME = {"copies": COPIES, "constants": CONSTANTS, "parted": PARTED, "choose": CHOOSE, "reading": READING}
BY_NAME |= {"defended": DEFENDED, "unseen": UNSEEN}
ANSWERS = [(name, reply, answer) for name, answers in BY_NAME.items() for reply, answer in answers]
