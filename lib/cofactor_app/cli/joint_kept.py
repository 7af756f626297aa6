"""``cofactor joint --keep-model`` and ``--model``: a fit in a file, and other rows whose gaps it fills."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import whole_file
from cofactor.pmf.frames import CategoricalFrame
from cofactor.reading.tables import read_frame
from cofactor_app.cli import tell
from cofactor_app.cli.joint_files import asked_cells, gap_words, sample_of, write_sample, write_tables
from cofactor_app.cli.joint_lines import rule_lines, table_lines
from cofactor_app.cli.output import outputs
from cofactor_app.joint.kept import JointFit
from cofactor_app.joint.rules import NotAsked

USUAL = {"bins": 8, "method": "CNMF-EM", "jobs": 1, "spelling": "classes"}
OF_A_FIT = ("columns", "rank", "target", "draws", "pooled", "weight", "forbid", "report", "keep_model")


def keep(fit: JointFit, path: Path) -> None:
    """Write a fit to a file, and say so."""
    with whole_file(path) as part:
        fit.save(part)
    print(f"wrote {path}: the fit and the coding of its {len(fit.columns)} columns, for `cofactor joint --model`")


def fill_new(arguments: argparse.Namespace) -> None:
    """Fill gaps of other rows by a fit that was kept, and draw rows from it; nothing is fitted."""
    useless = [f"--{name.replace('_', '-')}" for name in OF_A_FIT if getattr(arguments, name)]
    useless += [f"--{name.replace('_', '-')}" for name, usual in USUAL.items() if getattr(arguments, name) != usual]
    if useless:
        raise CofactorError(f"{listing(useless)}: with --model nothing is fitted; leave that out, or fit all rows anew")
    n_drawn, drawn = sample_of(arguments)
    with outputs(arguments, [arguments.output, arguments.filled, drawn], [arguments.table, arguments.model]) as writer:
        fit = JointFit.load(arguments.model)
        frame = read_frame(arguments.table, None, arguments.encoding, arguments.sep, "case")
        data = fit.coded(frame, gap_words(arguments))
        rules = [NotAsked.parse(text, data.names) for text in arguments.not_asked]
        tell([*_lines(arguments, data, fit), *rule_lines(data, rules)])
        write_tables(arguments, writer, data, asked_cells(fit.fill(data), data, rules))
        if drawn:
            write_sample(writer, drawn, data, fit.model.sample(n_drawn, random_state=0)[0], rules)


def _lines(arguments: argparse.Namespace, data: CategoricalFrame, fit: JointFit) -> Iterator[str]:
    yield from table_lines(arguments, data)
    by_median = listing(data.names[n] for n in fit.alone)
    told = f"; gaps of {by_median} get the median of the rows fitted" if fit.alone else ""
    yield f"{arguments.model}: {fit.model.n_classes} hidden classes, as fitted{told}"
