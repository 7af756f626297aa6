"""KOS, GhoshSVD and EigenRatio by full singular value decompositions, tasks scored one by one, classes 0 and 1."""

import numpy as np


def sign_matrix(codes):
    return np.where(codes == 1, 1.0, np.where(codes == 0, -1.0, 0.0))


def kos(O):
    B = O - O.mean(axis=0)
    U, _, Vt = np.linalg.svd(B, full_matrices=False)
    u, v = U[:, 0], Vt[0]
    return u if np.sum(v[v >= 0] ** 2) >= 0.5 else -u


def ghosh(O):
    u = np.linalg.svd(O, full_matrices=False)[0][:, 0]
    return u if u @ O.sum(axis=1) >= 0 else -u


def eigen_ratio(O):
    G = np.abs(O)
    R1, R2 = O.T @ O / (G.T @ G + 1e-8), np.where(G.T @ G > 0, 1.0, 0.0)
    score = O @ (np.linalg.svd(R1)[0][:, 0] / np.linalg.svd(R2)[0][:, 0])
    return score if score @ O.sum(axis=1) >= 0 else -score


def ordinal(scores):
    """First split that says no; the last class if none does. `scores` holds one list per split."""
    answers = []
    for of_task in zip(*scores, strict=True):
        answers.append(next((level for level, score in enumerate(of_task) if score < 0), len(of_task)))
    return answers
