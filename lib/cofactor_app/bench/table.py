"""Tables of benchmark results: by family first, then by set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cofactor.core.errors import listing
from cofactor.core.lazy import pd
from cofactor_app.bench.answers import ANSWERS
from cofactor_app.bench.run import Trial

TIE = 1e-6  # points of accuracy that are rounding


def by_set(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return one row per trial, with its attributes as columns."""
    return pd.DataFrame([vars(trial) for trial in trials])


def by_family(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return mean accuracies, families by methods, over the sets on which all methods that ever succeed do so."""
    table = by_set(trials).pivot_table(index=["family", "set"], columns="method", values="accuracy", sort=False)
    names = list(dict.fromkeys(trial.method for trial in trials))
    whole = table.reindex(columns=names).dropna(axis="columns", how="all").dropna()
    return whole.groupby("family", sort=False).mean()


def left_out(trials: Sequence[Trial], variants: Sequence[str]) -> tuple[dict[str, str], list[Trial]]:
    """Choose between variants of a method on all families but one, and score the choice on the one left out.

    The choice has the highest mean over the other families; ties go to the first variant. Returns the choices by family
    and their trials; both are empty unless two variants succeed on sets of two families.
    """
    mine = [trial for trial in trials if trial.method in variants]
    table = by_family(mine) if mine else pd.DataFrame()
    if min(table.shape) < 2:
        return {}, []
    choice = {str(family): str(table.drop(index=family).mean().idxmax()) for family in table.index}
    return choice, [trial for trial in trials if choice.get(trial.family) == trial.method]


def choice_report(trials: Sequence[Trial], variants: Sequence[str], problem: str = "crowd") -> list[str]:
    """Return the lines about `left_out`: the choices, their accuracies, and that of the best variant on all."""
    choice, chosen = left_out(trials, variants)
    if not choice:
        return ["", "no variant was chosen: fewer than two variants succeed on the same sets of two families"]
    table = by_family([trial for trial in trials if trial.method in {*variants, *ANSWERS[problem]}])
    shown = table.reindex(columns=list(ANSWERS[problem]))
    shown.insert(0, "variant", [short(name) for name in choice.values()])
    shown.insert(1, "chosen", [table.loc[family, name] for family, name in choice.items()])
    shown.loc["mean"] = ["", *shown.iloc[:, 1:].mean()]
    best = table[[name for name in dict.fromkeys(variants) if name in table]].mean()
    on_all = f"the variant that is best on all families, {short(str(best.idxmax()))}, has {best.max():.2f}"
    return [
        "",
        f"accuracy in % on each family, with one of {len(best)} variants chosen using the other families:",
        *shown.round(2).to_string(index_names=False).splitlines(),
        _losses("chosen variants", chosen, problem),
        f"{on_all}, but there the same sets choose and score the variant",
    ]


def shortened(trials: Sequence[Trial]) -> list[Trial]:
    """Shorten method names to those without a file, unless two methods would have the same name."""
    names = dict.fromkeys(trial.method for trial in trials)
    called = [short(name) for name in names]
    return [
        replace(trial, method=short(trial.method)) if called.count(short(trial.method)) == 1 else trial
        for trial in trials
    ]


def short(method: str) -> str:
    """Return a method's name and options without its file."""
    home, bracket, options = method.partition("(")
    return home.rpartition(":")[2] + bracket + options


def report(trials: Sequence[Trial], variants: dict[str, int], problem: str = "crowd") -> list[str]:
    """Return the lines to print: families, losses to the trivial answer, sets, failures, and the number of variants."""
    trials = shortened(trials)
    families, names = by_family(trials), list(dict.fromkeys(trial.method for trial in trials))
    default = ANSWERS[problem][1]
    own, below_what = [name for name in names if name not in ANSWERS[problem]], _trivial(problem)
    lines = [f"accuracy in % by family ({len(families)}, with equal weights):"]
    shown = families.copy()
    if len(families) > 1:
        shown.loc["mean"] = families.mean()
    lines += shown.round(2).to_string(index_names=False).splitlines()
    lines += [_losses(name, [trial for trial in trials if trial.method == name], problem) for name in (default, *own)]
    lines += ["", *_sets(trials, own or [default], below_what, default)]
    lines += _failures(trials)
    lines += [f"{count} variants of {name} have been run: the best of several looks better than it is"
              for name, count in variants.items() if count > 1]  # fmt: skip
    return lines


def _failures(trials: Sequence[Trial]) -> list[str]:
    """Return which methods failed on which sets, with each reason once."""
    sets: dict[tuple[str, str], list[str]] = {}
    for trial in trials:
        if trial.error:
            sets.setdefault((trial.method, trial.error), []).append(trial.set)
    return [f"{method} failed on {listing(found)}: {error}" for (method, error), found in sets.items()]


def _losses(name: str, mine: Sequence[Trial], problem: str) -> str:
    """Return on how many sets a method is below the trivial answer."""
    told = [trial for trial in mine if trial.more is not None]
    below = [trial for trial in told if trial.more is not None and trial.more < -TIE]
    clear = [trial.set for trial in below if trial.high is not None and trial.high < 0]
    named = f": {', '.join(clear)}" if clear else ""
    of = f"{len(below)} of {len(told)} sets, significantly on {len(clear)}"
    return f"{name}: below {_trivial(problem)} on {of}{named}"


def _trivial(problem: str) -> str:
    return "the vote" if problem == "crowd" else ANSWERS[problem][0]


def _sets(trials: Sequence[Trial], names: Sequence[str], trivial: str, default: str) -> list[str]:
    """Lines of a table: accuracy, differences with their paired 95 % intervals, calibration error, seconds, memory."""
    rows = [
        {
            "set": trial.set,
            "tasks": trial.tasks,
            "method": trial.method,
            "%": f"{trial.accuracy:.2f}",
            f"above {trivial}": f"{trial.more:+.2f} ({trial.low:+.1f} to {trial.high:+.1f})",
            "p": f"{trial.p:.2g}",
            "above the default": _above(trial, default),
            "ECE": "-" if trial.ece is None else f"{trial.ece:.3f}",
            "CPU s": f"{trial.seconds:.2f}",
            "MB": "-" if trial.memory is None else f"{trial.memory:.0f}",
        }
        for trial in trials
        if trial.method in names and trial.accuracy is not None
    ]
    return pd.DataFrame(rows).to_string(index=False).splitlines() if rows else []


def _above(trial: Trial, default: str) -> str:
    if trial.method == default or trial.above_default is None:
        return "-"
    return f"{trial.above_default:+.2f} ({trial.above_low:+.1f} to {trial.above_high:+.1f})"
