"""SPA with the projection matrix written out."""

import numpy as np


def spa_by_projection_matrix(X, n_anchors):
    R = X.copy()
    anchors = []
    for _ in range(n_anchors):
        j = int(np.argmax((R**2).sum(axis=0)))
        anchors.append(j)
        P = np.eye(len(X)) - np.outer(R[:, j], R[:, j]) / (R[:, j] @ R[:, j])
        R = P @ R
    return np.array(anchors)
