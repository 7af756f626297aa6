"""``cofactor bench``: somebody's method beside the trivial answer and the default, on data of known truth."""

from __future__ import annotations

import argparse
from dataclasses import replace

from cofactor.core.errors import CofactorError, listing
from cofactor.core.result import progress
from cofactor.crowd.outside import is_outside, parts_of
from cofactor_app.bench import bench as trials_of
from cofactor_app.bench import by_set, choice_report, crowds, left_out, report
from cofactor_app.bench.crowds import missing
from cofactor_app.bench.lines import ANSWERS, away, line_of, problems
from cofactor_app.bench.run import packages_of, trials_in
from cofactor_app.cli import tell
from cofactor_app.cli.output import outputs

ASKED = {
    "pmf": "the share of hidden cells (a fifth of a table) that are filled rightly",
    "separable": "the share of the anchors that are found",
    "comparisons": "the share of held-out comparisons whose winner is predicted",
}
CHOSEN = "{} (chosen by the other families)"


def bench(arguments: argparse.Namespace) -> None:
    """Run, print the tables, and write them where asked for."""
    line = arguments.line or line_of(arguments.method)
    if line != "crowd" and arguments.data:
        raise CofactorError(f"--data holds crowds, and the method is of line {line}: leave --data out")
    crowd = line == "crowd"
    sets = (
        crowds(arguments.sets, arguments.data, arguments.simulated)
        if crowd
        else problems(line, arguments.sets, arguments.simulated)
    )
    methods = [arguments.method, *arguments.beside]
    variants = [name for name in methods if _name(name) == _name(arguments.method)]
    if arguments.leave_family_out and min(len(set(variants)), len({one.family for one in sets})) < 2:
        message = "--leave-family-out chooses among variants of the method, by sets of two families at least: name more"
        raise CofactorError(f"{message} of the method with --beside, such as --beside 'my.py:Mine(alpha=2)'")
    with outputs(arguments, [arguments.output], []) as writer:
        folders = [arguments.data] if arguments.data else []
        found = list(trials_of(methods, progress(sets, "sets", True), arguments.keep, folders, line))
        own = _name(arguments.method)
        tried = {(t.method, t.source) for t in trials_in(arguments.keep) if _name(t.method) == own}
        lines = report(found, {own: len(tried)}, line)
        if arguments.leave_family_out:
            lines += choice_report(found, variants, line)
            found += [replace(one, method=CHOSEN.format(own)) for one in left_out(found, variants)[1]]
        if not crowd:
            trivial, default = ANSWERS[line]
            lines.insert(0, f"line {line}: {ASKED[line]}; beside {trivial}, the simple way, and {default}, the default")
        homes = {parts_of(name)[0]: packages_of(name) for name in methods if is_outside(name)}
        lines += [f"{home} runs with {packages}" for home, packages in homes.items() if packages]
        gone = missing() if crowd else away(line)
        if gone and not arguments.sets and not arguments.data and not arguments.simulated:
            lines.append(f"not on this machine, and left out: {listing(gone)}; `cofactor datasets fetch` brings them")
        tell([*lines, f"kept in {arguments.keep}: what has been run is not run again"])
        if arguments.output:
            writer.write(arguments.output, [by_set(found).round(6)], f"{len(found)} trials")


def _name(method: str) -> str:
    """Return the name of a method without its file and its options, by which variants are one."""
    return parts_of(method)[1] if is_outside(method) else method
