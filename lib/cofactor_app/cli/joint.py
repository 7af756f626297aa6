"""``cofactor joint``: the joint distribution of the columns of a table, for its gaps, for samples, for a class."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import cofactor as cf
from cofactor.core.checks import LARGEST, check_whole
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import read_frame
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import told
from cofactor.crowd.outside import is_outside
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.draws import draw, pooled
from cofactor.pmf.filling import Filling, fill, number_errors
from cofactor.pmf.frames import CategoricalFrame
from cofactor.pmf.holdout import HeldOut, held_out
from cofactor.pmf.rules import NotAsked, without_unasked
from cofactor.pmf.target import LOGISTIC, better, classified, cross_validated
from cofactor_app.cli import in_options, tell, warned
from cofactor_app.cli.output import Writer, outputs, write_page

ENOUGH = 30  # hidden cells, before a gain is judged
MANY = 100  # columns, from which on choosing the rank takes minutes


def joint(arguments: argparse.Namespace) -> None:
    """Fit a joint distribution; print how good it is, and write what was asked for."""
    n_drawn, drawn = _sample_of(arguments)
    tables = [arguments.output, arguments.filled, arguments.pooled, drawn]
    with outputs(arguments, tables, [arguments.table], [arguments.report]) as writer:
        data = _read(arguments)
        target, rules = _target(data, arguments.target), _rules(arguments, data)
        diagnosis = cf.pmf.diagnose(data.table, rank=arguments.rank, names=data.names)
        cautions = [*warned(diagnosis), *_text_lines(data), *_alike_lines(data)]
        method, found, classes = _fitted(arguments, data, target)
        lines = [*_lines(arguments, data, method, found), *_class_lines(arguments, classes), *_rule_lines(data, rules)]
        tell(lines, cautions)
        alone = [] if found is None else _alone(number_errors(found, data))
        cells = _with_classes(arguments, data, fill(method.model_, data, alone), target, classes)
        _write_tables(arguments, writer, data, _asked(cells, data, rules))
        if arguments.draws:
            _write_draws(arguments, writer, data, method, rules)
        if drawn:
            rows = data.drawn(method.sample(n_drawn, random_state=0), np.random.default_rng(0))
            nothing = pd.DataFrame(None, rows.index, rows.columns)
            writer.write(drawn, [without_unasked(rows, nothing, rules)], f"{n_drawn} rows drawn")
        if arguments.report:
            from cofactor_app.pages.joint import joint_page  # pictures take a second to import

            made = arguments.table, arguments.method, data, method, lines, diagnosis, found, classes
            write_page(arguments.report, joint_page(*made, arguments.target or "", cells))


def _sample_of(arguments: argparse.Namespace) -> tuple[int, Path | None]:
    """Return how many rows are drawn, and the file they go to."""
    if not arguments.sample:
        return 0, None
    number, path = arguments.sample
    digits = number.lstrip("0")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 10 or int(digits) > LARGEST:
        first = f"first the number of rows, a whole number from 1 to {LARGEST}"
        raise CofactorError(f"--sample {number} {path}: {first}, then a file")
    return int(digits), Path(path)


def _read(arguments: argparse.Namespace) -> CategoricalFrame:
    frame = read_frame(arguments.table, None, arguments.encoding, arguments.sep, "case")
    named = [*(arguments.columns or ()), *([arguments.target] if arguments.target else ())]
    missing = [name for name in named if name not in frame.columns]
    if missing:
        raise CofactorError(f"no column {listing(missing)}; found {listing(frame.columns)}")
    check_whole(1, n_jobs=arguments.jobs)
    gaps = None if arguments.gaps is None else [word.strip() for word in arguments.gaps.split(",") if word.strip()]
    data = CategoricalFrame.from_frame(
        frame, named if arguments.columns else None, arguments.bins, gaps, arguments.merge_look_alikes
    )
    if nowhere := [word for word in gaps or () if word not in data.gap_words]:
        warnings.warn(f"no cell reads {listing(map(repr, nowhere))}, named by --gaps", DataWarning, stacklevel=2)
    return data


def _target(data: CategoricalFrame, name: str | None) -> int | None:
    if name is None:
        return None
    if name not in data.names:
        why = f" ({data.left_out[name]})" if name in data.left_out else ""
        raise CofactorError(f"--target {name}: cannot be used{why}; the columns are {listing(data.names)}")
    target = data.names.index(name)
    if data.is_cut(target):
        raise CofactorError(f"--target {name}: holds many numbers; a class has few values, cut them into some first")
    if len(data.names) == 1:
        raise CofactorError(f"--target {name}: there is no other column to predict it from")
    return target


def _rules(arguments: argparse.Namespace, data: CategoricalFrame) -> list[NotAsked]:
    if arguments.pooled and not arguments.draws:
        raise CofactorError("--pooled needs --draws, how many tables to draw: 20")
    if arguments.draws is not None:
        check_whole(2, n_draws=arguments.draws)
    return [NotAsked.parse(text, data.names) for text in arguments.not_asked]


def _rule_lines(data: CategoricalFrame, rules: Sequence[NotAsked]) -> Iterator[str]:
    for rule in rules:
        unasked, empty = rule.holds(data.frame), data.frame[rule.column].isna().to_numpy()
        answered = int((unasked & ~empty).sum())
        yield (
            f"not asked: {rule.column}: {(unasked & empty).sum()} cells in rows where {rule.other} is {rule.value}"
            + (f"; {answered} more have a value there, which stays" if answered else "")
        )


def _asked(cells: Filling, data: CategoricalFrame, rules: Sequence[NotAsked]) -> Filling:
    """Leave cells out that were not asked, given what their rows were filled with."""
    if not rules:
        return cells
    full = without_unasked(data.filled(cells.row, cells.variable, cells.value), data.frame, rules)[data.names]
    kept = full.notna().to_numpy()[cells.row, cells.variable]
    value = [one for one, asked in zip(cells.value, kept.tolist(), strict=True) if asked]
    return Filling(cells.row[kept], cells.variable[kept], value, cells.probability[kept])


def _fitted(
    arguments: argparse.Namespace, data: CategoricalFrame, target: int | None
) -> tuple[JointPMFEstimator, HeldOut | None, pd.DataFrame | None]:
    """Return the fitted method, what it is worth on hidden cells, and the target's errors."""
    own = is_outside(arguments.method)
    method = _own(arguments) if own else cf.pmf.METHODS[arguments.method](random_state=0, verbose=True)
    if not own and arguments.method != "Independence":
        method.rank = arguments.rank or "auto"
        if len(data.names) >= MANY and not arguments.rank:
            slow = (
                "choosing the number of hidden classes takes up to 60 fits, and the time of each grows with the square"
            )
            told = f"{len(data.names)} columns: {slow} of the number of columns; --rank 5 does without the choice"
            warnings.warn(told, DataWarning, stacklevel=2)
    found = held_out(method, data.table, 0)
    classes = None if target is None else cross_validated(data.table, target, arguments.rank or "auto")
    return method.fit(data.table), found, classes


def _own(arguments: argparse.Namespace) -> JointPMFEstimator:
    from cofactor_app.cli.own import OwnJoint  # brings the bench with it

    if arguments.rank:
        own = "options of a method of your own follow its name, in brackets"
        raise CofactorError(f"--rank is of the methods of this kit; {own}")
    return OwnJoint(name=arguments.method, random_state=0)


def _lines(
    arguments: argparse.Namespace, data: CategoricalFrame, method: JointPMFEstimator, found: HeldOut | None
) -> Iterator[str]:
    """Yield lines about table, model and hidden cells."""
    table = data.table
    n_cells = table.n_rows * table.n_variables
    yield f"{arguments.table}: {table.n_rows} rows, {table.n_variables} columns, {n_cells - table.n_entries} gaps"
    if empty := data.n_empty:
        yield f"empty rows left out, also of what is written: {empty}"
    for word, counts in data.gap_words.items():
        yield f"counts as a gap: {repr(word) if word else 'empty cells'}: {_told(counts)}"
    for how, names in data.written.items():
        yield f"numbers {how}: {listing(names)}: read, and written, as 1234.5"
    for word, counts in data.answers.items():
        yield f"counts as an answer: {word!r}: {_told(counts)}; name the words that are gaps by --gaps, if it is one"
    for name, why in data.left_out.items():
        n_gaps = int(data.frame[name].isna().sum())
        yield f"left out: {name}: {why}" + (f"; {n_gaps} gaps stay as they are" if n_gaps else "")
    yield from _cuts(data)
    ranks = listing(sorted({one.rank_ for one in method.members}))
    chosen = ", chosen by hidden cells" if method.validation_ else ""
    yield f"{arguments.method}: hidden classes {ranks}{chosen}; {method.result_.reason}"
    for one in method.members:
        criteria = f"AIC {one.aic(table):.1f}, BIC {one.bic(table):.1f}"
        yield f"  {one.rank_} hidden classes: {one.model_.n_parameters} free parameters, {criteria} (lower is better)"
    if found is None:
        yield "too few cells to hide some of them: how good the model is was not measured"
        return
    gain, error = found.gain()
    yield f"{len(found.row)} hidden cells, predicted from the rest of their rows:"
    yield f"  log-loss  {found.loss.mean():.4f}, from each column alone (independence) {found.base_loss.mean():.4f}"
    yield f"  gain      {gain:.4f} a cell, standard error {error:.4f}{_judged(found)}"
    wrong, majority = 1 - found.right.mean(), 1 - found.base_right.mean()
    yield f"  wrong     {wrong:.1%}, the most frequent value of each column {majority:.1%}"
    yield from _number_lines(found, data)


def _number_lines(found: HeldOut, data: CategoricalFrame) -> Iterator[str]:
    """Yield how far off numbers are filled, beside the column's median."""
    errors = number_errors(found, data)
    if len(errors):
        yield "numbers, mean absolute error on hidden cells in standard deviations of the column:"
    alone = _alone(errors)
    for n, row in zip(errors.index.tolist(), errors.to_dict("records"), strict=True):
        judged = ": no better than that" if row["gain"] <= 2 * row["error"] else ""
        judged = ": too few cells to judge" if row["cells"] < ENOUGH else judged
        judged = ": no better, so its gaps get that median" if n in alone else judged
        yield f"  {data.names[n]}  {row['mae']:.3f}, the median of the column {row['base_mae']:.3f}{judged}"


def _alone(errors: pd.DataFrame) -> list[int]:
    """Return the columns of numbers that are filled with their median, since nothing better was found."""
    return errors.index[(errors["gain"] <= 0) & (errors["cells"] >= ENOUGH)].tolist()


def _told(counts: dict[str, int]) -> str:
    return listing(f"{count} in {name}" for name, count in counts.items())


def _text_lines(data: CategoricalFrame) -> Iterator[str]:
    """Yield what keeps columns from being columns of numbers."""
    for name, counts in data.texts.items():
        words = listing(f"{text!r} ({count})" for text, count in counts.items())
        yield f"{name}: numbers, and text among them, so that none is taken for a number: {words}; see --gaps"


def _alike_lines(data: CategoricalFrame) -> Iterator[str]:
    """Yield values, and names of columns, that differ in how they are written alone."""
    for name, groups in data.alike.items():
        yield in_options(told(groups, f"{name}: values")) if name else told(groups, "names of columns").split(";")[0]


def _judged(found: HeldOut) -> str:
    gain, error = found.gain()
    if len(found.row) < ENOUGH:
        return ": too few cells to judge"
    return "" if gain > 2 * error else ": no better than each column alone"


def _cuts(data: CategoricalFrame) -> Iterator[str]:
    for n, name in enumerate(data.names):
        shown = [data.shown(n, code) for code in range(len(data.observed[n]))]
        if data.is_cut(n):
            yield f"cut at quantiles: {name}: {listing(shown)}"


def _class_lines(arguments: argparse.Namespace, classes: pd.DataFrame | None) -> Iterator[str]:
    if classes is None:
        return
    yield f"{arguments.target} from the other columns, five-fold cross-validation:"
    for row in classes.itertuples():
        yield f"  {row.method:<16} wrong {row.wrong:.1%} (standard error {row.error:.1%}), log-loss {row.loss:.4f}"
    if better(classes) == LOGISTIC:
        yield f"  logistic regression alone has the lower log-loss, and fills the gaps of {arguments.target}"


def _with_classes(
    arguments: argparse.Namespace,
    data: CategoricalFrame,
    cells: Filling,
    target: int | None,
    classes: pd.DataFrame | None,
) -> Filling:
    """Return what the gaps are filled with; those of the target by the better classifier."""
    wanted = arguments.output or arguments.filled or arguments.report
    if wanted and target is not None and classes is not None:
        own = np.flatnonzero(cells.variable == target).tolist()
        _, code, cells.probability[own] = classified(data.table, target, arguments.rank or "auto", better(classes))
        for place, one in zip(own, code.tolist(), strict=True):
            cells.value[place] = data.shown(target, one)
    return cells


def _write_tables(arguments: argparse.Namespace, writer: Writer, data: CategoricalFrame, cells: Filling) -> None:
    """Write the table without gaps, and the cells that were filled."""
    if arguments.output and not arguments.draws:
        full = data.filled(cells.row, cells.variable, cells.value)
        writer.write(arguments.output, [full], f"{len(cells.row)} gaps filled")
    if arguments.filled:
        names = [data.names[n] for n in cells.variable.tolist()]
        columns = {"column": names, "value": cells.value, "probability": cells.probability.round(6)}
        table = pd.DataFrame({str(data.frame.index.name): data.frame.index[cells.row], **columns})
        writer.write(arguments.filled, [table], f"{len(cells.row)} cells")


def _write_draws(
    arguments: argparse.Namespace,
    writer: Writer,
    data: CategoricalFrame,
    method: JointPMFEstimator,
    rules: Sequence[NotAsked],
) -> None:
    """Draw completed tables; print what they say together of columns with gaps, and write them."""
    draws = draw(method, data, arguments.draws, rules, 0, arguments.jobs)
    table = pooled(draws, data)
    gaps = [name for name in data.names if data.frame[name].isna().any()]
    tell(_pooled_lines(table[table["column"].isin(gaps)], len(draws)))
    if arguments.output:
        numbered = (one.assign(draw=k)[["draw", *one.columns]] for k, one in enumerate(draws, 1))
        writer.write(arguments.output, numbered, f"{len(draws)} completed tables, one below another, by column draw")
    if arguments.pooled:
        columns = ["estimate", "low", "high", "missing"]
        writer.write(arguments.pooled, [table.assign(**table[columns].round(6))], f"{len(table)} pooled estimates")


def _pooled_lines(table: pd.DataFrame, n_draws: int) -> Iterator[str]:
    yield f"columns with gaps, pooled over {n_draws} draws, 90 % intervals:"
    for name, rows in table.groupby("column", sort=False):
        parts = [
            f"{row['value'] or 'mean'} {row['estimate']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
            for row in rows.to_dict("records")
        ]
        yield f"  {name}  {listing(parts)}"
