"""Crowds with a source in common, and without one; dense draws, so that a seed gives the same labels everywhere.

Each returns task, worker, label (codes) and the truth by task.
"""

import numpy as np
from scipy.special import ndtr, ndtri


def packed(codes, truth, per=None, seed=0):
    """Return the labels of an (N, M) array; of `per` workers a task, drawn with a seed."""
    n, M = codes.shape
    i, w, l = np.repeat(np.arange(n), M), np.tile(np.arange(M), n), codes.ravel()
    if per and per < M:
        kept = (np.argsort(np.argsort(np.random.default_rng(seed).random((n, M)), axis=1), axis=1) < per).ravel()
        i, w, l = i[kept], w[kept], l[kept]
    return i, w, l, truth


def independent(seed, n, M, K, skill=None, spread=0.0, bias=0.0, per=None, prior=None):
    """Workers who err independently, right with `skill` (M,); tasks differ in difficulty by `spread`."""
    r = np.random.default_rng(seed)
    truth = r.choice(K, n, p=prior)
    a = r.uniform(0.55, 0.95, M) if skill is None else np.asarray(skill)
    ability = ndtri(np.clip(a, 1e-3, 1 - 1e-3)) * np.sqrt(1 + spread**2)
    p = ndtr(ability[None] + spread * r.normal(size=n)[:, None])
    sign = np.where(np.arange(M) % 2, 1, -1) * bias
    if bias:
        p = np.clip(p + np.where(truth[:, None] == 1, sign, -sign), 0.02, 0.98)
    wrong = (truth[:, None] + r.integers(1, K, (n, M))) % K
    r.integers(1, K, n), r.random((n, M))  # drawn for lures, which are none here
    return packed(np.where(r.random((n, M)) < p, truth[:, None], wrong), truth, per, seed)


def over_callers(seed, n=500, together=5, alone=3, prevalence=0.06, hard=0.2):
    """Workers who say 1 together on hard tasks of class 0, then workers who err independently."""
    r = np.random.default_rng(seed)
    truth = (r.random(n) < prevalence).astype(int)
    p = np.where(truth == 1, 0.9, np.where(r.random(n) < hard, 0.85, 0.05))[:, None]
    doctors = np.where(truth == 1, 0.65, 0.06)[:, None]
    return packed(np.c_[r.random((n, together)) < p, r.random((n, alone)) < doctors].astype(int), truth)


def with_copies(seed, n, copies, skill_of_copies, others, skill, slips=0.0, K=2):
    """Copies of one worker first, who give an answer of their own at times; then independent workers."""
    r = np.random.default_rng(seed)
    truth = r.integers(K, size=n)
    source = np.where(r.random(n) < skill_of_copies, truth, (truth + r.integers(1, K, n)) % K)
    codes = np.empty((n, copies + others), int)
    for m in range(copies + others):
        if m < copies:
            codes[:, m] = np.where(r.random(n) < slips, r.integers(K, size=n), source)
        else:
            codes[:, m] = np.where(r.random(n) < skill, truth, (truth + r.integers(1, K, n)) % K)
    return packed(codes, truth)
