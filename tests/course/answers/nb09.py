"""Answers to the exercises of notebook 09: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def word_pairs(g):
    together = [[sum(F_d[i] * F_d[j] for F_d in g["F"]) for j in range(4)] for i in range(4)]
    return np.array(together) / [sum(row[j] for row in together) for j in range(4)]


def coherent(g):
    documents = [{word for word in range(3) if row[word]} for row in g["counts"]]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return sum(
        2 * np.log((sum({a, b} <= d for d in documents) + 0.01) / sum(a in d for d in documents)) for a, b in pairs
    )


def membership(g):
    weights = np.maximum(g["V"] @ np.linalg.inv(g["V"][g["pure"]]), 0)
    return [row / sum(row) for row in weights]


ANSWERS = [
    ("word_pairs", "correct", word_pairs),
    ("coherent", "correct", coherent),
    ("membership", "correct", membership),
]
