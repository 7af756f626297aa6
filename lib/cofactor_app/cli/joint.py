"""``cofactor joint``: the verb `cofactor.joint` on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from cofactor.core.checks import LARGEST_SETTING, check_whole
from cofactor.core.errors import CofactorError, amount, listing
from cofactor.core.lazy import pd
from cofactor.registry import is_outside
from cofactor.verbs.joint import JointResult
from cofactor.verbs.joint import joint as verb
from cofactor_app.cli.output import Writer, answered, outputs, say_later, tell_result, write_report
from cofactor_app.cli.parser import output_file

READING = ("columns", "bins", "encoding", "sep", "spelling", "skip_bad")
POOLED_SHOWN = 4  # columns whose pooled estimates are printed


def joint(arguments: argparse.Namespace) -> None:
    """Learn the joint distribution, write the requested files, and print the result."""
    n_drawn, drawn = _sample(arguments)
    if arguments.pooled and not arguments.draws:
        raise CofactorError("--pooled needs the number of tables to draw, for example --draws 20")
    if arguments.draws is not None:
        check_whole(2, n_draws=arguments.draws)
    files = [getattr(arguments, name) for name in ("output", "filled", "classes", "memberships", "pooled")]
    with outputs(arguments, [*files, drawn], [arguments.table], [arguments.report]) as writer:
        wrote = say_later(writer)
        options = {name: getattr(arguments, name) for name in READING}
        rank = "auto" if arguments.rank is None else arguments.rank
        gaps = [word.strip() for word in (arguments.gaps or "").split(",") if word.strip()]
        options |= {"gaps": None if arguments.gaps is None else gaps, "rank": rank, "method": _method(arguments)}
        found = answered(arguments, partial(verb, arguments.table, **options))
        lines = _write_draws(arguments, writer, found) if arguments.draws else []
        n_filled = len(found.cells)
        tables = {
            "output": (
                None if arguments.draws else found.table,
                f"{amount(len(found.table), 'row')}, {amount(n_filled, 'gap')} filled",
            ),
            "filled": (found.cells, amount(n_filled, "cell")),
            "classes": (found.classes, amount(found.model.n_classes, "latent class")),
            "memberships": (found.memberships, amount(len(found.memberships), "row")),
        }
        for name, (table, what) in tables.items():
            if getattr(arguments, name) and table is not None:
                writer.write(getattr(arguments, name), [table.round(6)], what)
        if drawn:
            writer.write(drawn, [found.sample(n_drawn)], f"{amount(n_drawn, 'row')} drawn")
        write_report(arguments, found, writer)
        tell_result(arguments, found, lines, wrote)


def _method(arguments: argparse.Namespace) -> Any:
    """Return the name of a method, or the user's own."""
    if not is_outside(arguments.method):
        return arguments.method
    from cofactor_app.bench.answers import OwnJoint  # brings the bench with it

    if arguments.rank is not None:
        raise CofactorError(
            "--rank applies to built-in methods; for your own, put options after its name, as in NAME(alpha=2)"
        )
    return OwnJoint(name=arguments.method, random_state=0)


def _sample(arguments: argparse.Namespace) -> tuple[int, Path | None]:
    """Return how many rows are drawn, and the file they go to."""
    if not arguments.sample:
        return 0, None
    number, path = arguments.sample
    digits = number.lstrip("0")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 10 or int(digits) > LARGEST_SETTING:
        first = f"give the number of rows, a whole number from 1 to {LARGEST_SETTING}"
        raise CofactorError(f"--sample {number} {path}: {first}, and then a file")
    try:
        return int(digits), output_file(path)
    except argparse.ArgumentTypeError as error:
        raise CofactorError(f"--sample: {error}") from None


def _write_draws(arguments: argparse.Namespace, writer: Writer, found: JointResult) -> list[str]:
    """Write drawn tables and what they say together; return lines about columns with gaps."""
    draws = found.draws(arguments.draws)
    table = found.pooled(draws)
    if arguments.output:
        number = next(name for name in ("draw", "draw number", "number of the draw") if name not in found.table)
        numbered = (one.assign(**{number: k})[[number, *one.columns]] for k, one in enumerate(draws, 1))
        writer.write(
            arguments.output,
            numbered,
            f"{len(draws)} completed tables, one below another, numbered in the column {number}",
        )
    if arguments.pooled:
        columns = ["estimate", "low", "high", "missing"]
        writer.write(arguments.pooled, [table.assign(**table[columns].round(6))], f"{len(table)} pooled estimates")
    gaps = [name for name in found.data.names if found.data.frame[name].isna().any()]
    return list(_pooled_lines(table[table["column"].isin(gaps)], len(draws)))


def _pooled_lines(table: pd.DataFrame, n_draws: int) -> Iterator[str]:
    """Yield pooled means and shares of the first columns with gaps."""
    if not len(table):
        return
    yield f"estimates for columns with gaps, pooled over {n_draws} draws (90 % intervals):"
    groups = list(table.groupby("column", sort=False))
    for name, rows in groups[:POOLED_SHOWN]:
        parts = [
            f"{row['value'] or 'mean'} {row['estimate']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
            for row in rows.to_dict("records")
        ]
        yield f"  {name}  {listing(parts)}"
    if len(groups) > POOLED_SHOWN:
        yield f"  ... and {len(groups) - POOLED_SHOWN} more columns; --pooled FILE writes all"
