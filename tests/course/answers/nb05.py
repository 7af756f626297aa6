"""Answers to the exercises of notebook 05: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def step(g):
    slopes = [sum(X_n * (g["X"] @ g["c"] - g["x"])) for X_n in g["X"].T]
    return [c / 2 + (n == np.argmin(slopes)) / 2 for n, c in enumerate(g["c"])]


def penalty(g):
    return [[np.exp(c / g["mu"]) / sum(np.exp(row / g["mu"])) for c in row] for row in g["C"]]


ANSWERS = [
    ("step", "correct", step),
    ("bytes", "correct", lambda g: (12 * 20_000 * 50 / 10**6, 8 * 20_000**2 / 10**6)),
    ("penalty", "correct", penalty),
]
