"""Answers to the exercises of notebook 03: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def weights(g):
    w = [1 / np.sqrt(np.sum((R - g["U_m"] @ U.T) ** 2) + 1e-6) for R, U in zip(g["R"], g["U"], strict=True)]
    return np.array(w) / sum(w)


ANSWERS = [
    ("rate", "correct", lambda g: -np.polyfit(np.log(g["sizes"]), np.log(g["errors"]), 1)[0]),
    ("labels_needed", "correct", lambda g: (g["error"] / g["target"]) ** 2),
    ("weights", "correct", weights),
]
