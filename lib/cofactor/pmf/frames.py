"""Convert a table of text into a `CategoricalTable`, and codes back into cells.

A column with few distinct values is treated as categorical. A numeric column with many values is cut at its quantiles,
because a joint distribution of values that rarely repeat is meaningless. A text column whose values rarely repeat, or
an integer column whose values never repeat, identifies rows and is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cofactor.core.cells import (
    LIKE_MISSING,
    NO_VALUE,
    Spelling,
    check_columns,
    check_spelling,
    located,
    look_alikes,
    merged_names,
    merged_note,
    plain_columns,
    says_nothing,
)
from cofactor.core.checks import check_whole, unmasked
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.tables import LARGEST_EXACT_CODE, MISSING, CategoricalTable
from cofactor.core.types import Floats, Ints

POINTS = "'.' between thousands"  # as `plain` says it
FEW_VALUES = 20  # values: a column of fewer is always taken as it is, one of more numbers is cut
DATE = r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./]\d{1,2}[./](\d{4}|\d\d)"
SENTINELS = {float(f"{sign}{code}") for sign in ("", "-") for code in ("9", "99", "999", "9999", "98", "998")} | {-1.0}
ANSWER = "None"  # a gap among numbers; among words it may as well be an answer, such as that of no religion
GAPS = (*(word for word in NO_VALUE if word != ANSWER), *LIKE_MISSING)  # words that say "not observed"
MOST_TEXT_VALUES = 100  # values of text that are taken unasked
N_BINS = 8


@dataclass(frozen=True, eq=False)
class CategoricalFrame:
    """The columns of a text table as codes.

    Attributes
    ----------
    frame : DataFrame
        All columns as they were read, with missing values for gaps.
    table : CategoricalTable
        Codes of the columns in `names`.
    columns : list of CodedColumn
        The coding of each of these columns.
    left_out : dict of name to reason
    gap_words : dict of word to dict of name to count
        Words that were treated as missing values, with their counts per column; "" stands for empty cells.
    answers : dict of word to dict of name to count
        Words that were treated as values but may mean "missing", such as "None", "unknown" or, among numbers, -99.
    texts : dict of name to dict of text to Index
        Text in columns that are otherwise numeric, with the rows of `frame` that contain it.
    alike : dict of name to list of lists of str
        Values of a column that differ only in spelling; the key "" is for column names.
    written : dict of str to list of str
        Notations of numbers that had to be converted, with their columns; `frame` has the converted numbers.
    """

    frame: pd.DataFrame
    table: CategoricalTable
    columns: list[CodedColumn]
    left_out: dict[str, str]
    gap_words: dict[str, dict[str, int]]
    answers: dict[str, dict[str, int]]
    texts: dict[str, dict[str, pd.Index[Any]]]
    alike: dict[str, list[list[str]]]
    written: dict[str, list[str]]

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns that are used."""
        return names_of(self.columns)

    @cached_property
    def observed(self) -> list[list[list[str]]]:
        """The cells behind every code of every column: a single value, or the values of an interval, ascending."""
        return [column.observed for column in self.columns]

    @property
    def words(self) -> list[str]:
        """Words that were treated as missing values, without empty cells."""
        return [word for word in self.gap_words if word]

    @cached_property
    def numbers(self) -> list[Floats | None]:
        """(S,) numbers of each numeric column but those of two values, NaN if missing; None for other columns."""
        return [
            pd.to_numeric(self.frame[column.name]).to_numpy(dtype=np.float64)
            if column.is_cut or (len(column.observed) > 2 and column.is_numeric)
            else None
            for column in self.columns
        ]

    def is_cut(self, variable: int) -> bool:
        """Whether the codes of a column are intervals of numbers rather than single values."""
        return self.columns[variable].is_cut

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        columns: Sequence[str] | None = None,
        n_bins: int = N_BINS,
        gaps: Sequence[str] | None = None,
        spelling: Spelling = "classes",
    ) -> CategoricalFrame:
        """Code the columns of a text table, as `read_frame` returns it.

        `columns` are the columns to use, by default all usable ones. `gaps` are the words for missing values, in
        addition to empty cells; by default `GAPS`, and "None" among numbers. `spelling="all"` merges values of a column
        that differ only in capitals, surrounding blanks or invisible characters into the most frequent of them. Raises
        a CofactorError if a column is missing or cannot be used, no column is left, or `n_bins` is less than two.
        """
        check_whole(2, n_bins=n_bins)
        check_spelling(spelling)
        check_columns(frame, columns or list(frame.columns), "cases")
        frame, written = _plain(frame, tuple(gaps or ()))
        missing = pd.DataFrame({name: gaps_in(frame[name], gaps) for name in frame.columns})
        gap_words = _counts(frame, missing)
        frame = frame.mask(missing)
        doubtful = pd.DataFrame({name: _may_be_none(frame[name]) for name in frame.columns if gaps is None})
        answers = _counts(frame[doubtful.columns], doubtful)
        texts = {str(name): found for name in columns or frame.columns if (found := _texts(frame[name]))}
        amounts = {name for names in written.values() for name in names}  # no id has signs between thousands
        named = amounts if columns is None else set(columns)
        whys = {name: _useless(frame[name], name in named) for name in columns or frame.columns}
        left_out = {str(name): why for name, why in whys.items() if why}
        if columns is not None and left_out:
            raise CofactorError(f"these columns cannot be used: {_told(left_out)}; leave them out")
        names = [str(name) for name, why in whys.items() if not why]
        if not names:
            raise CofactorError(f"no column can be used: {_told(left_out)}")
        if spelling == "all":
            frame = frame.assign(**{name: _merged(frame[name]) for name in names})
        coded = [CodedColumn.of(frame[name], n_bins) for name in names]
        codes = np.column_stack([column.codes(frame[column.name]) for column in coded])
        table = CategoricalTable(codes, [len(column.observed) for column in coded])
        values = {column.name: [cells[0] for cells in column.observed if cells[0] == cells[-1]] for column in coded}
        values |= {"": [str(name) for name in frame.columns]}
        alike = {name: same for name, one in values.items() if (same := look_alikes(one, truth_values=bool(name)))}
        return cls(frame, table, coded, left_out, gap_words, answers, texts, alike, written)

    @classmethod
    def coded_by(
        cls, columns: Sequence[CodedColumn], frame: pd.DataFrame, gaps: Sequence[str] | None = None
    ) -> CategoricalFrame:
        """Code further rows of text with the codings of `columns`; additional columns are left as they are.

        Raises a CofactorError if a column is missing or values have no code (they are named with their rows).
        """
        names = names_of(columns)
        check_columns(frame, names, "cases")
        written = zip(columns, plain_columns([frame[name] for name in names], tuple(gaps or ())), strict=True)
        cut = {one.name: column for one, (column, how) in written if how and (one.is_cut or POINTS in how)}
        frame = frame.assign(**cut)
        missing = pd.DataFrame({name: gaps_in(frame[name], gaps) for name in names})
        gap_words = _counts(frame[names], missing)
        frame = frame.assign(**{name: frame[name].mask(missing[name]) for name in names})
        codes = np.column_stack([column.codes(frame[column.name]) for column in columns])
        table = CategoricalTable(codes, [len(column.observed) for column in columns])
        left_out = {str(name): "the model has no such column" for name in frame.columns if name not in names}
        return cls(frame, table, list(columns), left_out, gap_words, {}, {}, {}, {})

    def shown(self, variable: int, code: int) -> str:
        """Return the text of a code for the user: its value, or the ends of its interval."""
        return self.columns[variable].shown(code)

    def filled(self, row: Ints, variable: Ints, value: Sequence[str]) -> pd.DataFrame:
        """Return the table with these cells filled; all other gaps stay empty."""
        columns = {name: self.frame[name].to_numpy(dtype=object, copy=True) for name in self.frame.columns}
        for s, n, one in zip(row.tolist(), variable.tolist(), value, strict=True):
            columns[self.names[n]][s] = one
        return pd.DataFrame(columns)

    def drawn(self, table: CategoricalTable, rng: np.random.Generator) -> pd.DataFrame:
        """Return a table of codes as values; a value within an interval is drawn uniformly from its observed cells."""
        columns = {}
        for n, name in enumerate(self.names):
            place = rng.random(table.n_rows)
            cells = [self.observed[n][code] for code in table.codes[:, n].tolist()]
            columns[name] = [one[int(u * len(one))] for one, u in zip(cells, place, strict=True)]
        return pd.DataFrame(columns)


def _plain(frame: pd.DataFrame, gaps: tuple[str, ...]) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Convert numbers in unusual notation, if a column has many values; also return the columns by notation.

    Thousands such as "1.234" are converted in any column, since they would be read as decimal numbers.
    """
    columns = zip(frame.columns, plain_columns([frame[name] for name in frame.columns], gaps), strict=True)
    found = {name: one for name, one in columns if frame[name].nunique() > FEW_VALUES or POINTS in one[1]}
    written: dict[str, list[str]] = {}
    for name, (_, how) in found.items():
        if how:
            written.setdefault(how, []).append(str(name))
    if written:
        frame = frame.assign(**{name: column for name, (column, how) in found.items() if how})
    return frame, written


def _told(left_out: dict[str, str]) -> str:
    return listing(f"{name} ({why})" for name, why in left_out.items())


def gaps_in(column: pd.Series[str], gaps: Sequence[str] | None) -> pd.Series[bool]:
    """Return a mask of the missing cells of a column."""
    found = column.isna() | column.isin(["", *(GAPS if gaps is None else gaps)])
    rest = column[~found & (column != ANSWER)]
    among_numbers = gaps is None and len(rest) > 0 and as_numbers(rest) is not None
    return found | (column == ANSWER) if among_numbers else found


def _counts(frame: pd.DataFrame, which: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the count of each text among the selected cells of each column; missing cells count as ""."""
    found: dict[str, dict[str, int]] = {}
    for name in frame.columns:
        for word, count in frame[name][which[name]].fillna("").value_counts().items():
            found.setdefault(str(word), {})[str(name)] = int(count)
    return dict(sorted(found.items()))


def _may_be_none(column: pd.Series[str]) -> pd.Series[bool]:
    """Return the cells that may mean "missing"; among numbers, codes such as -99 that are far from all others."""
    cells = column.dropna()
    numbers = as_numbers(cells)
    if numbers is None:
        words = set(cells.unique())
        found = {word for word in words if word == ANSWER or says_nothing(word)} - ({"-"} if "+" in words else set())
        return column.isin(found)
    codes = [text for text in cells.unique() if float(text) in SENTINELS]
    rest = numbers[~cells.isin(codes)]
    if not codes or rest.nunique() < 3:
        return pd.Series(False, column.index)
    low, high = rest.min(), rest.max()
    far = [c for c in codes if (float(c) < 0 <= low) or not low - (high - low) <= float(c) <= high + (high - low)]
    return column.isin(far)


def _texts(column: pd.Series[str]) -> dict[str, pd.Index[Any]]:
    """Return text with its rows, for columns that are mostly numeric and have too many numbers for categories."""
    cells = column.dropna()
    numbers = pd.to_numeric(cells, errors="coerce")
    known = np.isfinite(numbers.to_numpy(dtype=np.float64))
    if known.all() or 2 * known.sum() < len(cells) or numbers[known].nunique() <= FEW_VALUES:
        return {}
    rows = cells[~known].groupby(cells[~known]).groups
    often = sorted(rows.items(), key=lambda found: -len(found[1]))
    return {str(text): found.rename(column.index.name) for text, found in often}


def text_cells(texts: dict[str, pd.Index[Any]]) -> str:
    """Return a listing of texts among the numbers of a column with their rows, most frequent first."""
    return listing(f"{text!r} ({named_rows(rows)})" for text, rows in texts.items())


def named_rows(rows: pd.Index[Any]) -> str:
    """Return the rows with the name of the table's index, such as "row 3" or "rows 3, 5"."""
    return f"{rows.name or 'row'}{'s' if len(rows) > 1 else ''} {listing(rows)}"


def _merged(column: pd.Series[str]) -> pd.Series[str]:
    """Merge values that differ only in spelling into the most frequent of them, with a `DataWarning`."""
    counts = {str(value): int(count) for value, count in column.value_counts(sort=False).items()}
    known = merged_names(counts)
    if known:
        warnings.warn(merged_note(known, f"{column.name}: values"), DataWarning, stacklevel=4)
    return column.map(lambda cell: known.get(cell, cell)) if known else column


def _useless(column: pd.Series[str], named: bool) -> str:
    """Return why a column is not used (some reasons hold only for columns that were not requested), or ""."""
    cells = column.dropna()
    n_values = cells.nunique()
    if not n_values:
        return "all cells are empty"
    if n_values <= FEW_VALUES:
        return ""
    numbers = as_numbers(cells)
    if numbers is None and cells.str.fullmatch(DATE).all():
        return f"{n_values} dates: replace them with numbers, such as the year, the month or the days since a date"
    if numbers is not None:
        never_twice = bool((numbers == np.floor(numbers)).all()) and n_values == len(column)  # ids have no gaps
        return f"probably ids: {n_values} whole numbers that never repeat" if never_twice and not named else ""
    if 2 * n_values > len(cells):
        if texts := _texts(column):
            return f"numbers mixed with text: {text_cells(texts)}"
        kind = "ids or free text" if len(cells) == len(column) else "free text"
        return f"probably {kind}: {n_values} distinct values in {len(cells)} cells"
    return (
        f"{n_values} distinct values, more than {MOST_TEXT_VALUES}" if n_values > MOST_TEXT_VALUES and not named else ""
    )


def coded(data: Any, columns: Sequence[CodedColumn] = ()) -> tuple[CategoricalTable, list[CodedColumn]]:
    """Return data as a table, and the codings of the columns of a DataFrame ([] if `data` are codes).

    Parameters
    ----------
    data : CategoricalTable, CategoricalFrame, DataFrame, or (S, N) array of codes
        Missing values of an array are -1, NaN or None. The columns of a DataFrame are coded as by `cofactor joint`:
        numeric columns with many values are cut into intervals, and columns that are not categorical are left out, with
        a `DataWarning`.
    columns : list of CodedColumn
        The codings of the fitted table; a DataFrame must have these columns.

    Raises a CofactorError for any other type, or for values that `columns` does not contain.

    >>> coded([[0, 1], [None, 1]])[0].codes.tolist()
    [[0, 1], [-1, 1]]
    """
    if isinstance(data, CategoricalTable):
        return data, []
    if isinstance(data, pd.DataFrame):
        text = as_text(data)
        data = CategoricalFrame.coded_by(columns, text) if columns else CategoricalFrame.from_frame(text)
        if data.left_out and not columns:
            warnings.warn(f"these columns were left out: {_told(data.left_out)}", DataWarning, stacklevel=3)
    if isinstance(data, CategoricalFrame):
        return data.table, data.columns
    return CategoricalTable(_codes(data)), []


def _codes(data: Any) -> Any:
    """Return codes in which missing values are -1."""
    if not isinstance(data, np.ndarray | list | tuple):
        wanted = "a CategoricalTable, a DataFrame or an array of codes (rows by variables)"
        raise CofactorError(f"expected {wanted}, got {type(data).__name__}")
    try:
        array = unmasked(data, np.int64(MISSING))
    except (CofactorError, ValueError):
        return data  # rows of different lengths, which CategoricalTable refuses
    if array.dtype.kind in "OUS" and array.ndim == 2 and array.size:
        raise CofactorError(
            f"an array of dtype {array.dtype} does not contain codes: pass a DataFrame of text, or an array of integers"
        )
    return np.where(np.isnan(array), MISSING, array) if array.dtype.kind == "f" else array


# ---- one column ----


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """The coding of a text column.

    Attributes
    ----------
    name : str
    observed : list of lists of str
        The cells behind every code: a single value, or the values of an interval, ascending.
    edges : array or None
        The lower ends of all intervals but the first; None if codes are single values.
    often : (I,) ints
        The number of times that each code was observed.
    """

    name: str
    observed: list[list[str]]
    edges: Floats | None
    often: Ints

    @classmethod
    def of(cls, cells: pd.Series[str], n_bins: int) -> CodedColumn:
        """Learn the coding of a column from its cells, which may be missing; codes follow the order of the values."""
        known = cells.dropna()
        numbers = as_numbers(known)
        if numbers is None or known.nunique() <= FEW_VALUES:
            key = None if numbers is None else float
            values = sorted(sorted(known.unique()), key=key)
            often: Ints = np.asarray(known.value_counts().reindex(values), dtype=np.int64)
            return cls(str(cells.name), [[one] for one in values], None, often)
        edges = _edges(np.asarray(numbers, dtype=np.float64), n_bins)
        code = np.searchsorted(edges, numbers, side="right")
        order = np.argsort(numbers.to_numpy(), kind="stable")
        observed = [known.iloc[order[code[order] == one]].tolist() for one in range(len(edges) + 1)]
        return cls(str(cells.name), observed, edges, np.bincount(code, minlength=len(edges) + 1).astype(np.int64))

    @property
    def is_cut(self) -> bool:
        """Whether codes are intervals of numbers rather than single values."""
        return any(cells[0] != cells[-1] for cells in self.observed)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return as_numbers(pd.Series([cells[0] for cells in self.observed], dtype=object)) is not None

    def shown(self, code: int) -> str:
        """Return the text of a code for the user: its value, or the ends of its interval."""
        cells = self.observed[code]
        return cells[0] if cells[0] == cells[-1] else f"{cells[0]} to {cells[-1]}"

    def codes(self, cells: pd.Series[str]) -> Ints:
        """Return the (S,) codes of cells, missing for missing cells; refuse values without a code, with their rows."""
        known = cells.notna().to_numpy()
        if self.edges is not None:
            numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
            found = np.where(np.isfinite(numbers), np.searchsorted(self.edges, numbers, side="right"), MISSING)
        else:
            values = [one[0] for one in self.observed]
            index = pd.Index(values, dtype=object)
            found = np.asarray(index.get_indexer(pd.Index(cells, dtype=object)), dtype=np.int64)
            if self.is_numeric and len(set(map(float, values))) == len(values):  # 7.0 is 7
                as_index = pd.Index(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
                by_number = pd.Index(values).astype(np.float64).get_indexer(as_index)
                found = np.where((found == MISSING) & known, by_number, found)
        unknown = (found == MISSING) & known
        if unknown.any():
            what = "values that are not numbers" if self.edges is not None else "values that did not occur in the fit"
            where = located(cells, unknown, cells[unknown].tolist())
            raise CofactorError(
                f"{self.name} contains {what}: {where}; correct them, leave them empty, or fit all rows again"
            )
        return found


def as_numbers(cells: pd.Series[str]) -> pd.Series[float] | None:
    """Return cells as numbers, or None if any of them is text."""
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert a table to text, keeping missing values; whole numbers are written without a decimal point.

    Raises a CofactorError if cells contain anything but text, numbers, dates and truth values.

    >>> as_text(pd.DataFrame({"age": [31.0, None], "hat": ["red", "blue"]})).values.tolist()
    [['31', 'red'], [nan, 'blue']]
    """
    columns = [_column_as_text(frame.iloc[:, n], name) for n, name in enumerate(frame.columns)]
    found = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(frame)))
    return found.set_axis([str(name) for name in frame.columns], axis=1)


def _column_as_text(column: pd.Series[Any], name: object) -> pd.Series[str]:
    cells = column.reset_index(drop=True)
    if pd.api.types.is_float_dtype(cells):
        numbers = cells.dropna().to_numpy(dtype=np.float64)
        if (numbers == np.floor(numbers)).all() and (np.abs(numbers) < LARGEST_EXACT_CODE).all():
            cells = cells.astype("Int64")
    if pd.api.types.is_complex_dtype(cells):
        raise CofactorError(f"column {name} contains complex numbers: split them into real and imaginary parts")
    nested = [row for row, cell in enumerate(cells.tolist()) if pd.api.types.is_list_like(cell)]
    if nested:
        where = located(cells, cells.index.isin(nested))
        raise CofactorError(f"column {name} contains lists or other objects instead of categories: {where}")
    text = cells.astype(object).where(cells.notna(), None)
    return text.map(lambda cell: cell if cell is None else str(cell).strip()).astype(object).where(cells.notna())


def _edges(numbers: Floats, n_bins: int) -> Floats:
    """Return the lower ends of quantile intervals; a value frequent enough to fill an interval gets its own."""
    values, counts = np.unique(numbers, return_counts=True)
    often = counts * n_bins > len(numbers)
    rest = numbers[~np.isin(numbers, values[often])]
    shares = np.linspace(0, 1, max(n_bins - int(often.sum()), 1) + 1)[1:-1]
    quantiles = np.quantile(rest, shares) if rest.size else rest
    edges = np.unique(np.concatenate([values[often], values[1:][often[:-1]], quantiles]))
    _, first = np.unique(np.searchsorted(values, edges), return_index=True)  # between two edges lies a value
    edges = edges[first]
    return np.asarray(edges[edges > values[0]])


def names_of(columns: Sequence[CodedColumn]) -> list[str]:
    """Return the names of columns."""
    return [column.name for column in columns]
