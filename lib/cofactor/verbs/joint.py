"""``joint``: from a table with gaps to its joint distribution, latent classes and completed rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cofactor.core.cells import Spelling, alike_note, plain_columns
from cofactor.core.checks import check_whole, rng_of, unmasked
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.estimator import Diagnosis, clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Seed
from cofactor.data.loading import TableDataset
from cofactor.pmf import METHODS
from cofactor.pmf.base import JointPMFEstimator, check_choices, lowest_rank
from cofactor.pmf.diagnose import diagnose
from cofactor.pmf.filling import ENOUGH, Draws, draw, fill, no_better, number_errors, pooled
from cofactor.pmf.frames import N_BINS, CategoricalFrame, as_text, gaps_in, named_rows, text_cells
from cofactor.pmf.metrics import HeldOutCells, held_out
from cofactor.reading.tables import read_frame
from cofactor.reading.totals import added_up, footnotes, nearly_added_up, totals
from cofactor.verbs.rank import brief
from cofactor.verbs.result import (
    Result,
    as_frame,
    data_set,
    frame_like,
    joined,
    named_source,
    noting,
    paths_of,
)

DEFAULT = "CNMF-EM"
LISTED = 3  # classes named in the summary
OF_TRIPLES = ("CTD", "MLE-AD-EM")  # methods that count triples of columns
MANY = 100  # columns, from which on choosing the number of classes takes minutes


@dataclass(repr=False, eq=False)
class JointResult(Result):
    """Result of `joint`: the completed table, filled cells, latent classes, memberships; notes, the fit, a report.

    Attributes
    ----------
    table : DataFrame
        The table with its gaps filled, in the input's order; rows without any value stay empty.
    cells : DataFrame
        Row, column, value and probability of every filled cell.
    classes : DataFrame
        class, share, column, value, probability, overall: the profile of each latent class, the largest first.
        `probability` is that of the value in the class, `overall` that in all rows.
    memberships : DataFrame
        row, class, probability, and the probability of each class; empty if a row has no value. A column of ids that
        was left out of the model is included.
    method : JointPMFEstimator
        `method.model_` is the joint distribution that fills gaps and draws rows. If the number of classes was chosen,
        it is a mean of fits with several numbers of classes that predict hidden cells equally well.
    model : LatentClassModel
        The described latent classes, largest first: as few as predict hidden cells within one standard error of the
        best, with at most as many parameters as distinct rows.
    data : CategoricalFrame
        The coding of the columns.
    held_out : HeldOutCells or None
        The quality of predictions of hidden cells; None if there are too few cells.
    checks : Diagnosis
    """

    page: ClassVar[str] = "joint"
    source: str
    table: pd.DataFrame
    cells: pd.DataFrame
    method: JointPMFEstimator
    data: CategoricalFrame
    held_out: HeldOutCells | None
    checks: Diagnosis
    name: str
    model: LatentClassModel
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def classes(self) -> pd.DataFrame:
        """The profile of each latent class."""
        model, data = self.model, self.data
        rows = [
            (f + 1, model.prior[f], name, data.shown(n, code), model.conditionals[n][code, f], model.marginal(n)[code])
            for f in range(model.n_classes)
            for n, name in enumerate(data.names)
            for code in range(len(data.observed[n]))
        ]
        return pd.DataFrame(rows, columns=["class", "share", "column", "value", "probability", "overall"])

    @cached_property
    def memberships(self) -> pd.DataFrame:
        """The probability of each class for every row."""
        Q, seen = self.model.posterior(self.data.table), self.data.table.entries_per_row > 0
        best = pd.Series(Q.argmax(axis=1) + 1).where(seen).astype("Int64")
        columns = {self._row: self.data.frame.index, **self._ids()}
        columns |= {"class": best.to_numpy(), "probability": np.where(seen, Q.max(axis=1), np.nan)}
        columns |= {f"class {f + 1}": np.where(seen, Q[:, f], np.nan) for f in range(Q.shape[1])}
        return pd.DataFrame(columns).astype({"class": "Int64"})

    def draws(self, n_draws: int = 20, random_state: Seed = 0) -> Draws:
        """Draw completed tables from the joint distribution; iterate over the result."""
        return draw(self.method, self.data, n_draws, random_state)

    def pooled(self, draws: Draws) -> pd.DataFrame:
        """Return means and fractions over drawn tables with intervals: column, value, estimate, low, high, missing."""
        return pooled(draws, self.data)

    def sample(self, n_rows: int, random_state: Seed = 0) -> pd.DataFrame:
        """Draw rows from the joint distribution."""
        check_whole(1, n_rows=n_rows)
        rng = rng_of(random_state)
        return self.data.drawn(self.method.sample(n_rows, random_state=rng), rng)

    @property
    def _row(self) -> str:
        return str(self.data.frame.index.name or "row")

    def _ids(self) -> dict[str, Any]:
        """Return the first column of ids, which the model leaves out."""
        frame = self.data.frame
        names = [name for name, why in self.data.left_out.items() if "ids" in why and frame[name].is_unique]
        return {name: frame[name].to_numpy() for name in names[:1] if name != self._row}

    @property
    def shown(self) -> pd.DataFrame:
        """The completed table."""
        return self.table

    @property
    def summary(self) -> list[str]:
        """The size of the table, its latent classes, and the quality of predictions of hidden cells."""
        table, found = self.data.table, self.held_out
        n_gaps = table.n_rows * table.n_variables - table.n_entries
        words = ", ".join(map(repr, self.data.words[:LISTED]))
        size = amount(table.n_rows, "row"), amount(table.n_variables, "column"), amount(n_gaps, "gap")
        first = ", ".join(size) + f" ({words})" * bool(words)
        prior = self.model.prior
        shares = ", ".join(f"{100 * share:.0f}" + " %" for share in prior[:LISTED])
        some = "the largest " if len(prior) > LISTED else ""
        classes = f"{len(prior)} latent classes: {some}{shares} of the rows"
        if len(prior) == 1:
            classes = NO_CLASSES if self.method.model_.n_classes == 1 else TOO_MANY
        lines = [first, classes]
        if found is None:
            return [*lines, "too few cells to hide some of them, so the quality of the model was not measured"]
        wrong, majority = (100 * (1 - right.mean()) for right in (found.right, found.base_right))
        losses = f"log-loss {brief(found.loss.mean())}, independent columns {brief(found.base_loss.mean())}"
        return [*lines, f"held-out cells: {wrong:.1f} % wrong, most frequent value {majority:.1f} %; {losses}"]

    @property
    def details(self) -> list[str]:
        """How columns were read and binned, the fit, and errors of numbers, one line each."""
        data, method = self.data, self.method
        gaps = [f"counts as a gap: {repr(word) if word else 'empty cells'}: {counted(counts)}"
                for word, counts in data.gap_words.items()]  # fmt: skip
        cut = [f"binned at quantiles: {name}: {listing(data.shown(n, code) for code in range(len(data.observed[n])))}"
               for n, name in enumerate(data.names) if data.is_cut(n)]  # fmt: skip
        ranks = listing(sorted({one.rank_ for one in method.members}))
        averaged = f"predictions are means over fits with {ranks} classes" if len(method.members) > 1 else ""
        fit = [f"{self.name}: {method.result_.reason}", *filter(None, [averaged])]
        lines = [*gaps, *cut, *fit, f"latent classes: {self.model.n_parameters} free parameters"]
        if self.held_out is None:
            return lines
        gain, error = self.held_out.gain()
        lines.append(
            f"{len(self.held_out.row)} hidden cells: gain in log-loss per cell {gain:.4f} (standard error {error:.4f})"
        )
        errors = number_errors(self.held_out, data)
        said = "{}: mean absolute error {:.3f} standard deviations ({:.3f} when predicting the median)"
        return lines + [
            said.format(data.names[n], row["mae"], row["base_mae"])
            for n, row in zip(errors.index.tolist(), errors.to_dict("records"), strict=True)
        ]

    def screen(self, more: str = "") -> list[str]:
        """Return the summary, as lines of text."""
        return self.summary


NO_CLASSES = "1 latent class: the model treats the columns as independent"
TOO_MANY = "no latent classes are described: two would have more parameters than there are distinct rows"


def joint(
    source: Any,
    *,
    columns: str | Sequence[str] | None = None,
    bins: int = N_BINS,
    gaps: str | Sequence[str] | None = None,
    rank: int | str = "auto",
    method: str | JointPMFEstimator = DEFAULT,
    spelling: Spelling = "classes",
    skip_bad: bool = False,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    random_state: Seed = 0,
) -> JointResult:
    """Learn the joint distribution of the columns of a table, fill its gaps, and describe its latent classes.

    Parameters
    ----------
    source : path, several paths, name of a data set, DataFrame, array of codes, CategoricalTable or CategoricalFrame
        One case per row. Gaps are empty cells and words such as NA; in an array of integers, -1 if no other number is
        negative. A row of sums or means of other rows is left out, with a warning.
    columns : names of the columns to use; default: all except ids and free text
    bins : int
        Number of intervals for columns of numbers with many values.
    gaps : words that count as gaps, in addition to empty cells; default: NA, n/a, ?, . and similar
    rank : int or "auto"
        Number of latent classes; "auto" chooses it by predicting hidden cells.
    method : name in `cofactor.pmf.METHODS`, or an estimator
    spelling : {"classes", "keep", "all"}
        "classes" and "all": values that differ only in capitals, surrounding blanks or invisible characters
        are merged.
    skip_bad : bool
        Treat text in a column of numbers as gaps, and name it.
    encoding, sep : encoding and column separator of text files
    random_state : seed

    Returns a `JointResult`: table, cells, classes, memberships.

    Raises a CofactorError that names rows and columns if the table cannot be read or used. Warns (`DataWarning`) if
    columns are redundant, pairs of columns have few rows, or the model is no better than independent columns.

    Cost: that of the method, times eight to forty with rank="auto".

    >>> rows = [("red", "hot"), ("red", "hot"), ("blue", "cold"), ("blue", None), (None, "hot")] * 40
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     joint(pd.DataFrame(rows, columns=["colour", "feel"]), rank=2).table.iloc[3:5].values.tolist()
    [['blue', 'cold'], ['red', 'hot']]
    """
    check_choices(rank, 0.0)
    columns, gaps = _several(columns), _several(gaps)
    notes, warned = list[str](), list[str]()
    with noting(notes, warned):
        given, text = _table(source, encoding, sep)
        if not isinstance(text, CategoricalFrame) and (no_cases := _no_cases(text, gaps)):
            cases = np.setdiff1d(np.arange(len(text)), no_cases)
            given, text = None if given is None else given.iloc[cases], text.iloc[cases]
        data = text if isinstance(text, CategoricalFrame) else _coded(text, columns, bins, gaps, spelling, skip_bad)
        if len(data.names) == 1:
            only = "none, it is the only column" if columns is None else "none, no other column is named"
            left_out = listing(f"{column} ({why})" for column, why in data.left_out.items()) or only
            what = f"two usable columns are needed, and only {data.names[0]} is usable"
            raise CofactorError(f"{what}; left out: {left_out}")
        checks = diagnose(data.table, rank=None if rank == "auto" else int(rank), names=data.names)
        _warn_of_checks(checks, method)
        for column, texts in data.texts.items():
            why = "the column has numbers and text, so none of its values is treated as a number"
            mend = "name the words that are gaps, or make text a gap with skip_bad (--skip-bad)"
            warnings.warn(f"{column}: {why}: {text_cells(texts)}; {mend}", DataWarning, stacklevel=2)
        if len(data.names) >= MANY and rank == "auto":
            slow = f"{len(data.names)} columns: choosing the number of latent classes takes about forty fits"
            warnings.warn(f"{slow}; set rank, such as rank=5, to avoid this", DataWarning, stacklevel=2)
        name, estimator = _estimator(method, rank, random_state)
        found = held_out(estimator, data.table, 0)
        if found is not None and (doubt := judged(found)):
            warnings.warn(doubt, DataWarning, stacklevel=2)
        estimator.fit(data.table)
    errors = None if found is None else number_errors(found, data)
    by_median = [] if errors is None else no_better(errors)
    notes += [note for note in _notes(data, gaps, by_median) if note not in notes]
    table, cells = _filled(estimator.model_, data, given, by_median)
    read = named_source(source), table, cells, estimator, data, found, checks, name
    return JointResult(*read, _described(estimator, data.table), notes, warned)


def _described(method: JointPMFEstimator, table: CategoricalTable) -> LatentClassModel:
    """Return the model whose classes are described, in falling order of their share."""
    model = method.model_
    if method.validation_:
        rank = lowest_rank(method.validation_, table)
        alike = [one for one in method.members if one.rank_ == rank]
        model = alike[0].model_ if alike else clone(method).set_params(rank=rank).fit(table).model_
    order = np.argsort(-model.prior, kind="stable")
    return LatentClassModel.from_stacked(model.prior[order], model.stacked[:, order], model.sizes)


def judged(found: HeldOutCells) -> str:
    """Return a warning if a model may be no better than independent columns; "" if it is, by two standard errors."""
    gain, error = found.gain()
    if len(found.row) < ENOUGH:
        return f"the model cannot be judged with only {len(found.row)} hidden cells"
    return "" if gain > 2 * error else "the model is no better than independent columns on hidden cells"


def counted(counts: dict[str, int]) -> str:
    """Format the counts per column."""
    return listing(f"{count} in {name}" for name, count in counts.items())


# ---- the table ----


def _table(source: Any, encoding: str, sep: str | None) -> tuple[pd.DataFrame | None, Any]:
    """Return the caller's DataFrame, if there is one, and the table as text, or a CategoricalFrame as it is."""
    paths = paths_of(source)
    if len(paths) == 1 and (known := data_set(paths[0], "table")) is not None:
        source = known
    if isinstance(source, CategoricalFrame):
        return None, source
    if isinstance(source, TableDataset):
        meaning = [[*values, None] for values in source.values]  # a gap is the code -1
        columns = zip(source.columns, meaning, source.codes.T, strict=True)
        cells = {name: [values[code] for code in codes.tolist()] for name, values, codes in columns}
        return None, pd.DataFrame(cells, dtype=object).rename_axis("row")
    if len(paths) > 1:
        return None, joined(paths, "case", encoding, sep).rename_axis("row")
    if paths:
        return None, read_frame(paths[0], None, encoding, sep, "case", empty_rows=True)
    if frame_like(source):
        given = as_frame(source)
        text = as_text(given)
        index = given.index.to_flat_index() if isinstance(given.index, pd.MultiIndex) else given.index
        return given, text.set_axis(index, axis=0).rename_axis(str(index.name or "row"))
    codes = source.codes if isinstance(source, CategoricalTable) else unmasked(source)
    if codes.ndim != 2 or not codes.size or codes.dtype.kind == "c":
        wanted = "give a path, a DataFrame, an array of codes, or a CategoricalTable"
        what = str(codes.dtype) if codes.dtype.kind == "c" else type(source).__name__
        raise CofactorError(f"expected a table, got {what} of shape {codes.shape}: {wanted}")
    numbers = pd.DataFrame(codes)
    gap = numbers.isna() | (numbers == MISSING if codes.dtype.kind == "i" and codes.min() == MISSING else False)
    return None, as_text(numbers.mask(gap)).rename_axis("row")


def _several(names: Any) -> list[str] | None:
    """Return one name or several as texts, as those of the table are."""
    return None if names is None else list(map(str, names if pd.api.types.is_list_like(names) else [names]))


def _no_cases(text: pd.DataFrame, gaps: Sequence[str] | None) -> list[int]:
    """Return the rows (positions) of a text table that add up or average others, with a warning that names them."""
    with warnings.catch_warnings(action="ignore"):  # whoever codes the columns warns
        plain = [one for one, _ in plain_columns([text.iloc[:, n] for n in range(text.shape[1])], tuple(gaps or ()))]
    cells = pd.DataFrame({n: one.mask(gaps_in(one, gaps)).to_numpy() for n, one in enumerate(plain)})
    found = added_up(cells) or nearly_added_up(cells)
    if found:
        named = listing(f"{text.index.name} {text.index[row]} ({what})" for row, what in found.items())
        warnings.warn(f"left out, since totals and means are no cases: {named}; remove them", DataWarning, stacklevel=3)
    return list(found)


def _coded(
    text: pd.DataFrame,
    columns: Sequence[str] | None,
    bins: int,
    gaps: Sequence[str] | None,
    spelling: Spelling,
    skip_bad: bool,
) -> CategoricalFrame:
    """Code the columns of a text table; with `skip_bad`, text among numbers becomes gaps."""
    if columns is not None and (missing := [name for name in columns if name not in text.columns]):
        raise CofactorError(f"no column {listing(missing)}; found {listing(text.columns)}")
    made = CategoricalFrame.from_frame(text, columns, bins, gaps, spelling)
    if skip_bad and made.texts:
        for name, texts in made.texts.items():
            warnings.warn(f"{name}: text among numbers counts as gaps: {text_cells(texts)}", DataWarning, stacklevel=3)
            rows = text[name].isin(list(texts))
            text = text.assign(**{name: text[name].mask(rows)})
        made = CategoricalFrame.from_frame(text, columns, bins, gaps, spelling)
    return made


def _warn_of_checks(checks: Diagnosis, method: str | JointPMFEstimator) -> None:
    """Warn of what the checks found that concerns the method; a failed one is an error: every method would refuse."""
    failed = [f"{check.name}: {check.value}: {check.advice}" for check in checks.checks if check.status == "fail"]
    if failed:
        raise CofactorError("; ".join(failed))
    triples = getattr(method, "name", method) in OF_TRIPLES
    passed = ("rows",) if triples else ("rows", "rows per triple")  # which rows are empty, the notes say
    for check in checks.checks:
        if check.status == "warn" and check.name not in passed:
            warnings.warn(f"{check.name}: {check.value}: {check.advice}", DataWarning, stacklevel=3)


def _estimator(method: str | JointPMFEstimator, rank: int | str, seed: Seed) -> tuple[str, JointPMFEstimator]:
    if isinstance(method, JointPMFEstimator):
        return getattr(method, "name", type(method).__name__), method
    if method not in METHODS:
        raise CofactorError(f"no method {method!r}: choose one of {listing(METHODS, 50)}")
    found = METHODS[method](random_state=seed)
    if method != "Independence":
        found.rank = rank
    return method, found


def _notes(data: CategoricalFrame, gaps: Sequence[str] | None, by_median: Sequence[int]) -> Iterator[str]:
    """Yield what was left out, taken for an answer, or written otherwise."""
    yield from filter(None, (totals(data.frame), footnotes(data.frame)))
    empty = data.table.entries_per_row == 0
    if empty.any():
        stay = "stays" if empty.sum() == 1 else "stay"
        yield f"{amount(empty.sum(), 'row')} without a value {stay} empty: {named_rows(data.frame.index[empty])}"
    for name, groups in data.alike.items():
        yield alike_note(groups, f"{name}: values") if name else alike_note(groups, "names of columns").split(";")[0]
    for how, names in data.written.items():
        yield f"numbers {how}: {listing(names)}; they are read, and written, as 1234.5"
    for word, counts in data.answers.items():
        rows = [data.frame.index[data.frame[name] == word] for name in counts]
        where = listing(f"{len(at)} in {name} ({named_rows(at)})" for name, at in zip(counts, rows, strict=True))
        yield f"{word!r} counts as an answer: {where}; if it is a gap, name it as one"
    for name, why in data.left_out.items():
        n_gaps = int(data.frame[name].isna().sum())
        yield f"column left out: {name}: {why}" + (f"; {amount(n_gaps, 'gap')} left in it" if n_gaps else "")
    if nowhere := [word for word in gaps or () if word not in data.gap_words]:
        yield f"no cell contains {listing(map(repr, nowhere))}, which was named as a gap"
    if by_median:
        told_by = listing(data.names[n] for n in by_median)
        yield f"gaps are filled with the column's median, because the model predicts no better: {told_by}"


def _filled(
    model: LatentClassModel, data: CategoricalFrame, given: pd.DataFrame | None, by_median: Sequence[int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the completed table and the cells that were filled; rows without a value stay empty."""
    found = fill(model, data, by_median)
    kept = np.flatnonzero((data.table.entries_per_row > 0)[found.row])
    row, variable, value = found.row[kept], found.variable[kept], [found.value[e] for e in kept.tolist()]
    index = data.frame.index
    columns: dict[str, Any] = {str(index.name or "row"): index[row]}
    columns |= {"column": [data.names[n] for n in variable.tolist()], "value": value}
    cells = pd.DataFrame({**columns, "probability": found.probability[kept]})
    table = data.filled(row, variable, value).set_axis(index, axis=0)
    return (table if given is None else _as_given(table, given)), cells


def _as_given(table: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """Return a completed table of text with the index, the names and the kinds of columns of the caller's table."""
    table = table.set_axis(given.columns, axis=1).set_axis(given.index, axis=0)
    columns = []
    for place in range(given.shape[1]):
        full, own = table.iloc[:, place], given.iloc[:, place]
        if pd.api.types.is_bool_dtype(own) or not pd.api.types.is_numeric_dtype(own):
            text = as_text(own.to_frame()).iloc[:, 0].to_numpy()
            values = pd.Series(own.to_numpy(dtype=object), text)[lambda one: ~one.index.duplicated()]
            meant = full.map(values).where(full.isin(values.index), full)  # True, where the text is "True"
            full = own.astype(object).where(own.notna() & (text == full), meant)
        else:
            full = pd.to_numeric(full)
        with suppress(TypeError, ValueError):  # a category that only other rows have
            full = full.astype(own.dtype)
        columns.append(full)
    return pd.concat(columns, axis=1)
