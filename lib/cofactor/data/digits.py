"""The set `digits`: ten classifiers as the crowd, scikit-learn's handwritten digits as the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cofactor.core.lazy import pd
from cofactor.core.types import Ints


def digits_csv(recipe: Mapping[str, Any]) -> dict[str, bytes]:
    """Make the files of the set: labels and truth, as CSV with codes from zero.

    `recipe` holds the arguments of `machine_annotators`; the same recipe gives the same bytes. Takes well under a
    second, no network.
    """
    from sklearn.datasets import load_digits  # here: slow to import

    from cofactor.simulate import machine_annotators

    X, y = load_digits(return_X_y=True)
    rates = tuple(recipe["label_rate"])
    crowd = machine_annotators(X, y, recipe["train_share"], rates, recipe["random_state"])
    table = crowd.labels.table
    return {
        "labels": _csv(task=table.rows, worker=table.variables, label=table.values),
        "truth": _csv(task=np.arange(len(crowd.truth)), truth=crowd.truth),
    }


def _csv(**columns: Ints) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()
