"""Answers to the exercises of notebook 06: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def pull(g):
    z = sum(u * (a - b) for u, a, b in zip(g["U_u"], g["V_i"], g["V_j"], strict=True))
    return [(1 / (1 + np.exp(-z)) - g["w"]) * u for u in g["U_u"]]


def utilities_off(g):
    found, truth = ([[u @ v for v in V - V.mean(axis=0)] for u in U] for U, V in
                    ((g["U"], g["V"]), (g["true_U"], g["true_V"])))  # fmt: skip
    return np.sqrt(np.sum((np.array(found) - truth) ** 2) / np.sum(np.square(truth)))


def choices(g):
    dof = 4 * (500 + 200 - 1 - 4)
    return np.sqrt(dof / (2 * g["m"] * g["information"] * g["spread"] ** 2)), 3**2


ANSWERS = [
    ("pull", "correct", pull),
    ("error", "correct", utilities_off),
    ("choices", "correct", choices),
]
