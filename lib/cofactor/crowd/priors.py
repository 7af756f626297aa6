"""What Dawid-Skene EM takes confusion matrices for where there are no labels to tell."""

from __future__ import annotations

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels


def prior_cells(pseudo_counts: tuple[float, float], n_classes: int) -> Floats:
    """Return the (K, K) counts of one worker that `pseudo_counts` stands for, and refuse what is none."""
    try:
        right, wrong = (float(count) for count in pseudo_counts)
    except (TypeError, ValueError):
        right = wrong = -1.0
    if not (0 <= right < np.inf and 0 <= wrong < np.inf):
        raise CofactorError(
            f"pseudo_counts={pseudo_counts!r}: give two numbers of at least 0, for right labels and for each wrong one"
        )
    return np.where(np.eye(n_classes, dtype=bool), right, wrong)


def own_class(labels: CrowdLabels) -> Floats:
    """Return (M K, K) columns for classes on which a worker was never seen: always right; none for who gave no label.

    Such a worker never gave that label. In the equations of 1979 the column is 0 / 0, and code that leaves it at zero
    excludes the class on the tasks of the worker; so does this one, which is a distribution. A uniform column would
    bring in classes that no worker chose on a task: where workers have four labels each of five classes, EM then ends
    elsewhere, five points lower.
    """
    given = labels.table.entries_per_variable > 0
    return np.asarray(np.kron(given[:, None], np.eye(labels.n_classes)), dtype=np.float64)
