"""``cofactor anchors``: the verb `cofactor.anchors` on the command line."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from cofactor.core.errors import amount
from cofactor.core.files import save_arrays, whole_file
from cofactor.core.lazy import pd
from cofactor.registry import is_outside
from cofactor.verbs.anchors import AnchorsResult
from cofactor.verbs.anchors import anchors as verb
from cofactor_app.cli.output import Writer, answered, one_or_all, outputs, say_later, tell_result, write_report

READING = ("rows", "scale", "no_data", "skip_bad", "encoding", "sep")
ARRAYS = ".npz"  # weights that are no table


def anchors(arguments: argparse.Namespace) -> None:
    """Find anchors, write the requested files, and print the result."""
    options = {name: getattr(arguments, name) for name in READING}
    method = arguments.method
    if is_outside(method):
        from cofactor_app.bench.answers import OwnAnchors  # brings the bench with it

        method = partial(OwnAnchors, name=method)
    table, arrays = split_weights(arguments.weights)
    with outputs(arguments, [arguments.output, table], arguments.matrix, [arrays, arguments.report]) as writer:
        wrote = say_later(writer)
        run = partial(verb, one_or_all(arguments.matrix), arguments.anchors, method=method, verbose=not arguments.quiet)
        found = answered(arguments, partial(run, **options))
        if arguments.output:
            writer.write(arguments.output, [found.anchors.round(6)], amount(len(found.anchors), "anchor"))
        if table:
            writer.write(table, [found.weights.round(6)], amount(len(found.weights), "point"))
        if arrays:
            _write_arrays(arrays, found, writer)
        write_report(arguments, found, writer)
        tell_result(arguments, found, [], wrote)


def split_weights(path: Path | None) -> tuple[Path | None, Path | None]:
    """Return the path of the weights as a table and as arrays; one of them is None."""
    return (None, path) if path and path.suffix == ARRAYS else (path, None)


def write_arrays(path: Path, weights: pd.DataFrame, names: list[str], writer: Writer, **more: np.ndarray) -> None:
    """Write weights, one row per point or document, with row names, column names and further arrays."""
    arrays = {"weights": weights.to_numpy(), "names": np.array(names), "columns": np.array(list(weights))}
    with whole_file(path) as part:
        save_arrays(part, **arrays, **more)
    writer.said(path, f"{amount(len(weights), 'row')} of weights")


def _write_arrays(path: Path, found: AnchorsResult, writer: Writer) -> None:
    """Write weights and spectra, of an image also maps: anchors x rows x columns."""
    weights = found.weights[list(found.spectra)]
    more = {"anchors": found.spectra.to_numpy(), "rows": np.array(found.points.bands)}
    more |= {"maps": weights.to_numpy().T.reshape(-1, *found.points.image)} if found.points.image else {}
    write_arrays(path, weights, found.points.names, writer, **more)
