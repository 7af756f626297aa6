"""``cofactor joint``: the joint distribution of the columns of a table, for its gaps, for samples, for a class."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import cofactor as cf
from cofactor.core.checks import check_whole
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.crowd.outside import is_outside
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.frames import CategoricalFrame
from cofactor.reading.tables import read_frame
from cofactor_app.cli import tell, warned
from cofactor_app.cli.joint_files import asked_cells, gap_words, sample_of, write_draws, write_sample, write_tables
from cofactor_app.cli.joint_kept import fill_new, keep
from cofactor_app.cli.joint_lines import (
    alike_lines,
    alone,
    class_lines,
    model_lines,
    pair_lines,
    rule_lines,
    text_lines,
    weight_lines,
)
from cofactor_app.cli.output import outputs, write_page
from cofactor_app.cli.parts import noted, refuse_notes
from cofactor_app.joint.draws import draw
from cofactor_app.joint.filling import Filling, fill, number_errors
from cofactor_app.joint.forbidden import Pair, any_pair, refuse_rows, without_pairs
from cofactor_app.joint.holdout import HeldOutCells, held_out
from cofactor_app.joint.kept import JointFit
from cofactor_app.joint.rules import NotAsked
from cofactor_app.joint.target import better, classified, cross_validated
from cofactor_app.joint.weights import survey_weights

MANY = 100  # columns, from which on choosing the rank takes minutes


def joint(arguments: argparse.Namespace) -> None:
    """Fit a joint distribution; print how good it is, and write what was asked for."""
    if arguments.model:
        return fill_new(arguments)
    n_drawn, drawn = sample_of(arguments)
    tables = [arguments.output, arguments.filled, arguments.pooled, drawn]
    with outputs(arguments, tables, [arguments.table], [arguments.report, arguments.keep_model]) as writer:
        data = _read(arguments)
        target, rules = _target(data, arguments.target), _rules(arguments, data)
        pairs = [Pair.parse(text, data) for text in arguments.forbid]
        refuse_rows(pairs, data)
        diagnosis = cf.pmf.diagnose(data.table, rank=arguments.rank, names=data.names)
        cautions = [*warned(diagnosis), *text_lines(data), *alike_lines(data), *weight_lines(arguments, data)]
        data = _weighted(arguments, data)
        _refuse_one(data)
        method, found, classes = _fitted(arguments, data, target)
        lines = [
            *model_lines(arguments, data, method, found),
            *class_lines(arguments, classes),
            *rule_lines(data, rules),
            *pair_lines(arguments, method.model_, pairs),
        ]
        tell(lines, cautions)
        by_median = [] if found is None else alone(number_errors(found, data))
        if arguments.draws:
            draws = draw(method, data, arguments.draws, rules, 0, arguments.jobs, pairs)
            write_draws(arguments, writer, data, draws)
        method.model_ = without_pairs(method.model_, pairs)
        cells = _with_classes(arguments, data, fill(method.model_, data, by_median, pairs), target, classes, pairs)
        write_tables(arguments, writer, data, asked_cells(cells, data, rules))
        if drawn:
            write_sample(writer, drawn, data, method.sample(n_drawn, random_state=0), rules)
        if arguments.keep_model:
            fit = JointFit(method.model_, data.columns, gap_words(arguments), by_median, pairs)
            keep(fit, arguments.keep_model)
        if arguments.report:
            from cofactor_app.pages.joint import joint_page  # pictures take a second to import

            made = arguments.table, arguments.method, data, method, lines, diagnosis, found, classes
            write_page(arguments.report, joint_page(*made, arguments.target or "", cells))


def _read(arguments: argparse.Namespace) -> CategoricalFrame:
    with noted(arguments.strict):
        frame = read_frame(arguments.table, None, arguments.encoding, arguments.sep, "case")
    alone = [name for name in (arguments.target, arguments.weight) if name]
    named = [*(arguments.columns or ()), *alone]
    missing = [name for name in named if name not in frame.columns]
    if missing:
        raise CofactorError(f"no column {listing(missing)}; found {listing(frame.columns)}")
    check_whole(1, n_jobs=arguments.jobs)
    gaps = gap_words(arguments)
    used = [name for name in dict.fromkeys(named if arguments.columns else ()) if name != arguments.weight] or None
    rest = frame.drop(columns=[arguments.weight] if arguments.weight else [])
    with noted(arguments.strict):
        data = CategoricalFrame.from_frame(rest, used, arguments.bins, gaps, arguments.spelling)
    if arguments.weight:
        whole = data.frame.assign(**{arguments.weight: frame[arguments.weight]})
        data = replace(data, frame=whole[frame.columns.tolist()])
    refuse_notes(alike_lines(data), arguments.strict)
    if nowhere := [word for word in gaps or () if word not in data.gap_words]:
        warnings.warn(f"no cell reads {listing(map(repr, nowhere))}, named by --gaps", DataWarning, stacklevel=2)
    return data


def _refuse_one(data: CategoricalFrame) -> None:
    if len(data.names) == 1:
        left_out = listing(f"{name} ({why})" for name, why in data.left_out.items()) or "none, it is the only one"
        raise CofactorError(
            f"{data.names[0]} is the only column that can be used, of two or more: left out: {left_out}"
        )


def _weighted(arguments: argparse.Namespace, data: CategoricalFrame) -> CategoricalFrame:
    """Give the rows of the table the weights of the column that was named."""
    if not arguments.weight:
        return data
    if arguments.target or arguments.weight in (arguments.columns or ()):
        raise CofactorError(f"--weight {arguments.weight}: goes with neither --target nor the column in --columns")
    return replace(data, table=data.table.weighted(survey_weights(data.frame[arguments.weight])))


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


def _fitted(
    arguments: argparse.Namespace, data: CategoricalFrame, target: int | None
) -> tuple[JointPMFEstimator, HeldOutCells | None, pd.DataFrame | None]:
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


def _with_classes(
    arguments: argparse.Namespace,
    data: CategoricalFrame,
    cells: Filling,
    target: int | None,
    classes: pd.DataFrame | None,
    pairs: Sequence[Pair],
) -> Filling:
    """Return what the gaps are filled with; those of the target by the better classifier, if that is no pair."""
    wanted = arguments.output or arguments.filled or arguments.report
    if wanted and target is not None and classes is not None:
        own = np.flatnonzero(cells.variable == target)
        found = classified(data.table, target, arguments.rank or "auto", better(classes), pairs)
        codes = data.table.codes
        codes[cells.row, cells.variable] = cells.code
        codes[cells.row[own], target] = found[1]
        fine = ~any_pair(codes[cells.row[own]], pairs)
        cells.probability[own[fine]], cells.code[own[fine]] = found[2][fine], found[1][fine]
        for place in own[fine].tolist():
            cells.value[place] = data.shown(target, int(cells.code[place]))
    return cells
