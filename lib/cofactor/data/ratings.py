"""Ratings of items by users, and their table with one variable per item and one row per user.

MovieLens comes as two files, comma-separated:

file           columns                               one line per
ratings.csv    userId,movieId,rating,timestamp       rating, 0.5 to 5 in steps of 0.5
movies.csv     movieId,title,genres                  movie, genres separated by |
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import numbers
from cofactor.core.errors import SHOWN, CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.data import registry
from cofactor.data.readers import SHOWN as CHARACTERS

Ids = NDArray[np.int32]  # half the memory of 64 bits, and MovieLens has 20 to 33 million ratings
Stars = NDArray[np.float32]
Times = NDArray[np.int64]

COLUMNS: dict[str, Any] = {"user": np.int32, "item": np.int32, "rating": np.float32}
SCALES = {"halves": tuple(0.5 * k for k in range(1, 11)), "stars": (1.0, 2.0, 3.0, 4.0, 5.0)}
RATINGS_HEADER = ["userid", "movieid", "rating", "timestamp"]
TYPES = {"userid": np.int32, "movieid": np.int32, "rating": np.float32, "timestamp": np.int64}
LARGEST = 999_999_999  # id
MOVIES_HEADER = ["movieId", "title", "genres"]
RATING_LINE = re.compile(r"[0-9]{1,9},[0-9]{1,9},(?:0\.5|[1-4](?:\.[05])?|5(?:\.0)?)(?:,[0-9]+)?")
NO_GENRES = "(no genres listed)"
CHUNK = 1_000_000  # lines at a time: some 50 MB
WHERE = "https://grouplens.org/datasets/movielens (ml-20m.zip, ml-25m.zip or ml-latest.zip, unpacked)"


@dataclass(frozen=True, eq=False)
class RatingsDataset:
    """Ratings as a list of users, items and values, since most users rate few items.

    Attributes
    ----------
    name, title : str
    user, item : (E,) ints
        Ids as in the source.
    rating : (E,) floats
        From 0.5 to 5, in steps of 0.5.
    timestamp : (E,) ints, or None
        Seconds since 1970, if the source has them.
    titles, genres : dict
        From item id to title and to the names of its genres, for all items in the source, rated or not.
    citation, licence : str

    Examples
    --------
    >>> ratings = RatingsDataset("made", "Three ratings", user=[7, 7, 9], item=[1, 5, 5], rating=[4.0, 2.5, 0.5])
    >>> ratings
    RatingsDataset('made', 3 ratings of 2 items by 2 users)
    >>> ratings.table(scale="stars").codes.tolist()
    [[3, 2], [-1, 0]]
    """

    name: str
    title: str
    user: Ids
    item: Ids
    rating: Stars
    timestamp: Times | None = None
    titles: Mapping[int, str] = field(default_factory=dict)
    genres: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    citation: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        """Convert lists to arrays, and check that they are consistent."""
        for name, kind in COLUMNS.items():
            object.__setattr__(self, name, _column(getattr(self, name), name, kind))
        if self.timestamp is not None:
            object.__setattr__(self, "timestamp", _column(self.timestamp, "timestamp", np.int64))
        _check_ratings(self)

    def __repr__(self) -> str:
        size = f"{len(self.rating)} ratings of {len(self.items)} items by {len(self.users)} users"
        return f"RatingsDataset({self.name!r}, {size})"

    @property
    def users(self) -> Ids:
        """Ids of the users with ratings, in ascending order: the rows of `table`."""
        return np.unique(self.user)

    @property
    def items(self) -> Ids:
        """Ids of the rated items, in ascending order."""
        return np.unique(self.item)

    def only(self, items: ArrayLike, min_ratings: int = 1) -> RatingsDataset:
        """Keep the ratings of these items, by users who rated at least `min_ratings` of them.

        Raises a CofactorError if items are named twice (they are listed), or no rating is left.
        """
        chosen = np.isin(self.item, distinct(items))
        users, count = np.unique(self.user[chosen], return_counts=True)
        chosen &= np.isin(self.user, users[count >= min_ratings])
        if not chosen.any():
            raise CofactorError(f"{self.name}: no user rated at least {min_ratings} of these items: lower min_ratings")
        timestamp = None if self.timestamp is None else self.timestamp[chosen]
        kept = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return replace(self, **kept, timestamp=timestamp)

    def table(self, items: ArrayLike | None = None, scale: str = "halves") -> CategoricalTable:
        """Return ratings as codes: one row per user and one variable per item, missing if not rated.

        Parameters
        ----------
        items : (N,) item ids, optional
            The variables, in this order. Default: `items`.
        scale : {"halves", "stars"}
            "halves" keeps ratings as they are, 0.5 to 5 as codes 0 to 9. "stars" rounds half up, floor(rating + 1/2),
            1 to 5 as codes 0 to 4. `SCALES[scale]` holds what each code stands for.

        Raises a CofactorError for another scale, or an item named twice. Cost: O(E log E).

        Source: Ibrahim and Fu, IEEE TSP 2021, Section 5.4, rounds to the closest integer, and its code with MATLAB's
        `round`, which takes halves up (NumPy's takes them to the even number).
        """
        if scale not in SCALES:
            raise CofactorError(f"no scale {scale!r}: choose one of {listing(SCALES)}")
        columns = self.items if items is None else distinct(items)
        order = np.argsort(columns)
        chosen = np.isin(self.item, columns)
        stars = np.floor(self.rating[chosen] + 0.5) if scale == "stars" else 2 * self.rating[chosen]
        return CategoricalTable.from_entries(
            row=np.searchsorted(self.users, self.user[chosen]),
            variable=order[np.searchsorted(columns, self.item[chosen], sorter=order)],
            code=stars.astype(np.int64) - 1,
            sizes=np.full(len(columns), len(SCALES[scale])),
            n_rows=len(self.users),
        )


def distinct(items: ArrayLike) -> NDArray[np.int64]:
    """Return item ids as an array; raises a CofactorError if ids are named twice."""
    ids = _column(np.ravel(items), "item", np.int64)
    known, count = np.unique(ids, return_counts=True)
    if (count > 1).any():
        raise CofactorError(f"items named twice: {listing(known[count > 1].tolist())}: keep each once")
    return ids


def _column(values: ArrayLike, name: str, kind: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.dtype == kind and values.ndim == 1:  # there may be millions
        return values
    array = numbers(values, name, 1)
    most = 2.0**53 if name == "timestamp" else 2.0**31
    if kind != np.float32 and (bad := np.flatnonzero(~((np.abs(array) < most) & (np.floor(array) == array)))).size:
        found = listing(f"row {e}: {array[e]:.12g}" for e in bad.tolist())
        raise CofactorError(f"{name} must be whole numbers below {most:.0f}, without NaN; see {found}")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as a rating
        return array.astype(kind)


def _check_ratings(data: RatingsDataset) -> None:
    n, m, size = len(data.user), len(data.item), len(data.rating)
    if not n == m == size:
        raise CofactorError(f"{n} users, {m} items and {size} ratings: give equal lengths")
    if data.timestamp is not None and len(data.timestamp) != size:
        raise CofactorError(f"{len(data.timestamp)} timestamps for {size} ratings: give one per rating, or none")
    bad = np.flatnonzero(~np.isin(data.rating, SCALES["halves"]))
    if bad.size:
        found = listing(f"rating {e}: {data.rating[e]}" for e in bad.tolist())
        raise CofactorError(f"{data.name}: ratings must be 0.5 to 5 in steps of 0.5; see {found}")
    low = np.int64(2**32 - 1)
    pair = np.sort(data.user.astype(np.int64) << 32 | data.item & low)  # one sort, not two: there may be millions
    twice = pair[1:][np.diff(pair) == 0]
    if twice.size:
        found = listing(f"user {both >> 32}, item {both & low}" for both in twice.tolist())
        raise CofactorError(f"{data.name}: rated more than once: {found}: keep one rating each")


# ---- MovieLens ----


def movie_lists() -> dict[str, list[int]]:
    """Return the lists of MovieLens ids in datasets/movie_lists.toml, by name: "action30", "animation30", "romance30".

    Tables 12-14 of Ibrahim and Fu, IEEE TSP 2021, are about these movies. The authors' list of action movies names
    1036 (Die Hard) twice, so that a hidden rating of it is also in the other column; here it is named once.

    >>> {name: len(movies) for name, movies in movie_lists().items()}
    {'action30': 29, 'animation30': 30, 'romance30': 30}
    """
    return tomllib.loads((registry.DATASETS_DIR / "movie_lists.toml").read_text(encoding="utf8"))


def load_movielens(folder: str | Path, items: ArrayLike | None = None) -> RatingsDataset:
    r"""Load MovieLens 20M, 25M or latest from a folder into which you unpacked it.

    Parameters
    ----------
    folder : path
        Holds `ratings.csv` and `movies.csv`.
    items : ids, optional
        Keep only the ratings of these movies (see `movie_lists`); the others take no memory.

    Raises
    ------
    CofactorError
        The files are missing, or are not those of MovieLens; the first ten offending lines are listed.

    Cost
    ----
    O(size of the files) time, one pass; memory for one million lines and 40 bytes per rating that is kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n")
    ...     _ = (folder / "movies.csv").write_text("movieId,title,genres\n31,Dangerous Minds (1995),Drama\n")
    ...     ratings = load_movielens(folder)
    >>> ratings.titles, ratings.table().codes.tolist()
    ({31: 'Dangerous Minds (1995)'}, [[4]])
    """
    folder = Path(folder).expanduser()
    _check_folder(folder)
    ratings = read_ratings(folder / "ratings.csv", items)
    titles, genres = read_movies(folder / "movies.csv")
    small = registry.find("movielens_small")  # the terms are the same
    about = titles, genres, small.citation, small.licence
    return RatingsDataset("movielens", f"MovieLens in {folder}", *ratings, *about)


def read_ratings(path: Path, items: ArrayLike | None = None) -> tuple[Ids, Ids, Stars, Times | None]:
    """Read users, items, ratings and times, piece by piece, keeping the ratings of `items` (default: all).

    Raises a CofactorError that names the file and the first ten lines that are not ratings.
    """
    columns = _header(path)
    wanted = None if items is None else distinct(items)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines that are too long
            warnings.simplefilter("error", RuntimeWarning)  # numbers that are too large
            pieces = _pieces(path, columns)
            kept = [piece if wanted is None else piece[piece["movieid"].isin(wanted)] for piece in pieces]
    except (ValueError, OverflowError, pd.errors.ParserWarning, RuntimeWarning) as error:
        raise _offending_lines(path, str(error)) from None
    ratings = pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=columns)
    if ratings.empty:
        raise CofactorError(f"{path} has no ratings{'' if wanted is None else ' of these items'}")
    times = ratings["timestamp"].to_numpy() if "timestamp" in ratings else None
    return ratings["userid"].to_numpy(), ratings["movieid"].to_numpy(), ratings["rating"].to_numpy(), times


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            found = file.readline().rstrip("\r\n")
    except OSError as error:
        raise CofactorError(f"{path} cannot be read: {error}") from None
    names = found.lower().split(",")  # a copy in circulation has lower case
    if names not in (RATINGS_HEADER, RATINGS_HEADER[:3]):
        raise CofactorError(f"{path}, line 1: expected userId,movieId,rating,timestamp; got {found[:CHARACTERS]!r}")
    return names


def _pieces(path: Path, columns: list[str]) -> Iterator[pd.DataFrame]:
    kept = {name: TYPES[name] for name in columns}
    wide = {name: "float64" if name == "rating" else "int64" for name in columns}  # old pandas wraps around narrow ones
    with pd.read_csv(path, names=columns, header=0, index_col=False, dtype=wide, chunksize=CHUNK) as pieces:
        for piece in pieces:
            ids = piece[columns[:2]]
            if not piece["rating"].isin(SCALES["halves"]).all() or ((ids < 0) | (ids > LARGEST)).any(axis=None):
                raise ValueError(f"ratings must be 0.5 to 5 in steps of 0.5, and ids 0 to {LARGEST}")
            yield piece.astype(kept)


def _offending_lines(path: Path, reason: str) -> CofactorError:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = ((number, line.rstrip("\r\n")) for number, line in enumerate(file, 1))
        bad = (f"line {n}: {line[:CHARACTERS]!r}" for n, line in lines if line and not RATING_LINE.fullmatch(line))
        found = list(islice(bad, 1, 1 + SHOWN))  # the first is the header
    if not found:
        return CofactorError(f"{path} cannot be read: {reason}")
    expected = "user,movie,rating,time with ratings 0.5 to 5 in steps of 0.5"
    return CofactorError(f"{path}: expected {expected}; got {', '.join(found)}")


def read_movies(path: Path) -> tuple[dict[int, str], dict[int, tuple[str, ...]]]:
    """Read titles and genres by movie id; raises a CofactorError for any other content."""
    try:
        with np.errstate(invalid="ignore"):  # an id that is not whole is an error all the same
            movies = pd.read_csv(path, dtype={"movieId": np.int64, "title": str, "genres": str}, keep_default_na=False)
    except (OSError, ValueError, OverflowError) as error:
        raise CofactorError(f"{path} cannot be read as movieId,title,genres: {error}") from None
    if list(movies.columns) != MOVIES_HEADER:
        raise CofactorError(f"{path}: expected the columns {listing(MOVIES_HEADER)}; got {listing(movies.columns)}")
    ids = movies["movieId"].tolist()
    genres = [() if text == NO_GENRES else tuple(text.split("|")) for text in movies["genres"]]
    return dict(zip(ids, movies["title"], strict=True)), dict(zip(ids, genres, strict=True))


def _check_folder(folder: Path) -> None:
    absent = [name for name in ("ratings.csv", "movies.csv") if not (folder / name).is_file()]
    if absent:
        below = sorted(path.parent for path in folder.glob("*/ratings.csv"))
        hint = f"did you mean {below[0]}? " if below else ""
        raise CofactorError(f"{folder} does not contain {' or '.join(absent)}: {hint}Download MovieLens from {WHERE}")
