"""Greedy anchor finders by their definition."""

import numpy as np
from scipy.optimize import nnls


def xray_column_by_column(X, n_anchors, sums):
    anchors, R = [], X.copy()
    for _ in range(n_anchors):
        i = max(range(X.shape[1]), key=lambda n: np.linalg.norm(R[:, n]))
        left = [n for n in range(X.shape[1]) if n not in anchors]
        anchors.append(max(left, key=lambda n: R[:, i] @ X[:, n] / sums[n]))
        H = np.array([nnls(X[:, anchors], x)[0] for x in X.T]).T
        R = X - X[:, anchors] @ H
    return anchors


def distance_from_hull(X, hull, n):
    """Distance of column n from the affine hull of some columns, by least squares."""
    if not hull:
        return np.linalg.norm(X[:, n])
    directions = X[:, hull[1:]] - X[:, [hull[0]]]
    y = X[:, n] - X[:, hull[0]]
    steps = np.linalg.lstsq(directions, y)[0] if directions.size else np.zeros(0)
    return np.linalg.norm(y - directions @ steps)


def fast_anchor_by_distances(X, n_anchors, refine):
    anchors = []
    for _ in range(n_anchors):
        anchors.append(max(range(X.shape[1]), key=lambda n: distance_from_hull(X, anchors, n)))
    for k in range(n_anchors if refine and n_anchors > 1 else 0):
        others = anchors[:k] + anchors[k + 1 :]
        anchors[k] = max(range(X.shape[1]), key=lambda n: distance_from_hull(X, others, n))
    return anchors
