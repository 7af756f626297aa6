"""``cofactor bench``: compare your own method with the trivial answer and the default on data with known truth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import progress
from cofactor.registry import is_outside, parts_of
from cofactor_app.bench import bench as trials_of
from cofactor_app.bench import by_set, choice_report, left_out, report
from cofactor_app.bench.answers import ANSWERS, problem_of
from cofactor_app.bench.folder import checked, sets_of
from cofactor_app.bench.run import Trial, packages_of, trials_in
from cofactor_app.bench.sets import known_sets, missing
from cofactor_app.cli import tell
from cofactor_app.cli.output import outputs, write_page

ASKED = {
    "crowd": "accuracy is the fraction of tasks with the right class",
    "pmf": "accuracy is the fraction of hidden cells, a fifth of a table, that are filled correctly",
    "separable": "accuracy is the fraction of the anchors that are found",
    "comparisons": "accuracy is the fraction of held-out comparisons whose winner is predicted",
}
SOME_FAILED = 3  # exit code
CHOSEN = "{} (chosen using the other families)"


def bench(arguments: argparse.Namespace) -> int | None:
    """Run methods, print the tables, and write the requested files; return 3 if the method failed on some sets."""
    if arguments.check_data:
        _check_data(arguments.check_data)
        return None
    if not arguments.method:
        raise CofactorError("no method is named: give FILE.py:NAME, or the name of a built-in method")
    problem = arguments.problem or problem_of(arguments.method)
    own = sets_of(arguments.data, problem) if arguments.data else []
    known = known_sets(problem, arguments.sets, own, arguments.simulated)
    methods = [arguments.method, *arguments.beside]
    variants = [name for name in methods if _code_of(name) == _code_of(arguments.method)]
    if arguments.leave_family_out and min(len(set(variants)), len({one.family for one in known})) < 2:
        message = "--leave-family-out needs at least two variants of the method, and sets of at least two families"
        raise CofactorError(f"{message}: name variants with --beside, as in --beside 'my.py:Mine(alpha=2)'")
    with outputs(arguments, [arguments.output], [], [arguments.report]) as writer:
        folders = [arguments.data] if arguments.data else []
        trials = list(trials_of(methods, progress(known, "sets", True), arguments.keep, folders, problem))
        name = _name(arguments.method)
        _refuse_without_result(arguments.method, trials)
        lines = _lines(arguments, problem, trials)
        chosen = variants if arguments.leave_family_out else []
        choice = choice_report(trials, chosen, problem) if chosen else []
        tell([*lines, *choice, *_about(arguments, problem, methods)])
        if arguments.report:
            from cofactor_app.pages.reports import bench_page  # templates take a second to import

            said = [text for text in lines if "sets, significantly on" in text or "variants of" in text]
            write_page(arguments.report, bench_page(name, problem, ASKED[problem], trials, said, chosen))
        if arguments.output:
            chosen_trials = [replace(one, method=CHOSEN.format(name)) for one in left_out(trials, chosen)[1]]
            table = by_set([*trials, *chosen_trials])
            writer.write(arguments.output, [table.round(6)], f"{len(table)} trials")
    return SOME_FAILED if any(one.error for one in trials if one.method in methods) else None


def _refuse_without_result(method: str, trials: Sequence[Trial]) -> None:
    """Raise a CofactorError with the reasons if a method failed on every set."""
    mine = [trial for trial in trials if trial.method == method]
    if mine and all(trial.error for trial in mine):
        reasons = "; ".join(dict.fromkeys(trial.error for trial in mine))
        on = f"all {len(mine)} sets" if len(mine) > 1 else "the only set"
        raise CofactorError(f"{_name(method)} failed on {on}: {reasons}")


def _check_data(folder: Path) -> None:
    """Print whether each set of a folder can be used; raise a CofactorError if one cannot."""
    found = list(checked(folder))
    tell([line for sound, line in found if sound], [line for sound, line in found if not sound])
    if wrong := sum(not sound for sound, _ in found):
        raise CofactorError(f"{wrong} of {len(found)} sets in {folder} cannot be used until they are corrected")


def _lines(arguments: argparse.Namespace, problem: str, trials: Sequence[Trial]) -> list[str]:
    """Tables of the trials, and how many variants of the method gave an answer in this file: only they are compared."""
    own, code = _name(arguments.method), _code_of(arguments.method)
    tried = {(t.method, t.source) for t in trials_in(arguments.keep) if _code_of(t.method) == code and not t.error}
    trivial, default = ANSWERS[problem]
    what = (
        f"problem {problem}: {ASKED[problem]}; compared with {trivial} (the trivial answer) and {default} (the default)"
    )
    return [*([] if problem == "crowd" else [what]), *report(trials, {own: len(tried)}, problem)]


def _about(arguments: argparse.Namespace, problem: str, methods: Sequence[str]) -> list[str]:
    """Lines about what ran with what, which sets are not here, and where trials are kept."""
    homes = {parts_of(name)[0]: packages_of(name) for name in methods if is_outside(name)}
    lines = [f"{home} uses {packages}" for home, packages in homes.items() if packages]
    named = arguments.sets or arguments.data or arguments.simulated
    if gone := [] if named else missing(problem):
        lines.append(f"left out, not on this machine: {listing(gone)}; `cofactor datasets fetch` downloads them")
    return [*lines, f"results are stored in {arguments.keep} and will not be computed again"]


def _name(method: str) -> str:
    """Return the name of a method without its file and its options."""
    return parts_of(method)[1] if is_outside(method) else method


def _code_of(method: str) -> tuple[str, str]:
    """Return the file or module of a method, empty for a built-in one, and its name there: variants share both."""
    return parts_of(method)[:2] if is_outside(method) else ("", method)
