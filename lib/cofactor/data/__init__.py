"""Data sets by name: bundled, made on first use, or downloaded once and checked against a pinned hash.

>>> from cofactor.data import load
>>> load("bluebird").labels
CrowdLabels(4212 labels, 108 tasks, 39 workers, 2 classes)
"""

from cofactor.data.loading import CrowdDataset, Items, TableDataset, datasets, load, load_crowd, load_table
from cofactor.data.registry import DATASETS_DIR
from cofactor.data.storage import fetch, verify

__all__ = [
    "DATASETS_DIR",
    "CrowdDataset",
    "Items",
    "TableDataset",
    "datasets",
    "fetch",
    "load",
    "load_crowd",
    "load_table",
    "verify",
]
