"""Answers to the exercises of notebook 00: exercise, what the reply says, and the answer made from what is given."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd


def vote(labels, n_classes):
    rows = []
    for row in labels:
        votes = Counter(int(label) for label in row if label >= 0)
        most = [k for k in range(n_classes) if votes[k] == max(votes.values(), default=0)]
        rows.append([Fraction(k in most, len(most)) for k in range(n_classes)])
    return [[float(share) for share in row] for row in rows]


def one_hot(labels, n_classes):
    votes = (labels[:, :, None] == np.arange(n_classes)).sum(axis=1)
    won = (votes == votes.max(axis=1)[:, None]).astype(float)
    return won / won.sum(axis=1)[:, None]


def first_wins(labels, n_classes):
    return np.eye(n_classes)[[np.bincount(row[row >= 0], minlength=n_classes).argmax() for row in labels]]


def vote_shares(labels, n_classes):
    votes = np.array([np.bincount(row[row >= 0], minlength=n_classes) for row in labels])
    return np.where(votes.sum(axis=1)[:, None] > 0, votes / np.maximum(votes.sum(axis=1), 1)[:, None], 1 / n_classes)


def counts(labels, n_classes):
    return (labels[:, :, None] == np.arange(n_classes)).sum(axis=1)


def all_share(labels, n_classes):
    won = one_hot(labels, n_classes)
    won[won.max(axis=1) < 1] = 1 / n_classes
    return won


def clipped(labels, n_classes):
    labels[labels < 0] = 0
    return one_hot(labels, n_classes)


def wrong(g):
    return float((1 - g["posterior"].max(axis=1)).sum())


ANSWERS = [
    ("vote", "correct", lambda g: vote),
    ("vote", "correct", lambda g: one_hot),
    ("vote", "correct", lambda g: lambda labels, K: pd.DataFrame(one_hot(labels, K), columns=list(range(K)))),
    ("vote", "correct", lambda g: lambda x, k: np.round(one_hot(x, k), 4)),
    ("vote", "a tie went to the first class", lambda g: first_wins),
    ("vote", "shares of the votes", lambda g: vote_shares),
    ("vote", "counted as the last class", lambda g: lambda labels, K: one_hot(labels % K, K)),
    ("vote", "each of two tied classes got 1", lambda g: lambda labels, K: (one_hot(labels, K) > 0) * 1.0),
    ("vote", "shared among all classes", lambda g: all_share),
    ("vote", "the rows do not sum to one", lambda g: counts),
    ("vote", "the rows do not sum to one", lambda g: lambda labels, K: one_hot(labels, K) / K),
    ("vote", "NaN", lambda g: lambda labels, K: counts(labels, K) / counts(labels, K).sum(axis=1)[:, None]),
    ("vote", "changes what it is given, labels", lambda g: clipped),
    ("vote", "expected an array of shape (5, 3)", lambda g: lambda labels, K: counts(labels, K).argmax(axis=1)),
    ("vote", "on data you have not seen", lambda g: lambda labels, K: one_hot(labels, 3)),
    ("vote", "hand in the function itself", lambda g: one_hot(**g)),
    ("vote", "stops with TypeError", lambda g: lambda labels: labels),
    ("accuracy", "correct", lambda g: sum(g["prior"][c] * g["A"][c, c] for c in range(3))),
    ("accuracy", "correct", lambda g: np.trace(g["A"] @ np.diag(g["prior"]))),
    ("accuracy", "correct", lambda g: np.einsum("c,cc->", g["prior"], g["A"])),
    ("accuracy", "correct", lambda g: [round(float(g["prior"] @ np.diag(g["A"])), 3)]),
    ("accuracy", "correct", lambda g: np.average(np.diag(g["A"]), weights=g["prior"])),
    ("accuracy", "plain mean", lambda g: np.trace(g["A"]) / 3),
    ("accuracy", "sum of the diagonal", lambda g: np.trace(g["A"])),
    ("accuracy", "share of wrong labels", lambda g: 1 - g["prior"] @ np.diag(g["A"])),
    ("accuracy", "per cent", lambda g: 100 * g["prior"] @ np.diag(g["A"])),
    ("accuracy", "as if A were transposed", lambda g: g["prior"] @ (np.diag(g["A"]) / g["A"].sum(axis=1))),
    ("accuracy", "how often each label is given", lambda g: (g["A"] @ g["prior"]) @ np.diag(g["A"])),
    ("accuracy", "most frequent class alone", lambda g: g["A"][0, 0]),
    ("accuracy", "once too often", lambda g: (g["prior"] * np.diag(g["A"])).mean()),
    ("accuracy", "the class that the worker knows best", lambda g: g["A"].max()),
    ("accuracy", "expected a single number", lambda g: g["prior"] * np.diag(g["A"])),
    ("expected_wrong", "correct", lambda g: sum(1 - max(row) for row in g["posterior"])),
    ("expected_wrong", "correct", lambda g: len(g["posterior"]) - g["posterior"].max(axis=1).sum()),
    ("expected_wrong", "correct", lambda g: g["posterior"].min(axis=1).sum()),
    ("expected_wrong", "correct", lambda g: np.array([wrong(g)])),
    ("expected_wrong", "are expected to be right", lambda g: g["posterior"].max(axis=1).sum()),
    ("expected_wrong", "share of labels", lambda g: wrong(g) / 6),
    ("expected_wrong", "share of right labels", lambda g: g["posterior"].max(axis=1).mean()),
    ("expected_wrong", "counts doubtful tasks", lambda g: (g["posterior"].max(axis=1) < 0.9).sum()),
    ("expected_wrong", "of class 1", lambda g: g["posterior"][:, 1].sum()),
    ("expected_wrong", "of class 0", lambda g: g["posterior"][:, 0].sum()),
    ("expected_wrong", "at least one label", lambda g: 1 - g["posterior"].max(axis=1).prod()),
    ("expected_wrong", "expected a single number", lambda g: 1 - g["posterior"].max(axis=1)),
    ("expected_wrong", "is too", lambda g: 2 * wrong(g)),
]
