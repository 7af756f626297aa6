"""The page that `cofactor bench --report` writes: a method beside the trivial answer and the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cofactor_app.bench import Trial, by_family, left_out
from cofactor_app.bench.lines import ANSWERS
from cofactor_app.bench.table import short, shortened
from cofactor_app.pages.render import report


def bench_page(
    method: str, line: str, asked: str, trials: Sequence[Trial], summary: Sequence[str], variants: Sequence[str] = ()
) -> str:
    """Return the page for the trials of a method.

    `asked` says what is counted, `summary` is what was printed of it in sentences. `variants` are those among which is
    chosen by the other families; none: nothing is chosen.
    """
    trivial, default = ANSWERS[line]
    families = by_family(shortened(trials))
    if len(families) > 1:
        families.loc["mean"] = families.mean()
    named = {"method": method, "line": line, "asked": asked, "trivial": trivial, "default": default}
    return report(
        "bench",
        (),
        **named,
        families=families,
        choice=_choice(trials, variants, line) if variants else [],
        trials=shortened(trials),
        summary=summary,
    )


def _choice(trials: Sequence[Trial], variants: Sequence[str], line: str) -> list[dict[str, Any]]:
    """Rows of what was chosen by the other families, family by family."""
    chosen = left_out(trials, variants)[0]
    table = by_family([trial for trial in trials if trial.method in {*variants, *ANSWERS[line]}])
    trivial, default = (table.get(name, table.iloc[:, 0] * float("nan")) for name in ANSWERS[line])
    return [
        {"family": family, "chosen": short(name), "accuracy": table.loc[family, name],
         "trivial": trivial[family], "default": default[family]}
        for family, name in chosen.items()
    ]  # fmt: skip
