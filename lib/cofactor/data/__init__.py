"""Data sets by name: bundled, made on first use, or downloaded once and checked against a pinned hash.

>>> from cofactor.data import load
>>> load("bluebird").labels
CrowdLabels(4212 labels, 108 tasks, 39 workers, 2 classes)
"""

from cofactor.data.loading import (
    CrowdDataset,
    Items,
    TableDataset,
    datasets,
    load,
    load_crowd,
    load_ratings,
    load_table,
)
from cofactor.data.movielens import load_movielens, movie_lists
from cofactor.data.ratings import SCALES, RatingsDataset
from cofactor.data.registry import DATASETS_DIR
from cofactor.data.storage import fetch, verify

__all__ = [
    "DATASETS_DIR",
    "SCALES",
    "CrowdDataset",
    "Items",
    "RatingsDataset",
    "TableDataset",
    "datasets",
    "fetch",
    "load",
    "load_crowd",
    "load_movielens",
    "load_ratings",
    "load_table",
    "movie_lists",
    "verify",
]
