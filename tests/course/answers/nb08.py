"""Answers to the exercises of notebook 08: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def residual(g):
    X, a = g["X"], g["X"][:, 0]
    return [x @ x - (a @ x) ** 2 / (a @ a) for x in X.T]


def third(g):
    joint = [[sum(g["prior"][f] * g["A_1"][1, f] * g["A_3"][i, f] for f in range(2))] for i in range(3)]
    return np.ravel(joint) / np.sum(joint)


ANSWERS = [
    ("pair", "correct", lambda g: np.einsum("f,if,kf->ik", g["prior"], g["A_1"], g["A_2"])),
    ("residual", "correct", residual),
    ("missing", "correct", third),
]
