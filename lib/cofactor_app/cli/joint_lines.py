"""What `cofactor joint` prints: about the table, the model, hidden cells, the target, and what was drawn."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from cofactor.core.cells import told
from cofactor.core.errors import listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.frames import CategoricalFrame, rows_told, text_cells
from cofactor_app.cli import in_options
from cofactor_app.joint.filling import number_errors
from cofactor_app.joint.forbidden import Pair
from cofactor_app.joint.holdout import HeldOutCells
from cofactor_app.joint.rules import NotAsked
from cofactor_app.joint.target import LOGISTIC, better
from cofactor_app.joint.weights import effective_rows, like_weights

ENOUGH = 30  # hidden cells, before a gain is judged


def model_lines(
    arguments: argparse.Namespace, data: CategoricalFrame, method: JointPMFEstimator, found: HeldOutCells | None
) -> Iterator[str]:
    """Yield lines about table, model and hidden cells."""
    table = data.table
    yield from table_lines(arguments, data)
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
    loss, base_loss = found.mean(found.loss), found.mean(found.base_loss)
    yield f"  log-loss  {loss:.4f}, from each column alone (independence) {base_loss:.4f}"
    yield f"  gain      {gain:.4f} a cell, standard error {error:.4f}{judged(found)}"
    wrong, majority = 1 - found.mean(found.right), 1 - found.mean(found.base_right)
    yield f"  wrong     {wrong:.1%}, the most frequent value of each column {majority:.1%}"
    yield from _number_lines(found, data)


def table_lines(arguments: argparse.Namespace, data: CategoricalFrame) -> Iterator[str]:
    """Yield what was read: rows, weights, gaps, answers, columns that are left out."""
    table = data.table
    n_cells = table.n_rows * table.n_variables
    yield f"{arguments.table}: {table.n_rows} rows, {table.n_variables} columns, {n_cells - table.n_entries} gaps"
    if empty := data.n_empty:
        yield f"rows left out, empty or the header again, also of what is written: {empty}"
    if arguments.weight and table.weights is not None:
        equal = f"for means, the {table.n_rows} rows are worth {effective_rows(table.weights):.0f} of equal weight"
        yield f"weights of rows: {arguments.weight}, divided by their mean; {equal}"
    for word, counts in data.gap_words.items():
        yield f"counts as a gap: {repr(word) if word else 'empty cells'}: {_told(counts)}"
    for how, names in data.written.items():
        yield f"numbers {how}: {listing(names)}: read, and written, as 1234.5"
    for word, counts in data.answers.items():
        columns = [data.frame[name] for name in counts]
        where = listing(
            f"{counts[str(one.name)]} in {one.name} ({rows_told(one.index[one == word])})" for one in columns
        )
        yield f"counts as an answer: {word!r}: {where}; name the words that are gaps by --gaps, if it is one"
    for name, why in data.left_out.items():
        n_gaps = int(data.frame[name].isna().sum())
        yield f"left out: {name}: {why}" + (f"; {n_gaps} gaps stay as they are" if n_gaps else "")


def _number_lines(found: HeldOutCells, data: CategoricalFrame) -> Iterator[str]:
    """Yield how far off numbers are filled, beside the column's median."""
    errors = number_errors(found, data)
    if len(errors):
        yield "numbers, mean absolute error on hidden cells in standard deviations of the column:"
    by_median = alone(errors)
    for n, row in zip(errors.index.tolist(), errors.to_dict("records"), strict=True):
        said = ": no better than that" if row["gain"] <= 2 * row["error"] else ""
        said = ": too few cells to judge" if row["cells"] < ENOUGH else said
        said = ": no better, so its gaps get that median" if n in by_median else said
        yield f"  {data.names[n]}  {row['mae']:.3f}, the median of the column {row['base_mae']:.3f}{said}"


def alone(errors: pd.DataFrame) -> list[int]:
    """Return the columns of numbers that are filled with their median, since nothing better was found."""
    return errors.index[(errors["gain"] <= 0) & (errors["cells"] >= ENOUGH)].tolist()


def _told(counts: dict[str, int]) -> str:
    return listing(f"{count} in {name}" for name, count in counts.items())


def text_lines(data: CategoricalFrame) -> Iterator[str]:
    """Yield what keeps columns from being columns of numbers."""
    for name, texts in data.texts.items():
        words = text_cells(texts)
        yield f"{name}: numbers, and text among them, so that none is taken for a number: {words}; see --gaps"


def weight_lines(arguments: argparse.Namespace, data: CategoricalFrame) -> Iterator[str]:
    """Yield columns that may be weights of rows, which nobody named."""
    if not arguments.weight:
        for name in set(like_weights(data.frame)) & {*data.names, *data.left_out}:
            yield f"{name}: is called as weights of rows are, and counts as a column like any other; see --weight"


def alike_lines(data: CategoricalFrame) -> Iterator[str]:
    """Yield values, and names of columns, that differ in how they are written alone."""
    for name, groups in data.alike.items():
        yield in_options(told(groups, f"{name}: values")) if name else told(groups, "names of columns").split(";")[0]


def judged(found: HeldOutCells) -> str:
    """Return what to add to a gain that may be none; empty where it is two standard errors above zero."""
    gain, error = found.gain()
    if len(found.row) < ENOUGH:
        return ": too few cells to judge"
    return "" if gain > 2 * error else ": no better than each column alone"


def _cuts(data: CategoricalFrame) -> Iterator[str]:
    for n, name in enumerate(data.names):
        shown = [data.shown(n, code) for code in range(len(data.observed[n]))]
        if data.is_cut(n):
            yield f"cut at quantiles: {name}: {listing(shown)}"


def class_lines(arguments: argparse.Namespace, classes: pd.DataFrame | None) -> Iterator[str]:
    """Yield how often the target is predicted wrongly, by each classifier."""
    if classes is None:
        return
    yield f"{arguments.target} from the other columns, five-fold cross-validation:"
    for row in classes.itertuples():
        yield f"  {row.method:<16} wrong {row.wrong:.1%} (standard error {row.error:.1%}), log-loss {row.loss:.4f}"
    if better(classes) == LOGISTIC:
        yield f"  logistic regression alone has the lower log-loss, and fills the gaps of {arguments.target}"


def rule_lines(data: CategoricalFrame, rules: Sequence[NotAsked]) -> Iterator[str]:
    """Yield how many cells were not asked."""
    for rule in rules:
        unasked, empty = rule.holds(data.frame), data.frame[rule.column].isna().to_numpy()
        answered = int((unasked & ~empty).sum())
        yield (
            f"not asked: {rule.column}: {(unasked & empty).sum()} cells in rows where {rule.other} is {rule.value}"
            + (f"; {answered} more have a value there, which stays" if answered else "")
        )


def pair_lines(arguments: argparse.Namespace, model: LatentClassModel, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield how probable forbidden pairs were."""
    for text, pair in zip(arguments.forbid, pairs, strict=True):
        yield f"forbidden: {text}: had the probability {pair.probability(model):.2g}, and has none now"


def pooled_lines(table: pd.DataFrame, n_draws: int) -> Iterator[str]:
    """Yield pooled means and shares with their intervals."""
    yield f"columns with gaps, pooled over {n_draws} draws, 90 % intervals:"
    for name, rows in table.groupby("column", sort=False):
        parts = [
            f"{row['value'] or 'mean'} {row['estimate']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
            for row in rows.to_dict("records")
        ]
        yield f"  {name}  {listing(parts)}"
