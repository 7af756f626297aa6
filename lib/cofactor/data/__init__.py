"""Data sets by name: bundled, or downloaded once and checked against a pinned hash.

>>> from cofactor.data import load
>>> load("bluebird").labels
CrowdLabels(4212 labels, 108 tasks, 39 workers, 2 classes)
"""

from typing import TYPE_CHECKING

from cofactor.core.lazy import lazy_exports

if TYPE_CHECKING:
    from cofactor.data.comparisons import ComparisonsDataset, comparisons_from_ratings
    from cofactor.data.loading import CrowdDataset, Items, TableDataset, datasets, load
    from cofactor.data.ratings import SCALES, RatingsDataset, load_movielens, movie_lists
    from cofactor.data.registry import DATASETS_DIR
    from cofactor.data.separable import GraphDataset, SpectraDataset, TextsDataset, TopicsDataset, load_mag
    from cofactor.data.storage import fetch, verify

__all__ = [
    "DATASETS_DIR",
    "SCALES",
    "ComparisonsDataset",
    "CrowdDataset",
    "GraphDataset",
    "Items",
    "RatingsDataset",
    "SpectraDataset",
    "TableDataset",
    "TextsDataset",
    "TopicsDataset",
    "comparisons_from_ratings",
    "datasets",
    "fetch",
    "load",
    "load_mag",
    "load_movielens",
    "movie_lists",
    "verify",
]

if not TYPE_CHECKING:  # one kind of data set does not need what reads the others
    __getattr__, __dir__ = lazy_exports(__name__)
