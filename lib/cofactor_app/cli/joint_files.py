"""What `cofactor joint` writes: tables without gaps, cells that were filled, draws, and rows of a sample."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cofactor.core.checks import LARGEST_SETTING
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.cli import tell
from cofactor_app.cli.joint_lines import pooled_lines
from cofactor_app.cli.output import Writer
from cofactor_app.joint.draws import Draws, pooled
from cofactor_app.joint.filling import Filling
from cofactor_app.joint.rules import NotAsked, without_unasked


def sample_of(arguments: argparse.Namespace) -> tuple[int, Path | None]:
    """Return how many rows are drawn, and the file they go to."""
    if not arguments.sample:
        return 0, None
    number, path = arguments.sample
    digits = number.lstrip("0")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 10 or int(digits) > LARGEST_SETTING:
        first = f"first the number of rows, a whole number from 1 to {LARGEST_SETTING}"
        raise CofactorError(f"--sample {number} {path}: {first}, then a file")
    return int(digits), Path(path)


def asked_cells(cells: Filling, data: CategoricalFrame, rules: Sequence[NotAsked]) -> Filling:
    """Leave cells out that were not asked, given what their rows were filled with."""
    if not rules:
        return cells
    full = without_unasked(data.filled(cells.row, cells.variable, cells.value), data.frame, rules)[data.names]
    kept = full.notna().to_numpy()[cells.row, cells.variable]
    value = [one for one, asked in zip(cells.value, kept.tolist(), strict=True) if asked]
    return Filling(cells.row[kept], cells.variable[kept], value, cells.probability[kept], cells.code[kept])


def write_tables(arguments: argparse.Namespace, writer: Writer, data: CategoricalFrame, cells: Filling) -> None:
    """Write the table without gaps, and the cells that were filled."""
    if arguments.output and not arguments.draws:
        full = data.filled(cells.row, cells.variable, cells.value)
        writer.write(arguments.output, [full], f"{len(cells.row)} gaps filled")
    if arguments.filled:
        names = [data.names[n] for n in cells.variable.tolist()]
        columns = {"column": names, "value": cells.value, "probability": cells.probability.round(6)}
        table = pd.DataFrame({str(data.frame.index.name): data.frame.index[cells.row], **columns})
        writer.write(arguments.filled, [table], f"{len(cells.row)} cells")


def write_draws(arguments: argparse.Namespace, writer: Writer, data: CategoricalFrame, draws: Draws) -> None:
    """Print what drawn tables say together of columns with gaps, and write them."""
    table = pooled(draws, data)
    gaps = [name for name in data.names if data.frame[name].isna().any()]
    tell(pooled_lines(table[table["column"].isin(gaps)], len(draws)))
    if arguments.output:
        numbered = (one.assign(draw=k)[["draw", *one.columns]] for k, one in enumerate(draws, 1))
        writer.write(arguments.output, numbered, f"{len(draws)} completed tables, one below another, by column draw")
    if arguments.pooled:
        columns = ["estimate", "low", "high", "missing"]
        writer.write(arguments.pooled, [table.assign(**table[columns].round(6))], f"{len(table)} pooled estimates")


def write_sample(
    writer: Writer, path: Path, data: CategoricalFrame, table: CategoricalTable, rules: Sequence[NotAsked]
) -> None:
    """Write rows that were drawn from a model."""
    rows = data.drawn(table, np.random.default_rng(0))
    nothing = pd.DataFrame(None, rows.index, rows.columns)
    writer.write(path, [without_unasked(rows, nothing, rules)], f"{table.n_rows} rows drawn")


def gap_words(arguments: argparse.Namespace) -> list[str] | None:
    """Return the words of --gaps; None where it was not given."""
    if arguments.gaps is None:
        return None
    return [word.strip() for word in arguments.gaps.split(",") if word.strip()]
