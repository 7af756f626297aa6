"""Answers to the exercises of notebook 07: exercise, what the reply says, and the answer made from what is given."""

from functools import partial

import numpy as np
import pandas as pd


def log_likelihoods(g):
    return [
        sum(np.log(sum(p[c] * A[0, y[0], c] * A[1, y[1], c] * A[2, y[2], c] for c in range(2))) for y in g["labels"])
        for p, A in zip(g["priors"], g["A"], strict=True)
    ]


def per_task(g, combine):
    """What `combine` makes of the joint probabilities (tasks, classes) of each start."""
    joint = np.einsum("sc,snc->snc", g["priors"], np.prod([g["A"][:, m, g["labels"][:, m]] for m in range(3)], axis=0))
    return [combine(one) for one in joint]


def paired(g):
    d = [int(b != t) - int(a != t) for a, b, t in zip(g["first"], g["second"], g["truth"], strict=True)]
    return sum(d) / 200, np.sqrt((sum(x * x for x in d) / 200 - (sum(d) / 200) ** 2) / 200)


def differences(g):
    return (g["second"] != g["truth"]) * 1.0 - (g["first"] != g["truth"])


def imagined(g):
    P = [[g["counts"][i, k] + (g["right"] if i == k else g["wrong"]) for k in range(3)] for i in range(3)]
    return [[P[i][k] / sum(P[j][k] for j in range(3)) for k in range(3)] for i in range(3)]


def prior_counts(g):
    return g["wrong"] + (g["right"] - g["wrong"]) * np.eye(3)


def columns(P):
    return P / P.sum(axis=0)


def plain(labels, shares, first=False, soft=False, missing=False, out_of="labels", use=True):
    """Wawa in loops, with faults to choose from."""
    N, M = labels.shape
    K = len(shares[0])
    agreed, gave = [0.0] * M, [0] * M
    for n in range(N):
        winners = [k for k in range(K) if shares[n][k] == max(shares[n])]
        for m in range(M):
            y = labels[n, m]
            if y >= 0 or missing:
                gave[m] += 1
                won = y % K == winners[0] if first else (y % K in winners) / len(winners)
                agreed[m] += shares[n][y] if soft else won
    scale = {"labels": [max(n, 1) for n in gave], "tasks": [N] * M, "nothing": [1] * M}[out_of]
    weights = [a / s for a, s in zip(agreed, scale, strict=True)]
    return weights, reweighted(labels, weights, K, missing) if use else shares


def reweighted(labels, weights, K, missing=False):
    votes = [[sum(w for y, w in zip(row, weights, strict=True) if (y >= 0 or missing) and y % K == k) for k in range(K)]
             for row in labels]  # fmt: skip
    return [[v / sum(row) for v in row] if sum(row) else [1 / K] * K for row in votes]


def with_frames(labels, shares):
    K = shares.shape[1]
    task, person = np.nonzero(labels >= 0)
    long = pd.DataFrame({"task": task, "person": person, "label": labels[task, person]})
    best = np.isclose(shares, shares.max(axis=1, keepdims=True))
    long["won"] = (best / best.sum(axis=1, keepdims=True))[long.task, long.label]
    weights = long.groupby("person").won.mean().reindex(range(labels.shape[1]), fill_value=0.0)
    votes = np.zeros(shares.shape)
    np.add.at(votes, (long.task, long.label), weights[long.person])
    votes[votes.sum(axis=1) == 0] = 1 / K
    return {"shares": votes / votes.sum(axis=1, keepdims=True), "weights": weights}


def unscaled(labels, shares):
    weights, _ = plain(labels, shares)
    votes = (labels[:, :, None] == np.arange(shares.shape[1])) * np.array(weights)[:, None]
    return weights, votes.sum(axis=1)


def divided_by_nothing(labels, shares):
    gave = labels[:, :, None] == np.arange(shares.shape[1])
    won = shares == shares.max(axis=1, keepdims=True)
    weights = (gave * (won / won.sum(axis=1, keepdims=True))[:, None]).sum(axis=(0, 2)) / gave.sum(axis=(0, 2))
    return weights, shares


def in_place(labels, shares):
    labels[labels < 0] = 0
    return plain(labels, shares)


# ---- holes, printed errors, a file with mistakes ----


def shared_tasks(g):
    """Tasks that two people share, pair by pair, of every crowd."""
    people = range(g["seen"].shape[2])
    pairs = [(i, j) for i in people for j in people if i < j]
    return [[int((crowd[:, i] * crowd[:, j]).sum()) for i, j in pairs] for crowd in g["seen"]]


def holes(g, limit=0.5, power=2, of=lambda row: [n for n in row if n]):
    """Share of pairs without tasks, tasks for each cell, trouble; with faults to choose from."""
    rows = shared_tasks(g)
    without = [row.count(0) / len(row) for row in rows]
    cells = [np.median(of(row)) / K**power for row, K in zip(rows, g["K"], strict=True)]
    right = [np.median([n for n in row if n]) / K**2 for row, K in zip(rows, g["K"], strict=True)]
    return without, cells, [2 if c < 1 else int(w > limit) for w, c in zip(without, right, strict=True)]


def with_trouble(g, trouble):
    """Right numbers, and a verdict of one's own made of both."""
    without, cells, _ = map(np.array, holes(g))
    return without, cells, trouble(without, cells)


def with_shares(g, shares):
    return shares, *holes(g)[1:]


def printed(g, fits=0.01, halves=2, far=-1):
    tasks = np.round(halves * g["printed"] * g["N"] / 100) / halves
    close = np.abs(100 * tasks / g["N"] - g["printed"]) < fits
    why = [0 if t == w and c else 1 if c else 2 for t, w, c in zip(tasks, g["wrong"], close, strict=True)]
    return [t if c else far for t, c in zip(tasks, close, strict=True)], why


def gaps(g):
    tasks, why = printed(g)
    return np.where(np.array(tasks) < 0, -1, tasks - g["wrong"]), why


def reasons(g, why):
    tasks, right = printed(g)
    return tasks, why(np.abs(g["printed"] - 100 * g["wrong"] / g["N"]), np.array(right))


ANSWERS = [
    ("backwards", "correct", lambda g: np.log(g["accuracy"]) - np.log1p(-g["accuracy"])),
    ("backwards", "correct", lambda g: [float(-np.log(1 / p - 1)) for p in g["accuracy"]]),
    ("backwards", "correct", lambda g: pd.Series(2 * np.arctanh(2 * g["accuracy"] - 1))),
    ("backwards", "these are the accuracies", lambda g: g["accuracy"]),
    ("backwards", "divide by the probability of the other label", lambda g: np.log(g["accuracy"])),
    ("backwards", "asked is their logarithm", lambda g: g["accuracy"] / (1 - g["accuracy"])),
    ("backwards", "upside down", lambda g: np.log((1 - g["accuracy"]) / g["accuracy"])),
    ("backwards", "to the base e", lambda g: np.log2(g["accuracy"] / (1 - g["accuracy"]))),
    ("backwards", "do not cut at zero", lambda g: np.maximum(np.log(g["accuracy"] / (1 - g["accuracy"])), 0)),
    ("backwards", "keep the sign", lambda g: np.abs(np.log(g["accuracy"] / (1 - g["accuracy"])))),
    ("backwards", "is furthest off", lambda g: np.log10(g["accuracy"] / (1 - g["accuracy"]) + 0.5)),
    ("backwards", "NaN or infinite", lambda g: g["accuracy"] * np.nan),
    ("starts", "correct", log_likelihoods),
    ("starts", "correct", lambda g: tuple(per_task(g, lambda joint: np.log(joint.sum(axis=1)).sum()))),
    ("starts", "sum the probabilities over them", lambda g: per_task(g, lambda joint: np.log(joint.max(axis=1)).sum())),
    ("starts", "the log comes after", lambda g: per_task(g, lambda joint: np.log(joint).sum())),
    ("starts", "sum over them", lambda g: per_task(g, lambda joint: np.log(joint.sum(axis=1)).mean())),
    ("starts", "take its log", lambda g: per_task(g, lambda joint: joint.sum(axis=1).prod())),
    ("starts", "the sign is", lambda g: -np.array(log_likelihoods(g))),
    ("starts", "to the base e", lambda g: np.array(log_likelihoods(g)) / np.log(10)),
    ("starts", "equally frequent", lambda g: log_likelihoods(g | {"priors": np.full((2, 2), 0.5)})),
    ("starts", "weigh each class", lambda g: log_likelihoods(g | {"priors": np.ones((2, 2))})),
    ("starts", "the other way round", lambda g: log_likelihoods(g)[::-1]),
    ("paired", "correct", paired),
    ("paired", "correct", lambda g: np.array(paired(g))),
    ("paired", "correct", lambda g: {"standard error": paired(g)[1], "difference": paired(g)[0]}),
    ("paired", "correct", lambda g: [differences(g).mean(), differences(g).std(ddof=1) / 200**0.5]),
    ("paired", "the other way round", lambda g: (-paired(g)[0], paired(g)[1])),
    ("paired", "number of tasks", lambda g: (differences(g).sum(), paired(g)[1])),
    ("paired", "spread on one task", lambda g: (paired(g)[0], differences(g).std())),
    ("paired", "half of an interval", lambda g: (paired(g)[0], 1.96 * paired(g)[1])),
    ("paired", "take its root", lambda g: (paired(g)[0], paired(g)[1] ** 2)),
    ("paired", "square root of the number", lambda g: (paired(g)[0], differences(g).std() / 200)),
    ("paired", "how often the two differ", lambda g: (np.mean(g["first"] != g["second"]), paired(g)[1])),
    ("paired", "per cent", lambda g: [100 * x for x in paired(g)]),
    ("paired", "give 2", lambda g: paired(g)[0]),
    ("imagined", "correct", imagined),
    ("imagined", "correct", lambda g: pd.DataFrame(columns(g["counts"] + prior_counts(g)))),
    ("imagined", "correct", lambda g: columns(g["counts"] + prior_counts(g)).round(4)),
    ("imagined", "maximum likelihood", lambda g: columns(g["counts"])),
    ("imagined", "the same for every cell", lambda g: columns(g["counts"] + 1)),
    ("imagined", "off the diagonal", lambda g: columns(g["counts"] + 4 * np.eye(3))),
    ("imagined", "these are rows", lambda g: columns((g["counts"] + prior_counts(g)).T).T),
    ("imagined", "counts still", lambda g: g["counts"] + prior_counts(g)),
    ("imagined", "half and half", lambda g: (columns(g["counts"]) + columns(prior_counts(g))) / 2),
    ("imagined", "not the other way round", lambda g: columns(g["counts"] + 5 - prior_counts(g))),
    ("imagined", "the columns do not sum to one", lambda g: (g["counts"] + prior_counts(g)) / 23),
    ("imagined", "added twice", lambda g: columns(g["counts"] + 2 * prior_counts(g))),
    ("wawa_round", "correct", lambda g: plain),
    ("wawa_round", "correct", lambda g: with_frames),
    ("wawa_round", "the first takes all", lambda g: partial(plain, first=True)),
    ("wawa_round", "count whether it won", lambda g: partial(plain, soft=True)),
    ("wawa_round", "taken for the last class", lambda g: partial(plain, missing=True)),
    (
        "wawa_round",
        "not by the number of tasks",
        lambda g: partial(plain, out_of="tasks"),
    ),
    (
        "wawa_round",
        "how many labels the person",
        lambda g: partial(plain, out_of="nothing"),
    ),
    ("wawa_round", "have to use the weights", lambda g: partial(plain, use=False)),
    ("wawa_round", "the rows do not sum to one", lambda g: unscaled),
    ("wawa_round", "NaN", lambda g: divided_by_nothing),
    ("wawa_round", "changes what it is given", lambda g: in_place),
    ("wawa_round", "give 2", lambda g: lambda labels, shares: shares),
    ("wawa_round", "without brackets", lambda g: plain(**g)),
    ("holes", "correct", holes),
    ("holes", "correct", lambda g: [np.round(part, 4) for part in holes(g)]),
    ("holes", "asked is the share of the others", lambda g: with_shares(g, 1 - np.array(holes(g)[0]))),
    ("holes", "leave out the diagonal", lambda g: with_shares(g, [np.mean(s.T @ s == 0) for s in g["seen"]])),
    ("holes", "holes in the table", lambda g: with_shares(g, 1 - g["seen"].mean(axis=(1, 2)))),
    ("holes", "asked are shares", lambda g: with_shares(g, [row.count(0) for row in shared_tasks(g)])),
    ("holes", "divide by its K x K cells", lambda g: holes(g, power=0)),
    ("holes", "not K", lambda g: holes(g, power=1)),
    ("holes", "only pairs that meet", lambda g: holes(g, of=lambda row: row)),
    ("holes", "upside down", lambda g: (holes(g)[0], [1 / c for c in holes(g)[1]], holes(g)[2])),
    ("holes", "look at the blocks that are there", lambda g: with_trouble(g, lambda w, c: w > 0.5)),
    ("holes", "2 comes first", lambda g: with_trouble(g, lambda w, c: np.where(w > 0.5, 1, 2 * (c < 1)))),
    ("holes", "most of them missing", lambda g: with_trouble(g, lambda w, c: 2 * (c < 1))),
    ("holes", "1 for holes", lambda g: with_trouble(g, lambda w, c: np.where(c < 1, 1, 2 * (w > 0.5)))),
    ("holes", "give 3 arrays", lambda g: holes(g)[:2]),
    ("printed", "correct", printed),
    ("printed", "correct", lambda g: {"why": printed(g)[1], "tasks": pd.Series(printed(g)[0])}),
    ("printed", "no number of tasks at all", lambda g: printed(g, fits=1)),
    ("printed", "halves are possible", lambda g: printed(g, halves=1)),
    ("printed", "cut off or rounded", lambda g: printed(g, fits=1e-4)),
    ("printed", "these are gaps", gaps),
    ("printed", "measured here", lambda g: (g["wrong"], printed(g)[1])),
    ("printed", "in per cent", lambda g: ([100 * t for t in printed(g)[0]], printed(g)[1])),
    ("printed", "a mean of several runs", lambda g: reasons(g, lambda gap, why: gap > 0.01)),
    ("printed", "a small one", lambda g: reasons(g, lambda gap, why: np.digitize(gap, [0.01, 1.5]))),
    ("printed", "below 0.01 points is none", lambda g: reasons(g, lambda gap, why: np.where(why == 2, 2, gap > 1e-4))),
    ("printed", "the other way round", lambda g: reasons(g, lambda gap, why: (3 - why) % 3)),
    ("printed", "give 2 arrays", lambda g: printed(g)[0]),
]
