"""List the data sets, and load them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.data.ratings import RatingsDataset, read_movies, read_ratings
from cofactor.data.readers import Features, read_features, read_labels, read_table, read_truth
from cofactor.data.registry import NUMBER, Entry, Kind, Role, entries, find
from cofactor.data.separable import (
    GraphDataset,
    SpectraDataset,
    TextsDataset,
    TopicsDataset,
    read_documents,
    read_graph,
    read_spectra,
    read_texts,
    topic_trials,
)
from cofactor.data.storage import locate, offline

if TYPE_CHECKING:
    from cofactor.data.comparisons import ComparisonsDataset

A: dict[Kind, str] = {
    "crowd": "a crowd",
    "table": "a table",
    "ratings": "a list of ratings",
    "topics": "a set of documents",
    "graph": "a graph",
    "comparisons": "a set of comparisons",
    "spectra": "a set of spectra",
    "texts": "a set of texts",
}
COUNTS = ["tasks", "workers", "classes", "labels", "rows", "columns", "users", "items", "ratings"]
COUNTS += ["documents", "words", "nodes", "edges", "communities", "comparisons", "bands", "points", "texts"]


@dataclass(frozen=True, eq=False)
class Items:
    """Items that were not annotated: (S, P) features and (S,) true class codes."""

    features: Features = field(repr=False)
    truth: Ints = field(repr=False)


@dataclass(frozen=True, eq=False)
class CrowdDataset:
    """Crowd labels, with the known true classes, the citation and the licence.

    Attributes
    ----------
    name, title : str
    labels : CrowdLabels
        Tasks, workers and classes are numbered as in the source, from zero.
    truth : (n_tasks,) class codes
        -1 if the true class is not known.
    citation, licence : str
    features : (n_tasks, P) array of float32, or None
        Features of the tasks themselves, if the set has them.
    valid, test : Items or None
        Further items without labels, if the set has them.
    """

    name: str
    title: str
    labels: CrowdLabels
    truth: Ints = field(repr=False)
    citation: str = field(repr=False)
    licence: str = field(repr=False)
    features: Features | None = field(default=None, repr=False)
    valid: Items | None = field(default=None, repr=False)
    test: Items | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class TableDataset:
    """A table of categorical and numeric columns, one of them the class.

    Attributes
    ----------
    name, title : str
    codes : (S, N) ints
        One row per record and one column per variable, the class included; -1 if missing.
    columns : list of N names
    values : list of N lists
        What each code stands for, as spelled in the file. Values with an order (low, med, high) are in that order;
        numbers that occur are in ascending order.
    numeric : list of N bools
        Which columns hold numbers.
    target_column : int
        Which column is the class.
    citation, licence : str
    """

    name: str
    title: str
    codes: Ints = field(repr=False)
    columns: list[str] = field(repr=False)
    values: list[list[str]] = field(repr=False)
    numeric: list[bool] = field(repr=False)
    target_column: int = field(repr=False)
    citation: str = field(repr=False)
    licence: str = field(repr=False)

    @property
    def table(self) -> CategoricalTable:
        """All columns, the class included, as discrete variables."""
        return CategoricalTable(self.codes, [len(values) for values in self.values])

    @property
    def target(self) -> Ints:
        """(S,) class codes."""
        return self.codes[:, self.target_column]

    @property
    def classes(self) -> list[str]:
        """The name of each class code."""
        return self.values[self.target_column]

    @property
    def features(self) -> NDArray[np.float64]:
        """(S, N - 1) numbers for classifiers: all columns but the class, with codes of categories and NaN for gaps."""
        kept = [n for n in range(len(self.columns)) if n != self.target_column]
        return np.column_stack([self._numbers(n) for n in kept])

    def _numbers(self, column: int) -> NDArray[np.float64]:
        values, codes = self.values[column], self.codes[:, column]
        meaning = np.array(values if self.numeric[column] else range(len(values)), dtype=np.float64)
        return np.where(codes == MISSING, np.nan, meaning[codes])


def datasets() -> pd.DataFrame:
    """List the data sets, one row each, with size in bytes, licence, and whether they load without the network.

    Counts that do not apply to a kind of data set (such as workers of a table) are missing.
    """
    return pd.DataFrame(map(_row, entries().values())).astype(dict.fromkeys(COUNTS, "Int64"))


def _row(entry: Entry) -> dict[str, Any]:
    about = {"name": entry.name, "kind": entry.kind, "title": entry.title}
    counts = {column: getattr(entry, f"n_{column}") or None for column in COUNTS}
    size = sum(entry.copies(role)[0].bytes for role in entry.roles)
    return about | counts | {"size": size, "licence": entry.licence, "offline": offline(entry)}


def load(name: str, kind: Kind | None = None) -> Any:
    """Load a data set by name, downloading or making it on first use.

    Parameters
    ----------
    name : str
        One of those that `datasets()` lists.
    kind : {"crowd", "table", "ratings", "topics", "graph", "comparisons", "spectra", "texts"}, optional
        The kind that is required. Default: any.

    Returns
    -------
    CrowdDataset, TableDataset, RatingsDataset, TopicsDataset, GraphDataset, ComparisonsDataset, SpectraDataset or
    TextsDataset
        Depending on the kind that `datasets()` lists.

    Raises
    ------
    CofactorError
        No such data set, or one of another kind; the message lists the available ones.
    DatasetUnavailableError
        It is neither bundled nor cached, and cannot be downloaded; the message says what to do.

    Cost
    ----
    O(size of the files); the first time also the download (at most 6 MB, see `datasets()`).

    Examples
    --------
    >>> bluebird = load("bluebird")
    >>> bluebird.labels.n_workers, bluebird.truth[:5].tolist()
    (39, [1, 1, 1, 1, 1])
    """
    entry = find(name)
    if kind is not None and kind not in A:
        raise CofactorError(f"kind={kind!r}: choose one of {', '.join(A)}")
    if kind is not None and kind != entry.kind:
        fitting = ", ".join(other.name for other in entries().values() if other.kind == kind)
        raise CofactorError(f"data set {name!r} is {A[entry.kind]}, but {A[kind]} is needed: choose one of {fitting}")
    return LOADERS[entry.kind](entry)


def _crowd(entry: Entry) -> CrowdDataset:
    labels, truth = _labels(entry), _truth(entry, "truth", entry.n_tasks)
    features = _features(entry, "features") if "features" in entry.roles else None
    more = _items(entry, "valid_features", "valid_truth"), _items(entry, "test_features", "test_truth")
    return CrowdDataset(entry.name, entry.title, labels, truth, entry.citation, entry.licence, features, *more)


def _labels(entry: Entry) -> CrowdLabels:
    file = locate(entry, "labels")
    n_tasks, n_workers, n_classes = entry.n_tasks, entry.n_workers, entry.n_classes
    task, worker, label = read_labels(file.path, file.reader, n_tasks, n_workers, n_classes).T
    labels = CrowdLabels.from_arrays(task, worker, label, n_classes, n_tasks, n_workers, unlabelled="keep")
    if entry.workers:
        labels.workers = list(entry.workers)
    return labels


def _truth(entry: Entry, role: Role, n_tasks: int) -> Ints:
    file = locate(entry, role)
    return read_truth(file.path, file.reader, n_tasks, entry.n_classes)


def _features(entry: Entry, role: Role) -> Features:
    return read_features(locate(entry, role).path)


def _items(entry: Entry, features: Role, truth: Role) -> Items | None:
    if features not in entry.roles:
        return None
    X = _features(entry, features)
    return Items(X, _truth(entry, truth, len(X)))


def _table(entry: Entry) -> TableDataset:
    file = locate(entry, "table")
    found, names = read_table(file.path, file.reader, entry.columns, entry.target), list(entry.columns)
    codes, values = np.column_stack([column.codes for column in found]), [column.values for column in found]
    numeric, target = [values == NUMBER for values in entry.columns.values()], names.index(entry.target)
    table = codes, names, values, numeric, target
    return TableDataset(entry.name, entry.title, *table, entry.citation, entry.licence)


def _ratings(entry: Entry) -> RatingsDataset:
    files = {role: locate(entry, role).path for role in entry.roles}  # the terms of use come with the data
    titles, genres = read_movies(files["movies"])
    ratings = read_ratings(files["ratings"])
    return RatingsDataset(entry.name, entry.title, *ratings, titles, genres, entry.citation, entry.licence)


def _topics(entry: Entry) -> TopicsDataset:
    path, shape = locate(entry, "documents").path, (entry.n_documents, entry.n_words)
    counts, truth = read_documents(path, shape, entry.n_classes)
    trials = topic_trials(entry.name)
    return TopicsDataset(entry.name, entry.title, counts, truth, trials, entry.citation, entry.licence)


def _graph(entry: Entry) -> GraphDataset:
    adjacency, memberships = read_graph(locate(entry, "edges").path, locate(entry, "memberships").path)
    return GraphDataset(entry.name, entry.title, adjacency, memberships, entry.citation, entry.licence)


def _comparisons(entry: Entry) -> ComparisonsDataset:
    from cofactor.data import comparisons  # here: the line is slow to import

    file = locate(entry, "comparisons")
    size = entry.n_users, entry.n_items
    features, names, controls = np.empty((size[1], 0)), list[str](), None
    if file.reader == "food":
        asked = comparisons.read_food(file.path, locate(entry, "items").path, *size)
    elif file.reader == "cars":
        asked, controls = comparisons.read_cars(file.path, *size)
        features, names = comparisons.read_car_features(locate(entry, "items").path, size[1])
    else:
        (asked, features), names = comparisons.read_colors(file.path, *size), ["L", "a", "b"]
    about = entry.citation, entry.licence
    return comparisons.ComparisonsDataset(entry.name, entry.title, asked, features, names, controls, *about)


def _spectra(entry: Entry) -> SpectraDataset:
    wavelengths, points, X = read_spectra(locate(entry, "spectra").path)
    _, materials, W = read_spectra(locate(entry, "materials").path)
    return SpectraDataset(entry.name, entry.title, X, wavelengths, points, W, materials, entry.citation, entry.licence)


def _texts(entry: Entry) -> TextsDataset:
    found = read_texts(locate(entry, "texts").path, locate(entry, "lists").path, entry.classes)
    return TextsDataset(entry.name, entry.title, *found, entry.classes, entry.citation, entry.licence)


LOADERS: dict[Kind, Callable[[Entry], Any]] = {
    "crowd": _crowd,
    "table": _table,
    "ratings": _ratings,
    "topics": _topics,
    "graph": _graph,
    "comparisons": _comparisons,
    "spectra": _spectra,
    "texts": _texts,
}
