"""A hunt for a counterexample to the theorem of the comparisons paper, with all of its conditions met.

Small utilities keep the slope of the link nearly constant, and few users and items leave few different triples: a
number of comparisons as large as the theorem asks for is then a draw of their counts.
"""

import numpy as np

DELTA = 0.01  # the chance of failure that the theorem allows


def features(rng, n1, n2, r):
    """Draw the balanced features of small utilities of this rank, items centred; and their singular values."""
    X = rng.standard_normal((n1, r)) * 10 ** rng.uniform(-0.5, 0, r) @ rng.standard_normal((r, n2))
    X -= X.mean(axis=1, keepdims=True)
    left, sigma, right = np.linalg.svd(X * 10 ** rng.uniform(-3, -1.5) / np.linalg.norm(X, 2))
    return np.vstack([left[:, :r], right[:r].T]) * np.sqrt(sigma[:r]), sigma[:r]


def chance(x):
    """The logistic link."""
    return 1 / (1 + np.exp(-x))


def away(Z, truth):
    """Return the squared distance from the truth after the best rotation."""
    left, _, right = np.linalg.svd(truth.T @ Z)
    return np.sum((Z - truth @ left @ right) ** 2)


def projected(Z, n1, longest):
    """Cut rows to this length, then centre the items."""
    Z = Z * np.minimum(1, longest / np.linalg.norm(Z, axis=1, keepdims=True))
    return np.vstack([Z[:n1], Z[n1:] - Z[n1:].mean(axis=0)])


def triples(n1, n2):
    """Return all users with ordered pairs of different items, as rows of Z."""
    every = np.array([(u, n1 + i, n1 + j) for u in range(n1) for i in range(n2) for j in range(n2) if i != j])
    return every.T


def gradient(Z, truth, drawn, lam, n1):
    """Return the gradient of (14): exact chances, each triple with its share of the comparisons, and the balance."""
    (u, i, j), shares = drawn
    utility = lambda Z: np.sum(Z[u] * (Z[i] - Z[j]), axis=1)  # noqa: E731
    h = (shares * (chance(utility(Z)) - chance(utility(truth))))[:, None]
    G, sign = np.zeros_like(Z), np.where(np.arange(len(Z)) < n1, 1, -1)[:, None]
    for rows, values in ((u, h * (Z[i] - Z[j])), (i, h * Z[u]), (j, -h * Z[u])):
        np.add.at(G, rows, values)
    return G + lam * (sign * Z) @ (Z.T @ (sign * Z))


def start(rng, truth, n1, most):
    """Draw a start so far from the truth: in a random direction, or along the scaling that utilities do not see."""
    off = rng.standard_normal(truth.shape)
    if rng.random() < 0.5:
        off = truth * np.where(np.arange(len(truth)) < n1, 1, -1)[:, None]
    off[n1:] -= off[n1:].mean(axis=0)
    return truth + off / np.linalg.norm(off) * np.sqrt(most) * rng.choice([0.999, 0.1])


def descent(rng, steps=5, of_rate=1.0):
    """Theorem 4.1: the first five steps, with so many comparisons, such a start and such a step as it asks for."""
    n1, n2, r = int(rng.integers(3, 8)), int(rng.integers(4, 8)), int(rng.integers(1, 3))
    truth, sigma = features(rng, n1, n2, r)
    n, size = n1 + n2, np.sum(truth**2)
    mu = n * np.sum(truth**2, axis=1).max() / size
    xi = chance(24 * mu * size / n) * chance(-24 * mu * size / n)  # of the logistic link; the largest value is 1/4
    tau, gamma = 4 * xi, 2 / (n1 * (n2 - 1))
    hard, alpha = mu * r * sigma[0] / sigma[-1] / tau, xi * gamma * sigma[-1]
    m = 1e7 * hard**2 * n * np.log(8 * n / DELTA)
    if not m < 1e17:
        return None
    every = triples(n1, n2)
    shares = rng.multinomial(int(m) + 1, np.full(every.shape[1], 1 / every.shape[1])) / (int(m) + 1)
    Z, eta = start(rng, truth, n1, tau * sigma[-1] / 50), 2.5e-6 / hard**2 / alpha
    longest = 4 / 3 * np.sqrt(mu / n) * np.linalg.norm(Z)
    errors, Z = [away(Z, truth)], projected(Z, n1, longest)
    for _ in range(steps):
        Z = projected(Z - eta * gradient(Z, truth, (every, shares), xi * gamma / 4, n1), n1, longest)
        errors.append(away(Z, truth))
    lost = -np.log(np.array(errors[1:]) / errors[0])
    return np.max(-np.log1p(-of_rate * alpha * eta / 4) * np.arange(1, steps + 1) / np.maximum(lost, 1e-300))
