"""Answers to the exercises of notebook 00: exercise, what the reply says, and the answer made from what is given."""

import warnings
from collections import Counter
from fractions import Fraction
from io import StringIO

import numpy as np
import pandas as pd

from cofactor.crowd import METHODS, CrowdLabels


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


def kinds(g):
    """By hand: who is linked to whom, who never differs, what has no label, who has one class."""
    found = []
    for codes in g["crowds"]:
        frame = pd.DataFrame(codes).where(codes >= 0)
        reached = {0}
        for _ in frame:
            reached |= {m for m in frame if any((frame[m].notna() & frame[j].notna()).any() for j in reached)}
        constant = any(len(frame[m].dropna().unique()) == 1 for m in frame)
        found.append(1 if len(reached) < 9 else 3 if frame.isna().all(axis=1).any() else 4 if constant else 2)
    return found


def moved(g, here, there):
    """The fault of one crowd is called another."""
    return [there if kind == here else kind for kind in kinds(g)]


def ducks(g, conflicts="last", name="WorkerTypes"):
    frame = pd.read_csv(StringIO(g["text"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = CrowdLabels.from_frame(frame, "photo", "member", "bird", conflicts=conflicts)
        said = METHODS[name]().fit_predict(labels.to_frame())
    return labels.n_labels, int((said == "teal").sum())


def kept(g):
    return pd.read_csv(StringIO(g["text"])).drop_duplicates(["photo", "member"], keep="last")


def n_rows(g):
    return len(pd.read_csv(StringIO(g["text"])))


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
    ("faults", "correct", kinds),
    ("faults", "correct", lambda g: dict(zip("ABCD", kinds(g), strict=True))),
    ("faults", "correct", lambda g: np.array(kinds(g), dtype=float)),
    ("faults", '"co-labelling graph" is ok here', lambda g: moved(g, 2, 1)),
    ("faults", '"co-labelling graph" is ok here', lambda g: [1, 1, 1, 1]),
    ("faults", 'no line "copies" here', lambda g: moved(g, 1, 2)),
    ("faults", 'no line "copies" here', lambda g: moved(g, 3, 2)),
    ("faults", '"labels per task" is ok here', lambda g: moved(g, 4, 3)),
    ("faults", '"labels per task" is ok here', lambda g: moved(g, 2, 3)),
    ("faults", 'no line "no information beside the others" here', lambda g: moved(g, 1, 4)),
    ("faults", 'no line "no information beside the others" here', lambda g: moved(g, 3, 4)),
    ("faults", "is too", lambda g: moved(g, 4, 0)),
    ("faults", "give 4 arrays or numbers", lambda g: kinds(g)[:3]),
    ("faults", "no array of numbers", lambda g: ["groups", "copies", "gaps", "constant"]),
    ("own_file", "correct", ducks),
    ("own_file", "correct", lambda g: {"teal": ducks(g)[1], "labels": ducks(g)[0]}),
    ("own_file", "correct", lambda g: (len(kept(g)), float(ducks(g)[1]))),
    ("own_file", "these are all rows", lambda g: (n_rows(g), ducks(g)[1])),
    ("own_file", "keep the last, and drop the first alone", lambda g: (2 * len(kept(g)) - n_rows(g), ducks(g)[1])),
    ("own_file", "rows that were corrected", lambda g: (n_rows(g) - len(kept(g)), ducks(g)[1])),
    ("own_file", "the number of photographs", lambda g: (60, ducks(g)[1])),
    ("own_file", "the first answers", lambda g: ducks(g, "first")),
    ("own_file", "what the vote calls teal", lambda g: ducks(g, name="MajorityVote")),
    ("own_file", "called garganey", lambda g: (ducks(g)[0], 60 - ducks(g)[1])),
    ("own_file", "this is the share", lambda g: (ducks(g)[0], ducks(g)[1] / 60)),
    ("own_file", "is too small", lambda g: (ducks(g)[0], 0)),
    ("own_file", "is too large", lambda g: (ducks(g)[0] + 20, ducks(g)[1])),
    ("own_file", "give 2 arrays or numbers", lambda g: ducks(g)[0]),
]
