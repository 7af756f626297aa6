"""Copies among workers, by loops over pairs of workers and tasks."""

import numpy as np


def pairs_of_copies(codes, min_common=5, false_alarms=1e-3):
    """Return the pairs of workers who are copies, from the (N, M) codes, -1 where there is no label."""
    N, M = codes.shape
    found = []
    active = sum((codes[:, w] >= 0).any() for w in range(M))
    for u in range(M):
        for v in range(u + 1, M):
            both = [i for i in range(N) if codes[i, u] >= 0 and codes[i, v] >= 0]
            if len(both) < min_common or any(codes[i, u] != codes[i, v] for i in both):
                continue
            others = [(i, codes[i, w]) for i in both for w in range(M) if w not in (u, v) and codes[i, w] >= 0]
            d = (sum(y != codes[i, u] for i, y in others) + 0.5) / (len(others) + 1)
            if others and -len(both) * np.log(1 - d) > np.log(active * (active - 1) / 2 / false_alarms):
                found.append((u, v))
    return found
