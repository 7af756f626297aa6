"""Low-rank completion as it is defined: whole fibres, filled-in matrices, full singular value decompositions."""

import numpy as np


def thresholded(X, penalty):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return U * np.maximum(s - penalty, 0) @ Vt


def soft_impute_by_filling_in(Y, known, penalty, rounds=500):
    """Mazumder, Hastie and Tibshirani, JMLR 2010, Algorithm 1, at one penalty."""
    Z = np.zeros(Y.shape)
    for _ in range(rounds):
        Z = thresholded(np.where(known, Y, Z), penalty)
    return Z


def mean_of_thresholded_unfoldings(T, penalties):
    total = np.zeros(T.shape)
    for axis, penalty in enumerate(penalties):
        moved = np.moveaxis(T, axis, 0)
        unfolded = thresholded(moved.reshape(len(moved), -1), penalty)
        total += np.moveaxis(unfolded.reshape(moved.shape), 0, axis)
    return total / 3
