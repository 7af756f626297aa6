"""Answers to the exercises of notebook 01: exercise, what the reply says, and the answer made from what is given."""

import numpy as np


def posterior(g):
    joint = g["prior"].copy()
    for A, label in zip(g["A"], g["labels"], strict=True):
        joint *= A[label] if label >= 0 else 1
    return joint / joint.sum()


def co_occurrence(g):
    pairs = [(i, k) for i, k in zip(g["labels_m"], g["labels_j"], strict=True) if i >= 0 and k >= 0]
    return [[pairs.count((i, k)) / len(pairs) for k in range(3)] for i in range(3)]


def read_off(g):
    block = g["H"][g["m"] * 3 : (g["m"] + 1) * 3]
    return block / block.sum(axis=0), block.sum(axis=0) ** 2


ANSWERS = [
    ("posterior", "correct", posterior),
    ("co-occurrence", "correct", co_occurrence),
    ("imputation", "correct", lambda g: g["R_mr"] @ np.linalg.inv(g["R_lr"]) @ g["R_ln"]),
    ("read_off", "correct", read_off),
]
