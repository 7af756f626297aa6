"""Data sets by name: bundled, made on first use, or downloaded once and checked against a pinned hash.

>>> from cofactor.data import load
>>> load("bluebird").labels
CrowdLabels(4212 labels, 108 tasks, 39 workers, 2 classes)
"""

from cofactor.data.loading import CrowdDataset, datasets, load
from cofactor.data.registry import DATASETS_DIR
from cofactor.data.storage import fetch, verify

__all__ = ["DATASETS_DIR", "CrowdDataset", "datasets", "fetch", "load", "verify"]
