"""What a trial of methods says: by family first, then set by set."""

from __future__ import annotations

from collections.abc import Sequence

from cofactor.core.lazy import pd
from cofactor_app.bench.lines import ANSWERS
from cofactor_app.bench.run import Trial

TIE = 1e-6  # points of accuracy that are rounding


def by_set(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return a row a trial: its numbers in words that a table can have as columns."""
    return pd.DataFrame([vars(trial) for trial in trials])


def by_family(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return mean accuracies, families by methods, over the sets on which every method that ever answers does so."""
    table = by_set(trials).pivot_table(index=["family", "set"], columns="method", values="accuracy", sort=False)
    names = list(dict.fromkeys(trial.method for trial in trials))
    whole = table.reindex(columns=names).dropna(axis="columns", how="all").dropna()
    return whole.groupby("family", sort=False).mean()


def report(trials: Sequence[Trial], variants: dict[str, int], line: str = "crowd") -> list[str]:
    """Return the lines to print: families, losses to the vote, sets, failures, and how many variants were tried."""
    families, names = by_family(trials), list(dict.fromkeys(trial.method for trial in trials))
    trivial, default = ANSWERS[line]
    own, below_what = [name for name in names if name not in ANSWERS[line]], "the vote" if line == "crowd" else trivial
    lines = [f"accuracy in % by family ({len(families)}), which count alike:"]
    shown = families.copy()
    if len(families) > 1:
        shown.loc["mean"] = families.mean()
    lines += shown.round(2).to_string(index_names=False).splitlines()
    for name in (default, *own):
        mine = [trial for trial in trials if trial.method == name and trial.more is not None]
        below = [trial for trial in mine if trial.more is not None and trial.more < -TIE]
        clear = [trial.set for trial in below if trial.high is not None and trial.high < 0]
        named = f": {', '.join(clear)}" if clear else ""
        of = f"{len(below)} of {len(mine)} sets, significantly on {len(clear)}"
        lines.append(f"{name}: below {below_what} on {of}{named}")
    lines += ["", *_sets(trials, own or [default], below_what, default)]
    lines += [f"{trial.method} on {trial.set}: {trial.error}" for trial in trials if trial.error]
    lines += [f"{count} variants of {name} were run here: the best of many looks better than it is"
              for name, count in variants.items() if count > 1]  # fmt: skip
    return lines


def _sets(trials: Sequence[Trial], names: Sequence[str], trivial: str, default: str) -> list[str]:
    """Lines of a table: accuracy, differences with their paired 95 % intervals, calibration error, seconds."""
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
        }
        for trial in trials
        if trial.method in names and trial.accuracy is not None
    ]
    return pd.DataFrame(rows).to_string(index=False).splitlines() if rows else []


def _above(trial: Trial, default: str) -> str:
    if trial.method == default or trial.above_default is None:
        return "-"
    return f"{trial.above_default:+.2f} ({trial.above_low:+.1f} to {trial.above_high:+.1f})"
