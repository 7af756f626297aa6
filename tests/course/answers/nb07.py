"""Answers to the exercises of notebook 07: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def log_likelihoods(g):
    return [
        sum(np.log(sum(p[c] * A[0, y[0], c] * A[1, y[1], c] * A[2, y[2], c] for c in range(2))) for y in g["labels"])
        for p, A in zip(g["priors"], g["A"], strict=True)
    ]


def paired(g):
    d = [int(b != t) - int(a != t) for a, b, t in zip(g["first"], g["second"], g["truth"], strict=True)]
    return sum(d) / 200, np.sqrt((sum(x * x for x in d) / 200 - (sum(d) / 200) ** 2) / 200)


def imagined(g):
    P = [[g["counts"][i, k] + (g["right"] if i == k else g["wrong"]) for k in range(3)] for i in range(3)]
    return [[P[i][k] / sum(P[j][k] for j in range(3)) for k in range(3)] for i in range(3)]


ANSWERS = [
    ("backwards", "correct", lambda g: np.log(g["accuracy"]) - np.log1p(-g["accuracy"])),
    ("starts", "correct", log_likelihoods),
    ("paired", "correct", paired),
    ("imagined", "correct", imagined),
]
