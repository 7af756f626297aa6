"""GLAD by plain loops, in the notation of Whitehill et al., 2009, errors even over K classes."""

import numpy as np


def chance(ability, log_easiness, label, c, n_classes):
    """Pr(label | class c)."""
    right = 1 / (1 + np.exp(-ability * np.exp(log_easiness)))
    return right if label == c else (1 - right) / (n_classes - 1)


def joint(triples, a, b, n_classes):
    """Return (N, K) Pr(labels of task i, class c)."""
    found = np.full((len(b), n_classes), 1 / n_classes)
    for i, j, label in zip(*triples, strict=True):
        for c in range(n_classes):
            found[i, c] *= chance(a[j], b[i], label, c, n_classes)
    return found


def log_posterior(triples, a, b, n_classes):
    """Of the parameters, without the constant of the priors."""
    fit = np.log(joint(triples, a, b, n_classes).sum(axis=1)).sum()
    return fit - np.sum((a - 1) ** 2) / 2 - np.sum((b - 1) ** 2) / 2
