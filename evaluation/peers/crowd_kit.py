"""crowd-kit's aggregators of labels (extra `bench`), with their defaults."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.crowd.labels import CrowdLabels


class CrowdKit:
    """An aggregator of crowd-kit by its name, such as "DawidSkene", "GLAD", "MACE" or "MMSR"."""

    def __init__(self, name: str = "DawidSkene") -> None:
        self.name = name

    def fit(self, labels: CrowdLabels) -> CrowdKit:
        """Run it; raise a CofactorError if crowd-kit is not installed, has no such aggregator, or fails."""
        try:
            from crowdkit.aggregation import classification
        except ImportError:
            raise CofactorError("crowd-kit is not installed: pip install 'cofactor[bench]'") from None
        if not hasattr(classification, self.name):
            names = ", ".join(sorted(name for name in dir(classification) if name[0].isupper()))
            raise CofactorError(f"crowd-kit has no {self.name}; there are {names}")
        table = labels.table
        frame = pd.DataFrame({"task": table.rows, "worker": table.variables, "label": table.values})
        try:
            self.answer_ = _answer(getattr(classification, self.name)(), frame, labels)
        except AttributeError:  # some of its classes have no __sklearn_tags__, which scikit-learn 1.7 and later ask for
            raise CofactorError(f"this version of crowd-kit ({version('crowd-kit')}) cannot run it") from None
        except ValueError as error:
            raise CofactorError(f"crowd-kit stops here: {error}") from None
        return self

    def predict_proba(self, labels: CrowdLabels) -> np.ndarray:
        """Return (tasks, classes) probabilities, or class codes if it gives no probabilities."""
        return self.answer_


def _answer(method: Any, frame: pd.DataFrame, labels: CrowdLabels) -> np.ndarray:
    if not hasattr(method, "fit_predict_proba"):
        return np.asarray(method.fit_predict(frame).reindex(range(labels.n_tasks)), dtype=np.int64)
    found = method.fit_predict_proba(frame)
    return np.asarray(found.reindex(index=range(labels.n_tasks), columns=range(labels.n_classes)).fillna(0.0))
